"""IOR's text: the block of options, the table of iterations and the summary, as versions 2.10 to 4.0 print them."""

import re
from collections.abc import Mapping, Sequence

from assay.model.escape import escape_line
from assay.plan.command_lines.ior_tests import IorTest
from assay.rooms.importers.work.ior_results import (
    ACCESSES,
    HINT,
    Iteration,
    Remarks,
    Test,
    add_iteration,
    amount,
    is_amount,
    take_errors,
)
from assay.rooms.importers.work.ior_setup import Setup
from assay.rooms.importers.work.results import Figure, OutputError

TABLE = re.compile(r"access +bw\(MiB/s\) .*")
_BLOCK = re.compile(r"(Options|Summary|Parameters): *")
_ENTRY = re.compile(r"\t? *([A-Za-z][A-Za-z_ /]{1,38}?) *[:=] *(.*)")
_NUMBER = re.compile(r"(?:TestID +: |Test )([0-9]{1,7})(?: started:.*)?")
_SUMMARY = re.compile(r"Operation +Max ?\(MiB\) .*")
_BEST = re.compile(r"(Max (?:Write|Read)): +(\S+) MiB/sec \((\S+) MB/sec\) *")
_ACCESS = re.compile(r"(write|read|remove)(?= |$)")
_ERROR = re.compile(r"(?:ior |IOR )?ERROR(?: in |: ).*")
_LAST = ("XXCEL", "EXCEL")
"""Words that versions before 3.0 print at the end of rows."""
_UNITS = {
    "bw": "MiB/s",
    "IOPS": "1/s",
    "Latency": "s",
    "block": "KiB",
    "xfer": "KiB",
    "open": "s",
    "wr/rd": "s",
    "close": "s",
    "total": "s",
    "Max(MiB)": "MiB/s",
    "Min(MiB)": "MiB/s",
    "Mean(MiB)": "MiB/s",
    "StdDev(MiB)": "MiB/s",
    "Max(OPs)": "1/s",
    "Min(OPs)": "1/s",
    "Mean(OPs)": "1/s",
    "StdDev(OPs)": "1/s",
    "Mean(s)": "s",
    "Stonewall(s)": "s",
    "Stonewall(MiB)": "MiB/s",
    "blksiz": "bytes",
    "xsize": "bytes",
    "aggsize": "bytes",
    "aggs(MiB)": "MiB",
}
"""Column -> its unit; others are counts."""
_EXACT = {"blksiz": "blockSize", "xsize": "transferSize", "segcnt": "segmentCount", "#Tasks": "numTasks"}
"""Column of the summary -> name of the same number in JSON."""
_HINT_FAILED = "give the part of the file that stands above, if its figures are to count"


