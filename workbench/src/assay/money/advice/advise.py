"""From a need to advice: each variant of each design is priced and checked, the best one is named with reasons."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.collector import no_collector
from assay.model.money.advice import Advice, Change, Counts, Prices
from assay.model.money.need import Candidate, Need
from assay.model.money.price import Book
from assay.model.money.priced import Evidence
from assay.money.advice.candidates import Key, Tried, try_design
from assay.money.advice.checks import Assessed, assess, check_currency, deciding_first
from assay.money.advice.conflicts import conflicts, relaxed
from assay.money.advice.decide import Decision, decide, reasons
from assay.money.advice.expect import Found
from assay.money.advice.found import by_variant, unused
from assay.money.advice.market import Market, Sold, market_of
from assay.money.advice.moving import moving_notes
from assay.money.advice.options import best_of_each, option, rejected
from assay.money.advice.pareto import front
from assay.money.advice.sensitivity import duty_changes, interval_changes, price_changes
from assay.money.advice.words import counted
from assay.money.cost.designs import Template, design_names, load_template

MOST_UNPRICED = 200
"""Variants of a design without any price that are looked at."""


def advise(
    need: Need, books: Book | Sequence[Book], evidence: Iterable[Evidence] = (), base: Path | None = None
) -> Advice:
    """Which design meets a need.

    Args:
        need: What the storage must do, and the designs to consider.
        books: The prices; of several books those of a design's provider count.
        evidence: What was measured of designs; it overrides rules of thumb.
        base: Where paths of designs start.

    Raises:
        BadValueError: A candidate has a value with which no variant can be built.
        AssayError: A design does not exist, or the budget or a book is in a currency of unknown worth.
    """
    market = market_of(need, (books,) if isinstance(books, Book) else books)
    check_currency(need, market.currency)
    # Thousands of variants.
    with no_collector():
        return _advise(need, market, evidence, base)


def _advise(need: Need, market: Market, evidence: Iterable[Evidence], base: Path | None) -> Advice:
    found, strange = by_variant(evidence, base)
    stated, need = need, need.grown
    tried = _tried(need, market, base)
    assessed = [assess(variant, need, found) for design in tried for variant in design.variants]
    meets, unproven, failed = (
        [item for item in assessed if item.outcome == name] for name in ("met", "unproven", "failed")
    )
    decision = decide(meets, unproven, need)
    best = decision.chosen[0] if decision.chosen else None
    rivals = [item for item in meets if item is not best]
    if best is not None and not meets:
        # Among those of which as little is unknown the cost decides.
        rivals = [item for item in unproven if item is not best and len(item.open) == len(best.open)]
    dear = [item for item in failed if item.open == {"budget"}]
    fastest = _front(meets)
    nothing = not (meets or unproven)
    shown, possible = _shown(decision, meets, fastest, need), best_of_each(unproven, need)
    used = [*shown, *possible] or best_of_each(failed, need)
    return Advice(
        need=stated,
        prices=_prices(market.books[0], market.currency),
        books=tuple(_prices(book, book.currency) for book in market.books),
        exchange=market.exchange,
        result=decision.result,
        recommended=tuple(item.variant.label for item in decision.chosen),
        decided_by=decision.decided_by,
        reasons=tuple(reasons(decision, meets, failed, need)),
        options=tuple(option(item, need) for item in shown),
        front=tuple(item.variant.label for item in fastest),
        unproven=tuple(option(item, need) for item in possible),
        changes=tuple(_changes(best, rivals, dear, failed, need)) if best is not None else (),
        rejected=rejected(tried, assessed, _unpriced(tried, need, found), need),
        conflicts=conflicts(assessed, need) if nothing and assessed else (),
        relaxed=tuple(relaxed(assessed, need)) if nothing else (),
        counts=_counts(tried, meets, unproven, failed),
        unpriced=tuple(design.name for design in tried if design.unpriced and not design.variants),
        rows=tuple(dict.fromkeys(row for item in used for row in item.variant.best.cost.rows)),
        notes=(*_notes(tried, decision), *moving_notes(need, market), *unused(found, strange, tried, need)),
    )


@dataclass(frozen=True)
class Asked:
    """A design that is considered, and what prices it.

    Attributes:
        sold: None: no book is of its provider.
        name: In labels.
    """

    candidate: Candidate
    template: Template
    sold: Sold | None
    name: str


def asked(need: Need, market: Market, base: Path | None = None) -> list[Asked]:
    """Every design by each book of its provider; a shipped one that nobody named only if there is such a book."""
    named = need.candidates or tuple(Candidate(design=name) for name in design_names())
    found = []
    for candidate in named:
        template = load_template(candidate.design, base)
        sold: Sequence[Sold | None] = market.of(template.provider)
        priced = template.provider in (None, *(each.provider for each in market.sold))
        if not need.candidates and (template.only_if_named or not priced):
            continue
        found += [(candidate, template, each) for each in sold or (None,)]
    return [Asked(*each, name) for each, name in zip(found, _names(found), strict=True)]


def _tried(need: Need, market: Market, base: Path | None) -> list[Tried]:
    """All variants of each design; of what nobody named each thing once, by the first design that has it."""
    found: list[Tried] = []
    # By another book the same thing has another price.
    built: dict[str, set[Key]] = {}
    for each in asked(need, market, base):
        if each.sold is None:
            about = str(each.template.source.data.get("about", ""))
            found.append(Tried(each.name, about, each.candidate.design, None, each.template.provider))
        else:
            before = built.setdefault(each.sold.name, set())
            found.append(try_design(each.candidate, need, market, each.sold, base, each.name, before))
            if not need.candidates:
                before |= {variant.key for variant in (*found[-1].variants, *found[-1].unpriced)}
    return found


def _names(asked: Sequence[tuple[Candidate, Template, Sold | None]]) -> list[str]:
    """What each is called: as its design, with the book where several price it, and numbered where it comes twice."""
    by_design = Counter((id(candidate), template.name) for candidate, template, _ in asked)
    names = [
        f"{template.name}@{sold.name}"
        if sold is not None and by_design[id(candidate), template.name] > 1
        else template.name
        for candidate, template, sold in asked
    ]
    many, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}#{seen[name]}" if many[name] > 1 else name)
    return found


def _unpriced(tried: Sequence[Tried], need: Need, found: Found) -> dict[str, list[Assessed]]:
    """Design without any price -> its variants, held against all of the need but what they may cost."""
    free = need.model_copy(update={"budget": None})
    return {
        design.name: [assess(variant, free, found) for variant in design.unpriced[:MOST_UNPRICED]]
        for design in tried
        if design.unpriced and not design.variants
    }


def _prices(book: Book, currency: str) -> Prices:
    return Prices(**{**book.model_dump(include=set(Prices.model_fields)), "currency": currency})


def _changes(
    best: Assessed, rivals: Sequence[Assessed], dear: Sequence[Assessed], failed: Sequence[Assessed], need: Need
) -> Iterator[Change]:
    yield from price_changes(best, [*rivals, *dear], need)
    yield from interval_changes(best, rivals, failed, need)
    yield from duty_changes(best, [*rivals, *dear], need)


def _front(meets: Sequence[Assessed]) -> list[Assessed]:
    return front([(item.worth, item.rate.value, item) for item in meets if item.rate is not None and item.rate.value])


def _shown(decision: Decision, meets: Sequence[Assessed], fastest: Sequence[Assessed], need: Need) -> list[Assessed]:
    """The chosen ones, the best of each design, and the front; each once, the best first."""
    kept = {id(item): item for item in (*decision.chosen, *best_of_each(meets, need), *fastest)}
    return deciding_first([item for item in kept.values() if item.outcome == "met"], need)


def _counts(
    tried: Sequence[Tried], meets: Sequence[Assessed], unproven: Sequence[Assessed], failed: Sequence[Assessed]
) -> Counts:
    return Counts(
        enumerated=sum(design.count for design in tried),
        impossible=sum(design.impossible.total() for design in tried),
        unpriced=sum(len(design.unpriced) for design in tried),
        met=len(meets),
        unproven=len(unproven),
        failed=len(failed),
    )


def _notes(tried: Sequence[Tried], decision: Decision) -> Iterator[str]:
    for design in tried:
        if design.unpriced and design.variants:
            lacks = design.lacks
            names = ", ".join(name for name, _ in lacks.most_common(5))
            more = len(lacks) - 5
            names += f" and {more} more" if more > 0 else ""
            count = counted(len(design.unpriced), "variant")
            yield f"{design.name}: {count} left out, because the book has no price of {names}"
    if decision.result == "unproven":
        yield "no design is proven to meet the need: measure what is unproven before you decide"
