"""The lines of the first page: what is said of each kind of work, with the dots of all repeats that it rests on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.analyse.scaling import BINDS, Scaling
from assay.analyse.usable import usable
from assay.model.result.decision import Outcome
from assay.model.result.result import Row
from assay.model.result.verdict import HELD, SOUND, Verdict
from assay.report import numbers
from assay.report.claims import Claim, kind_of
from assay.report.document import DotRow, Dots, Lane, Text
from assay.report.first.held import is_held
from assay.report.first.splits import parts
from assay.report.first.words import ranked, ranking, said
from assay.report.growth.words import counted, scaled_where, scaled_words, several
from assay.report.measure import Measure, measure_of
from assay.report.view import View

MOST = 6
"""Lines on the page."""


def compared(found: Sequence[Claim], view: View, most: int = MOST) -> tuple[list[Dots], int]:
    """A line for each kind of work, or for each part of one in which the targets change places.

    Args:
        found: All claims.
        view: The run.
        most: So many lines.

    Returns:
        The lines, and how many more there would be.
    """
    kinds: dict[str, list[Claim]] = {}
    for claim in found:
        kinds.setdefault(claim.kind, []).append(claim)
    rows = [row for claims in kinds.values() for row in _kind(claims, view)]
    if not rows:
        return [], 0
    base = found[0].base
    caption = f"A dot is one repeat, divided by the median of {base} at the same point"
    hollow = any(lane.open for row in rows for lane in row.lanes)
    caption += "; hollow where that point is open." if hollow else "."
    title = f"Times as fast as {base} in the median"
    return [Dots("answer-dots", title, caption, True, tuple(rows[:most]))], max(0, len(rows) - most)


def _kind(claims: Sequence[Claim], view: View) -> list[DotRow]:
    """One pair of targets may be split into parts; of several pairs each has its sentence in one line."""
    if len(claims) == 1:
        return [
            DotRow(part.label, said(part), speeds([part], view), _ratios([part], view)) for part in parts(claims[0])
        ]
    label = numbers.titled(claims[0].kind)
    if order := ranking(claims):
        at = numbers.plural(min(claim.counted for claim in claims), "point")
        text = (*ranked(claims, order), f", at each of {at}.")
        return [DotRow(label, text, speeds(claims, view), _ratios(claims, view))]
    spans: list[object] = []
    for claim in claims:
        spans += [" " if spans else "", f"{claim.base} and {claim.other}: ", *said(claim)]
    return [DotRow(label, tuple(spans), speeds(claims, view), _ratios(claims, view))]  # type: ignore[arg-type]


def _targets(claims: Iterable[Claim], view: View) -> list[str]:
    named = {name for claim in claims for name in (claim.base, claim.other)}
    return [target for target in view.targets if target in named]


def speeds(claims: Sequence[Claim], view: View) -> str:
    """Median rate of each target, or the least and the greatest over the points that count."""
    measure = measure_of(claims[0].decisions[0].operation)
    found = []
    for target in _targets(claims, view):
        rows = {
            id(row): row
            for claim in claims
            if target in (claim.base, claim.other)
            for row in rows_of(claim, target, view)
        }
        rates = [row.rate.median for row in rows.values() if row.rate is not None]
        if rates:
            low, high = measure.number(min(rates)), measure.number(max(rates))
            found.append(f"{target} {low if low == high else f'{low} to {high}'}")
    return f"medians: {', '.join(found)} {measure.unit}" if found else ""


def rows_of(claim: Claim, target: str, view: View) -> list[Row]:
    """The target's rows at the points of a claim that count."""
    found = (
        view.row(decision.workload, decision.operation, target, point.axes)
        for decision in claim.decisions
        for point in decision.counted
    )
    return [row for row in found if row is not None]


def _ratios(claims: Sequence[Claim], view: View) -> tuple[Lane, ...]:
    """The repeats of each target at the points that count, divided by the median of the first one there."""
    base = claims[0].base
    values: dict[str, tuple[list[float], list[float]]] = {}
    seen: set[tuple[str, int]] = set()
    for claim in claims:
        for decision in claim.decisions:
            for point in decision.counted:
                under = view.row(decision.workload, decision.operation, base, point.axes)
                if under is None or under.no_result or under.rate is None or not under.rate.median:
                    continue
                for target in (claim.base, claim.other):
                    row = view.row(decision.workload, decision.operation, target, point.axes)
                    if row is not None and (target, id(row)) not in seen:
                        seen.add((target, id(row)))
                        lane = values.setdefault(target, ([], []))[point.outcome is Outcome.OPEN]
                        lane += [sample.rate / under.rate.median for sample in usable(row.samples)]
    lanes = (_lane(target, view, *values[target]) for target in view.targets if target in values)
    return tuple(replace(lane, middle=_typical(lane.name, claims, base) or lane.middle) for lane in lanes)


