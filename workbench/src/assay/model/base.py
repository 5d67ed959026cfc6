"""Errors that users can fix, and exit codes. Every command loads this module first, so it imports nothing large."""

from collections.abc import Callable
from enum import StrEnum

PrintLine = Callable[[str], None]
"""Prints one line for the user."""


class WarningLine(str):
    """A line that reports a problem; it is shown even with `--quiet`."""

    __slots__ = ()


def warning(text: str) -> WarningLine:
    """Return the line `warning: TEXT`."""
    return WarningLine(f"warning: {text}")


class Code(StrEnum):
    """The kind of an error, for callers that handle it."""

    NO_CREDENTIALS = "no_credentials"
    """A service needs credentials, and the host has none."""
    NO_DIRECT_IO = "no_direct_io"
    """A target cannot do direct I/O (O_DIRECT), or not with records of this size."""
    NEWER_RUN = "newer_run"
    """A run was written by a newer version of Assay."""
    UNKNOWN_JOB = "unknown_job"
    """The scheduler does not know a job; it forgets jobs some time after their end."""


class AssayError(Exception):
    """An error that the user can fix.

    Attributes:
        message: One line: what is wrong and where.
        hint: One line: how to fix it; empty if the message says so.
        exit_code: Exit code of the command (see `assay.model.base.EXIT_*`).
        others: Further errors as (message, hint); they are shown before this one.
        code: Kind of the error; None if every caller treats it alike.
        what: The message without the place that `at` puts before it, for callers that name another place.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        exit_code: int = 2,
        other_errors: tuple[tuple[str, str], ...] = (),
        code: Code | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.others = other_errors
        self.code = code
        self.what = message
        if hint:
            # If the error ends a user's own Python program, Python prints the note below the message.
            self.add_note(f"hint: {hint}")

    def at(self, where: str, exit_code: int | None = None) -> "AssayError":
        """Return the error with the place it concerns, such as a file, option or host: `where: message`."""
        code = self.exit_code if exit_code is None else exit_code
        located = AssayError(f"{where}: {self.message}", self.hint, code, self.others, self.code)
        located.what = self.what
        return located


class LineError(AssayError):
    """An error in one line of a file.

    Attributes:
        line: Line number, from 1.
    """

    def __init__(self, file: object, line: int, message: str, hint: str = "", exit_code: int = 2) -> None:
        super().__init__(f"{file}:{line}: {message}", hint, exit_code)
        self.line = line


EXIT_OK = 0
"""All went well."""
EXIT_INCOMPLETE = 1
"""The run ended, but some repeats have errors or are missing."""
EXIT_USAGE = 2
"""The input is wrong; nothing was done."""
EXIT_REFUSED = 3
"""Refused for safety, or the machine cannot do it; nothing was written."""
EXIT_LEFT = 4
"""The work is done, but something that may cost money is left in a cloud."""
EXIT_BUG = 70
"""Assay itself failed (EX_SOFTWARE of sysexits.h)."""
EXIT_INTERRUPTED = 130
"""Stopped by the user; `assay run --resume` goes on."""
