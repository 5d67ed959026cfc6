"""Which workloads of a study are the phases of IO500."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where a phase is in a study.

    Attributes:
        name: IO500's name of the phase.
        workload: The workload of a study that has it.
        operation: The operation of it.
        bandwidth: It counts by bytes, not by operations.
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
"""In the order in which the benchmark runs and tells them."""
NEEDED = frozenset(source.workload for source in PHASES if source.workload)
"""Workloads that a study of IO500 has."""


def is_io500(workloads: Iterable[str]) -> bool:
    """A study has all of IO500's workloads."""
    return set(workloads) >= NEEDED
