"""What may grow in a study: hosts, tasks and lanes; and whether the work of each, or the total work, is constant."""

from collections.abc import Mapping
from typing import Literal, cast

from assay.model.study.parameters import Parameters

WorkScaling = Literal["weak", "strong", ""]
"""weak: the work of each is constant; strong: the total work is constant; empty: neither."""

GROWING_AXES = ("hosts", "tasks_per_host", "lanes", "streams")
"""Axes along which workers are added."""
WORK_TOLERANCE = 0.01
"""Amounts that differ by at most this share count as equal: work is shared out in whole records."""


def work_scaling(parameters: Mapping[int, Parameters]) -> WorkScaling:
    """Return how the amounts of work scale.

    Args:
        parameters: Number of hosts, tasks or lanes -> parameters of the case with that number.
    """
    amounts = {number: work_amount(item) for number, item in parameters.items()}
    if not amounts or not all(amounts.values()):
        return ""
    if max(amounts.values()) <= (1 + WORK_TOLERANCE) * min(amounts.values()):
        return "strong"
    each = [amount / number for number, amount in amounts.items()]
    return "weak" if max(each) <= (1 + WORK_TOLERANCE) * min(each) else ""


def work_amount(parameters: Parameters) -> float:
    """Return the work of one pass of a phase: bytes of files, or number of files, objects or tasks; 0 if unknown."""
    if (tasks := parameters.get_value("tasks")) is not None:
        return float(cast("int", tasks))
    if not all(parameters.has(name) for name in ("lanes", "hosts", "file_size")):
        return 0.0
    if parameters.get_value("objects") is not None:
        return float(parameters.all_objects)
    if parameters.get_value("record_size") is None:
        return float(parameters.all_files)
    return float(parameters.data_set_bytes)
