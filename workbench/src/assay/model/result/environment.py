"""How the environments of two runs differ."""

from assay.model.frozen import Frozen


class EnvironmentDifference(Frozen):
    """One thing that two captured environments do not have in common.

    Attributes:
        section: Such as `kernel` or `target disk`.
        name: Such as `release`.
        before: Its text in the first environment; None if that one does not have it.
        after: Its text in the second one; None if that one does not have it.
        matters: Such a difference commonly changes results.
    """

    section: str
    name: str
    before: str | None
    after: str | None
    matters: bool
