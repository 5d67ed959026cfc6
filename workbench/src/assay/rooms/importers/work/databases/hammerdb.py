"""HammerDB's log of TPROC-C and TPROC-H, and its timing profile: versions 3 to 5.

The lines are those of its modules tpcccommon-1.0.tm, xtprof-1.0.tm and of the drivers of each database.
"""

import re
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.databases.hammerdb_profile import START as PROFILE
from assay.rooms.importers.work.databases.hammerdb_profile import profile_output
from assay.rooms.importers.work.databases.transactions import checked_amount, failures, is_amount, transactions
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)

NAME = "HammerDB"
HINT = "give the log as HammerDB wrote it"
MAX_COUNTERS = 5_000
"""Most lines of the transaction counter that are kept of one test."""
_BEGINS = r"(?:.{0,60}[^\w])?"
_NOPM_FIRST = re.compile(_BEGINS + r"TEST RESULT : System achieved (\S{1,40}) NOPM from (\S{1,40}) (.{1,40}) TPM[\",]*")
_TPM_FIRST = re.compile(_BEGINS + r"TEST RESULT : System achieved (\S{1,40}) (.{1,40}) TPM at (\S{1,40}) NOPM[\",]*")
_RESULT = "TEST RESULT : System achieved "
_VERSION = re.compile(r"HammerDB (?:CLI|GUI|Web Service|Metric Agent)? ?v([0-9]\S{0,20})")
_USERS = re.compile(_BEGINS + r"([0-9]{1,6}) Active (?:Virtual Users|Sessions) configured[\",]*")
_RAMPUP = re.compile(_BEGINS + r"Beginning rampup time of ([0-9]{1,6}) minutes[\",]*")
_PERIOD = re.compile(_BEGINS + r"Timing test period of ([0-9]{1,6}) in minutes[\",]*")
_CHANGED = re.compile(
    r"(?:Changed|Value) (?:\S+ for )?(?:tpcc|tpch):\w*?_(\w+) (?:from \S+ to (\S{1,40}) for .*|is .*)"
)
_SETTING = re.compile(r" ?[a-z0-9]{2,9}_([a-z_]{1,30}?) *= (\S{1,40})")
_SHOWN = ("count_ware", "storedprocs", "no_stored_procs", "partition", "keyandthink", "allwarehouse", "storage_engine",
          "prepared", "async_scale", "connect_pool", "scale_fact", "total_querysets", "degree_of_parallel")  # fmt: skip
"""Options whose values are shown; others may be names and passwords."""
_COUNTER = re.compile(r"([0-9]{1,12}) (.{1,40}) tpm(?: @ .{1,60})?")
_FAILED = re.compile(_BEGINS + r"Vuser [0-9]{1,6}:FINISHED FAILED[\",]*")
_SETS = re.compile(r"Vuser ([0-9]{1,6}):Completed ([0-9]{1,6}) query set\(s\) in ([0-9]{1,9}) seconds")
_GEOMEAN = re.compile(r"Vuser ([0-9]{1,6}):Geometric mean of query times returning rows \(([0-9]{1,3})\) is (\S{1,30})")
_QUERY = re.compile(r"Vuser ([0-9]{1,6}):query ([0-9]{1,3}) completed in (\S{1,30}) seconds")
_MAX_MINUTES = 10**6


