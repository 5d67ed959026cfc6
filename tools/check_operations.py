#!/usr/bin/env python3
"""Fail where a `match` on operations has an arm for all others: a new operation would fall into it, unseen by the
compiler.

A `match` counts if one of its arms names an operation, or one of the patterns `data_kinds!()`, `name_operations!()`
and so on. An arm that catches all others is `_`, or a name in small letters, without a condition. `matches!` asks one
question and is left alone.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPERATION = re.compile(r"\b(?:OpKind|Operation)::[A-Z]|\b(?:data|name|object)_(?:kinds|operations)!\(\)")
ALL_OTHERS = re.compile(r"^\s*(?:_|[a-z]\w*)\s*$")
NO_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')
OPEN, CLOSE = "({[", ")}]"


def arms(block: str) -> Iterator[str]:
    """The patterns of a match's arms, conditions included; `block` is what stands between its braces."""
    depth, start, in_pattern = 0, 0, True
    for place, letter in enumerate(block):
        if letter in OPEN:
            depth += 1
        elif letter in CLOSE:
            depth -= 1
            if depth == 0 and letter == "}" and not in_pattern:
                start, in_pattern = place + 1, True
        elif depth == 0 and in_pattern and block.startswith("=>", place):
            yield block[start:place].strip(" \n,")
            in_pattern = False
        elif depth == 0 and letter == "," and not in_pattern:
            start, in_pattern = place + 1, True


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Where each match starts, and what stands between its braces."""
    for found in re.finditer(r"\bmatch\b[^{};]*\{", text):
        depth, place = 1, found.end()
        while depth and place < len(text):
            depth += (text[place] == "{") - (text[place] == "}")
            place += 1
        yield found.start(), text[found.end() : place - 1]


def problems(text: str) -> Iterator[tuple[int, str]]:
    """Line and pattern of each arm that catches all other operations."""
    code = NO_CODE.sub(lambda found: " " * len(found.group()), text)
    for start, block in blocks(code):
        patterns = list(arms(block))
        if any(OPERATION.search(re.split(r"\bif\b", pattern)[0]) for pattern in patterns):
            yield from ((code.count("\n", 0, start) + 1, one) for one in patterns if ALL_OTHERS.match(one))


def main() -> int:
    """Exit code 1 if there is such an arm."""
    found = []
    for path in sorted((ROOT / "engine").rglob("*.rs")):
        if {"tests", "fake"} & set(path.parts) or path.name.endswith("tests.rs"):
            continue
        text = path.read_text().split("#[cfg(test)]\nmod tests {")[0]
        found += [
            f"{path.relative_to(ROOT)}:{line}: name the operations of the arm `{one}`" for line, one in problems(text)
        ]
    print("\n".join(found) or "every match on operations names them all")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
