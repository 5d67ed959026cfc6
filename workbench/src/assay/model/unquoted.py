"""Files that another file names, such as the inventory of a study: some are not quoted if something is wrong in them.

A study may come from somebody else, and name a file of whoever runs it that is no inventory, but has passwords. What
Assay says is kept and passed on: logs, reports of bugs. Quoted is a file whose name the user typed, and one that lies
with the file that names it.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.model.base import AssayError, LineError
from assay.model.named import UnreadableError, read_named


@dataclass(frozen=True)
class Naming:
    """How a file came to be read.

    Attributes:
        folder: Of the file that names it; None: of nobody that is known.
        typed: The user typed its name.
    """

    folder: Path | None = None
    typed: bool = False

    def may_quote(self, path: Path, data: bytes) -> bool:
        """Whether messages may have words of a file.

        Args:
            path: The file.
            data: What was read of it. It may be another file's: a name is a link now, and none a moment later.
        """
        if self.typed or self.folder is None or not path.is_relative_to(self.folder):
            return self.typed
        try:
            name = path.relative_to(self.folder)
            return read_named(name, str(path), "", len(data), below=self.folder) == data
        except UnreadableError:
            return False


TYPED = Naming(typed=True)


@contextlib.contextmanager
def unquoted(file: object, what: str, see: str, naming: Naming, path: Path, data: bytes) -> Iterator[None]:
    """What is wrong in a file becomes an error that has nothing of it but the number of a line.

    Args:
        file: Its name, as its errors begin.
        what: What it should be, such as `an inventory`.
        see: The command that says what is wrong, for whoever types the file's name.
        naming: How it came to be read. If it may be quoted, errors stay as they are.
        path: Where it is.
        data: What was read of it.

    Raises:
        AssayError: In place of each that was raised.
    """
    try:
        yield
    except AssayError as error:
        if naming.may_quote(path, data):
            raise
        hint = f"`{see}` says what is wrong: it does not lie with the file that names it, and is not quoted"
        if isinstance(error, LineError):
            raise LineError(file, error.line, f"this is no part of {what}", hint, error.exit_code) from None
        raise AssayError(f"{file}: is not {what}", hint, error.exit_code) from None
