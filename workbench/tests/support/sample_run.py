"""A made-up but realistic run: two targets, a grid, a queue-depth sweep, a cached case, a full disk."""

import math
import random
import statistics
from functools import cache
from typing import Any

from hdrh.histogram import HdrHistogram
from sample_ceilings import ceilings_of, with_ceilings

from assay.analyse.compare import LATENCIES, compare
from assay.analyse.decide import decide
from assay.analyse.percentiles import percentiles
from assay.model.result.ceiling import Ceiling
from assay.model.result.percentile import PERCENTILES, reliable_latencies
from assay.model.result.result import Estimate, PricedRun, ResultRow, RunAnalysis
from assay.model.result.run import TargetPlace
from assay.model.result.sample import ErrorTally, JobRecord, Sample
from assay.model.result.verdict import Finding, Unevaluated, Verdict
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.parameters import Parameters

KIB, MIB = 1024, 1024 * 1024
OPERATIONS = ("write", "rewrite", "read", "reread", "random_read", "random_write")
FILE_SIZES = (16 * MIB, 64 * MIB, 256 * MIB)
RECORD_SIZES = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB)
DEPTHS = (1, 2, 4, 8, 16, 32)
STARTED = 1_795_000_000.0
STUDY = """\
study: sample
question: {question}
targets:
  disk:   {{kind: file, path: /var/tmp/assay-sample}}
  memory: {{kind: file, path: /dev/shm/assay-sample}}
workloads:
  grid:
    operations: [write, rewrite, read, reread, random_read, random_write]
    file_size: [16MiB, 64MiB, 256MiB]
    record_size: {{from: 4KiB, to: 1MiB, factor: 4}}
    cache: direct
  depth: {{operations: [random_read], file_size: 64MiB, record_size: 4KiB, queue_depth: [1, 2, 4, 8, 16, 32]}}
  cached: {{operations: [read], file_size: 64MiB, record_size: 64KiB, cache: keep}}
repeats: 4
order: random
"""


def speed(target: str, operation: str, parameters: Parameters) -> tuple[float, float]:
    """Plausible bytes per second and seconds per operation: a fixed cost per operation plus a rate."""
    reads = "read" in operation and "write" not in operation
    cost, rate = {
        ("disk", True): (95e-6, 610e6),
        ("disk", False): (140e-6, 380e6),
        ("memory", True): (2.2e-6, 7.2e9),
        ("memory", False): (3.4e-6, 4.4e9),
    }[(target if target in ("disk", "memory") else "disk", reads)]
    if operation.startswith("random") and target == "disk":
        cost *= 1.9
    if operation == "rewrite":
        cost *= 0.8
    if parameters.cache == "keep" and target == "disk":
        cost, rate = 3e-6, 6.1e9
    each = cost + parameters.record_size / rate
    useful = min(parameters.queue_depth, 9.0 if target == "disk" else 1.6)
    flush = 1 - 0.18 * math.exp(-parameters.file_size / (64 * MIB)) if not reads else 1.0
    return parameters.record_size / each * useful * flush, each * max(1.0, parameters.queue_depth / useful)


def latencies_of(rng: random.Random, mean_s: float, count: int) -> list[float]:
    """Log-normal latencies in nanoseconds, ascending, with a heavy tail of one in two hundred."""
    values = [mean_s * 0.94e9 * rng.lognormvariate(0, 0.22) for _ in range(count)]
    return sorted(value * rng.uniform(4, 30) if rng.random() < 0.005 else value for value in values)


def percentile(values: list[float], percent: float) -> float:
    """The smallest value that `percent` of all do not exceed."""
    return values[min(len(values) - 1, max(0, math.ceil(len(values) * percent / 100) - 1))]


def encoded(values: list[float]) -> str:
    """A real HDR histogram as the engine sends it."""
    found = HdrHistogram(1, 60_000_000_000, 3)
    for value in values:
        found.record_value(max(1, int(value)))
    return str(found.encode().decode())


