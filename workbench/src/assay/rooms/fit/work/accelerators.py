"""How much of the time accelerators compute, if they use data as fast as a place delivered it."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.rooms.fit.model.profile import Accelerator


class Delivery(NamedTuple):
    """What was read in an interval.

    Attributes:
        seconds: Its length.
        bytes: What was read in it.
    """

    seconds: float
    bytes: float


def course_of(intervals: Iterable[tuple[int, int, int]], elapsed_ns: int) -> list[Delivery]:
    """Return what was read over a whole phase.

    The engine reports no interval in which no operation ended: those are intervals in which nothing was read.

    Args:
        intervals: Start and end since the start of the phase in nanoseconds, and bytes, in order of time.
        elapsed_ns: Length of the phase.
    """
    course, reached = [], 0
    for start, end, read_bytes in intervals:
        if start > reached:
            course.append(Delivery((start - reached) / 1e9, 0.0))
        course.append(Delivery((end - start) / 1e9, float(read_bytes)))
        reached = end
    if elapsed_ns > reached:
        course.append(Delivery((elapsed_ns - reached) / 1e9, 0.0))
    return course


def busy_share(deliveries: Iterable[Delivery], accelerator: Accelerator, count: int) -> float:
    """Return the share of the time in which the accelerators compute, from 0 to 1.

    Readers fill a buffer of `prefetch` batches for each accelerator, as fast as the place delivered in each interval,
    and stop while it is full. Accelerators take from it what their step time and batch demand, and wait while it is
    empty. It starts empty. That is the accelerator utilisation of MLPerf Storage: the time of computing over the whole
    time (docs/method.md, Requirements).

    Args:
        deliveries: Intervals of a phase in which readers never waited for accelerators.
        accelerator: How one of them uses data.
        count: Number of accelerators.
    """
    demand_per_s = accelerator.bytes_per_s * count
    room = float(accelerator.prefetch * accelerator.batch * accelerator.sample * count)
    buffer = used = wanted = 0.0
    for seconds, delivered in deliveries:
        demand = demand_per_s * seconds
        taken = min(demand, buffer + delivered)
        buffer = min(room, buffer + delivered - taken)
        used, wanted = used + taken, wanted + demand
    return used / wanted if wanted else 0.0
