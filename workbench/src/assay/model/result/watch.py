"""Stalls of the engine: times at which it was due but was not run."""

from pydantic import Field

from assay.model.frozen import Frozen


class Watch(Frozen):
    """Wake-up delays of an engine thread that only sleeps until each point of a time grid.

    The thread is late if the process was stopped, the hypervisor ran another machine, or all allowed CPUs were busy;
    storage never makes it late. Source of the method: Gil Tene, jHiccup.

    Attributes:
        interval_ns: Distance of the grid points.
        elapsed_ns: Length of the observation; for several hosts added up, as are `stalled_ns` and `away_ns`.
        lateness: `p50`, `p99` and `max` -> nanoseconds, over all grid points: a point within a stall counts with the
            rest of the stall (no coordinated omission).
        stalls: Number of delays until after the next grid point.
        stalled_ns: Total of these delays.
        longest_ns: Longest stall.
        away_ns: Part of `stalled_ns` in which no other thread had its CPU: the process was stopped, or the CPU itself
            was not running; None if the kernel does not report it.
    """

    interval_ns: int
    elapsed_ns: int
    lateness: dict[str, float] = Field(default_factory=dict)
    stalls: int = 0
    stalled_ns: int = 0
    longest_ns: int = 0
    away_ns: int | None = None
