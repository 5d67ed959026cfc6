"""What a rule of thumb looks at, and what it may answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.model.money.advice import Check, Figure, Remark
from assay.model.money.design import Design
from assay.model.money.need import Need
from assay.money.advice.candidates import Variant


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


Said = Check | Remark
