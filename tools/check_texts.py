#!/usr/bin/env python3
"""Fail where the workbench decides something by the words of a message.

A message may be reworded at any time, so nothing may depend on its words: an error has a `code`, a line that warns is
`WarningLine`, a rule that gave no answer `applies` or not, a remark says what it is `about`. The check finds
comparisons with, and searches in, the attributes that hold such texts, and `str(error)`. Each file that reads texts
for another reason is listed with that reason. An entry that no file needs is an error, too.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "workbench" / "src" / "assay"

TEXTS = {"message", "hint", "reason", "text", "remedy", "words", "why", "finding", "note", "doubtful"}
"""Attributes that hold a sentence for people."""
SEARCHES = {"startswith", "endswith", "find", "index", "count", "removesuffix", "removeprefix"}
SPLITS = {"split", "partition", "rsplit", "rpartition"}
EXPRESSIONS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "subn"}
CLEANERS = {"lower", "strip", "casefold"}

ALLOWED = {
    "analyse/validate.py": (1, "a line of the wire, which has a header of its own"),
    "cli/env.py": (1, "leaves out where an engine looked, which the command says itself"),
    "money/papers/presets.py": (1, "a figure as the paper prints it, beside the same recomputed"),
    "report/formats/junit.py": (1, "lines of a text for XML"),
    "rooms/deploy/work/life/events.py": (4, "CloudFormation's reason of an event, which has no code"),
    "rooms/pricelists/work/refresh.py": (1, "a note about the old price's source, which a new source makes wrong"),
    "run/ceilings/place.py": (1, "leaves out the name of a field that the user has not written"),
    "site/stored_files.py": (1, "puts the name that the study gives a file in place of the run's own"),
}
"""File -> how many such places it has, and why nothing hangs on the words there."""


def is_text(node: ast.expr) -> bool:
    """Whether an expression is the text of a message."""
    match node:
        case ast.Attribute(attr=name):
            return name in TEXTS
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id="error" | "fault" | "problem")]):
            return True
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[]) if method in CLEANERS:
            return is_text(value)
    return False


def decides(node: ast.AST) -> bool:
    """Whether a node compares with a text, or searches in it."""
    match node:
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
            return is_text(right) or is_text(left)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(
            isinstance(op, ast.Eq | ast.NotEq) for op in ops
        ):
            return any(is_text(each) for each in (left, *others)) and not any(map(_is_empty, (left, *others)))
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments):
            if method in EXPRESSIONS:
                return any(map(is_text, arguments))
            return is_text(value) and (method in SEARCHES or (method in SPLITS and bool(arguments)))
    return False


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == ""


def places(source: str) -> list[int]:
    """The lines at which the code of a file decides by a text."""
    return sorted(node.lineno for node in ast.walk(ast.parse(source)) if decides(node))


def main() -> int:
    """Print each place that is not allowed, and each permission that nothing needs."""
    wrong = []
    found = {path.relative_to(SOURCE).as_posix(): places(path.read_text()) for path in SOURCE.rglob("*.py")}
    for name, lines in sorted(found.items()):
        allowed, _ = ALLOWED.get(name, (0, ""))
        if len(lines) > allowed:
            where = ", ".join(map(str, lines))
            wrong.append(
                f"{name}:{where}: decides by the words of a message; give it a code or a kind (tools/check_texts.py)"
            )
        elif len(lines) < allowed:
            wrong.append(f"{name}: {allowed} places are allowed in tools/check_texts.py, it has {len(lines)}")
    wrong += [f"{name}: is allowed in tools/check_texts.py, and is not there" for name in ALLOWED.keys() - found.keys()]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
