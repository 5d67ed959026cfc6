#!/usr/bin/env python3
"""Fail where source removes whole trees in a way that crosses mounts or follows links.

Python removes its own folders with `assay.journal.trees`, the engine those under test with `posix/src/place/remove.rs`;
both stay on one mount. Libraries and shells do not, so that no source calls theirs. `tempfile.TemporaryDirectory` is
such a removal, too. What only developers run, on what they have just built, is below, with what it removes.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("workbench/src", "engine/crates", "tools", "bench", "docs/clusters", "studies")
KINDS = {".py", ".rs", ".yaml", ".yml", ".sh", ".toml", ".j2", ".md", ""}
REMOVALS = re.compile(
    r"""
    \b(?: rmtree | removedirs | TemporaryDirectory | remove_dir_all ) \b
    | \b rm ["',\s]+ (?: -[\w-]+ ["',\s]+ )*? (?: -\w*[rR]\w* | --recursive ) (?: ["',\s] | $ )
    | \b find \b .* \s -delete \b
    """,
    re.VERBOSE,
)
BUILT, SCRATCH = "what it has just built", "a folder in which only it works"
ALLOWED = {
    "bench/copying.py": SCRATCH,
    "bench/judge/run.py": SCRATCH,
    "bench/layouts/compare.py": SCRATCH,
    "bench/many/run.py": SCRATCH,
    "bench/measure.py": SCRATCH,
    "bench/mpiio/run.py": SCRATCH,
    "bench/services.py": SCRATCH,
    "bench/setting.py": SCRATCH,
    "bench/short_against_long.py": SCRATCH,
    "engine/crates/backends/file/src/test_dir.rs": "a test's own folder",
    "engine/crates/posix/src/test_folder.rs": "a test's own folder",
    "tools/check_instructions.py": SCRATCH,
    "tools/check_removals.py": "names what it looks for",
    "tools/dist/Containerfile": "an image's own layers, while it is built",
    "tools/dist/deb.py": BUILT,
    "tools/generate.py": SCRATCH,
    "tools/run_tests.py": SCRATCH,
    "tools/servers.py": SCRATCH,
    "tools/shoot.py": SCRATCH,
}
"""File -> what it removes."""
TESTS = "#[cfg(test)]"


def found_in(text: str) -> list[tuple[int, str]]:
    """Line number and text of each removal in a file; those of Rust's tests at its end do not count."""
    lines = text.partition(TESTS)[0].splitlines()
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if REMOVALS.search(line)]


def problems(root: Path, places: tuple[str, ...], allowed: dict[str, str]) -> list[str]:
    """One line for each removal that is not allowed, and for each allowance that nothing uses."""
    found, used = [], set()
    for path in sorted(path for place in places for path in (root / place).rglob("*")):
        name = path.relative_to(root).as_posix()
        if (
            path.suffix not in KINDS
            or not path.is_file()
            or "/tests/" in name
            or name.endswith("tests.rs")
            or "/target/" in name
        ):
            continue
        lines = found_in(path.read_text(errors="replace"))
        used |= {name} if lines else set()
        if name not in allowed:
            found += [f"{name}:{number}: {line}: remove it with assay.journal.trees" for number, line in lines]
    return found + [f"{name}: removes nothing any more: take it off the list" for name in sorted(set(allowed) - used)]


def main() -> int:
    """Exit code 1 if there is a problem."""
    found = problems(ROOT, PLACES, ALLOWED)
    print("\n".join(found) or f"no tree is removed across mounts; {len(ALLOWED)} files of developers remove their own")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
