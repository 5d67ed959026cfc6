"""The output of `assay price` for programs. Amounts are text, so that no reader takes them for binary fractions."""

import csv
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from assay.cli.money.price_sizing import incomparable_reason, unpriced_parameters
from assay.model.escape import csv_row
from assay.model.money.amount import round_half_up
from assay.money.cost.limits import METRICS, Metric
from assay.money.cost.metrics import CostComparison, PricedOption, TermCost, compare

if TYPE_CHECKING:
    from assay.money.cost.cost import Charge

DIGITS = 6
MAX_COMPARED = 20
"""Up to this many designs, their break-even points are computed."""


def decimal_text(amount: Decimal | None) -> str | None:
    """Return an amount to a millionth, without trailing zeros: `0.735`."""
    if amount is None:
        return None
    text = f"{round_half_up(amount, DIGITS):f}"
    return text.rstrip("0").rstrip(".")


def prices_document(options: Sequence[PricedOption], months: int | None, sized: bool = False) -> dict[str, Any]:
    """Return all designs and their break-even points.

    `not_compared` states why there are none if the designs differ in capacity.
    """
    refused = None if sized or len(options) < 2 else incomparable_reason(options)
    compared = refused is None and 1 < len(options) <= MAX_COMPARED
    return {
        "designs": [_option(option, months) for option in options],
        "break_even": [_pair(pair) for pair in compare(options)] if compared else [],
        "not_compared": refused,
    }


def _option(option: PricedOption, months: int | None) -> dict[str, Any]:
    cost, book = option.cost, option.book
    return {
        "design": option.chosen.design,
        "set": option.chosen.set,
        "about": option.design.about,
        "durability": option.design.durability,
        "survives": option.design.survives,
        "failure_domain": option.design.failure_domain,
        "provider": option.design.provider,
        "conditions": list(option.design.conditions),
        "unpriced": unpriced_parameters(option),
        "book": {
            "book": book.book,
            "date": book.date.isoformat(),
            "hours_per_month": decimal_text(book.hours_per_month),
        },
        "currency": cost.currency,
        "term": cost.term,
        "duty": decimal_text(cost.duty),
        "cost": {
            "hour": decimal_text(cost.hour),
            "month": decimal_text(cost.month),
            "year": decimal_text(cost.year),
            "three_years": decimal_text(cost.three_years),
            "by_use_month": decimal_text(option.by_use),
        },
        "paid": None if months is None else {"months": months, "amount": decimal_text(cost.paid_after(months))},
        "usable_bytes": option.limits.usable,
        "how_usable": option.limits.how_usable,
        "per_usable_tb_month": decimal_text(option.per_tb_month),
        "limits": {metric: _limit(option, metric) for metric in METRICS},
        "layers": [layer.model_dump(mode="json") for layer in option.limits.layers],
        "job": _job(option),
        "terms": [_term(term) for term in option.terms],
        "terms_break_even": [_pair(pair) for pair in option.term_pairs],
        "bill": [_charge(option, charge) for charge in cost.charges],
    }


def _limit(option: PricedOption, metric: Metric) -> dict[str, Any] | None:
    limits = option.limits
    keeps, binding, burst = limits.sustained(metric), limits.binding_layer(metric), limits.burst(metric)
    if keeps is None or binding is None:
        return None
    return {
        "sustained": keeps,
        "limiting_layer": binding.layer,
        "how": binding.how,
        "burst": burst[0] if burst else None,
        "burst_seconds": burst[1] if burst else None,
        "per_gb_s_month" if metric in ("read", "write") else "per_1000_iops_month": decimal_text(
            option.per_month(metric)
        ),
    }


def _job(option: PricedOption) -> dict[str, Any] | None:
    job = option.job
    if job is None:
        return None
    return {
        "hours": decimal_text(job.hours),
        "expected_hours": decimal_text(job.expected),
        "hours_by_rate": job.by_rate,
        "cost": decimal_text(job.money),
        "interruptions_cost": decimal_text(job.interruption_cost),
        "needs_bytes_per_s": decimal_text(job.needed_rate),
        "per_tb": decimal_text(job.per_tb),
        "exceeds": list(job.exceeded),
    }


