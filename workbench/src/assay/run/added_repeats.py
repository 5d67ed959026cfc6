"""The repeats that `assay run RUN --resume --settle` adds to a run, and when they end."""

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.analyse.repeats.more_repeats import ExtraRepeats, more_repeats
from assay.model.base import EXIT_USAGE, AssayError, PrintLine
from assay.model.result.added_repeats import AddedRepeats
from assay.model.study.case import Case
from assay.model.study.repeats import Repeats
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.plan.schedule import RepeatKey
from assay.run.analysis import judged_rows, with_raised_ceilings
from assay.run.settle import mean_repeat_s
from assay.store import RunStore

Clock = Callable[[], float]


def current_settling(store: RunStore) -> AddedRepeats | None:
    """Return the repeats that are being added to a run; None if there are none."""
    added_repeats = store.info().added_repeats
    return added_repeats[-1] if added_repeats and not added_repeats[-1].done else None


def add_repeats(store: RunStore, print_line: PrintLine) -> bool:
    """Plan repeats for the undecided points of a complete run; an earlier plan of this kind that is not done stays.

    Args:
        store: The run, open for writing.
        print_line: Prints what is planned, how long it takes, and what stays undecided.

    Returns:
        Whether there is anything to do.

    Raises:
        AssayError: The run is not over, or is of a kind without such points.
    """
    info, ref = store.info(), store.folder
    if current_settling(store) is not None:
        return True
    if info.blocks is not None:
        hint = "compare them again with a longer --time: `assay ab A B --time 10min`"
        raise AssayError(f"run {ref.name} has two sides, whose repeats come in rounds", hint, EXIT_USAGE)
    if not info.status.startswith("complete"):
        raise AssayError(f"run {ref.name} is not finished", f"first finish it: `assay run {ref} --resume`", EXIT_USAGE)
    more_needed = missing_repeats(store)
    for line in added_repeats_lines(more_needed):
        print_line(line)
    if not more_needed.repeats:
        return False
    for line in study_change_lines(store):
        print_line(line)
    last = {
        case: max((number for one, number in store.started_repeats() if one == case), default=0)
        for case in more_needed.repeats
    }
    targets = {case: last[case] + more for case, more in more_needed.repeats.items()}
    added = AddedRepeats(
        repeats=targets, seconds=more_needed.seconds, after=more_needed.overhead_s / 2, begun_at=time.time()
    )
    store.add_repeats(added, interleaved(last, more_needed.repeats))
    return True


def missing_repeats(store: RunStore) -> ExtraRepeats:
    """Return the repeats that a run lacks; see `assay.analyse.repeats.more_repeats`."""
    run = with_raised_ceilings(store, store.info())
    rows = tuple(judged_rows(store, run))
    pairs = compare(rows, run.look_count)
    decisions = decide(
        rows, pairs, run.equal_within, mean_repeat_s(store), run.ignored_verdicts, run.symmetric_verdicts
    )
    return more_repeats(rows, decisions, run.created_at)


def interleaved(last: Mapping[str, int], more: Mapping[str, int]) -> list[RepeatKey]:
    """Return the repeats in the order of execution: one of each case, then the next, so that cases stay comparable.

    Args:
        last: Case id -> number of its last repeat so far.
        more: Case id -> how many are added.
    """
    rounds = range(1, max(more.values(), default=0) + 1)
    return [(case, last[case] + turn) for turn in rounds for case, count in more.items() if turn <= count]


def added_repeats_lines(plan: ExtraRepeats) -> list[str]:
    """Return lines on what is added, how long that takes, and what stays undecided."""
    lines = []
    if plan.repeats:
        count, cases = sum(plan.repeats.values()), len(plan.repeats)
        what = f"{_comparisons(plan.point_count)} undecided: {count:,} more {'repeat' if count == 1 else 'repeats'}"
        lines.append(f"{what} of {cases} {'case' if cases == 1 else 'cases'}, at most {about_duration(plan.seconds)}")
    if plan.too_long_count:
        why = "the difference is too small, or the repeats vary too much, to detect it in reasonable time"
        lines.append(f"{_comparisons(plan.too_long_count)} stay undecided: {why}")
    if plan.unsettled_count:
        why = "more repeats would not help; `assay show RUN` names what limits them"
        lines.append(f"{_comparisons(plan.unsettled_count)} stay undecided: {why}")
    return lines or ["no undecided comparisons: no repeats are added"]


def _comparisons(count: int) -> str:
    return f"{count:,} {'comparison' if count == 1 else 'comparisons'}"


def study_change_lines(store: RunStore) -> list[str]:
    """Return a line if the study file that the run was started with has changed since."""
    words = shlex.split(store.info().command)
    options = {"--set", "--repeats", "--only", "--target"}
    if words[:2] != ["assay", "run"] or len(words) < 3 or any(word.split("=")[0] in options for word in words):
        return []
    file = Path(store.base_folder(), words[2])
    try:
        text = read_user_file(file, str(file), "", MAX_FILE_BYTES).decode("utf-8-sig", "replace")
        same = text == store.study_text()
    except AssayError:
        return []
    return [] if same else [f"{file} has changed since: the run continues with the study that it was started with"]


def with_repeats(study: Study, settling: AddedRepeats) -> Study:
    """Return the study without its own rules on when to stop."""
    most = max(settling.repeats.values())
    return study.model_copy(update={"repeating": Repeats(max=most, min=most)})


class AddedRounds:
    """Ends added repeats when their time is spent."""

    def __init__(
        self,
        store: RunStore,
        cases: Sequence[Case],
        settling: AddedRepeats,
        begun: float,
        clock: Clock = time.monotonic,
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

    def settle_before_round(self, _repeat: int) -> dict[str, int]:
        """Settle all cases if their next repeats would end too late; as `RoundRules.settle_before_round`."""
        waiting = {case for case, _ in self._store.pending()}
        open_cases = [case.id for case in self._cases if case.id in waiting]
        mean_s = mean_repeat_s(self._store)
        if not open_cases or sum(mean_s.get(case, 0.0) for case in open_cases) <= self.left:
            return {}
        reason = f"the time for added repeats was over ({about_duration(self._most)})"
        return {case: self._store.settle(case, reason, known=False) for case in open_cases}


def end_added_repeats(store: RunStore, settling: AddedRepeats) -> None:
    """Record that the added repeats are complete, and that their cases get no more."""
    settled = store.settled()
    for case in settling.repeats:
        if case not in settled:
            store.settle(case, "including those that `--settle` added")
    store.end_settling()
