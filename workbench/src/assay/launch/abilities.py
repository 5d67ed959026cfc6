"""What this machine can do of the cases that a study calls optional, asked before a run is made."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.launch.cgroup import limit_fault
from assay.model.case import Case, Excluded
from assay.model.study import Study

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
RULE = "cannot be done here"
"""Rule of the points that are left out because the machine cannot do them."""


def drop_fault() -> str | None:
    """Why the host's page cache cannot be dropped; None if it can be."""
    # access(2) is not enough: for root it says yes even where a container forbids it, so the file is opened.
    try:
        os.close(os.open(DROP_CACHES, os.O_WRONLY | os.O_CLOEXEC))
    except OSError as error:
        return f"the page cache cannot be dropped: {DROP_CACHES}: {error.strerror}"
    return None


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
    checks: dict[str, Callable[[], str | None]] = {"drop": drop_fault, "limit": limit_fault}
    faults = {policy: fault for policy, check in checks.items() if policy in asked and (fault := check())}
    kept: list[Case] = []
    left_out: list[Excluded] = []
    for case in cases:
        fault = faults.get(case.parameters.cache) if case.workload in optional else None
        if fault is None:
            kept.append(case)
            continue
        left_out.append(Excluded(target=case.target, workload=case.workload, axes=case.axes, rule=RULE, reason=fault))
    return tuple(kept), tuple(left_out)
