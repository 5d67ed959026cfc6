#!/usr/bin/env python3
"""Fail where a file or function is larger than the size budget of ARCHITECTURE.md.

Files: at most 800 lines, and at most one in ten over 400. Functions: at most 100 lines, and at most one in ten over 40.
Generated files and tables of data do not count.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

SOURCES = (".rs", ".py", ".js", ".css")
BUILT = frozenset((".venv", "target", "node_modules"))
"""Folders that hold no sources."""
ROOT = Path(__file__).resolve().parent.parent
EXEMPT = {"workbench/src/assay/contract/_generated.py"}
FILE_MAX, FILE_MOSTLY, FUNCTION_MAX, FUNCTION_MOSTLY = 800, 400, 100, 40


def tracked() -> list[Path]:
    """Source files git knows of or would add; in an archive, or where git is not to be had, all there are."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *(f"*{end}" for end in SOURCES)]
    try:
        names = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        below = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.suffix in SOURCES)
        names = [str(path) for path in below if not BUILT.intersection(path.parts)]
    return [ROOT / name for name in sorted(set(names)) if name not in EXEMPT and (ROOT / name).exists()]


def python_functions(text: str) -> list[tuple[str, int]]:
    """Name and lines of each function."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(node.name, (node.end_lineno or node.lineno) - node.lineno + 1) for node in found]


def rust_functions(text: str) -> list[tuple[str, int]]:
    """Name and lines of each function; relies on rustfmt: the closing brace has the indent of `fn`."""
    lines = text.splitlines()
    found = []
    for start, line in enumerate(lines):
        match = re.match(r"^( *)(?:pub(?:\([a-z]+\))? )?(?:const )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)", line)
        if not match or line.rstrip().endswith((";", "}")):
            continue
        end = next((at for at in range(start, len(lines)) if lines[at] == match[1] + "}"), start)
        found.append((match[2], end - start + 1))
    return found


def main() -> int:
    """Exit code 1 if something is too large."""
    problems, files, functions = [], [], []
    for path in tracked():
        name, text = str(path.relative_to(ROOT)), path.read_text()
        count = len(text.splitlines())
        files.append(count)
        if count > FILE_MAX:
            problems.append(f"{name}: {count} lines, at most {FILE_MAX}: split the file")
        listing = {".py": python_functions, ".rs": rust_functions}.get(path.suffix, lambda _: [])(text)
        functions += [lines for _, lines in listing]
        for function, lines in listing:
            if lines > FUNCTION_MAX:
                problems.append(f"{name}: {function} has {lines} lines, at most {FUNCTION_MAX}: split the function")
    for what, sizes, mostly in (("files", files, FILE_MOSTLY), ("functions", functions, FUNCTION_MOSTLY)):
        over = sum(size > mostly for size in sizes)
        if over > len(sizes) / 10:
            problems.append(f"{over} of {len(sizes)} {what} are over {mostly} lines, at most one in ten may be")
        print(f"{len(sizes)} {what}, {over} over {mostly} lines, largest {max(sizes)}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
