"""`assay find`: what measures the rates of a search."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from assay.analyse import histograms
from assay.analyse.needs.decide import LATE_FACTOR, wait_share
from assay.analyse.needs.latencies import RepeatLatencies, decide_percentile
from assay.analyse.needs.outcome import NeedOutcome
from assay.analyse.usable import usable
from assay.contract._generated import IntervalEvent
from assay.contract.counts import progress_counts
from assay.contract.reader import lines_of, read_events
from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.sample import Sample
from assay.model.result.verdict import NO_RESULT, Verdict
from assay.model.study.names import DATA
from assay.plan.text import study_text
from assay.rooms.fit.model.bound import LatencyBound
from assay.rooms.fit.work.load import RateLoad, find_study
from assay.rooms.fit.work.place import FitPlace
from assay.rooms.fit.work.search import FoundRate, Measured, RatePlan, RateSearch
from assay.store import RunStore

CLOSED_SECONDS, CLOSED_REPEATS = 1.0, 3
HIDING = (*NO_RESULT, Verdict.CLIENT_BOUND)
"""Verdicts of the final run that leave the answer open: its numbers are not the place's."""

Run = Callable[[str, Path], RunStore]
"""Measures the study of a text, and stores the run in a folder."""


class FindResult(NamedTuple):
    """The result of a search.

    Attributes:
        rate: What the search found.
        closed_per_s: Operations per second of a closed loop, without its waits for a CPU of this host.
        doubt: Why the numbers may not be the place's; empty if nothing says so.
    """

    rate: FoundRate
    closed_per_s: float
    doubt: str

    @property
    def has_rate(self) -> bool:
        """The highest rate that holds the bound is known."""
        return self.rate.estimate is not None and not self.doubt


class Finder:
    """Measures rates of operations at a place."""

    def __init__(
        self,
        place: FitPlace,
        load: RateLoad,
        bound: LatencyBound,
        run: Run,
        run_final: Callable[[str], RunStore],
        folder: Path,
        on_rate: Callable[[float, NeedOutcome], None],
    ) -> None:
        """Measure at a place.

        Args:
            place: The place.
            load: What is done at each rate.
            bound: The bound.
            run: Measures a study.
            run_final: Measures the last study, in a run that is kept.
            folder: Folder for runs that are not kept.
            on_rate: Called with what was measured at each rate.
        """
        self._place, self._load, self._bound = place, load, bound
        self._run, self._run_final, self._folder, self._on_rate = run, run_final, folder, on_rate
        self._doubt = ""

    def find(self, seconds: float) -> FindResult:
        """Return the highest rate that holds the bound.

        Args:
            seconds: Time for all of it.

        Raises:
            AssayError: Nothing could be measured.
            KeyboardInterrupt: The user stopped it; the test data is removed.
        """
        begun = time.monotonic()
        closed = self.closed_rate()
        search = RateSearch(self._bound, closed, seconds, self.measure, lambda: time.monotonic() - begun)
        return FindResult(search.run(), closed, self._doubt)

    def closed_rate(self) -> float:
        """Return the operations per second of a closed loop, without its waits for a CPU of this host.

        Raises:
            AssayError: Nothing could be measured.
        """
        text = study_text(dict(find_study(self._place, self._load, None, CLOSED_SECONDS, CLOSED_REPEATS)), ("",))
        with self._run(text, self._folder) as store:
            analysis = _analysis(store)
        rates = [
            sample.iops / (1 - min(0.5, wait_share(row, sample)))
            for row in analysis.rows
            for sample in usable(row.samples)
        ]
        if not rates or max(rates) <= 0:
            why = next((job.reason for job in analysis.jobs if job.reason), "")
            errors = [tally.example for row in analysis.rows for one in row.samples for tally in one.errors]
            message = why or next(iter(errors), "nothing was measured")
            raise AssayError(f"{self._place.written}: {message}", "`assay measure` says more", EXIT_INCOMPLETE)
        return max(rates)

    def measure(self, plan: RatePlan) -> Measured:
        """Return the latencies of each repeat of a plan's rates, without its warm-up."""
        head = (f"Rates near the highest one with {self._bound}.", "", "  assay run FILE")
        study = find_study(self._place, self._load, plan, plan.warm_up_s + plan.seconds, plan.repeats)
        text = study_text(dict(study), head)
        with self._run_final(text) if plan.is_final else self._run(text, self._folder) as store:
            analysis = _analysis(store)
            found = {
                row.case.parameters.rate or plan.rates[0]: list(self._repeats(store, row, plan))
                for row in analysis.rows
                if row.operation == self._load.operation
            }
        if plan.is_final:
            findings = [item for row in analysis.rows for item in row.findings if item.verdict in HIDING]
            self._doubt = next((f"{item.verdict}: {item.text}" for item in findings), "")
        for rate, repeats in found.items():
            self._on_rate(rate, decide_percentile(repeats, self._bound.allowed_share, self._bound.limit_ns))
        return found

    def _repeats(self, store: RunStore, row: ResultRow, plan: RatePlan) -> Iterator[RepeatLatencies]:
        rate, limit_s = row.case.parameters.rate or 0.0, self._bound.limit_ns / 1e9
        for sample in usable(row.samples):
            texts = interval_latencies(store.events(row.case.id, sample.repeat), sample, plan.warm_up_s)
            if not texts:
                continue
            merged = histograms.merge([histograms.decode(text) for text in texts])
            values, counts = histograms.values_and_counts(merged)
            # Operations that were due shortly before the end may yet have held the bound.
            unstarted = max(0, sample.unstarted_ops - math.ceil(rate * limit_s))
            late = LATE_FACTOR * wait_share(row, sample) * merged.total
            longest = None if sample.watch is None else sample.watch.lateness.get("max")
            yield RepeatLatencies(values, counts, unstarted, client_late_ops=late, client_longest_ns=longest)


def _analysis(store: RunStore) -> RunAnalysis:
    from assay.run.analysis import analyse_store

    if store.current_status() == "interrupted":
        raise KeyboardInterrupt
    return analyse_store(store, quick=True)


def interval_latencies(events: str, sample: Sample, from_s: float) -> list[str]:
    """Return the histograms of a phase's intervals that begin at `from_s` seconds or later.

    Args:
        events: The engine's output of the repeat.
        sample: The phase.
        from_s: Seconds from the start of the phase.
    """
    found = []
    for event in read_events(lines_of(events)):
        if isinstance(event, IntervalEvent) and event.phase == sample.phase and event.start_ns >= from_s * 1e9 * 0.999:
            found += [
                done.latency for done in progress_counts(event.operations, sample.operation in DATA) if done.latency
            ]
    return found
