"""Rates side by side, for runs of which no difference is decided: the lines of the first page, and its lead."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.analyse.anomalies.plateau import plateaus
from assay.analyse.usable import usable
from assay.model.result.decision import PointDecision, TargetDecision
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.model.result.summary_page import SummaryLine
from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.claims import kind_of_rates
from assay.report.document import DotRow, Lane
from assay.report.measure import Measure
from assay.report.measure_time import sample_seconds
from assay.report.summary.control_groups import reached_limits
from assay.report.summary.limit_words import group_limit, nearest_limit
from assay.report.summary.lines import (
    MAX_LINES,
    PageLines,
    is_usable,
    measure_of_rows,
    plain_rate,
    range_text,
    rate_charts,
    rate_of,
    rate_range,
    shape_words,
    target_lane,
)
from assay.report.view import RunView

LIKELY_LIMIT = "likely a link or a rate limit"
"""The limit, in words, of rates that do not change with size and queue depth."""
MAX_NAMED_KINDS = 4
"""Most kinds of work that the lead names one by one."""
MAX_ROWS = 12
"""Most lines that set several targets side by side."""
_MAX_COLUMNS = 4
"""Most targets with a column each; with more, each has a line."""
_MAX_LANES = 24
"""Most targets in a chart, counted for each kind of work."""


@dataclass(frozen=True, slots=True)
class RatioGroup:
    """Targets that did the same work, between which nothing is decided, since not all conditions are known.

    Attributes:
        kind: The kind of work.
        workload: Its workload; empty if the run has one.
        rows: Target -> its results at the points that it shares with the base, the base first.
        ratios: Each other target -> its rates / those of the base, at each point.
    """

    kind: str
    workload: str
    rows: dict[str, list[ResultRow]]
    ratios: dict[str, list[float]]

    @property
    def name(self) -> str:
        """The kind, and the workload if the run has several: `Random read, grid`."""
        return numbers.capitalized(self.kind) + (f", {self.workload}" if self.workload else "")

    @property
    def base(self) -> str:
        """The target that the ratios refer to."""
        return next(iter(self.rows))

    @property
    def is_single(self) -> bool:
        """Whether each target has one result."""
        return all(len(rows) == 1 for rows in self.rows.values())

    def ratio_text(self, target: str) -> str:
        """Return a target's ratio to the base: `1.8×`, or `1.4× (0.6× to 3.2×)` for several points."""
        found = self.ratios[target]
        ends = f" ({numbers.ratio(min(found))} to {numbers.ratio(max(found))})" if len(found) > 1 else ""
        return f"{numbers.ratio(numbers.median(found))}{ends}"


def ratio_groups(view: RunView) -> list[RatioGroup]:
    """Return the targets whose results are set side by side without a decision, by kind of work and workload."""
    found: dict[tuple[str, str], list[RatioGroup]] = {}
    several = len({one.workload for one in view.analysis.decisions}) > 1
    for one in view.analysis.decisions:
        points = [point for point in one.points if point.shows_ratio]
        kind = kind_of_rates(one.operation, one.workload, bool(view.run.imports))
        groups = found.setdefault((kind, one.workload), [])
        # Ratios to one base say those of all other pairs, too.
        if not points or any(one.base in group.ratios and one.other in group.ratios for group in groups):
            continue
        group = next((group for group in groups if group.base == one.base), None)
        if group is None:
            groups.append(group := RatioGroup(kind, one.workload if several else "", {one.base: []}, {}))
        _add(group, one, points, view)
    return [group for groups in found.values() for group in groups]


def groups_by_targets(view: RunView) -> dict[tuple[str, ...], list[RatioGroup]]:
    """Return the groups of `ratio_groups` by their targets, the base first: those of one table."""
    found: dict[tuple[str, ...], list[RatioGroup]] = {}
    for group in ratio_groups(view):
        found.setdefault(tuple(group.rows), []).append(group)
    return found


def _add(group: RatioGroup, one: TargetDecision, points: Iterable[PointDecision], view: RunView) -> None:
    # The base has its results from comparisons with other targets, too.
    known = {id(row) for row in group.rows[one.base]}
    for point in points:
        group.ratios.setdefault(one.other, []).append(point.ratio)
        for target in (one.base, one.other):
            row = view.row(one.workload, one.operation, target, point.axes)
            mine = group.rows.setdefault(target, [])
            if row is not None and id(row) not in known:
                mine.append(row)


