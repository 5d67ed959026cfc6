"""Hash of the workbench's own source files."""

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]


def sources_sha256(package: Path = PACKAGE) -> str:
    """Return the SHA-256 over names and contents of a package's Python files, in hex."""
    total = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(package).as_posix()} {content}\n".encode())
    return total.hexdigest()
