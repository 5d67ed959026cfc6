"""Figures in the wording of the advice."""

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

from assay.model.units import about_number, about_size

MANY_TIMES, HUNDRED = 10, 100
MIN_SHARE = Decimal("0.001")
"""Costs that differ by less are called the same."""
SAME_COST = "the same cost within 0.1 %"
SOLD = {
    "filesystem-access": "reading and writing",
    "filesystem-backup": "backups",
    "filesystem-capacity": "capacity",
    "filesystem-iops": "IOPS",
    "filesystem-requests": "requests",
    "filesystem-throughput": "throughput",
    "object-capacity": "capacity",
    "object-requests": "requests",
    "object-retrieval": "retrieval",
    "service-fee": "the fee",
    "snapshot-capacity": "snapshots",
    "table-capacity": "capacity",
    "table-read": "read units",
    "table-requests": "requests",
    "table-write": "write units",
    "transfer-out": "traffic out",
    "transfer-region": "traffic between regions",
    "transfer-zone": "traffic between zones",
    "volume-capacity": "capacity",
    "volume-iops": "IOPS",
    "volume-requests": "requests",
    "volume-throughput": "throughput",
}
"""Dimension of a price book -> what is sold, in words."""
TWELVE_DIGITS = Context(prec=12, rounding=ROUND_HALF_UP)


def amount(metric: str, value: float) -> str:
    """Return a metric's value with its unit."""
    return _amount(metric, value)


@lru_cache(maxsize=4096)
def _amount(metric: str, value: float) -> str:
    """Cached: thousands of variants have the same few values."""
    if metric.endswith("p99"):
        return seconds(value)
    return f"{value:,.0f} IOPS" if metric.endswith("_iops") else f"{about_size(value)}/s"


def seconds(value: float) -> str:
    """Return a latency with its unit: `1.5 ms`."""
    unit, factor = next(
        ((unit, factor) for unit, factor in (("s", 1.0), ("ms", 1e-3)) if value >= factor * 0.9995), ("us", 1e-6)
    )
    return f"{about_number(value / factor)} {unit}"


def percent(share: float | Decimal) -> str:
    """Return a share as text: `12 %`, `0.4 %`; below 0.05 %, except 0, `less than 0.1 %`."""
    value = float(share) * 100
    if 0 < abs(value) < 0.05:
        return "less than 0.1 %"
    return f"{value:.0f} %" if abs(value) >= 9.5 or value == int(value) else f"{value:.1f} %"


def term_text(term: str, payment: str | None, purchased: bool) -> str:
    """Return how it is paid for: `bought`, `on-demand`, `reserved-1y, all-upfront`."""
    return "bought" if purchased else ", ".join(word for word in (term, payment) if word)


def sum_text(parts: Sequence[float]) -> str:
    """Return shares and their sum, `60.4 % + 60.4 % = 120.8 %`; with a decimal if rounding would make it look wrong."""
    every = [*parts, sum(parts)]
    whole = [round(100 * part) if math.isfinite(part) else 0 for part in every]
    plain = [percent(part) for part in every]
    if sum(whole[:-1]) != whole[-1]:
        plain = [f"{100 * part:.1f} %" for part in every]
    return f"{' + '.join(plain[:-1])} = {plain[-1]}"


def more_text(ratio: Decimal) -> str:
    """Return how much more something is: `12 % more`, from ten times on `14.1 times as much`."""
    if ratio < 1 + MIN_SHARE:
        return SAME_COST
    if ratio >= HUNDRED:
        return f"{ratio:,.0f} times as much"
    return f"{about_number(ratio)} times as much" if ratio >= MANY_TIMES else f"{percent(ratio - 1)} more"


def item_text(dimension: str, item: str) -> str:
    """Return an item of a price book in words: `backups of fsx-ontap-multi-az-2`, `instance m5.large`."""
    return f"{SOLD[dimension]} of {item}" if dimension in SOLD else f"{dimension} {item}"


def missing_prices_text(names: Sequence[str]) -> str:
    """Return items without a price in words: `the price of backups of fsx-ontap-multi-az-2`."""
    words = []
    for name in names:
        dimension, _, item = name.partition(" ")
        words.append(f"the price of {item_text(dimension, item)}" if dimension in SOLD else name)
    return ", ".join(words)


def count_text(count: int, what: str) -> str:
    """Return a count with its noun: `1 variant`, `2 variants`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def rounded_12(value: Decimal) -> Decimal:
    """Return a quotient with 12 significant digits, for machine-readable output."""
    return TWELVE_DIGITS.plus(value)
