"""The question and the short answer: words and key figures computed from sound results only."""

from collections import Counter
from dataclasses import dataclass

from assay.analyse.scaling import BINDS, scalings
from assay.model.result import LEAST_COMPARED, Comparison, Row
from assay.model.verdict import SOUND, Verdict
from assay.report import numbers
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
    Strong,
    Text,
)
from assay.report.measure import measure_of
from assay.report.sections.hosts import sentence
from assay.report.view import View, sound, verdicts_of

_KINDS = {
    "write": "Sequential write",
    "rewrite": "Sequential write",
    "fwrite": "Sequential write",
    "re_fwrite": "Sequential write",
    "read": "Sequential read",
    "reread": "Sequential read",
    "fread": "Sequential read",
    "re_fread": "Sequential read",
}
_RANDOM = frozenset({"random_read", "random_write", "random_mix"})
_MOST_SENTENCES = 6
_SMALL = 16 * 1024
"""Up to this record size operations per second say more than MB/s."""


def kind_of(operation: str) -> str:
    """The kind of work an operation is of."""
    return _KINDS.get(operation, numbers.operation_title(operation))


@dataclass(frozen=True, slots=True)
class Duel:
    """All comparisons of two targets in one kind of work.

    Attributes:
        fair: Those between two sound results.
        unfair: How many were left out because of a verdict.
    """

    kind: str
    base: str
    other: str
    fair: tuple[Comparison, ...]
    unfair: int

    @property
    def middle(self) -> float:
        """Median ratio, other ÷ base."""
        return numbers.median([pair.ratio for pair in self.fair])

    @property
    def wins(self) -> tuple[int, int]:
        """Separable comparisons in favour of base and of other."""
        separable = [pair.ratio for pair in self.fair if pair.separable]
        return sum(ratio < 1 for ratio in separable), sum(ratio > 1 for ratio in separable)

    @property
    def winner(self) -> str | None:
        """The target that is separably faster at more points than not, and nowhere separably slower; else None."""
        base, other = self.wins
        if 2 * max(base, other) <= len(self.fair) or min(base, other):
            return None
        return self.base if base else self.other

    @property
    def scarce(self) -> bool:
        """Fewer than half of the points could be compared."""
        return len(self.fair) < self.unfair

    def factor(self, ratio: float) -> float:
        """`ratio` seen from the winner."""
        return 1 / ratio if self.winner == self.base else ratio


def section(view: View) -> Section:
    """The short answer."""
    duels = _duels(view)
    blocks: list[Block] = []
    if view.run.finished < view.run.planned:
        missing = view.run.planned - view.run.finished
        up_to = "" if view.run.repeats_within is None else "up to "
        words = f"This run is {view.run.status}: {up_to}{missing:,} of {view.run.planned:,} repeats are missing."
        blocks.append(Note(f"{words} The answer rests on the rest.", "warning"))
    growth = scalings(view.analysis.rows)
    doubt = _doubt(view, {Verdict.NETWORK_BOUND} if growth else set())
    if doubt:
        blocks.append(doubt)
    blocks += [Paragraph(sentence(found), lead=True) for found in growth[:_MOST_SENTENCES]]
    if duels:
        blocks += [
            Paragraph(_sentence(duels), lead=True),
            KeyFigures(tuple(_figure(duel, view) for duel in duels if duel.fair)),
        ]
    elif not growth or any(sound(row) for row in view.analysis.rows):
        blocks += _alone(view)
    cost = cheapest(target_costs(view))
    blocks += [Paragraph(cost, lead=True)] if cost is not None else []
    blocks.append(Bullets(tuple(_remarks(view, duels))))
    return Section("answer", "Short answer", tuple(blocks))


def _doubt(view: View, answered: set[Verdict]) -> Note | None:
    """A warning if fewer than half of the results are sound, with what helps most.

    Args:
        view: The run.
        answered: Verdicts that are part of the answer: where a network binds, say.
    """
    rows = view.analysis.rows
    bad = [row for row in rows if not sound(row) and not answered.issuperset(verdicts_of(row))]
    remedies = Counter(_remedy(row) for row in bad if row.findings)
    if 2 * len(bad) <= len(rows) or not remedies:
        return None
    words = (
        f"Only {len(rows) - len(bad):,} of {numbers.plural(len(rows), 'result')} are sound, so that this answer stands "
    )
    return Note(f"{words}on few of them. What helps most of the others: {remedies.most_common(1)[0][0]}", "warning")


