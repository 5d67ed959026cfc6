"""What the answer rests on: figures and sentences of every kind of work, from sound results only, and their limits."""

from collections import Counter
from collections.abc import Sequence

from assay.analyse.scaling import BINDS, scalings
from assay.model.result.counts import count_verdicts
from assay.model.result.decision import Outcome
from assay.model.result.first_page import CAVEATS_SHOWN
from assay.model.result.result import Row
from assay.model.result.verdict import Verdict
from assay.report import numbers
from assay.report.claims import Claim, claims, kind_of
from assay.report.document import (
    Badge,
    Block,
    Bullets,
    Heading,
    KeyFigure,
    KeyFigures,
    Mono,
    Note,
    Paragraph,
    Section,
    Share,
    Span,
    Text,
)
from assay.report.first.caveats import caveats
from assay.report.first.lines import answers, rows_of, speeds
from assay.report.first.words import bound, equal_within, sentences
from assay.report.growth.words import sentence as scaling_sentence
from assay.report.growth.words import several
from assay.report.measure import measure_of
from assay.report.view import View

_SMALL = 16 * 1024
"""Up to this record size operations per second say more than MB/s."""


_WHAT_VERDICTS_DO = (
    "Results that are cached, impossible or incomplete answer nothing. What the client, a network or a limit held may"
    " be faster in truth: on the faster side it leaves the answer a bound, on the slower side it leaves it open, unless"
    " even all that it can have lost would not make it the faster one."
)


_BUSY = "Something other than the storage had a part in what was measured; the section on verdicts says what."


def section(view: View) -> Section:
    """The answer in full, and everything that is to be minded."""
    found = claims(view.analysis.decisions)
    growth = scalings(view.analysis.rows)
    blocks: list[Block] = []
    machine = view.analysis.machine
    if machine is not None:
        blocks.append(Note(f"{_BUSY} {machine.remedy}", "warning"))
    blocks += [Paragraph(scaling_sentence(one, several(growth))) for one in growth]
    if found:
        blocks += _compared(found, view)
    elif not growth or any(answers(row) for row in view.analysis.rows):
        blocks += _alone(view)
    minded = caveats(view, found, growth)
    if len(minded) > CAVEATS_SHOWN:
        blocks += [Heading("What else to mind", "rests-mind"), Bullets(tuple(minded[CAVEATS_SHOWN:]))]
    blocks += [Heading("How it is meant", "rests-meant"), Bullets(tuple(_remarks(view, found)))]
    return Section("rests", "What the answer rests on", tuple(blocks))


def _compared(found: Sequence[Claim], view: View) -> list[Block]:
    """Who is faster: in a sentence, in a figure for each kind of work, and in a sentence for each."""
    figures = KeyFigures(tuple(_figure(claim, view) for claim in found if claim.counted))
    return [figures, Bullets(tuple(sentences(found)))]


def _figure(claim: Claim, view: View) -> KeyFigure:
    """What came out of a kind of work, large."""
    counts = _counts(claim)
    rates = speeds([claim], view)
    winners = [name for name in (claim.other, claim.base) if claim.won(name)]
    if len(winners) == 1:
        target = winners[0]
        return KeyFigure(
            numbers.titled(claim.kind),
            numbers.ratio(claim.typical(target)),
            f"{target} faster than {claim.loser(target)}",
            (*_span(claim, target), counts, rates),
            view.targets.index(target),
            _limit(rows_of(claim, target, view), target),
        )
    equal = claim.of(Outcome.EQUAL)
    if winners:
        value, words = "either", " · ".join(f"{name} faster at {len(claim.won(name)):,}" for name in winners)
    elif len(equal) == claim.counted:
        value, words = "equal", f"within {equal_within(equal)}"
    else:
        value, words = "open", f"{claim.other} or {claim.base}?"
    return KeyFigure(numbers.titled(claim.kind), value, words, (counts, rates))


def _span(claim: Claim, target: str) -> tuple[str, ...]:
    """What the large number is typical of, and the bound that holds at each point."""
    ratios = sorted(point.ratio for point in claim.won(target))
    least = f"at least {bound(claim.least(target))}"
    if len(ratios) < 2:
        return (least,)
    low, high = numbers.ratio(ratios[0]), numbers.ratio(ratios[-1])
    return (f"in the median of {len(ratios):,} points, {low} to {high}; {least} at each",)