def recognise(text: str) -> bool:
    """Whether a text is a log of HammerDB with results, or its timing profile."""
    if _RESULT in text or " query set(s) in " in text:
        lines = text.split("\n")
        return any(one.fullmatch(line.strip()) for line in lines for one in (_NOPM_FIRST, _TPM_FIRST, _SETS))
    return "ELAPSED TIME : " in text and any(PROFILE.fullmatch(line.strip()) for line in text.split("\n"))


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every test in a log, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: a database has no order of offsets.

    Raises:
        OutputError: It is not what HammerDB writes.
    """
    lines = [line.strip() for line in text.split("\n")]
    log = _Log()
    for number, line in enumerate(lines, start=1):
        log.take(line, number)
    outputs = []
    if results := log.results():
        known = {"tool": NAME, "version": log.version, "form": "log", "line": results[0].line}
        outputs.append(ToolOutput(file=file.model_copy(update=known), results=tuple(results)))
    outputs += profile_output(lines, file.model_copy(update={"tool": NAME, "version": log.version}), log.database)
    if not outputs:
        raise OutputError(1, "no test result in this log of HammerDB", HINT)
    return outputs


class _Log:
    """What a log says, line by line.

    Attributes:
        version: Version of HammerDB; empty if it is not printed.
        database: Name of the database of the last test.
    """

    def __init__(self) -> None:
        self.version = self.database = ""
        self._options: dict[str, str] = {}
        self._users = self._rampup = self._minutes = ""
        self._counters: list[Figure] = []
        self._failures: list[int] = [0]
        self._is_running = True
        self._tests: list[ImportedResult] = []
        self._sets: dict[str, list[Figure]] = {}
        self._first_set = 0

    def take(self, line: str, number: int) -> None:
        """Take a line into account; messages that say nothing of a result are passed over."""
        if _RESULT in line:
            self._test(line, number)
        elif match := _VERSION.match(line.lstrip("\ufeff")):
            self.version = escape_line(match[1], 20)
        elif match := _USERS.fullmatch(line):
            self._users = match[1]
        elif match := _RAMPUP.fullmatch(line):
            self._rampup, self._minutes, self._users, self._counters = match[1], "", "", []
            if not self._is_running:
                self._failures.append(0)
            self._is_running = True
        elif match := _PERIOD.fullmatch(line):
            self._minutes = match[1]
        elif (match := _COUNTER.fullmatch(line)) and len(self._counters) < MAX_COUNTERS:
            self._counters.append(Figure(f"counter.{len(self._counters) + 1}", match[1], "1/min"))
        elif _FAILED.fullmatch(line):
            self._failures[-1] += 1
        else:
            self._option_or_query(line, number)

    def _option_or_query(self, line: str, number: int) -> None:
        match = _CHANGED.fullmatch(line) or _SETTING.fullmatch(line)
        if match and match[1] in _SHOWN and match[2]:
            self._options[match[1]] = escape_line(match[2], 40)
        elif match := _SETS.fullmatch(line):
            self._first_set = self._first_set or number
            found = self._sets.setdefault(match[1], [])
            found += [Figure(f"user {match[1]}.query sets", match[2]), Figure(f"user {match[1]}.time", match[3], "s")]
        elif (match := _QUERY.fullmatch(line)) and is_amount(match[3]):
            self._sets.setdefault(match[1], []).append(Figure(f"user {match[1]}.query {match[2]}", match[3], "s"))
        elif (match := _GEOMEAN.fullmatch(line)) and is_amount(match[3]):
            self._sets.setdefault(match[1], []).append(Figure(f"user {match[1]}.geometric mean", match[3], "s"))

    def _test(self, line: str, number: int) -> None:
        if match := _NOPM_FIRST.fullmatch(line):
            nopm, tpm, database = match.groups()
        elif match := _TPM_FIRST.fullmatch(line):
            tpm, database, nopm = match.groups()
        else:
            raise OutputError(number, f"no result of a test: {escape_line(line, 80)}", HINT)
        self.database = escape_line(database, 40)
        figures = [
            Figure("NOPM", checked_amount(nopm, "NOPM", number, HINT), "1/min"),
            Figure("TPM", checked_amount(tpm, "TPM", number, HINT), "1/min"),
        ]
        times = (
            ("rampup", self._rampup, "min"),
            ("test period", self._minutes, "min"),
            ("virtual users", self._users, ""),
        )
        figures += [Figure(name, text, unit) for name, text, unit in times if text]
        rate = convert(nopm, "1/min")
        minutes = Decimal(self._minutes or 0)
        is_done = bool(rate)
        result = ImportedResult(
            name="TPROC-C",
            line=number,
            target=self.database,
            workload="TPROC-C: new orders",
            operation="transaction" if is_done else None,
            parameters=self._parameters() if is_done else {},
            options=dict(self._options),
            figures=(*figures, *self._counters),
            measured=transactions(rate, seconds=minutes * 60 if minutes else None) if is_done else None,
            left_out="" if is_done else "no new order was finished",
        )
        if not self._is_running:
            self._failures.append(0)
        self._is_running = False
        self._tests.append(result)

    def _parameters(self) -> dict[str, AxisValue]:
        found: dict[str, AxisValue] = {"hosts": 1}
        if self._users and int(self._users) > 0:
            found["lanes"] = int(self._users)
        if self._minutes and 0 < int(self._minutes) <= _MAX_MINUTES:
            found["runtime"] = int(self._minutes) * 60 * 10**9
        return found

    def results(self) -> list[ImportedResult]:
        """Return the tests with the users that failed in each, before or behind its result."""
        results = [_with_failures(*one) for one in zip(self._tests, self._failures, strict=False)]
        if self._first_set:
            results.append(self._query_sets())
        return results

    def _query_sets(self) -> ImportedResult:
        return ImportedResult(
            name="TPROC-H",
            line=self._first_set,
            target=NAME,
            workload="TPROC-H",
            operation=None,
            parameters={},
            options=dict(self._options),
            figures=tuple(figure for figures in self._sets.values() for figure in figures),
            left_out="queries of TPROC-H are no transactions: each takes another time",
        )


def _with_failures(result: ImportedResult, count: int) -> ImportedResult:
    if not count or result.measured is None:
        return result
    tallies = failures(count, f"HammerDB: {count} virtual users ended with FINISHED FAILED")
    return result.model_copy(update={"measured": result.measured.model_copy(update={"errors": tallies})})
