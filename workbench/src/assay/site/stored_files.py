"""Files that a study names, and that its run stores under other names."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from assay.model.base import AssayError


@contextlib.contextmanager
def errors_as_named(copy: Path, name: str) -> Iterator[None]:
    """Report errors in the stored copy of a file under the name that the study gives it.

    Args:
        copy: Path of the copy.
        name: Name of the file in the study.
    """
    try:
        yield
    except AssayError as error:
        message = re.sub(rf"({re.escape(str(copy))}|^{re.escape(copy.name)})(?=:|$)", lambda _: name, error.message)
        raise AssayError(message, error.hint, error.exit_code) from None
