#!/usr/bin/env python3
"""What a thousand engines cost their controller, and whether what it makes of them is all of them.

Engines without storage do a job together: in groups that are one host each, as with `tasks_per_host`. What the
controller uses is told by getrusage(2) of this process alone: CPU time and greatest resident memory. With `--single`
each engine is a host of its own, which is the dearest that there can be. Beside it, the engines of one group are heard
one by one, too, and their histograms pooled by HdrHistogram: percentiles must be those that come out of the group.

    .venv/bin/python bench/many/run.py --engines 1000 --groups 40
"""

from __future__ import annotations

import argparse
import json
import resource
import stat
import sys
import tempfile
import time
from pathlib import Path

from hdrh.histogram import HdrHistogram

from assay.contract._generated import Job, Operation, Phase
from assay.contract.messages import PhaseEndEvent
from assay.contract.reader import read_events
from assay.launch.binary import find_engine
from assay.launch.group import GroupOutcome, Member, run_group
from assay.launch.launcher import LocalLauncher, engine_arguments
from assay.plan.jobs import joint_job, rank_job

SECOND = 10**9
PERCENTILES = (50, 90, 99, 99.9, 99.99)
CORES, MEMORY = 2.0, 10**9
"""What must hold: less than so many CPUs and so many bytes."""


def job_of(groups: int, each: int, seconds: int) -> Job:
    """A job in which each operation takes about 20 ms, so that many engines fit on few CPUs."""
    target = {"kind": "null", "latency": {"distribution": "exponential", "mean_ns": 20_000_000}}
    phase = Phase(operation=Operation.write, runtime_ns=seconds * SECOND)
    job = Job.model_validate(
        {
            "spec_version": 2,
            "id": "many",
            "target": target,
            "lanes": each,
            "file_size_bytes": 1 << 30,
            "record_size_bytes": 4096,
            "phases": [phase.model_dump(mode="json", exclude_none=True)],
        }
    )
    # More engines than CPUs: some may not be heard of for long.
    return joint_job(job, groups).model_copy(update={"lease_ns": 60 * SECOND})


def execute(job: Job, groups: int, each: int, engine: Path) -> GroupOutcome:
    """The job in so many groups of so many engines."""
    launcher = LocalLauncher(engine)
    arguments = engine_arguments(each)
    members = [
        Member(f"group{rank}", launcher, rank_job(job, rank).model_dump_json(), arguments) for rank in range(groups)
    ]
    return run_group(members, 300)


def end_of(text: str) -> PhaseEndEvent:
    """The end of the phase."""
    return next(event for event in read_events(text.splitlines()) if isinstance(event, PhaseEndEvent))


def pooled(folder: Path, each: int, engine: Path) -> bool:
    """Whether a group's percentiles are those of its engines' operations pooled; prints both."""
    program = folder / "engine"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = relay ]; then shift; exec {engine} relay --engine "$0" "$@"; fi\n'
        f'{engine} "$@" | tee {folder}/said.$$\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    outcome = execute(job_of(1, each, 2), 1, each, program)
    told = end_of(outcome.parts[0].events).operations[0].latency
    parts = [end_of(file.read_text()).operations[0].latency for file in folder.glob("said.*")]
    assert told is not None and len(parts) == each
    sum_of = HdrHistogram(1, 1 << 42, 3)
    for part in parts:
        assert part is not None
        sum_of.add(HdrHistogram.decode(part.histogram.encode()))
    merged = HdrHistogram.decode(told.histogram.encode())
    rows = [
        (f"p{percent:g}", merged.get_value_at_percentile(percent), sum_of.get_value_at_percentile(percent))
        for percent in PERCENTILES
    ]
    rows.append(("count", merged.get_total_count(), sum_of.get_total_count()))
    for name, one, other in rows:
        print(f"  {name:8} merged {one:>12,}   pooled {other:>12,}")
    return all(one == other for _, one, other in rows)


def main() -> int:
    """Exit code 1 if something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=40)
    parser.add_argument("--single", action="store_true", help="each engine is a host of its own")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    groups = given.engines if given.single else given.groups
    if given.engines % groups:
        parser.error(f"{given.engines} engines cannot be shared out evenly among {groups} groups")
    each = given.engines // groups
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    engine = find_engine()
    before, begun = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    outcome = execute(job_of(groups, each, given.seconds), groups, each, engine)
    used, elapsed = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - begun
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    memory = used.ru_maxrss * 1024
    ends = [end_of(part.events) for part in outcome.parts if part.status == "ok"]
    lanes = sum(len(end.lanes) for end in ends)
    skew = max((end.start_skew_ns for end in ends), default=0)
    found = {
        "engines": given.engines,
        "groups": groups,
        "status": outcome.status,
        "reason": outcome.reason,
        "lanes": lanes,
        "operations": sum(part.ops for end in ends for part in end.operations),
        "seconds": elapsed,
        "cpu_seconds": cpu,
        "cpus": cpu / elapsed,
        "memory_bytes": memory,
        "skew_in_a_group_ns": skew,
    }
    if given.json:
        print(json.dumps(found))
    else:
        print(f"{given.engines} engines in {groups} groups: {outcome.status} {outcome.reason}")
        print(f"  {lanes} lanes ended, {found['operations']:,} operations; skew in a group {skew / 1e6:.1f} ms at most")
        print(
            f"  the controller: {cpu:.1f} s of CPU in {elapsed:.1f} s, {cpu / elapsed:.2f} CPUs;"
            f" {memory / 1e6:.0f} MB at most"
        )
    same = True
    if not given.single:
        with tempfile.TemporaryDirectory() as folder:
            same = pooled(Path(folder), each, engine)
    holds = outcome.status == "ok" and lanes == given.engines and cpu / elapsed < CORES and memory < MEMORY and same
    print("holds" if holds else "does not hold")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
