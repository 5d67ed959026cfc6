"""Tables as typed pandas data frames."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.model.base import AssayError
from assay.model.result.result import RunAnalysis
from assay.report.tables import FlatColumn, FlatTable

if TYPE_CHECKING:
    import pandas as pd

    from assay.store import RunStore

_TYPES = {"integer": "Int64", "number": "float64", "boolean": "boolean", "text": "string"}
"""Kind of a column -> pandas type."""
CATEGORY_COLUMNS = frozenset(
    ("case", "target", "workload", "operation", "verdict", "status", "binding_ceiling", "base", "other", "outcome")
)
"""Columns of names that recur; they get the type `category`."""
_SERIES = ("case", "operation")


def load_pandas() -> Any:
    """Import and return pandas.

    Raises:
        AssayError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise AssayError(
            f"data frames need pandas, which cannot be loaded: {error}", "pip install 'assay[notebook]'"
        ) from None
    return pandas


def table_frame(table: FlatTable) -> "pd.DataFrame":
    """Return a table as a data frame with typed columns; missing values are NA, in floating-point columns NaN.

    Raises:
        AssayError: pandas is not installed.
    """
    return _frame(table.columns, table.records)


def _frame(columns: Sequence[FlatColumn], records: Sequence[Any]) -> "pd.DataFrame":
    pd = load_pandas()
    values = {
        column.name: pd.Series([record[column.name] for record in records], dtype=_type(column)) for column in columns
    }
    return pd.DataFrame(values)


def _type(column: FlatColumn) -> str:
    return "category" if column.name in CATEGORY_COLUMNS else _TYPES[column.kind]


def decisions_frame(analysis: RunAnalysis) -> "pd.DataFrame":
    """Return a row for each point of each decision; each axis of the study is a column.

    Raises:
        AssayError: pandas is not installed.
    """
    points = [(decision, point) for decision in analysis.decisions for point in decision.points]
    axes = dict.fromkeys(name for _, point in points for name in point.axes)
    records = [
        {
            "workload": decision.workload,
            "operation": decision.operation,
            "base": decision.base,
            "other": decision.other,
            **{name: point.axes.get(name) for name in axes},
            "outcome": str(point.outcome),
            "faster": point.winner or None,
            "at_least": point.at_least if point.winner else None,
            "ratio": point.ratio,
            "within_share": point.within,
            "why": point.why,
        }
        for decision, point in points
    ]
    name_columns = [FlatColumn(name, "text", "") for name in ("workload", "operation", "base", "other")]
    axis_columns = [FlatColumn(name, _kind([record[name] for record in records]), "") for name in axes]
    outcome_columns = [FlatColumn(name, "text", "") for name in ("outcome", "faster")]
    number_columns = [FlatColumn(name, "number", "") for name in ("at_least", "ratio", "within_share")]
    return _frame(
        [*name_columns, *axis_columns, *outcome_columns, *number_columns, FlatColumn("why", "text", "")], records
    )


def _kind(values: Sequence[Any]) -> Any:
    """Return the column kind, such as `integer`, that fits all values of a swept parameter."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in present):
        return "boolean"
    if all(isinstance(value, int) and not isinstance(value, bool) for value in present):
        return "integer"
    return "number" if all(isinstance(value, int | float) for value in present) else "text"


def series_frame(store: "RunStore") -> "pd.DataFrame":
    """Return a row for each interval of each repeat.

    Raises:
        AssayError: pandas is not installed, or the run is damaged.
    """
    from assay.run.series import run_rows
    from assay.store.series import COLUMNS
    from assay.terminal.output import note

    pd = load_pandas()
    rows = list(run_rows(store, note))
    types = {name: "category" if name in _SERIES else "Int64" for name in COLUMNS}
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype=kind) for name, kind in types.items()})
