"""Ends the repeats of cases that are known well enough, or decided."""

from collections.abc import Iterable, Sequence

from assay.analyse.compare import compare
from assay.analyse.decide import MAX_NEEDED, decide, mean_repeat_seconds, undecided_cases
from assay.analyse.repeats.adaptive import case_reach
from assay.model.study.case import Case
from assay.model.study.repeats import Repeats
from assay.model.units import about_duration, about_number
from assay.run.analysis import rows_up_to_round
from assay.store import RunStore


def settle(store: RunStore, repeats: Repeats, case: Case) -> int:
    """Record whether a case is known well enough, judging only from what is stored of it.

    So a run that was killed and resumed decides like one that was not. A crashed repeat that is executed again may undo
    the decision.

    Returns:
        How many fewer repeats the run has now; below 0 if it has more, always 0 if their number is fixed.
    """
    if repeats.within is None:
        return 0
    samples = store.samples(case.id)
    reach = case_reach(case, samples, repeats.min)
    if reach is None or reach > repeats.within:
        return store.settle(case.id, "")
    count = len({sample.repeat for sample in samples})
    return store.settle(case.id, f"known within {about_number(100 * reach, 2)} % after {count} repeats")


def settle_all(store: RunStore, repeats: Repeats, cases: Iterable[Case]) -> None:
    """Decide for every case: the workbench may have died between the last repeat of one and the decision."""
    if repeats.within is not None and store.outcome_counts():
        for case in cases:
            settle(store, repeats, case)


def repeats_time_s(store: RunStore) -> float:
    """Return the seconds that the repeats of a run have taken so far."""
    return sum(attempt.seconds or 0.0 for attempt in store.attempts())


def mean_repeat_s(store: RunStore) -> dict[str, float]:
    """Return the mean seconds of a repeat for each case id."""
    attempts = store.attempts()
    return mean_repeat_seconds((attempt.case, attempt.seconds) for attempt in attempts if attempt.seconds is not None)


class RoundRules:
    """Ends cases between two rounds of repeats, when they are decided or the time is spent."""

    def __init__(self, store: RunStore, repeats: Repeats, cases: Sequence[Case]) -> None:
        """Evaluate nothing yet."""
        self._store = store
        self._repeats = repeats
        self._cases = cases

    def settle_before_round(self, repeat: int) -> dict[str, int]:
        """Settle the cases that need not, or cannot, go on; to be called before the first repeat of a round.

        Decisions depend only on the rounds before, so that a run that was killed and resumed decides like one that was
        not.

        Args:
            repeat: Number of the round that is to begin, from 1.

        Returns:
            Case id -> how many fewer repeats it has.
        """
        if repeat <= self._repeats.min:
            return {}
        fewer = self._settle_decided(repeat - 1) if repeat - 1 in self._repeats.look_numbers else {}
        return fewer | self._settle_late(repeat)

    def _settle_decided(self, done: int) -> dict[str, int]:
        looks = self._repeats.look_numbers
        rows = rows_up_to_round(self._store, done)
        decisions = decide(rows, compare(rows, len(looks)), self._repeats.decide or 0.0)
        needs = undecided_cases(decisions, self._cases)
        affordable = self._affordable(needs, done)
        return {
            case.id: self._store.settle(
                case.id, f"after {done} repeats: {_reason(needs.get(case.id))}", known=case.id not in needs
            )
            for case in self._open_cases()
            if case.id not in affordable
        }

    def _affordable(self, wanted: dict[str, int], done: int) -> set[str]:
        """Return the cases that can be decided in the time left, those with the least need first."""
        left = self._time_left()
        if left is None:
            return set(wanted)
        affordable: set[str] = set()
        mean_s = mean_repeat_s(self._store)
        for case, needs in sorted(wanted.items(), key=lambda item: item[1]):
            left -= (min(needs, self._repeats.max) - done) * mean_s.get(case, 0.0)
            if left < 0 and affordable:
                break
            affordable.add(case)
        return affordable

    def _settle_late(self, repeat: int) -> dict[str, int]:
        left = self._time_left()
        open_cases = self._open_cases()
        mean_s = mean_repeat_s(self._store)
        if left is None or not open_cases or sum(mean_s.get(case.id, 0.0) for case in open_cases) <= left:
            return {}
        limit = about_duration((self._repeats.time or 0) / 1e9)
        reason = f"after {repeat - 1} repeats: the time was over ({limit} for all)"
        return {case.id: self._store.settle(case.id, reason, known=False) for case in open_cases}

    def _open_cases(self) -> list[Case]:
        settled = self._store.settled()
        return [case for case in self._cases if case.id not in settled]

    def _time_left(self) -> float | None:
        """Return the seconds of measuring time left; None without a limit."""
        if self._repeats.time is None:
            return None
        controls = sum(reading.seconds for reading in self._store.controls())
        return self._repeats.time / 1e9 - repeats_time_s(self._store) - controls


def _reason(needs: int | None) -> str:
    """Return why a case does not go on although repeats are left."""
    if needs is None:
        return "more repeats would decide nothing further"
    if needs > MAX_NEEDED:
        return f"undecided; more than {MAX_NEEDED:,} would be needed, and there is no time"
    return f"undecided; about {needs:,} would be needed, and there is no time"
