"""How operations reach the kernel, determined once for a run."""

from typing import Literal

from assay.model.frozen import Frozen

Direction = Literal["read", "create", "overwrite"]
"""Reads; writes to new space; overwrites of existing data, also if mixed with reads."""


class MethodChoice(Frozen):
    """The meaning of `method: auto` for one kind of case at one target, in all repeats and on all hosts.

    Attributes:
        record_size: Bytes of one operation.
        queue_depth: Operations in flight for each lane; 2 or more.
        direct: O_DIRECT is used.
        sync: As in a study.
        preallocate: As in a study.
        method: `io_uring` or `threads`.
        reason: Why this method, in words.
    """

    target: str
    record_size: int
    queue_depth: int
    direct: bool
    sync: str
    preallocate: bool
    direction: Direction
    method: str
    reason: str
