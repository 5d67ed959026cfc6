"""What differs between the environments of two runs."""

from collections.abc import Sequence

from assay.model.result.environment import EnvironmentDifference
from assay.report.document import Column, Table


def differences_table(
    differences: Sequence[EnvironmentDifference], names: tuple[str, str] = ("Before", "After"), caption: str = ""
) -> Table:
    """A row for each item.

    Args:
        differences: Those to be shown.
        names: What the two runs are called.
        caption: What else is to be said.
    """
    columns = (
        Column("Matters", facet=True, detail=True),
        Column("Section", facet=True),
        *map(Column, ("Name", *names)),
    )
    rows = tuple(
        (
            "yes" if item.matters else "no",
            item.section,
            item.name,
            item.before or "not recorded",
            item.after or "not recorded",
        )
        for item in differences
    )
    return Table("environment-table", columns, rows, caption, interactive=len(rows) > 8)
