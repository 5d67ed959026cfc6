"""Printing of all commands: lines and tables for people, JSON for programs; streams that survive a closed reader."""

import codecs
import contextlib
import errno
import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer

from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.escape import escape_json, escape_line, escape_lines
from assay.model.units import about_rate

if TYPE_CHECKING:
    from assay.model.source import Problem
    from assay.report.document import Block

MAX_LINE = 100_000
"""Characters of a line at most."""
_ASCII_SUBSTITUTES = str.maketrans({"─": "-", "–": "-", "−": "-", "µ": "u", "×": "x", "δ": "d", "±": "+"})
"""Replacements for terminals that cannot show these characters."""


class _Sink(io.FileIO):
    """Standard output or error, whose reader may close it: the rest is then dropped, and the work goes on.

    A closed pipe (`| head`) or terminal is not an error. Any other failure of standard output is one, such as a full
    disk: data would be missing without notice.
    """

    def write(self, data: Any) -> int:
        try:
            written = super().write(data)
        except OSError as error:
            is_closed = error.errno == errno.EPIPE or (error.errno == errno.EIO and not self.seekable())
            _discard(self.fileno())
            if self.fileno() == 2 or is_closed:
                return len(data)
            message = f"standard output cannot be written: {error.strerror}"
            raise AssayError(message, "", EXIT_INCOMPLETE) from error
        return len(data) if written is None else written


def _discard(fd: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)


def prepare_streams() -> None:
    """Make the three standard streams safe to use, even if the caller closed them; once, before any file is opened.

    A closed stream is opened on /dev/null. Otherwise the next file opened, such as a run's database, would get its
    descriptor, and output would be written into it.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            with contextlib.suppress(OSError):
                # The kernel assigns the lowest free descriptor, which is this one.
                os.open(os.devnull, os.O_RDWR)
    sys.stdout = _stream(1, sys.stdout)
    sys.stderr = _stream(2, sys.stderr)


def _stream(fd: int, before: TextIO | None) -> TextIO:
    encoding = before.encoding if before else "utf-8"
    errors = (before.errors if before else None) or "backslashreplace"
    # typer replaces an ASCII stream by a UTF-8 one of its own, which would bypass ours.
    encoding = "utf-8" if codecs.lookup(encoding).name == "ascii" else encoding
    raw = io.BufferedWriter(_Sink(fd, "w", closefd=False))
    return _Stream(raw, encoding=encoding, errors=errors, line_buffering=fd == 2 or os.isatty(fd))


class _Stream(io.TextIOWrapper):
    """A text stream that makes control characters visible, so that no text can steer the terminal."""

    def write(self, text: str) -> int:
        """Write text with its control characters made visible."""
        return super().write(escape_lines(text))

    @property
    def rich_proxied_file(self) -> "_Raw":
        """The stream to which rich writes colours and cursor movements (`rich.console.Console` looks for this name)."""
        return _Raw(self)


class _Raw:
    """The stream without the guard: text given to rich must be made safe before."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text as it is."""
        return io.TextIOWrapper.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unguarded(stream: TextIO) -> TextIO:
    """Return the stream for a writer of colours, such as a console of rich; its text must be made safe before."""
    return cast("TextIO", getattr(stream, "rich_proxied_file", stream))


def print_line(text: str = "", err: bool = False) -> None:
    """Print one line, wrapped on a terminal. Leading line breaks print empty lines; others become blanks."""
    stripped = text.lstrip("\n")
    line = escape_line(stripped, MAX_LINE)
    wide = terminal_width(err)
    if wide is not None and len(line) > wide:
        import textwrap

        from assay.report.terminal import with_joined_units

        # A terminal would break it anywhere, even within a number.
        line = textwrap.fill(with_joined_units(line), wide, break_long_words=False, break_on_hyphens=False).replace(
            "\u00a0", " "
        )
    typer.echo("\n" * (len(text) - len(stripped)) + line, err=err)


def terminal_width(err: bool = False) -> int | None:
    """Return the columns of standard output's terminal, or standard error's; None if it is not a terminal."""
    stream = sys.stderr if err else sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None


def print_problem(problem: "Problem", file: str | os.PathLike[str]) -> None:
    """Print a problem of a file on standard error: a line with file and line number, and one with the hint."""
    for line in problem.text(escape_line(os.fspath(file))).splitlines():
        print_line(line, err=True)


def as_path(text: str) -> Path:
    """Return the path of a file to read; passed as `parser=`, because typer's own Path type checks that it exists.

    Only `assay.model.user_files` may check that: storage that does not answer would block the command forever.
    """
    return Path(text)


def print_json(value: Any) -> None:
    """Print `value` as JSON on standard output; pydantic models are dumped first."""
    typer.echo(json_text(value), nl=False)


def json_text(value: Any) -> str:
    """Return `value` as indented JSON with a line break at the end."""
    return escape_json(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def is_dumb() -> bool:
    """Return whether the terminal can neither move its cursor nor show colours (`TERM=dumb` or `unknown`)."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def print_blocks(*blocks: "Block") -> None:
    """Print blocks of a document on standard output, as wide as the terminal; elsewhere a table row is one line.

    The text bypasses the guard of the stream, which would make the renderer's own escape sequences visible; the
    renderer has made all other text safe.
    """
    from assay.report.terminal import render_terminal

    wide = terminal_width()
    styled = sys.stdout.isatty() and not is_dumb()
    text = render_terminal(blocks, wide, styled=styled)
    unguarded(sys.stdout).write(to_encoding(text, sys.stdout.encoding))


def to_encoding(text: str, encoding: str) -> str:
    r"""Return the text with characters that the encoding lacks replaced by similar ones, or by escapes as `\u0107`."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        # Text of users may have characters that the output cannot show.
        return text.translate(_ASCII_SUBSTITUTES).encode(encoding, "backslashreplace").decode(encoding)
    return text


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str = "",
    right: Sequence[str] = (),
    least: Sequence[str] = (),
) -> None:
    """Print a table with an empty line before and after it.

    Args:
        columns: Titles.
        rows: Cells as text.
        title: Printed above.
        right: Titles of the right-aligned columns.
        least: Titles of the columns that are dropped first on a narrow terminal, in that order.
    """
    from assay.report.document import Heading, Table

    print_line()
    print_blocks(*([Heading(title, "")] if title else []), Table.of(columns, rows, right, least))
    print_line()


def ceiling_text(value: float | None, unit: str) -> str:
    """Return a ceiling as text; `unit` is `bytes/s` or `operations/s`. Empty if `value` is None."""
    return about_rate(value, counted=unit != "bytes/s")


def note(text: str) -> None:
    """Print a line for people on standard error, so that standard output stays clean for data."""
    print_line(text, err=True)