class _Reader:
    """Reads the lines of one output after `IOR-...: MPI Coordinated Test of Parallel I/O`."""

    def __init__(self, version: int, line: IorTest | None, typed: Mapping[str, str]) -> None:
        self.tests: list[Test] = []
        self._version, self._line, self._typed = version, line, typed
        self._entries: dict[str, str] | None = None
        self._columns: tuple[str, ...] = ()
        self._summary: tuple[str, ...] = ()
        self._number: int | None = None
        self._remarks = Remarks()

    def read(self, line: str, number: int) -> None:
        """Read a line.

        Raises:
            OutputError: It is not what IOR prints there, or says that IOR failed.
        """
        if _ERROR.fullmatch(line):
            raise OutputError(number, f"IOR failed there: {escape_line(line, 120)}", _HINT_FAILED)
        if self._entries is not None and self._entry(line):
            return
        if match := _BLOCK.fullmatch(line):
            self._begin(match[1], number)
        elif match := _NUMBER.fullmatch(line):
            self._number = int(match[1])
        elif TABLE.fullmatch(line):
            self._columns, self._summary = tuple(line.split()), ()
            self._entries = None
        elif _SUMMARY.fullmatch(line):
            self._summary, self._columns = _summary_columns(line), ()
        elif match := _BEST.fullmatch(line):
            self._best(match, number)
        elif (self._columns or self._summary) and (match := _ACCESS.match(line)):
            self._row(match[1], line, number)
        elif not self._remarks.take(line) and self.tests:
            take_errors(line, self.tests[-1].rows)

    def _begin(self, name: str, number: int) -> None:
        """Begin a block: the options of a new test, or exact parameters of the last one or the next."""
        self._columns = self._summary = ()
        if name == "Parameters":
            self._entries = {}
            return
        setup = Setup(version=self._version, line=self._line)
        order = len(self.tests) if self._number is None else self._number
        self.tests.append(Test(order, number, setup))
        self._number, self._entries = None, setup.block

    def _entry(self, line: str) -> bool:
        """Read a line of a block; return whether it belongs to it, which ends with an empty line."""
        match = _ENTRY.fullmatch(line)
        if not line.strip() or match is None:
            self._entries = None if self._entries else self._entries
            return not line.strip()
        if self._entries is not None and len(self._entries) < 60:
            self._entries[match[1]] = match[2].rstrip(" ")
        return True

    def _test(self, number: int) -> Test:
        """Return the test whose iterations are printed; one without options if these are not in the file."""
        if not self.tests:
            self.tests.append(Test(0, number, Setup(self._version, dict(self._typed), line=self._line)))
        return self.tests[-1]

    def _best(self, match: re.Match[str], number: int) -> None:
        access = match[1].split()[1].lower()
        figures = self._test(number).summary.setdefault(access, [])
        for text, unit in ((match[2], "MiB/s"), (match[3], "MB/s")):
            if amount(text, match[1], number):
                figures.append(Figure(match[1], text, unit))

    def _row(self, access: str, line: str, number: int) -> None:
        words = tuple(word for word in line.split() if word not in _LAST)
        if self._summary:
            self._summary_row(words, number)
        elif len(words) != len(self._columns):
            message = f"a row of {access} has {len(words)} columns, and the table {len(self._columns)}"
            raise OutputError(number, message, HINT)
        elif access == "remove":
            self._removal(dict(zip(self._columns, words, strict=True)), number)
        else:
            self._iteration(access, dict(zip(self._columns, words, strict=True)), number)

    def _iteration(self, access: str, words: Mapping[str, str], number: int) -> None:
        named = {column.partition("(")[0]: text for column, text in words.items() if column != "access"}
        figures = [
            Figure(name, text, _UNITS.get(name, ""))
            for name, text in named.items()
            if text != "-" and amount(text, f"{access}: {name}", number)
        ]
        row = Iteration(number, access, figures, "", "")
        row.rate = amount(named["bw"], "bw", number) if named["bw"] != "-" else ""
        row.seconds = named["total"] if is_amount(named.get("total", "")) else ""
        row.transfer_kib = named["xfer"] if is_amount(named.get("xfer", "")) else ""
        self._remarks.give(row)
        add_iteration(self._test(number), row)

    def _removal(self, words: Mapping[str, str], number: int) -> None:
        """Add the time of removing files to the iteration that they are of."""
        rows, text = self._test(number).rows, words.get("total(s)", "-")
        if rows and text != "-" and amount(text, "remove: total", number):
            rows[-1].figures.append(Figure("remove.total", text, "s"))

    def _summary_row(self, words: Sequence[str], number: int) -> None:
        columns = self._summary
        if len(words) == len(columns) + 2 and "aggsize" in columns:
            columns = (*columns, "TestNum", "API")
        if len(words) != len(columns) or words[0] not in ACCESSES:
            message = f"a row of the summary has {len(words)} columns, and its head {len(columns)}"
            raise OutputError(number, message, HINT)
        named = dict(zip(columns, words, strict=True))
        test = self._of(named.get("Test#", ""), number)
        figures = []
        for name, text in named.items():
            if name in ("Operation", "API") or text == "NA":
                continue
            if text.startswith("-") and text[1:].isdecimal() and name not in _UNITS:
                figures.append(Figure(f"summary.{name}", text))
            elif amount(text, f"summary: {name}", number):
                figures.append(Figure(f"summary.{name}", text, _UNITS.get(name, "")))
        test.summary[words[0]] = [*test.summary.get(words[0], []), *figures]
        rate, seconds = (named.get(one, "") for one in ("Mean(MiB)", "Mean(s)"))
        test.mean_rate[words[0]] = (rate if is_amount(rate) else "", seconds if is_amount(seconds) else "")
        test.setup.exact |= {name: named[column] for column, name in _EXACT.items() if column in named}

    def _of(self, number: str, line: int) -> Test:
        """Return the test that a row of the summary is of: by its number, or the last one."""
        if not number:
            return self._test(line)
        found = next((test for test in self.tests if str(test.number) == number), None)
        if found is None:
            self._test(line)
            found = self.tests[0] if len(self.tests) == 1 else None
        if found is None:
            raise OutputError(
                line, f"a row of the summary is of test {escape_line(number, 20)}, which is missing", HINT
            )
        return found


def _summary_columns(line: str) -> tuple[str, ...]:
    """Return the columns of a summary; the two of standard deviations get a unit."""
    joined = re.sub(r" \((\w+)\)", r"(\1)", line.replace("Std Dev", "StdDev").replace("Op grep", ""))
    unit, columns = "(MiB)", []
    for word in joined.split():
        columns.append(word + unit if word == "StdDev" else word)
        unit = "(OPs)" if word == "StdDev" else unit
    return tuple(columns)


def read_tests(
    lines: Sequence[str], first: int, version: int, line: IorTest | None, typed: Mapping[str, str]
) -> list[Test]:
    """Return the tests of one output.

    Args:
        lines: Its lines.
        first: Number of the first of them in the file, from 1.
        version: Main version of IOR.
        line: What the command line sets; None if that is not known.
        typed: The block of options that follows from it, where IOR's own is missing.

    Raises:
        OutputError: A line is not what IOR prints there, or says that IOR failed.
    """
    reader = _Reader(version, line, typed)
    for number, text in enumerate(lines, start=first):
        reader.read(text, number)
    return reader.tests
