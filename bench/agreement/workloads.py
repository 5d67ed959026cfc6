"""The work, as data, and how each tool is told to do it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import Contender, Done, Sample, Setting, Step, Steps
from peers import assay, fio

CALL = "syscalls:sys_enter_io_uring_enter"
"""What perf counts: calls with which operations are handed over, or waited for, or both."""


ASSAY_BATCH = 8
"""Assay hands over so many operations in a call with O_DIRECT, or a quarter of the depth."""


@dataclass(frozen=True)
class Variant:
    """fio told to do the same in another way, to see what that way is worth."""

    key: str
    label: str
    batch: int


@dataclass(frozen=True)
class Workload:
    """One kind of work on the one file, with O_DIRECT through io_uring."""

    key: str
    title: str
    operation: str
    """Assay's word."""
    rw: str
    """fio's word."""
    record: int
    depth: int
    variants: tuple[Variant, ...] = ()
    twin: str = ""
    """Key of the same work with buffers in huge pages."""
    huge: bool = False
    """Both keep their buffers in huge pages (MAP_HUGETLB), so that 1 MiB lies in one piece of memory."""


WORKLOADS = [
    Workload(
        "read-1",
        "Random reads of 4 KiB, one in flight",
        "random_read",
        "randread",
        4096,
        1,
    ),
    Workload(
        "read-32",
        "Random reads of 4 KiB, 32 in flight",
        "random_read",
        "randread",
        4096,
        32,
        (
            Variant("fio-batch-1", "fio, 1 at a time (its default)", 1),
            Variant("fio-batch-32", "fio, up to 32 at a time", 32),
        ),
    ),
    Workload(
        "sequential-read",
        "Sequential reads of 1 MiB, one in flight",
        "read",
        "read",
        1 << 20,
        1,
        twin="huge-read",
    ),
    Workload(
        "sequential-write",
        "Sequential writes of 1 MiB, one in flight",
        "rewrite",
        "write",
        1 << 20,
        1,
        twin="huge-write",
    ),
    Workload(
        "huge-read",
        "Sequential reads of 1 MiB, buffers in huge pages",
        "read",
        "read",
        1 << 20,
        1,
        huge=True,
    ),
    Workload(
        "huge-write",
        "Sequential writes of 1 MiB, buffers in huge pages",
        "rewrite",
        "write",
        1 << 20,
        1,
        huge=True,
    ),
]
HUGE_PAGES = 16
"""Of 2 MiB, for both tools one after the other."""
NR_HUGE_PAGES = Path("/proc/sys/vm/nr_hugepages")


@contextlib.contextmanager
def huge_pages() -> Iterator[None]:
    """So many are reserved meanwhile, where this process may; where not, a run that needs them says so."""
    before = None
    with contextlib.suppress(OSError, ValueError):
        before = int(NR_HUGE_PAGES.read_text())
        NR_HUGE_PAGES.write_text(str(max(before, HUGE_PAGES)))
    try:
        yield
    finally:
        if before is not None:
            with contextlib.suppress(OSError):
                NR_HUGE_PAGES.write_text(str(before))


def by_assay(work: Workload, size: int = assay.GIB) -> Contender:
    """The work as a job of Assay."""

    def job(setting: Setting) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "file_size_bytes": size,
            "record_size_bytes": work.record,
            "seed": setting.seed,
        }
        fields |= {"queue_depth": work.depth, "method": "io_uring", "direct": True}
        fields |= {"keep_files": True, "reuse_files": True}
        fields |= {"tuning": {"huge_pages": True}} if work.huge else {}
        return assay.job(
            assay.file_target(setting.disk, "data"),
            [assay.timed(work.operation, setting)],
            **fields,
        )

    def parse(done: Done) -> Sample:
        sample = assay.one_phase(done)
        # It has one latency only: from before submission.
        return derived(sample | {"clat_p50_us": sample["p50_us"]}, work.depth)

    return assay.runs(job, parse)


def by_fio(work: Workload, size: int = assay.GIB, batch: int | None = None, key: str = "fio") -> Contender:
    """The work as a job of fio, which hands over up to `batch` operations in a call; none: as Assay."""
    batch = min(work.depth, max(ASSAY_BATCH, work.depth // 4)) if batch is None else batch

    def words(setting: Setting) -> list[str]:
        base = [
            f"--filename={setting.file}",
            f"--size={size >> 20}m",
            "--invalidate=0",
            f"--rw={work.rw}",
        ]
        base += [
            f"--bs={work.record >> 10}k",
            "--direct=1",
            "--ioengine=io_uring",
            f"--iodepth={work.depth}",
        ]
        base += [
            "--registerfiles=1",
            "--fixedbufs=1",
            "--randrepeat=0",
            f"--randseed={setting.seed}",
        ]
        base += [
            "--lat_percentiles=1",
            "--clat_percentiles=1",
            "--percentile_list=50:99",
        ]
        base += ["--iomem=mmaphuge"] if work.huge else []
        if batch > 1:
            base += [f"--iodepth_batch_submit={batch}"]
            base += [
                "--iodepth_batch_complete_min=1",
                f"--iodepth_batch_complete_max={work.depth}",
            ]
        if "write" in work.rw:
            base += ["--end_fsync=1"]
        return [*base, *fio.timed(setting)]

    def steps(setting: Setting) -> Steps:
        side = "write" if "write" in work.rw else "read"
        argv = [setting.tool("fio"), *fio.BASE, *words(setting)]
        yield Step(argv, lambda done: derived(fio.figures(done, side), work.depth))

    return Contender(key, key, steps, overhead=fio.START_UP)


def derived(sample: Sample, depth: int) -> Sample:
    """With the time of an operation, which is depth / rate, and what of it is outside the latency."""
    whole = depth * 1e6 / sample["ops_per_s"]
    outside = whole - sample["mean_us"]
    return sample | {
        "op_us": whole,
        "outside_us": outside,
        "p50_all_us": sample["p50_us"] + outside,
    }


def counted(contender: Contender) -> Contender:
    """The same under perf, which counts its calls of io_uring_enter."""

    def steps(setting: Setting) -> Steps:
        (step,) = contender.steps(setting)
        counts = setting.memory / "calls"
        words = [
            "stat",
            "-x,",
            "-o",
            str(counts),
            "-e",
            CALL,
            "-e",
            CALL,
            "--filter",
            "to_submit > 0",
            "--",
        ]

        def parse(done: Done) -> Sample:
            ops = step.parse(done)["ops"]
            calls, handing = read_counts(counts)
            return {"calls_per_op": calls / ops, "ops_per_call": ops / handing}

        yield Step([setting.tool("perf"), *words, *step.argv], parse, job=step.job)

    return Contender(contender.key, contender.label, steps)


def read_counts(file: Path) -> tuple[int, int]:
    """All calls, and those that hand over something."""
    lines = [line.split(",") for line in file.read_text().splitlines() if CALL in line]
    calls, handing = (int(words[0]) for words in lines)
    return calls, handing
