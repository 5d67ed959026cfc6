"""What all commands print with: tables for people, JSON for programs."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer


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


def note(text: str) -> None:
    """Print a line for people on standard error, so that standard output stays clean for data."""
    typer.echo(text, err=True)
