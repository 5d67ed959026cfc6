#!/usr/bin/env python3
"""Fail if a folder of source has too many subjects, or only one module; or if two test files have one name.

Modules whose names begin with the same word have one subject: `ior.py`, `ior_options.py`. Modules that are called after
their folder (`__init__.py`, `lib.rs`) and files of data do not count, sub-folders count on their own. pytest imports
test files by their names alone, and refuses the second of two.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("workbench/src/**/*.py", "engine/crates/**/src/**/*.rs")
TESTS = "workbench/tests/**/test_*.py"
MAX_SUBJECTS = 30
MAX_MODULES = 8
"""Of one subject."""
UNNAMED = {"__init__", "__main__", "lib", "main", "mod"}
"""Modules that are called after their folder."""


def subjects(root: Path) -> dict[Path, Counter[str]]:
    """Folder of source -> subject -> how many of its modules have it."""
    counts = defaultdict[Path, Counter[str]](Counter)
    for file in (file for pattern in SOURCES for file in root.glob(pattern)):
        counts[file.parent].update([] if file.stem in UNNAMED else [file.stem.lstrip("_").split("_")[0]])
    return dict(sorted(counts.items()))


def only_module(folder: Path) -> str:
    """The name of the one module that a package consists of; empty for any other folder."""
    names = {each.name for each in folder.iterdir()} - {"__pycache__"}
    others = sorted(names - {"__init__.py"})
    return others[0] if others != sorted(names) and len(others) == 1 and others[0].endswith(".py") else ""


def folder_problems(folder: Path, name: str, counts: Counter[str], most: int) -> list[str]:
    """What is wrong with one folder of source, as lines that begin with its name."""
    found = [f"{name}: {len(counts)} subjects, {most} at most: sort them"] if len(counts) > most else []
    found += [
        f"{name}: {n} modules begin with {word}, {MAX_MODULES} at most: give them a folder"
        for word, n in counts.items()
        if n > MAX_MODULES
    ]
    if module := only_module(folder):
        found.append(f"{name}: a folder for {module} alone: move it up")
    return found


def problems(root: Path, most: int = MAX_SUBJECTS) -> list[str]:
    """One line for each fault of a folder, and for each name of several test files."""
    found = [
        line
        for folder, counts in subjects(root).items()
        for line in folder_problems(folder, str(folder.relative_to(root)), counts, most)
    ]
    return found + [f"{name}: the name of {n} test files: rename all but one" for name, n in same_names(root)]


def same_names(root: Path) -> list[tuple[str, int]]:
    """Names of test files that several have, and how many."""
    names = Counter(file.name for file in root.glob(TESTS))
    return sorted((name, n) for name, n in names.items() if n > 1)


if __name__ == "__main__":
    found = problems(ROOT)
    largest, folder = max((len(counts), folder) for folder, counts in subjects(ROOT).items())
    print("\n".join(found) or f"no folder of source has more than {largest} subjects ({folder.relative_to(ROOT)})")
    sys.exit(bool(found))
