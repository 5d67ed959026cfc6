"""What a kind of place is assumed to do, until it is measured."""

from typing import NamedTuple


class Speed(NamedTuple):
    """Attributes as an estimate needs them.

    Attributes:
        bandwidth: Bytes per second.
        operation: Seconds of one operation that reaches the place.
        change: Seconds to change a name; what is changed is written back later, or by the flush.
        parallel: Operations that help when in flight together.
        words: What it stands for; empty where there is no storage.
    """

    bandwidth: float
    operation: float
    change: float
    parallel: float
    words: str
