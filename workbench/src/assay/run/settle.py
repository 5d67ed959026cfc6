"""Cases that are known well enough, or decided, are not repeated any more."""

from collections.abc import Iterable, Sequence

from assay.analyse.adaptive import case_reach
from assay.analyse.compare import compare
from assay.analyse.decide import MOST_NEEDED, decide, mean_seconds, undecided
from assay.model.study.case import Case
from assay.model.study.repeats import Repeats
from assay.model.units import about_duration, about_number
from assay.run.analysis import rows_until
from assay.store import RunStore


def settle(store: RunStore, repeats: Repeats, case: Case) -> int:
    """Decide from what is stored of a case, and nothing else, whether it is known well enough, and record that.

    So a run that was killed and resumed decides as one that was not. A repeat that crashed and is executed again may
    undo the decision.

    Returns:
        How many repeats fewer the run has now; below 0 if they are more, always 0 if their number is fixed.
    """
    if repeats.within is None:
        return 0
    samples = store.samples(case.id)
    reach = case_reach(case, samples, repeats.least)
    if reach is None or reach > repeats.within:
        return store.settle(case.id, "")
    count = len({sample.repeat for sample in samples})
    return store.settle(case.id, f"known within {about_number(100 * reach, 2)} % after {count} repeats")


def settle_all(store: RunStore, repeats: Repeats, cases: Iterable[Case]) -> None:
    """Decide for every case: the workbench may have died between the last repeat of one and the decision."""
    if repeats.within is not None and store.outcome_counts():
        for case in cases:
            settle(store, repeats, case)


def spent(store: RunStore) -> float:
    """Seconds that the repeats of a run have taken so far."""
    return sum(attempt.seconds or 0.0 for attempt in store.attempts())


def took(store: RunStore) -> dict[str, float]:
    """Case id -> mean seconds of a repeat."""
    attempts = store.attempts()
    return mean_seconds((attempt.case, attempt.seconds) for attempt in attempts if attempt.seconds is not None)


class Rounds:
    """What ends a run between two rounds of its repeats: it is decided, or its time is spent."""

    def __init__(self, store: RunStore, repeats: Repeats, cases: Sequence[Case]) -> None:
        """Nothing is looked at yet."""
        self._store = store
        self._repeats = repeats
        self._cases = cases

    def before(self, repeat: int) -> dict[str, int]:
        """To be called before the first repeat of a round: settle what need not, or cannot, go on.

        What is decided follows from the rounds before and from nothing else, so that a run that was killed and resumed
        decides as one that was not.

        Args:
            repeat: Number of the round that is to begin, from 1.

        Returns:
            Case id -> how many repeats fewer there are.
        """
        if repeat <= self._repeats.least:
            return {}
        found = self._decided(repeat - 1) if repeat - 1 in self._repeats.looks else {}
        return found | self._in_time(repeat)

    def _decided(self, done: int) -> dict[str, int]:
        looks = self._repeats.looks
        rows = rows_until(self._store, done)
        decisions = decide(rows, compare(rows, len(looks)), self._repeats.decide or 0.0)
        needs = undecided(decisions, self._cases)
        going = self._affordable(needs, done)
        return {
            case.id: self._store.settle(
                case.id, f"after {done} repeats {_reason(needs.get(case.id))}", known=case.id not in needs
            )
            for case in self._going()
            if case.id not in going
        }

    def _affordable(self, wanted: dict[str, int], done: int) -> set[str]:
        """Cases for whose decision the time is enough, those that need least first; all without a limit."""
        left = self._left()
        if left is None:
            return set(wanted)
        found: set[str] = set()
        each = took(self._store)
        for case, needs in sorted(wanted.items(), key=lambda item: item[1]):
            left -= (min(needs, self._repeats.most) - done) * each.get(case, 0.0)
            if left < 0 and found:
                break
            found.add(case)
        return found

    def _in_time(self, repeat: int) -> dict[str, int]:
        left = self._left()
        going = self._going()
        each = took(self._store)
        if left is None or not going or sum(each.get(case.id, 0.0) for case in going) <= left:
            return {}
        limit = about_duration((self._repeats.time or 0) / 1e9)
        reason = f"after {repeat - 1} repeats time was up ({limit} for all)"
        return {case.id: self._store.settle(case.id, reason, known=False) for case in going}

    def _going(self) -> list[Case]:
        settled = self._store.settled()
        return [case for case in self._cases if case.id not in settled]

    def _left(self) -> float | None:
        """Seconds of measuring that are left; None without a limit."""
        if self._repeats.time is None:
            return None
        controls = sum(reading.seconds for reading in self._store.controls())
        return self._repeats.time / 1e9 - spent(self._store) - controls


def _reason(needs: int | None) -> str:
    """Why a case does not go on, though there may be repeats left."""
    if needs is None:
        return "nothing is left that more of them would decide"
    if needs > MOST_NEEDED:
        return f"undecided: it would take more than {MOST_NEEDED:,}, for which there is no time"
    return f"undecided: it would take about {needs:,}, for which there is no time"
