"""Computes the rows of a run from its samples, with everything that a report needs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.analyse.anomalies.notes import falling, notes
from assay.analyse.ceilings import Ceilings
from assay.analyse.compare import LATENCIES, compare
from assay.analyse.decide import decide, mean_repeat_seconds
from assay.analyse.estimate import estimate
from assay.analyse.machine import machine_notes, set_aside
from assay.analyse.percentiles import percentiles
from assay.analyse.statistics.autocorrelation import autocorrelation_notes
from assay.analyse.usable import usable
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.result.evidence import Evidence
from assay.model.result.layers import Layer
from assay.model.result.percentile import reliable_latencies
from assay.model.result.result import PricedRun, ResultRow, RunAnalysis
from assay.model.result.run import RunInfo
from assay.model.result.sample import JobRecord, Sample
from assay.model.result.verdict import Finding, Unevaluated, Verdict
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.names import is_counted
from assay.model.units import UnitError, parse_size

if TYPE_CHECKING:
    from assay.analyse.histograms import Histogram


Judge = Callable[[Evidence], tuple[Verdict, tuple[Finding, ...], tuple[Unevaluated, ...]]]
"""Returns verdict, findings (the worst first) and rules that lacked evidence. `assay.judge.judge.judge` is passed in,
because analysis and judgement do not import each other."""


def analyse(
    run: PricedRun,
    cases: Sequence[Case],
    excluded: Sequence[ExcludedPoint],
    samples: Iterable[Sample],
    jobs: Sequence[JobRecord],
    judge: Judge,
    quick: bool = False,
    settled: Mapping[str, bool] = MappingProxyType({}),
    autocorrelation: float | None = 0.0,
) -> RunAnalysis:
    """Group samples into rows, estimate, pool, judge, compare, and note what is odd.

    Args:
        run: The run.
        cases: All of its cases, or the requested ones, in plan order.
        excluded: Points that the study leaves out.
        samples: All samples of those cases, in any order.
        jobs: All repeats of those cases as they were executed.
        judge: Returns the verdict of one row.
        quick: Leave out what only a report needs: pooled latencies, curves, comparisons and notes.
        settled: Id of each case that gets no further repeats -> whether its precision is sufficient.
        autocorrelation: Correlation of a repeat of this run with the one before it, see `known_autocorrelation`;
            None: unknown.
    """
    of_case: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        of_case[sample.case].append(sample)
    executed: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        executed[job.case].append(job)
    maker = RowMaker(run, judge, quick, settled, autocorrelation or 0.0)
    rows = tuple(row for case in cases for row in maker.rows(case, of_case[case.id], executed[case.id]))
    comparisons = () if quick else compare(rows, run.look_count)
    machine = run.machine and run.machine.model_copy(update={"rows": sum(bool(row.machine) for row in rows)})
    took = mean_repeat_seconds((job.case, job.seconds) for job in jobs)
    return RunAnalysis(
        run=run,
        cases=tuple(cases),
        excluded=tuple(excluded),
        rows=rows,
        comparisons=comparisons,
        decisions=decide(rows, comparisons, run.equal_within, took, run.ignored_verdicts, run.symmetric_verdicts),
        latency_comparisons=()
        if quick
        else tuple(pair for of in LATENCIES for pair in compare(rows, run.look_count, of)),
        notes=() if quick else (*falling(rows), *machine_notes(machine), *_other_notes(rows, maker, autocorrelation)),
        machine=machine,
        jobs=tuple(jobs),
    )


def _other_notes(rows: Sequence[ResultRow], maker: "RowMaker", autocorrelation: float | None) -> tuple[str, ...]:
    counts = [row.rate.n for row in rows if row.rate is not None]
    return (*maker.unread, *autocorrelation_notes(autocorrelation, counts), *notes(rows, maker.places))


class RowMaker:
    """Makes the rows of a run, case by case, so that not all samples of a large run need to be in memory."""

    def __init__(
        self,
        run: RunInfo,
        judge: Judge,
        quick: bool = False,
        settled: Mapping[str, bool] = MappingProxyType({}),
        autocorrelation: float = 0.0,
    ) -> None:
        """Store what the rows have in common; arguments as in `analyse`."""
        self.places = {place.target: place for place in run.places}
        self._memory_bytes = memory_bytes(run.environment)
        self._repeats = run.repeats
        self._within = run.repeats_within
        self._is_imported = bool(run.imports)
        self._ceilings = Ceilings(run.ceilings, run.hosts, run.network)
        self._controls = run.controls if run.machine is not None else None
        self._judge = judge
        self._quick = quick
        self._settled = settled
        self._likeness = autocorrelation
        self.unread: list[str] = []
        """Data of repeats that could not be read, one sentence each."""

    def rows(self, case: Case, samples: Sequence[Sample], jobs: Sequence[JobRecord]) -> Iterator[ResultRow]:
        """Yield the rows of one case, in the order of its operations.

        Args:
            case: The case.
            samples: All of its samples, in any order.
            jobs: All of its repeats as they were executed.
        """
        for label, group in self.groups(case, samples):
            yield self._row(case, label, group, jobs)

    def groups(self, case: Case, samples: Sequence[Sample]) -> list[tuple[str, tuple[Sample, ...]]]:
        """Return operation, as its row names it, and samples for each row of a case; arguments as in `rows`."""
        place = self.places.get(case.target)
        devices = place.device_levels[:1] if place is not None else ()
        with_blocks = [_with_block(sample, devices[0]) for sample in samples] if devices else samples
        return _by_operation(case, with_blocks)

    def _row(self, case: Case, label: str, samples: tuple[Sample, ...], jobs: Sequence[JobRecord]) -> ResultRow:
        counted = usable(samples)
        moved = [sample.throughput for sample in counted if sample.moves_data]
        throughput = estimate(moved, self._likeness) if moved else None
        is_known = bool(counted) and all(sample.has("iops") for sample in counted)
        iops = estimate([sample.iops for sample in counted], self._likeness) if is_known else None
        operation, place = label.split(" ", 1)[0], self.places.get(case.target)
        ceilings = self._ceilings.bindings(case, operation, place, throughput, iops)
        planned = len(jobs) if case.id in self._settled else self._repeats
        evidence = Evidence(
            case=case,
            operation=operation,
            samples=samples,
            usable=counted,
            place=place,
            memory_bytes=self._memory_bytes,
            estimate=iops if is_counted(label) else throughput,
            planned=planned,
            ceilings=ceilings,
            reasons=_reasons(samples, jobs) if len(samples) < planned else (),
            # A case that ran out of time is not judged by the precision that the study requests.
            within=self._within if self._settled.get(case.id, True) else None,
            is_imported=self._is_imported,
            missing_value=self._ceilings.missing_parameter(case, operation, place),
        )
        verdict, findings, not_evaluated = self._judge(evidence)
        pooled = () if self._quick else counted
        on_unreadable = partial(self._note_unreadable, case, label)
        latency, pool = _pooled([(item.repeat, item.latency, item.histogram) for item in pooled], on_unreadable)
        delays = [(item.repeat, item.start_delay, item.start_delay_histogram) for item in pooled]
        remaining, machine = set_aside(self._controls, case, counted, findings)
        return ResultRow(
            case=case,
            operation=label,
            throughput=throughput,
            iops=iops,
            latency=latency,
            curve=_curve(pool),
            samples=samples,
            verdict=verdict if remaining == findings else remaining[0].verdict if remaining else Verdict.OK,
            findings=remaining,
            machine=machine,
            not_evaluated=not_evaluated,
            ceilings=ceilings,
            start_delay=_pooled(delays, on_unreadable)[0],
            percentiles=percentiles(pooled, latency),
        )

    def _note_unreadable(self, case: Case, label: str, repeat: int, why: str) -> None:
        self.unread.append(f"{case.label}, {label}: the latencies of repeat {repeat} are left out: {escape_line(why)}.")


def _with_block(sample: Sample, devices: Sequence[Layer]) -> Sample:
    """Return the sample with what the uppermost devices did, for file systems over several devices.

    The engine cannot query the devices of such a file system.
    """
    if sample.block is not None or (used := sample.device_use(devices)) is None:
        return sample
    return sample.model_copy(update={"block": used})


def _by_operation(case: Case, samples: Sequence[Sample]) -> list[tuple[str, tuple[Sample, ...]]]:
    """Return the case's operations in order, each with its samples by repeat.

    The second `write` of a case is labelled `write (2)`: the results of different phases are not mixed.
    """
    phases: dict[str, list[int]] = defaultdict(list)
    for operation, phase in sorted({(sample.operation, sample.phase) for sample in samples}):
        phases[operation].append(phase)
    groups: dict[tuple[str, int], list[Sample]] = defaultdict(list)
    for sample in sorted(samples, key=lambda sample: sample.repeat):
        groups[sample.operation, sample.phase].append(sample)
    found = []
    counts: dict[str, int] = defaultdict(int)
    for operation in case.operations:
        nth = counts[operation]
        counts[operation] += 1
        phase = phases[operation][nth] if nth < len(phases[operation]) else -1
        label = operation if nth == 0 else f"{operation} ({nth + 1})"
        found.append((label, tuple(groups.get((operation, phase), ()))))
    return found


def _reasons(samples: tuple[Sample, ...], jobs: Sequence[JobRecord]) -> tuple[str, ...]:
    """Return why repeats left no sample, where it is known."""
    present = {sample.repeat for sample in samples}
    absent = [job for job in jobs if job.repeat not in present]
    return tuple(f"repeat {job.repeat} {job.status}{': ' if job.reason else ''}{job.reason}" for job in absent)


def _pooled(
    measured: Iterable[tuple[int, dict[str, float], str | None]], on_unreadable: Callable[[int, str], None]
) -> tuple[dict[str, float], "Histogram | None"]:
    """Return order statistics and histogram of all repeats together; empty and None if nothing was recorded.

    Percentiles for which all operations together are too few are left out.

    Args:
        measured: Number, summary and histogram of each repeat.
        on_unreadable: Called with the number of a repeat whose histogram cannot be read and the reason; the repeat is
            left out.
    """
    found = [(repeat, summary, text) for repeat, summary, text in measured if summary and text]
    if not found:
        return {}, None
    from assay.analyse import histograms

    summaries: list[dict[str, float]] = []
    parts: list[Histogram] = []
    for repeat, summary, text in found:
        try:
            if missing := {"min", "mean", "max"} - summary.keys():
                raise AssayError(f"{', '.join(sorted(missing))} missing in their summary")
            part = histograms.decode(text)
            histograms.check_resolution(parts[0] if parts else part, part)
        except AssayError as error:
            on_unreadable(repeat, error.message)
            continue
        parts.append(part)
        summaries.append(summary)
    if not parts:
        return {}, None
    pool = histograms.merge(parts)
    totals = [part.total for part in parts]
    count = sum(totals)
    if not count:
        return {}, None
    greatest = max(summary["max"] for summary in summaries)
    mean = sum(summary["mean"] * total for summary, total in zip(summaries, totals, strict=True)) / count
    tail = {name: min(value, greatest) for name, value in reliable_latencies(histograms.summary(pool), count).items()}
    return {"min": min(summary["min"] for summary in summaries), "mean": mean, **tail, "max": greatest}, pool


def _curve(pool: "Histogram | None") -> tuple[tuple[float, float], ...]:
    if pool is None:
        return ()
    from assay.analyse import histograms

    return histograms.curve(pool)


def memory_bytes(environment: Mapping[str, Mapping[str, str]]) -> int | None:
    """Return the memory of the host in bytes, from the captured environment (`memory`, `total`); None if unknown."""
    try:
        return parse_size(environment.get("memory", {}).get("total", ""))
    except UnitError:
        return None
