"""What a reader must mind who acts on the answer: the gravest first, each from the run's own data."""

from collections import Counter
from collections.abc import Callable, Sequence

from assay.analyse.machine import busy_words
from assay.analyse.odd.wrong_way import WRONG_WAY
from assay.analyse.scaling import Scaling
from assay.model.result.counts import count_verdicts
from assay.model.result.decision import Outcome
from assay.model.result.result import Row
from assay.model.result.verdict import SOUND, Verdict
from assay.report import numbers
from assay.report.claims import Claim
from assay.report.first.held import is_held, limit_sentences
from assay.report.first.words import reasons
from assay.report.view import View, sound

Said = list[str]


def caveats(view: View, found: Sequence[Claim], growth: Sequence[Scaling]) -> list[str]:
    """All of them, a sentence or two each; the page shows the first ones.

    Args:
        view: The run.
        found: What it claims.
        growth: How totals grow with the number of hosts, if that is the question.
    """
    answered = {Verdict.NETWORK_BOUND} if growth else set()
    kinds: tuple[Callable[[], Said], ...] = (
        lambda: _unfinished(view),
        lambda: _absent(view),
        lambda: _disturbed(view, bool(found)),
        lambda: _few_sound(view, answered),
        lambda: _held(view, answered, bool(found)),
        lambda: _left_out(found),
        lambda: _still_open(found),
        lambda: _odd(view),
        lambda: _in_memory(view, found),
        lambda: _started(view),
        lambda: _unstable(view, found),
        lambda: _as_far_as_seen(view),
        lambda: _this_run(view),
    )
    return [words for kind in kinds for words in kind()]


def _unfinished(view: View) -> Said:
    run = view.run
    if run.finished >= run.planned:
        return []
    up_to = "up to " if run.adaptive else ""
    missing = f"{up_to}{run.planned - run.finished:,} of {run.planned:,} repeats are missing"
    rest = " The answer rests on the rest." if any(sound(row) for row in view.analysis.rows) else ""
    return [f"This run is {run.status}: {missing}.{rest}"]


def _absent(view: View) -> Said:
    """Targets that were to be measured and have no number."""
    measured = {row.case.target for row in view.analysis.rows if row.rate is not None}
    gone = [name for name in view.targets if name not in measured]
    if not gone:
        return []
    whose = numbers.listing(gone)
    return [f"No operation on {whose} gave a rate: of {'it' if len(gone) == 1 else 'them'} this says nothing."]


def not_sound(view: View, answered: set[Verdict]) -> list[Row]:
    """Results that are neither sound, nor lower bounds, nor part of the answer: where a network binds, say."""
    rows = view.analysis.rows
    return [row for row in rows if not (sound(row) or is_held(row) or answered.issuperset(row.verdicts))]


def _few_sound(view: View, answered: set[Verdict]) -> Said:
    """A warning if fewer than half of the results are sound, with what helps most."""
    rows = view.analysis.rows
    bad = not_sound(view, answered)
    if 2 * len(bad) <= len(rows):
        return []
    left = len(rows) - len(bad)
    common = commonest(bad)
    which = "" if common is None else count_verdicts(row.verdicts for row in bad).of(common[0])
    if not left:
        none = f"None of {numbers.plural(len(rows), 'result')} is sound (ok, or only unstable)"
        return [f"{none}: {which}." if which else f"{none}."]
    count = f"{left:,} of {numbers.plural(len(rows), 'result')}"
    few = f"Only {count} {'is' if left == 1 else 'are'} sound (ok, or only unstable)"
    return [f"{few}. This answer stands on few of them; {which}." if which else f"{few}."]


def held(view: View, answered: set[Verdict]) -> list[Row]:
    """Results that are lower bounds, but for those in which what holds them is the answer."""
    return [row for row in view.analysis.rows if is_held(row) and not answered.issuperset(row.verdicts)]


