"""Computes percentiles of latency over repeats.

Each repeat has its own percentile, from all of its operations. These vary from repeat to repeat as rates do, and more
so further out in the tail. The precision of a p99 depends on how well the repeats agree on it, however many operations
one of them has, because operations of one repeat share the same stalls.
"""

from collections.abc import Iterable, Mapping, Sequence

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.model.result.percentile import MIN_OPS
from assay.model.result.result import Percentile, ResultRow
from assay.model.result.sample import Sample


def repeat_percentiles(samples: Iterable[Sample], name: str) -> dict[int, float]:
    """Return repeat -> its own percentile in nanoseconds; empty unless each repeat has enough operations for it.

    A repeat with too few operations is not left out alone: in phases of fixed duration the slow repeats have few
    operations, and the rest would be the tail of the fast ones.

    Args:
        samples: Usable samples of a result.
        name: `p50`, `p90`, `p99`, `p99.9` or `p99.99`.
    """
    found: dict[int, float] = {}
    for sample in samples:
        if name not in sample.latency or sample.get_value("ops", 0) < MIN_OPS[name]:
            return {}
        found[sample.repeat] = sample.latency[name]
    return found


def percentiles(samples: Sequence[Sample], pooled: Mapping[str, float]) -> tuple[Percentile, ...]:
    """Return every percentile of a result, in ascending order; empty if no latencies were recorded.

    A percentile that imported samples lack, though they have enough operations for it, is left out: it was not printed.

    Args:
        samples: Usable samples.
        pooled: Name -> nanoseconds, from all operations together, without percentiles that have too few operations.
    """
    counts = [sample.ops for sample in samples if sample.latency and sample.has("ops")]
    if not counts:
        return ()
    found = (_percentile(samples, name, counts, pooled.get(name)) for name in MIN_OPS)
    known = {name for sample in samples for name in sample.latency}
    return tuple(item for item in found if item.name in known or item.value is not None or item.ops < item.min_ops)


def percentiles_of(row: ResultRow) -> dict[str, Percentile]:
    """Return the percentiles of a row by name, also of a quickly analysed row, which lacks pooled percentiles."""
    found = row.percentiles or percentiles(usable(row.samples), row.latency)
    return {item.name: item for item in found}


def _percentile(samples: Sequence[Sample], name: str, counts: Sequence[int], pooled: float | None) -> Percentile:
    own = list(repeat_percentiles(samples, name).values())
    return Percentile(
        name=name,
        fewest_ops=min(counts),
        ops=sum(counts),
        estimate=estimate(own) if own else None,
        lowest=min(own, default=None),
        highest=max(own, default=None),
        pooled=pooled,
    )
