"""What all commands print with: tables for people, JSON for programs; and what happens when nobody can read them."""

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
from assay.model.foreign import in_json, lines, plain
from assay.model.units import about_rate

if TYPE_CHECKING:
    from assay.model.source import Problem
    from assay.report.document import Block

MOST_LINE = 100_000
"""Characters of a line."""
_POOR = str.maketrans({"─": "-", "–": "-", "−": "-", "µ": "u", "×": "x", "δ": "d", "±": "+"})
"""For terminals that know few letters."""


class _Sink(io.FileIO):
    """Standard output or error that may go away: then the rest is dropped, and the work goes on.

    A reader who has left (`| head`) or a terminal that was closed wants no more: that is no error. Of standard output
    anything else is, such as a full disk, because data would be missing without a word.
    """

    def write(self, data: Any) -> int:
        try:
            written = super().write(data)
        except OSError as error:
            gone = error.errno == errno.EPIPE or (error.errno == errno.EIO and not self.seekable())
            _discard(self.fileno())
            if self.fileno() == 2 or gone:
                return len(data)
            message = f"standard output cannot be written: {error.strerror}"
            raise AssayError(message, "", EXIT_INCOMPLETE) from error
        return len(data) if written is None else written


def _discard(fd: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)


def prepare_streams() -> None:
    """Make the three standard streams safe to use, whatever the caller did to them; once, before anything is opened.

    A closed one leads nowhere. Without that the next file that is opened, the run's database say, would take its number
    and be written into.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            with contextlib.suppress(OSError):
                # The lowest free number is given out, which is this one.
                os.open(os.devnull, os.O_RDWR)
    sys.stdout = _stream(1, sys.stdout)
    sys.stderr = _stream(2, sys.stderr)


def _stream(fd: int, before: TextIO | None) -> TextIO:
    encoding = before.encoding if before else "utf-8"
    errors = (before.errors if before else None) or "backslashreplace"
    # Of ASCII typer would make UTF-8 by itself, by going round our stream.
    encoding = "utf-8" if codecs.lookup(encoding).name == "ascii" else encoding
    raw = io.BufferedWriter(_Sink(fd, "w", closefd=False))
    return _Stream(raw, encoding=encoding, errors=errors, line_buffering=fd == 2 or os.isatty(fd))


class _Stream(io.TextIOWrapper):
    """Text that a terminal prints and does not obey, whatever it comes from: the last guard of all that is printed."""

    def write(self, text: str) -> int:
        """As of any stream."""
        return super().write(lines(text))

    @property
    def rich_proxied_file(self) -> "_Raw":
        """What rich writes its own colours and cursor movements to, instead of the stream (`rich.console.Console`)."""
        return _Raw(self)


class _Raw:
    """The stream without the guard. What is given to rich must be safe before."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """As of any stream."""
        return io.TextIOWrapper.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unguarded(stream: TextIO) -> TextIO:
    """What a writer of colours must write to, such as a console of rich: its text must be safe before."""
    return cast("TextIO", getattr(stream, "rich_proxied_file", stream))


def say(text: str = "", err: bool = False) -> None:
    """Print one line. Empty lines before it may be asked for; a line break within it becomes a blank."""
    rest = text.lstrip("\n")
    line = plain(rest, MOST_LINE)
    wide = terminal_width(err)
    if wide is not None and len(line) > wide:
        import textwrap

        from assay.report.terminal import joined

        # A terminal would break it anywhere, within a number too.
        line = textwrap.fill(joined(line), wide, break_long_words=False, break_on_hyphens=False).replace("\u00a0", " ")
    typer.echo("\n" * (len(text) - len(rest)) + line, err=err)


def terminal_width(err: bool = False) -> int | None:
    """Columns of the terminal that standard output is, or error; None if it is none: then lines are as they are."""
    stream = sys.stderr if err else sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None


def print_problem(problem: "Problem", file: str | os.PathLike[str]) -> None:
    """Print what is wrong with a file on standard error: a line with the place, and one with the hint."""
    for line in problem.text(plain(os.fspath(file))).splitlines():
        say(line, err=True)


def as_path(text: str) -> Path:
    """The path of a file to be read, for `parser=` of an argument: typer itself would look whether it is there.

    Only `assay.model.named` may look: storage that does not answer would hold the command for ever.
    """
    return Path(text)


def print_json(value: Any) -> None:
    """Print `value` as JSON on standard output; pydantic models are dumped first."""
    typer.echo(json_text(value), nl=False)


def json_text(value: Any) -> str:
    """`value` as indented JSON, and a line break."""
    return in_json(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def is_dumb() -> bool:
    """The terminal can neither move its cursor nor show colours."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def show(*blocks: "Block") -> None:
    """Print blocks of a document on standard output: as wide as a terminal is, each row of a table one line otherwise.

    The renderer has made all text safe, and its marks must not be spelled out: so it goes round the guard.
    """
    from assay.report.terminal import render_terminal

    wide = terminal_width()
    styled = sys.stdout.isatty() and not is_dumb()
    text = render_terminal(blocks, wide, styled=styled)
    unguarded(sys.stdout).write(encodable(text, sys.stdout.encoding))


def encodable(text: str, encoding: str) -> str:
    r"""The text with what this encoding has no letters for in other letters, or spelled out as `\u0107`."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        # What users have written may have letters that an output has not.
        return text.translate(_POOR).encode(encoding, "backslashreplace").decode(encoding)
    return text


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str = "",
    right: Sequence[str] = (),
    least: Sequence[str] = (),
) -> None:
    """Print a table of its own, with an empty line before and after it.

    Args:
        columns: Titles.
        rows: Cells as text.
        title: Printed above.
        right: Titles whose column is right-aligned.
        least: Titles of the columns that a narrow terminal leaves out first, in that order.
    """
    from assay.report.document import Heading, Table

    say()
    show(*([Heading(title, "")] if title else []), Table.of(columns, rows, right, least))
    say()


def ceiling_text(value: float | None, unit: str) -> str:
    """A ceiling with its unit, `bytes/s` or `operations/s`; empty without one."""
    return about_rate(value, counted=unit != "bytes/s")


def note(text: str) -> None:
    """Print a line for people on standard error, so that standard output stays clean for data."""
    say(text, err=True)
