"""The output of `assay price` for programs. Amounts are text, so that no reader takes them for binary fractions."""

import csv
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from assay.cli.money.price_sized import unlike, unpriced
from assay.model.foreign import safe_row
from assay.model.money.amount import rounded
from assay.money.cost.limits import METRICS, Metric
from assay.money.cost.metrics import OnTerm, Option, Pair, compare

if TYPE_CHECKING:
    from assay.money.cost.cost import Charge

DIGITS = 6
MOST_COMPARED = 20
"""Up to this many designs, their break-even points are computed."""


def plain(amount: Decimal | None) -> str | None:
    """Return an amount to a millionth, without trailing zeros: `0.735`."""
    if amount is None:
        return None
    text = f"{rounded(amount, DIGITS):f}"
    return text.rstrip("0").rstrip(".")


def as_data(options: Sequence[Option], months: int | None, sized: bool = False) -> dict[str, Any]:
    """Return all designs and their break-even points.

    `not_compared` states why there are none if the designs differ in capacity.
    """
    refused = None if sized or len(options) < 2 else unlike(options)
    compared = refused is None and 1 < len(options) <= MOST_COMPARED
    return {
        "designs": [_option(option, months) for option in options],
        "meet": [_pair(pair) for pair in compare(options)] if compared else [],
        "not_compared": refused,
    }


def _option(option: Option, months: int | None) -> dict[str, Any]:
    cost, book = option.cost, option.book
    return {
        "design": option.chosen.design,
        "set": option.chosen.set,
        "about": option.design.about,
        "durability": option.design.durability,
        "failure_domain": option.design.failure_domain,
        "provider": option.design.provider,
        "conditions": list(option.design.conditions),
        "unpriced": unpriced(option),
        "book": {"book": book.book, "date": book.date.isoformat(), "hours_per_month": plain(book.hours_per_month)},
        "currency": cost.currency,
        "term": cost.term,
        "duty": plain(cost.duty),
        "cost": {
            "hour": plain(cost.hour),
            "month": plain(cost.month),
            "year": plain(cost.year),
            "three_years": plain(cost.three_years),
            "by_use_month": plain(option.by_use),
        },
        "paid": None if months is None else {"months": months, "amount": plain(cost.paid(months))},
        "usable_bytes": option.limits.usable,
        "how_usable": option.limits.how_usable,
        "per_usable_tb_month": plain(option.per_tb_month),
        "limits": {metric: _limit(option, metric) for metric in METRICS},
        "layers": [layer.model_dump(mode="json") for layer in option.limits.layers],
        "job": _job(option),
        "terms": [_term(term) for term in option.terms],
        "terms_meet": [_pair(pair) for pair in option.term_pairs],
        "bill": [_charge(option, charge) for charge in cost.charges],
    }


def _limit(option: Option, metric: Metric) -> dict[str, Any] | None:
    limits = option.limits
    keeps, binding, burst = limits.sustained(metric), limits.binding(metric), limits.burst(metric)
    if keeps is None or binding is None:
        return None
    return {
        "sustained": keeps,
        "binds": binding.layer,
        "how": binding.how,
        "burst": burst[0] if burst else None,
        "burst_seconds": burst[1] if burst else None,
        "per_gb_s_month" if metric in ("read", "write") else "per_1000_iops_month": plain(option.per_month(metric)),
    }


def _job(option: Option) -> dict[str, Any] | None:
    job = option.job
    if job is None:
        return None
    return {
        "hours": plain(job.hours),
        "expected_hours": plain(job.expected),
        "hours_by_rate": job.by_rate,
        "cost": plain(job.money),
        "interruptions_cost": plain(job.interrupted),
        "needs_bytes_per_s": plain(job.needs),
        "per_tb": plain(job.per_tb),
        "exceeds": list(job.exceeds),
    }


def _term(term: OnTerm) -> dict[str, Any]:
    cost = term.cost
    return {
        "term": term.term,
        "payment": term.payment,
        "month": plain(cost.month),
        "year": plain(cost.year),
        "three_years": plain(cost.three_years),
    }


def _charge(option: Option, charge: "Charge") -> dict[str, Any]:
    line, row = charge.line, charge.row
    return {
        "what": line.what,
        "dimension": line.dimension,
        "item": line.item,
        "pieces": plain(line.pieces),
        "each": plain(line.each),
        "per": line.per,
        "unit": row.unit,
        "price": plain(row.price),
        "tiers": [{"up_to": plain(tier.up_to), "price": plain(tier.price)} for tier in row.tiers],
        "free": plain(row.free),
        "upfront": plain(row.upfront),
        "month": plain(charge.month(option.cost.duty)),
        "job": plain(charge.job),
        "date": option.book.date_of(row).isoformat(),
        "source": row.source,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    names = (pair.first, pair.second)
    return {
        "first": pair.first,
        "second": pair.second,
        "equal": pair.equal,
        "duty": plain(pair.duty.duty),
        "hours_of_month": plain(pair.duty.hours),
        "cheaper_below": names[pair.duty.below],
        "cheaper_above": names[pair.duty.above],
        "months": pair.months,
        "cheaper_then": pair.sooner if pair.months is not None else None,
        "stays_from_month": pair.stays,
        "cheaper_from_then": pair.sooner if pair.months is not None and pair.stays == pair.months else None,
    }


def print_csv(options: Sequence[Option], months: int | None) -> None:
    """Print one row for each design; unknown values are empty."""
    rows = [_csv_row(option, months) for option in options]
    writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(safe_row(row) for row in rows)


def _csv_row(option: Option, months: int | None) -> dict[str, object]:
    cost, limits = option.cost, option.limits
    row: dict[str, object] = {
        "design": option.label,
        "book": option.book.book,
        "currency": cost.currency,
        "term": cost.term,
        "cost_per_hour": plain(cost.hour),
        "cost_per_month": plain(cost.month),
        "cost_1yr": plain(cost.year),
        "cost_3yr": plain(cost.three_years),
        "usable_tb": plain(option.usable_tb),
        "cost_per_tb_month": plain(option.per_tb_month),
    }
    if months is not None:
        row |= {"months": months, "paid": plain(cost.paid(months))}
    for metric in METRICS:
        keeps, binding, burst = limits.sustained(metric), limits.binding(metric), limits.burst(metric)
        unit = "bytes_s" if metric in ("read", "write") else "s"
        row |= {
            f"{metric}_{unit}": keeps,
            f"{metric}_binds": binding.layer if binding else None,
            f"{metric}_burst_{unit}": burst[0] if burst else None,
            f"{metric}_burst_seconds": burst[1] if burst else None,
        }
    for metric in METRICS[:2]:
        row[f"cost_per_gb_s_{metric}_month"] = plain(option.per_month(metric))
    for metric in METRICS[2:]:
        row[f"cost_per_1000_{metric}_month"] = plain(option.per_month(metric))
    job = option.job
    return {
        **row,
        "cost_per_job": plain(job.money) if job else None,
        "job_exceeds": " ".join(job.exceeds) if job else None,
        "unpriced": " ".join(unpriced(option)) or None,
    }
