"""Advice for a need: each variant of each design is priced and checked, and the best one recommended with reasons."""

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
"""Most variants that are checked of a design without any price."""


def advise(
    need: Need, books: Book | Sequence[Book], evidence: Iterable[Evidence] = (), base: Path | None = None
) -> Advice:
    """Recommend a design for a need.

    Args:
        need: What the storage must do, and the designs to consider.
        books: The prices; a design is priced by the books of its provider.
        evidence: Measurements of designs; they override rules of thumb.
        base: Folder where relative paths of designs start.

    Raises:
        BadValueError: A candidate has a value with which no variant can be built.
        AssayError: A design does not exist, or there is no exchange rate for the currency of a book or of the budget.
    """
    market = market_of(need, (books,) if isinstance(books, Book) else books)
    check_currency(need, market.currency)
    # Thousands of variants are created; the garbage collector only costs time.
    with no_collector():
        return _advise(need, market, evidence, base)


def _advise(need: Need, market: Market, evidence: Iterable[Evidence], base: Path | None) -> Advice:
    evidence_by_key, unknown_designs = by_variant(evidence, base)
    stated, need = need, need.grown
    designs = _build_all(need, market, base)
    assessed = [assess(variant, need, evidence_by_key) for design in designs for variant in design.variants]
    proven, unproven, failed = (
        [item for item in assessed if item.outcome == name] for name in ("met", "unproven", "failed")
    )
    decision = decide(proven, unproven, need)
    best = decision.chosen[0] if decision.chosen else None
    rivals = [item for item in proven if item is not best]
    if best is not None and not proven:
        # Variants with as few open requirements as the best one compete by cost.
        rivals = [item for item in unproven if item is not best and len(item.open) == len(best.open)]
    over_budget = [item for item in failed if item.open == {"budget"}]
    fastest = _front(proven)
    nothing_fits = not (proven or unproven)
    shown, possible = _shown(decision, proven, fastest, need), best_of_each(unproven, need)
    used = [*shown, *possible] or best_of_each(failed, need)
    return Advice(
        need=stated,
        prices=_prices(market.books[0], market.currency),
        books=tuple(_prices(book, book.currency) for book in market.books),
        exchange=market.exchange,
        result=decision.result,
        recommended=tuple(item.variant.label for item in decision.chosen),
        decided_by=decision.decided_by,
        reasons=tuple(reasons(decision, proven, failed, need)),
        options=tuple(option(item, need) for item in shown),
        front=tuple(item.variant.label for item in fastest),
        unproven=tuple(option(item, need) for item in possible),
        changes=tuple(_changes(best, rivals, over_budget, failed, need)) if best is not None else (),
        rejected=rejected(designs, assessed, _unpriced(designs, need, evidence_by_key), need),
        conflicts=conflicts(assessed, need) if nothing_fits and assessed else (),
        relaxed=tuple(relaxed(assessed, need)) if nothing_fits else (),
        counts=_counts(designs, proven, unproven, failed),
        unpriced=tuple(design.name for design in designs if design.unpriced and not design.variants),
        rows=tuple(dict.fromkeys(row for item in used for row in item.variant.best.cost.rows)),
        notes=(
            *_notes(designs, decision),
            *moving_notes(need, market),
            *unused(evidence_by_key, unknown_designs, designs, need),
        ),
    )


@dataclass(frozen=True)
class Asked:
    """A design to consider, with the prices that apply.

    Attributes:
        sold: Prices of its provider; None: there is no book of its provider.
        name: Its name in labels.
    """

    candidate: Candidate
    template: Template
    sold: Sold | None
    name: str


def asked(need: Need, market: Market, base: Path | None = None) -> list[Asked]:
    """Return every design, once for each book of its provider.

    Without candidates in the need, a shipped design is left out if there is no such book.
    """
    candidates = need.candidates or tuple(Candidate(design=name) for name in design_names())
    considered = []
    for candidate in candidates:
        template = load_template(candidate.design, base)
        sold: Sequence[Sold | None] = market.of(template.provider)
        priced = template.provider in (None, *(each.provider for each in market.sold))
        if not need.candidates and (template.only_if_named or not priced):
            continue
        considered += [(candidate, template, each) for each in sold or (None,)]
    return [Asked(*each, name) for each, name in zip(considered, _names(considered), strict=True)]


