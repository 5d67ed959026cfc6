"""From samples to everything that a report needs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from assay.analyse.compare import compare
from assay.analyse.estimate import estimate
from assay.analyse.notes import notes
from assay.analyse.usable import usable
from assay.model.case import Case, Excluded
from assay.model.names import is_metadata
from assay.model.result import Estimate, JobRecord, Place, Row, RunAnalysis, RunInfo, Sample
from assay.model.units import UnitError, parse_size
from assay.model.verdict import Finding, Verdict

if TYPE_CHECKING:
    from assay.analyse.histograms import Histogram


class Judge(Protocol):
    """What `assay.judge` offers; handed in, because analysis and judgement do not know each other."""

    def __call__(
        self,
        *,
        case: Case,
        operation: str,
        samples: tuple[Sample, ...],
        usable: tuple[Sample, ...],
        place: Place | None,
        memory_bytes: int | None,
        estimate: Estimate | None,
        planned: int,
        reasons: tuple[str, ...],
    ) -> tuple[Verdict, tuple[Finding, ...], tuple[str, ...]]:
        """Verdict, findings (the worst first) and rules that lacked evidence; see `assay.judge.evidence.Evidence`."""
        ...


def analyse(
    run: RunInfo,
    cases: Sequence[Case],
    excluded: Sequence[Excluded],
    samples: Iterable[Sample],
    jobs: Sequence[JobRecord],
    judge: Judge,
    quick: bool = False,
) -> RunAnalysis:
    """Group samples into rows, estimate, pool, judge, compare, and note what is odd.

    Args:
        run: The run.
        cases: All of its cases, or those that are asked for, in plan order.
        excluded: Points that the study leaves out.
        samples: All samples of those cases, in any order.
        jobs: All repeats of those cases as they were executed.
        judge: Gives the verdict of one row.
        quick: Leave out what only a report needs: pooled latencies, curves, comparisons and notes.
    """
    about = _About(run, samples, jobs, judge)
    rows = tuple(
        _row(case, label, group, about, quick) for case in cases for label, group in _by_operation(case, about)
    )
    return RunAnalysis(
        run=run,
        cases=tuple(cases),
        excluded=tuple(excluded),
        rows=rows,
        comparisons=() if quick else compare(rows),
        notes=() if quick else notes(rows, about.places),
        jobs=tuple(jobs),
    )


class _About:
    """What the rows of a run have in common, by case and target."""

    def __init__(self, run: RunInfo, samples: Iterable[Sample], jobs: Iterable[JobRecord], judge: Judge) -> None:
        self.samples: dict[str, list[Sample]] = defaultdict(list)
        for sample in samples:
            self.samples[sample.case].append(sample)
        self.jobs: dict[str, list[JobRecord]] = defaultdict(list)
        for job in jobs:
            self.jobs[job.case].append(job)
        self.places = {place.target: place for place in run.places}
        self.memory_bytes = memory_bytes(run.environment)
        self.repeats = run.repeats
        self.judge = judge


def _by_operation(case: Case, about: _About) -> list[tuple[str, tuple[Sample, ...]]]:
    """The case's operations in order, each with its samples by repeat.

    The second `write` of a case is labelled `write (2)`: phases are kept apart.
    """
    samples = about.samples.get(case.id, [])
    phases: dict[str, list[int]] = defaultdict(list)
    for operation, phase in sorted({(sample.operation, sample.phase) for sample in samples}):
        phases[operation].append(phase)
    groups: dict[tuple[str, int], list[Sample]] = defaultdict(list)
    for sample in sorted(samples, key=lambda sample: sample.repeat):
        groups[sample.operation, sample.phase].append(sample)
    found = []
    seen: dict[str, int] = defaultdict(int)
    for operation in case.operations:
        nth = seen[operation]
        seen[operation] += 1
        phase = phases[operation][nth] if nth < len(phases[operation]) else -1
        label = operation if nth == 0 else f"{operation} ({nth + 1})"
        found.append((label, tuple(groups.get((operation, phase), ()))))
    return found


def _row(case: Case, label: str, samples: tuple[Sample, ...], about: _About, quick: bool) -> Row:
    counted = usable(samples)
    moved = [sample.throughput for sample in counted if sample.moves_data]
    throughput = estimate(moved) if moved else None
    iops = estimate([sample.iops for sample in counted]) if counted else None
    missing = len(samples) < about.repeats
    verdict, findings, not_evaluated = about.judge(
        case=case,
        operation=label.split(" ", 1)[0],
        samples=samples,
        usable=counted,
        place=about.places.get(case.target),
        memory_bytes=about.memory_bytes,
        estimate=iops if is_metadata(label) else throughput,
        planned=about.repeats,
        reasons=_reasons(samples, about.jobs.get(case.id, [])) if missing else (),
    )
    pooled = () if quick else counted
    latency, pool = _pooled((sample.latency, sample.histogram) for sample in pooled)
    return Row(
        case=case,
        operation=label,
        throughput=throughput,
        iops=iops,
        latency=latency,
        curve=_curve(pool),
        samples=samples,
        verdict=verdict,
        findings=findings,
        not_evaluated=not_evaluated,
        start_delay=_pooled((sample.start_delay, sample.start_delay_histogram) for sample in pooled)[0],
    )


def _reasons(samples: tuple[Sample, ...], jobs: list[JobRecord]) -> tuple[str, ...]:
    """Why repeats left no sample, as far as it is known."""
    present = {sample.repeat for sample in samples}
    absent = [job for job in jobs if job.repeat not in present]
    return tuple(f"repeat {job.repeat} {job.status}{': ' if job.reason else ''}{job.reason}" for job in absent)


def _pooled(pairs: Iterable[tuple[dict[str, float], str | None]]) -> tuple[dict[str, float], "Histogram | None"]:
    """Order statistics and histogram of all repeats together; nothing if nothing was recorded."""
    measured = [(summary, text) for summary, text in pairs if summary and text]
    if not measured:
        return {}, None
    from assay.analyse import histograms

    parts = [histograms.decode(text) for _, text in measured]
    pool = histograms.merge(parts)
    totals = [part.total for part in parts]
    count = sum(totals)
    if not count:
        return {}, None
    summaries = [summary for summary, _ in measured]
    greatest = max(summary["max"] for summary in summaries)
    mean = sum(summary["mean"] * total for summary, total in zip(summaries, totals, strict=True)) / count
    tail = {name: min(value, greatest) for name, value in histograms.summary(pool).items()}
    return {"min": min(summary["min"] for summary in summaries), "mean": mean, **tail, "max": greatest}, pool


def _curve(pool: "Histogram | None") -> tuple[tuple[float, float], ...]:
    if pool is None:
        return ()
    from assay.analyse import histograms

    return histograms.curve(pool)


def memory_bytes(environment: Mapping[str, Mapping[str, str]]) -> int | None:
    """Memory of the host in bytes, from the captured environment (`memory`, `total`); None if unknown."""
    try:
        return parse_size(environment.get("memory", {}).get("total", ""))
    except UnitError:
        return None
