"""Weak and strong scaling: what each lane has to do when hosts, tasks or lanes are added."""

from collections.abc import Mapping
from typing import Any


def shared_out(values: Mapping[str, Any]) -> int:
    """Bytes of each file of a workload that says `total_size`.

    Of a shared file that is all of it. Of a file for each lane it is the lane's part in whole records: what is left
    over, less than a record for each lane, is done by nobody.

    Args:
        values: Parameter -> value.
    """
    total: int = values["total_size"]
    if values["layout"] == "shared":
        return total
    record: int = values["record_size"] or 1
    lanes: int = values["lanes"] * values["hosts"]
    return total // lanes // record * record
