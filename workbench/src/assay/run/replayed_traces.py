"""The traces that a run replays: which one it was at the beginning, and where hosts have it."""

from collections.abc import Mapping
from typing import NamedTuple

from assay.contract._generated import Job
from assay.contract.bounds import replay_of
from assay.launch.binary import Engine
from assay.launch.traces import ensure_trace, trace_contents
from assay.model.base import EXIT_REFUSED, AssayError, PrintLine
from assay.run.fleet import Fleet
from assay.run.study_plan import Plan
from assay.store import RunStore


class PlacedTrace(NamedTuple):
    """A trace as engines find it: its path on every host, and the SHA-256 that it must have."""

    path: str
    sha256: str


def place_traces(
    plan: Plan, engine: Engine, fleet: Fleet, store: RunStore, print_line: PrintLine
) -> dict[str, PlacedTrace]:
    """Return path on this machine -> the trace on the hosts, where it is copied unless they have it.

    Raises:
        AssayError: A trace cannot be replayed, is another one than when the run began, or cannot be copied.
    """
    found: dict[str, PlacedTrace] = {}
    for case in plan.cases:
        replay = plan.study.workloads[case.workload].replay
        if replay is None or replay.replay.path in found:
            continue
        path = replay.replay.path
        sha256 = trace_contents(engine, path).sha256
        before = next((one.job["target"]["sha256"] for one in store.jobs(case.id)), sha256)
        if before != sha256:
            message = f"{path}: its SHA-256 is {sha256}; it was {before} when the run began"
            raise AssayError(message, "get the trace back, or start a new run", EXIT_REFUSED)
        found[path] = PlacedTrace(_path_on_hosts(fleet, path, sha256, print_line), sha256)
    return found


def _path_on_hosts(fleet: Fleet, path: str, sha256: str, print_line: PrintLine) -> str:
    """Return the path of a trace that is the same on all hosts, after it was copied there."""
    if fleet.is_local:
        return path
    places = {shell.host.name: ensure_trace(shell, path, sha256) for shell in fleet.shells}
    first, place = next(iter(places.items()))
    for host, other in places.items():
        if other != place:
            message = f"{path}: hosts have it at different paths: {place} on {first}, {other} on {host}"
            raise AssayError(message, "log in as the same user on all hosts, or set XDG_CACHE_HOME there", EXIT_REFUSED)
    if place != path:
        print_line(f"{path} is at {place} on all hosts")
    return place


def with_trace(job: Job, traces: Mapping[str, PlacedTrace]) -> Job:
    """Return a job with its trace as the hosts have it; one that replays none stays as it is."""
    target = replay_of(job)
    if target is None or target.trace not in traces:
        return job
    placed = traces[target.trace]
    return job.model_copy(update={"target": target.model_copy(update={"trace": placed.path, "sha256": placed.sha256})})
