"""HammerDB's timing profile (xtprof): calls and latencies of each procedure, of each virtual user and of all."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.databases.transactions import MAX_SECONDS, checked_amount, transactions
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import Figure, ImportedResult, OutputError, ToolOutput

HINT = "give the timing profile as HammerDB wrote it"
MAX_BLOCKS = 20_000
START = re.compile(
    r">{5} (?:VIRTUAL USER ([0-9]{1,6})|SUMMARY OF ([0-9]{1,6}) ACTIVE VIRTUAL USERS) : "
    r"(?:MEDIAN )?ELAPSED TIME : (\S{1,30})ms"
)
_PROC = re.compile(r">{5} PROC: (\S{1,40})")
_FIGURE = re.compile(r"(CALLS|MIN|AVG|MAX|TOTAL|P99|P95|P75|P50|P25|SD|RATIO): ([^\s%]{1,40}?)(ms|%)?(?=[A-Z]|\s|$)")
_LINE = re.compile(r"(?:CALLS|P99): .{1,400}")
_UNITS = {"CALLS": "", "SD": "us", "RATIO": "%"}
"""Others are ms. The deviation is printed in microseconds (xtprof-1.0.tm)."""
_PLACES = {"MIN": "min", "AVG": "mean", "MAX": "max", "P50": "p50", "P99": "p99"}


class _Block:
    """The procedures of one user, or of all.

    Attributes:
        users: How many users they are of; 0 of one user among several.
        name: Whose they are.
        elapsed: Time in ms as printed.
        line: Its line, from 1.
        procedures: Name -> line and figures.
    """

    def __init__(self, users: int, name: str, elapsed: str, line: int) -> None:
        self.users, self.name, self.elapsed, self.line = users, name, elapsed, line
        self.procedures: dict[str, tuple[int, dict[str, Figure]]] = {}


def profile_output(lines: Sequence[str], file: ImportedFile, database: str) -> list[ToolOutput]:
    """Return the profile in a text; none if there is none.

    Args:
        lines: All lines, without blanks around them.
        file: What is known of the file.
        database: Name of the database, if the text says it.

    Raises:
        OutputError: It is not what HammerDB writes.
    """
    blocks = _blocks(lines)
    if not blocks:
        return []
    target = database or next((escape_line(line.split(" Hammerdb Time Profile")[0], 40) for line in lines
                               if " Hammerdb Time Profile Report @" in line), file.tool)  # fmt: skip
    results = tuple(result for block in blocks for result in _results(block, target))
    known = {"form": "timing profile", "line": blocks[0].line}
    return [ToolOutput(file=file.model_copy(update=known), results=results)] if results else []


def _blocks(lines: Sequence[str]) -> list[_Block]:
    blocks: list[_Block] = []
    figures: dict[str, Figure] | None = None
    for number, line in enumerate(lines, start=1):
        if match := START.fullmatch(line):
            users = int(match[2]) if match[2] else 0
            name = "all users" if match[2] else f"user {match[1]}"
            blocks.append(_Block(users, name, checked_amount(match[3], "ELAPSED TIME", number, HINT), number))
            figures = None
        elif blocks and (match := _PROC.fullmatch(line)):
            figures = {}
            name = escape_line(match[1], 40)
            if name in blocks[-1].procedures:
                raise OutputError(number, f"{name} is printed twice", HINT)
            blocks[-1].procedures[name] = (number, figures)
        elif figures is not None and _LINE.fullmatch(line):
            for match in _FIGURE.finditer(line):
                text = checked_amount(match[2], match[1], number, HINT)
                figures[match[1]] = Figure(match[1], text, _UNITS.get(match[1], "ms"))
        if len(blocks) > MAX_BLOCKS:
            raise OutputError(number, f"more than {MAX_BLOCKS:,} virtual users", HINT)
    return blocks


def _results(block: _Block, target: str) -> Iterator[ImportedResult]:
    """Yield a result for each procedure of all users; those of one user are left out."""
    seconds = Decimal(block.elapsed) / 1000
    for name, (line, figures) in block.procedures.items():
        calls = figures["CALLS"].text if "CALLS" in figures else "0"
        reason = "" if block.users else "it is of one virtual user: the summary has all of them"
        if not reason and not (calls.isdecimal() and int(calls) and 0 < seconds < MAX_SECONDS):
            reason = "it was not called"
        latency = {place: convert(figures[key].text, "ms") for key, place in _PLACES.items() if key in figures}
        yield ImportedResult(
            name=f"{name}, {block.name}",
            line=line,
            target=target,
            workload=f"TPROC-C: {name}",
            operation=None if reason else "transaction",
            parameters={} if reason else {"hosts": 1, "lanes": block.users},
            options={},
            figures=(Figure("elapsed", block.elapsed, "ms"), *figures.values()),
            latency_of="" if reason else f"time of a call of {name}",
            measured=None
            if reason
            else transactions(int(calls) / seconds, ops=int(calls), seconds=seconds, latency=latency),
            left_out=reason,
        )