def _remedy(row: Row) -> str:
    """What helps most against what keeps a result out."""
    found = [finding for finding in row.findings if finding.verdict not in SOUND]
    return (found or list(row.findings))[0].remedy


def _all(fair: int) -> str:
    return "The only fair comparison is" if fair == 1 else f"All {fair:,} fair comparisons are"


def _duels(view: View) -> list[Duel]:
    groups: dict[tuple[str, str, str], list[Comparison]] = {}
    for pair in view.analysis.comparisons:
        groups.setdefault((kind_of(pair.operation), pair.base, pair.other), []).append(pair)
    found = []
    for (kind, base, other), pairs in groups.items():
        fair = tuple(pair for pair in pairs if view.fair(pair))
        found.append(Duel(kind, base, other, fair, len(pairs) - len(fair)))
    return found


def _sentence(duels: list[Duel]) -> Text:
    """Who wins what, per pair of targets."""
    spans: list[Span] = []
    for base, other in dict.fromkeys((duel.base, duel.other) for duel in duels):
        mine = [duel for duel in duels if (duel.base, duel.other) == (base, other)]
        for target in (other, base):
            won = [duel for duel in mine if duel.fair and duel.winner == target]
            if won:
                spans += _win(target, base if target == other else other, won, len(won) == len(mine))
        open_ = [duel.kind.lower() for duel in mine if duel.fair and duel.winner is None]
        if open_:
            spans.append(f"Between {base} and {other} there is no clear winner for {numbers.listing(open_)}. ")
        thin = [f"{d.kind.lower()} ({len(d.fair)} of {len(d.fair) + d.unfair})" for d in mine if d.fair and d.scarce]
        if thin:
            spans.append(f"Few points are sound on both sides: {numbers.listing(thin)}. ")
        silent = [duel.kind.lower() for duel in mine if not duel.fair]
        if silent:
            words = numbers.listing(silent)
            spans.append(f"Nothing can be said of {words} between {base} and {other}: no sound result on both sides. ")
    return tuple(spans)


def _win(target: str, loser: str, won: list[Duel], everywhere: bool) -> list[Span]:
    factors = sorted((duel.factor(duel.middle), duel.kind.lower()) for duel in won)
    spans: list[Span] = [Strong(target), f" is faster than {loser} "]
    if len(won) == 1:
        return [*spans, f"for {factors[0][1]}: ", Strong(numbers.ratio(factors[0][0])), " in the median. "]
    kinds = f"all {len(won)} kinds of work" if everywhere else numbers.listing([kind for _, kind in factors])
    (low, slow), (high, fast) = factors[0], factors[-1]
    span: list[Span] = [Strong(numbers.ratio(low)), f" ({slow}) to ", Strong(numbers.ratio(high)), f" ({fast})"]
    return [*spans, f"for {kinds}: from ", *span, " in the median. "]


def _figure(duel: Duel, view: View) -> KeyFigure:
    separable = sum(duel.wins)
    shares = f"{separable} of {numbers.plural(len(duel.fair), 'point')} separable"
    ratios = sorted(duel.factor(pair.ratio) for pair in duel.fair)
    span = f"{numbers.ratio(ratios[0])} to {numbers.ratio(ratios[-1])}"
    details = [f"range {span}" if len(ratios) > 1 else "one point", shares, _medians(duel, view)]
    if duel.unfair:
        details.append(f"{duel.unfair} left out because of a verdict")
    winner = duel.winner
    if winner is None:
        base, other = duel.wins
        claim = f"{other}× {duel.other}, {base}× {duel.base} faster" if separable else "not separable"
        return KeyFigure(
            duel.kind, numbers.ratio(duel.middle), claim, (f"{duel.other} ÷ {duel.base}, median", *details)
        )
    loser = duel.base if winner == duel.other else duel.other
    claim = f"{winner} faster than {loser}"
    mine = [row for pair in duel.fair for row in view.sides(pair) if row is not None and row.case.target == winner]
    value = numbers.ratio(duel.factor(duel.middle))
    return KeyFigure(duel.kind, value, claim, tuple(details), view.targets.index(winner), _limit(mine, winner))


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


