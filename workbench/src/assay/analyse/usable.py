"""Selects the repeats that count."""

from collections.abc import Iterable

from assay.model.result.sample import Sample


def usable(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the samples for estimates: done, or ended by the time limit, with operations and without failures.

    A sample is also left out if an earlier write failed of the data it reads. Samples that are left out stay with the
    result and are shown.
    """
    return tuple(sample for sample in samples if _counts(sample))


def _counts(sample: Sample) -> bool:
    whole = sample.status in ("done", "time_limit") and not sample.errors
    # Without operations a sample counts only if some were due, see `Sample.is_idle`.
    return whole and not sample.is_idle and not sample.failed_writes
