"""How operations reach the kernel, found out once for a run."""

from typing import Literal

from assay.model.frozen import Frozen

Direction = Literal["read", "create", "overwrite"]
"""Reads; writes of what is not there yet; writes over what is there, also where reads are between them."""


class MethodChoice(Frozen):
    """What `method: auto` means for one kind of case at one target, in all repeats and on all hosts.

    Attributes:
        record_size: Bytes of an operation.
        queue_depth: Operations that a lane keeps in flight; 2 or more.
        direct: With O_DIRECT.
        sync: As in a study.
        preallocate: As in a study.
        method: `io_uring` or `threads`.
        reason: Why, in words.
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
