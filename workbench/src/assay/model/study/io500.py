"""The workloads of a study that correspond to the phases of IO500."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
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
    Source("ior-easy-write", "ior-easy", "write", True, True),
    Source("mdtest-easy-write", "mdtest-easy", "create", False, True),
    Source("ior-hard-write", "ior-hard", "write", True, True),
    Source("mdtest-hard-write", "mdtest-hard", "create", False, True),
    Source("find", "", "", False),
    Source("ior-easy-read", "ior-easy", "read", True),
    Source("mdtest-easy-stat", "mdtest-easy", "stat", False),
    Source("ior-hard-read", "ior-hard", "read", True),
    Source("mdtest-hard-stat", "mdtest-hard", "stat", False),
    Source("mdtest-easy-delete", "mdtest-easy", "unlink", False),
    Source("mdtest-hard-read", "mdtest-hard-read", "read", False),
    Source("mdtest-hard-delete", "mdtest-hard", "unlink", False),
)
"""In the order in which IO500 runs and reports them."""
NEEDED = frozenset(source.workload for source in PHASES if source.workload)
"""Workloads that an IO500 study has."""


def is_io500(workloads: Iterable[str]) -> bool:
    """Whether a study has all workloads of IO500."""
    return set(workloads) >= NEEDED
