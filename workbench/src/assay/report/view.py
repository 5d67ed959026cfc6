"""A run indexed for the report: by workload, operation, axis and point."""

from collections.abc import Iterable
from dataclasses import dataclass

from assay.model.money.price import PriceBook
from assay.model.partial import MISSING_TEXT
from assay.model.result.result import Comparison, ResultRow, RunAnalysis
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import NOT_STORAGE, OWN_SPEED, PARTLY_CHECKED
from assay.model.study.axis import AxisValue
from assay.model.study.names import LOOKUPS, METADATA, WRITES
from assay.model.study.repeats import repeats_words
from assay.report import numbers

_MIN_CELLS = 6
_MAX_RULES = 4
"""Most rules without evidence that a result names; `assay show RUN CASE` has all."""
CHANGING_OPERATIONS = WRITES | (frozenset(METADATA) - LOOKUPS)
"""Operations that change data or names, so that a flush after them has something to write."""

Axes = dict[str, AxisValue]


def missing_evidence(row: ResultRow) -> str:
    """Name the rules that lacked evidence for a result that is ok; empty for any other result."""
    rules = [rule.replace("_", " ") for rule in row.unevaluated_rules]
    rest = len(rules) - _MAX_RULES
    names = ", ".join([*rules[:_MAX_RULES], *([f"{rest} more"] if rest > 0 else [])])
    return f"{PARTLY_CHECKED}: {names}" if row.is_partly_checked else ""


def is_sound(row: ResultRow) -> bool:
    """Return whether the row has a rate and all its verdicts are ok or unstable."""
    return row.rate is not None and OWN_SPEED.issuperset(row.verdicts)


def is_false(row: ResultRow) -> bool:
    """Return whether one of the row's verdicts is cached or impossible, though another one may be worse."""
    return not NOT_STORAGE.isdisjoint(row.verdicts)


def is_plausible(row: ResultRow) -> bool:
    """Return whether the row has a rate that is neither cached nor impossible, however doubtful."""
    return row.rate is not None and not is_false(row)


