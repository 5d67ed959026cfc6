"""What each assumption of a need weighs: the cost of the choice, and its distance to the next one, at both ends."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from assay.model.money.advice_picture import Assumption, End
from assay.model.money.need import MOST_MONTHS, Need
from assay.model.units import about_size
from assay.money.advice.again import Again, Answer, RowOf
from assay.money.advice.traffic import moved, paid_by_request
from assay.money.advice.words import counted, percent

STEP = Decimal("0.2")
"""By which an assumption is taken lower and higher, unless its range says otherwise."""
MOST_ITEMS = 5
"""Prices that are taken lower and higher: those that weigh most in the choice and the next one."""
USED = Decimal("0.1")
"""Low end of traffic that nobody states: a tenth of what the rates allow."""
LEAST = Decimal("0.005")
"""Less than half a cent is no change."""
MOST_SHARE = Decimal("0.99")
PEOPLE, POWER = ("people", "administrator"), ("power", "electricity")


@dataclass(frozen=True)
class _Range:
    """An assumption with what it would be; each end in words, and what it gives."""

    name: str
    value: str
    low: tuple[str, Callable[[], Answer], Need] | None
    high: tuple[str, Callable[[], Answer], Need] | None


def tornado(again: Again) -> tuple[tuple[Assumption, ...], tuple[str, ...]]:
    """Assumptions that change something, the largest first, and the names of those that change nothing."""
    here = again.all(again.need)
    best = again.designs[0].name
    base = _end("", again, here, again.need, best)
    found = [_weighed(each, again, base, best) for each in (*_of_need(again, here), *_of_prices(again, here))]
    moving = [each for each in found if each.size >= LEAST or each.turns]
    return (
        tuple(sorted(moving, key=lambda each: (-each.size, each.name))),
        tuple(each.name for each in found if each not in moving),
    )


def _end(value: str, again: Again, found: Answer, need: Need, best: str) -> End:
    """The answer at an end; what is above the budget is not chosen."""
    costs = {name: again.measure(item, need) for name, item in found.items()}
    others = [cost for name, cost in costs.items() if name != best and cost is not None]
    month = costs[best]
    gap = min(others) - month if others and month is not None else None
    within = {
        name: item
        for name, item in found.items()
        if item is not None and (again.budget is None or item.paid / need.months <= again.budget)
    }
    return End(value=value, month=month, gap=gap, choice=again.first(within, need))


def _weighed(each: _Range, again: Again, base: End, best: str) -> Assumption:
    ends = [None if end is None else _end(end[0], again, end[1](), end[2], best) for end in (each.low, each.high)]
    there = [end for end in ends if end is not None]
    changes = [
        abs(now - before)
        for end in there
        for now, before in ((end.month, base.month), (end.gap, base.gap))
        if now is not None and before is not None
    ]
    lost = any((end.month is None) != (base.month is None) or (end.gap is None) != (base.gap is None) for end in there)
    # What is no longer met at all weighs at least as much as all that is paid.
    size = max([*changes, *([base.month] if lost and base.month is not None else [])], default=Decimal(0))
    turns = any(end.choice != base.choice for end in there)
    return Assumption(name=each.name, value=each.value, low=ends[0], high=ends[1], size=size, turns=turns)


def _of_need(again: Again, here: Answer) -> Iterator[_Range]:
    """What the need says of itself; an end that cannot be is left out."""
    need = again.need

    def changed(words: str, **changes: Any) -> tuple[str, Callable[[], Answer], Need]:
        other = need.model_copy(update=changes)
        return words, lambda: again.all(other), other

    def scaled(name: str, words: Callable[[Any], str], value: Any, make: Callable[[Any], dict[str, Any]]) -> _Range:
        low, high = value * (1 - STEP), value * (1 + STEP)
        return _Range(name, words(value), changed(words(low), **make(low)), changed(words(high), **make(high)))

    months = max(1, round(need.months * STEP))
    fewer, more = need.months - months, min(MOST_MONTHS, need.months + months)
    yield _Range(
        "months",
        counted(need.months, "month"),
        changed(counted(fewer, "month"), months=fewer) if fewer else None,
        changed(counted(more, "month"), months=more) if more > need.months else None,
    )
    on = min(Decimal(1), need.duty * (1 + STEP))
    yield _Range(
        "share of the time that it is on",
        percent(need.duty),
        changed(percent(need.duty * (1 - STEP)), duty=need.duty * (1 - STEP)),
        changed(percent(on), duty=on) if on > need.duty else None,
    )
    if need.growth:
        yield scaled("growth", percent, need.growth, lambda value: {"growth": value})
    else:
        yield _Range("growth", "none", None, changed(percent(STEP), growth=STEP))
    if need.growth_per_year:
        yield scaled("growth a year", percent, need.growth_per_year, lambda value: {"growth_per_year": value})
    if need.clients is not None and need.clients > 1:
        few, many = (round(need.clients * factor) for factor in (1 - STEP, 1 + STEP))
        low, high = min(few, need.clients - 1), max(many, need.clients + 1)
        yield _Range(
            "clients", f"{need.clients:,}", changed(f"{low:,}", clients=low), changed(f"{high:,}", clients=high)
        )
    share = need.profile.read_share
    if 0 < share < 1:
        ends = (share * (1 - STEP), min(MOST_SHARE, share * (1 + STEP)))
        low_end, high_end = (
            changed(percent(end), profile=need.profile.model_copy(update={"read_share": end})) for end in ends
        )
        yield _Range("share of reads", percent(share), low_end, high_end)
    yield from _traffic(again, here, scaled, changed)
    for name, words in (("tax", "tax"), ("discount", "discount a year"), ("active", "share of the data in use")):
        value = getattr(need, name)
        if value:
            yield scaled(words, percent, value, lambda value, name=name: {name: min(Decimal(1), value)})  # type: ignore[misc]
    if need.people:
        yield scaled(
            "hours of people",
            lambda factor: ", ".join(f"{name} {hours * factor:.3g}" for name, hours in need.people.items()),
            Decimal(1),
            lambda factor: {"people": {name: hours * factor for name, hours in need.people.items()}},
        )


def _traffic(
    again: Again, here: Answer, scaled: Callable[..., _Range], changed: Callable[..., Any]
) -> Iterator[_Range]:
    """What is moved in a month: as stated, or what follows from the rates where it costs money."""
    need = again.need
    names = {
        "read": "reads a month",
        "written": "writes a month",
        "egress": "egress a month",
        "zone": "zone traffic a month",
    }

    def with_monthly(name: str, size: Any) -> dict[str, Any]:
        return {"monthly": need.monthly.model_copy(update={name: int(size)})}

    for key, words in names.items():
        value = getattr(need.monthly, key)
        if value:
            yield scaled(words, about_size, value, lambda size, key=key: with_monthly(key, size))
    paid = any(item is not None and paid_by_request(item.variant.design) for item in here.values())
    hours = again.market.books[0].hours_per_month
    for key, side in (("read", "read"), ("written", "write")):
        if paid and getattr(need.monthly, key) is None:
            # Growth is counted as the advice does.
            size = moved(need.grown, "read" if side == "read" else "write", hours).moved
            if size:
                low = int(size * USED)
                yield _Range(
                    names[key],
                    f"{about_size(size)} by the rates",
                    changed(about_size(low), **with_monthly(key, low)),
                    None,
                )
    if need.snapshots:
        yield scaled("snapshots", about_size, need.snapshots, lambda size: {"snapshots": int(size)})


def _of_prices(again: Again, here: Answer) -> Iterator[_Range]:
    """Exchange rates, electricity, and the prices that weigh most in the choice and the next one."""
    need, market = again.need, again.market
    home = {book.book: book.currency for book in market.books}
    origin = _origin(again)

    def priced(words: str, step: Decimal, touches: Callable[[RowOf], bool], leaving: bool) -> tuple[Any, ...]:
        return words, lambda: again.repriced(step, touches, leaving), need

    def both(name: str, value: str, low: str, high: str, touches: Callable[[RowOf], bool]) -> _Range:
        leaving = origin is not None and touches(origin)
        ends = (priced(low, 1 - STEP, touches, leaving), priced(high, 1 + STEP, touches, leaving))
        return _Range(name, value, *ends)  # type: ignore[arg-type]

    for currency, rate in sorted(market.exchange.rates.items() if market.exchange is not None else ()):
        if currency in home.values() and currency != market.currency:
            yield both(
                f"exchange rate of {currency}",
                f"{rate:.4g}",
                f"{rate * (1 - STEP):.4g}",
                f"{rate * (1 + STEP):.4g}",
                lambda row, currency=currency: home[row[0]] == currency,  # type: ignore[misc]
            )
    less, more = f"{percent(STEP)} less", f"{percent(STEP)} more"
    items = _largest(again, here)
    electricity = [row for row in _rows(again, here) if row[1:] == POWER]
    for row in dict.fromkeys([*electricity, *items]):
        name = "price of electricity" if row[1:] == POWER else f"price of {row[2]}"
        yield both(name, _where(row), less, more, lambda other, row=row: other == row)  # type: ignore[misc]


def _origin(again: Again) -> RowOf | None:
    """The price of leaving the cloud where the data are now."""
    plan = again.need.migration
    sold = next((each for each in again.market.sold if plan is not None and each.provider == plan.origin), None)
    return None if sold is None else (sold.name, "transfer-out", "internet")


def _where(row: RowOf) -> str:
    return f"{row[1]}, {row[0]}"


def _rows(again: Again, here: Answer) -> list[RowOf]:
    return list(dict.fromkeys(row for item in here.values() if item is not None for row in again.parts(item.variant)))


def _largest(again: Again, here: Answer) -> list[RowOf]:
    """Prices by the most that any of the choice and the next one pays of it; hours of people are an assumption."""
    ranked = sorted(
        (item for item in here.values() if item is not None),
        key=lambda item: again.measure(item) or Decimal("Infinity"),
    )
    weights: dict[RowOf, Decimal] = {}
    for item in ranked[:2]:
        for row, (_, present) in again.parts(item.variant).items():
            if row[1:] != PEOPLE and row[1:] != POWER and present:
                weights[row] = max(weights.get(row, Decimal(0)), present)
    return sorted(weights, key=lambda row: (-weights[row], row))[:MOST_ITEMS]
