"""Evidence by the design it was measured on, and the evidence that is not used."""

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
"""Label of an unknown design and why it cannot be built -> number of figures."""


def by_variant(evidence: Iterable[Evidence], base: Path | None = None) -> tuple[Found, Strange]:
    """Return the evidence by identity of its design, and the figures of designs that cannot be built here.

    Args:
        evidence: All evidence.
        base: Folder where relative paths of designs start.
    """
    by_key: dict[Key, list[Evidence]] = {}
    unknown: Strange = Counter()
    keys: dict[str, Key] = {}
    for item in evidence:
        label = item.chosen.label
        try:
            if label not in keys:
                keys[label] = key_of(load_template(item.chosen.design, base).build(item.chosen.set))
        except AssayError as error:
            unknown[label, error.message] += 1
            continue
        by_key.setdefault(keys[label], []).append(item)
    return {key: tuple(items) for key, items in by_key.items()}, unknown


def unused(found: Found, strange: Strange, tried: Sequence[Tried], need: Need) -> Iterator[str]:
    """Yield a note on each kind of evidence that is not used, and why; evidence that comes with Assay is left out."""
    shipped = {id(item) for item in published()}
    variants = {variant.key: variant for design in tried for variant in design.variants}
    reasons = strange.copy()
    for key, items in found.items():
        for item in items:
            why = "" if id(item) in shipped else _reason(item, variants.get(key), tried, need)
            if why:
                reasons[item.chosen.label, why] += 1
    for (label, why), count in reasons.items():
        yield f"{counted(count, 'figure')} of evidence of {label} not used: {why}"


def _reason(item: Evidence, variant: Variant | None, designs: Sequence[Tried], need: Need) -> str:
    if variant is None:
        return _nearest(item, designs)
    metric = item.metric
    if metric.endswith("_p99") and need.p99 is None:
        return "the need asks for no p99"
    if metric.endswith("_iops") and getattr(need, metric) is None:
        return f"the need asks for no {metric}"
    return unfit(item, need)


def _nearest(item: Evidence, designs: Sequence[Tried]) -> str:
    """Return why no variant is built as what was measured."""
    own = [variant for design in designs if design.design == item.chosen.design for variant in design.variants]
    if not own:
        return "no variant of this design was tried and priced"

    def differs(values: Mapping[str, object]) -> list[str]:
        return [key for key, value in item.chosen.set.items() if plain(values.get(key)) != plain(value)]

    near = min(own, key=lambda variant: len(differs(variant.values)))
    words = ", ".join(f"{key}={near.values[key]}" for key in differs(near.values))
    return f"no variant that was tried is built so; the nearest has {words}" if words else "no variant is built so"
