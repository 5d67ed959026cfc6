"""Which repeats count."""

from collections.abc import Iterable

from assay.model.result.sample import Sample


def usable(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """The samples that estimates are made of: done, or cut off by the time limit, without a failed operation.

    Nor may a write have failed before of what they read, nor may nothing have been done. The others stay with the
    result and are shown; they are only not counted.
    """
    return tuple(sample for sample in samples if _counts(sample))


def _counts(sample: Sample) -> bool:
    whole = sample.status in ("done", "time_limit") and not sample.errors
    # Without operations it counts only if some were due, see `Sample.idle`.
    return whole and bool(sample.ops or not sample.idle) and not sample.failed_writes