def _build_all(need: Need, market: Market, base: Path | None) -> list[Tried]:
    """Build all variants of each design; without candidates in the need, two designs of equal parts count once."""
    results: list[Tried] = []
    # Another book has another price for the same parts.
    built: dict[str, set[Key]] = {}
    for each in asked(need, market, base):
        if each.sold is None:
            about = str(each.template.source.data.get("about", ""))
            results.append(Tried(each.name, about, each.candidate.design, None, each.template.provider))
        else:
            known_keys = built.setdefault(each.sold.name, set())
            results.append(try_design(each.candidate, need, market, each.sold, base, each.name, known_keys))
            if not need.candidates:
                known_keys |= {variant.key for variant in (*results[-1].variants, *results[-1].unpriced)}
    return results


def _names(considered: Sequence[tuple[Candidate, Template, Sold | None]]) -> list[str]:
    """Return unique labels: the design's name, with the book if several price it, and a number if it repeats."""
    by_design = Counter((id(candidate), template.name) for candidate, template, _ in considered)
    names = [
        f"{template.name}@{sold.name}"
        if sold is not None and by_design[id(candidate), template.name] > 1
        else template.name
        for candidate, template, sold in considered
    ]
    totals, used = Counter(names), Counter[str]()
    labels = []
    for name in names:
        used[name] += 1
        labels.append(f"{name}#{used[name]}" if totals[name] > 1 else name)
    return labels


def _unpriced(designs: Sequence[Tried], need: Need, evidence: Found) -> dict[str, list[Assessed]]:
    """Assess the variants of each design without any price against the need without its budget."""
    free = need.model_copy(update={"budget": None})
    return {
        design.name: [assess(variant, free, evidence) for variant in design.unpriced[:MOST_UNPRICED]]
        for design in designs
        if design.unpriced and not design.variants
    }


def _prices(book: Book, currency: str) -> Prices:
    return Prices(**{**book.model_dump(include=set(Prices.model_fields)), "currency": currency})


def _changes(
    best: Assessed, rivals: Sequence[Assessed], over_budget: Sequence[Assessed], failed: Sequence[Assessed], need: Need
) -> Iterator[Change]:
    yield from price_changes(best, [*rivals, *over_budget], need)
    yield from interval_changes(best, rivals, failed, need)
    yield from duty_changes(best, [*rivals, *over_budget], need)


def _front(proven: Sequence[Assessed]) -> list[Assessed]:
    return front([(item.worth, item.rate.value, item) for item in proven if item.rate is not None and item.rate.value])


def _shown(decision: Decision, proven: Sequence[Assessed], fastest: Sequence[Assessed], need: Need) -> list[Assessed]:
    """Return the chosen variants, the best of each design, and the front; each once, the best first."""
    unique = {id(item): item for item in (*decision.chosen, *best_of_each(proven, need), *fastest)}
    return deciding_first([item for item in unique.values() if item.outcome == "met"], need)


def _counts(
    designs: Sequence[Tried], proven: Sequence[Assessed], unproven: Sequence[Assessed], failed: Sequence[Assessed]
) -> Counts:
    return Counts(
        enumerated=sum(design.count for design in designs),
        impossible=sum(design.impossible.total() for design in designs),
        unpriced=sum(len(design.unpriced) for design in designs),
        met=len(proven),
        unproven=len(unproven),
        failed=len(failed),
    )


def _notes(designs: Sequence[Tried], decision: Decision) -> Iterator[str]:
    for design in designs:
        if design.unpriced and design.variants:
            lacks = design.lacks
            names = ", ".join(name for name, _ in lacks.most_common(5))
            more = len(lacks) - 5
            names += f" and {more} more" if more > 0 else ""
            count = counted(len(design.unpriced), "variant")
            yield f"{design.name}: {count} left out, because the book has no price of {names}"
    if decision.result == "unproven":
        yield "no design is proven to meet the need: measure what is unproven before you decide"
