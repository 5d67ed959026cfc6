"""Differences between the environments of two runs."""

from assay.model.frozen import Frozen

INSTANCES = "instances"
"""Section of the environment with the instance of each host that is one of a stack."""


class EnvironmentDifference(Frozen):
    """One item that differs between two recorded environments.

    Attributes:
        section: Section, such as `kernel` or `target disk`.
        name: Name, such as `release`.
        before: Its text in the first environment; None if missing there.
        after: Its text in the second environment; None if missing there.
        matters: Differences of this kind commonly change results.
    """

    section: str
    name: str
    before: str | None
    after: str | None
    matters: bool
