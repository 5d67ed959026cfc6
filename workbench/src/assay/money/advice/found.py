"""Evidence by what it is of, and what of it is used by nothing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.model.base import AssayError
from assay.model.money.need import Need
from assay.model.money.priced import Evidence
from assay.money.advice.candidates import Key, Tried, Variant, key_of
from assay.money.advice.expect import Found, unfit
from assay.money.advice.points import plain
from assay.money.advice.published import published
from assay.money.advice.words import counted
from assay.money.cost.designs import load_template

Strange = Counter[tuple[str, str]]
"""Label of a design and why it is not known here -> figures."""


def by_variant(evidence: Iterable[Evidence], base: Path | None = None) -> tuple[Found, Strange]:
    """Evidence by what it is of, and what is of designs that are not known here.

    Args:
        evidence: All there is.
        base: Where paths of designs start.
    """
    found: dict[Key, list[Evidence]] = {}
    strange: Strange = Counter()
    keys: dict[str, Key] = {}
    for item in evidence:
        label = item.chosen.label
        try:
            if label not in keys:
                keys[label] = key_of(load_template(item.chosen.design, base).build(item.chosen.set))
        except AssayError as error:
            strange[label, error.message] += 1
            continue
        found.setdefault(keys[label], []).append(item)
    return {key: tuple(items) for key, items in found.items()}, strange


def unused(found: Found, strange: Strange, tried: Sequence[Tried], need: Need) -> Iterator[str]:
    """What of the evidence counts for nothing, and why. What comes with Assay is not listed."""
    shipped = {id(item) for item in published()}
    variants = {variant.key: variant for design in tried for variant in design.variants}
    reasons = strange.copy()
    for key, items in found.items():
        for item in items:
            why = "" if id(item) in shipped else _why(item, variants.get(key), tried, need)
            if why:
                reasons[item.chosen.label, why] += 1
    for (label, why), count in reasons.items():
        yield f"{counted(count, 'figure')} of evidence of {label} not used: {why}"


def _why(item: Evidence, variant: Variant | None, tried: Sequence[Tried], need: Need) -> str:
    if variant is None:
        return _nearest(item, tried)
    metric = item.metric
    if metric.endswith("_p99") and need.p99 is None:
        return "the need asks for no p99"
    if metric.endswith("_iops") and getattr(need, metric) is None:
        return f"the need asks for no {metric}"
    return unfit(item, need)


def _nearest(item: Evidence, tried: Sequence[Tried]) -> str:
    """Why no variant is built as what was measured."""
    own = [variant for design in tried if design.design == item.chosen.design for variant in design.variants]
    if not own:
        return "no variant of this design was tried and priced"

    def differs(values: Mapping[str, object]) -> list[str]:
        return [key for key, value in item.chosen.set.items() if plain(values.get(key)) != plain(value)]

    near = min(own, key=lambda variant: len(differs(variant.values)))
    words = ", ".join(f"{key}={near.values[key]}" for key in differs(near.values))
    return f"no variant that was tried is built so; the nearest has {words}" if words else "no variant is built so"