def _held(view: View, answered: set[Verdict], compared: bool) -> Said:
    """Beside comparisons, that many rates are lower bounds; where nothing is compared the answer says so itself."""
    if not compared or 2 * len(held(view, answered)) <= len(view.analysis.rows):
        return []
    return [f"{limit_sentences(view.analysis.rows)} The storage does at least so much."]


def commonest(bad: Sequence[Row]) -> tuple[Verdict, int] | None:
    """The verdict that keeps most results out, and how many have it; None if none has one that does."""
    verdicts = (verdict for row in bad for verdict in row.verdicts if verdict not in SOUND)
    return next(iter(Counter(verdicts).most_common(1)), None)


def _disturbed(view: View, compared: bool) -> Said:
    words = busy_words(view.run.controls) if view.analysis.machine is not None else ""
    if not words:
        return []
    holds = "The bounds of what is called faster or equal allow for that." if compared else ""
    return [f"{words} {holds} Rates may be higher when nothing else runs.".replace("  ", " ")]


def _left_out(found: Sequence[Claim]) -> Said:
    points = [point for claim in found for point in claim.of(Outcome.BARRED)]
    every = sum(len(claim.points) for claim in found)
    if not points:
        return []
    return [f"{len(points):,} of {numbers.plural(every, 'point')} left out: {reasons(points)}."]


def _still_open(found: Sequence[Claim]) -> Said:
    points = [point for claim in found for point in claim.of(Outcome.OPEN)]
    every = sum(claim.counted for claim in found)
    if not points:
        return []
    count = f"{len(points):,} of {numbers.plural(every, 'point')}"
    return [f"{count} {'is' if len(points) == 1 else 'are'} open: {reasons(points)}."]


def _odd(view: View) -> Said:
    """What goes the wrong way is the first of the notes."""
    return [note for note in view.analysis.notes if note.startswith(WRONG_WAY)][:1]


def _in_memory(view: View, found: Sequence[Claim]) -> Said:
    """Who is fast because nothing of it outlives a restart."""
    ahead = {name for claim in found for name in (claim.base, claim.other) if claim.won(name)}
    names = [
        place.target for place in view.run.places if place.memory_backed and place.target in ahead and not place.started
    ]
    if not names:
        return []
    verb, where = ("is kept", "it") if len(names) == 1 else ("are kept", "them")
    gone = f"what is stored in {where} is gone after a restart, and takes memory from programs"
    return [f"{numbers.listing(names)} {verb} in this machine's memory: {gone}."]


def started(view: View) -> Said:
    """What the numbers of servers that Assay started are about."""
    found: dict[str, list[str]] = {}
    for place in view.run.places:
        if place.started:
            found.setdefault(place.started, []).append(place.target)
    return [
        f"{server} was started by Assay on this machine, for {' and '.join(names)}, and shared its processors with "
        f"the load: these numbers are about {server} on this machine, not about AWS."
        for server, names in found.items()
    ]


def _started(view: View) -> Said:
    return started(view)


def _unstable(view: View, found: Sequence[Claim]) -> Said:
    counts = count_verdicts(row.verdicts for row in view.analysis.rows)
    count = counts.each.get(Verdict.UNSTABLE, 0) + counts.also.get(Verdict.UNSTABLE, 0)
    if 4 * count < counts.total or not count:
        return []
    what = f"Of {numbers.plural(counts.total, 'result')}, {counts.of(Verdict.UNSTABLE)}"
    allow = " The bounds allow for it." if found else ""
    return [f"{what}: the repeats differ much.{allow}"]


def _as_far_as_seen(view: View) -> Said:
    count = sum(row.as_far_as_seen for row in view.analysis.rows)
    every = sum(row.verdict is Verdict.OK for row in view.analysis.rows)
    if not count:
        return []
    what = f"{count:,} of {numbers.plural(every, 'result')} with the verdict ok"
    return [f"For {what} not all checks could run (see Verdicts)."]


def _this_run(view: View) -> Said:
    if not any(row.rate is not None and row.rate.n > 1 for row in view.analysis.rows):
        return []
    return ["Intervals and answers speak of this run; runs of other days may differ more."]