def latency_of(values: list[float]) -> dict[str, float]:
    """The named figures of latencies in ascending order."""
    named = {name: percentile(values, percent) for name, percent in PERCENTILES.items()}
    return {"min": values[0], "mean": statistics.fmean(values), **named, "max": values[-1]}


def curve_of(values: list[float]) -> tuple[tuple[float, float], ...]:
    """Points for drawing, closer together towards the tail."""
    steps = [100 * (1 - 10 ** (-k / 8)) for k in range(int(8 * math.log10(len(values))) + 1)]
    return tuple((percent, percentile(values, percent)) for percent in [*steps, 100.0])


def estimate(values: list[float]) -> Estimate:
    """Median with a Student t interval."""
    half = 3.182 * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.fmean(values)
    return Estimate(
        median=statistics.median(values),
        low=mean - half,
        high=mean + half,
        n=len(values),
        spread=statistics.stdev(values) / mean,
    )


def finding(verdict: Verdict, text: str, remedy: str, **figures: float) -> Finding:
    """A finding by a rule named after its verdict."""
    return Finding(verdict=verdict, rule=verdict.value, text=text, remedy=remedy, numbers=figures)


def findings_for(case: Case, operation: str, value: Estimate) -> tuple[Finding, ...]:
    """The three oddities of the sample run."""
    p = case.parameters
    if case.target == "disk" and (
        p.cache == "keep" or (operation, p.file_size, p.record_size) == ("reread", 16 * MIB, MIB)
    ):
        text = f"Read {value.median / 1e6:.0f} MB/s, but the kernel fetched only 2 % of it from /dev/vda."
        return (
            finding(
                Verdict.CACHED, text, "Use cache: direct or drop, or a file of twice the memory.", fetched_percent=2.0
            ),
        )
    if value.spread is not None and value.spread > 0.15:
        text = f"The repeats differ by a coefficient of variation of {100 * value.spread:.0f} %."
        return (
            finding(Verdict.UNSTABLE, text, "Repeat more often on a quiet machine.", cv_percent=100 * value.spread),
        )
    return ()


