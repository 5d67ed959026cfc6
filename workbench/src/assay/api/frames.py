"""Tables as data frames of pandas, with types."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.model.base import AssayError
from assay.model.result.result import RunAnalysis
from assay.report.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from assay.store import RunStore

_TYPES = {"integer": "Int64", "number": "float64", "boolean": "boolean", "text": "string"}
"""Kind of a column -> type in pandas."""
NAMES = frozenset(
    ("case", "target", "workload", "operation", "verdict", "status", "binding_ceiling", "base", "other", "outcome")
)
"""Columns of names, each of which occurs often."""
_SERIES = ("case", "operation")


def pandas() -> Any:
    """The package.

    Raises:
        AssayError: It is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise AssayError(
            f"data frames need pandas, which cannot be loaded: {error}", "pip install 'assay[notebook]'"
        ) from None
    return pandas


def frame(table: Table) -> "pd.DataFrame":
    """A table with the types of its columns; what is missing is NA, of floating-point numbers NaN.

    Raises:
        AssayError: pandas is not installed.
    """
    return _frame(table.columns, table.records)


def _frame(columns: Sequence[Column], records: Sequence[Any]) -> "pd.DataFrame":
    pd = pandas()
    values = {
        column.name: pd.Series([record[column.name] for record in records], dtype=_type(column)) for column in columns
    }
    return pd.DataFrame(values)


def _type(column: Column) -> str:
    return "category" if column.name in NAMES else _TYPES[column.kind]


def decisions_frame(analysis: RunAnalysis) -> "pd.DataFrame":
    """A row for each point of each decision; each axis of the study is a column.

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
    named = [Column(name, "text", "") for name in ("workload", "operation", "base", "other")]
    swept = [Column(name, _kind([record[name] for record in records]), "") for name in axes]
    found = [Column(name, "text", "") for name in ("outcome", "faster")]
    numbers = [Column(name, "number", "") for name in ("at_least", "ratio", "within_share")]
    return _frame([*named, *swept, *found, *numbers, Column("why", "text", "")], records)


def _kind(values: Sequence[Any]) -> Any:
    """What a swept parameter's values are."""
    told = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in told):
        return "boolean"
    if all(isinstance(value, int) and not isinstance(value, bool) for value in told):
        return "integer"
    return "number" if all(isinstance(value, int | float) for value in told) else "text"


def series_frame(store: "RunStore") -> "pd.DataFrame":
    """A row for each interval of each repeat.

    Raises:
        AssayError: pandas is not installed, or the run is damaged.
    """
    from assay.cli.output import note
    from assay.run.series import run_rows
    from assay.store.series import COLUMNS

    pd = pandas()
    rows = list(run_rows(store, note))
    types = {name: "category" if name in _SERIES else "Int64" for name in COLUMNS}
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype=kind) for name, kind in types.items()})
