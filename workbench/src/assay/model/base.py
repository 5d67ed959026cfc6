"""Errors of users, and exit codes: what each command needs before it does anything, so nothing large is loaded."""

from collections.abc import Callable

Say = Callable[[str], None]
"""Takes a line for people."""


class AssayError(Exception):
    """Something the user can mend.

    Attributes:
        message: One line: what is wrong and where.
        hint: One line: how to mend it; empty if the message says it.
        exit_code: Exit code of the command (see `assay.model.base.EXIT_*`).
        others: What else is wrong, and how to mend each, to be told before it.
    """

    def __init__(
        self, message: str, hint: str = "", exit_code: int = 2, others: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.others = others
        if hint:
            # Where the error ends a program of the user's, Python prints it below.
            self.add_note(f"hint: {hint}")


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
