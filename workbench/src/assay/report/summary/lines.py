"""The lines of the first page, one for each kind of work, and charts of the repeats behind them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.analyse.percentiles import percentiles_of
from assay.analyse.scaling import BINDING_SHARE, Scaling, ScalingPoint
from assay.analyse.usable import usable
from assay.model.result.decision import PointOutcome
from assay.model.result.result import ResultRow
from assay.model.result.summary_page import SummaryLine
from assay.model.result.verdict import LOWER_BOUND, OWN_SPEED, Verdict
from assay.model.units import about_latency
from assay.report import numbers
from assay.report.claims import ComparisonClaim, kind_of_rates
from assay.report.document import DotRow, Dots, Lane
from assay.report.growth.sentences import count_words, has_several_workloads, scaling_title
from assay.report.measure import IOPS, Measure, has_small_records, mean_time, measure_of
from assay.report.measure_time import time_estimate, time_measure
from assay.report.summary.limit_words import binding_limit
from assay.report.summary.lower_bounds import is_lower_bound
from assay.report.summary.sentences import claim_cell, order_cell, pairs_cell, target_order
from assay.report.summary.splits import split_claim
from assay.report.view import RunView

MAX_LINES = 6
"""Most lines on the page."""
_COUNTS = 5
"""Most numbers of hosts that have a column."""


@dataclass(frozen=True, slots=True)
class PageLines:
    """Lines, charts of their repeats, and the number of lines left out."""

    lines: tuple[SummaryLine, ...] = ()
    dots: tuple[Dots, ...] = ()
    more: int = 0

    def __add__(self, other: "PageLines") -> "PageLines":
        return PageLines((*self.lines, *other.lines), (*self.dots, *other.dots), self.more + other.more)


def comparison_lines(found: Sequence[ComparisonClaim], view: RunView, most: int = MAX_LINES) -> PageLines:
    """Return a line for each kind of work that compares targets, or for each part of one if the lead changes in it.

    Args:
        found: All claims.
        view: The run.
        most: Most lines to return.
    """
    kinds: dict[str, list[ComparisonClaim]] = {}
    for claim in found:
        kinds.setdefault(claim.kind, []).append(claim)
    every = [pair for claims in kinds.values() for pair in _kind(claims, view)]
    shown = every[:most]
    if not shown:
        return PageLines()
    base = found[0].base
    rows = tuple(row for _, row in shown)
    hollow = any(lane.undecided_values for row in rows for lane in row.lanes)
    caption = f"A dot is one repeat, divided by the median of {base} at the same sizes and settings; the bar is typical"
    caption += "; hollow: undecided." if hollow else "."
    dots = Dots("answer-dots", f"Times as fast as {base} in the median", caption, True, rows)
    return PageLines(tuple(line for line, _ in shown), (dots,), len(every) - len(shown) + _uncompared(found, view))


def _uncompared(found: Sequence[ComparisonClaim], view: RunView) -> int:
    """Return the number of kinds of work of targets that are compared with no other, counted per target."""
    names = {name for claim in found for name in (claim.base, claim.other)}
    rest = [row for row in view.analysis.rows if row.case.target not in names and is_usable(row)]
    imported = bool(view.run.imports)
    return len({(kind_of_rates(row.operation, row.case.workload, imported), row.case.target) for row in rest})


def _kind(claims: Sequence[ComparisonClaim], view: RunView) -> Iterator[tuple[SummaryLine, DotRow]]:
    """Yield the lines of one kind of work: one for each part of a single pair of targets, or one for several pairs."""
    if len(claims) == 1:
        for part in split_claim(claims[0]):
            yield _line(part.label, claim_cell(part), [part], view)
        return
    label = numbers.capitalized(claims[0].kind)
    if order := target_order(claims):
        yield _line(label, order_cell(claims, order), claims, view)
        return
    yield _line(label, pairs_cell(claims), claims, view)


def _line(label: str, text: str, claims: Sequence[ComparisonClaim], view: RunView) -> tuple[SummaryLine, DotRow]:
    rows = {target: _rows(claims, target, view) for target in _targets(claims, view)}
    measure = measure_of_rows([row for found in rows.values() for row in found])
    values = {target: range_text(found, measure) for target, found in rows.items()}
    ahead = [
        row for target, found in rows.items() if any(claim.points_won_by(target) for claim in claims) for row in found
    ]
    operations = list(
        dict.fromkeys(numbers.operation_title(one.operation).lower() for claim in claims for one in claim.decisions)
    )
    names = f" ({', '.join(operations)})" if len(operations) > 1 else ""
    whole = not any(claim.part for claim in claims)
    shape = shape_words([row for found in rows.values() for row in found], measure) if whole else ""
    line = SummaryLine(
        label=f"{label}{names}{shape}, {measure.label}",
        values=values,
        text=text,
        limit=binding_limit(ahead),
        points=max(map(len, rows.values())),
    )
    return line, DotRow(label, _ratios(claims, view))


def measure_of_rows(rows: Sequence[ResultRow]) -> Measure:
    """Return the measure of these rows: IOPS of small records, a time of long commands, else the operation's."""
    if not rows:
        return measure_of("read")
    if time := time_measure(rows):
        return time
    return IOPS if all(map(has_small_records, rows)) else measure_of(rows[0].operation)


