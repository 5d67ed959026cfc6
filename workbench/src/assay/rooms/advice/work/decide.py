"""The choice among variants that meet a need, and its reasons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assay.model.money.amount import EXACT, format_money
from assay.model.money.design import S3
from assay.model.units import about_number, about_size
from assay.money.cost.cost import MAX_MONTHS
from assay.rooms.advice.model.advice import Remark, RequirementCheck, differs_in_durability
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work import rules
from assay.rooms.advice.work.checks import Assessment, sorted_best_first
from assay.rooms.advice.work.options import (
    best_of_each,
    bill_difference,
    books_of,
    is_purchased,
    month_by_kind,
    option_of,
)
from assay.rooms.advice.work.plausible import LIKELY, SAFE
from assay.rooms.advice.work.pricer import (
    ASSUMED_HOURS,
    ASSUMED_HOURS_SOURCE,
    assumed_hours,
)
from assay.rooms.advice.work.sensitivity import passed_over
from assay.rooms.advice.work.texts import amount, count_text, missing_prices_text, more_text, percent, term_text
from assay.rooms.advice.work.traffic import uploaded_bytes

MAX_CHEAPER = 5
"""Most cheaper designs of sufficient capacity and the right access that are listed with what excludes them."""


@dataclass(frozen=True)
class AdviceDecision:
    """The chosen variants.

    Attributes:
        chosen: One variant; two if the evidence cannot separate them, or if nothing is proven and the cheapest
            plausible one is not the safest; none.
        why: Why two variants cannot be separated.
    """

    result: Literal["recommended", "unproven", "not separable", "none"]
    chosen: tuple[Assessment, ...] = ()
    decided_by: str = ""
    why: str = ""


def decide(proven: Sequence[Assessment], unproven: Sequence[Assessment], need: Need) -> AdviceDecision:
    """Choose the best variant that is proven to meet the need; without one, the best that may meet it.

    Args:
        proven: Variants that meet all requirements.
        unproven: Variants that fail no requirement, and are not known to meet some.
        need: The requirements.
    """
    by = "cost" if need.prefer == "cost" else "cost for each GB/s"
    if not proven:
        return AdviceDecision("unproven", _plausible_choices(unproven), by) if unproven else AdviceDecision("none")
    best, *rest = sorted_best_first(proven)
    alternative, why = _missing_price_rival(best, rest)
    if alternative is not None:
        return AdviceDecision("not separable", (best, alternative), by, why)
    rival, quantity, why = _inseparable(best, rest)
    if rival is not None:
        return AdviceDecision("not separable", (best, rival), quantity, why)
    return AdviceDecision("recommended", (best,), by)


def _plausible_choices(unproven: Sequence[Assessment]) -> tuple[Assessment, ...]:
    """Return the cheapest plausible variant, and the safest where that is another one; the most likely if none is.

    Plausible is a chance of `LIKELY`; the safest is the cheapest with a chance of `SAFE`, else the most likely one.
    """
    ranked = sorted_best_first(unproven)
    likely = max(ranked, key=lambda item: item.chance)
    cheapest = ranked[0] if ranked[0].chance >= LIKELY else likely
    safest = next((item for item in ranked if item.chance >= SAFE), likely)
    return (cheapest,) if safest.chance <= cheapest.chance else (cheapest, safest)


def _missing_price_rival(best: Assessment, rest: Sequence[Assessment]) -> tuple[Assessment | None, str]:
    """Return a variant that would be cheaper if the best one's missing prices are high, and the explanation.

    A missing price may be as high as the provider's highest of its kind.
    """
    offer = best.variant.best
    whole = next((item for item in rest if not item.variant.best.missing_prices), None)
    if not offer.missing_prices or whole is None:
        return None, ""
    highest = offer.missing_cost_max
    if highest is not None and best.rank(best.present_value + highest) <= whole.rank():
        return None, ""
    lacks = missing_prices_text(offer.missing_prices)
    text = f"{best.variant.label} costs about {best.month_text} a month without {lacks}"
    text += f", {whole.variant.label} {whole.month_text} with everything"
    gap = format_money((whole.present_value - best.present_value) / best.need.months, offer.cost.currency)
    text += f": the choice changes if the missing prices exceed {gap} a month"
    if highest is None:
        return whole, f"{text}; no price book has a comparable price"
    most = format_money(highest / best.need.months, offer.cost.currency)
    return whole, f"{text}; the missing prices may be up to {most}, by the provider's highest of the kind"


def _inseparable(best: Assessment, rest: Sequence[Assessment]) -> tuple[Assessment | None, str, str]:
    """Return a variant that the evidence cannot separate from the best one, the quantity, and the explanation.

    With the preference for cost, the order is known. Open are only whether the best one meets the need over its whole
    intervals, and which of two at equal cost is faster. With cost for each GB/s, the intervals of the rates decide.
    """
    by_cost = best.need.prefer == "cost"
    if by_cost and not best.is_certain:
        open_checks = [check for check in best.checks if not check.is_certain]
        rival = next((item for item in rest if item.is_certain), None)
        first = open_checks[0]
        why = f"whether {best.variant.label} meets {first.requirement} is within its interval: {first.text}"
        return rival, first.requirement, why
    if not rest:
        return None, "", ""
    second = rest[0]
    if best.rate is None or second.rate is None or best.rate.low is None or second.rate.low is None:
        return None, "", ""
    if by_cost:
        if best.total_cost != second.total_cost or not _overlap(best, second, 1, 1):
            return None, "", ""
        return second, "rate", f"they cost the same, and their rates overlap: {_rates(best)}; {_rates(second)}"
    if _overlap(best, second, best.total_cost, second.total_cost):
        why = f"their intervals of cost for each GB/s overlap: {_worth(best)}; {_worth(second)}"
        return second, "cost for each GB/s", why
    return None, "", ""


def _overlap(first: Assessment, second: Assessment, first_cost: Decimal | int, second_cost: Decimal | int) -> bool:
    """Return whether the intervals of rate / cost of two variants overlap; both have intervals."""
    ends = []
    for item, cost in ((first, first_cost), (second, second_cost)):
        assert item.rate is not None
        ends.append(tuple(Decimal(repr(end)) / cost for end in (item.rate.low, item.rate.high)))
    return ends[0][0] <= ends[1][1] and ends[1][0] <= ends[0][1]


def _rates(item: Assessment) -> str:
    rate = item.rate
    assert rate is not None and rate.low is not None and rate.high is not None
    return f"{item.variant.label} {amount(rate.metric, rate.low)} to {amount(rate.metric, rate.high)}"


def _worth(item: Assessment) -> str:
    rate = item.rate
    assert rate is not None and rate.low is not None and rate.high is not None
    month = item.total_cost / item.need.months * 10**9
    ends = [format_money(month / Decimal(repr(end)), item.variant.best.cost.currency) for end in (rate.high, rate.low)]
    return f"{item.variant.label} {ends[0]} to {ends[1]} a month"


def reasons(
    decision: AdviceDecision,
    proven: Sequence[Assessment],
    failed: Sequence[Assessment],
) -> Iterator[Remark]:
    """Yield why the best one is chosen: its price and the next one's, requirements, rules, excluded cheaper designs."""
    if not decision.chosen:
        return
    best = decision.chosen[0]
    source = f"price book {' and '.join(books_of(best))}"
    if decision.why:
        yield Remark(rule="evidence", stance="note", text=decision.why, source=_sources(decision.chosen))
    yield Remark(rule="cost", stance="for", text=_price_words(best, proven), source=source)
    yield from _administration_remarks(best, proven)
    yield from _price_remarks(best, source)
    yield from _colder_remarks(best, proven, source)
    yield from _break_even_remarks(best, proven)
    for check in best.checks:
        stance: Literal["for", "note"] = "for" if check.outcome == "met" and check.is_certain else "note"
        text = f"{check.requirement}: {check.text}"
        yield _check_remark(check, stance, text)
    yield from best.remarks
    remark = rules.saturated_nfs(best.variant.design, best.need, nfs_max_rates([*proven, *failed]))
    if remark is not None:
        yield remark
    cheaper = [
        item
        for item in failed
        if item.total_cost < best.total_cost and not item.failed_requirements & {"capacity", "access"}
    ]
    closest: dict[str, Assessment] = {}
    for item in sorted(cheaper, key=lambda item: (item.distance, item.total_cost)):
        closest.setdefault(item.variant.template, item)
    for item in list(closest.values())[:MAX_CHEAPER]:
        check = next(check for check in reversed(item.checks) if check.outcome == "failed")
        text = f"{item.variant.label} would cost {item.month_text} a month, but fails {check.requirement}: {check.text}"
        yield _check_remark(check, "note", text, about="cheaper")


