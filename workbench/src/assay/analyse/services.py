"""Summarises what services report about the work: objects of batches and pages, capacity units, throttling."""

from statistics import median
from typing import NamedTuple

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
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
"""Names of the errors with which services refuse requests above their limit."""
PARTIAL_FAILURE = "UnprocessedItems"
"""Name of the failure of a batch that a service has processed in part: it charges for that part."""


class ServiceReport(NamedTuple):
    """What a service reported about a result, or one of its repeats; None where it does not report a value.

    Attributes:
        objects_per_s: Objects or items per second; a request on several objects counts with all of them.
        read_units, write_units: Mean capacity units of a request that was done, wholly or in part.
        units_per_s: Read and write units per second.
        throttled: Requests that were refused because there were too many.
        unprocessed: Objects of batches that were not processed while others of the batch were.
    """

    objects_per_s: float | None
    read_units: float | None
    write_units: float | None
    units_per_s: float | None
    throttled: int
    unprocessed: int


def throttled_requests(sample: Sample) -> int:
    """Return the number of requests that the service refused because there were too many."""
    return _of_name(sample, THROTTLES)


def _of_name(sample: Sample, names: frozenset[str]) -> int:
    return sum(tally.count for tally in sample.errors if tally.name in names)


def sample_report(sample: Sample) -> ServiceReport | None:
    """Return what the service reported in a repeat; None if it reported nothing and refused nothing."""
    service, refused = sample.service, throttled_requests(sample)
    if service is not None and (service.frames or service.sessions_lost or service.looks):
        # A disk or a share, which reports none of this; looks have a table of their own.
        return None
    ops = sample.get_value("ops", 0)
    charged = ops + _of_name(sample, frozenset({PARTIAL_FAILURE}))
    if not refused and (service is None or not charged):
        return None
    elapsed_ns = sample.get_value("elapsed_ns")
    seconds = float(elapsed_ns) / 1e9 if elapsed_ns else None
    objects = (service.objects if service else 0) or ops
    per_s = objects / seconds if seconds else None
    if service is None or not charged:
        return ServiceReport(per_s, None, None, None, refused, service.unprocessed if service else 0)
    units = (service.read_units, service.write_units)
    each = (units[0] / charged, units[1] / charged)
    return ServiceReport(per_s, *each, sum(units) / seconds if seconds else None, refused, service.unprocessed)


def row_report(row: ResultRow) -> ServiceReport | None:
    """Return what the service reported about a result: medians over usable repeats, and sums of failures over all.

    None if it reported nothing and refused nothing.
    """
    everything = [report for sample in row.samples if (report := sample_report(sample)) is not None]
    if not everything:
        return None
    counting = [report for sample in usable(row.samples) if (report := sample_report(sample)) is not None]

    def middle(name: str) -> float | None:
        values = [value for report in counting if (value := getattr(report, name)) is not None]
        return median(values) if values else None

    return ServiceReport(
        objects_per_s=middle("objects_per_s"),
        read_units=middle("read_units"),
        write_units=middle("write_units"),
        units_per_s=middle("units_per_s"),
        throttled=sum(report.throttled for report in everything),
        unprocessed=sum(report.unprocessed for report in everything),
    )
