"""The sentences of the advice page."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from assay.model.money.amount import TERM_MONTHS, format_money
from assay.model.units import about_size
from assay.report.document import Mono, Span, Strong, Text
from assay.report.numbers import listing
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.model.sensitivity import Sensitivity
from assay.rooms.advice.work.plausible import LIKELY
from assay.rooms.advice.work.texts import (
    MIN_SHARE,
    SAME_COST,
    amount,
    count_text,
    missing_prices_text,
    percent,
    term_text,
)

RATES = ("read", "write", "read_iops", "write_iops", "p99")
MAX_REASONS = 3
"""Fewest reasons to give, where there are so many, and most conflicts."""
LONGEST_SENTENCE = 230
"""Longest sentence that keeps its brackets, in characters."""
_EXPECTED = re.compile(r"; (?:all|[\d.]+ %) can be expected")


def answer_sentence(advice: Advice) -> Text:
    """Return the answer in one sentence with the price."""
    best = advice.choice
    if best is None:
        return (Strong("Nothing meets this need"), f": {count_text(advice.counts.enumerated, 'variant')} were tried.")
    price, months = best.price, count_text(advice.need.months, "month")
    nearly = "about " if price.missing_prices else ""
    costs = f"{nearly}{format_money(price.month, price.currency)} a month"
    term = term_text(price.term, price.payment, price.is_purchased)
    whole = f" ({format_money(price.paid, price.currency)} in {months}, {term}): "
    before, does = {
        "recommended": ("", " meets the need for "),
        "not separable": ("The evidence does not show which of the best two is better. The first is ", " for "),
        "unproven": (f"Nothing is proven to meet the need. {_unproven_head(best)} is ", " for "),
    }[advice.result]
    return (before, Strong(about_design(advice, best)), does, Strong(costs), whole, Mono(best.label), ".")


def beyond_price(option: AdviceOption) -> str:
    """Return what the price of an option leaves out and what that costs; empty if nothing is left out."""
    price, found = option.price, []
    if option.built_design is not None and option.built_design.is_attached:
        names = listing(sorted({group.instance or "" for group in option.built_design.servers}))
        cost = "it has no price in the book"
        if price.client_month is not None:
            both = format_money(price.month + price.client_month, price.currency)
            cost = f"{format_money(price.client_month, price.currency)} a month on demand, {both} together"
        found.append(f"This price is of the volumes alone; the instance that uses them, {names}, is not in it: {cost}.")
    if price.administration:
        work = format_money(price.administration, price.currency)
        both = format_money(price.month + price.administration, price.currency)
        found.append(
            f"Administration is not in this price. {work} a month are assumed for it, and the design is compared with "
            f"others at {both} a month."
        )
    return " ".join(found)


def _unproven_head(best: AdviceOption) -> str:
    kind = "cheapest plausible" if best.chance >= LIKELY else "most likely"
    return f"The {kind} choice (chance {percent(best.chance)})"


def about_design(advice: Advice, option: AdviceOption) -> str:
    """Return what the design of an option is, in words; its name if it has no description."""
    designs = advice.sensitivity.designs if advice.sensitivity is not None else ()
    found = next((each.about for each in designs if each.design == option.design and each.about), option.design)
    return found.split("; ", 1)[0].rstrip(".")


def runner_up_sentence(advice: Advice) -> Text:
    """Return a sentence on the runner-up and its difference in cost; empty without a choice."""
    best = advice.choice
    other = advice.runner_up
    if best is None:
        return ""
    if other is None:
        does = "meets the need" if best in advice.options else "may meet the need"
        return (Strong("Runner-up: "), f"no other design {does}.")
    head = "Runner-up: " if not nearer_sentence(advice) else "Best of another kind: "
    return (Strong(head), *_compared(advice, other, best))


def nearer_sentence(advice: Advice) -> Text:
    """Return a sentence on the cheapest other design, where that is not the runner-up; else empty.

    It is of the family of the choice, and survives more or less than it does.
    """
    best, other, found = advice.choice, advice.runner_up, advice.sensitivity
    if best is None or other is None or found is None or found.runner_up in (None, other.design):
        return ""
    pool = advice.options if best in advice.options else advice.unproven
    nearer = next((item for item in pool if item.design == found.runner_up), None)
    if nearer is None:
        return ""
    return (Strong("Runner-up, of the same kind as the choice: "), *_compared(advice, nearer, best))


def _compared(advice: Advice, other: AdviceOption, best: AdviceOption) -> tuple[Span, ...]:
    """Return what an option is, and how its cost differs from that of the best one."""
    about = about_design(advice, other)
    name = f"{about}, " if about not in (other.design, about_design(advice, best)) else ""
    price = other.price
    cost = f". It costs {format_money(price.month, price.currency)} a month, {_difference(price.month, best, False)}"
    if price.administration != best.price.administration:
        whole = price.month + price.administration
        cost += f"; with the administration that is assumed, {format_money(whole, price.currency)}, "
        cost += _difference(whole, best, True)
    if other.built_design is not None and other.built_design.is_attached and price.client_month:
        client = format_money(price.client_month, price.currency)
        cost += f". The instance that uses it, {client} a month on demand, is not in this price"
    return name, Mono(other.label), f"{cost}."


def _difference(month: Decimal, best: AdviceOption, with_work: bool) -> str:
    """Return how a cost of a month differs from that of the best option, with or without its administration."""
    own = best.price.month + (best.price.administration if with_work else 0)
    more = month - own
    if abs(more) <= own * MIN_SHARE:
        return SAME_COST
    share = f" ({percent(abs(more) / own)})" if own else ""
    return f"{format_money(abs(more), best.price.currency)}{share} {'more' if more > 0 else 'less'}"


def reason_sentences(advice: Advice) -> Iterator[str]:
    """Yield the reasons with numbers: on cost, on rates, on both directions at once, on cheaper designs.

    Without a choice, yield the requirements that conflict.
    """
    best = advice.choice
    if best is None:
        for conflict in advice.conflicts[:MAX_REASONS]:
            yield sentence(f"{' + '.join(conflict.requirements)}: {conflict.text}")
        return
    if advice.result == "not separable" and advice.reasons:
        yield sentence(advice.reasons[0].text)
    yield from _ranked(advice)


def _ranked(advice: Advice) -> list[str]:
    fitting = [each for each in advice.reasons if any(sign.isdigit() for sign in each.text)]
    kinds = (
        [each for each in fitting if each.rule == "cost" and each.stance == "for"],
        [each for each in fitting if each.about == "administration"],
        [each for each in fitting if each.rule == "spot" and each.stance == "for"],
        [each for each in fitting if each.stance == "for" and each.requirement in RATES],
        # Why the rate that is expected of reading alone is more than what is met with writing in proportion.
        [each for each in fitting if each.stance == "for" and " + " in each.requirement],
        [each for each in fitting if each.about == "cheaper"],
    )
    firsts = [kind[0] for kind in kinds if kind]
    others = [each for each in fitting if each.stance == "for" and each not in firsts]
    firsts += others[: max(0, MAX_REASONS - len(firsts))]
    return [sentence(each.text) for each in firsts]


def drawbacks(advice: Advice) -> Iterator[str]:
    """Yield the conditions of the choice and the reasons against it; the loss of spot instances comes first."""
    best = advice.choice
    if best is None:
        return
    against = [each for each in advice.reasons if each.stance == "against"]
    texts = [each.text for each in against if each.rule == "spot"]
    texts += [*best.conditions, *(each.text for each in against)]
    months = TERM_MONTHS.get(best.price.term)
    if months is not None and best.price.payment:
        texts.append(f"{best.price.term}, {best.price.payment}: it is paid for {months} months, used or not")
    if best.price.migration_cost:
        once = format_money(best.price.migration_cost, best.price.currency)
        texts.append(f"{once} of it is the one-time cost of moving the data in")
    sentences = list(dict.fromkeys(sentence(text) for text in texts))
    yield from sentences
    if not sentences:
        yield f"None: no condition of {best.design} is on record, and no rule counts against it."


def unknowns(advice: Advice, today: dt.date) -> Iterator[str]:
    """Yield what the advice does not know or assumes."""
    best = advice.choice
    if best is not None:
        yield from _of_option(advice, best)
    if advice.counts.unpriced:
        yield f"{count_text(advice.counts.unpriced, 'variant')} had no price in these books, and could be cheaper."
    yield price_dates(advice, today)
    if advice.exchange is not None:
        rates = ", ".join(
            f"1 {key} = {value:f} {advice.prices.currency}" for key, value in advice.exchange.rates.items()
        )
        source = f", {advice.exchange.source}" if advice.exchange.source else ""
        yield f"Exchange rate of {advice.exchange.date}: {rates}{source}."
    yield (
        f"{percent(advice.need.tax)} of tax is included in all costs."
        if advice.need.tax
        else "Tax is not included in the costs."
    )
    yield _power(advice)
    assumed = [
        key for key in ("pattern", "record", "read_share", "streams") if key not in advice.need.profile.model_fields_set
    ]
    if assumed:
        profile = advice.need.profile
        values = {
            "pattern": profile.pattern,
            "record": f"records of {about_size(profile.record)}",
            "read_share": f"{percent(profile.read_share)} reading",
            "streams": f"{count_text(profile.streams, 'stream')} of each client",
        }
        yield f"The need does not state the whole I/O profile; assumed: {', '.join(values[key] for key in assumed)}."


def _of_option(advice: Advice, best: AdviceOption) -> Iterator[str]:
    if best.price.missing_prices:
        yield f"The total lacks {missing_prices_text(best.price.missing_prices)}: no price book has it."
    other = advice.runner_up
    if other is not None and other.price.missing_prices:
        yield f"The total of the runner-up lacks {missing_prices_text(other.price.missing_prices)}."
    for check in best.checks:
        if check.outcome == "unproven" or not check.is_certain:
            yield sentence(f"not proven: {check.requirement}: {check.text}")
    bases = {
        figure.metric: figure.basis for figure in best.figures if getattr(advice.need, figure.metric, None) is not None
    }
    ruled = [amount_words(advice, metric) for metric, basis in bases.items() if basis == "rule"]
    if ruled:
        yield f"Not measured: {' and '.join(ruled)} are based on published limits and a rule of thumb; measure first."


def amount_words(advice: Advice, metric: str) -> str:
    """Return a requirement in words: `read 3 GB/s`."""
    return f"{metric.removesuffix('_iops')} {amount(metric, getattr(advice.need, metric))}"


def price_dates(advice: Advice, today: dt.date) -> str:
    """Return the dates of the prices that were used, and the age of the oldest."""
    found = [row.date or advice.prices.date for row in advice.rows] or [advice.prices.date]
    first, last = min(found), max(found)
    span = f"of {first}" if first == last else f"of {first} to {last}"
    age = (today - first).days
    old = f"the oldest is {count_text(age, 'day')} old" if age >= 0 else "they are in the future"
    return f"Prices {span}: on {today} {old}."


def _power(advice: Advice) -> str:
    rows = [row for row in advice.rows if row.dimension == "power"]
    if not rows:
        return "Electricity is not a separate item in any option shown."
    each = ", ".join(
        f"{format_money(row.price or Decimal(0), advice.prices.currency)} for 1 {row.unit.split('-')[0]}"
        for row in rows
    )
    return f"Electricity of own hardware: {each}."


def price_books(advice: Advice) -> Iterator[Text]:
    """Yield the price books, each with the options it was used for."""
    best = advice.choice
    other = advice.runner_up
    for book in advice.books or (advice.prices,):
        uses = [
            name
            for name, option in (("the choice", best), ("the runner-up", other))
            if option is not None and book.book in option.price.books
        ]
        used = f"; prices {' and '.join(uses)}" if uses else ""
        yield (Strong(book.book), f": {book.region}, {book.currency}, {book.date}{used}")


def sentence(text: str) -> str:
    """Return the first part of a remark as one sentence; beyond `LONGEST_SENTENCE` its brackets go."""
    first = _part(text)
    if expected := _EXPECTED.match(text, len(first)):
        # Without it a load of 96 % looks as if it were met.
        first += expected[0]
    if len(first) > LONGEST_SENTENCE:
        first = _without_brackets(first)
    if first.split(" ", 1)[0].rstrip(":,").isalpha():
        # The first word of a label, such as `st1:`, keeps its case.
        first = first[:1].upper() + first[1:]
    return first if first.endswith(".") else f"{first}."


def _part(text: str) -> str:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == ";" and depth <= 0:
            return text[:place]
    return text


def _without_brackets(text: str) -> str:
    outside, depth = [], 0
    for sign in text:
        depth += sign == "("
        if depth <= 0:
            outside.append(sign)
        depth -= sign == ")"
    return " ".join("".join(outside).split()).replace(" ,", ",").replace(" ;", ";")


def time_words(need: Need) -> str:
    """Return how long a need is: `12 months, on 80 % of the time`."""
    return count_text(need.months, "month") + (f", on {percent(need.duty)} of the time" if need.duty < 1 else "")


def growth_words(need: Need) -> str:
    """Return by how much a need grows; empty if it does not."""
    words = [percent(need.growth)] if need.growth else []
    return ", ".join([*words, *([f"{percent(need.growth_per_year)} a year"] if need.growth_per_year else [])])


def budget_words(need: Need) -> str:
    """Return the budget of a need; empty if it has none."""
    if need.budget is None:
        return ""
    per = "a month" if need.budget.per == "month" else "in all"
    return f"{format_money(need.budget.amount, need.budget.currency)} {per}"


def need_facts(advice: Advice) -> Iterable[tuple[str, str]]:
    """Yield names and values that identify the need."""
    need = advice.need
    demands = [f"{need.access}, {about_size(need.capacity)}"]
    demands += [amount_words(advice, metric) for metric in RATES[:4] if getattr(need, metric) is not None]
    yield "Need", ", ".join(demands)
    more = [count_text(need.clients, "client")] if need.clients else []
    more += [f"durability {need.durability}"] if need.durability else []
    more += [f"availability {need.availability:g} %"] if need.availability else []
    more += [f"growth {words}"] if (words := growth_words(need)) else []
    if more:
        yield "With", ", ".join(more)
    yield "For", time_words(need)
    if words := budget_words(need):
        yield "Budget", words
    designs = len({item.design for item in advice.options})
    met = f"{advice.counts.met:,} of {count_text(designs, 'design')} meet the need"
    yield "Tried", f"{count_text(advice.counts.enumerated, 'variant')}, of which {met}"


def crossings(found: Sensitivity) -> Iterator[tuple[str, float, str, str]]:
    """Yield axis, position, sign and sentence of each crossing; signs are numbered through both plots."""
    number = 0
    for curves in (found.capacity, found.rate):
        if curves is not None:
            for crossing in curves.crossings:
                number += 1
                yield curves.axis, crossing.at, str(number), crossing.text
