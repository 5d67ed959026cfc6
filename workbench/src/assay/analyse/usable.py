"""Which repeats count."""

from collections.abc import Iterable

from assay.model.result import Sample


def usable(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """The samples that estimates are made of: done, or cut off by the time limit, without a failed operation.

    The others stay with the result and are shown; they are only not counted.
    """
    return tuple(sample for sample in samples if sample.status in ("done", "time_limit") and not sample.errors)
