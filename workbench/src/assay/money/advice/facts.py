"""What a rule of thumb looks at, and what it may answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from assay.model.money.advice import Check, Figure, Remark
from assay.model.money.design import Design
from assay.model.money.need import Need
from assay.money.advice.candidates import Variant

NFS_PAPER, BEEGFS_PAPER, AWS_PAPER = "NFS-2016", "BeeGFS-2016", "AWS-2012"
AOE_PAPER, ARRAY_PAPER = "AoE-2007", "PowerScale-2020"

PARALLEL = frozenset({"beegfs", "orangefs", "pvfs2", "fsx-lustre", "lustre"})
"""Families of file systems that spread files over several servers."""


@dataclass(frozen=True)
class Facts:
    """What a rule looks at.

    Attributes:
        figures: Metric -> what is expected of the variant.
        measured_clients: The most clients of its evidence that fits the need; 0: none.
    """

    variant: Variant
    need: Need
    figures: Mapping[str, Figure]
    measured_clients: int = 0

    @property
    def design(self) -> Design:
        """Of the variant."""
        return self.variant.design

    def measured(self, metric: str) -> bool:
        """Evidence knows this figure."""
        return metric in self.figures and self.figures[metric].basis == "measured"

    @cached_property
    def storing(self) -> int:
        """Servers that hold the data, rented or one's own; at least 1.

        Of one's own those pieces that are servers; of what is not called so, what carries data, or holds them.
        """
        rented = sum(group.count for group in self.design.servers if group.role == "storage")
        pieces = [piece for piece in self.design.hardware if "server" in piece.item]
        pieces = pieces or [piece for piece in self.design.hardware if piece.rack_units and piece.read is not None]
        pieces = pieces or [piece for piece in self.design.hardware if piece.usable]
        return max(1, rented + sum(piece.count for piece in pieces))

    @property
    def copied(self) -> bool:
        """A copy of what matters is kept elsewhere, or snapshots of all of it are."""
        return self.need.archive or self.need.snapshots >= self.need.capacity


Said = Check | Remark


def excluded(requirement: str, rule: str, text: str, source: str, share: float | None = None) -> Check:
    """A requirement that fails; the share of it that is there is at most 1."""
    return Check(
        requirement=requirement,
        outcome="failed",
        share=None if share is None else min(share, 1.0),
        text=text,
        rule=rule,
        source=source,
    )
