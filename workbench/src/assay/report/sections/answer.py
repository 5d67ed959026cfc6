"""The question and the short answer: words and key figures computed from sound results only."""

from collections import Counter
from collections.abc import Sequence

from assay.analyse.scaling import BINDS, scalings
from assay.model.result.decision import Outcome
from assay.model.result.result import Row
from assay.model.result.verdict import SOUND, Verdict
from assay.report import numbers
from assay.report.claims import Claim, bound, claims, equal_within, headline, kind_of, sentence, sentences
from assay.report.costs import cheapest, target_costs
from assay.report.document import (
    Badge,
    Block,
    Bullets,
    KeyFigure,
    KeyFigures,
    Note,
    Paragraph,
    Section,
    Share,
    Span,
    Text,
)
from assay.report.measure import measure_of
from assay.report.sections.hosts import sentence as scaling_sentence
from assay.report.view import View, sound

_MOST_SENTENCES = 6
_SMALL = 16 * 1024
"""Up to this record size operations per second say more than MB/s."""


_WHAT_VERDICTS_DO = (
    "Results that are cached, impossible or incomplete answer nothing. What the client, a network or a limit held may"
    " be faster in truth: on the faster side it leaves the answer a bound, on the slower side it leaves it open, unless"
    " even all that it can have lost would not make it the faster one."
)


_BUSY = "Something else than the storage had a part in what was measured; the section on verdicts says what."


def section(view: View) -> Section:
    """The short answer."""
    found = claims(view.analysis.decisions)
    blocks: list[Block] = []
    if view.run.finished < view.run.planned:
        missing = view.run.planned - view.run.finished
        up_to = "up to " if view.run.adaptive else ""
        words = f"This run is {view.run.status}: {up_to}{missing:,} of {view.run.planned:,} repeats are missing."
        blocks.append(Note(f"{words} The answer rests on the rest.", "warning"))
    growth = scalings(view.analysis.rows)
    doubt = _doubt(view, {Verdict.NETWORK_BOUND} if growth else set())
    if doubt:
        blocks.append(doubt)
    machine = view.analysis.machine
    if machine is not None:
        blocks.append(Note(f"{_BUSY} {machine.remedy}", "warning"))
    blocks += [Paragraph(scaling_sentence(one), lead=True) for one in growth[:_MOST_SENTENCES]]
    if found:
        blocks += _compared(found, view)
    elif not growth or any(_answers(row) for row in view.analysis.rows):
        blocks += _alone(view)
    cost = cheapest(target_costs(view))
    blocks += [Paragraph(cost, lead=True)] if cost is not None else []
    blocks.append(Bullets(tuple(_remarks(view, found))))
    return Section("answer", "Short answer", tuple(blocks))


def _doubt(view: View, answered: set[Verdict]) -> Note | None:
    """A warning if fewer than half of the results are sound, with what helps most.

    Args:
        view: The run.
        answered: Verdicts that are part of the answer: where a network binds, say.
    """
    rows = view.analysis.rows
    bad = [row for row in rows if not sound(row) and not answered.issuperset(row.verdicts)]
    remedies = Counter(_remedy(row) for row in bad if row.findings)
    if 2 * len(bad) <= len(rows) or not remedies:
        return None
    count = f"{len(rows) - len(bad):,} of {numbers.plural(len(rows), 'result')}"
    words = f"Only {count} are sound (ok, or only unstable), so that this answer stands on few of them."
    return Note(f"{words} What helps most of the others: {remedies.most_common(1)[0][0]}", "warning")


def _remedy(row: Row) -> str:
    """What helps most against what keeps a result out."""
    found = [finding for finding in row.findings if finding.verdict not in SOUND]
    return (found or list(row.findings))[0].remedy