def _term(term: TermCost) -> dict[str, Any]:
    cost = term.cost
    return {
        "term": term.term,
        "payment": term.payment,
        "month": decimal_text(cost.month),
        "year": decimal_text(cost.year),
        "three_years": decimal_text(cost.three_years),
    }


def _charge(option: PricedOption, charge: "Charge") -> dict[str, Any]:
    line, row = charge.line, charge.row
    return {
        "what": line.what,
        "dimension": line.dimension,
        "item": line.item,
        "pieces": decimal_text(line.pieces),
        "each": decimal_text(line.each),
        "per": line.per,
        "unit": row.unit,
        "price": decimal_text(row.price),
        "tiers": [{"up_to": decimal_text(tier.up_to), "price": decimal_text(tier.price)} for tier in row.tiers],
        "free": decimal_text(row.free),
        "upfront": decimal_text(row.upfront),
        "month": decimal_text(charge.month(option.cost.duty)),
        "job": decimal_text(charge.job),
        "date": option.book.date_of(row).isoformat(),
        "source": row.source,
    }


def _pair(pair: CostComparison) -> dict[str, Any]:
    names = (pair.first, pair.second)
    return {
        "first": pair.first,
        "second": pair.second,
        "equal": pair.is_equal,
        "duty": decimal_text(pair.break_even_duty.duty),
        "hours_of_month": decimal_text(pair.break_even_duty.hours),
        "cheaper_below": names[pair.break_even_duty.below],
        "cheaper_above": names[pair.break_even_duty.above],
        "months": pair.break_even_months,
        "cheaper_then": pair.higher_start if pair.break_even_months is not None else None,
        "stays_from_month": pair.stays_cheaper_from,
        "cheaper_from_then": pair.higher_start
        if pair.break_even_months is not None and pair.stays_cheaper_from == pair.break_even_months
        else None,
    }


def print_csv(options: Sequence[PricedOption], months: int | None) -> None:
    """Print one row for each design; unknown values are empty."""
    rows = [_csv_row(option, months) for option in options]
    writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(csv_row(row) for row in rows)


def _csv_row(option: PricedOption, months: int | None) -> dict[str, object]:
    cost, limits = option.cost, option.limits
    row: dict[str, object] = {
        "design": option.label,
        "book": option.book.book,
        "currency": cost.currency,
        "term": cost.term,
        "cost_per_hour": decimal_text(cost.hour),
        "cost_per_month": decimal_text(cost.month),
        "cost_1yr": decimal_text(cost.year),
        "cost_3yr": decimal_text(cost.three_years),
        "usable_tb": decimal_text(option.usable_tb),
        "cost_per_tb_month": decimal_text(option.per_tb_month),
    }
    if months is not None:
        row |= {"months": months, "paid": decimal_text(cost.paid_after(months))}
    for metric in METRICS:
        keeps, binding, burst = limits.sustained(metric), limits.binding_layer(metric), limits.burst(metric)
        unit = "bytes_s" if metric in ("read", "write") else "s"
        row |= {
            f"{metric}_{unit}": keeps,
            f"{metric}_binds": binding.layer if binding else None,
            f"{metric}_burst_{unit}": burst[0] if burst else None,
            f"{metric}_burst_seconds": burst[1] if burst else None,
        }
    for metric in METRICS[:2]:
        row[f"cost_per_gb_s_{metric}_month"] = decimal_text(option.per_month(metric))
    for metric in METRICS[2:]:
        row[f"cost_per_1000_{metric}_month"] = decimal_text(option.per_month(metric))
    job = option.job
    return {
        **row,
        "cost_per_job": decimal_text(job.money) if job else None,
        "job_exceeds": " ".join(job.exceeded) if job else None,
        "unpriced": " ".join(unpriced_parameters(option)) or None,
    }
