"""Loads the description of a box: a preset or a file."""

from pathlib import Path

from assay.model.base import AssayError
from assay.model.quoting import TYPED_BY_USER, FileOrigin, hide_content
from assay.model.site.box import Box
from assay.model.site.box_servers import NAME_PATTERN
from assay.model.user_files import UnreadableError, read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_model
from assay.servers.kinds import check_server
from assay.servers.replication import check_replication

PRESETS = Path(__file__).with_name("presets")
GUIDE = "docs/guides/testbed.md"


def preset_names() -> list[str]:
    """Return the names of the boxes that come with Assay."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def load_box(ref: str, base: Path, naming: FileOrigin = TYPED_BY_USER) -> Box:
    """Load a box from a preset or a file.

    Args:
        ref: Name of a preset, or path of a file.
        base: Folder that relative paths start from.
        naming: Whether messages may quote the file: see `assay.model.quoting`.

    Raises:
        AssayError: There is no such box, or the file is wrong.
    """
    if ref in preset_names():
        path = PRESETS / f"{ref}.yaml"
        return _checked(path.read_bytes(), path.name, ref)
    data = read_box_file(base / ref, ref)
    with hide_content(ref, "a box", f"assay testbed up {base / ref}", naming, base / ref, data):
        return _checked(data, ref, ref)


def _checked(data: bytes, file: str, ref: str) -> Box:
    box = read_model(Box, data, file, GUIDE, "box")
    for name, spec in box.hosts.items():
        for server in spec.servers:
            check_server(server, f"{ref}: {name}")
    check_replication({member.name: member.spec.servers for member in box.all_hosts()}, ref)
    return box


def read_box_file(path: Path, ref: str) -> bytes:
    """Read the file of a box without parsing it.

    Args:
        path: Path of the file.
        ref: The name that the user gave.

    Raises:
        AssayError: The file cannot be read.
    """
    hint = f"name a file, or one of: {', '.join(preset_names())}"
    try:
        return read_user_file(path, ref, hint, MAX_FILE_BYTES)
    except UnreadableError as error:
        if error.missing and NAME_PATTERN.fullmatch(ref):
            raise AssayError(f"there is no box `{ref}`", hint) from None
        raise
