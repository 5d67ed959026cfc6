"""Advice for a need: each variant of each design is priced and checked, and the best one recommended with reasons."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.gc_control import without_gc
from assay.model.money.price import PriceBook
from assay.model.money.priced_designs import DesignEvidence
from assay.money.cost.designs import Template, design_names, load_template
from assay.rooms.advice.model.advice import Advice, BookInfo, DecisionChange, VariantCounts
from assay.rooms.advice.model.need import CandidateDesign, Need
from assay.rooms.advice.work.candidates import DesignKey, DesignVariants, build_variants
from assay.rooms.advice.work.checks import Assessment, assess, check_currency, sorted_best_first
from assay.rooms.advice.work.conflicts import conflicts, relaxations
from assay.rooms.advice.work.decide import AdviceDecision, decide, reasons
from assay.rooms.advice.work.evidence_index import index_evidence, unused_evidence_notes
from assay.rooms.advice.work.expect import EvidenceByKey
from assay.rooms.advice.work.market import Market, ProviderPrices, market_of
from assay.rooms.advice.work.migration import migration_notes
from assay.rooms.advice.work.options import best_of_each, option_of, rejected_designs
from assay.rooms.advice.work.pareto import pareto_front
from assay.rooms.advice.work.sensitivity import (
    administration_changes,
    duty_changes,
    interval_changes,
    price_changes,
    reading_changes,
)
from assay.rooms.advice.work.sensitivity_requirements import questions
from assay.rooms.advice.work.texts import count_text

MAX_UNPRICED = 200
"""Most variants that are checked of a design without any price."""


def advise(
    need: Need,
    books: PriceBook | Sequence[PriceBook],
    evidence: Iterable[DesignEvidence] = (),
    base: Path | None = None,
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
    market = market_of(need, (books,) if isinstance(books, PriceBook) else books)
    check_currency(need, market.currency)
    # Thousands of variants are created; the garbage collector only costs time.
    with without_gc():
        return _advise(need, market, evidence, base)


def _advise(need: Need, market: Market, evidence: Iterable[DesignEvidence], base: Path | None) -> Advice:
    evidence_by_key, unknown_designs = index_evidence(evidence, base)
    stated, need = need, need.after_growth
    designs = _build_all(need, market, base)
    assessed = [assess(variant, need, evidence_by_key) for design in designs for variant in design.variants]
    proven, unproven, failed = (
        [item for item in assessed if item.outcome == name] for name in ("met", "unproven", "failed")
    )
    decision = decide(proven, unproven, need)
    best = decision.chosen[0] if decision.chosen else None
    rivals = [item for item in proven if item is not best]
    if best is not None and not proven:
        # Variants that are as plausible as the best one compete by cost.
        rivals = [item for item in unproven if item is not best and item.preference[0] == best.preference[0]]

    def reassessed(other: Need, names: set[str]) -> list[Assessment]:
        built = _build_all(other, market, base, names)
        return [assess(variant, other, evidence_by_key) for design in built for variant in design.variants]

    over_budget = [item for item in failed if item.open_requirements == {"budget"}]
    fastest = _front(proven)
    nothing_fits = not (proven or unproven)
    shown, possible = _shown(decision, proven, fastest), _shown(decision, unproven)
    used = [*shown, *possible] or best_of_each(failed)
    unpriced = _unpriced(designs, need, evidence_by_key)
    could_fit = tuple(name for name, items in unpriced.items() if any(item.outcome != "failed" for item in items))
    return Advice(
        need=stated,
        prices=_prices(market.books[0], market.currency),
        books=tuple(_prices(book, book.currency) for book in market.books),
        exchange=market.exchange,
        result=decision.result,
        recommended=tuple(item.variant.label for item in decision.chosen),
        decided_by=decision.decided_by,
        reasons=tuple(reasons(decision, proven, failed)),
        options=tuple(option_of(item) for item in shown),
        front=tuple(item.variant.label for item in fastest),
        unproven=tuple(option_of(item) for item in possible),
        changes=tuple(_changes(best, rivals, over_budget, failed)) if best is not None else (),
        rejected=rejected_designs(designs, assessed, unpriced),
        conflicts=conflicts(assessed, need) if nothing_fits and assessed else (),
        relaxed=tuple(relaxations(assessed, need, reassessed)) if nothing_fits else (),
        counts=_counts(designs, proven, unproven, failed, could_fit),
        unpriced=could_fit,
        rows=tuple(dict.fromkeys(row for item in used for row in item.variant.best.cost.rows)),
        notes=(
            *_notes(designs, decision),
            *migration_notes(need, market),
            *unused_evidence_notes(evidence_by_key, unknown_designs, designs, need),
        ),
    )


@dataclass(frozen=True)
class ConsideredDesign:
    """A design to consider, with the prices that apply.

    Attributes:
        prices: Prices of its provider; None: there is no book of its provider.
        name: Its name in labels.
    """

    candidate: CandidateDesign
    template: Template
    prices: ProviderPrices | None
    name: str


def considered_designs(need: Need, market: Market, base: Path | None = None) -> list[ConsideredDesign]:
    """Return every design, once for each book of its provider.

    Without candidates in the need, a shipped design is left out if there is no such book.
    """
    candidates = need.candidates or tuple(CandidateDesign(design=name) for name in design_names())
    considered = []
    for candidate in candidates:
        template = load_template(candidate.design, base)
        sold: Sequence[ProviderPrices | None] = _sold(template, market)
        priced = template.provider in (None, *(each.provider for each in market.sold))
        if not need.candidates and (template.only_if_named or not priced):
            continue
        considered += [(candidate, template, each) for each in sold or (None,)]
    return [ConsideredDesign(*each, name) for each, name in zip(considered, _names(considered), strict=True)]


def _sold(template: Template, market: Market) -> Sequence[ProviderPrices]:
    """Return the prices of a design: those of its provider; without one, all; of hardware alone, those of own hardware.

    Books of providers have the rows of own hardware, too, because rented designs pay for people and support.
    """
    is_hardware = "hardware" in template.source.data and not {"servers", "service"} & set(template.source.data)
    own = market.prices_for("own") if template.provider is None and is_hardware else ()
    return own or market.prices_for(template.provider)


def _build_all(
    need: Need, market: Market, base: Path | None, names: Container[str] | None = None
) -> list[DesignVariants]:
    """Build all variants of each design; without candidates in the need, two designs of equal parts count once.

    Args:
        need: The need.
        market: All prices.
        base: Folder where relative paths of designs start.
        names: Names of the only designs to build; None: all.
    """
    results: list[DesignVariants] = []
    # Another book has another price for the same parts.
    built: dict[str, set[DesignKey]] = {}
    for each in considered_designs(need, market, base):
        if names is not None and each.name not in names:
            continue
        if each.prices is None:
            about = str(each.template.source.data.get("about", ""))
            results.append(DesignVariants(each.name, about, each.candidate.design, None, each.template.provider))
        else:
            known_keys = built.setdefault(each.prices.name, set())
            results.append(build_variants(each.candidate, need, market, each.prices, base, each.name, known_keys))
            if not need.candidates:
                known_keys |= {variant.key for variant in (*results[-1].variants, *results[-1].unpriced)}
    return results


def _names(considered: Sequence[tuple[CandidateDesign, Template, ProviderPrices | None]]) -> list[str]:
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


def _unpriced(designs: Sequence[DesignVariants], need: Need, evidence: EvidenceByKey) -> dict[str, list[Assessment]]:
    """Assess the variants of each design without any price against the need without its budget."""
    free = need.model_copy(update={"budget": None})
    return {
        design.name: [assess(variant, free, evidence) for variant in design.unpriced[:MAX_UNPRICED]]
        for design in designs
        if design.unpriced and not design.variants
    }


def _prices(book: PriceBook, currency: str) -> BookInfo:
    return BookInfo(**{**book.model_dump(include=set(BookInfo.model_fields)), "currency": currency})


def _changes(
    best: Assessment,
    rivals: Sequence[Assessment],
    over_budget: Sequence[Assessment],
    failed: Sequence[Assessment],
) -> Iterator[DecisionChange]:
    yield from administration_changes(best, rivals)
    yield from reading_changes(best, [*rivals, *over_budget])
    yield from price_changes(best, [*rivals, *over_budget])
    yield from interval_changes(best, rivals, failed)
    yield from duty_changes(best, [*rivals, *over_budget])
    yield from questions(best, rivals)


def _front(proven: Sequence[Assessment]) -> list[Assessment]:
    return pareto_front(
        [(item.present_value, item.rate.value, item) for item in proven if item.rate is not None and item.rate.value]
    )


def _shown(
    decision: AdviceDecision, items: Sequence[Assessment], fastest: Sequence[Assessment] = ()
) -> list[Assessment]:
    """Return the chosen ones of these variants, the best of each design, and the front; each once, the best first."""
    known = {id(item) for item in items}
    unique = {id(item): item for item in (*decision.chosen, *best_of_each(items), *fastest)}
    return sorted_best_first([item for key, item in unique.items() if key in known])


def _counts(
    designs: Sequence[DesignVariants],
    proven: Sequence[Assessment],
    unproven: Sequence[Assessment],
    failed: Sequence[Assessment],
    could_fit: Container[str],
) -> VariantCounts:
    """Count the variants by outcome; a design without any price that fails the need all the same counts as failed."""
    without_price = sum(len(design.unpriced) for design in designs)
    open_price = sum(len(design.unpriced) for design in designs if design.variants or design.name in could_fit)
    return VariantCounts(
        enumerated=sum(design.count for design in designs),
        infeasible=sum(design.build_errors.total() for design in designs),
        unpriced=open_price,
        met=len(proven),
        unproven=len(unproven),
        failed=len(failed) + without_price - open_price,
    )


def _notes(designs: Sequence[DesignVariants], decision: AdviceDecision) -> Iterator[str]:
    for design in designs:
        if design.unpriced and design.variants:
            lacks = design.missing_prices
            names = ", ".join(name for name, _ in lacks.most_common(5))
            more = len(lacks) - 5
            names += f" and {more} more" if more > 0 else ""
            count = count_text(len(design.unpriced), "variant")
            yield f"{design.name}: {count} left out: the price book has no price of {names}"
    if decision.result == "unproven":
        yield "no design is proven to meet the need: measure what is unproven before you decide"