def rate_of(row: ResultRow, measure: Measure) -> tuple[float, float | None, float | None]:
    """Return median and interval, in bytes or operations per second; of a time in seconds."""
    rate = row.iops if measure.is_count else row.throughput
    estimate = time_estimate(row, measure.time) if measure.time else rate
    assert estimate is not None
    return estimate.median, estimate.low, estimate.high


def shape_words(rows: Sequence[ResultRow], measure: Measure) -> str:
    """Return the sizes and queue depth that all rows have in common: `, 4 KiB, queue depth 1`."""
    names = ("record_size", "object_size", *(("queue_depth",) if measure is IOPS else ()))
    found = {name: {row.case.parameters.get_value(name) for row in rows} for name in names}
    alike = {name: value for name, values in found.items() if len(values) == 1 and (value := next(iter(values)))}
    words = [
        numbers.axis_value(name, value) if name.endswith("_size") else f"queue depth {value}"
        for name, value in alike.items()
    ]
    return "".join(f", {word}" for word in words)


def _targets(claims: Iterable[ComparisonClaim], view: RunView) -> list[str]:
    named = {name for claim in claims for name in (claim.base, claim.other)}
    return [target for target in view.targets if target in named]


def _rows(claims: Sequence[ComparisonClaim], target: str, view: RunView) -> list[ResultRow]:
    mine = (claim for claim in claims if target in (claim.base, claim.other))
    return list({id(row): row for claim in mine for row in rows_of(claim, target, view) if row.rate}.values())


def range_text(rows: Sequence[ResultRow], measure: Measure) -> str:
    """Return the median and interval of a single point, or the least and the greatest median of several."""
    if not rows:
        return numbers.NONE
    if len(rows) == 1:
        (row,) = rows
        middle, low, high = rate_of(row, measure)
        # "At least" is a statement on the storage; an interval after it would be one on this measurement.
        ends = (
            "" if is_lower_bound(row) else _interval(measure.number(middle), measure.number(low), measure.number(high))
        )
        return f"{_at_least(row, measure)}{measure.number(middle)}{ends}{_latency(row, measure)}"
    ordered = sorted(rows, key=lambda row: rate_of(row, measure)[0])
    least, most = (plain_rate(row, measure) for row in (ordered[0], ordered[-1]))
    return least if least == most else f"{least} to {most}{_mean_range(rows)}"


def _mean_range(rows: Sequence[ResultRow]) -> str:
    """Return the least and the greatest mean time of results whose mean says more than their rate; else nothing."""
    means = [mean for row in rows if (mean := mean_time(row)) is not None]
    return f", mean {about_latency(min(means))} to {about_latency(max(means))}" if len(means) == len(rows) else ""


