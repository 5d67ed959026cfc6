"""What this machine can do of what a study asks for beside its targets, found out before a run is made."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from assay.launch.binary import find_mpi_engine
from assay.launch.cgroup import limit_fault
from assay.model.base import AssayError
from assay.model.site.cpus import cpu_numbers
from assay.model.source import Fault
from assay.model.study.case import Case, Excluded
from assay.model.study.parameters import Parameters
from assay.model.study.study import Study

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
RULE = "cannot be done here"
"""Rule of the points that are left out because the machine cannot do them."""


def drop_fault() -> str | None:
    """Why the host's page cache cannot be dropped; None if it can be."""
    # access(2) is not enough: for root it says yes even where a container forbids it, so the file is opened.
    try:
        os.close(os.open(DROP_CACHES, os.O_WRONLY | os.O_CLOEXEC))
    except OSError as error:
        why = "that needs root" if error.errno in (errno.EACCES, errno.EPERM) and os.geteuid() else error.strerror
        return f"the page cache cannot be dropped: {DROP_CACHES}: {why}"
    return None


def tuning_faults(cases: Iterable[Case]) -> list[Fault]:
    """CPUs, NUMA nodes and huge pages that cases ask for and this machine does not have, each thing once."""
    asked = dict.fromkeys((case.workload, case.parameters) for case in cases)
    found = {
        Fault(path=("workloads", workload, field), message=message, hint=hint): None
        for workload, parameters in asked
        for field, message, hint in tuning_problems(parameters)
    }
    return list(found)


def tuning_problems(parameters: Parameters, sysfs: Path = Path("/sys")) -> Iterator[tuple[str, str, str]]:
    """CPUs, NUMA node and huge pages that a case asks for and this machine does not have: (field, message, hint)."""
    usable = os.sched_getaffinity(0)
    missing = [cpu for cpu in cpu_numbers(parameters.cpus) if cpu not in usable] if parameters.cpus else []
    if missing:
        named = ", ".join(str(cpu) for cpu in missing[:8])
        message = f"there is no CPU {named}, or this process may not use it"
        yield "cpus", message, f"usable are {_listed(sorted(usable))}"
    node = parameters.numa_node
    if node is not None and not (sysfs / "devices/system/node" / f"node{node}").exists():
        yield "numa_node", f"this machine has no node {node}", "`lscpu` names them"
    reserved = [path.read_text().strip() for path in (sysfs / "kernel/mm/hugepages").glob("*/nr_hugepages")]
    if parameters.huge_pages and not any(int(count) for count in reserved):
        yield "huge_pages", "none are reserved on this machine", "reserve some: sysctl vm.nr_hugepages=64"


def _listed(numbers: Sequence[int]) -> str:
    """Such as `0-3,6`."""
    ends = [number for number in numbers if number + 1 not in numbers]
    starts = [number for number in numbers if number - 1 not in numbers]
    return ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in zip(starts, ends, strict=True))


_HINTS = {
    "drop": "run as root, or use cache: evict or direct; with optional: true the workload is left out",
    "limit": "give this user a memory cgroup, or use cache: direct; with optional: true the workload is left out",
}
_CHECKS: dict[str, Callable[[], str | None]] = {"drop": lambda: drop_fault(), "limit": lambda: limit_fault()}


def impossible_faults(study: Study, cases: Sequence[Case]) -> list[Fault]:
    """What workloads that are not optional ask of this machine and it cannot do; nothing where hosts do the work."""
    if not study.local:
        return []
    asked = {
        (case.workload, case.parameters.cache)
        for case in cases
        if not study.workloads[case.workload].optional and study.targets[case.target].through_kernel
    }
    faults = {policy: check() for policy, check in _CHECKS.items() if any(policy == cache for _, cache in asked)}
    return [
        Fault(
            path=("workloads", workload, "cache"),
            message=f"cache: {policy} cannot be done: {fault}",
            hint=_HINTS[policy],
        )
        for workload, policy in sorted(asked)
        if (fault := faults.get(policy))
    ]


def mpi_faults(study: Study, cases: Iterable[Case]) -> list[Fault]:
    """That the engine which is linked to an MPI is missing, if a case needs it: once."""
    behind = next((case.target for case in cases if study.targets[case.target].through_mpi), None)
    if behind is None:
        return []
    try:
        find_mpi_engine()
    except AssayError as error:
        return [
            Fault(path=("targets", behind), message=f"it is reached through MPI, and {error.message}", hint=error.hint)
        ]
    return []


def leave_out_impossible(study: Study, cases: Sequence[Case]) -> tuple[tuple[Case, ...], tuple[Excluded, ...]]:
    """Part the cases of a study into those that can be done and, of its optional workloads, those that cannot.

    Args:
        study: Tells which workloads are optional; a case of another one is kept, and refused later if need be.
        cases: All of them.

    Returns:
        The cases to do, with their ids as they were, and the points left out with the reason.
    """
    optional = {name for name, workload in study.workloads.items() if workload.optional}
    asked = {case.parameters.cache for case in cases if case.workload in optional}
    faults = {policy: fault for policy, check in _CHECKS.items() if policy in asked and (fault := check())}
    kept: list[Case] = []
    left_out: list[Excluded] = []
    for case in cases:
        fault = faults.get(case.parameters.cache) if case.workload in optional else None
        if fault is None:
            kept.append(case)
            continue
        left_out.append(Excluded(target=case.target, workload=case.workload, axes=case.axes, rule=RULE, reason=fault))
    return tuple(kept), tuple(left_out)
