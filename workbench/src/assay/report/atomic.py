"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from assay.model.base import AssayError


def write_whole(path: Path, write: Callable[[Path], None], force: bool = False) -> None:
    """Let `write` fill a temporary file beside `path`, then give it that name.

    Args:
        path: Where the file shall be.
        write: Writes to the path it is given.
        force: Replace what is there.

    Raises:
        AssayError: The file exists and `force` is not set, or it cannot be written.
    """
    if path.exists() and not force:
        raise AssayError(f"{path} exists already", "use --force to replace it, or --output FILE for another name")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}", "choose another place with --output") from error
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}", "choose another place with --output") from error
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
