"""Checks, before a run, that this machine can do what a study requires in addition to its targets."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from assay.launch.binary import find_mpi_engine
from assay.launch.cgroup import memory_cap_fault
from assay.model.base import AssayError
from assay.model.site.cpus import cpu_numbers
from assay.model.source import FieldFault
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.parameters import Parameters
from assay.model.study.study import Study

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
RULE = "not supported on this machine"
"""Name of the rule by which points are left out that this machine cannot measure."""


def drop_caches_fault() -> str | None:
    """Return why the host's page cache cannot be dropped; None if it can be."""
    # access(2) is not enough: for root it succeeds even where a container forbids the write, so the file is opened.
    try:
        os.close(os.open(DROP_CACHES, os.O_WRONLY | os.O_CLOEXEC))
    except OSError as error:
        why = "that needs root" if error.errno in (errno.EACCES, errno.EPERM) and os.geteuid() else error.strerror
        return f"the page cache cannot be dropped: {DROP_CACHES}: {why}"
    return None


def tuning_faults(cases: Iterable[Case]) -> list[FieldFault]:
    """Return the faults of CPUs, NUMA nodes and huge pages that cases require and this machine lacks, each once."""
    pairs = dict.fromkeys((case.workload, case.parameters) for case in cases)
    faults = {
        FieldFault(path=("workloads", workload, field), message=message, hint=hint): None
        for workload, parameters in pairs
        for field, message, hint in tuning_problems(parameters)
    }
    return list(faults)


def tuning_problems(parameters: Parameters, sysfs: Path = Path("/sys")) -> Iterator[tuple[str, str, str]]:
    """Yield what a case requires of CPUs, NUMA node and huge pages and this machine lacks: (field, message, hint)."""
    usable = os.sched_getaffinity(0)
    missing = [cpu for cpu in cpu_numbers(parameters.cpus) if cpu not in usable] if parameters.cpus else []
    if missing:
        named = ", ".join(str(cpu) for cpu in missing[:8])
        message = f"there is no CPU {named}, or this process may not use it"
        yield "cpus", message, f"usable are {_ranges(sorted(usable))}"
    node = parameters.numa_node
    if node is not None and not (sysfs / "devices/system/node" / f"node{node}").exists():
        yield "numa_node", f"this machine has no node {node}", "`lscpu` names them"
    reserved = [path.read_text().strip() for path in (sysfs / "kernel/mm/hugepages").glob("*/nr_hugepages")]
    if parameters.huge_pages and not any(int(count) for count in reserved):
        yield "huge_pages", "none are reserved on this machine", "reserve some: sysctl vm.nr_hugepages=64"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as ranges, such as `0-3,6`."""
    ends = [number for number in numbers if number + 1 not in numbers]
    starts = [number for number in numbers if number - 1 not in numbers]
    return ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in zip(starts, ends, strict=True))


_HINTS = {
    "drop": "run as root, or use cache: evict or direct; with optional: true the workload is left out",
    "limit": "give this user a memory cgroup, or use cache: direct; with optional: true the workload is left out",
}
_CHECKS: dict[str, Callable[[], str | None]] = {
    "drop": lambda: drop_caches_fault(),
    "limit": lambda: memory_cap_fault(),
}


def cache_policy_faults(study: Study, cases: Sequence[Case]) -> list[FieldFault]:
    """Return faults of cache policies that mandatory workloads need and this machine lacks; none if hosts do it."""
    if not study.is_local:
        return []
    needed = {
        (case.workload, case.parameters.cache)
        for case in cases
        if not study.workloads[case.workload].optional and study.targets[case.target].through_kernel
    }
    faults = {policy: check() for policy, check in _CHECKS.items() if any(policy == cache for _, cache in needed)}
    return [
        FieldFault(
            path=("workloads", workload, "cache"),
            message=f"cache: {policy} is not possible: {fault}",
            hint=_HINTS[policy],
        )
        for workload, policy in sorted(needed)
        if (fault := faults.get(policy))
    ]


def mpi_faults(study: Study, cases: Iterable[Case]) -> list[FieldFault]:
    """Return one fault if a case needs the engine that is linked to an MPI and it is missing; else none."""
    target = next((case.target for case in cases if study.targets[case.target].through_mpi), None)
    if target is None:
        return []
    try:
        find_mpi_engine()
    except AssayError as error:
        return [
            FieldFault(
                path=("targets", target), message=f"it is reached through MPI, and {error.message}", hint=error.hint
            )
        ]
    return []


def exclude_unavailable(study: Study, cases: Sequence[Case]) -> tuple[tuple[Case, ...], tuple[ExcludedPoint, ...]]:
    """Split the cases of a study into those to do and those of optional workloads that this machine cannot do.

    Args:
        study: The study; says which workloads are optional. Cases of the others are kept, and may be refused later.
        cases: All its cases.

    Returns:
        The cases to do, with their ids unchanged, and the points that are left out, with the reason.
    """
    optional = {name for name, workload in study.workloads.items() if workload.optional}
    policies = {case.parameters.cache for case in cases if case.workload in optional}
    faults = {policy: fault for policy, check in _CHECKS.items() if policy in policies and (fault := check())}
    possible: list[Case] = []
    left_out: list[ExcludedPoint] = []
    for case in cases:
        fault = faults.get(case.parameters.cache) if case.workload in optional else None
        if fault is None:
            possible.append(case)
            continue
        left_out.append(
            ExcludedPoint(target=case.target, workload=case.workload, axes=case.axes, rule=RULE, reason=fault)
        )
    return tuple(possible), tuple(left_out)
