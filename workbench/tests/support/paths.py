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