def _check_remark(
    check: RequirementCheck, stance: Literal["for", "note"], text: str, about: Literal["", "cheaper"] = ""
) -> Remark:
    rule = check.rule or check.requirement
    return Remark(rule=rule, stance=stance, text=text, source=check.source, about=about, requirement=check.requirement)


def _administration_remarks(best: Assessment, proven: Sequence[Assessment]) -> Iterator[Remark]:
    """Yield which variant costs less than the best one without the administration that is assumed for it."""
    rival = passed_over(best, proven)
    if rival is None:
        return
    offer, hours = rival.variant.best, assumed_hours(rival.variant.design, rival.need)
    work = format_money(offer.assumed_work / rival.need.months, offer.cost.currency)
    text = f"{rival.variant.label} costs {rival.month_text} a month without administration, and {_with_work(rival)} "
    text += (
        f"with it, if {about_number(hours)} h a month are assumed, {ASSUMED_HOURS:f} h for each server that you run "
    )
    text += f"({work}); state `admin_hours`"
    yield Remark(rule="cost", stance="note", text=text, source=ASSUMED_HOURS_SOURCE, about="administration")


def _with_work(item: Assessment) -> str:
    """Return the cost of a month with the administration that is assumed, by which designs are compared."""
    offer = item.variant.best
    return format_money((item.total_cost + offer.assumed_work) / item.need.months, offer.cost.currency)


