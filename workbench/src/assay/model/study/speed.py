"""The assumed speed of a kind of target until it is measured."""

from typing import NamedTuple


class Speed(NamedTuple):
    """The figures that an estimate needs.

    Attributes:
        bandwidth: Bytes per second.
        operation: Seconds of one operation that reaches the storage.
        change: Seconds to change a name; the change is written back later, or by the flush.
        parallel: Number of operations in flight up to which the rate grows.
        words: What the figures represent; empty if there is no storage.
    """

    bandwidth: float
    operation: float
    change: float
    parallel: float
    words: str
