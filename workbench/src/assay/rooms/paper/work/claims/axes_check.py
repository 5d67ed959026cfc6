"""Whether the sizes of records, files and objects in a sentence are those that were measured."""

from assay.report import numbers
from assay.rooms.paper.work.claims.facts import SIZE_KEYS, FactIndex
from assay.rooms.paper.work.claims.quantities import Kind
from assay.rooms.paper.work.claims.reading import Reading, RemarkKind, SentenceFault

_BINARY = tuple(1.024**power for power in (1, 2, 3, -1, -2, -3))


def check_axes(reading: Reading, facts: FactIndex) -> list[SentenceFault]:
    """Return the sizes that no result has, but the same number in powers of 1,024, or of 1,000, has."""
    found = []
    for mention, item in reading.axis_values:
        if mention.pairs or item.kind is not Kind.SIZE or mention.dimension not in SIZE_KEYS or mention.is_limit:
            continue
        for value in facts.values_of.get(mention.dimension, []):
            if isinstance(value, int) and any(abs(item.value * factor - value) < 1e-6 * value for factor in _BINARY):
                right = numbers.axis_value(mention.dimension, value)
                text = f"the unit is wrong: the data have {numbers.axis_title(mention.dimension).lower()} {right}"
                found.append(SentenceFault(RemarkKind.UNIT, item.text, text))
    return found
