#!/usr/bin/env python3
"""Fail if a folder of source has too many files to find one's way in, or two test files have one name.

Files of data do not count. pytest imports test files by their names alone, and refuses the second of two."""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("workbench/src/**/*.py", "engine/crates/**/src/**/*.rs")
TESTS = "workbench/tests/**/test_*.py"
MAX_FILES = 30


def counts(root: Path) -> Counter[str]:
    """Folder -> files of source that lie in it."""
    return Counter(str(file.parent.relative_to(root)) for pattern in SOURCES for file in root.glob(pattern))


def problems(root: Path, most: int = MAX_FILES) -> list[str]:
    """One line for each folder with too many files, and for each name of several test files."""
    full = [f"{folder}: {n} files, {most} at most: sort them" for folder, n in sorted(counts(root).items()) if n > most]
    return full + [f"{name}: the name of {n} test files: rename all but one" for name, n in same_names(root)]


def same_names(root: Path) -> list[tuple[str, int]]:
    """Names of test files that several have, and how many."""
    names = Counter(file.name for file in root.glob(TESTS))
    return sorted((name, n) for name, n in names.items() if n > 1)


if __name__ == "__main__":
    found, (folder, largest) = problems(ROOT), counts(ROOT).most_common(1)[0]
    print("\n".join(found) or f"no folder of source has more than {largest} files ({folder})")
    sys.exit(bool(found))
