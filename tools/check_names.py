#!/usr/bin/env python3
"""Fail where a name contains a word that docs/style.md bans, or two classes share a name.

Names of modules, classes, functions, their parameters, fields and constants are checked, in Python and in Rust.
The words are read from the table in docs/style.md. Words of a row marked "alone or last" are banned only where
they are the whole name or its last word: `kept` and `files_kept`, not `kept_files`. Bounds are called MAX and MIN, and
constants in seconds end with SECONDS.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STYLE = ROOT / "docs" / "style.md"
PYTHON = ("workbench/src/assay", "tools", "bench")
RUST = ("engine/crates",)
GENERATED = re.compile(r"_generated\.py$|_answers\.py$")

SHARED_NAMES = {"FixedDesign", "PublishedFigure"}
"""Names that two classes have: one of them in the advice."""

BOUND = re.compile(r"(?:^|_)(MOST|LEAST)(?:_|$)")
"""In a constant: a word for which we write MAX or MIN."""
SUPERLATIVE = re.compile(r"^_*(?:most|least)_(?!expensive|frequent|common|loaded|squares)")
"""The beginning of a name that should be `max_` or `min_`, unless an adjective follows."""

Name = tuple[int, str]
"""Line, name."""


def banned_words() -> tuple[set[str], set[str]]:
    """Words banned anywhere in a name, and those banned at its end."""
    table = STYLE.read_text().split("<!-- banned")[1].split("<!-- end -->")[0]
    anywhere, at_end = set[str](), set[str]()
    for line in table.splitlines():
        if line.startswith("| ") and not line.startswith("| not "):
            words = line.split("|")[1]
            into = at_end if "(alone or last)" in words else anywhere
            into.update(re.findall(r"[a-z_]+", words.replace("(alone or last)", "")))
    return anywhere, at_end


def words_of(name: str) -> list[str]:
    """The words of a name in snake or camel case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)]


def unusual(name: str) -> str:
    """What is wrong with the form of a name; empty if nothing is."""
    if name.isupper():
        if found := BOUND.search(name):
            return f"{found[1]} for {'MAX' if found[1] == 'MOST' else 'MIN'}"
        return "_S for _SECONDS" if name.endswith("_S") else ""
    return "a superlative for max_ or min_" if SUPERLATIVE.match(name) else ""


def python_names(text: str) -> Iterator[Name]:
    """What a Python file defines, but for local variables."""
    local = set[ast.stmt]()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                yield node.lineno, name
                for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
                    if each is not None:
                        yield each.lineno, each.arg
                local.update(each for each in ast.walk(node) if isinstance(each, ast.Assign | ast.AnnAssign))
            case ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.AnnAssign(target=ast.Name(id=name)) if node not in local:
                yield node.lineno, name
            case ast.Assign(targets=targets) if node not in local:
                yield from ((node.lineno, each.id) for each in targets if isinstance(each, ast.Name))


RUST_ITEM = re.compile(
    r"^\s*(?:pub(?:\([a-z:]+\))?\s+)?(?:(?:async|const|unsafe|extern(?: \"C\")?)\s+)*"
    r"(?:(?:fn|struct|enum|trait|mod|const|static|type|union|macro_rules!)\s+(?:mut\s+)?([A-Za-z_]\w*)|([a-z_]\w*):\s+[^:=]+,$)"
)
"""An item, or a field on a line of its own."""


def rust_names(text: str) -> Iterator[Name]:
    """What a Rust file defines: items but tests, and fields that have a line of their own."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        if (found := RUST_ITEM.match(line)) and before != "#[test]":
            yield number, found[1] or found[2]
        before = line.strip()


def faults() -> Iterator[str]:
    """A line for each name that contains a banned word."""
    anywhere, at_end = banned_words()
    for folders, suffix, names in ((PYTHON, "py", python_names), (RUST, "rs", rust_names)):
        for path in sorted(path for folder in folders for path in (ROOT / folder).rglob(f"*.{suffix}")):
            if GENERATED.search(path.name) or "tests" in path.parts:
                continue
            for line, name in [(1, path.stem), *names(path.read_text())]:
                words = words_of(name)
                wrong = [word for word in words if word in anywhere] + [word for word in words[-1:] if word in at_end]
                wrong += [form] if (form := unusual(name)) else []
                if wrong:
                    yield f"{path.relative_to(ROOT)}:{line}: {name} contains {', '.join(wrong)}"


def shared_classes() -> Iterator[str]:
    """A line for each name that several classes of the workbench have; generated and private ones do not count."""
    homes = defaultdict[str, list[str]](list)
    for path in sorted((ROOT / PYTHON[0]).rglob("*.py")):
        if not GENERATED.search(path.name):
            for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(), re.MULTILINE):
                homes[name].append(str(path.relative_to(ROOT)))
    for name, files in homes.items():
        if len(files) > 1 and name not in SHARED_NAMES:
            yield f"{files[0]}: {name} is also a class of {', '.join(files[1:])}"


def main() -> int:
    found = [*faults(), *shared_classes()]
    print(*found, sep="\n")
    if found:
        print(f"{len(found)} names are not as docs/style.md wants them", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
