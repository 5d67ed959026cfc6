"""Costs as a flat table with a record for each target that has a design. Money is text, so that no digit is lost."""

from decimal import Decimal

from assay.model.money.amount import round_half_up
from assay.model.result.result import RunAnalysis
from assay.money.cost.limits import METRICS, Metric
from assay.report.costs import TargetCost, target_costs
from assay.report.pricing import metric_words
from assay.report.tables import FlatColumn, FlatTable, Record, Value
from assay.report.view import RunView

DIGITS = 6
"""Decimals of an amount of money."""

_HEAD = (
    FlatColumn("target", "text", "Target"),
    FlatColumn("design", "text", "Design assigned to the target, with its parameters"),
    FlatColumn("book", "text", "Price book"),
    FlatColumn("book_date", "text", "Date of the prices"),
    FlatColumn("currency", "text", "Currency of all amounts"),
    FlatColumn("term", "text", "Purchase term of instances"),
    FlatColumn("duty", "text", "Share of the time that the design is switched on"),
    FlatColumn("hours_per_month", "text", "Hours of a month"),
    FlatColumn("hour", "text", "Cost of an hour of running; empty if the design is never switched on"),
    FlatColumn("month", "text", "Cost of a month"),
    FlatColumn("year", "text", "Cost of a year"),
    FlatColumn("three_years", "text", "Cost of three years"),
    FlatColumn("usable_bytes", "integer", "Bytes for data"),
    FlatColumn("usable_tb_month", "text", "Cost of a usable TB (10^12 bytes) for a month"),
    FlatColumn("without_requests", "boolean", "Requests are charged, but not included in these costs"),
)


def _columns(metric: Metric) -> tuple[FlatColumn, ...]:
    rate = f"{metric}_per_s" if metric.endswith("iops") else f"{metric}_bytes_per_s"
    cost = f"{metric}_month_per_{'1000_iops' if metric.endswith('iops') else 'gb_per_s'}"
    name = metric_words(metric)
    return (
        FlatColumn(f"{metric}_case", "text", f"Best usable result of {name}: case"),
        FlatColumn(f"{metric}_operation", "text", f"Best usable result of {name}: operation"),
        FlatColumn(rate, "number", f"Best usable result of {name}: median"),
        FlatColumn(f"{rate}_low", "number", f"Best usable result of {name}: lower end of the 95 % interval"),
        FlatColumn(f"{rate}_high", "number", f"Best usable result of {name}: upper end of the 95 % interval"),
        FlatColumn(cost, "text", f"Cost of a month per {name}"),
        FlatColumn(f"{cost}_low", "text", f"Cost of a month per {name}: lower end"),
        FlatColumn(f"{cost}_high", "text", f"Cost of a month per {name}: upper end"),
        FlatColumn(rate.replace("_per_s", "_ceiling_per_s"), "number", "What the design can sustain at most"),
        FlatColumn(f"{metric}_ceiling_layer", "text", "Layer that sets this limit"),
    )


COST_COLUMNS = (*_HEAD, *(column for metric in METRICS for column in _columns(metric)))
"""Columns of `costs_table`."""


def costs_table(analysis: RunAnalysis) -> FlatTable:
    """Return one record for each target with a design; none if the run has no prices."""
    return FlatTable("costs", COST_COLUMNS, tuple(_record(analysis, item) for item in target_costs(RunView(analysis))))


def _record(analysis: RunAnalysis, item: TargetCost) -> Record:
    prices = analysis.run.prices
    assert prices is not None
    cost = item.cost
    values: list[Value] = [
        *(item.target, item.design.chosen.label, prices.book.book, prices.book.date.isoformat(), cost.currency),
        *(prices.term, str(cost.duty), str(cost.hours_per_month)),
        *(_money(amount) for amount in (item.hour, cost.month, cost.year, cost.three_years)),
        *(item.design.usable, _money(item.per_terabyte), item.excludes_requests),
    ]
    for metric in METRICS:
        values += _values(item, metric)
    return {column.name: value for column, value in zip(COST_COLUMNS, values, strict=True)}


def _values(item: TargetCost, metric: Metric) -> list[Value]:
    rate, ratio, limit = item.best.get(metric), item.unit_cost(metric), item.ceiling(metric)
    ceiling: list[Value] = [None, ""] if limit is None else [limit.value, limit.layer]
    if rate is None or ratio is None:
        return ["", "", None, None, None, "", "", "", *ceiling]
    measured: list[Value] = [rate.row.case.id, rate.row.operation, rate.value, rate.low, rate.high]
    return [*measured, *(_money(end) for end in (ratio.value, ratio.low, ratio.high)), *ceiling]


def _money(amount: Decimal | None) -> str:
    return "" if amount is None else str(round_half_up(amount, DIGITS))
