"""Evidence by the design it was measured on, and the evidence that is not used."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.model.base import AssayError
from assay.model.money.priced_designs import DesignEvidence
from assay.money.cost.designs import load_template
from assay.money.cost.sizing import normalized_value
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.candidates import DesignKey, DesignVariants, Variant, design_key
from assay.rooms.advice.work.expect import EvidenceByKey, mismatch_reason
from assay.rooms.advice.work.published_evidence import published_evidence
from assay.rooms.advice.work.texts import count_text

UnknownDesigns = Counter[tuple[str, str]]
"""Label of an unknown design and why it cannot be built -> number of figures."""


def index_evidence(
    evidence: Iterable[DesignEvidence], base: Path | None = None
) -> tuple[EvidenceByKey, UnknownDesigns]:
    """Return the evidence by identity of its design, and the figures of designs that cannot be built here.

    Args:
        evidence: All evidence.
        base: Folder where relative paths of designs start.
    """
    by_key: dict[DesignKey, list[DesignEvidence]] = {}
    unknown: UnknownDesigns = Counter()
    keys: dict[str, DesignKey] = {}
    for item in evidence:
        label = item.chosen.label
        try:
            if label not in keys:
                keys[label] = design_key(load_template(item.chosen.design, base).build(item.chosen.set))
        except AssayError as error:
            unknown[label, error.message] += 1
            continue
        by_key.setdefault(keys[label], []).append(item)
    return {key: tuple(items) for key, items in by_key.items()}, unknown


def unused_evidence_notes(
    evidence: EvidenceByKey, unknown: UnknownDesigns, designs: Sequence[DesignVariants], need: Need
) -> Iterator[str]:
    """Yield a note on each kind of evidence that is not used, and why; evidence that comes with Assay is left out."""
    shipped = {id(item) for item in published_evidence()}
    variants = {variant.key: variant for design in designs for variant in design.variants}
    reasons = unknown.copy()
    for key, items in evidence.items():
        for item in items:
            why = "" if id(item) in shipped else _reason(item, variants.get(key), designs, need)
            if why:
                reasons[item.chosen.label, why] += 1
    for (label, why), count in reasons.items():
        yield f"{count_text(count, 'figure')} of evidence of {label} not used: {why}"


def _reason(item: DesignEvidence, variant: Variant | None, designs: Sequence[DesignVariants], need: Need) -> str:
    if variant is None:
        return _nearest(item, designs)
    metric = item.metric
    if metric.endswith("_p99") and need.p99 is None:
        return "the need requires no p99"
    if metric.endswith("_iops") and getattr(need, metric) is None:
        return f"the need requires no {metric}"
    return mismatch_reason(item, need)


def _nearest(item: DesignEvidence, designs: Sequence[DesignVariants]) -> str:
    """Return why no variant is built as what was measured."""
    own = [variant for design in designs if design.design == item.chosen.design for variant in design.variants]
    if not own:
        return "no variant of this design was checked and priced"

    def differs(values: Mapping[str, object]) -> list[str]:
        return [
            key
            for key, value in item.chosen.set.items()
            if normalized_value(values.get(key)) != normalized_value(value)
        ]

    near = min(own, key=lambda variant: len(differs(variant.values)))
    words = ", ".join(f"{key}={near.values[key]}" for key in differs(near.values))
    return (
        f"no variant matches the measured design; the nearest has {words}"
        if words
        else "no variant matches the measured design"
    )
