"""Percentiles of latency over repeats.

Each repeat has a percentile of its own, from all of its operations. These vary from repeat to repeat as rates do, and
more so the further out in the tail: a p99 is known as well as repeats agree on it, however many operations one of them
has, because operations of one repeat met the same stall.
"""

from collections.abc import Iterable, Mapping, Sequence

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.model.result.percentile import LEAST_OPS
from assay.model.result.result import Percentile, Row
from assay.model.result.sample import Sample


def of_repeats(samples: Iterable[Sample], name: str) -> dict[int, float]:
    """Each repeat's own percentile, repeat -> nanoseconds; empty unless each has enough operations for it.

    A repeat that has too few is not left out by itself: where the time is given it is the slow repeats that have few
    operations, and what were left is the tail of the fast ones.

    Args:
        samples: The usable ones of a result.
        name: `p50`, `p90`, `p99`, `p99.9` or `p99.99`.
    """
    found: dict[int, float] = {}
    for sample in samples:
        if sample.ops < LEAST_OPS[name] or name not in sample.latency:
            return {}
        found[sample.repeat] = sample.latency[name]
    return found


def percentiles(samples: Sequence[Sample], pooled: Mapping[str, float]) -> tuple[Percentile, ...]:
    """Every percentile of a result, in ascending order; empty if no latencies were recorded.

    Args:
        samples: The usable ones.
        pooled: Name -> nanoseconds, from all operations together, without those that they are too few for.
    """
    counts = [sample.ops for sample in samples if sample.latency]
    if not counts:
        return ()
    return tuple(_percentile(samples, name, counts, pooled.get(name)) for name in LEAST_OPS)


def percentiles_of(row: Row) -> dict[str, Percentile]:
    """Those of a row by name, also of one that was made in haste, which lacks what all repeats together tell."""
    found = row.percentiles or percentiles(usable(row.samples), row.latency)
    return {item.name: item for item in found}


def _percentile(samples: Sequence[Sample], name: str, counts: Sequence[int], pooled: float | None) -> Percentile:
    own = list(of_repeats(samples, name).values())
    return Percentile(
        name=name,
        least_ops=min(counts),
        ops=sum(counts),
        estimate=estimate(own) if own else None,
        lowest=min(own, default=None),
        highest=max(own, default=None),
        pooled=pooled,
    )