def _colder_remarks(best: Assessment, proven: Sequence[Assessment], source: str) -> Iterator[Remark]:
    """Yield how the bill of the next bucket of the same provider differs, in which to store costs less.

    Not of the next design, which the answer compares anyway.
    """
    if not isinstance(best.variant.design.service, S3):
        return
    price = option_of(best).price
    following = next(iter(_next_designs(best, proven)), None)
    for item in sorted_best_first(proven):
        is_bucket = isinstance(item.variant.design.service, S3)
        if item is best or item is following or not is_bucket or item.variant.prices is not best.variant.prices:
            continue
        other = option_of(item).price
        text = bill_difference(price, other)
        if text and month_by_kind(other)["capacity"] < month_by_kind(price)["capacity"]:
            text = f"{item.variant.label}: {text}"
            yield Remark(rule="cost", stance="note", text=text, source=source, about="colder")
            return


def _next_designs(best: Assessment, items: Sequence[Assessment]) -> list[Assessment]:
    """Return the best of each other design, in the order of `Advice.runner_up`."""
    others = [item for item in best_of_each(items) if item.variant.template != best.variant.template]
    return sorted(others, key=lambda item: differs_in_durability(item.variant.design, best.variant.design))


def _price_remarks(best: Assessment, source: str) -> Iterator[Remark]:
    """Yield remarks on what the price includes and what it lacks."""
    offer, need = best.variant.best, best.need
    if offer.missing_prices:
        text = f"the total lacks {missing_prices_text(offer.missing_prices)}, which the price book does not have"
        if offer.missing_cost_max is not None:
            most = format_money(offer.missing_cost_max / need.months, offer.cost.currency)
            text += f"; at the provider's highest price of the kind that would be {most} more a month"
        yield Remark(rule="cost", stance="note", text=text, source=source)
    if offer.migration_cost and need.migration is not None:
        once = format_money(offer.migration_cost, offer.cost.currency)
        text = f"{once} of it is the one-time cost of moving the data out of {need.migration.origin}"
        yield Remark(rule="migration", stance="note", text=text, source="price book")
    if offer.upload_cost:
        once = format_money(offer.upload_cost, offer.cost.currency)
        size = about_size(uploaded_bytes(need, offer.cost.hours_per_month))
        text = f"{once} of it is the one-time cost of writing {size} that must be stored first"
        yield Remark(rule="first_upload", stance="note", text=text, source=source)
    if need.discount:
        text = f"at a discount of {percent(need.discount)} a year the present value of all payments is "
        text += f"{format_money(offer.present_value, offer.cost.currency)} ; designs are compared by present value"
        yield Remark(rule="discount", stance="note", text=text, source="the need")
    if offer.factor != 1:
        text = f"the price includes support and tax, {percent(offer.factor - 1)} above the price books"
        yield Remark(rule="cost", stance="note", text=text, source="the need")


def _break_even_remarks(best: Assessment, satisfying: Sequence[Assessment]) -> Iterator[Remark]:
    """Yield when the best purchase has cost less than the best rental, and how long it could be used afterwards."""
    best_is_purchased = is_purchased(best)
    other = next((item for item in sorted_best_first(satisfying) if is_purchased(item) != best_is_purchased), None)
    months_needed = best.need.months
    if other is not None:
        own, rented = (best, other) if best_is_purchased else (other, best)
        text = f"{_break_even_text(own, rented)}; it is needed for {count_text(months_needed, 'month')}"
        yield Remark(rule="break_even", stance="note", text=text, source="price books")
    elif best_is_purchased:
        own = best
    else:
        return
    remaining = [-months_needed % months for months in _lives(own)]
    if any(remaining):
        time = (
            f"{min(remaining)} to {count_text(max(remaining), 'month')}"
            if min(remaining) < max(remaining)
            else count_text(remaining[0], "month")
        )
        text = f"the hardware of {own.variant.label} is paid in full; it could be used for {time} more"
        yield Remark(rule="paid_whole", stance="note", text=text, source="years of use, by the design")


