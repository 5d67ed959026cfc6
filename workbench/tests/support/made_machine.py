"""Made-up machines: a folder with the files in which Linux tells about itself."""

from collections.abc import Mapping
from pathlib import Path

from assay.launch.environment.reading import Files


def machine(root: Path, files: Mapping[str, str], links: Mapping[str, str] | None = None) -> Files:
    """A machine with these files (name -> content) and links (name -> target), all below `root`."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    for name, target in (links or {}).items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target if ":" in target else root / target.lstrip("/"))
    return Files(root)
