"""The rows of a run's database as values."""

from dataclasses import dataclass, field

from assay.model.result.result import Place
from assay.model.study.blocks import Blocks


@dataclass(frozen=True)
class RunMeta:
    """What is known of a run before it starts; times in seconds since 1970.

    Attributes:
        repeats: Repeats of each case; with `repeats_within` the greatest number of them.
        base: Directory where the study's relative target paths start.
        repeats_within: As in `RunInfo`; likewise what else begins with `repeats_`, and `blocks`.
    """

    id: str
    study: str
    question: str
    description: str
    created_at: float
    seed: int
    order: str
    repeats: int
    command: str
    base: str = "/"
    versions: dict[str, str] = field(default_factory=dict)
    environment: dict[str, dict[str, str]] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    repeats_within: float | None = None
    repeats_decide: float | None = None
    repeats_least: int | None = None
    repeats_time: float | None = None
    blocks: Blocks | None = None


@dataclass(frozen=True)
class Attempt:
    """One start of the engine for one repeat.

    Attributes:
        status: `started` while it runs and for ever if the workbench died; else as in JobRecord.
        seconds: None as long as it has not ended.
    """

    id: int
    case: str
    repeat: int
    started_at: float
    seconds: float | None
    status: str
    reason: str