def _break_even_text(own: Assessment, rented: Assessment) -> str:
    """Return when a purchase has cost less in total, and until when.

    Hardware is bought again when its years of use end, which may make it the more expensive one again. One life of the
    hardware is considered after the need, and after the first month in which it costs less.
    """

    def cheaper(month: int) -> bool:
        return _spent(own, month) <= _spent(rented, month)

    name, than = own.variant.label, f"{rented.variant.label}, rented"
    month = next((month for month in range(1, MAX_MONTHS + 1) if cheaper(month)), None)
    if month is None:
        return f"{name} never costs less in total than {than} within 20 years"
    lives = _lives(own)
    last = max(month, own.need.months) + max(lives)
    ends_at = next((each for each in range(month + 1, last + 1) if not cheaper(each)), None)
    if ends_at is None:
        return f"from month {month} on {name} has cost less in total than {than}"
    bought_again = any((ends_at - 1) % life == 0 for life in lives)
    if ends_at == month + 1:
        text = f"after month {month} only {name} has cost less in total than {than}"
        return f"{text}: then the hardware must be bought again" if bought_again else text
    text = f"from month {month} on {name} has cost less in total than {than}"
    return (
        f"{text}, until the hardware must be bought again after month {ends_at - 1}"
        if bought_again
        else f"{text}, until month {ends_at - 1}"
    )


def _lives(own: Assessment) -> tuple[int, ...]:
    """Return the months after which each piece of hardware is bought again."""
    return tuple(charge.once_months for charge in own.variant.best.cost.charges if charge.line.years is not None)


def _spent(item: Assessment, months: int) -> Decimal:
    """Return all that is paid for so many months, with support, tax and migration."""
    offer = item.variant.best
    return EXACT.add(EXACT.multiply(offer.cost.committed_cost(months), offer.factor), offer.migration_cost)


def nfs_max_rates(assessed: Sequence[Assessment]) -> dict[str, float]:
    """Return the highest rate of a single NFS server among the variants, by metric.

    It is measured, else computed from its figures, else the limit of the rule of thumb.
    """
    rates: dict[str, float] = {}
    for item in assessed:
        if item.variant.design.family == "nfs":
            for metric in ("read", "write"):
                figure = item.figures.get(metric)
                if figure is None:
                    continue
                if figure.basis == "measured" and figure.value is not None:
                    rate = figure.value
                else:
                    known = figure.basis == "rule" and figure.value is not None
                    rate = (figure.value or 0.0) if known else rules.NFS_RATE
                rates[metric] = max(rates.get(metric, 0.0), rate)
    return rates


def _price_words(best: Assessment, satisfying: Sequence[Assessment]) -> str:
    offer, need = best.variant.best, best.need
    term = term_text(offer.term, offer.payment, is_purchased(best))
    months = count_text(need.months, "month")
    whole = format_money(offer.total_cost, offer.cost.currency)
    about = "about " if offer.missing_prices else ""
    text = f"it costs {about}{best.month_text} a month, {whole} in {months} ({term})"
    others = _next_designs(best, satisfying)
    if need.prefer == "cost-per-rate" and best.rate is not None and best.rate.value:
        worth = format_money(
            best.total_cost / need.months * 10**9 / Decimal(repr(best.rate.value)), offer.cost.currency
        )
        text += f", {worth} for each GB/s"
    if best.outcome != "met":
        return f"{text}; no variant is proven to meet the need"
    designs = len({item.variant.template for item in satisfying})
    word = "least" if need.prefer == "cost" else "least for each GB/s"
    if passed_over(best, satisfying) is not None:
        text += f", {_with_work(best)} a month with the administration that is assumed"
    text += (
        f", the {word} of {count_text(len(satisfying), 'variant')} of {count_text(designs, 'design')} "
        "that meet the need"
    )
    if others:
        more = more_text(EXACT.divide(others[0].total_cost, best.total_cost)) if best.total_cost else "more"
        text += f"; the next design, {others[0].variant.label}, costs {others[0].month_text}"
        text += f", {more}" if others[0].total_cost >= best.total_cost else ""
    return text


def _sources(chosen: Sequence[Assessment]) -> str:
    return "; ".join(dict.fromkeys(item.rate.source for item in chosen if item.rate is not None))
