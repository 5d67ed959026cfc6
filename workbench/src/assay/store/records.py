"""The rows of a run's database as values."""

from dataclasses import dataclass

from assay.model.result.run import RunHead


class RunMeta(RunHead):
    """What is known of a run before it starts.

    Attributes:
        base: Directory where the study's relative target paths start.
    """

    base: str = "/"


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
