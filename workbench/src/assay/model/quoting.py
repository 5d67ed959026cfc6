"""Files that another file names, such as the inventory of a study: messages quote only some of them.

A study may come from a stranger and name a file of the user that is no inventory but contains passwords. Messages of
Assay are stored and passed on: logs, bug reports. So messages quote a file only if the user typed its name, or if it is
in the folder of the file that names it.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.model.base import AssayError, LineError
from assay.model.user_files import UnreadableError, read_user_file


@dataclass(frozen=True)
class FileOrigin:
    """Where the name of a file came from.

    Attributes:
        folder: Folder of the file that contains the name; None if there is no such file.
        is_typed: The user typed the name.
    """

    folder: Path | None = None
    is_typed: bool = False

    def may_quote(self, path: Path, data: bytes) -> bool:
        """Whether messages may quote the content of a file.

        Args:
            path: Path of the file.
            data: Content that was read. It is compared, since the path may have been a link to another file at that
                time.
        """
        if self.is_typed or self.folder is None or not path.is_relative_to(self.folder):
            return self.is_typed
        try:
            name = path.relative_to(self.folder)
            return read_user_file(name, str(path), "", len(data), inside=self.folder) == data
        except UnreadableError:
            return False


TYPED_BY_USER = FileOrigin(is_typed=True)


@contextlib.contextmanager
def hide_content(
    file: object, label: str, show_command: str, origin: FileOrigin, path: Path, data: bytes
) -> Iterator[None]:
    """Replace errors about a file by errors that contain nothing of it but a line number, unless it may be quoted.

    Args:
        file: Name of the file, with which its errors begin.
        label: What it should be, such as `an inventory`.
        show_command: Command that shows what is wrong when the user types the file's name.
        origin: Where its name came from. If the file may be quoted, errors stay as they are.
        path: Path of the file.
        data: Content that was read.

    Raises:
        AssayError: In place of each error that was raised.
    """
    try:
        yield
    except AssayError as error:
        if origin.may_quote(path, data):
            raise
        hint = (
            f"`{show_command}` shows what is wrong; it is not in the folder of the file that names it, so it is not "
            "quoted here"
        )
        if isinstance(error, LineError):
            raise LineError(file, error.line, f"this line is not valid in {label}", hint, error.exit_code) from None
        raise AssayError(f"{file}: is not {label}", hint, error.exit_code) from None