def _counts(claim: Claim) -> str:
    """How the points ended: `20 of 24 faster, 1 equal, 3 open`."""
    names = {Outcome.FASTER: "faster", Outcome.EQUAL: "equal", Outcome.OPEN: "open", Outcome.BARRED: "left out"}
    counts = [f"{len(points):,} {name}" for outcome, name in names.items() if (points := claim.of(outcome))]
    return f"{numbers.plural(len(claim.points), 'point')}: {', '.join(counts)}"


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


def _alone(view: View) -> list[Block]:
    """The answer if there is nothing to compare: what each target reaches per kind of work."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in view.analysis.rows:
        if answers(row):
            groups.setdefault((numbers.titled(kind_of(row.operation)), row.case.target), []).append(row)
    figures = tuple(_speed(kind, target, rows, view) for (kind, target), rows in groups.items())
    if not figures:
        return [Paragraph("No result is sound enough for an answer; the verdicts say why.")]
    doubtful = any(Verdict.UNVERIFIED in row.verdicts for rows in groups.values() for row in rows)
    which = "that are sound, lower bounds or unverified" if doubtful else "that are sound or lower bounds"
    words = f"Speeds of {numbers.listing(list(view.targets))} at all points {which}: the least and the greatest median."
    return [Paragraph(words), KeyFigures(figures)]


def _speed(kind: str, target: str, rows: list[Row], view: View) -> KeyFigure:
    measure = measure_of(rows[0].operation)
    found = sorted((row.rate.median, view.point_of(row)) for row in rows if row.rate)
    speeds, points = [speed for speed, _ in found], [point for _, point in found]
    details = [numbers.plural(len(speeds), "point")]
    if all(points) and points[0] != points[-1]:
        details.append(f"slowest at {points[0]}, fastest at {points[-1]}")
    if unverified := sum(Verdict.UNVERIFIED in row.verdicts for row in rows):
        details.append(f"{unverified:,} of {len(rows):,} unverified")
    small = [r.iops.median for r in rows if r.iops and (r.case.parameters.known("record_size") or _SMALL + 1) <= _SMALL]
    if small:
        details.append(f"up to {numbers.count(max(small))} operations/s with records up to 16 KiB")
    low, high = measure.number(speeds[0]), measure.text(speeds[-1])
    value = high if len(speeds) == 1 else f"{low} to {high}"
    return KeyFigure(kind, value, target, tuple(details), view.targets.index(target), _limit(rows, target))


def _remarks(view: View, found: Sequence[Claim]) -> list[Text]:
    """What limits the answer: what is open, which verdicts there are, and what the figures are."""
    said: list[Text] = []
    if found:
        said.append(
            "Faster means: the difference is significant among all comparisons of this run together. At least means:"
            " the end of an interval so wide that those of all comparisons hold at once, in 95 of 100 such runs."
        )
    counts = count_verdicts(row.verdicts for row in view.analysis.rows)
    results = numbers.plural(counts.total, "result")
    spans: list[Span] = [f"{counts.each.get(Verdict.OK, 0):,} of {results} have the verdict ", Badge(Verdict.OK)]
    if partly := sum(row.as_far_as_seen for row in view.analysis.rows):
        spans.append(f" (for {partly:,} of them not all checks could run)")
    bad = {verdict: count for verdict, count in counts.each.items() if verdict is not Verdict.OK}
    for verdict, count in bad.items():
        spans += [", ", f"{count:,} ", Badge(verdict)]
    spans += [f" ({counts.also_words})"] if counts.also else []
    said.append((*spans, f". {_WHAT_VERDICTS_DO}" if bad else ". No others occurred."))
    unit = "" if all(row.counted for row in view.analysis.rows) else "; MB is 10⁶ bytes"
    flush = " with the flush included" if view.flushes else ""
    said.append(f"Speeds are medians over independent repeats, per second of wall time{flush}{unit}.")
    three = ("How much runs of other days differ, three of them show: ", Mono("assay compare RUN,RUN,RUN RUN,RUN,RUN"))
    said.append((*three, ", or ", Mono("assay history"), "."))
    return said
