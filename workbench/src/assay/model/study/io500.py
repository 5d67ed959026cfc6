"""The workloads of a study that correspond to the phases of IO500."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class PhaseSource:
    """The location of an IO500 phase in a study.

    Attributes:
        name: IO500's name of the phase.
        workload: Name of the workload; empty for a phase that the study lacks.
        operation: Operation of the workload.
        bandwidth: It is rated in bytes per second, not operations per second.
        writes: It ends at the stonewall.
    """

    name: str
    workload: str
    operation: str
    bandwidth: bool
    writes: bool = False


PHASES = (
    PhaseSource("ior-easy-write", "ior-easy", "write", True, True),
    PhaseSource("mdtest-easy-write", "mdtest-easy", "create", False, True),
    PhaseSource("ior-hard-write", "ior-hard", "write", True, True),
    PhaseSource("mdtest-hard-write", "mdtest-hard", "create", False, True),
    PhaseSource("find", "", "", False),
    PhaseSource("ior-easy-read", "ior-easy", "read", True),
    PhaseSource("mdtest-easy-stat", "mdtest-easy", "stat", False),
    PhaseSource("ior-hard-read", "ior-hard", "read", True),
    PhaseSource("mdtest-hard-stat", "mdtest-hard", "stat", False),
    PhaseSource("mdtest-easy-delete", "mdtest-easy", "unlink", False),
    PhaseSource("mdtest-hard-read", "mdtest-hard-read", "read", False),
    PhaseSource("mdtest-hard-delete", "mdtest-hard", "unlink", False),
)
"""In the order in which IO500 runs and reports them."""
IO500_WORKLOADS = frozenset(source.workload for source in PHASES if source.workload)
"""Workloads that an IO500 study has."""


def is_io500(workloads: Iterable[str]) -> bool:
    """Whether a study has all workloads of IO500."""
    return set(workloads) >= IO500_WORKLOADS