def are_numeric(values: Iterable[AxisValue]) -> bool:
    """Return whether all values are numbers; booleans are not."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _order(value: AxisValue) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return (not is_number, float(value) if isinstance(value, int | float) else 0.0, str(value))


@dataclass(frozen=True, slots=True)
class WorkloadRows:
    """The rows of one workload and the axes that vary in it.

    Attributes:
        swept_axes: Axis name -> its values in ascending order; only axes with at least two.
    """

    name: str
    rows: tuple[ResultRow, ...]
    operations: tuple[str, ...]
    swept_axes: dict[str, tuple[AxisValue, ...]]

    def numeric_axes(self) -> list[str]:
        """Return the swept axes that hold numbers, file size and record size first."""
        names = [name for name, values in self.swept_axes.items() if are_numeric(values)]
        return sorted(names, key=lambda name: {"file_size": 0, "record_size": 1}.get(name, 2))

    def independent_axes(self, axis: str) -> list[str]:
        """Return the other swept axes, without those whose values change only together with those of `axis`."""
        return [name for name in self.swept_axes if name != axis and not self._tied(axis, name)]

    def _tied(self, first: str, second: str) -> bool:
        pairs = {(row.case.axes.get(first), row.case.axes.get(second)) for row in self.rows}
        return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})

    def grid(self) -> tuple[str, str] | None:
        """Return the pair of axes (rows, columns) that spans a grid; None if there is none.

        It is file size and record size if both are swept, else the first pair for which more than half of the points
        were measured. Fewer than 6 points are no grid: lines show them better.
        """
        names = self.numeric_axes()
        for place, first in enumerate(names):
            for second in names[place + 1 :]:
                found = {(row.case.axes.get(first), row.case.axes.get(second)) for row in self.rows}
                cells = len(self.swept_axes[first]) * len(self.swept_axes[second])
                if cells >= _MIN_CELLS and 2 * len(found) > cells:
                    return first, second
        return None

    def rows_of(self, operation: str) -> list[ResultRow]:
        """Return the rows of one operation."""
        return [row for row in self.rows if row.operation == operation]

    def shows_cache(self) -> bool:
        """Return whether the workload shows a cache, so that its results are kept apart from those of the storage.

        That is so if the study kept the cache on purpose and the cache answered, or if every result on some target is
        cached or impossible. The first reason applies to data only: metadata operations keep the caches by default,
        and objects are in no cache of this machine.
        """
        false_rows = [row for row in self.rows if is_false(row)]
        data = all(row.case.group == "data" for row in self.rows)
        if false_rows and data and all(row.case.parameters.get_value("cache") == "keep" for row in self.rows):
            return True
        rest = {row.case.target for row in self.rows if not is_false(row)}
        return any(row.case.target not in rest for row in false_rows)


def point_words(axes: Axes, names: Iterable[str]) -> str:
    """Return a point in few words: `64 MiB / 4 KiB`; values of axes other than sizes have the axis name before them."""
    words = []
    for name in names:
        if name not in axes:
            # Outputs of other tools may lack the value.
            continue
        text = numbers.axis_value(name, axes[name])
        words.append(text if name in ("file_size", "record_size") else f"{numbers.axis_title(name).lower()} {text}")
    return " / ".join(words)


class RunView:
    """One run with lookups by workload, operation, target and point.

    Attributes:
        targets: Names in the study's order.
        workloads: The workloads with results, in plan order.
        today: A price book to show beside the prices of the run; None: show only those of the run.
    """

    def __init__(self, analysis: RunAnalysis, current_book: PriceBook | None = None) -> None:
        self.analysis = analysis
        self.today = current_book
        self.run = analysis.run
        cases = (*analysis.cases, *(row.case for row in analysis.rows))
        names = [place.target for place in analysis.run.places] + [case.target for case in cases]
        self.targets: tuple[str, ...] = tuple(dict.fromkeys(names))
        self.workloads: tuple[WorkloadRows, ...] = tuple(self._workloads())
        self._rows = {
            self._key(row.case.workload, row.operation, row.case.target, row.case.axes): row for row in analysis.rows
        }
        self._swept = {workload.name: workload.swept_axes for workload in self.workloads}

    def _workloads(self) -> Iterable[WorkloadRows]:
        groups: dict[str, list[ResultRow]] = {}
        for row in self.analysis.rows:
            groups.setdefault(row.case.workload, []).append(row)
        for name, rows in groups.items():
            axes: dict[str, set[AxisValue]] = {}
            for row in rows:
                for axis, value in row.case.axes.items():
                    axes.setdefault(axis, set()).add(value)
            swept = {axis: tuple(sorted(values, key=_order)) for axis, values in axes.items() if len(values) > 1}
            yield WorkloadRows(name, tuple(rows), tuple(dict.fromkeys(row.operation for row in rows)), swept)

    @staticmethod
    def _key(workload: str, operation: str, target: str, axes: Axes) -> tuple[object, ...]:
        return (workload, operation, target, tuple(sorted(axes.items())))

    @property
    def repeats_words(self) -> str:
        """The number of repeats of a case in words; outputs of other programs may have more of one than of another."""
        counts = [len(row.samples) for row in self.analysis.rows]
        if not self.run.imports or not counts:
            return self.run.repeats_words
        return repeats_words(max(counts), min(counts))

    @property
    def includes_flushes(self) -> bool:
        """Whether any result on files or devices includes a flush after changes, or it is unknown whether it does."""
        return any(
            not CHANGING_OPERATIONS.isdisjoint(row.case.operations)
            and row.case.parameters.get_value("sync", MISSING_TEXT) != "none"
            for row in self.analysis.rows
        )

    def row(self, workload: str, operation: str, target: str, axes: Axes) -> ResultRow | None:
        """Return the row of one operation at one point on one target; None if there is none."""
        return self._rows.get(self._key(workload, operation, target, axes))

    def sides(self, pair: Comparison) -> tuple[ResultRow | None, ResultRow | None]:
        """Return the rows of the base and of the other target of a comparison; None for a row that is missing."""
        base = self.row(pair.workload, pair.operation, pair.base, pair.axes)
        return base, self.row(pair.workload, pair.operation, pair.other, pair.axes)

    def is_comparable(self, pair: Comparison) -> bool:
        """Return whether both sides have a rate that is neither cached nor impossible, however doubtful."""
        return all(row is not None and is_plausible(row) for row in self.sides(pair))

    def swept_axes_of(self, workload: str) -> list[str]:
        """Return the names of the axes that vary in a workload."""
        return list(self._swept.get(workload, ()))

    def point_of(self, row: ResultRow) -> str:
        """Return the position of a row on the swept axes, in few words."""
        return point_words(row.case.axes, self.swept_axes_of(row.case.workload))

    def place(self, target: str) -> TargetPlace | None:
        """Return what the run found out about a target's place; None if it found nothing."""
        return next((place for place in self.run.places if place.target == target), None)

    def main_workloads(self) -> list[WorkloadRows]:
        """Return the workloads whose charts show storage, not a cache."""
        return [workload for workload in self.workloads if not workload.shows_cache()]
