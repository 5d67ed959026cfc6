"""Writes docs/performance.md: the text of performance.md.in, with tables in the places of its markers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import tables
from model import BenchError, Row
from results import Results, RowResult

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "bench" / "performance.md.in"
PAGE = ROOT / "docs" / "performance.md"
MARKER = re.compile(r"^\{\{(\w+)(?: ([\w-]+))?\}\}$", re.MULTILINE)


def write(rows: list[Row], results: Results) -> None:
    """Fill the template and write the page.

    Raises:
        BenchError: A row has no results, or the template has a marker that means nothing.
    """
    missing = [row.key for row in rows if row.key not in results.rows]
    if missing:
        raise BenchError(f"no page: no results for {', '.join(missing)}")
    PAGE.write_text(fill(TEMPLATE.read_text(), rows, results))


def fill(template: str, rows: list[Row], results: Results) -> str:
    """The template with each marker replaced; `{{rows}}` stands for all rows that have no marker of their own."""
    by_key = {row.key: row for row in rows}
    placed = {match[2] for match in MARKER.finditer(template) if match[1] == "row"}

    def replace(match: re.Match[str]) -> str:
        kind, name = match[1], match[2]
        if kind == "row" and name in by_key:
            return of_row(by_key[name], results.rows[name])
        if kind == "rows":
            return "\n\n".join(of_row(row, results.rows[row.key]) for row in rows if row.key not in placed)
        if kind == "goals":
            return tables.markdown(tables.of_goals([(row, results.rows[row.key]) for row in rows]))
        if kind == "machine":
            return of_machine(results)
        if kind == "commands":
            return "\n\n".join(of_commands(row, results.rows[row.key]) for row in rows)
        raise BenchError(f"{TEMPLATE.name}: {match[0]} means nothing")

    return MARKER.sub(replace, template)


def of_machine(results: Results) -> str:
    """What the figures are true of."""
    facts = [["", ""], *([name, words] for name, words in results.machine.items())]
    facts += [[name, version] for name, version in results.versions.items()]
    facts += [["rounds", f"{results.wanted_rounds}, timed runs of {results.seconds:g} s"]]
    facts += [["whole bench", f"{results.minutes:.0f} minutes"]]
    return tables.markdown(facts).replace("---:", "---")


def of_row(row: Row, result: RowResult) -> str:
    """Heading, table, remarks."""
    parts = [f"### {row.title}", tables.markdown(tables.of_row(row, result))]
    if row.note:
        parts.append(row.note)
    return "\n\n".join(parts)


def of_commands(row: Row, result: RowResult) -> str:
    """The commands of a row, as run."""
    lines = []
    for contender in row.contenders:
        for command in result.commands.get(contender.key, []):
            lines.append(command_line(command))
    return f"**{row.title}**\n\n```sh\n" + "\n".join(lines) + "\n```"


def command_line(argv: list[str]) -> str:
    """A command for people: programs by name; an Assay job, the last word, goes to a file first."""
    words = [Path(argv[0]).name, *argv[1:]]
    if words[-1].startswith("{"):
        return f"echo {shlex.quote(words[-1])} > job.json; {shlex.join(words[:-1])} job.json"
    return shlex.join(words)
