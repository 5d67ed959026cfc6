"""Files that a study names and that its run keeps under names of its own."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from assay.model.base import AssayError


@contextlib.contextmanager
def as_named(kept: Path, name: str) -> Iterator[None]:
    """What is wrong in the copy of a file is told with the name that the study gives it."""
    try:
        yield
    except AssayError as error:
        message = re.sub(rf"({re.escape(str(kept))}|^{re.escape(kept.name)})(?=:|$)", lambda _: name, error.message)
        raise AssayError(message, error.hint, error.exit_code) from None
