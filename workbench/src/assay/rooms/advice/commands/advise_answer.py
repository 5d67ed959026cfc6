"""Advice in a few lines: the choice, the next best, the reason, what would change the choice, what is not known."""

import re
from collections.abc import Iterator
from decimal import Decimal

from assay.model.money.amount import format_money
from assay.model.units import about_number, about_size
from assay.money.cost.stored_prices import BY_USE
from assay.rooms.advice.model.advice import Advice, AdviceOption, RejectedDesign, RequirementCheck
from assay.rooms.advice.work.options import bill_difference, month_by_kind
from assay.rooms.advice.work.plausible import LIKELY
from assay.rooms.advice.work.texts import (
    MIN_SHARE,
    SAME_COST,
    SOLD,
    amount,
    count_text,
    missing_prices_text,
    percent,
    term_text,
)
from assay.rooms.advice.work.warnings import DOUBTFUL_RULE, OLD_RULE
from assay.terminal.output import print_line

PAID_BY_USE = frozenset(SOLD[name] for name in BY_USE if name in SOLD)
"""Kinds of lines that follow from the use, not from the size of the storage."""
HEADS = {
    "recommended": "Recommended",
    "unproven": "Cheapest plausible choice, not proven to meet the need",
    "not separable": "Not separable",
    "none": "Nothing meets this need",
}
FIXED_REQUIREMENTS = ("profile", "where", "term")
"""Requirements that are not given up for a lower price: a design that fails one serves another purpose."""
PROMISED = ("availability", "rpo")
"""Requirements that no measurement proves."""
SHORT_CHARS = 110
"""Characters to which a longer text is shortened."""
MANY_TIMES = 2
MAX_RELAXED, MAX_CONDITIONS, MAX_PARTS = 3, 9, 4
_INNERMOST = re.compile(r" ?\([^()]*\)")
"""Brackets without further ones inside."""


def print_answer(advice: Advice) -> None:
    """Print the answer in five lines, then the conditions of the choice; if nothing meets the need, about ten lines."""
    best = advice.choice
    for line in _no_answer_lines(advice) if best is None else _answer_lines(advice, best):
        print_line(line)
    more = () if best is None else best.conditions
    if more:
        print_line("Conditions of this choice:")
        for text in more[:MAX_CONDITIONS]:
            print_line(f"  {text}")
        if len(more) > MAX_CONDITIONS:
            print_line(f"  and {len(more) - MAX_CONDITIONS} more")
    print_line(f"\n`--all` prints the reasons, the options and {count_text(len(advice.rejected), 'rejected design')}")


def dates_of(advice: Advice) -> str:
    """Return the range of dates of the choice's prices; without a choice, of all prices used."""
    best = advice.choice
    lines = best.price.lines if best is not None else ()
    dates = [line.date for line in lines if line.date is not None]
    dates = dates or [row.date or advice.prices.date for row in advice.rows] or [advice.prices.date]
    first, last = min(dates), max(dates)
    return f"of {first}" if first == last else f"of {first} to {last}"


def assumed_words(advice: Advice) -> str:
    """Return the assumptions of all prices: tax, exchange rates with date, and the electricity price if it is used."""
    need, exchange = advice.need, advice.exchange
    words = [f"{percent(need.tax)} tax included" if need.tax else "before tax"]
    if exchange is not None:
        by = f" by {exchange.source}" if exchange.source else ""
        worth = [f"1 {name} is {rate.normalize():f} {advice.prices.currency}" for name, rate in exchange.rates.items()]
        words.append(f"{', '.join(worth)} of {exchange.date}{by}")
    best = advice.choice
    used = best is not None and any(line.dimension == "power" for line in best.price.lines)
    power = next((row for row in advice.rows if row.dimension == "power" and row.price is not None), None)
    if used and power is not None and power.price is not None:
        words.append(f"electricity at {format_money(power.price, advice.prices.currency)}/{power.unit}")
    return ", ".join(words)


