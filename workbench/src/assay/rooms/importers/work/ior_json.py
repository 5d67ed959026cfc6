"""IOR's JSON of versions 3.3 and 4.0 (`-O summaryFormat=JSON`), and its CSV of version 4.0.

Names are those of ior-output.c. JSON of 3.2 is none: all ranks write brackets into it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

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
from assay.rooms.importers.work.ior_setup import Setup, texts_of
from assay.rooms.importers.work.json_text import Number
from assay.rooms.importers.work.results import Figure, Order, OutputError

CSV = re.compile(r"access,bw\(MiB/s\),IOPS,Latency,block\(KiB\),xfer\(KiB\),.*")
_LOG = re.compile(r"^([ \t\[\]{},]*)([^\s\[\]{},\"].*)$", re.MULTILINE)
"""A line that is no JSON, such as a warning: IOR prints these on the same stream."""
_RESULT = re.compile(r'"access": "(?:write|read|remove)"')
_UNITS = {
    "bwMiB": "MiB/s",
    "blockKiB": "KiB",
    "xferKiB": "KiB",
    "iops": "1/s",
    "latency": "s",
    "openTime": "s",
    "wrRdTime": "s",
    "closeTime": "s",
    "totalTime": "s",
    "blockSize": "bytes",
    "transferSize": "bytes",
    "bwMaxMIB": "MiB/s",
    "bwMinMIB": "MiB/s",
    "bwMeanMIB": "MiB/s",
    "bwStdMIB": "MiB/s",
    "OPsMax": "1/s",
    "OPsMin": "1/s",
    "OPsMean": "1/s",
    "OPsSD": "1/s",
    "MeanTime": "s",
    "StoneWallTime": "s",
    "StoneWallbwMeanMIB": "MiB/s",
    "xsizeMiB": "MiB",
    "writeMiB": "MiB/s",
    "readMiB": "MiB/s",
    "writeMB": "MB/s",
    "readMB": "MB/s",
}
"""Name -> its unit; others are counts."""
_COLUMNS = {
    "bw(MiB/s)": "MiB/s",
    "IOPS": "1/s",
    "Latency": "s",
    "block(KiB)": "KiB",
    "xfer(KiB)": "KiB",
    "open(s)": "s",
    "wr/rd(s)": "s",
    "close(s)": "s",
    "total(s)": "s",
}


def without_log(text: str) -> str:
    """Return JSON without the lines of text that IOR prints between; the numbers of lines stay."""
    return _LOG.sub(r"\1", text)


def json_tests(document: Mapping[str, Any], text: str, first: int, version: int, line: IorTest | None) -> list[Test]:
    """Return the tests of one output.

    Args:
        document: The output.
        text: The same as text, with the lines between.
        first: Number of its first line, from 1.
        version: Main version of IOR.
        line: What the command line sets; None if that is not known.

    Raises:
        OutputError: It has not the structure that IOR writes.
    """
    places = _places(text, first)
    tests = []
    for one in _dicts(document.get("tests"), first):
        options, exact = (texts_of(_dict(one.get(name))) for name in ("Options", "Parameters"))
        test = Test(int(_number(one.get("TestID"), first)), first, Setup(version, options, exact, line))
        for entry in _flat(one.get("Results"), first):
            _add(test, entry, next(places, (first, Remarks())))
        _add_best(test, _dict(one.get("max")))
        tests.append(test)
    for entry in _dicts(document.get("summary"), first):
        _add_summary(tests, entry, first)
    _take_errors(text, first, tests)
    return tests


def _places(text: str, first: int) -> Iterator[tuple[int, Remarks]]:
    """Yield the line of each result, and what is printed before it."""
    remarks = Remarks()
    for number, line in enumerate(text.split("\n"), start=first):
        remarks.take(line.lstrip(" \t[]{},"))
        if _RESULT.search(line):
            yield number, remarks
            remarks = Remarks()


def _take_errors(text: str, first: int, tests: Sequence[Test]) -> None:
    """Note which data was wrong: a warning follows the iteration that it is about."""
    rows = [row for test in tests for row in test.rows]
    for number, line in enumerate(text.split("\n"), start=first):
        if "ncorrect data" in line:
            take_errors(line.lstrip(" \t[]{},"), [row for row in rows if row.line < number])


def _add(test: Test, entry: Mapping[str, Any], place: tuple[int, Remarks]) -> None:
    number, remarks = place
    access = entry.get("access")
    if access == "remove" and test.rows:
        if isinstance(text := entry.get("totalTime"), Number) and amount(text, "remove: totalTime", number):
            test.rows[-1].figures.append(Figure("remove.totalTime", str(text), "s"))
        return
    if access not in ACCESSES:
        raise OutputError(number, "an entry of `Results` has no access that IOR has", HINT)
    texts = {name: _printed(value, f"{access}: {name}", number) for name, value in entry.items() if name != "access"}
    figures = [Figure(name, text, _UNITS.get(name, "")) for name, text in texts.items() if text]
    row = Iteration(number, str(access), figures, texts.get("bwMiB", ""), texts.get("totalTime", ""))
    row.transfer_kib = texts.get("xferKiB", "")
    remarks.give(row)
    test.rows.append(row)


def _printed(value: object, name: str, line: int) -> str:
    """Return a number as printed; empty if it is not finite, which IOR 4.0 prints as text."""
    return amount(value if isinstance(value, str) else str(type(value).__name__), name, line)


def _add_best(test: Test, entry: Mapping[str, Any]) -> None:
    for name, text in texts_of(entry).items():
        access = next((one for one in ACCESSES if name.startswith(one)), "")
        if access and isinstance(text, Number) and amount(text, name, test.line):
            test.summary.setdefault(access, []).append(Figure(f"max.{name}", str(text), _UNITS.get(name, "")))


def _add_summary(tests: Sequence[Test], entry: Mapping[str, Any], line: int) -> None:
    number, access = _number(entry.get("TestID"), line), entry.get("operation")
    test = next((one for one in tests if one.number == number), None)
    if test is None or access not in ACCESSES:
        raise OutputError(line, "an entry of `summary` is of no test in this output", HINT)
    found = test.summary.setdefault(str(access), [])
    for name, text in texts_of(entry).items():
        if isinstance(text, Number) and name != "TestID":
            if text.startswith("-") and name not in _UNITS:
                found.append(Figure(f"summary.{name}", str(text)))
            elif amount(text, name, line):
                found.append(Figure(f"summary.{name}", str(text), _UNITS.get(name, "")))
    texts = [entry.get(name) for name in ("bwMeanMIB", "MeanTime")]
    rate, seconds = (str(text) if isinstance(text, Number) and is_amount(text) else "" for text in texts)
    test.mean_rate[str(access)] = (rate, seconds)
    names = ("blockSize", "transferSize", "segmentCount", "numTasks")
    test.setup.exact |= {name: str(entry[name]) for name in names if isinstance(entry.get(name), Number)}


def _number(value: object, line: int) -> Decimal:
    if not isinstance(value, Number) or not value.isdecimal():
        raise OutputError(line, "a test has no number", HINT)
    return value.value


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object, line: int) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise OutputError(line, "`tests` and `summary` are no lists of IOR's JSON", HINT)
    return value


def _flat(value: object, line: int) -> list[Mapping[str, Any]]:
    """Return the entries of `Results`: before version 4.0 there is a list for each iteration."""
    if not isinstance(value, list):
        raise OutputError(line, "a test has no list `Results`", HINT)
    return _dicts([one for part in value for one in (part if isinstance(part, list) else [part])], line)


def csv_tests(lines: Sequence[str], order: Order | None) -> list[Test]:
    """Return the tests of a file of CSV; each begins with the names of the columns.

    Args:
        lines: All lines of the file.
        order: Order of offsets that the user states, since CSV does not say it.

    Raises:
        OutputError: A line is not what IOR writes.
    """
    tests: list[Test] = []
    columns: list[str] = []
    for number, line in enumerate(lines, start=1):
        if CSV.fullmatch(line):
            columns = line.split(",")
            tests.append(Test(len(tests), number, Setup(4, order=order)))
        elif columns and line.partition(",")[0] in ACCESSES:
            words = line.split(",")
            if len(words) != len(columns):
                raise OutputError(number, f"a row of {len(words)} columns, and the head has {len(columns)}", HINT)
            _add_csv(tests[-1], dict(zip(columns, words, strict=True)), number)
        elif columns and "," in line and Remarks().take(line) is False and line[:1].islower():
            raise OutputError(number, "a row that IOR does not write", HINT)
    return tests


def _add_csv(test: Test, words: Mapping[str, str], number: int) -> None:
    texts = {name: amount(text, name, number) for name, text in words.items() if name != "access"}
    figures = [Figure(name.partition("(")[0], text, _COLUMNS.get(name, "")) for name, text in texts.items() if text]
    row = Iteration(number, words["access"], figures, texts["bw(MiB/s)"], texts.get("total(s)", ""))
    row.transfer_kib = texts.get("xfer(KiB)", "")
    add_iteration(test, row)
    for column, name in (("block(KiB)", "blockSize"), ("xfer(KiB)", "transferSize")):
        if texts.get(column):
            # Four decimals of a KiB tell bytes apart.
            test.setup.exact[name] = str(int((Decimal(texts[column]) * 1024).to_integral_value()))
    test.setup.exact["numTasks"] = texts.get("numTasks", "")
