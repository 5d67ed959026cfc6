"""Results grouped into the cells of a table or the points of a chart, each with one value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from assay.model.base import AssayError
from assay.model.result.verdict import RANK, Verdict
from assay.model.study.axis import AxisValue
from assay.model.study.parameters import DEFINITIONS
from assay.model.units import choices_hint
from assay.report import numbers
from assay.report.selection.conditions import check_property, chosen_results
from assay.report.selection.options import SelectionOptions
from assay.report.selection.properties import (
    RunResult,
    distinct_words,
    is_value,
    property_names,
    shortened_choices,
)
from assay.report.selection.quantities import CellValue, quantity_of
from assay.report.view import RunView

Key = tuple[AxisValue, ...]


@dataclass(frozen=True)
class Cell:
    """A value of one or more results.

    Attributes:
        results: The results behind it that have a value, in order; of a ratio those on both targets.
        figure: The value, in the stored unit; None if no result has one.
        points: The values of the properties over which it is summarised; for one result a single point.
        base_results: For a ratio: the results that it is divided by.
    """

    results: tuple[RunResult, ...]
    figure: CellValue | None
    points: tuple[Key, ...]
    base_results: tuple[RunResult, ...] = ()

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts of the results behind it, each once, the worst first; without `ok`."""
        found = {verdict for one in (*self.results, *self.base_results) for verdict in one.row.verdicts}
        return tuple(sorted(found - {Verdict.OK}, key=RANK.__getitem__))

    @property
    def is_partly_checked(self) -> bool:
        """All results behind it are ok, but checks lacked evidence."""
        return not self.verdicts and any(one.row.is_partly_checked for one in (*self.results, *self.base_results))


