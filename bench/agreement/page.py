"""Writes docs/agreement.md: the text of agreement.md.in, with tables in the places of its markers."""

from __future__ import annotations

import re
from pathlib import Path

import tables
from model import BenchError
from page import MARKER, ROOT, command_line, of_machine
from results import Results, RowResult

from agreement import show
from agreement.compare import interval
from agreement.words import sentences
from agreement.workloads import WORKLOADS, Workload

TEMPLATE = Path(__file__).resolve().parent / "agreement.md.in"
PAGE = ROOT / "docs" / "agreement.md"
PROGRAMS = ("assay-engine", "fio")


def write(results: Results) -> None:
    """Fill the template and write the page.

    Raises:
        BenchError: A workload has no results, or there are too few pairs to say anything.
    """
    missing = [work.key for work in WORKLOADS if work.key not in results.rows]
    if missing:
        raise BenchError(f"no page: no results for {', '.join(missing)}")
    check(results.wanted_rounds)
    PAGE.write_text(fill(TEMPLATE.read_text(), results))


def check(pairs: int) -> None:
    """Whether so many pairs make a page.

    Raises:
        BenchError: They do not.
    """
    if interval([0.0] * pairs) is None:
        raise BenchError(f"no page: {pairs} pairs are too few to say anything")


def fill(template: str, results: Results) -> str:
    """The template with each marker replaced.

    Raises:
        BenchError: The template has a marker that means nothing.
    """
    works = [(work, results.rows[work.key]) for work in WORKLOADS]
    parts = {
        "tally": lambda: show.tally(works),
        "summary": lambda: tables.markdown(show.summary(works)),
        "machine": lambda: of_machine(results),
        "workloads": lambda: "\n\n".join(
            of_workload(work, result, results.rows.get(work.twin)) for work, result in works
        ),
        "calls": lambda: tables.markdown(show.of_calls(works)),
        "commands": lambda: "\n\n".join(of_commands(work, result) for work, result in works),
    }

    def replace(match: re.Match[str]) -> str:
        if match[1] not in parts or match[2]:
            raise BenchError(f"{TEMPLATE.name}: {match[0]} means nothing")
        return parts[match[1]]()

    return MARKER.sub(replace, template)


def of_workload(work: Workload, result: RowResult, twin: RowResult | None) -> str:
    """Heading, tables, what follows."""
    parts = [f"### {work.title}", tables.markdown(show.of_workload(result))]
    parts.append("\n".join(f"* {sentence}" for sentence in sentences(work, result, twin)))
    parts.append("What an operation's time consists of:")
    parts.append(tables.markdown(show.of_parts(result)))
    if work.variants:
        parts.append("fio told to do the same in other ways, once in each round:")
        parts.append(tables.markdown(show.of_variants(work, result)))
    if result.failures:
        failed = "; ".join(f"{key}: {why}" for key, why in result.failures.items())
        parts.append(f"Failed, and left out with its round: {failed}.")
    return "\n\n".join(parts)


def of_commands(work: Workload, result: RowResult) -> str:
    """The commands of a workload, as run in its first run."""
    lines = [command_line(command) for commands in result.commands.values() for command in commands]
    return f"**{work.title}**\n\n```sh\n" + "\n".join(lines) + "\n```"