def old_prices_words(advice: Advice) -> str:
    """Return how much of the price is based on old or doubtful prices; empty if little is."""
    return "".join(f"; {item.text}" for item in advice.reasons if item.rule in (OLD_RULE, DOUBTFUL_RULE))


def shortened(text: str) -> str:
    """Return the first parts of a text, separated by `; `, that fit into `SHORT_CHARS` characters, but at least one.

    If the first is longer, it is without its brackets, which hold formulas. It is not cut: the figure that decides may
    be at its end.
    """
    parts = _parts(text)
    beginning = parts[0]
    while len(beginning) > SHORT_CHARS and _INNERMOST.search(beginning):
        beginning = _INNERMOST.sub("", beginning)
    for part in parts[1:]:
        if len(beginning) + len(part) + 2 > SHORT_CHARS:
            break
        beginning = f"{beginning}; {part}"
    return beginning


def _parts(text: str) -> list[str]:
    """Return the parts of a text that `; ` outside of brackets separates."""
    parts: list[str] = []
    depth = 0
    for piece in text.split("; "):
        if depth:
            parts[-1] += f"; {piece}"
        else:
            parts.append(piece)
        depth += piece.count("(") - piece.count(")")
    return parts


def _answer_lines(advice: Advice, best: AdviceOption) -> Iterator[str]:
    price, months = best.price, advice.need.months
    term = term_text(price.term, price.payment, price.is_purchased)
    about, without = (
        ("about ", f", without {missing_prices_text(price.missing_prices)}") if price.missing_prices else ("", "")
    )
    whole = f"{format_money(price.paid, price.currency)} in {count_text(months, 'month')}"
    if advice.need.duty < 1:
        whole += f", on for {percent(advice.need.duty)} of the time"
    if price.migration_cost > price.paid * MIN_SHARE:
        whole += f", {format_money(price.migration_cost, price.currency)} of it once to move the data in"
    monthly = f"{about}{format_money(price.month, price.currency)} a month"
    yield f"{_head(advice, best)}: {_sized_label(best)} for {monthly} ({term}, {whole}){without}"
    yield _next_line(advice, best)
    yield f"Reason: {_reason(advice, best)}"
    parts = _parts_of_price(best)
    if parts:
        yield f"Of the price: {', '.join(parts)}"
    differences = list(_differences(advice, best))
    if differences:
        yield f"Against the choice, a month: {'; '.join(differences)}"
    yield from _measure_lines(advice, best)
    changes = [item.text for item in advice.changes if item.kind != "requirement"]
    none = "with no price 20 % lower or higher, and with neither end of any confidence interval"
    yield f"The choice would change: {changes[0] if changes else none}"
    asked = [item.text for item in advice.changes if item.kind == "requirement"]
    if asked:
        yield f"Not stated in the need: {'; '.join(asked)}"
    yield _prices_line(advice, best)


def _sized_label(option: AdviceOption) -> str:
    """Return the label; a label that states another size, such as that of each server, with the usable bytes of all."""
    usable = about_size(option.usable)
    return option.label if usable.replace(" ", "") in option.label else f"{option.label} ({usable} usable in all)"


def _next_line(advice: Advice, best: AdviceOption) -> str:
    """Return a line about the other recommended option, or the best option of another design."""
    other = advice.runner_up
    if other is None:
        return f"Next: no other design {'meets the need' if best in advice.options else 'may meet it'}"
    head = "Next"
    if other.label in advice.recommended[1:]:
        safest = f"Safest plausible choice (chance {percent(other.chance)})"
        head = safest if advice.result == "unproven" else "Equally good"
    lacks = other.price.missing_prices
    about, without = ("about ", f", without {missing_prices_text(lacks)}") if lacks else ("", "")
    month = format_money(other.price.month, other.price.currency)
    chance = f", with a chance of {percent(other.chance)}" if head == "Next" and advice.result == "unproven" else ""
    return f"{head}: {_sized_label(other)} for {about}{month} a month, {_more(other, best)}{without}{chance}"


