"""What tests of several engines that do one job share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from run_tools import ENGINE

from assay.analyse.ranks import Rank, samples_from_ranks
from assay.analyse.samples import sort_events
from assay.contract._generated import Job
from assay.contract.reader import read_events
from assay.launch.group import GroupOutcome, Member
from assay.launch.launcher import LocalLauncher
from assay.model.result.sample import Sample
from assay.plan.jobs import rank_job

MS = 1_000_000
HOUR = 3600 * 1000 * MS
"""In ns: a phase that no test waits for to end."""
GUARD = 600.0
"""Seconds of silence after which an engine counts as hung."""


def job(**fields: Any) -> Job:
    base: dict[str, Any] = {
        "spec_version": 2,
        "id": "together",
        "target": {"kind": "null", "latency": {"distribution": "fixed", "ns": MS}},
        "lanes": 2,
        "file_size_bytes": 1 << 20,
        "record_size_bytes": 4096,
        "interval_ns": 50 * MS,
        "phases": [{"operation": "read"}, {"operation": "write", "runtime_ns": 300 * MS}],
    }
    return Job.model_validate({**base, **fields})


def members(whole: Job, change: Callable[[int, Job], Job] = lambda _, one: one) -> list[Member]:
    launcher = LocalLauncher(Path(ENGINE))
    return [
        Member(f"h{rank + 1}", launcher, change(rank, rank_job(whole, rank)).model_dump_json())
        for rank in range(whole.ranks or 1)
    ]


def samples(done: GroupOutcome) -> tuple[Sample, ...]:
    ranks = [
        Rank(part.host, part.offset_ns, part.uncertainty_ns, sort_events(read_events(part.events.splitlines())))
        for part in done.parts
    ]
    return samples_from_ranks("c", 1, ranks)
