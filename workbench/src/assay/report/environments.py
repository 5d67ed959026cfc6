"""The environment of a run in words, and the differences between those of two runs."""

import re
from collections.abc import Mapping, Sequence

from assay.model.result.environment import EnvironmentDifference
from assay.report import numbers
from assay.report.document import Column, Table

_UNITS = {"bytes": 1, "KiB": 1024}
_AMOUNT = re.compile(rf"\b([0-9]+) ({'|'.join(_UNITS)})\b")
_IN_BYTES = re.compile(r"([a-z_]+_)?bytes")
"""Names of items whose values are bytes; kernel settings, whose names have a dot, are left unchanged."""


def readable_values(values: Mapping[str, str]) -> dict[str, str]:
    """Return the items of a section with bytes in the largest unit that fits: `23.5 GiB`, not `24684084 KiB`."""
    return {name: _readable(name, value) for name, value in values.items()}


def _readable(name: str, value: str) -> str:
    if _IN_BYTES.fullmatch(name) and value.isdecimal():
        return numbers.size(int(value))
    return _AMOUNT.sub(lambda found: numbers.size(int(found[1]) * _UNITS[found[2]]), value)


def _both(item: EnvironmentDifference) -> tuple[str, str]:
    """Return both values in readable units, or unchanged where readable units would hide the difference."""
    values = item.before or "not recorded", item.after or "not recorded"
    before, after = (_readable(item.name, value) for value in values)
    return values if before == after else (before, after)


def differences_table(
    differences: Sequence[EnvironmentDifference], names: tuple[str, str] = ("Before", "After"), caption: str = ""
) -> Table:
    """Return a table with a row for each difference.

    Args:
        differences: The differences to show.
        names: Titles of the two runs.
        caption: Text below the table.
    """
    columns = (
        Column("Matters", is_filter=True, is_detail=True),
        Column("Section", is_filter=True),
        *map(Column, ("Name", *names)),
    )
    rows = tuple(
        (
            "yes" if item.matters else "no",
            item.section,
            item.name,
            *_both(item),
        )
        for item in differences
    )
    return Table("environment-table", columns, rows, caption, is_interactive=len(rows) > 8)
