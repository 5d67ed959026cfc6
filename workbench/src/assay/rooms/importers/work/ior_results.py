"""What the forms of IOR's output have in common: tests, their rows, and the results that become of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.sample import ErrorTally
from assay.model.study.names import WORK
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.ior_setup import Setup
from assay.rooms.importers.work.results import NO_ORDER, Figure, ImportedResult, Measurement, OutputError

HINT = "give the file as IOR printed it"
ACCESSES = ("write", "read")
_AMOUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?")
_NOT_FINITE = ("inf", "nan", "-nan", "-inf")
_MOVED = re.compile(r"(?:ior )?WARNING: (Expected|Stat\(\) of|Using actual) aggregate (?:file size|bytes moved) +"
                    r"= ([0-9]{1,18})\.?")  # fmt: skip
_MOVED_NAMES = {"Expected": "expected size", "Stat() of": "size by stat", "Using actual": "bytes moved"}
_STONEWALL = re.compile(
    r"stonewalling pairs accessed min: ([0-9]{1,19}) max: ([0-9]{1,19}) -- min data: ([0-9.]{1,20}) GiB "
    r"mean data: ([0-9.]{1,20}) GiB time: ([0-9.]{1,20})s"
)
_STONEWALL_NAMES = (("min pairs", ""), ("max pairs", ""), ("min data", "GiB"), ("mean data", "GiB"), ("time", "s"))
_WRONG = re.compile(r"(?:ior )?WARNING: [Ii]ncorrect data on (write|read)(?: \(([0-9]{1,9}) errors found\))?.*")


@dataclass
class Iteration:
    """One iteration of writing or reading.

    Attributes:
        line: Line of the file, from 1.
        access: `write` or `read`.
        figures: As printed.
        rate: MiB/s as printed.
        seconds: From the first opening to the last closing; empty if not printed.
        transfer_kib: KiB of a transfer as printed.
        moved: Bytes that IOR says were moved; None if it does not.
        wrong: How many errors the data had.
    """

    line: int
    access: str
    figures: list[Figure]
    rate: str
    seconds: str
    transfer_kib: str = ""
    moved: int | None = None
    wrong: int = 0


@dataclass
class Test:
    """One test of IOR: the same work, several times.

    Attributes:
        number: IOR's number of it.
        line: Line of the file on which it begins, from 1.
        setup: What it was asked to do.
        rows: Its iterations.
        summary: Access -> figures over all iterations.
        mean_rate: Access -> the mean of the rates in MiB/s, and of the times in seconds, as printed.
    """

    number: int
    line: int
    setup: Setup
    rows: list[Iteration] = field(default_factory=list)
    summary: dict[str, list[Figure]] = field(default_factory=dict)
    mean_rate: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass
class Remarks:
    """What IOR prints before an iteration, and belongs to it."""

    figures: list[Figure] = field(default_factory=list)
    moved: int | None = None

    def take(self, line: str) -> bool:
        """Read a line; return whether it is a remark."""
        if match := _MOVED.fullmatch(line.strip()):
            self.figures.append(Figure(_MOVED_NAMES[match[1]], match[2], "bytes"))
            self.moved = int(match[2]) if match[1] == "Using actual" else self.moved
        elif match := _STONEWALL.fullmatch(line.strip()):
            named = zip(_STONEWALL_NAMES, match.groups(), strict=True)
            self.figures += [Figure(f"stonewall.{name}", text, unit) for (name, unit), text in named if is_amount(text)]
        else:
            return False
        return True

    def give(self, row: Iteration) -> None:
        """Add what was read to an iteration, and forget it."""
        row.figures += self.figures
        row.moved = self.moved
        self.figures, self.moved = [], None


def take_errors(line: str, rows: Sequence[Iteration]) -> None:
    """Note that the data of the last iteration was wrong, if a line says so."""
    match = _WRONG.fullmatch(line.strip())
    if match and rows:
        same = [row for row in rows if row.access == match[1]]
        (same or rows)[-1].wrong += int(match[2] or 1)


def is_amount(text: str) -> bool:
    """Whether a text is a number as IOR prints it."""
    return _AMOUNT.fullmatch(text) is not None


def amount(text: str, name: str, line: int) -> str:
    """Return a printed number; empty if it is not finite.

    Raises:
        OutputError: It is no number.
    """
    if text in _NOT_FINITE:
        return ""
    if not is_amount(text):
        raise OutputError(line, f"{name} cannot be {escape_line(text, 40)}", HINT)
    return text


def add_iteration(test: Test, row: Iteration) -> None:
    """Add an iteration to its test.

    Raises:
        OutputError: It has no whole number, or the test has it already.
    """
    number = next((one for one in row.figures if one.name == "iter"), None)
    if number is not None and not (number.text.isascii() and number.text.isdigit()):
        raise OutputError(row.line, f"iteration {number.text} is no whole number", HINT)
    for other in test.rows:
        if number is not None and other.access == row.access and number in other.figures:
            raise OutputError(row.line, f"iteration {number.text} of {row.access} is printed twice in one test", HINT)
    test.rows.append(row)


def results_of(tests: Sequence[Test]) -> Iterator[ImportedResult]:
    """Yield the results of tests: each iteration, or what a summary says of a test whose iterations are not printed."""
    for number, test in enumerate(tests, start=1):
        workload = "ior" if len(tests) == 1 else f"test-{number}"
        last = {row.access: row for row in test.rows}
        for row in test.rows:
            yield _result(test, row, workload, test.summary.get(row.access, []) if row is last[row.access] else [])
        for access in test.summary:
            if access not in last:
                yield _of_summary(test, access, workload)


def _of_summary(test: Test, access: str, workload: str) -> ImportedResult:
    """Return the result of a test without printed iterations: that of the only one, or the mean of several."""
    rate, seconds = test.mean_rate.get(access, ("", ""))
    count = test.setup.repetitions
    row = Iteration(test.line, access, [], rate, seconds if count == 1 else "")
    size = test.setup.transfer_size
    row.transfer_kib = str(Decimal(size) / 1024) if size else ""
    words = "" if count == 1 else f" (mean of {count or 'several'})"
    return _result(test, row, workload + words, test.summary[access], is_mean=count != 1)


def _result(test: Test, row: Iteration, workload: str, more: Sequence[Figure], is_mean: bool = False) -> ImportedResult:
    setup = test.setup
    left_out = _why_left_out(row, setup)
    operation = None if left_out else f"random_{row.access}" if setup.is_random else row.access
    measured = None if operation is None else _measurement(row, setup, operation, is_mean)
    return ImportedResult(
        name=row.access,
        line=row.line,
        target=setup.target or "IOR",
        workload=workload,
        operation=operation,
        parameters={} if operation is None else setup.parameters_of(operation),
        options=setup.options,
        figures=(*row.figures, *more),
        measured=measured,
        left_out=left_out,
    )


def _why_left_out(row: Iteration, setup: Setup) -> str:
    if not row.rate:
        return "IOR prints no finite rate: it took no time that its clock could tell"
    if not Decimal(row.rate):
        return "its rate is 0"
    if not row.transfer_kib or not Decimal(row.transfer_kib):
        return "the size of its transfers is not known"
    if setup.is_random is None:
        return NO_ORDER
    return ""


def _measurement(row: Iteration, setup: Setup, operation: str, is_mean: bool) -> Measurement:
    rate = convert(row.rate, "MiB/s")
    transfer = Decimal(setup.transfer_size or 0) or convert(row.transfer_kib, "KiB")
    moved = None if is_mean else row.moved if row.moved is not None else _moved(row, setup)
    ops = int(moved // transfer) if moved else 0
    reads = WORK[operation].reads
    expected = setup.bytes_of_all
    stopped = setup.seconds_limit and moved is not None and expected is not None and moved < expected
    wrong = ErrorTally(kind="corrupt", name=None, count=row.wrong, example="IOR reports incorrect data")
    return Measurement(
        status="time_limit" if stopped else "done",
        has_counts=moved is not None,
        ops=ops,
        bytes=moved or 0,
        read_bytes=moved or 0 if reads else 0,
        write_bytes=0 if reads else moved or 0,
        throughput=float(rate),
        iops=float(rate / transfer),
        elapsed_ns=int(convert(row.seconds, "s")) or None if row.seconds else None,
        method=setup.api,
        errors=(wrong,) if row.wrong else (),
    )


def _moved(row: Iteration, setup: Setup) -> int | None:
    """Return the bytes of a whole test if rate and time agree with them, as far as these are printed; else None.

    A test that stops early moves less, and IOR says so on another stream if its output is JSON in a file.
    """
    expected = setup.bytes_of_all
    if expected is None or not row.seconds or not Decimal(row.seconds):
        return None
    seconds, rate = Decimal(row.seconds), Decimal(row.rate)
    share = sum((_half_digit(text) / Decimal(text) for text in (row.seconds, row.rate) if Decimal(text)), Decimal(0))
    difference = abs(seconds * convert(str(rate), "MiB/s") - expected)
    return expected if difference <= expected * (share * 2 + Decimal("1e-6")) else None


def _half_digit(text: str) -> Decimal:
    return Decimal(1).scaleb(-len(text.partition(".")[2])) / 2
