"""Boxes by name or file."""

from pathlib import Path

from assay.model.base import AssayError
from assay.model.box import NAME, Box
from assay.model.files import read_model
from assay.model.units import one_of
from assay.testbed.kinds import load_kind

PRESETS = Path(__file__).with_name("presets")
GUIDE = "docs/guides/testbed.md"


def preset_names() -> list[str]:
    """The boxes that come with Assay."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def load_box(ref: str, base: Path) -> Box:
    """A preset or a file.

    Args:
        ref: Name of a preset, or path of a file.
        base: Where relative paths start.

    Raises:
        AssayError: There is none, or the file is wrong.
    """
    if ref in preset_names():
        path, shown = PRESETS / f"{ref}.yaml", f"{ref}.yaml"
    else:
        path, shown = base / ref, ref
        if NAME.fullmatch(ref) and not path.is_file():
            raise AssayError(f"there is no box `{ref}`", f"{one_of(ref, preset_names())}; or give a file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AssayError(f"{shown}: {error.strerror}", f"give a file, or one of: {', '.join(preset_names())}") from None
    box = read_model(Box, data, shown, GUIDE)
    for spec in box.hosts.values():
        for server in spec.servers:
            load_kind(server.kind)
    return box