def _compared(found: Sequence[Claim], view: View) -> list[Block]:
    """Who is faster: in a sentence, in a figure for each kind of work, and in a sentence for each."""
    figures = KeyFigures(tuple(_figure(claim, view) for claim in found if claim.counted))
    if len(found) == 1:
        return [Paragraph(sentence(found[0]), lead=True), figures]
    return [Paragraph(headline(found), lead=True), figures, Bullets(tuple(sentences(found)))]


def _figure(claim: Claim, view: View) -> KeyFigure:
    """What came out of a kind of work, large."""
    counts = _counts(claim)
    speeds = _speeds(claim, view)
    winners = [name for name in (claim.other, claim.base) if claim.won(name)]
    if len(winners) == 1:
        target = winners[0]
        ratios = sorted(point.ratio for point in claim.won(target))
        span = f"{numbers.ratio(ratios[0])} to {numbers.ratio(ratios[-1])}" if len(ratios) > 1 else ""
        measured = f"measured {numbers.ratio(numbers.median(ratios))}{f' in the median, {span}' if span else ''}"
        return KeyFigure(
            numbers.titled(claim.kind),
            f"≥ {bound(claim.middle(target))}",
            f"{target} faster than {claim.loser(target)}",
            (*_bound(claim, target), measured, counts, speeds),
            view.targets.index(target),
            _limit(_rows(claim, target, view), target),
        )
    equal = claim.of(Outcome.EQUAL)
    if winners:
        value, words = "either", " · ".join(f"{name} faster at {len(claim.won(name)):,}" for name in winners)
    elif len(equal) == claim.counted:
        value, words = "equal", f"within {equal_within(equal)}"
    else:
        value, words = "open", f"{claim.other} or {claim.base}?"
    return KeyFigure(numbers.titled(claim.kind), value, words, (counts, speeds))


def _bound(claim: Claim, target: str) -> tuple[str, ...]:
    """Of which points the large number is true, where there are several."""
    count = len(claim.won(target))
    if count < 2:
        return ()
    return (f"at half of {count:,} points; ≥ {bound(claim.least(target))} at each",)


def _counts(claim: Claim) -> str:
    """How the points ended: `20 of 24 faster, 1 equal, 3 open`."""
    names = {Outcome.FASTER: "faster", Outcome.EQUAL: "equal", Outcome.OPEN: "open", Outcome.BARRED: "left out"}
    counts = [f"{len(points):,} {name}" for outcome, name in names.items() if (points := claim.of(outcome))]
    return f"{numbers.plural(len(claim.points), 'point')}: {', '.join(counts)}"


def _rows(claim: Claim, target: str, view: View) -> list[Row]:
    """The target's rows at the points that count."""
    found = (
        view.row(decision.workload, decision.operation, target, point.axes)
        for decision in claim.decisions
        for point in decision.counted
    )
    return [row for row in found if row is not None]


def _limit(rows: list[Row], target: str) -> tuple[str, Share] | None:
    """The ceiling that most of these results are closest to, and the median share of it."""
    found = [row.binding for row in rows if row.binding is not None]
    if not found:
        return None
    (name, points), *_ = Counter(binding.name for binding in found).most_common(1)
    share = numbers.median([binding.share for binding in found if binding.name == name])
    words = f"{target} is limited by" if share >= BINDS else f"Closest known ceiling of {target}"
    at = "" if points == len(rows) == 1 else f" (median of {points:,} of {numbers.plural(len(rows), 'point')})"
    return f"{words}: {name}, {numbers.share(share)} of it{at}", Share(share)


def _speeds(claim: Claim, view: View) -> str:
    """Median speed of both sides over the points that count."""
    measure = measure_of(claim.decisions[0].operation)
    sides = [
        (name, numbers.median([row.rate.median for row in _rows(claim, name, view) if row.rate is not None]))
        for name in (claim.other, claim.base)
    ]
    return f"{', '.join(f'{name} {measure.number(speed)}' for name, speed in sides)} {measure.unit}"