def _interval(middle: str, low: str, high: str) -> str:
    """Return an interval: ` (112 to 117)`; empty if it is unknown or its rounded ends equal the median."""
    return "" if numbers.NONE in (low, high) or low == high == middle else f" ({low} to {high})"


def _at_least(row: ResultRow, measure: Measure) -> str:
    if not is_lower_bound(row):
        return ""
    return "at most " if measure.time else "at least "


def plain_rate(row: ResultRow, measure: Measure) -> str:
    """Return the median without its unit and interval: `114`, `at least 120`."""
    return f"{_at_least(row, measure)}{measure.number(rate_of(row, measure)[0])}"


def _latency(row: ResultRow, measure: Measure) -> str:
    """Return p99 of latency for a rate in operations per second, or the mean where it says more; else nothing."""
    if (mean := mean_time(row)) is not None:
        return f", mean {about_latency(mean)}"
    found = percentiles_of(row).get("p99") if measure.is_count and not measure.time else None
    return "" if found is None or found.estimate is None else f", p99 {about_latency(found.estimate.median)}"


def rows_of(claim: ComparisonClaim, target: str, view: RunView) -> list[ResultRow]:
    """Return the target's rows at the counted points of a claim."""
    found = (
        view.row(decision.workload, decision.operation, target, point.axes)
        for decision in claim.decisions
        for point in decision.valid_points
    )
    return [row for row in found if row is not None]


def _ratios(claims: Sequence[ComparisonClaim], view: RunView) -> tuple[Lane, ...]:
    """Return each target's repeats at counted points, divided by the median of the base target at the same point."""
    base = claims[0].base
    values: dict[str, tuple[list[float], list[float]]] = {}
    done: set[tuple[str, int]] = set()
    for claim in claims:
        for decision in claim.decisions:
            for point in decision.valid_points:
                base_row = view.row(decision.workload, decision.operation, base, point.axes)
                if base_row is None or base_row.has_no_result or base_row.rate is None or not base_row.rate.median:
                    continue
                for target in (claim.base, claim.other):
                    row = view.row(decision.workload, decision.operation, target, point.axes)
                    if row is not None and (target, id(row)) not in done:
                        done.add((target, id(row)))
                        lane = values.setdefault(target, ([], []))[point.outcome is PointOutcome.OPEN]
                        lane += [sample.rate / base_row.rate.median for sample in usable(row.samples)]
    lanes = (target_lane(target, view, *values[target]) for target in view.targets if target in values)
    return tuple(replace(lane, mark=_typical(lane.name, claims, base) or lane.mark) for lane in lanes)


def _typical(target: str, claims: Sequence[ComparisonClaim], base: str) -> float | None:
    """Return a target's median ratio to the base over the points with a winner, as in the text; None without any."""
    ratios = [
        point.ratio if point.winner == target else 1 / point.ratio
        for claim in claims
        if (claim.base, claim.other) == (base, target)
        for point in claim.points
        if point.winner
    ]
    return numbers.median(ratios) if ratios else None


def target_lane(target: str, view: RunView, values: Sequence[float], still_open: Sequence[float] = ()) -> Lane:
    """Return the dots of a target's repeats, with a mark at their median."""
    every = [value for value in (*values, *still_open) if value > 0]
    decided = tuple(value for value in values if value > 0)
    undecided = tuple(value for value in still_open if value > 0)
    return Lane(target, view.targets.index(target), decided, undecided, numbers.median(every) if every else 0.0)


def rate_charts(by_unit: dict[str, list[DotRow]], left_out: int = 0) -> Iterator[Dots]:
    """Yield a chart of rates for each unit; `left_out` is how many kinds of work they have no room for."""
    more = f" {numbers.plural(left_out, 'more kind', 'more kinds')} of work not drawn." if left_out else ""
    for place, (unit, rows) in enumerate(by_unit.items()):
        yield Dots(f"answer-dots-{place}", unit, f"A dot is one repeat.{more}", False, tuple(rows))


