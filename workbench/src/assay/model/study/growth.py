"""What may grow in a study: hosts, tasks and lanes; and whether the work of each, or of all, stays the same."""

from collections.abc import Mapping
from typing import Literal

from assay.model.study.parameters import Parameters

Work = Literal["weak", "strong", ""]
"""weak: what each does stays the same; strong: what all do together stays the same; empty: neither."""

GROWING = ("hosts", "tasks_per_host", "lanes", "streams")
"""Axes along which something is added that works."""
SAME_WORK = 0.01
"""What is shared out in whole records is the same up to this share."""


def work_of(parameters: Mapping[int, Parameters]) -> Work:
    """What the amounts of work are to each other.

    Args:
        parameters: Number of hosts, tasks or lanes -> what is done with so many.
    """
    amounts = {number: amount_of(item) for number, item in parameters.items()}
    if not amounts or not all(amounts.values()):
        return ""
    if max(amounts.values()) <= (1 + SAME_WORK) * min(amounts.values()):
        return "strong"
    each = [amount / number for number, amount in amounts.items()]
    return "weak" if max(each) <= (1 + SAME_WORK) * min(each) else ""


def amount_of(parameters: Parameters) -> float:
    """What a phase has to do once: bytes of the files, or number of files or objects; 0 where nobody has told it."""
    if not all(parameters.tells(name) for name in ("lanes", "hosts", "file_size")):
        return 0.0
    if parameters.known("objects") is not None:
        return float(parameters.all_objects)
    if parameters.known("record_size") is None:
        return float(parameters.all_files)
    return float(parameters.data_set_bytes)