def undecided_lead(groups: Sequence[RatioGroup]) -> str:
    """Return what the targets reach in their first kinds of work, and that no difference is decided."""
    named = groups[:MAX_NAMED_KINDS]
    by_order: dict[tuple[str | int, ...], list[RatioGroup]] = {}
    for group in named:
        by_order.setdefault((group.workload, *_ends(group)) if group.is_single else (group.name,), []).append(group)
    sentences = [_sentence(alike) for alike in by_order.values()]
    rest = len(groups) - len(named)
    more = [f"{numbers.plural(rest, 'more kind of work is', 'more kinds of work are')} below."] if rest else []
    return " ".join([*sentences, *more, "No difference is decided, since not all conditions are known."])


def _ends(group: RatioGroup) -> tuple[str, str, int]:
    """Return the target with the highest rate, the one with the lowest, and the number of targets."""
    rates = {target: _rate(rows[0]) for target, rows in group.rows.items()}
    ordered = sorted(rates, key=lambda name: -rates[name])
    return ordered[0], ordered[-1] if rates[ordered[-1]] < rates[ordered[0]] else ordered[0], len(rates)


def _sentence(alike: Sequence[RatioGroup]) -> str:
    """Return a sentence on kinds of work that have the same order, or on a single one with several points."""
    group = alike[0]
    if not group.is_single:
        points = max(map(len, group.ratios.values()))
        ratios = numbers.listing([f"{target} {group.ratio_text(target)}" for target in group.ratios])
        at = f"the rate of {group.base} in the median of {numbers.plural(points, 'common point')}"
        return f"{group.name}: {ratios} {at}."
    most, least, count = _ends(group)
    if most == least:
        names = numbers.listing(list(group.rows))
        return f"{names} have the same rate: {'; '.join(f'{one.kind} {rate_range(one.rows[most])}' for one in alike)}."
    rates = "; ".join(f"{one.kind} {_against(one, most, least)}" for one in alike)
    several = [*([f"in {group.workload}"] if group.workload else []), *([f"of {count} targets"] if count > 2 else [])]
    rank, ending = ("highest", "lowest") if count > 2 else ("higher", "lower"), "s" if len(alike) > 1 else ""
    head = f"{numbers.capitalized(', '.join(several))}, " if several else ""
    return f"{head}{most} has the {rank[0]} rate{ending}, {least} the {rank[1]}: {rates}."


def _rate(row: ResultRow) -> float:
    """Return the median rate of a result; 0 without one."""
    return row.rate.median if row.rate is not None else 0.0


def _against(group: RatioGroup, most: str, least: str) -> str:
    high, low = rate_range(group.rows[most]), rate_range(group.rows[least])
    # Rates of 0 are not compared.
    top, bottom = (_rate(group.rows[target][0]) for target in (most, least))
    return f"{high} against {low} ({numbers.ratio(top / bottom)})"


def uncompared_lines(view: RunView, most: int = MAX_LINES) -> PageLines:
    """Return what each target reaches in each kind of work, for runs that decide no comparison."""
    groups = ratio_groups(view)
    shared, alone = _shared_lines(view), _lines_alone(view, groups)
    rows, room = shared[:MAX_ROWS], max(0, most - len(shared))
    rest = alone[:room]
    charts: dict[str, list[DotRow]] = {}
    grouped = list(_dots_of_groups(groups, view))
    for unit, dots in (*grouped, *((unit, dots) for _, unit, dots in rest)):
        charts.setdefault(unit, []).append(dots)
    drawn = tuple(rate_charts(charts, len(groups) + len(alone) - len(grouped) - len(rest)))
    left_out = len(shared) - len(rows) + len(alone) - len(rest)
    return PageLines((*rows, *(line for line, _, _ in rest)), drawn, left_out)


def _shared_lines(view: RunView) -> list[SummaryLine]:
    """Return a line for each kind of work with a column for each target, or the other way round if they are many."""
    lines: list[SummaryLine] = []
    for targets, groups in groups_by_targets(view).items():
        lines += _by_kind(groups, view) if len(targets) <= _MAX_COLUMNS else _by_target(targets, groups, view)
    return lines


def _by_kind(groups: Sequence[RatioGroup], view: RunView) -> Iterator[SummaryLine]:
    for group in groups:
        values = {target: _value(rows, _measure(group), view) for target, rows in group.rows.items()}
        if len(values) == 2:
            (other,) = group.ratios
            values[f"{other} ÷ {group.base}"] = group.ratio_text(other)
        yield SummaryLine(label=_title(group), values=values, points=_points(group.rows.values()))


