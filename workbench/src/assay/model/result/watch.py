"""What the engine saw of itself: when it was not run although it was due."""

from pydantic import Field

from assay.model.frozen import Frozen


class Watch(Frozen):
    """How late a thread of the engine woke that asked to be woken on a grid of time; it has nothing else to do.

    It is late when the process was stopped, when the hypervisor ran another machine, or when all CPUs that it may use
    were busy; no storage makes it late. Source of the method: Gil Tene, jHiccup.

    Attributes:
        interval_ns: Distance of the points of the grid.
        elapsed_ns: How long it watched; of several hosts added up, as `stalled_ns` and `away_ns` are.
        lateness: `p50`, `p99` and `max` -> nanoseconds, over all points of the grid: one that passed in a stall counts
            with what was left of it (no coordinated omission).
        stalls: How often it was so late that the next point had come.
        stalled_ns: How late it was then, added up.
        longest_ns: Longest stall.
        away_ns: Of `stalled_ns` that in which it did not wait for a CPU that ran something else: the process was
            stopped, or the CPU itself was not there; None if the kernel does not tell.
    """

    interval_ns: int
    elapsed_ns: int
    lateness: dict[str, float] = Field(default_factory=dict)
    stalls: int = 0
    stalled_ns: int = 0
    longest_ns: int = 0
    away_ns: int | None = None
