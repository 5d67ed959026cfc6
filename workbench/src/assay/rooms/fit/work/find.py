"""`assay find`: measures at one rate after the other until the highest that holds a bound is known."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from assay.analyse import histograms
from assay.analyse.usable import usable
from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.result.result import ResultRow, RunAnalysis
from assay.plan.text import study_text
from assay.rooms.fit.model.bound import LatencyBound
from assay.rooms.fit.model.profile import Requirement
from assay.rooms.fit.work.decide import decide
from assay.rooms.fit.work.load import REPEATS, RateLoad, find_study, min_rate, rounded, runtime_s
from assay.rooms.fit.work.place import FitPlace
from assay.rooms.fit.work.search import Bracket, RateStep, bracket, estimate_rate, final_rates, next_rate
from assay.store import RunStore

SEARCH_SHARE = 0.65
"""Share of the time for the search; the rest is for measuring its ends again."""
MAX_STEPS = 40
FINAL_REPEATS = 6
"""Repeats of the final run, which measures the ends of the search in turns."""
START_SECONDS = 0.3
"""Time of a repeat beside its phase."""

Run = Callable[[str, Path], RunStore]
"""Measures the study of a text, and stores the run in a folder."""


class FoundRate(NamedTuple):
    """The result of a search.

    Attributes:
        steps: All rates in the order in which they were measured.
        bracket: Where the highest rate that holds lies: the interval of the search.
        estimate: The rate at which the latency equals the bound; None if it was not crossed.
        closed_per_s: Operations per second of a closed loop.
    """

    steps: tuple[RateStep, ...]
    bracket: Bracket
    estimate: float | None
    closed_per_s: float


class Finder:
    """Searches for the highest rate that holds a bound.

    Attributes:
        bound: The bound.
    """

    def __init__(self, place: FitPlace, load: RateLoad, bound: LatencyBound, run: Run, folder: Path) -> None:
        """Search at a place.

        Args:
            place: The place.
            load: What is done at each rate.
            bound: The bound.
            run: Measures a study.
            folder: Folder for runs that are not kept.
        """
        self.bound = bound
        self._place, self._load = place, load
        self._run, self._folder = run, folder
        self._need = Requirement.model_validate(
            {"operation": load.operation, "measure": bound.name, "below": f"{bound.limit_ns}ns"}
        )

    def closed_rate(self) -> float:
        """Return the operations per second of a closed loop.

        Raises:
            AssayError: Nothing could be measured.
        """
        analysis = self._measure((), 0.5, 2)
        rates = [row.iops.median for row in analysis.rows if row.iops is not None]
        if not rates or rates[0] <= 0:
            why = next((job.reason for job in analysis.jobs if job.reason), "")
            errors = [tally.example for row in analysis.rows for one in row.samples for tally in one.errors]
            message = why or next(iter(errors), "nothing was measured")
            raise AssayError(f"{self._place.written}: {message}", "`assay measure` says more", EXIT_INCOMPLETE)
        return rates[0]

    def search(self, closed_per_s: float, end: float, on_step: Callable[[RateStep], None]) -> list[RateStep]:
        """Measure rates until the bracket is narrow or the time is over; return the steps.

        Args:
            closed_per_s: Rate of a closed loop.
            end: When the search ends, on the clock of `time.monotonic`.
            on_step: Called after each step.
        """
        steps: list[RateStep] = []
        least = min_rate(self.bound.allowed_share)
        while len(steps) < MAX_STEPS and (rate := next_rate(steps, closed_per_s, least)) is not None:
            if steps and time.monotonic() + REPEATS * self._seconds(rate) > end:
                break
            steps.append(self.step(rounded(rate)))
            on_step(steps[-1])
        return steps

    def step(self, rate: float) -> RateStep:
        """Measure one rate."""
        analysis = self._measure((rate,), self._seconds(rate), REPEATS)
        return self._as_step(rate, next(iter(analysis.rows), None))

    def final_study(self, rates: Sequence[float], seconds: float) -> str:
        """Return the text of the study that measures the ends of the search again."""
        head = (f"The ends of a search for the highest rate with {self.bound}.", "", "  assay run FILE")
        return study_text(dict(find_study(self._place, self._load, rates, seconds, FINAL_REPEATS)), head)

    def final_steps(self, analysis: RunAnalysis) -> list[RateStep]:
        """Return the steps that the final run shows."""
        return [self._as_step(row.case.parameters.rate or 0.0, row) for row in analysis.rows]

    def _as_step(self, rate: float, row: ResultRow | None) -> RateStep:
        if row is None:
            return RateStep(rate, decide(self._need, row), 0)
        samples = usable(row.samples)
        own = [_percentile(sample.histogram, self.bound.percent) for sample in samples if sample.histogram]
        return RateStep(rate, decide(self._need, row), len(samples), median(own) if own else None)

    def _seconds(self, rate: float) -> float:
        return runtime_s(rate, self.bound.allowed_share, self.bound.limit_ns)

    def _measure(self, rates: Sequence[float], seconds: float, repeats: int) -> RunAnalysis:
        from assay.run.analysis import analyse_store

        text = study_text(dict(find_study(self._place, self._load, rates, seconds, repeats)), ("A step of a search.",))
        with self._run(text, self._folder) as store:
            if store.current_status() == "interrupted":
                raise KeyboardInterrupt
            return analyse_store(store, quick=True)


def _percentile(histogram: str, percent: float) -> float:
    return float(histograms.percentiles(histograms.decode(histogram), [percent])[0])


def find_rate(
    finder: Finder, seconds: float, on_step: Callable[[RateStep], None], run_final: Callable[[str], RunStore]
) -> FoundRate:
    """Return the highest rate that holds.

    The ends of the search are measured again, in turns, in a run that is kept: what that shows replaces what the short
    steps showed.

    Args:
        finder: Measures.
        seconds: Time for all of it.
        on_step: Called after each step.
        run_final: Measures the study of the ends, in a run that is kept.
    """
    from assay.run.analysis import analyse_store

    begun = time.monotonic()
    closed = finder.closed_rate()
    steps = finder.search(closed, begun + SEARCH_SHARE * seconds, on_step)
    rates = sorted({rounded(rate) for rate in final_rates(steps)})
    left = seconds - (time.monotonic() - begun)
    each = max(0.5, round(left / len(rates) / FINAL_REPEATS - START_SECONDS, 1))
    with run_final(finder.final_study(rates, each)) as store:
        if store.current_status() == "interrupted":
            raise KeyboardInterrupt
        final = finder.final_steps(analyse_store(store, quick=True))
    for step in final:
        on_step(step)
    everything = (*steps, *final)
    limit = finder.bound.limit_ns
    # The rates of the final run were measured in turns, which the first steps were not.
    estimate = estimate_rate(final, limit) or estimate_rate(everything, limit)
    return FoundRate(everything, bracket(everything), estimate, closed)
