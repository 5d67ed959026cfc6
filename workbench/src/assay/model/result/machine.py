"""What the machine had to do with the results of a run."""

from pydantic import Field

from assay.model.frozen import Frozen

WAIT_SHARE = 0.1
"""Time of lanes without a CPU, or of the host's CPUs taken by the hypervisor: with more it is the machine's doing."""


class Reading(Frozen):
    """One control: short jobs without storage, between two repeats.

    Attributes:
        at: Its middle, seconds since 1970.
        rates: Part of the control (`assay.plan.controls`) -> operations per second.
        seconds: What it took.
        lane_ns: Time of all lanes that worked without pause.
        wait_ns: Of it that in which they were ready to run but had no CPU; None if the kernel does not tell.
        watched_ns: For how long the engines watched whether they were run; 0 if they did not.
        away_ns: Of it that in which they were not run though no CPU was taken; None if the kernel does not tell.
    """

    at: float
    rates: dict[str, float]
    seconds: float = 0.0
    lane_ns: int = 0
    wait_ns: int | None = None
    watched_ns: int = 0
    away_ns: int | None = None


class Explained(Frozen):
    """How much of the variance between repeats goes with the control.

    Attributes:
        share: Of the variance of a typical result, from 0 to 1, what chance would show taken off.
        low: The true share is at least this, in 95 of 100 such runs.
        p: That so much goes with the control by chance.
        slopes: Part of the control -> standard deviations of a result for a change of its rate by a factor e; `got`:
            likewise for what lanes got of the CPU time that they asked for.
    """

    share: float
    low: float
    p: float
    slopes: dict[str, float]


class Controls(Frozen):
    """What the controls of a run show, and the repeats beside them.

    Attributes:
        readings: In order of time.
        moved: Part of the control -> standard deviation of the logarithm of its rate.
        store_moved: The same of a typical result from repeat to repeat (the median of all); None without two repeats.
        waited: Share of the control's time in which its lanes waited for a CPU; None if the kernel does not tell.
        stolen: Share of the CPU time that the hypervisor took during repeats; None if the kernel does not tell.
        stolen_error: That is right within this: the kernel counts in ticks of 10 ms, for each CPU.
        away: Share of all watched time in which the engine was not run though no CPU was taken; None as above.
        longest_ns: Longest stall that was watched.
        explained: What of the variance goes with the control; None if that cannot be told.
        untold: Why not; empty if it can.
    """

    readings: tuple[Reading, ...]
    moved: dict[str, float] = Field(default_factory=dict)
    store_moved: float | None = None
    waited: float | None = None
    stolen: float | None = None
    stolen_error: float = 0.0
    away: float | None = None
    longest_ns: int = 0
    explained: Explained | None = None
    untold: str = ""


class MachineFinding(Frozen):
    """The verdict on the machine, once for a run: something else than the storage had a part in its results.

    Attributes:
        text: What was seen, with its numbers.
        remedy: What to do about it, in one sentence.
        explained: Share of the variance between repeats that goes with the control, from 0 to 1; None if that cannot be
            told.
        explained_low: It is at least this.
        rows: Results that have findings which are the machine's.
    """

    text: str
    remedy: str
    explained: float | None = None
    explained_low: float | None = None
    rows: int = 0
