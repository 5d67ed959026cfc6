"""Where the tests' data and the repository are."""

import shlex
import sys
from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
GOLDEN = TESTS / "golden"
REPOSITORY = TESTS.parents[1]


def this_python() -> str:
    """The first lines of a program that this interpreter runs; `#!` takes no path with blanks, and no long one."""
    return f"#!/bin/sh\n''':'\nexec {shlex.quote(sys.executable)} \"$0\" \"$@\"\n'''\n"


def expected_messages(folder: Path) -> dict[str, str]:
    """File name -> what is said of it, by `expected.txt` of a folder: lines that begin with the name, and hints."""
    found: dict[str, str] = {}
    name = ""
    for line in (folder / "expected.txt").read_text().splitlines(keepends=True):
        name = name if line.startswith("  ") else line.split(":")[0]
        found[name] = found.get(name, "") + line
    return found