def _typical(target: str, claims: Sequence[Claim], base: str) -> float | None:
    """Times as fast as the first target, in the median over the points that are decided, as the text says it."""
    ratios = [
        point.ratio if point.winner == target else 1 / point.ratio
        for claim in claims
        if (claim.base, claim.other) == (base, target)
        for point in claim.points
        if point.winner
    ]
    return numbers.median(ratios) if ratios else None


def _lane(target: str, view: View, values: Sequence[float], still_open: Sequence[float] = ()) -> Lane:
    every = [value for value in (*values, *still_open) if value > 0]
    settled = tuple(value for value in values if value > 0)
    left = tuple(value for value in still_open if value > 0)
    return Lane(target, view.targets.index(target), settled, left, numbers.median(every) if every else 0.0)


def alone(view: View) -> tuple[list[Dots], int]:
    """Where nothing is compared: what each target reaches in each kind of work."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in view.analysis.rows:
        if answers(row):
            groups.setdefault((numbers.titled(kind_of(row.operation)), row.case.target), []).append(row)
    by_unit: dict[str, list[DotRow]] = {}
    for (kind, target), rows in list(groups.items())[:MOST]:
        measure = measure_of(rows[0].operation)
        label = kind if len(view.targets) == 1 else f"{kind}, {target}"
        rates = [sample.rate / measure.scale for row in rows for sample in usable(row.samples)]
        lane = _lane(target, view, rates)
        # One mark for several points would be the middle of what is not alike.
        lane = replace(lane, middle=lane.middle if len(rows) == 1 else None)
        by_unit.setdefault(measure.unit, []).append(DotRow(label, _speed(rows, measure, view), _limit(rows), (lane,)))
    charts = [
        Dots(
            f"answer-dots-{place}",
            f"Rate of a repeat in {unit}",
            "A dot is one repeat at one point.",
            False,
            tuple(rows),
        )
        for place, (unit, rows) in enumerate(by_unit.items())
    ]
    return charts, max(0, len(groups) - MOST)


def answers(row: Row) -> bool:
    """Its rate says what the storage does, or does at least; an unverified one is named as such."""
    return row.rate is not None and (SOUND | HELD | {Verdict.UNVERIFIED}).issuperset(row.verdicts)


def _speed(rows: Sequence[Row], measure: Measure, view: View) -> Text:
    """The rate; of several points the least and the greatest, since a mean of unlike points is no rate of anything."""
    found = sorted(((row.rate.median, row) for row in rows if row.rate), key=lambda item: item[0])
    words = [speed_words(row, measure) + (f" ({view.point_of(row)})" if view.point_of(row) else "") for _, row in found]
    unverified = sum(Verdict.UNVERIFIED in row.verdicts for row in rows)
    end = f"; {unverified:,} of {len(rows):,} unverified." if unverified else "."
    if len(found) == 1:
        return f"{words[0]}{end}"
    return f"{words[0]} to {words[-1]}, {numbers.plural(len(found), 'point')}{end}"


def speed_words(row: Row, measure: Measure) -> str:
    """`114 MB/s`, or `at least 120 MB/s` where something other than the storage held it."""
    assert row.rate is not None
    return ("at least " if is_held(row) else "") + measure.text(row.rate.median)


def _limit(rows: Sequence[Row]) -> str:
    """The ceiling that most of these results are closest to, and the median share of it."""
    found = [row.binding for row in rows if row.binding is not None]
    if not found:
        return ""
    (name, points), *_ = Counter(binding.name for binding in found).most_common(1)
    share = numbers.median([binding.share for binding in found if binding.name == name])
    words = "limited by" if share >= BINDS else "closest known ceiling:"
    at = "" if points == len(rows) == 1 else f" (median of {points:,} of {numbers.plural(len(rows), 'point')})"
    return f"{words} {name}, {numbers.share(share)} of it{at}"


def grown(found: Sequence[Scaling], view: View, most: int = MOST) -> tuple[list[Dots], int]:
    """Where hosts are added: what the total does, with the repeats of each number of hosts."""
    by_unit: dict[str, list[DotRow]] = {}
    for one in found[:most]:
        measure = measure_of(one.operation)
        shade = view.targets.index(one.target)
        lanes = tuple(
            Lane(
                counted(one.axis, hosts),
                shade,
                tuple(rate / measure.scale for rate in rates if rate > 0),
                (),
                numbers.median([rate / measure.scale for rate in rates]),
            )
            for hosts, rates in sorted(one.repeats.items())
            if rates
        )
        by_unit.setdefault(measure.unit, []).append(
            DotRow(scaled_where(one, several(found)), scaled_words(one), "", lanes)
        )
    charts = [
        Dots(f"answer-hosts-{place}", f"Total of all hosts in {unit}", "A dot is one repeat.", False, tuple(rows))
        for place, (unit, rows) in enumerate(by_unit.items())
    ]
    return charts, max(0, len(found) - most)
