"""The stages of a run that is taken step by step."""

from typing import Literal

from assay.model.frozen import Frozen


class StageDone(Frozen):
    """A stage that was measured.

    Attributes:
        axis: What grows from stage to stage.
        value: How many there were.
        ended_at: Seconds since 1970.
        efficiency: Least efficiency against the first stage, of every kind of work; None where nothing tells it.
        seconds: That the run had taken by then, all sessions together.
        cost: What the designs had cost by then, with the currency; empty without prices.
        lines: What came out, in words.
        accepted_by: User and host; empty as long as nobody has accepted it.
        accepted_at: Seconds since 1970; None likewise.
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