def _more(other: AdviceOption, best: AdviceOption) -> str:
    """Return in words how the monthly price of `other` differs from that of `best`."""
    if other.price.month == best.price.month or not best.price.month:
        return SAME_COST if other.price.month == best.price.month else "more"
    share = other.price.month / best.price.month - 1
    if share >= MANY_TIMES:
        return f"{about_number(share + 1)} times as much"
    return f"{percent(abs(share))} {'more' if share > 0 else 'less'}" if abs(share) >= MIN_SHARE else SAME_COST


def _reason(advice: Advice, best: AdviceOption) -> str:
    if advice.result == "not separable" and advice.reasons:
        return shortened(advice.reasons[0].text)
    if advice.result == "unproven":
        why = (
            f"the cheapest of those with {percent(LIKELY)} or more" if best.chance >= LIKELY else "the most likely one"
        )
        return (
            f"nothing is proven to meet the need; of {count_text(advice.counts.unproven, 'variant')} that may, "
            f"it is {why}, with a chance of {percent(best.chance)}"
        )
    least = "costs least" if advice.need.prefer == "cost" else "costs least for each GB/s"
    work = next((item.text for item in advice.reasons if item.about == "administration"), None)
    least += ", with administration," if work else ""
    designs = len({item.design for item in advice.options})
    text = (
        f"it {least} of {count_text(advice.counts.met, 'variant')} of {count_text(designs, 'design')} "
        "that meet the need"
    )
    for about in ("administration", "reading"):
        found = next((item.text for item in advice.reasons if item.about == about), None)
        text += f"; {found}" if found else ""
    cheaper = [
        item for item in advice.reasons if item.about == "cheaper" and item.requirement not in FIXED_REQUIREMENTS
    ]
    return f"{text}; {shortened(cheaper[0].text)}" if cheaper else text


def _parts_of_price(best: AdviceOption) -> list[str]:
    """Return the kinds of lines that make the most of the price, with their shares.

    Empty if one kind is all of it and follows from the size, not from the use.
    """
    months = month_by_kind(best.price)
    whole = sum(months.values(), Decimal(0))
    largest = sorted((name for name in months if months[name] * 100 >= whole), key=lambda name: -months[name])
    if not whole or (len(largest) == 1 and largest[0] not in PAID_BY_USE):
        return []
    return [f"{name} {percent(months[name] / whole)}" for name in largest[:MAX_PARTS]]


def _differences(advice: Advice, best: AdviceOption) -> Iterator[str]:
    """Yield how the bills differ of the next option, and of a bucket in which to store costs less."""
    other = advice.runner_up
    text = "" if other is None else bill_difference(best.price, other.price)
    if other is not None and text:
        yield f"{other.design if other.design != best.design else other.label}: {text}"
    yield from (item.text for item in advice.reasons if item.about == "colder")


def _head(advice: Advice, best: AdviceOption) -> str:
    if advice.result == "unproven" and best.chance < LIKELY:
        return "Most likely choice, not proven to meet the need"
    return HEADS[advice.result]


def _measure_lines(advice: Advice, best: AdviceOption) -> Iterator[str]:
    """Yield what to measure first: of the choice if it is unproven, else of a cheaper option that is plausible."""
    by_cost = advice.need.prefer == "cost"
    cheaper = next((item for item in advice.unproven if by_cost and item.price.month < best.price.month), None)
    option = best if advice.result == "unproven" else cheaper
    if option is None or option.chance < (0 if option is best else LIKELY):
        return
    check = min((each for each in option.checks if each.outcome == "unproven"), key=lambda each: each.chance or 0.0)
    name = (
        ""
        if option is best
        else f"{option.label} for {format_money(option.price.month, option.price.currency)} a month, "
    )
    more = "" if option is best else f"{_more(option, best)}, may meet the need (chance {percent(option.chance)}): "
    figure = next((each for each in option.figures if each.metric == check.requirement and each.plausible), None)
    text = shortened(check.text)
    if figure is not None and figure.plausible is not None:
        low, high = (amount(figure.metric, min(end, figure.value or end)) for end in figure.plausible)
        wanted = getattr(advice.need, figure.metric, None) or advice.need.p99
        text = f"plausible is {low} to {high}" + (f", {amount(figure.metric, wanted)} needed" if wanted else "")
    if check.requirement in PROMISED:
        yield f"Ask first: {name}{more}{check.requirement}: {text} (what does the provider promise?)"
        return
    yield f"Measure first: {name}{more}{check.requirement}: {text} (`assay measure`, then --evidence RUN)"


