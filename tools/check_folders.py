#!/usr/bin/env python3
"""Fail if a folder of source has more files than a reader can overlook; files of data do not count."""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("workbench/src/**/*.py", "engine/crates/**/src/**/*.rs")
MOST = 30


def counts(root: Path) -> Counter[str]:
    """Folder -> files of source that lie in it."""
    return Counter(str(file.parent.relative_to(root)) for pattern in SOURCES for file in root.glob(pattern))


def problems(root: Path, most: int = MOST) -> list[str]:
    """One line for each folder with too many."""
    return [f"{folder}: {n} files, {most} at most: sort them" for folder, n in sorted(counts(root).items()) if n > most]


if __name__ == "__main__":
    found, (folder, largest) = problems(ROOT), counts(ROOT).most_common(1)[0]
    print("\n".join(found) or f"no folder of source has more than {largest} files ({folder})")
    sys.exit(bool(found))
