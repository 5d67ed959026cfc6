"""Small made-up cases, samples and runs for the tests of analysis, judgement and export."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from hdrh.histogram import HdrHistogram

from assay.analyse.ceilings import unit_of
from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.analyse.estimate import estimate
from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.ceiling import Ceiling, CeilingShare
from assay.model.result.layers import Layer
from assay.model.result.result import Estimate, PricedRun, ResultRow, RunAnalysis
from assay.model.result.run import TargetPlace
from assay.model.result.sample import ErrorTally, JobRecord, KindCounts, Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.case import Case
from assay.model.study.names import is_metadata
from assay.model.study.parameters import Parameters
from assay.store import RunMeta

MIB = 1 << 20
MS = 1_000_000
GIB = 1 << 30


def hdr(values: list[int]) -> str:
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value, count in Counter(values).items():
        histogram.record_value(value, count)
    return str(histogram.encode().decode())


def make_case(
    case_id: str = "c0001", target: str = "disk", operations: tuple[str, ...] = ("read",), **parameters: Any
) -> Case:
    axes = parameters.pop("axes", {})
    sizes = {"file_size": 16 * MIB, "record_size": 65536}
    if is_metadata(operations[0]):
        sizes = {"file_size": 0, "files": 1000}
        parameters.setdefault("cache", "keep")
    fields = {**sizes, **axes, **parameters}
    words = " ".join(f"{name}={value}" for name, value in axes.items())
    return Case(
        id=case_id,
        target=target,
        workload="grid",
        operations=operations,
        parameters=Parameters(**fields),
        axes=axes,
        label=f"{target} / grid / {words}",
    )


def make_sample(
    case: str = "c0001", repeat: int = 1, throughput: float = 100e6, operation: str = "read", **fields: Any
) -> Sample:
    reads = "read" in operation
    size = fields.pop("bytes", 16 * MIB)
    ordinary = {
        "phase": 0,
        "status": "done",
        "started_at": 1_795_288_503.25,
        "ops": size // 65536,
        "bytes": size,
        "read_bytes": size if reads else 0,
        "write_bytes": 0 if reads else size,
        "kinds": (KindCounts(kind="read" if reads else "write", ops=size // 65536, bytes=size),),
        "elapsed_ns": int(size / throughput * 1e9),
        "iops": throughput / 65536,
        "method": "io_uring",
        "device_read_bytes": size if reads else 0,
        "device_write_bytes": 0 if reads else size,
    }
    return Sample(case=case, repeat=repeat, operation=operation, throughput=throughput, **{**ordinary, **fields})


@cache
def _ordinary_sample() -> Sample:
    return make_sample()


def _sample_at(case: str, repeat: int, rate: float) -> Sample:
    """As `make_sample`, for simulations of many thousands: what every sample has in common is validated once."""
    own = {"case": case, "repeat": repeat, "throughput": rate, "iops": rate / 65536}
    return _ordinary_sample().model_copy(update={**own, "elapsed_ns": int(16 * MIB / rate * 1e9)})


def make_names(
    case: str = "c0001", repeat: int = 1, iops: float = 50e3, operation: str = "stat", **fields: Any
) -> Sample:
    """A sample of metadata operations, none of which moved data."""
    ordinary = {
        "phase": 0,
        "status": "done",
        "started_at": 1_795_288_503.25,
        "ops": 1000,
        "elapsed_ns": int(1000 / iops * 1e9),
        "method": "sync",
        "method_reason": "one operation in flight",
        "device_read_bytes": 10**6,
        "device_write_bytes": 0,
    }
    return Sample(case=case, repeat=repeat, operation=operation, iops=iops, **{**ordinary, **fields})


def make_place(target: str = "disk", **fields: Any) -> TargetPlace:
    ordinary = {
        "kind": "file",
        "path": f"/var/tmp/{target}",
        "filesystem": "ext4",
        "memory_backed": False,
        "direct_bypasses_cache": True,
        "free_bytes": 10**11,
        "device": "/dev/vda",
    }
    return TargetPlace(target=target, **{**ordinary, **fields})


MEMORY_PLACE = make_place("memory", filesystem="tmpfs", memory_backed=True, direct_bypasses_cache=False, device=None)
NO_STORAGE_PLACE = make_place(
    kind="null",
    path="",
    filesystem="null",
    direct_bypasses_cache=False,
    device=None,
    layers=(Layer(kind="nothing", name="null"),),
)


def make_ceiling(name: Any = "device read", value: float | None = 1e9, target: str = "disk", **fields: Any) -> Ceiling:
    """A measured ceiling; one without a value has a reason."""
    ordinary: dict[str, Any] = {"unit": unit_of(name), "how": "made up", "reason": "" if value else "no space"}
    return Ceiling(name=name, target=target, value=value, **{**ordinary, **fields})


def make_run(repeats: int = 3, **fields: Any) -> PricedRun:
    ordinary: dict[str, Any] = {
        "id": "20261121-211503-quickstart",
        "folder": "/tmp/runs/20261121-211503-quickstart",
        "study": "quickstart",
        "question": "Which?",
        "description": "",
        "study_text": "study: quickstart\nquestion: Which?\n",
        "status": "complete",
        "created_at": 1_795_288_503.0,
        "finished_at": 1_795_288_600.0,
        "seed": 1,
        "order": "random",
        "command": "assay run study.yaml",
        "versions": {"assay": "0.1.0"},
        "environment": {"memory": {"total": "8 GiB"}, "cpu": {"model": "made up"}},
        "places": (make_place(), MEMORY_PLACE),
        "planned": 6,
        "finished": 6,
    }
    return PricedRun(repeats=repeats, **{**ordinary, **fields})


def make_meta(**fields: Any) -> RunMeta:
    """A run that is about to start; fields that are not given are ordinary."""
    ordinary = {
        "id": "run",
        "study": "s",
        "question": "why?",
        "description": "",
        "created_at": 1.8e9,
        "seed": 1,
        "order": "random",
        "repeats": 1,
        "command": "assay run",
    }
    return RunMeta(**{**ordinary, **fields})


def make_row(
    target: str, rates: list[float], verdict: Verdict = Verdict.OK, size: int = 4096, operation: str = "read"
) -> ResultRow:
    """One row of a run with one operation; it has one finding of its verdict."""
    return row_of(
        make_case(f"{target}-{size}", target, axes={"record_size": size}), rates, verdict, operation=operation
    )


def row_of(
    case: Case, rates: Sequence[float], verdict: Verdict = Verdict.OK, first: int = 1, operation: str = "read"
) -> ResultRow:
    """The row of a case; its repeats have these rates, from the number `first` on.

    It has one finding of its verdict, and no rate if it has no repeats.
    """
    samples = tuple(_sample_at(case.id, repeat, rate) for repeat, rate in enumerate(rates, start=first))
    findings = () if verdict is Verdict.OK else (Finding(verdict=verdict, rule="r", text="", remedy="", numbers={}),)
    return ResultRow(
        case=case,
        operation=operation,
        throughput=estimate(rates) if rates else None,
        iops=None,
        latency={},
        curve=(),
        samples=samples,
        verdict=verdict,
        findings=findings,
    )


def rated_row(
    case: Case,
    known: Estimate | None,
    samples: Sequence[Sample] = (),
    verdict: Verdict = Verdict.OK,
    ceilings: tuple[CeilingShare, ...] = (),
) -> ResultRow:
    """The row of the first operation of a case with such a rate, in bytes, too, if it moves data.

    It has one finding of its verdict.
    """
    operation = case.operations[0]
    finding = Finding(verdict=verdict, rule="r", text="seen", remedy="do", numbers={})
    return ResultRow(
        case=case,
        operation=operation,
        throughput=None if is_metadata(operation) else known,
        iops=known,
        latency={},
        curve=(),
        samples=tuple(samples),
        verdict=verdict,
        findings=() if verdict is Verdict.OK else (finding,),
        ceilings=ceilings,
    )


def make_estimate(rate: float) -> Estimate:
    """The rate of three repeats, known to a tenth."""
    return Estimate(median=rate, low=rate * 0.9, high=rate * 1.1, n=3, spread=0.01)


def answered(analysis: RunAnalysis) -> RunAnalysis:
    """With the comparisons and decisions that follow from its rows."""
    comparisons = compare(analysis.rows)
    decisions = decide(analysis.rows, comparisons)
    return analysis.model_copy(update={"comparisons": comparisons, "decisions": decisions})


def make_analysis(**run: Any) -> RunAnalysis:
    """Two targets, two operations, three repeats; one repeat of the disk's write found no space.

    Args:
        run: Fields of the run.
    """
    latencies = {"min": 1000.0, "mean": 2000.5, "p50": 1999.0, "p90": 2500.0, "p99": 2900.0}
    latencies |= {"p99.9": 3000.0, "p99.99": 3000.0, "max": 3000.0}
    axes = {"record_size": 65536}
    cases = tuple(
        make_case(f"c000{number}", target, ("write", "read"), axes=axes)
        for number, target in enumerate(("disk", "memory"), start=1)
    )
    samples = [
        make_sample(
            case.id,
            repeat,
            throughput=speed * (1 + repeat / 97) * (7 if case.target == "memory" else 1),
            operation=operation,
            phase=phase,
            latency=latencies,
            histogram=hdr([1000, 2000, 2000, 3000] * 64),
        )
        for case in cases
        for repeat in (1, 2, 3)
        for phase, (operation, speed) in enumerate((("write", 100e6), ("read", 200e6)))
    ]
    full = ErrorTally(
        kind="fault",
        name="ENOSPC",
        count=3,
        example="write /var/tmp/disk/f0 at 1048576, 65536 bytes: No space left on device (ENOSPC)",
    )
    samples[0] = samples[0].model_copy(update={"status": "failed", "errors": (full,)})
    jobs = [
        JobRecord(
            case=case.id,
            repeat=repeat,
            status="ok",
            attempts=1,
            started_at=1.0,
            seconds=2.0,
            reason="",
            job={"id": "x"},
        )
        for case in cases
        for repeat in (1, 2, 3)
    ]
    return analyse(make_run(**run), cases, (), samples, jobs, judge)
