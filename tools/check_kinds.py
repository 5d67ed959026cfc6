#!/usr/bin/env python3
"""Fail where anything but `assay/kinds` asks of which kind a target is: who forgets a kind takes it for another one,
and nobody sees it. Ask for the fact that matters, which `assay.model.study.target.Target` has, instead.

Seen are questions of a class or a word, tables of words, and imports of one kind by another one or by the rest.
"""

import ast
import re
import sys
from collections.abc import Iterator, Set
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "workbench" / "src" / "assay"


def tests_kind(node: ast.AST, words: Set[object]) -> bool:
    """It tells kinds of target apart, whose words these are."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, asked]) | ast.MatchClass(cls=asked):
            return bool(re.search(r"\wTarget\b", ast.unparse(asked)))
        case ast.Compare() | ast.Match():
            head = ast.unparse(getattr(node, "subject", node)).splitlines()[0]
            texts = (item.value for item in ast.walk(node) if isinstance(item, ast.Constant))
            return bool(re.search(r"\bkind\b", head)) and not words.isdisjoint(texts)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) | ast.Dict(keys=items):
            return len(items) > 1 and {getattr(item, "value", None) for item in items} <= words
    return False


def found_in(text: str, words: Set[str], own: str = "") -> Iterator[tuple[int, str]]:
    """Line and source of each question; `own` is the kind whose file it is: it may ask, and use its other files."""
    others = re.compile(rf"assay\.kinds(\.| import )({'|'.join(sorted(words - {own}))})\b")
    for node in ast.walk(ast.parse(text)):
        imports = isinstance(node, ast.Import | ast.ImportFrom) and others.search(ast.unparse(node))
        if imports or (not own and tests_kind(node, words)):
            yield getattr(node, "lineno", 0), ast.unparse(node).splitlines()[0]


def problems(source: Path) -> list[str]:
    """One line for each question below a folder of sources."""
    words = {file.parent.name for file in source.glob("kinds/*/study.py")}
    lines = []
    for path in sorted(source.rglob("*.py")):
        first, *rest = path.relative_to(source).parts
        found = found_in(path.read_text(), words, rest[0] if first == "kinds" else "") if first != "contract" else ()
        lines += [f"{path.relative_to(source)}:{line}: {what}: asks for the kind" for line, what in found]
    return lines


if __name__ == "__main__":
    print("\n".join(found := problems(SOURCE)) or "nothing asks of which kind a target is")
    sys.exit(bool(found))
