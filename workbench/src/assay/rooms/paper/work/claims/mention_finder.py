"""Finds all that a sentence speaks of; what is looked for is built once from the facts."""

from assay.rooms.paper.work.claims.facts import FactIndex
from assay.rooms.paper.work.claims.mention_axes import AxisFinder
from assay.rooms.paper.work.claims.mention_names import NameFinder
from assay.rooms.paper.work.claims.mention_operations import OperationFinder


class MentionFinder:
    """Finds mentions in sentences.

    Attributes:
        names: Finds targets, workloads and runs.
        operations: Finds operations, outside of names.
        axes: Finds values of axes, with their quantities.
    """

    def __init__(self, facts: FactIndex) -> None:
        """Build the patterns of the names that the runs have."""
        self.names = NameFinder(facts).names
        self.operations = OperationFinder(facts).operations
        self.axes = AxisFinder(facts).axes
