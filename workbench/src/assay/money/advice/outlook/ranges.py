"""The ends of what is assumed: of the need, of exchange rates, and of the prices that weigh most."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from operator import eq
from typing import Any

from assay.model.money.need import MOST_MONTHS, Need
from assay.model.units import about_number, about_size
from assay.money.advice.outlook.again import Again, Answer, RowOf
from assay.money.advice.traffic import moved, paid_by_request
from assay.money.advice.words import counted, percent

STEP = Decimal("0.2")
"""By which an assumption is taken lower and higher, unless its range says otherwise."""
MOST_ITEMS = 5
"""Prices that are taken lower and higher: those that weigh most in the choice and the next one."""
USED = Decimal("0.1")
"""Low end of traffic that nobody states: a tenth of what the rates allow."""
MOST_SHARE = Decimal("0.99")
PEOPLE, POWER = ("people", "administrator"), ("power", "electricity")
PLAIN = {
    "power": "electricity",
    "rack": "rack space",
    "snapshot-capacity": "snapshots",
    "transfer-out": "egress",
    "transfer-zone": "zone traffic",
}
"""Dimensions whose items say little by themselves."""
TRAFFIC = {
    "read": "reads a month",
    "written": "writes a month",
    "egress": "egress a month",
    "zone": "zone traffic a month",
}


@dataclass(frozen=True)
class Other:
    """An end of a range.

    Attributes:
        words: Its value.
        need: As it would be.
        answer: The best of each design then.
    """

    words: str
    need: Need
    answer: Callable[[], Answer]


@dataclass(frozen=True)
class Range:
    """An assumption, its value in words, and its ends; None: there is no such end."""

    name: str
    value: str
    low: Other | None
    high: Other | None


def ranges(again: Again) -> Iterator[Range]:
    """All assumptions."""
    yield from _times(again)
    yield from _extent(again)
    yield from _traffic(again)
    yield from _charges(again)
    yield from _exchange(again)
    yield from _prices(again)


def _other(again: Again, how: Callable[[Need], Answer], words: str, **changes: Any) -> Other:
    need = again.need.model_copy(update=changes)
    return Other(words, need, lambda: how(need))


def _both(
    again: Again, how: Callable[[Need], Answer], name: str, words: Callable[[Any], str], key: str, value: Any
) -> Range:
    """20 % less and more of one key."""
    low, high = value * (1 - STEP), value * (1 + STEP)
    ends = (_other(again, how, words(end), **{key: end}) for end in (low, high))
    return Range(name, words(value), *ends)


def _times(again: Again) -> Iterator[Range]:
    """How long, and which share of that it is on."""
    need = again.need
    step = max(1, round(need.months * STEP))
    fewer, more = need.months - step, min(MOST_MONTHS, need.months + step)
    # What grows each year is larger after more months.
    how = again.all if need.growth_per_year else again.billed
    yield Range(
        "months",
        counted(need.months, "month"),
        _other(again, how, counted(fewer, "month"), months=fewer) if fewer else None,
        _other(again, how, counted(more, "month"), months=more) if more > need.months else None,
    )
    less, longer = need.duty * (1 - STEP), min(Decimal(1), need.duty * (1 + STEP))
    yield Range(
        "time that it is on",
        percent(need.duty),
        _other(again, again.billed, percent(less), duty=less),
        _other(again, again.billed, percent(longer), duty=longer) if longer > need.duty else None,
    )


def _extent(again: Again) -> Iterator[Range]:
    """How much it may become, and by whom it is used."""
    need = again.need
    if need.growth:
        yield _both(again, again.all, "growth", percent, "growth", need.growth)
    else:
        yield Range("growth of size and rates", "none", None, _other(again, again.all, percent(STEP), growth=STEP))
    if need.growth_per_year:
        yield _both(again, again.all, "growth a year", percent, "growth_per_year", need.growth_per_year)
    if need.active:
        high = min(Decimal(1), need.active * (1 + STEP))
        ends = (_other(again, again.shared, percent(end), active=end) for end in (need.active * (1 - STEP), high))
        yield Range("data in use each month", percent(need.active), *ends)
    if need.clients is not None and need.clients > 1:
        few, many = (round(need.clients * factor) for factor in (1 - STEP, 1 + STEP))
        counts = (min(few, need.clients - 1), max(many, need.clients + 1))
        ends = (_other(again, again.judged, f"{count:,}", clients=count) for count in counts)
        yield Range("clients", f"{need.clients:,}", *ends)
    share = need.profile.read_share
    if 0 < share < 1:
        shares = (share * (1 - STEP), min(MOST_SHARE, share * (1 + STEP)))
        profiles = ((end, need.profile.model_copy(update={"read_share": end})) for end in shares)
        yield Range(
            "share of reads",
            percent(share),
            *(_other(again, again.judged, percent(end), profile=profile) for end, profile in profiles),
        )


def _traffic(again: Again) -> Iterator[Range]:
    """What is moved in a month: as stated, or what follows from the rates where it costs money."""
    need = again.need
    paid = any(item is not None and paid_by_request(item.variant.design) for item in again.here.values())

    def moving(key: str, size: int) -> Other:
        # What is read says which share of the data is in use.
        how = again.billed if key in ("egress", "zone") else again.shared
        return _other(again, how, about_size(size), monthly=need.monthly.model_copy(update={key: size}))

    for key, words in TRAFFIC.items():
        stated = getattr(need.monthly, key)
        if stated:
            low, high = (round(stated * factor) for factor in (1 - STEP, 1 + STEP))
            yield Range(words, about_size(stated), moving(key, low), moving(key, high))
        elif stated is None and paid:
            size = moved(need.grown, "read" if key == "read" else "write", again.market.books[0].hours_per_month).moved
            if size:
                yield Range(words, f"{about_size(size)} by the rates", moving(key, round(size * USED)), None)
    if need.snapshots:
        low, high = (round(need.snapshots * factor) for factor in (1 - STEP, 1 + STEP))
        ends = (_other(again, again.billed, about_size(size), snapshots=size) for size in (low, high))
        yield Range("snapshots", about_size(need.snapshots), *ends)


def _charges(again: Again) -> Iterator[Range]:
    """People, tax, and what later money is worth."""
    need = again.need
    if need.tax:
        yield _both(again, again.billed, "tax", percent, "tax", need.tax)
    if need.discount:
        yield _both(again, again.billed, "discount a year", percent, "discount", need.discount)
    if need.people:

        def people(factor: Decimal) -> dict[Any, Decimal]:
            return {name: hours * factor for name, hours in need.people.items()}

        def words(hours: dict[Any, Decimal]) -> str:
            alike = len(set(hours.values())) == 1
            return (
                about_number(next(iter(hours.values())))
                if alike
                else ", ".join(f"{k} {about_number(v)}" for k, v in hours.items())
            )

        least, most = people(1 - STEP), people(1 + STEP)
        ends = (_other(again, again.billed, words(each), people=each) for each in (least, most))
        yield Range("hours of people a month", words(need.people), *ends)


def _priced(again: Again, name: str, value: str, words: tuple[str, str], touches: Callable[[RowOf], bool]) -> Range:
    """20 % less and more of some prices."""
    origin = _origin(again)
    leaving = origin is not None and touches(origin)
    ends = (
        Other(text, again.need, lambda step=step: again.repriced(step, touches, leaving))  # type: ignore[misc]
        for text, step in zip(words, (1 - STEP, 1 + STEP), strict=True)
    )
    return Range(name, value, *ends)


def _exchange(again: Again) -> Iterator[Range]:
    market = again.market
    home = {book.book: book.currency for book in market.books}
    rates = market.exchange.rates if market.exchange is not None else {}
    for currency, rate in sorted(rates.items()):
        if currency in home.values() and currency != market.currency:
            words = (_plain(rate * (1 - STEP)), _plain(rate * (1 + STEP)))
            touched = frozenset(book for book, of in home.items() if of == currency)
            yield _priced(
                again,
                f"{market.currency} for one {currency}",
                _plain(rate),
                words,
                lambda row, touched=touched: row[0] in touched,  # type: ignore[misc]
            )


def _prices(again: Again) -> Iterator[Range]:
    words = (f"{percent(STEP)} less", f"{percent(STEP)} more")
    everywhere = [row for item in again.here.values() if item is not None for row in again.parts(item.variant)]
    electricity = [row for row in everywhere if row[1:] == POWER]
    rows = list(dict.fromkeys([*electricity, *_largest(again)]))
    for row, name in zip(rows, _names(rows), strict=True):
        yield _priced(again, f"price of {name}", row[0], words, partial(eq, row))


def _names(rows: list[RowOf]) -> list[str]:
    """Items; with their dimension, and with their book, where several have the same name."""
    names = [PLAIN.get(row[1], row[2]) for row in rows]
    for place in (1, 0):
        many = Counter(names)
        names = [f"{name} ({row[place]})" if many[name] > 1 else name for name, row in zip(names, rows, strict=True)]
    return names


def _plain(rate: Decimal) -> str:
    return f"{float(rate):.4g}"


def _origin(again: Again) -> RowOf | None:
    """The price of leaving the cloud where the data are now."""
    plan = again.need.migration
    sold = next((each for each in again.market.sold if plan is not None and each.provider == plan.origin), None)
    return None if sold is None else (sold.name, "transfer-out", "internet")


def _largest(again: Again) -> list[RowOf]:
    """Prices by the most that any of the choice and the next one pays of it; hours of people are an assumption."""
    found = [item for item in again.here.values() if item is not None]
    ranked = sorted(found, key=lambda item: again.measure(item) or Decimal("Infinity"))
    weights: dict[RowOf, Decimal] = {}
    for item in ranked[:2]:
        for row, (_, present) in again.parts(item.variant).items():
            if row[1:] != PEOPLE and row[1:] != POWER and present:
                weights[row] = max(weights.get(row, Decimal(0)), present)
    return sorted(weights, key=lambda row: (-weights[row], row))[:MOST_ITEMS]