def _medians(duel: Duel, view: View) -> str:
    """Median speed of both sides over the same points."""
    measure = measure_of(duel.fair[0].operation)
    speeds: tuple[list[float], list[float]] = ([], [])
    for pair in duel.fair:
        for place, row in enumerate(view.sides(pair)):
            if row is not None and row.rate is not None:
                speeds[place].append(row.rate.median)
    base, other = (measure.number(numbers.median(side) if side else None) for side in speeds)
    return f"{duel.other} {other}, {duel.base} {base} {measure.unit}"


def _alone(view: View) -> list[Block]:
    """The answer if there is nothing to compare: what each target reaches per kind of work."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in view.analysis.rows:
        if sound(row):
            groups.setdefault((kind_of(row.operation), row.case.target), []).append(row)
    figures = tuple(_speed(kind, target, rows, view) for (kind, target), rows in groups.items())
    if not figures:
        return [Paragraph("No result is sound enough for an answer; the verdicts say why.", lead=True)]
    words = f"Speeds of {numbers.listing(list(view.targets))}, medians over all sound points."
    return [Paragraph(words, lead=True), KeyFigures(figures)]


def _speed(kind: str, target: str, rows: list[Row], view: View) -> KeyFigure:
    measure = measure_of(rows[0].operation)
    speeds = sorted(row.rate.median for row in rows if row.rate)
    span = f"{measure.number(speeds[0])} to {measure.text(speeds[-1])}"
    details = [f"range {span}, {numbers.plural(len(speeds), 'point')}"]
    small = [r.iops.median for r in rows if r.iops and (r.case.parameters.record_size or _SMALL + 1) <= _SMALL]
    if small:
        details.append(f"up to {numbers.count(max(small))} operations/s with records up to 16 KiB")
    value = measure.text(numbers.median(speeds))
    return KeyFigure(kind, value, target, tuple(details), view.targets.index(target), _limit(rows, target))


def _remarks(view: View, duels: list[Duel]) -> list[Text]:
    """What limits the answer: counts of not separable, of left-out results, and what the figures are."""
    found: list[Text] = []
    fair = [pair for duel in duels for pair in duel.fair]
    if fair:
        lost = sum(not pair.separable for pair in fair)
        few = sum(pair.too_few for pair in fair)
        words = f"{lost:,} of {numbers.plural(len(fair), 'fair comparison')} not separable: "
        words += "the repeats do not show which one is faster."
        if few:
            words += f" {few:,} of them {'has' if few == 1 else 'have'} fewer than {LEAST_COMPARED} repeats on a side."
        found.append(words if lost else f"{_all(len(fair))} separable: significant, adjusted for their number.")
    counts: Counter[Verdict] = Counter(row.verdict for row in view.analysis.rows)
    bad = [verdict for verdict in Verdict if verdict is not Verdict.OK and counts[verdict]]
    spans: list[Span] = [
        f"{counts[Verdict.OK]:,} of {numbers.plural(len(view.analysis.rows), 'result')} have the verdict "
    ]
    spans.append(Badge(Verdict.OK))
    if partly := sum(row.as_far_as_seen for row in view.analysis.rows):
        spans.append(f" ({partly:,} of them as far as seen)")
    for verdict in bad:
        spans += [", ", f"{counts[verdict]:,} ", Badge(verdict)]
    rest = ". Only results that are ok, or unstable and nothing else, enter this answer, unstable ones with their wide "
    rest += "intervals; " + ("the others are shown below with their mark." if bad else "no others occurred.")
    found.append((*spans, rest))
    unit = "" if all(row.metadata for row in view.analysis.rows) else "; MB is 10⁶ bytes"
    found.append(f"Speeds are medians over independent repeats, per second of wall time with the flush included{unit}.")
    return found
