"""From a need to advice: each variant of each design is priced and checked, the best one is named with reasons."""

import contextlib
import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from assay.model.money.advice import Advice, Counts, Prices
from assay.model.money.need import Candidate, Need
from assay.model.money.price import Book
from assay.model.money.priced import Evidence
from assay.money.advice.candidates import Tried, try_design
from assay.money.advice.checks import Assessed, assess, check_currency, deciding_first
from assay.money.advice.conflicts import conflicts, relaxed
from assay.money.advice.decide import Decision, decide, reasons
from assay.money.advice.found import by_variant, unused
from assay.money.advice.options import best_of_each, option, rejected
from assay.money.advice.pareto import front
from assay.money.advice.sensitivity import duty_changes, interval_changes, price_changes
from assay.money.advice.words import counted
from assay.money.cost.designs import design_names, load_template


def advise(need: Need, book: Book, evidence: Iterable[Evidence] = (), base: Path | None = None) -> Advice:
    """Which design meets a need.

    Args:
        need: What the storage must do, and the designs to consider.
        book: The prices.
        evidence: What was measured of designs; it overrides rules of thumb.
        base: Where paths of designs start.

    Raises:
        BadValueError: A candidate has a value with which no variant can be built.
        AssayError: A design does not exist, or the budget is in another currency than the prices.
    """
    check_currency(need, book.currency, book.book)
    with _no_collector():
        return _advise(need, book, evidence, base)


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """Thousands of variants live to the end and have no cycles: looking through them again and again takes long."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _advise(need: Need, book: Book, evidence: Iterable[Evidence], base: Path | None) -> Advice:
    found, strange = by_variant(evidence, base)
    candidates = need.candidates or tuple(Candidate(design=name) for name in design_names())
    stated, need = need, need.grown
    tried = [
        try_design(candidate, need, book, base, name)
        for candidate, name in zip(candidates, _names(candidates, base), strict=True)
    ]
    assessed = [assess(variant, need, found) for design in tried for variant in design.variants]
    meets, unproven, failed = (
        [item for item in assessed if item.outcome == name] for name in ("met", "unproven", "failed")
    )
    decision = decide(meets, unproven, need)
    best = decision.chosen[0] if decision.chosen else None
    rivals = [item for item in meets if item is not best]
    dear = [item for item in failed if item.open == {"budget"}]
    fastest = _front(meets)
    nothing = not (meets or unproven)
    shown, possible = _shown(decision, meets, fastest, need), best_of_each(unproven, need)
    return Advice(
        need=stated,
        prices=Prices(**book.model_dump(include=set(Prices.model_fields))),
        result=decision.result,
        recommended=tuple(item.variant.label for item in decision.chosen),
        decided_by=decision.decided_by,
        reasons=tuple(reasons(decision, meets, failed, need, book, tried)),
        options=tuple(option(item, need) for item in shown),
        front=tuple(item.variant.label for item in fastest),
        unproven=tuple(option(item, need) for item in possible),
        changes=tuple(
            change
            for changes in (
                price_changes(best, [*rivals, *dear], need),
                interval_changes(best, rivals, failed, need),
                duty_changes(best, [*rivals, *dear], need),
            )
            for change in changes
        )
        if best is not None and meets
        else (),
        rejected=rejected(tried, assessed, need),
        conflicts=conflicts(assessed, need) if nothing and assessed else (),
        relaxed=tuple(relaxed(assessed, need)) if nothing else (),
        counts=_counts(tried, meets, unproven, failed),
        rows=tuple(dict.fromkeys(row for item in (*shown, *possible) for row in item.variant.best.cost.rows)),
        notes=(*_notes(tried, decision), *unused(found, strange, tried, need)),
    )


def _front(meets: Sequence[Assessed]) -> list[Assessed]:
    return front([(item.paid, item.rate.value, item) for item in meets if item.rate is not None and item.rate.value])


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
        unpriced=sum(design.unpriced.total() for design in tried),
        met=len(meets),
        unproven=len(unproven),
        failed=len(failed),
    )


def _names(candidates: Sequence[Candidate], base: Path | None) -> list[str]:
    """What each candidate is called: as its design, numbered where several are of the same one."""
    names = [load_template(candidate.design, base).name for candidate in candidates]
    many, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}#{seen[name]}" if many[name] > 1 else name)
    return found


def _notes(tried: Sequence[Tried], decision: Decision) -> Iterator[str]:
    for design in tried:
        if design.unpriced and design.variants:
            names = ", ".join(name for name, _ in design.unpriced.most_common(5))
            more = len(design.unpriced) - 5
            names += f" and {more} more" if more > 0 else ""
            count = counted(design.unpriced.total(), "variant")
            yield f"{design.name}: {count} left out, because the book has no price of {names}"
    if decision.result == "unproven":
        yield "no design is proven to meet the need: measure what is unproven before you decide"