def _prices_line(advice: Advice, best: AdviceOption) -> str:
    """Return the line about the prices: their dates, the assumptions, and what is not known."""
    names = ", ".join(best.price.books or (advice.prices.book,))
    text = f"Prices {dates_of(advice)} ({names}), {assumed_words(advice)}{old_prices_words(advice)}"
    open_names = [check.requirement for check in best.checks if check.outcome == "unproven"]
    unknown = [f"whether it meets {' and '.join(dict.fromkeys(open_names))}"] if open_names else []
    if advice.unpriced:
        more = len(advice.unpriced) - MAX_RELAXED
        names = ", ".join(advice.unpriced[:MAX_RELAXED])
        unknown.append(f"prices of {names}{f' and {more} more' if more > 0 else ''}")
    unknown += [item.text for item in best.remarks if item.rule == "no_reserved_price"]
    return f"{text}; not known: {', '.join(unknown)}" if unknown else text


def _no_answer_lines(advice: Advice) -> Iterator[str]:
    """Yield the answer if nothing meets the need: what excludes everything, and what dropping a requirement allows."""
    counts, designs = advice.counts, len(advice.rejected)
    yield f"{HEADS['none']}: {count_text(counts.enumerated, 'variant')} of {count_text(designs, 'design')} were tried"
    if advice.conflicts:
        first = advice.conflicts[0]
        for requirement in first.requirements:
            yield from _excludes(advice, requirement)
        others = [" + ".join(item.requirements) for item in advice.conflicts[1:]]
        if others:
            yield f"Each of these also excludes all designs: {'; '.join(others)}"
    else:
        yield from (f"{item.design}: {shortened(rejected_words(item))}" for item in advice.rejected[:MAX_RELAXED])
    yield from (item.text for item in advice.relaxed[:MAX_RELAXED])
    if advice.conflicts and not advice.relaxed:
        yield "dropping any single requirement leaves no design that is known to meet the others"
    if advice.unpriced:
        yield f"Not tried, because the books lack their prices: {', '.join(advice.unpriced)}; they may meet the need"
    yield f"Prices {dates_of(advice)} ({advice.prices.book})"


def _excludes(advice: Advice, requirement: str) -> Iterator[str]:
    """Yield a line about the variant closest to this requirement, among those that fail the fewest requirements.

    If it costs too much, there is a second line with what it costs most for.
    """

    def rank(item: tuple[RejectedDesign, RequirementCheck]) -> tuple[int, float]:
        return len({check.requirement for check in item[0].failed_checks}), -(item[1].share or 0.0)

    found = [
        (item, check) for item in advice.rejected for check in item.failed_checks if check.requirement == requirement
    ]
    if not found:
        yield f"{requirement} excludes all remaining designs"
        return
    item, check = min(found, key=rank)
    name = item.closest.label if item.closest is not None else item.design
    yield f"{requirement} excludes; closest is {name}: {shortened(check.text)}"
    parts = _parts_of_price(item.closest) if requirement == "budget" and item.closest is not None else []
    if parts:
        yield f"Of that price: {', '.join(parts)}"


def rejected_words(item: RejectedDesign) -> str:
    """Return in one line why a design is rejected: the first requirement that it fails, and the names of the others."""
    if not item.failed_checks:
        return item.why
    first = item.failed_checks[0]
    others = dict.fromkeys(check.requirement for check in item.failed_checks if check.requirement != first.requirement)
    return f"{first.requirement}: {shortened(first.text)}" + (f"; also {', '.join(others)}" if others else "")