def is_usable(row: ResultRow) -> bool:
    """Return whether a result is usable: known, a lower bound, or unverified, which the text then states."""
    known = row.rate is not None and not row.is_vague
    return known and (OWN_SPEED | LOWER_BOUND | {Verdict.UNVERIFIED}).issuperset(row.verdicts)


def rate_range(rows: Sequence[ResultRow]) -> str:
    """Return the rates of these rows: `114 MB/s`, or for several points `11.2 to at least 120 MB/s`.

    Where the mean time says more, it stands beside the rate: `23,800 operations/s, mean 42 µs`.
    """
    measure = measure_of_rows(rows)
    ordered = sorted(rows, key=lambda row: rate_of(row, measure)[0])
    ends = [plain_rate(row, measure) for row in (ordered[0], ordered[-1])]
    times = _latency(rows[0], measure) if len(rows) == 1 and mean_time(rows[0]) is not None else _mean_range(rows)
    name = f"{measure.time} " if measure.time else ""
    return f"{name}{ends[0] if ends[0] == ends[1] else f'{ends[0]} to {ends[1]}'} {measure.unit}{times}"


def growth_lines(found: Sequence[Scaling], view: RunView, most: int = MAX_LINES) -> PageLines:
    """Return a line for each total that grows with hosts, tasks or lanes, with the repeats at each number."""
    by_unit: dict[str, list[DotRow]] = {}
    lines: list[SummaryLine] = []
    for one in found[:most]:
        measure = measure_of(one.operation)
        shade = view.targets.index(one.target)
        label = scaling_title(one, has_several_workloads(found))
        lanes = tuple(
            Lane(
                count_words(one, hosts),
                shade,
                tuple(rate / measure.scale for rate in rates if rate > 0),
                (),
                numbers.median([rate / measure.scale for rate in rates]),
            )
            for hosts, rates in sorted(one.repeats.items())
            if rates
        )
        by_unit.setdefault(measure.unit, []).append(DotRow(label, lanes))
        values = {count_words(one, point.number): measure.number(point.rate) for point in _columns(one)}
        lines.append(
            SummaryLine(
                label=f"{label}, {measure.unit}",
                values=values,
                text=growth_end(one, short=True),
                limit=_stopped_by(one),
                points=0,
            )
        )
    return PageLines(tuple(lines), tuple(rate_charts(by_unit)), max(0, len(found) - most))


def _columns(one: Scaling) -> Sequence[ScalingPoint]:
    """Return the points that have a column: all if they are few, else evenly spread ones from first to last."""
    points = one.points
    if len(points) <= _COUNTS:
        return points
    return [points[round(place * (len(points) - 1) / (_COUNTS - 1))] for place in range(_COUNTS)]


def growth_end(one: Scaling, short: bool = False) -> str:
    """Return where a total stops growing: `Write, store: flat (within 5 %) from 4 hosts on, at 231 MB/s`.

    Args:
        one: The total.
        short: Leave out operation and target.
    """
    head = "" if short else f"{scaling_title(one)}: "
    measure, last, top = measure_of(one.operation), one.points[-1], one.greatest
    if not one.is_clear:
        single = all(len(rates) == 1 for rates in one.repeats.values())
        return f"{head}undecided: {'each was measured once' if single else 'the repeats differ too much'}"
    if one.saturated is not None:
        rate = measure.text(one.saturated.rate)
        return f"{head}flat (within 5 %) from {count_words(one, one.saturated.number)} on, at {rate}"
    if top is not last:
        at = f"{count_words(one, top.number)} with {measure.text(top.rate)}"
        return f"{head}peaks at {at}; {last.number} reach {measure.text(last.rate)}"
    rate = measure.text(last.rate)
    return f"{head}still grows at {count_words(one, last.number)}, {rate}, {numbers.share(last.efficiency)} of linear"


def _stopped_by(one: Scaling) -> str:
    if one.client_bound:
        return "the clients' CPUs"
    if one.binding is not None and one.binding.share >= BINDING_SHARE:
        return f"{one.binding.name} ({numbers.share(one.binding.share)} of it)"
    return "none known"
