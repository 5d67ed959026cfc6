"""The input of a rule of thumb, and its results."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from assay.model.money.design import Design
from assay.model.money.priced_designs import DesignEvidence, RecoveryMetric
from assay.rooms.advice.model.advice import ExpectedFigure, Remark, RequirementCheck
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.candidates import Variant
from assay.rooms.advice.work.traffic import Side, leaving_side, paid_by_request

NFS_PAPER, BEEGFS_PAPER, AWS_PAPER = "NFS-2016", "BeeGFS-2016", "AWS-2012"
AOE_PAPER, ARRAY_PAPER = "AoE-2007", "PowerScale-2020"

PARALLEL = frozenset({"beegfs", "orangefs", "pvfs2", "fsx-lustre", "lustre"})
"""Families of file systems that spread files over several servers."""


@dataclass(frozen=True)
class RuleInput:
    """The input of a rule.

    Attributes:
        figures: Metric -> what is expected of the variant.
        measured_clients: The most clients of its evidence that fits the need; 0: none.
        recovery: Evidence of what replications of it have measured.
    """

    variant: Variant
    need: Need
    figures: Mapping[str, ExpectedFigure]
    measured_clients: int = 0
    recovery: tuple[DesignEvidence, ...] = ()

    def slowest_recovery(self, metric: RecoveryMetric) -> DesignEvidence | None:
        """Return the evidence with the longest time of a metric; None without any."""
        found = [item for item in self.recovery if item.metric == metric]
        return max(found, key=lambda item: item.measured.high, default=None)

    @cached_property
    def design(self) -> Design:
        """Design of the variant."""
        return self.variant.design

    def is_measured(self, metric: str) -> bool:
        """Return whether a figure is measured."""
        return metric in self.figures and self.figures[metric].basis == "measured"

    @cached_property
    def storage_server_count(self) -> int:
        """Number of servers that hold the data, rented or owned; at least 1.

        Owned hardware counts if it is called a server, but not of metadata; otherwise rack hardware with a read rate;
        otherwise what has capacity.
        """
        rented = sum(group.count for group in self.design.servers if group.role == "storage")
        pieces = [piece for piece in self.design.hardware if "server" in piece.item and "metadata" not in piece.item]
        pieces = pieces or [piece for piece in self.design.hardware if piece.rack_units and piece.read is not None]
        pieces = pieces or [piece for piece in self.design.hardware if piece.usable]
        return max(1, rented + sum(piece.count for piece in pieces))

    @property
    def leaving(self) -> Side | None:
        """Which traffic leaves the cloud; None: none of it must."""
        return leaving_side(self.need, self.design, self.design.provider or self.variant.prices.provider)

    @property
    def pays_for_traffic(self) -> bool:
        """Whether the bill depends on what is read or written."""
        is_derived = self.need.monthly.egress is None and self.leaving is not None
        return is_derived or paid_by_request(self.design)

    @property
    def has_copy(self) -> bool:
        """Whether a copy of the important data, or snapshots of all data, exist elsewhere; not on the same hardware."""
        return self.need.archive or (self.need.snapshots >= self.need.capacity and not self.design.hardware)


RuleResult = RequirementCheck | Remark


def failed_check(requirement: str, rule: str, text: str, source: str, share: float | None = None) -> RequirementCheck:
    """Return the check of a requirement that fails; `share` is the part of it that is met, capped at 1."""
    return RequirementCheck(
        requirement=requirement,
        outcome="failed",
        share=None if share is None else min(share, 1.0),
        text=text,
        rule=rule,
        source=source,
    )
