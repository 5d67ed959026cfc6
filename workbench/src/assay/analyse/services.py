"""What services have told of the work: objects of batches and pages, capacity units, throttles."""

from statistics import median
from typing import NamedTuple

from assay.analyse.usable import usable
from assay.model.result.result import Row
from assay.model.result.sample import Sample

THROTTLES = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "SlowDown",
        "SlowDownRead",
        "SlowDownWrite",
        "TooManyRequests",
    }
)
"""Names with which services refuse what is too much for them."""
PARTLY = "UnprocessedItems"
"""Name of the failure of a batch that a service has done in part: it charges that part."""


class Told(NamedTuple):
    """What a service has told of a result, or of one repeat of it; None where it tells nothing of the kind.

    Attributes:
        objects_per_s: Objects or items per second; of requests on several those that they were about.
        read_units, write_units: Capacity units of a request that was done, also in part; on average.
        units_per_s: Of both together.
        throttled: Requests that were refused because there were too many.
        unprocessed: Objects of batches that were left undone while others were taken.
    """

    objects_per_s: float | None
    read_units: float | None
    write_units: float | None
    units_per_s: float | None
    throttled: int
    unprocessed: int


def throttled(sample: Sample) -> int:
    """Requests that the service refused because it had too many."""
    return _of_name(sample, THROTTLES)


def _of_name(sample: Sample, names: frozenset[str]) -> int:
    return sum(tally.count for tally in sample.errors if tally.name in names)


def told_by(sample: Sample) -> Told | None:
    """What was told of a repeat; None if that is nothing, and nothing was throttled."""
    service, refused = sample.service, throttled(sample)
    if service is not None and (service.frames or service.sessions_lost or service.looks):
        # A disk or a share, which tells nothing of the kind; looks have a table of their own.
        return None
    charged = sample.ops + _of_name(sample, frozenset({PARTLY}))
    if not refused and (service is None or not charged):
        return None
    elapsed_ns = sample.known("elapsed_ns")
    seconds = float(elapsed_ns) / 1e9 if elapsed_ns else None
    objects = (service.objects if service else 0) or sample.ops
    per_s = objects / seconds if seconds else None
    if service is None or not charged:
        return Told(per_s, None, None, None, refused, service.unprocessed if service else 0)
    units = (service.read_units, service.write_units)
    each = (units[0] / charged, units[1] / charged)
    return Told(per_s, *each, sum(units) / seconds if seconds else None, refused, service.unprocessed)


def told_of(row: Row) -> Told | None:
    """What was told of a result: medians over the repeats that count, and what failed in all of them together.

    None if that is nothing, and nothing was throttled.
    """
    everything = [told for sample in row.samples if (told := told_by(sample)) is not None]
    if not everything:
        return None
    counting = [told for sample in usable(row.samples) if (told := told_by(sample)) is not None]

    def middle(name: str) -> float | None:
        values = [value for told in counting if (value := getattr(told, name)) is not None]
        return median(values) if values else None

    return Told(
        objects_per_s=middle("objects_per_s"),
        read_units=middle("read_units"),
        write_units=middle("write_units"),
        units_per_s=middle("units_per_s"),
        throttled=sum(told.throttled for told in everything),
        unprocessed=sum(told.unprocessed for told in everything),
    )
