"""Errors of users, and exit codes: what each command needs before it does anything, so nothing large is loaded."""

from collections.abc import Callable
from enum import StrEnum

Say = Callable[[str], None]
"""Takes a line for people."""


class Warned(str):
    """A line that says what went wrong: shown even where nothing else is (`--quiet`)."""

    __slots__ = ()


def warning(text: str) -> Warned:
    """The line `warning: TEXT`."""
    return Warned(f"warning: {text}")


class Code(StrEnum):
    """What kind of error it is, where a caller does something about it."""

    NO_CREDENTIALS = "no_credentials"
    """A service needs credentials, and the host has none."""
    NO_DIRECT_IO = "no_direct_io"
    """A target cannot do direct I/O (O_DIRECT), or not with records of this size."""
    NEWER_RUN = "newer_run"
    """A run was written by a newer version of Assay."""
    UNKNOWN_JOB = "unknown_job"
    """The scheduler does not know a job, as some time after its end."""


class AssayError(Exception):
    """Something the user can mend.

    Attributes:
        message: One line: what is wrong and where.
        hint: One line: how to mend it; empty if the message says it.
        exit_code: Exit code of the command (see `assay.model.base.EXIT_*`).
        others: What else is wrong, and how to mend each; shown before it.
        code: What kind of error it is; None for those that all callers treat alike.
        what: The message without the places and values that are put around it, for callers that put others there.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        exit_code: int = 2,
        others: tuple[tuple[str, str], ...] = (),
        code: Code | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.others = others
        self.code = code
        self.what = message
        if hint:
            # Where the error ends a program of the user's, Python prints it below.
            self.add_note(f"hint: {hint}")

    def at(self, where: str, exit_code: int | None = None) -> "AssayError":
        """The same error of a part, such as a file, an option or a host: `where: message`."""
        code = self.exit_code if exit_code is None else exit_code
        found = AssayError(f"{where}: {self.message}", self.hint, code, self.others, self.code)
        found.what = self.what
        return found


class LineError(AssayError):
    """What is wrong in a line of a file.

    Attributes:
        line: Its number, from 1.
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
EXIT_BUG = 70
"""Assay itself failed (EX_SOFTWARE of sysexits.h)."""
EXIT_INTERRUPTED = 130
"""Stopped by the user; `assay run --resume` goes on."""
