"""Files that another file names, such as the inventory of a study: what is wrong in them is said without their words.

A study may come from somebody else, and name a file of whoever runs it that is no inventory, but has passwords. What
Assay says is kept and passed on: logs, reports of bugs. A file whose name the user typed is quoted, as usual.
"""

import contextlib
from collections.abc import Iterator

from assay.model.base import AssayError, LineError
from assay.model.named import UnreadableError


@contextlib.contextmanager
def unquoted(file: object, what: str, see: str, quote: bool = False) -> Iterator[None]:
    """What is wrong in a file becomes an error that has nothing of it but the number of a line.

    Args:
        file: Its name, as its errors begin.
        what: What it should be, such as `an inventory`.
        see: The command that says what is wrong, for whoever types the file's name.
        quote: The user typed its name: errors stay as they are.

    Raises:
        AssayError: In place of each that was raised, but for those of a file that cannot be read.
    """
    try:
        yield
    except UnreadableError:
        raise
    except AssayError as error:
        if quote:
            raise
        hint = f"`{see}` says what is wrong: words of a file that another one names are not shown"
        if isinstance(error, LineError):
            raise LineError(file, error.line, f"this is no part of {what}", hint, error.exit_code) from None
        raise AssayError(f"{file}: is not {what}", hint, error.exit_code) from None
