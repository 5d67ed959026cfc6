"""The repeats that `assay run RUN --resume --settle` adds to a run, and when they end."""

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.analyse.more_repeats import More, more_repeats
from assay.model.base import EXIT_USAGE, AssayError, Say
from assay.model.named import read_named
from assay.model.result.settling import Settling
from assay.model.study.case import Case
from assay.model.study.repeats import Repeats
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.model.written import MOST_BYTES
from assay.plan.schedule import Job
from assay.run.analysis import judged_rows, with_seen
from assay.run.settle import took
from assay.store import RunStore

Clock = Callable[[], float]


def settling_of(store: RunStore) -> Settling | None:
    """Return the repeats that are being added to a run; None if there are none."""
    settlings = store.info().settlings
    return settlings[-1] if settlings and not settlings[-1].done else None


def add_repeats(store: RunStore, say: Say) -> bool:
    """Plan repeats for the undecided points of a complete run; an earlier plan of this kind that is not done stays.

    Args:
        store: The run, open for writing.
        say: Prints what is planned, how long it takes, and what stays undecided.

    Returns:
        Whether there is anything to do.

    Raises:
        AssayError: The run is not over, or is of a kind without such points.
    """
    info, ref = store.info(), store.folder
    if settling_of(store) is not None:
        return True
    if info.blocks is not None:
        hint = "compare them again with a longer --time: `assay compare --ab A B --time 10min`"
        raise AssayError(f"run {ref.name} has two sides, whose repeats come in rounds", hint, EXIT_USAGE)
    if not info.status.startswith("complete"):
        raise AssayError(f"run {ref.name} is not finished", f"first finish it: `assay run {ref} --resume`", EXIT_USAGE)
    more_needed = missing(store)
    for line in lines_of(more_needed):
        say(line)
    if not more_needed.repeats:
        return False
    for line in changed_since(store):
        say(line)
    last = {
        case: max((number for one, number in store.executed() if one == case), default=0)
        for case in more_needed.repeats
    }
    targets = {case: last[case] + more for case, more in more_needed.repeats.items()}
    added = Settling(repeats=targets, seconds=more_needed.seconds, after=more_needed.around / 2, begun_at=time.time())
    store.add_repeats(added, in_turns(last, more_needed.repeats))
    return True


def missing(store: RunStore) -> More:
    """Return the repeats that a run lacks; see `assay.analyse.more_repeats`."""
    run = with_seen(store, store.info())
    rows = tuple(judged_rows(store, run))
    pairs = compare(rows, run.looks) if len(run.places) > 1 else ()
    decisions = decide(rows, pairs, run.equal_within, took(store), run.ignored, run.alike)
    return more_repeats(rows, decisions, run.created_at)


def in_turns(last: Mapping[str, int], more: Mapping[str, int]) -> list[Job]:
    """Return the repeats in the order of execution: one of each case, then the next, so that cases stay comparable.

    Args:
        last: Case id -> number of its last repeat so far.
        more: Case id -> how many are added.
    """
    rounds = range(1, max(more.values(), default=0) + 1)
    return [(case, last[case] + turn) for turn in rounds for case, count in more.items() if turn <= count]


def lines_of(more: More) -> list[str]:
    """Return lines on what is added, how long that takes, and what stays undecided."""
    lines = []
    if more.repeats:
        count, cases = sum(more.repeats.values()), len(more.repeats)
        what = f"{_comparisons(more.points)} undecided: {count:,} more {'repeat' if count == 1 else 'repeats'}"
        lines.append(f"{what} of {cases} {'case' if cases == 1 else 'cases'}, at most {about_duration(more.seconds)}")
    if more.too_long:
        why = "the difference is too small, or the repeats vary too much, to find it in a sensible time"
        lines.append(f"{_comparisons(more.too_long)} stay undecided: {why}")
    if more.others:
        why = "not for want of repeats; `assay show RUN` names what limits them"
        lines.append(f"{_comparisons(more.others)} stay undecided: {why}")
    return lines or ["nothing is undecided: no repeats are added"]


def _comparisons(count: int) -> str:
    return f"{count:,} {'comparison' if count == 1 else 'comparisons'}"


def changed_since(store: RunStore) -> list[str]:
    """Return a line if the study file that the run was started with has changed since."""
    words = shlex.split(store.info().command)
    options = {"--set", "--repeats", "--only", "--target"}
    if words[:2] != ["assay", "run"] or len(words) < 3 or any(word.split("=")[0] in options for word in words):
        return []
    file = Path(store.base(), words[2])
    try:
        text = read_named(file, str(file), "", MOST_BYTES).decode("utf-8-sig", "replace")
        same = text == store.study_text()
    except AssayError:
        return []
    return [] if same else [f"{file} was changed since: the run goes on with the study that it was started with"]


def with_repeats(study: Study, settling: Settling) -> Study:
    """Return the study without its own rules on when to stop."""
    most = max(settling.repeats.values())
    return study.model_copy(update={"repeating": Repeats(most=most, least=most)})


class AddedRounds:
    """Ends added repeats when their time is spent."""

    def __init__(
        self, store: RunStore, cases: Sequence[Case], settling: Settling, begun: float, clock: Clock = time.monotonic
    ) -> None:
        """Count the time that repeats of earlier sessions have taken.

        Args:
            store: The run.
            cases: The cases that get repeats.
            settling: What is added.
            begun: When this session began, by the clock.
            clock: Returns seconds from any fixed moment.
        """
        self._store = store
        self._cases = cases
        self._clock = clock
        self._most = settling.seconds
        before = sum(one.seconds or 0.0 for one in store.attempts() if one.started_at >= settling.begun_at)
        self._end = begun + settling.seconds - settling.after - before

    @property
    def left(self) -> float:
        """Seconds left for repeats."""
        return max(0.0, self._end - self._clock())

    def before(self, _repeat: int) -> dict[str, int]:
        """Settle all cases if their next repeats would end too late; as `assay.run.settle.Rounds.before`."""
        waiting = {case for case, _ in self._store.pending()}
        open_cases = [case.id for case in self._cases if case.id in waiting]
        mean_s = took(self._store)
        if not open_cases or sum(mean_s.get(case, 0.0) for case in open_cases) <= self.left:
            return {}
        reason = f"time for added repeats was up ({about_duration(self._most)})"
        return {case: self._store.settle(case, reason, known=False) for case in open_cases}


def end_added(store: RunStore, settling: Settling) -> None:
    """Record that the added repeats are complete, and that their cases get no more."""
    settled = store.settled()
    for case in settling.repeats:
        if case not in settled:
            store.settle(case, "including those that `--settle` added")
    store.end_settling()
