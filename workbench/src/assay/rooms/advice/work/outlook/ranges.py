"""The ranges of assumptions: of the need, of exchange rates, and of the prices with the largest share."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from operator import eq
from typing import Any

from assay.model.units import about_number, about_size
from assay.rooms.advice.model.need import MAX_MONTHS, Need
from assay.rooms.advice.work.outlook.reassess import Answer, BookRow, Reassessment
from assay.rooms.advice.work.texts import count_text, percent
from assay.rooms.advice.work.traffic import leased_way, monthly_traffic

STEP = Decimal("0.2")
"""Share by which an assumption is lowered and raised, unless its range is otherwise limited."""
MAX_ITEMS = 5
"""Most prices that are varied: those that weigh most in the choice and the next design."""
LOW_TRAFFIC_SHARE = Decimal("0.1")
"""Low end of traffic that is not stated: a tenth of what the rates allow."""
MAX_SHARE = Decimal("0.99")
PEOPLE, POWER = ("administration", "administrator"), ("power", "electricity")
DIMENSION_NAMES = {
    "power": "electricity",
    "rack": "rack space",
    "snapshot-capacity": "snapshots",
    "transfer-out": "egress",
    "transfer-zone": "zone traffic",
}
"""Names for dimensions whose items are not clear by themselves."""
TRAFFIC_NAMES = {
    "read": "reads a month",
    "written": "writes a month",
    "egress": "egress a month",
    "zone": "zone traffic a month",
}


@dataclass(frozen=True)
class ChangedNeed:
    """An end of a range.

    Attributes:
        text: Its value in words.
        need: The need with that value.
        answer: Computes the best variant of each design for it.
    """

    text: str
    need: Need
    answer: Callable[[], Answer]


@dataclass(frozen=True)
class AssumptionRange:
    """An assumption, its value in words, and its ends; None: there is no such end."""

    name: str
    value: str
    low: ChangedNeed | None
    high: ChangedNeed | None


def ranges(again: Reassessment) -> Iterator[AssumptionRange]:
    """Yield the ranges of all assumptions."""
    yield from _times(again)
    yield from _extent(again)
    yield from _traffic(again)
    yield from _charges(again)
    yield from _exchange(again)
    yield from _prices(again)


def _end(again: Reassessment, compute: Callable[[Need], Answer], words: str, **changes: Any) -> ChangedNeed:
    need = again.need.model_copy(update=changes)
    return ChangedNeed(words, need, lambda: compute(need))


def _symmetric_range(
    again: Reassessment, compute: Callable[[Need], Answer], name: str, words: Callable[[Any], str], key: str, value: Any
) -> AssumptionRange:
    """Return a range of 20 % less and more of one key."""
    low, high = value * (1 - STEP), value * (1 + STEP)
    ends = (_end(again, compute, words(end), **{key: end}) for end in (low, high))
    return AssumptionRange(name, words(value), *ends)


def _times(again: Reassessment) -> Iterator[AssumptionRange]:
    """Yield the ranges of months and of the duty cycle."""
    need = again.need
    step = max(1, round(need.months * STEP))
    fewer, more = need.months - step, min(MAX_MONTHS, need.months + step)
    # Data that grows each year is larger after more months: sizes must be computed again.
    how = again.resized if need.growth_per_year else again.rebilled
    yield AssumptionRange(
        "months",
        count_text(need.months, "month"),
        _end(again, how, count_text(fewer, "month"), months=fewer) if fewer else None,
        _end(again, how, count_text(more, "month"), months=more) if more > need.months else None,
    )
    less, longer = need.duty * (1 - STEP), min(Decimal(1), need.duty * (1 + STEP))
    yield AssumptionRange(
        "share of time switched on",
        percent(need.duty),
        _end(again, again.rebilled, percent(less), duty=less),
        _end(again, again.rebilled, percent(longer), duty=longer) if longer > need.duty else None,
    )


def _extent(again: Reassessment) -> Iterator[AssumptionRange]:
    """Yield the ranges of growth, active data, clients and read share."""
    need = again.need
    if need.growth:
        yield _symmetric_range(again, again.resized, "growth", percent, "growth", need.growth)
    else:
        yield AssumptionRange(
            "growth of size and rates", "none", None, _end(again, again.resized, percent(STEP), growth=STEP)
        )
    if need.growth_per_year:
        yield _symmetric_range(again, again.resized, "growth a year", percent, "growth_per_year", need.growth_per_year)
    if need.active:
        high = min(Decimal(1), need.active * (1 + STEP))
        ends = (
            _end(again, again.with_cold_shares, percent(end), active=end) for end in (need.active * (1 - STEP), high)
        )
        yield AssumptionRange("data in use each month", percent(need.active), *ends)
    if need.clients is not None and need.clients > 1:
        few, many = (round(need.clients * factor) for factor in (1 - STEP, 1 + STEP))
        counts = (min(few, need.clients - 1), max(many, need.clients + 1))
        ends = (_end(again, again.rechecked, f"{count:,}", clients=count) for count in counts)
        yield AssumptionRange("clients", f"{need.clients:,}", *ends)
    share = need.profile.read_share
    if 0 < share < 1:
        shares = (share * (1 - STEP), min(MAX_SHARE, share * (1 + STEP)))
        profiles = ((end, need.profile.model_copy(update={"read_share": end})) for end in shares)
        yield AssumptionRange(
            "share of reads",
            percent(share),
            *(_end(again, again.rechecked, percent(end), profile=profile) for end, profile in profiles),
        )


def _traffic(again: Reassessment) -> Iterator[AssumptionRange]:
    """Yield the ranges of monthly traffic: as stated, or as it follows from the rates where it costs money."""
    need = again.need
    paid = any(item is not None and item.facts.pays_for_traffic for item in again.base_answer.values())

    def end(key: str, size: int) -> ChangedNeed:
        # Bytes read determine which share of the data is active.
        compute = again.rebilled if key in ("egress", "zone") else again.with_cold_shares
        return _end(again, compute, about_size(size), monthly=need.monthly.model_copy(update={key: size}))

    for key, words in TRAFFIC_NAMES.items():
        stated = getattr(need.monthly, key)
        if stated:
            low, high = (round(stated * factor) for factor in (1 - STEP, 1 + STEP))
            yield AssumptionRange(words, about_size(stated), end(key, low), end(key, high))
        elif stated is None and paid and key in ("read", "written"):
            traffic = monthly_traffic(
                need.after_growth, "read" if key == "read" else "write", again.market.books[0].hours_per_month
            )
            size = traffic.size_bytes
            if size:
                value = f"{about_size(size)} {'assumed' if traffic.is_assumed else 'by the rates'}"
                yield AssumptionRange(words, value, end(key, round(size * LOW_TRAFFIC_SHARE)), None)
    if need.snapshots:
        low, high = (round(need.snapshots * factor) for factor in (1 - STEP, 1 + STEP))
        ends = (_end(again, again.rebilled, about_size(size), snapshots=size) for size in (low, high))
        yield AssumptionRange("snapshots", about_size(need.snapshots), *ends)


def _charges(again: Reassessment) -> Iterator[AssumptionRange]:
    """Yield the ranges of administration, tax and discount."""
    need = again.need
    if need.tax:
        yield _symmetric_range(again, again.rebilled, "tax", percent, "tax", need.tax)
    if need.discount:
        yield _symmetric_range(again, again.rebilled, "discount a year", percent, "discount", need.discount)
    if need.admin_hours:

        def people(factor: Decimal) -> dict[Any, Decimal]:
            return {name: hours * factor for name, hours in need.admin_hours.items()}

        def words(hours: dict[Any, Decimal]) -> str:
            alike = len(set(hours.values())) == 1
            return (
                about_number(next(iter(hours.values())))
                if alike
                else ", ".join(f"{k} {about_number(v)}" for k, v in hours.items())
            )

        least, most = people(1 - STEP), people(1 + STEP)
        ends = (_end(again, again.rebilled, words(each), admin_hours=each) for each in (least, most))
        yield AssumptionRange("hours of administration a month", words(need.admin_hours), *ends)


def _price_range(
    again: Reassessment, name: str, value: str, words: tuple[str, str], touches: Callable[[BookRow], bool]
) -> AssumptionRange:
    """Return a range of 20 % less and more of some prices."""
    origin = _origin(again)
    leaving = origin is not None and touches(origin)
    ends = (
        ChangedNeed(text, again.need, lambda step=step: again.repriced(step, touches, leaving))  # type: ignore[misc]
        for text, step in zip(words, (1 - STEP, 1 + STEP), strict=True)
    )
    return AssumptionRange(name, value, *ends)


def _exchange(again: Reassessment) -> Iterator[AssumptionRange]:
    market = again.market
    currencies = {book.book: book.currency for book in market.books}
    rates = market.exchange.rates if market.exchange is not None else {}
    for currency, rate in sorted(rates.items()):
        if currency in currencies.values() and currency != market.currency:
            words = (_plain(rate * (1 - STEP)), _plain(rate * (1 + STEP)))
            changed_books = frozenset(book for book, of in currencies.items() if of == currency)
            yield _price_range(
                again,
                f"{market.currency} for one {currency}",
                _plain(rate),
                words,
                lambda row, changed_books=changed_books: row[0] in changed_books,  # type: ignore[misc]
            )


def _prices(again: Reassessment) -> Iterator[AssumptionRange]:
    words = (f"{percent(STEP)} less", f"{percent(STEP)} more")
    everywhere = [row for item in again.base_answer.values() if item is not None for row in again.parts(item.variant)]
    electricity = [row for row in everywhere if row[1:] == POWER]
    rows = list(dict.fromkeys([*electricity, *_largest(again)]))
    for row, name in zip(rows, _names(rows), strict=True):
        yield _price_range(again, f"price of {name}", row[0], words, partial(eq, row))


def _names(rows: list[BookRow]) -> list[str]:
    """Return item names; with their dimension, and with their book, where several are equal."""
    names = [DIMENSION_NAMES.get(row[1], row[2]) for row in rows]
    for place in (1, 0):
        totals = Counter(names)
        names = [f"{name} ({row[place]})" if totals[name] > 1 else name for name, row in zip(names, rows, strict=True)]
    return names


def _plain(rate: Decimal) -> str:
    return f"{float(rate):.4g}"


def _origin(again: Reassessment) -> BookRow | None:
    """Return the price of leaving the cloud that has the data."""
    plan = again.need.migration
    sold = next((each for each in again.market.sold if plan is not None and each.provider == plan.origin), None)
    if plan is None or sold is None:
        return None
    return sold.name, "transfer-out", leased_way(again.need, plan.origin) or "internet"


def _largest(again: Reassessment) -> list[BookRow]:
    """Return the prices on which the choice or the next design spends most, without administration and electricity."""
    variants = [item for item in again.base_answer.values() if item is not None]
    ranked = sorted(variants, key=lambda item: again.measure(item) or Decimal("Infinity"))
    weights: dict[BookRow, Decimal] = {}
    for item in ranked[:2]:
        for row, (_, present) in again.parts(item.variant).items():
            if row[1:] != PEOPLE and row[1:] != POWER and present:
                weights[row] = max(weights.get(row, Decimal(0)), present)
    return sorted(weights, key=lambda row: (-weights[row], row))[:MAX_ITEMS]