class Selection:
    """The results that an author chose.

    Attributes:
        options: What was ordered.
        results: The chosen results, in the order of runs and studies.
        quantity: What is shown of them.
    """

    def __init__(self, options: SelectionOptions, views: Mapping[str, RunView]) -> None:
        """Choose results.

        Args:
            options: What is ordered.
            views: The chosen runs by name.

        Raises:
            AssayError: A property, value or quantity does not exist, or nothing satisfies the conditions.
        """
        self.options = options
        self._all = [RunResult(run, view, row) for run, view in views.items() for row in view.analysis.rows]
        if not self._all:
            raise AssayError(f"there are no results in {', '.join(views)}", "name another run")
        self.results = chosen_results(self._all, options.where)
        self.quantity = quantity_of(options.value, self._all)
        self.summary, self.over = options.summary
        for key in self.over:
            check_property(key, self._all)
        self._order = {key: self._values_in_order(key) for key in options.where}

    def sorted_values(self, key: str, results: Iterable[RunResult]) -> list[AxisValue]:
        """Return the values of a property: as the author lists them, else numbers ascending, else as they come."""
        found = list(dict.fromkeys(result.value(key) for result in results))
        order = self._order.get(key) or self._values_in_order(key)
        return sorted(found, key=order.index)

    def _values_in_order(self, key: str) -> list[AxisValue]:
        found: list[AxisValue] = []
        targets = [target for view in {id(one.view): one.view for one in self._all}.values() for target in view.targets]
        found += list(dict.fromkeys(targets)) if key == "target" else []
        found += [value for value in dict.fromkeys(one.value(key) for one in self._all) if value not in found]
        if all(_is_number(value) for value in found if value is not None):
            found.sort(key=lambda value: (value is None, float(value) if _is_number(value) else 0.0))  # type: ignore[arg-type]
        wanted = self.options.where.get(key, ())

        def rank(value: AxisValue) -> int:
            places = [place for place, text in enumerate(wanted) if value is not None and is_value(key, value, text)]
            return places[0] if places else len(wanted)

        return sorted(found, key=rank)

    @cached_property
    def differing(self) -> list[str]:
        """The properties that tell the chosen results apart."""
        names = ["run", *property_names(one.row for one in self.results)]
        if len({one.run for one in self.results}) > 1:
            names += [name for name in DEFINITIONS if name not in names]
        return [name for name in names if len({one.value(name) for one in self.results}) > 1]

    def cells(self, keys: Sequence[str]) -> dict[Key, Cell]:
        """Return the cells by their values of these properties.

        Raises:
            AssayError: A property does not exist, or a cell has several results over which nothing summarises.
        """
        for key in keys:
            check_property(key, self._all)
        groups: dict[Key, list[RunResult]] = {}
        for one in self.results:
            groups.setdefault(tuple(one.value(key) for key in keys), []).append(one)
        cells = {key: self._cell(keys, group) for key, group in groups.items()}
        return self._of_common_values(keys, cells) if self.options.common_values else cells

    def _of_common_values(self, keys: Sequence[str], cells: Mapping[Key, Cell]) -> dict[Key, Cell]:
        """Return cells that are summarised over the same values as those beside them."""
        found = dict(cells)
        for group in peer_groups(keys, cells):
            points = [set(cells[key].points) for key in group if cells[key].points]
            common = set.intersection(*points) if points else set()
            for key in group:
                results = [one for one in cells[key].results if self._point(one) in common]
                found[key] = self._cell(keys, results)
        return found

    def _cell(self, keys: Sequence[str], group: list[RunResult]) -> Cell:
        if self.quantity.of_target:
            return self._cell_of_target(group)
        self._check_alone(group, keys)
        if self.quantity.base:
            return self._ratio(group)
        known = [(one, figure) for one in group if (figure := self.quantity.get(one)) is not None]
        return Cell(
            tuple(one for one, _ in known),
            self._summarised([figure for _, figure in known]),
            tuple(self._point(one) for one, _ in known),
        )

    def _check_alone(self, group: list[RunResult], keys: Sequence[str]) -> None:
        """Refuse a cell whose results differ in more than what is summarised."""
        if len(group) < 2:
            return
        apart = [name for name in self.differing if name not in (*keys, *self.over)]
        names = [name for name in apart if len({one.value(name) for one in group}) > 1]
        points = [self._point(one) for one in group]
        if not names and len(set(points)) == len(points):
            return
        where = ", ".join(f"{key} {words}" for key in keys for words in distinct_words(key, [group[0].value(key)]))
        cell = f"one cell ({where})" if where else "one cell"
        if not names:
            first = next(place for place, point in enumerate(points) if point in points[:place])
            cases = " and ".join(group[place].row.case.id for place in (points.index(points[first]), first))
            raise AssayError(f"two results are in {cell}: cases {cases}", "choose one with where: {case: ...}")
        hint = f"put {names[0]} into rows, columns, split or where, or into mean_over, max_over or min_over"
        if self.summary:
            hint = f"add {', '.join(names)} to {self.summary}_over, or choose one value with where"
        raise AssayError(f"{len(group)} results are in {cell}; they differ in {self._differences(group, names)}", hint)

    @staticmethod
    def _differences(group: Sequence[RunResult], names: Sequence[str]) -> str:
        texts = []
        for name in names[:3]:
            words = distinct_words(name, (one.value(name) for one in group))
            texts.append(f"{name} ({', '.join(shortened_choices(words))})")
        return "; ".join(texts)

    def _point(self, one: RunResult) -> Key:
        return tuple(one.value(key) for key in self.over)

    def _summarised(self, figures: Sequence[CellValue]) -> CellValue | None:
        """Return the only value with its interval, or the summary of several without one."""
        if not figures:
            return None
        if not self.summary:
            return figures[0]
        values = [figure.value for figure in figures]
        return CellValue(
            fmean(values) if self.summary == "mean" else max(values) if self.summary == "max" else min(values)
        )

    def _ratio(self, group: Sequence[RunResult]) -> Cell:
        """Return the ratio to the same work on the base target, over the points that both have."""
        pairs = [(one, base) for one in group if (base := self._base_of(one)) is not None]
        known = [
            (one, base, first, second)
            for one, base in pairs
            if (first := self.quantity.get(one)) is not None and (second := self.quantity.get(base)) is not None
        ]
        points = tuple(self._point(one) for one, *_ in known)
        over = self._summarised([first for *_, first, _ in known])
        under = self._summarised([second for *_, second in known])
        figure = None
        if over is not None and under is not None and under.value > 0:
            figure = CellValue(over.value / under.value)
        return Cell(tuple(one for one, *_ in known), figure, points, tuple(base for _, base, *_ in known))

    @cached_property
    def _bases(self) -> dict[tuple[object, ...], RunResult]:
        return {self._work(one): one for one in self._all if one.row.case.target == self.quantity.base}

    def _base_of(self, one: RunResult) -> RunResult | None:
        return self._bases.get(self._work(one))

    @staticmethod
    def _work(one: RunResult) -> tuple[object, ...]:
        case = one.row.case
        return (one.run, case.workload, one.row.operation, tuple(sorted(case.axes.items())))

    def _cell_of_target(self, group: Sequence[RunResult]) -> Cell:
        figures = {(one.run, one.row.case.target): (one, self.quantity.get(one)) for one in group}
        values = {figure for _, figure in figures.values() if figure is not None}
        if len(values) > 1:
            targets = distinct_words("target", (one.row.case.target for one in group))
            raise AssayError(
                f"{numbers.plural(len(figures), 'target')} with different costs are in one cell",
                f"put target into rows or columns, or choose one: {choices_hint('', targets)}",
            )
        one = next((one for one, figure in figures.values() if figure is not None), None)
        return Cell((), next(iter(values), None), () if one is None else ((),))


def peer_groups(keys: Sequence[str], cells: Iterable[Key]) -> list[list[Key]]:
    """Return the keys of cells in groups that differ only in run, target or machine, and so are compared by readers."""
    shared = [place for place, key in enumerate(keys) if key not in ("run", "target", "host", "verdict")]
    groups: dict[Key, list[Key]] = {}
    for key in cells:
        groups.setdefault(tuple(key[place] for place in shared), []).append(key)
    return list(groups.values())


_SUMMARISE: dict[str, Callable[[Sequence[float]], float]] = {"mean": fmean, "max": max, "min": min}


def _is_number(value: AxisValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
