"""The stages of a run that is taken step by step."""

from typing import Literal

from assay.model.frozen import Frozen


class MeasuredStage(Frozen):
    """A measured stage.

    Attributes:
        axis: The quantity that grows from stage to stage.
        value: Its value in this stage.
        ended_at: Seconds since 1970.
        efficiency: Lowest efficiency against the first stage, over every kind of work; None if unknown.
        seconds: Duration of the run until then, all sessions together.
        cost: Cost of the designs until then, with the currency; empty without prices.
        lines: Results in words.
        accepted_by: User and host; empty until the stage is accepted.
        accepted_at: Seconds since 1970; None until the stage is accepted.
        accepted_how: `asked on a terminal`, `by the study's rule`, `by going on`.
    """

    axis: Literal["hosts", "tasks_per_host", "lanes", "streams"]
    value: int
    ended_at: float
    efficiency: float | None
    seconds: float
    cost: str
    lines: tuple[str, ...]
    accepted_by: str = ""
    accepted_at: float | None = None
    accepted_how: str = ""