def _alone(view: View) -> list[Block]:
    """The answer if there is nothing to compare: what each target reaches per kind of work."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in view.analysis.rows:
        if _answers(row):
            groups.setdefault((numbers.titled(kind_of(row.operation)), row.case.target), []).append(row)
    figures = tuple(_speed(kind, target, rows, view) for (kind, target), rows in groups.items())
    if not figures:
        return [Paragraph("No result is sound enough for an answer; the verdicts say why.", lead=True)]
    doubtful = any(Verdict.UNVERIFIED in row.verdicts for rows in groups.values() for row in rows)
    which = "points that are sound or unverified" if doubtful else "sound points"
    words = f"Speeds of {numbers.listing(list(view.targets))}, medians over all {which}."
    return [Paragraph(words, lead=True), KeyFigures(figures)]


def _answers(row: Row) -> bool:
    """It is sound, or nobody can vouch for it, which is said beside it."""
    return row.rate is not None and (SOUND | {Verdict.UNVERIFIED}).issuperset(row.verdicts)


def _speed(kind: str, target: str, rows: list[Row], view: View) -> KeyFigure:
    measure = measure_of(rows[0].operation)
    found = sorted((row.rate.median, view.point_of(row)) for row in rows if row.rate)
    speeds, points = [speed for speed, _ in found], [point for _, point in found]
    span = f"range {measure.number(speeds[0])} to {measure.text(speeds[-1])}, " if len(speeds) > 1 else ""
    details = [f"{span}{numbers.plural(len(speeds), 'point')}"]
    if all(points) and points[0] != points[-1]:
        details.append(f"slowest at {points[0]}, fastest at {points[-1]}")
    if unverified := sum(Verdict.UNVERIFIED in row.verdicts for row in rows):
        details.append(f"{unverified:,} of {len(rows):,} unverified")
    small = [r.iops.median for r in rows if r.iops and (r.case.parameters.known("record_size") or _SMALL + 1) <= _SMALL]
    if small:
        details.append(f"up to {numbers.count(max(small))} operations/s with records up to 16 KiB")
    value = measure.text(numbers.median(speeds))
    return KeyFigure(kind, value, target, tuple(details), view.targets.index(target), _limit(rows, target))


def _remarks(view: View, found: Sequence[Claim]) -> list[Text]:
    """What limits the answer: what is open, which verdicts there are, and what the figures are."""
    said: list[Text] = []
    if found:
        said.append(
            "Faster means: the difference is significant among all comparisons of this run together. At least means:"
            " the end of an interval so wide that those of all comparisons hold at once, in 95 of 100 such runs."
        )
    counts: Counter[Verdict] = Counter(row.verdict for row in view.analysis.rows)
    bad = [verdict for verdict in Verdict if verdict is not Verdict.OK and counts[verdict]]
    results = numbers.plural(len(view.analysis.rows), "result")
    spans: list[Span] = [f"{counts[Verdict.OK]:,} of {results} have the verdict ", Badge(Verdict.OK)]
    if partly := sum(row.as_far_as_seen for row in view.analysis.rows):
        spans.append(f" ({partly:,} of them as far as seen)")
    for verdict in bad:
        spans += [", ", f"{counts[verdict]:,} ", Badge(verdict)]
    said.append((*spans, f". {_WHAT_VERDICTS_DO}" if bad else ". No others occurred."))
    unit = "" if all(row.counted for row in view.analysis.rows) else "; MB is 10⁶ bytes"
    flush = " with the flush included" if view.flushes else ""
    said.append(f"Speeds are medians over independent repeats, per second of wall time{flush}{unit}.")
    if any(row.rate is not None and row.rate.n > 1 for row in view.analysis.rows):
        said.append(
            "Intervals and answers speak of this run. Runs of other days may differ more; how much, three of them show"
            " (assay compare RUN,RUN,RUN RUN,RUN,RUN, or assay history)."
        )
    return said
