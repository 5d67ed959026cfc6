"""What all commands print with: tables for people, JSON for programs; and what happens when nobody can read them."""

import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import typer

from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.units import about_size


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
    encoding, errors = (before.encoding, before.errors) if before else ("utf-8", "backslashreplace")
    raw = io.BufferedWriter(_Sink(fd, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding=encoding, errors=errors, line_buffering=fd == 2 or os.isatty(fd))


def print_json(value: Any) -> None:
    """Print `value` as JSON on standard output; pydantic models are dumped first."""
    typer.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", right: Sequence[str] = ()
) -> None:
    """Print a table with rich on a terminal, tab-aligned plain text otherwise.

    Args:
        columns: Headings.
        rows: Cells as text.
        title: Printed above.
        right: Headings whose column is right-aligned.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, highlight=False, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else 200, markup=False, highlight=False, soft_wrap=False)
    console.print(table)


def rate_text(per_second: float | None, metadata: bool) -> str:
    """A rate with its unit: bytes per second, of metadata operations their number per second; empty without one."""
    if per_second is None:
        return ""
    return f"{per_second:,.0f} ops/s" if metadata else f"{about_size(per_second)}/s"


def ceiling_text(value: float | None, unit: str) -> str:
    """A ceiling with its unit, `bytes/s` or `operations/s`; empty without one."""
    return rate_text(value, metadata=unit != "bytes/s")


def note(text: str) -> None:
    """Print a line for people on standard error, so that standard output stays clean for data."""
    typer.echo(text, err=True)
