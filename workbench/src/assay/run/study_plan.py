"""The plan of a run: what is to be measured, before anything is touched."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.secret import redact_command
from assay.model.source import YamlSource
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.study import Study
from assay.model.units import about_duration, about_number, about_size
from assay.plan.estimate import StudyEstimate

if TYPE_CHECKING:
    from assay.launch.binary import Engine
    from assay.model.money.priced_designs import FrozenPrices
    from assay.model.study.blocks import Blocks
    from assay.plan.schedule import RepeatKey
    from assay.store import RunMeta


@dataclass(frozen=True)
class Plan:
    """A study without problems, and its cases.

    Attributes:
        text: The study file, unchanged.
        source: The position of each value in it.
        path: Path of the file, as given on the command line. Names of other files in it are relative to its folder.
        cases: All cases, in plan order.
        excluded: Points that the study leaves out, or that are optional and cannot be done on this machine.
        prices: Prices of the designs that its targets stand for; None if it names none.
        blocks: How its two sides are measured in turns; None if it compares none.
        engines: Target -> the engine that measures there, if it is not this workbench's. All these targets are one
            place.
    """

    study: Study
    text: str
    source: YamlSource
    path: Path
    cases: tuple[Case, ...]
    excluded: tuple[ExcludedPoint, ...]
    prices: "FrozenPrices | None" = None
    blocks: "Blocks | None" = None
    engines: "Mapping[str, Engine]" = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The path of the study file, for messages."""
        return str(self.path)

    @property
    def folder(self) -> Path:
        """The folder of the study file."""
        return self.path.absolute().parent

    @property
    def order(self) -> "tuple[RepeatKey, ...]":
        """All repeats in the order of execution."""
        from assay.plan.blocks import block_order, pairs_of
        from assay.plan.schedule import timetable

        if self.blocks is None:
            return timetable(self.study, self.cases).order
        pairs = pairs_of(self.cases, self.blocks.base, self.blocks.other)
        return block_order(pairs, self.blocks.max_rounds, self.study.seed)

    @property
    def twins(self) -> tuple[str, ...]:
        """Targets that share the place of another one."""
        return tuple(self.engines)[1:]

    @property
    def places(self) -> list[str]:
        """Names of the targets that are used, each place once."""
        from assay.run.places.targets import used_targets

        return [name for name in used_targets(self.study, self.cases) if name not in self.twins]


def estimate_text(estimate: StudyEstimate, cases: int, repeats: str) -> str:
    """Return one line on how long the study will take and how much it will write and read."""
    about = "about" if estimate.min_seconds == estimate.seconds else "up to about"
    return (
        f"{cases} case{'s' * (cases != 1)} x {repeats}: {estimate.time_text}, "
        f"writes {about} {about_size(estimate.written)}, reads {estimate.read_summary(f'{about} ')}"
        f"{estimate.requests_text}"
    )


def uncounted_text(cases: Sequence[Case]) -> str:
    """Return that the bytes of an estimate are without those of programs; empty if the cases run none."""
    return ", not counting what the commands read and write" if any(case.group == "programs" for case in cases) else ""


def prediction_text(plan: Plan, estimate: StudyEstimate) -> str:
    """Return `estimate_text` of a plan; for a plan with two sides, the number and length of their rounds."""
    from assay.analyse.blocks import USUAL_DEVIATION, detectable_difference

    blocks, cases = plan.blocks, len(plan.cases)
    if blocks is None:
        return estimate_text(estimate, cases, plan.study.repeating.words) + uncounted_text(plan.cases)
    seconds = sum(case.seconds for case in estimate.cases)
    rounds = f"{blocks.min_rounds} to {blocks.max_rounds} rounds of about {about_duration(seconds)}"
    until = f"until all differences are decided, or for {about_duration(blocks.seconds)}"
    count = max(blocks.min_rounds, min(blocks.max_rounds, int(blocks.seconds / max(seconds, 1e-3))))
    rows = max(1, sum(len(case.operations) for case in plan.cases) // 2)
    least = max(blocks.within, detectable_difference(USUAL_DEVIATION, count, rows, len(blocks.looks)))
    percent = about_number(100 * least, 2)
    sensitivity = (
        f"if rounds differ by {100 * USUAL_DEVIATION:.0f} %, a difference of about {percent} % or more can be detected"
    )
    return f"{cases // 2} case{'s' * (cases != 2)} on each side, {rounds}, {until}; {sensitivity}"


def new_run_meta(plan: Plan) -> "RunMeta":
    """Return the id of a new run of a study, and what is known of it before it begins."""
    from assay.store import RunMeta, new_run_id

    study, now = plan.study, time.time()
    repeating, blocks = study.repeating, plan.blocks
    least = repeating.min if repeating.is_adaptive else None
    return RunMeta(
        id=new_run_id(study.name, now),
        study=study.name,
        question=study.question,
        description=study.description,
        created_at=now,
        seed=study.seed,
        order=study.order,
        repeats=study.repeats,
        repeats_within=repeating.within,
        repeats_decide=repeating.decide,
        repeats_min=least if blocks is None else blocks.min_rounds,
        repeats_time=None if repeating.time is None else repeating.time / 1e9,
        blocks=blocks,
        needs=study.needs,
        command=redact_command(["assay", *sys.argv[1:]]),
        base=str(Path.cwd()),
        folder=str(plan.folder),
    )