def _by_target(targets: Sequence[str], groups: Sequence[RatioGroup], view: RunView) -> Iterator[SummaryLine]:
    shown = groups[:_MAX_COLUMNS]
    for target in targets:
        values = {_title(group): _value(group.rows[target], _measure(group), view) for group in shown}
        yield SummaryLine(label=target, values=values, points=_points(group.rows[target] for group in shown))


def _title(group: RatioGroup) -> str:
    measure = _measure(group)
    return f"{group.name}{shape_words(_all_rows(group), measure)}, {measure.label}"


def _all_rows(group: RatioGroup) -> list[ResultRow]:
    return [row for rows in group.rows.values() for row in rows]


def _measure(group: RatioGroup) -> Measure:
    return measure_of_rows(_all_rows(group))


def _points(sides: Iterable[Sequence[ResultRow]]) -> int:
    """Return the number of results behind a value, 0 if it is one without an interval."""
    sides = list(sides)
    most = max(map(len, sides))
    has_interval = any(row.rate is not None and row.rate.low is not None for rows in sides for row in rows)
    return most if most > 1 or has_interval else 0


def _dots_of_groups(groups: Sequence[RatioGroup], view: RunView) -> Iterator[tuple[str, DotRow]]:
    room = _MAX_LANES
    for group in groups:
        room -= len(group.rows)
        if room >= 0:
            measure = _measure(group)
            lanes = tuple(_rate_lane(target, rows, measure, view) for target, rows in group.rows.items())
            yield measure.unit, DotRow(group.name, lanes)


def _rate_lane(target: str, rows: Sequence[ResultRow], measure: Measure, view: RunView) -> Lane:
    lane = target_lane(target, view, [_of_sample(sample, measure) for row in rows for sample in usable(row.samples)])
    # A median over different points would mean nothing, so their lane has no mark.
    return replace(lane, mark=lane.mark if len(rows) == 1 else None)


def _lines_alone(view: RunView, groups: Sequence[RatioGroup]) -> list[tuple[SummaryLine, str, DotRow]]:
    """Return a line for each target and kind of work without a counterpart, with its unit and its dots."""
    grouped = {id(row) for group in groups for rows in group.rows.values() for row in rows}
    shared = {numbers.capitalized(group.kind) for group in groups}
    kinds: dict[tuple[str, str], list[ResultRow]] = {}
    for row in view.analysis.rows:
        if is_usable(row) and id(row) not in grouped:
            kind = kind_of_rates(row.operation, row.case.workload, bool(view.run.imports))
            kinds.setdefault((numbers.capitalized(kind), row.case.target), []).append(row)
    flat, limits = plateaus(view.analysis.rows, view.run.places), reached_limits(view)
    found = []
    for (kind, target), rows in kinds.items():
        measure = measure_of_rows(rows)
        label = (
            kind if len(view.targets) == 1 else f"{kind}, {f'points of {target} only' if kind in shared else target}"
        )
        line = SummaryLine(
            label=f"{label}{shape_words(rows, measure)}, {measure.label}",
            values={"Measured": _value(rows, measure, view)},
            limit=LIKELY_LIMIT if target in flat else group_limit(rows, limits, view) or nearest_limit(rows, view),
            points=_points([rows]),
        )
        found.append((line, measure.unit, DotRow(label, (_rate_lane(target, rows, measure, view),))))
    return found


def _value(rows: Sequence[ResultRow], measure: Measure, view: RunView) -> str:
    return f"{_where(rows, measure, view)}{_unverified(rows)}"


def _of_sample(sample: Sample, measure: Measure) -> float:
    rate = sample.iops if measure.is_count else sample.throughput
    return ((sample_seconds(sample, measure.time) or 0.0) if measure.time else rate) / measure.scale


def _where(rows: Sequence[ResultRow], measure: Measure, view: RunView) -> str:
    """Return the rate of a single point, or the least and the greatest of several with their points."""
    if len(rows) == 1:
        return range_text(rows, measure)
    ordered = sorted(rows, key=lambda row: rate_of(row, measure)[0])
    ends = [
        f"{plain_rate(row, measure)}{f' ({at})' if (at := view.point_of(row)) else ''}"
        for row in (ordered[0], ordered[-1])
    ]
    return f"{ends[0]} to {ends[1]}"


def _unverified(rows: Sequence[ResultRow]) -> str:
    count = sum(Verdict.UNVERIFIED in row.verdicts for row in rows)
    return f"; {count:,} of {len(rows):,} unverified" if count else ""
