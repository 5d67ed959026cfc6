"""elbencho's table of results on the console and in its file of results (`--resfile`): versions 1.0 to 3.1.

Rates and amounts are whole numbers, rounded down, of MiB (2^20 bytes); since 3.0 `--base10` makes rates MB/s (10^6)
and leaves the amounts (Statistics.cpp, printPhaseResultsToStream).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.percentile import PERCENTILES
from assay.rooms.importers.work.elbencho.phases import HINT, PhaseOutput, checked, is_phase, take_total
from assay.rooms.importers.work.elbencho.setup import ElbenchoSetup, command_setup, safe_command
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import Figure, OutputError

_HEAD = ["OPERATION", "RESULT", "TYPE", "FIRST", "DONE", "LAST", "DONE"]
_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,12}[A-Za-z]")
_PROMPT = re.compile(
    r"(?:[^\n]{0,120}?[$#>%] +)?(?:(?:sudo +)?(?:docker|podman|nerdctl) run [^\n]{0,300}? )?"
    r"((?:[^\s'\"]{0,200}/)?elbencho(?:[:-][^\s]{0,40})? +-?[^\n]*)"
)
_ELAPSED = re.compile(r"(?:([0-9]{1,9})h)?(?:([0-9]{1,2})m)?([0-9]{1,9}(?:\.[0-9]{3})?)s|([0-9]{1,12})ms")
_TIME = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,3})?)(us|ms|s)?")
_PERCENTILE = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,15})?)%<=([0-9]{1,18}(?:\.[0-9]{1,3})?)")
_SUMMARY = {"min": "min", "avg": "mean", "max": "max"}
_MAX_LINE = 4000
_AMOUNTS = ("rate", "bytes", "iops", "entries_rate", "entries", "ios")


def is_head(line: str) -> bool:
    """Whether a line is the head of a table of elbencho."""
    return len(line) < _MAX_LINE and line.split() == _HEAD


def clean_lines(text: str) -> list[str]:
    """Return the lines as a terminal shows them: without escape sequences, and what was printed over."""
    return [_ESCAPE.sub("", line.rstrip("\r").rpartition("\r")[2]) for line in text.split("\n")]


class ResultTable:
    """One table, with what is printed before it.

    Attributes:
        line: Line of the file on which its head stands, from 1.
        date: As printed; empty if it is not.
        label: As printed; empty likewise.
        command: The command line, without secrets; empty likewise.
        setup: What it says.
        phases: In order.
    """

    def __init__(self, before: Sequence[str], rows: Sequence[str], line: int, order: str | None) -> None:
        """Read a table.

        Args:
            before: Lines before its head.
            rows: Lines behind its head.
            line: Number of the head's line.
            order: Order of offsets that the user states.

        Raises:
            OutputError: It is not what elbencho prints.
        """
        self.line, self.date, self.label, self.command = line, "", "", ""
        self.setup = ElbenchoSetup()
        self._read_head(before)
        if self.setup.is_random is None and order is not None:
            self.setup.is_random = order == "random"
        self.phases = list(_phases(rows, line + 1, self.setup))

    def _read_head(self, before: Sequence[str]) -> None:
        for number, line in enumerate(before):
            if line.startswith("ISO DATE: "):
                self.date = escape_line(line.removeprefix("ISO DATE: ").strip(), 40)
            elif line.startswith("LABEL: "):
                self.label = escape_line(line.removeprefix("LABEL: ").strip(), 80)
            elif line.startswith("COMMAND LINE: "):
                self._take_command(line.removeprefix("COMMAND LINE: ").strip())
            elif len(line) < _MAX_LINE and (match := _PROMPT.fullmatch(line)) and "elbencho" in line:
                self._take_command(_continued(match[1], before[number + 1 :]))

    def _take_command(self, text: str) -> None:
        program, _, words = text.partition(" ")
        if program.startswith('"'):
            program, _, words = text.partition('" ')
        self.command, self.setup = safe_command(text), command_setup(words)


def _continued(line: str, following: Sequence[str]) -> str:
    """Join a command line that goes on in the next lines."""
    joined = line
    for more in following[:20]:
        if not joined.rstrip().endswith("\\"):
            break
        joined = f"{joined.rstrip()[:-1]} {more.strip().removeprefix('> ')}"
    return joined


def tables_of(text: str, order: str | None) -> Iterator[ResultTable]:
    """Yield the tables of a text, in order.

    Raises:
        OutputError: One of them is not what elbencho prints.
    """
    lines = clean_lines(text)
    heads = [number for number, line in enumerate(lines) if is_head(line)]
    for at, head in enumerate(heads):
        first = heads[at - 1] + 1 if at else 0
        end = heads[at + 1] if at + 1 < len(heads) else len(lines)
        yield ResultTable(lines[max(first, head - 40) : head], lines[head + 1 : end], head + 1, order)


def _phases(rows: Sequence[str], first: int, setup: ElbenchoSetup) -> Iterator[PhaseOutput]:
    phase: PhaseOutput | None = None
    reader: _Rows | None = None
    for number, row in enumerate(rows, start=first):
        if row.startswith("---"):
            if phase is not None and reader is not None:
                reader.finish()
                yield phase
            phase = reader = None
            continue
        left, colon, right = row.partition(":")
        if not colon or len(left) > 60:
            continue
        if left[:1].strip():
            name, _, left = left.partition(" ")
            if not is_phase(name):
                continue
            if phase is not None:
                raise OutputError(number, f"{phase.name} has no end before {name}", HINT)
            phase = PhaseOutput(name, number, setup)
            reader = _Rows(phase)
        if reader is not None:
            reader.take(" ".join(left.split()), right.strip(), number)
    if phase is not None:
        raise OutputError(phase.line, f"the results of {phase.name} end too early", HINT)


class _Rows:
    """Reads the rows of one phase."""

    def __init__(self, phase: PhaseOutput) -> None:
        self._phase = phase
        self._main: dict[str, Decimal] = {}
        self._reads: dict[str, Decimal] = {}
        self._step = 1 << 20

    def take(self, label: str, text: str, line: int) -> None:
        """Read a row; lines that are none are left out."""
        words = text.split()
        if text.startswith("[") and text.endswith("]"):
            self._take_list(label, words[1:-1], line)
        elif label.startswith("Elapsed ") and len(words) == 2:
            self._take_elapsed(label, words, line)
        elif label and len(words) == 2:
            self._take_amount(label, words, line)

    def finish(self) -> None:
        """Give what was read to the phase.

        Raises:
            OutputError: The phase has no time.
        """
        phase = self._phase
        if phase.milliseconds is None:
            raise OutputError(phase.line, f"{phase.name} has no row `Elapsed time`", HINT)
        for values, side in ((self._main, phase.main), (self._reads, phase.reads)):
            take_total(values, side, 1 << 20)
            if side.rate is not None and self._step != 1 << 20:
                side.rate, side.rate_step = values["rate"] * self._step, self._step

    def _take_elapsed(self, label: str, words: Sequence[str], line: int) -> None:
        for side, word in zip(("first", "last"), words, strict=True):
            if label == "Elapsed ms":
                text, unit = str(checked(word, label, line)), "ms"
            else:
                text, unit = _elapsed(word, line)
            self._phase.figures.append(Figure(f"{label}.{side}", text, unit))
            self._phase.milliseconds = convert(text, unit) / 10**6

    def _take_amount(self, label: str, words: Sequence[str], line: int) -> None:
        name, of_reads, unit = _meaning(label)
        if not name and not all(word.isascii() and word.isdigit() for word in words):
            return
        last = [checked(word, label, line) for word in words][1]
        self._phase.figures += [
            Figure(f"{label}.{side}", word, unit) for side, word in zip(("first", "last"), words, strict=True)
        ]
        if unit == "MB/s":
            self._step = 10**6
        values = self._reads if of_reads else self._main
        if name in _AMOUNTS and name not in values:
            values[name] = last
            if name == "entries_rate":
                self._phase.entry_word = label.partition("/")[0]

    def _take_list(self, label: str, words: Sequence[str], line: int) -> None:
        kind = re.fullmatch(r"(IO|[A-Z][a-z]{2,8})( wr| rd)? lat(ency(?: us)?| %(?:ile| us)?| histo?)?", label)
        if kind is None:
            return
        side = self._phase.reads if kind[2] == " rd" else self._phase.main
        values = side.io_latency if kind[1] == "IO" else side.entry_latency
        if (kind[3] or "").startswith("ency"):
            _take_summary(label, words, values, self._phase.figures, line)
        elif (kind[3] or "").startswith(" %"):
            _take_percentiles(label, words, values, self._phase.figures)


def _meaning(label: str) -> tuple[str, bool, str]:
    """Return what a row is about, whether it is of the reads of a mix, and its unit; empty words for other rows."""
    first, _, rest = label.partition(" ")
    of_reads = rest == "read"
    if label.startswith("Throughput "):
        return "rate", False, rest if rest in ("MiB/s", "MB/s") else ""
    if first in ("MiB/s", "MB/s"):
        return "" if rest == "total" else "rate", of_reads, first
    if label == "Total MiB" or first == "MiB":
        return "bytes", of_reads, "MiB"
    if first == "IOPS":
        return "" if rest == "total" else "iops", of_reads, "1/s"
    if first == "IOs":
        return "ios", of_reads, ""
    if label == "CPU util %":
        return "cpu", False, "%"
    if first.endswith("/s"):
        return "" if rest == "total" else "entries_rate", of_reads, "1/s"
    return ("entries", of_reads, "") if rest in ("total", "write", "read") or first == "Total" else ("", False, "")


def _elapsed(word: str, line: int) -> tuple[str, str]:
    """Return a time such as `2m3.241s` as a number of seconds or milliseconds, and the unit."""
    match = _ELAPSED.fullmatch(word)
    if match is None:
        raise OutputError(line, f"Elapsed time cannot be {escape_line(word, 40)!r}", HINT)
    if match[4] is not None:
        return match[4], "ms"
    whole = int(match[1] or 0) * 3600 + int(match[2] or 0) * 60
    return str(whole + Decimal(match[3])), "s"


def _take_summary(label: str, words: Sequence[str], values: dict[str, float], figures: list[Figure], line: int) -> None:
    for word in words:
        name, _, text = word.partition("=")
        match = _TIME.fullmatch(text)
        if name not in _SUMMARY or match is None:
            raise OutputError(line, f"{label} cannot be {escape_line(word, 40)!r}", HINT)
        unit = match[2] or "us"
        figures.append(Figure(f"{label}.{name}", match[1], unit))
        values[_SUMMARY[name]] = float(convert(match[1], unit))


def _take_percentiles(label: str, words: Sequence[str], values: dict[str, float], figures: list[Figure]) -> None:
    names: Mapping[str, str] = {str(Decimal(str(percent)).normalize()): name for name, percent in PERCENTILES.items()}
    for word in words:
        if match := _PERCENTILE.fullmatch(word):
            figures.append(Figure(f"{label}.{match[1]}", match[2], "us"))
            name = names.get(str(Decimal(match[1]).normalize()))
            if name:
                values[name] = float(convert(match[2], "us"))
