"""What is to be measured, before anything is touched."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.source import Source
from assay.model.study.case import Case, Excluded
from assay.model.study.study import Study

if TYPE_CHECKING:
    from assay.launch.binary import Engine
    from assay.model.money.priced import FrozenPrices
    from assay.model.study.blocks import Blocks
    from assay.plan.schedule import Job


@dataclass(frozen=True)
class Plan:
    """A study without problems, and what follows from it.

    Attributes:
        text: Its file as it is.
        source: Where each value stands in it.
        path: Of the file, as given on the command line. Names of other files in it start where it is.
        cases: All cases, in plan order.
        excluded: Points that the study leaves out, or that are optional and cannot be done on this machine.
        prices: Of the designs that its targets stand for; None if it names none.
        blocks: How its two sides are measured in turns; None if it is no comparison.
        engines: Target -> the engine that measures there, if it is not the one of this workbench. All these targets
            are one place.
    """

    study: Study
    text: str
    source: Source
    path: Path
    cases: tuple[Case, ...]
    excluded: tuple[Excluded, ...]
    prices: "FrozenPrices | None" = None
    blocks: "Blocks | None" = None
    engines: "Mapping[str, Engine]" = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Its name for messages."""
        return str(self.path)

    @property
    def folder(self) -> Path:
        """Where the file is."""
        return self.path.absolute().parent

    @property
    def order(self) -> "tuple[Job, ...]":
        """All repeats in the order of execution."""
        from assay.plan.blocks import block_order, pairs_of
        from assay.plan.schedule import timetable

        if self.blocks is None:
            return timetable(self.study, self.cases).order
        pairs = pairs_of(self.cases, self.blocks.base, self.blocks.other)
        return block_order(pairs, self.blocks.most, self.study.seed)

    @property
    def twins(self) -> tuple[str, ...]:
        """Targets that are the place of another one."""
        return tuple(self.engines)[1:]

    @property
    def places(self) -> list[str]:
        """Names of the targets that are used, each place once."""
        from assay.run.targets import used_targets

        return [name for name in used_targets(self.study, self.cases) if name not in self.twins]
