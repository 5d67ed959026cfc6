"""Costs as a flat table with a record for each target that has a design. Money is text, so that no digit is lost."""

from decimal import Decimal

from assay.model.money.amount import rounded
from assay.model.result.result import RunAnalysis
from assay.money.cost.limits import METRICS, Metric
from assay.report.costs import TargetCost, target_costs
from assay.report.pricing import what
from assay.report.tables import Column, Record, Table, Value
from assay.report.view import View

DIGITS = 6
"""Decimals of an amount of money."""

_HEAD = (
    Column("target", "text", "Target"),
    Column("design", "text", "Design that it stands for, with what was chosen"),
    Column("book", "text", "Price book"),
    Column("book_date", "text", "When its prices held"),
    Column("currency", "text", "Of all money"),
    Column("term", "text", "How instances are paid for"),
    Column("duty", "text", "Share of the time that it is on"),
    Column("hours_per_month", "text", "Hours of a month"),
    Column("hour", "text", "Cost of an hour of running; empty if it is never on"),
    Column("month", "text", "Cost of a month"),
    Column("year", "text", "Cost of a year"),
    Column("three_years", "text", "Cost of three years"),
    Column("usable_bytes", "integer", "Bytes for data"),
    Column("usable_tb_month", "text", "Cost of a usable TB (10^12 bytes) for a month"),
    Column("without_requests", "boolean", "Requests are paid for, but are not in these costs"),
)


def _columns(metric: Metric) -> tuple[Column, ...]:
    rate = f"{metric}_per_s" if metric.endswith("iops") else f"{metric}_bytes_per_s"
    cost = f"{metric}_month_per_{'1000_iops' if metric.endswith('iops') else 'gb_per_s'}"
    name = what(metric)
    return (
        Column(f"{metric}_case", "text", f"Best sound result of {name}: case"),
        Column(f"{metric}_operation", "text", f"Best sound result of {name}: operation"),
        Column(rate, "number", f"Best sound result of {name}: median"),
        Column(f"{rate}_low", "number", f"Best sound result of {name}: lower end of the 95 % interval"),
        Column(f"{rate}_high", "number", f"Best sound result of {name}: upper end of the 95 % interval"),
        Column(cost, "text", f"Cost of a month per {name}"),
        Column(f"{cost}_low", "text", f"Cost of a month per {name}: lower end"),
        Column(f"{cost}_high", "text", f"Cost of a month per {name}: upper end"),
        Column(rate.replace("_per_s", "_ceiling_per_s"), "number", "What the design can sustain at most"),
        Column(f"{metric}_ceiling_layer", "text", "What sets it"),
    )


COST_COLUMNS = (*_HEAD, *(column for metric in METRICS for column in _columns(metric)))
"""Columns of `costs_table`."""


def costs_table(analysis: RunAnalysis) -> Table:
    """Return one record for each target with a design; none if the run has no prices."""
    return Table("costs", COST_COLUMNS, tuple(_record(analysis, item) for item in target_costs(View(analysis))))


def _record(analysis: RunAnalysis, item: TargetCost) -> Record:
    prices = analysis.run.prices
    assert prices is not None
    cost = item.cost
    values: list[Value] = [
        *(item.target, item.item.chosen.label, prices.book.book, prices.book.date.isoformat(), cost.currency),
        *(prices.term, str(cost.duty), str(cost.hours_per_month)),
        *(_money(amount) for amount in (item.hour, cost.month, cost.year, cost.three_years)),
        *(item.item.usable, _money(item.per_terabyte), item.without_requests),
    ]
    for metric in METRICS:
        values += _values(item, metric)
    return {column.name: value for column, value in zip(COST_COLUMNS, values, strict=True)}


def _values(item: TargetCost, metric: Metric) -> list[Value]:
    rate, ratio, limit = item.best.get(metric), item.per(metric), item.ceiling(metric)
    ceiling: list[Value] = [None, ""] if limit is None else [limit.value, limit.layer]
    if rate is None or ratio is None:
        return ["", "", None, None, None, "", "", "", *ceiling]
    measured: list[Value] = [rate.row.case.id, rate.row.operation, rate.value, rate.low, rate.high]
    return [*measured, *(_money(end) for end in (ratio.value, ratio.low, ratio.high)), *ceiling]


def _money(amount: Decimal | None) -> str:
    return "" if amount is None else str(rounded(amount, DIGITS))
