"""The influence of the machine on the results of a run."""

from pydantic import Field

from assay.model.frozen import Frozen

WAIT_SHARE = 0.1
"""Share of time that lanes waited for a CPU, or that the hypervisor took from the CPUs; above it the machine is to
blame."""


class ControlReading(Frozen):
    """One control measurement: short jobs without storage, between two repeats.

    Attributes:
        at: Its middle, in seconds since 1970.
        rates: Part of the control (`assay.plan.controls`) -> operations per second.
        seconds: Its duration.
        lane_ns: Time of all lanes that worked without pause, added up.
        wait_ns: Part of `lane_ns` in which lanes were ready but had no CPU; None if the kernel does not report it.
        watched_ns: Time in which the engines checked whether they were scheduled; 0 if they did not.
        away_ns: Part of `watched_ns` in which they were not run although no other thread had the CPU; None if the
            kernel does not report it.
    """

    at: float
    rates: dict[str, float]
    seconds: float = 0.0
    lane_ns: int = 0
    wait_ns: int | None = None
    watched_ns: int = 0
    away_ns: int | None = None


class ExplainedVariance(Frozen):
    """How much of the variance between repeats the control explains.

    Attributes:
        share: Share of the variance of a typical result, from 0 to 1, less what chance would explain.
        low: Lower bound of the true share, in 95 of 100 such runs.
        p: Probability that chance explains as much.
        slopes: Part of the control -> standard deviations by which a result changes if its rate changes by a factor e;
            `got`: the same for the share of the requested CPU time that lanes received.
    """

    share: float
    low: float
    p: float
    slopes: dict[str, float]


class Controls(Frozen):
    """What the controls of a run and the repeats next to them show.

    Attributes:
        readings: In order of time.
        control_deviation: Part of the control -> standard deviation of the logarithm of its rate.
        result_deviation: Standard deviation of the logarithm of a typical result's rate between repeats (median of all
            results); None without two repeats.
        wait_share: Share of the control's time in which its lanes waited for a CPU; None if the kernel does not report
            it.
        stolen_share: Share of the CPU time that the hypervisor took during repeats; None if the kernel does not report
            it.
        stolen_error: Error bound of `stolen_share`: the kernel counts in ticks of 10 ms, for each CPU.
        away_share: Share of the watched time in which the engine was not run although no other thread had the CPU; None
            if not reported.
        longest_ns: Longest observed stall.
        explained: How much of the variance the control explains; None if that cannot be determined.
        unexplained_reason: Why `explained` is None; else empty.
    """

    readings: tuple[ControlReading, ...]
    control_deviation: dict[str, float] = Field(default_factory=dict)
    result_deviation: float | None = None
    wait_share: float | None = None
    stolen_share: float | None = None
    stolen_error: float = 0.0
    away_share: float | None = None
    longest_ns: int = 0
    explained: ExplainedVariance | None = None
    unexplained_reason: str = ""


class MachineFinding(Frozen):
    """The verdict on the machine, one for a run: something other than the storage influenced its results.

    Attributes:
        text: What was observed, with its numbers.
        remedy: What to do about it, in one sentence.
        explained: Share of the variance between repeats that the control explains, from 0 to 1; None if that cannot be
            determined.
        explained_low: Lower bound of that share.
        rows: Number of results with findings that the machine caused.
    """

    text: str
    remedy: str
    explained: float | None = None
    explained_low: float | None = None
    rows: int = 0