def row_of(case: Case, operation: str, phase: int, seed: int, repeats: int = 4, ops: int = 400) -> ResultRow:
    """One result with its repeats, the noise drawn from `seed`."""
    rng = random.Random(f"{seed}/{case.id}/{operation}")
    p = case.parameters
    if case.target == "memory" and p.file_size == 256 * MIB and p.record_size == 4 * KIB:
        return full_row(case, operation, phase, repeats)
    rate, each = speed(case.target, operation, p)
    shaky = (
        case.target == "disk" and operation == "random_write" and (p.file_size, p.record_size) == (16 * MIB, 16 * KIB)
    )
    pooled: list[float] = []
    samples, values = [], []
    for repeat in range(1, repeats + 1):
        achieved = rate * rng.lognormvariate(0, 0.6 if shaky else 0.02 + 0.02 * (case.target == "disk"))
        single = latencies_of(rng, each * rate / achieved, ops)
        pooled += single
        values.append(achieved)
        samples.append(
            Sample(
                case=case.id,
                repeat=repeat,
                phase=phase,
                operation=operation,
                status="done",
                started_at=STARTED + 60 * repeat,
                ops=p.file_size // p.record_size,
                bytes=p.file_size,
                elapsed_ns=int(p.file_size / achieved * 1e9),
                throughput=achieved,
                iops=achieved / p.record_size,
                latency=latency_of(single),
                histogram=encoded(single) if case.id == "c0001" and repeat == 1 else None,
                method="io_uring",
                cache_done=p.cache,
            )
        )
    pooled.sort()
    value = estimate(values)
    found = findings_for(case, operation, value)
    latency = reliable_latencies(latency_of(pooled), repeats * (p.file_size // p.record_size))
    return ResultRow(
        case=case,
        operation=operation,
        throughput=value,
        iops=estimate([v / p.record_size for v in values]),
        latency=latency,
        percentiles=percentiles(samples, latency),
        curve=curve_of(pooled),
        samples=tuple(samples),
        verdict=found[0].verdict if found else Verdict.OK,
        findings=found,
        not_evaluated=(Unevaluated(rule="ceiling", reason="the device's rate was not measured"),),
    )


def full_row(case: Case, operation: str, phase: int, repeats: int) -> ResultRow:
    """A result that ran out of space while writing; later phases were skipped."""
    status: Any = "failed" if operation == "write" else "skipped"
    words = "write of f0 at 201326592, 4096 bytes: No space left on device"
    tally = (ErrorTally(kind="fault", name="ENOSPC", count=1, example=words),) if operation == "write" else ()
    samples = tuple(
        Sample(
            case=case.id,
            repeat=r,
            phase=phase,
            operation=operation,
            status=status,
            started_at=STARTED + 60 * r,
            errors=tally,
        )
        for r in range(1, repeats + 1)
    )
    text = "ENOSPC after 201,326,592 of 268,435,456 bytes in /dev/shm/assay-sample."
    found = finding(Verdict.INCOMPLETE, text, "Free 64 MiB there or take smaller files.", missing_bytes=67_108_864)
    return ResultRow(
        case=case,
        operation=operation,
        throughput=None,
        iops=None,
        latency={},
        curve=(),
        samples=samples,
        verdict=Verdict.INCOMPLETE,
        findings=(found,),
    )


def build(
    plan: list[tuple[str, tuple[str, ...], Parameters, dict[str, Any]]],
    targets: tuple[str, ...],
    seed: int,
    question: str,
    path: str = "/var/tmp/assay-sample",
    repeats: int = 4,
    ops: int = 400,
) -> RunAnalysis:
    """A run over `plan` (workload, operations, parameters, axes) on every target."""
    cases: list[Case] = []
    rows: list[ResultRow] = []
    jobs: list[JobRecord] = []
    for workload, operations, parameters, axes in plan:
        for target in targets:
            words = " ".join(f"{name}={value}" for name, value in axes.items())
            case = Case(
                id=f"c{len(cases) + 1:04}",
                target=target,
                workload=workload,
                operations=operations,
                parameters=parameters,
                axes=axes,
                label=f"{target} / {workload} / {words}",
            )
            cases.append(case)
            rows += [row_of(case, operation, n, seed, repeats, ops) for n, operation in enumerate(operations)]
            jobs += [job_of(case, repeat) for repeat in range(1, repeats + 1)]
    run = info(targets, question, path, len(jobs), repeats, tuple(ceilings_of(cases, targets)))
    rows = with_ceilings(rows, run)
    comparisons = compare(rows)
    return RunAnalysis(
        run=run,
        cases=tuple(cases),
        excluded=(
            ExcludedPoint(
                target=targets[0],
                workload="grid",
                axes={"file_size": 1024 * MIB},
                rule="too-slow",
                reason="takes an hour",
            ),
        ),
        rows=tuple(rows),
        comparisons=comparisons,
        latency_comparisons=tuple(pair for of in LATENCIES for pair in compare(rows, of=of)),
        decisions=decide(rows, comparisons),
        notes=("The third round of disk was 4 % slower than the first: something else was using the disk.",),
        jobs=tuple(jobs),
    )


def job_of(case: Case, repeat: int) -> JobRecord:
    """A job roughly as the engine gets it."""
    job = {
        "target": {"kind": "file", "directory": case.id},
        "phases": [{"operation": o} for o in case.operations],
        "seed": 7,
    }
    full = (
        case.target == "memory" and case.axes.get("file_size") == 256 * MIB and case.axes.get("record_size") == 4 * KIB
    )
    return JobRecord(
        case=case.id,
        repeat=repeat,
        status="errors" if full else "ok",
        attempts=1,
        started_at=STARTED + repeat,
        seconds=2.5,
        reason="ENOSPC" if full else "",
        job=job,
    )


def info(
    targets: tuple[str, ...], question: str, path: str, planned: int, repeats: int, ceilings: tuple[Ceiling, ...] = ()
) -> PricedRun:
    """Where and how the made-up run took place."""
    kinds = {"disk": ("ext4", False, "/dev/vda"), "memory": ("tmpfs", True, None)}
    places = []
    for target in targets:
        filesystem, in_memory, device = kinds.get(target, ("xfs", False, "/dev/vdb"))
        places.append(
            TargetPlace(
                target=target,
                kind="file",
                path="/dev/shm/assay-sample" if in_memory else path,
                filesystem=filesystem,
                memory_backed=in_memory,
                direct_bypasses_cache=not in_memory,
                free_bytes=21_474_836_480,
                device=device,
                limits=("O_DIRECT is accepted, but the data stays in memory",) if in_memory else (),
            )
        )
    return PricedRun(
        id="20261118-124640-sample",
        folder="/home/ada/assay-runs/20261118-124640-sample",
        study="sample",
        study_text=STUDY.format(question=question),
        question=question,
        description="A made-up run that the tests of the report share.",
        status="complete with errors",
        created_at=STARTED,
        finished_at=STARTED + 171,
        seed=7,
        order="random",
        repeats=repeats,
        command="assay run study.yaml",
        versions={"assay": "0.1.0", "assay-engine": "0.1.0", "engine_sha256": "9f2c" * 16, "study_sha256": "07ab" * 16},
        environment={
            "system": {"host": "bench-1", "kernel": "Linux 6.1.0-28-amd64", "distribution": "Debian GNU/Linux 12"},
            "processor": {"model": "AMD EPYC 7B13", "logical processors": "8", "governor": "not readable: no cpufreq"},
            "memory": {"total": "16.4 GiB", "transparent huge pages": "madvise"},
        },
        places=tuple(places),
        ceilings=ceilings,
        planned=planned,
        finished=planned,
    )


@cache
def sample_run(
    question: str = "Local disk or memory-backed scratch, for which kind of work?", seed: int = 1
) -> RunAnalysis:
    """The run most tests look at."""
    plan: list[tuple[str, tuple[str, ...], Parameters, dict[str, Any]]] = [
        ("grid", OPERATIONS, Parameters(file_size=f, record_size=r, queue_depth=4), {"file_size": f, "record_size": r})
        for f in FILE_SIZES
        for r in RECORD_SIZES
    ]
    plan += [
        (
            "depth",
            ("random_read",),
            Parameters(file_size=64 * MIB, record_size=4 * KIB, queue_depth=d),
            {"queue_depth": d},
        )
        for d in DEPTHS
    ]
    plan.append(
        ("cached", ("read",), Parameters(file_size=64 * MIB, record_size=64 * KIB, cache="keep", queue_depth=4), {})
    )
    return build(plan, ("disk", "memory"), seed, question)


def hostile_run() -> RunAnalysis:
    """Names that try to break out of the page."""
    evil = "<script>alert(1)</script>"
    plan: list[tuple[str, tuple[str, ...], Parameters, dict[str, Any]]] = [
        ("</script><b>", ("read", "write"), Parameters(file_size=f, record_size=r), {"file_size": f, "record_size": r})
        for f in FILE_SIZES[:2]
        for r in RECORD_SIZES
    ]
    names = (f"--> {evil}", "\"'><img src=x onerror=alert(2)> $x$")
    return build(plan, names, 3, f"Is {evil} & <i>that</i> fast?", path=f"/tmp/{evil}")


def big_run(cases: int) -> RunAnalysis:
    """Many cases on one target over a long sweep of two axes."""
    side = math.isqrt(cases)
    plan: list[tuple[str, tuple[str, ...], Parameters, dict[str, Any]]] = [
        (
            "sweep",
            ("read",),
            Parameters(file_size=MIB * (1 + i), record_size=4 * KIB * (1 + j)),
            {"file_size": MIB * (1 + i), "record_size": 4 * KIB * (1 + j)},
        )
        for i in range(side)
        for j in range(side)
    ]
    return build(plan, ("disk",), 5, "How far does it scale?", ops=12)
