"""Summarises what each of several hosts contributed to a result, over all repeats."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from assay.model.result.percentile import reliable_latencies
from assay.model.result.result import ResultRow
from assay.model.result.sample import HostShare, Sample


class HostSummary(NamedTuple):
    """How a result is divided among its hosts; each figure is the median over the usable repeats.

    Attributes:
        host_count: Number of hosts.
        min_rate: Rate of the slowest host: bytes per second, or operations per second for operations that are
            counted.
        mean_rate: Mean of the hosts' rates.
        max_rate: Rate of the fastest host.
        min_transferred_bytes: Least bytes that a host had moved when the first lane of any host ended (iozone: Min
            xfer).
        skew_ns: Greatest difference between the starts of two lanes.
        uncertainty_ns: Uncertainty of `skew_ns`.
    """

    host_count: int
    min_rate: float
    mean_rate: float
    max_rate: float
    min_transferred_bytes: float
    skew_ns: float
    uncertainty_ns: float


class HostFigures(NamedTuple):
    """One host of a result; figures are medians over the repeats that all hosts completed.

    Attributes:
        p50_ns: Median latency; None unless the host did enough operations for it in each repeat.
        p99_ns: 99th percentile of latency; None as for `p50_ns`.
    """

    host: str
    rate: float
    bytes: float
    stonewall_bytes: float
    p50_ns: float | None
    p99_ns: float | None
    cpu_share: float
    repeats: int


def multi_host_samples(samples: Iterable[Sample]) -> list[Sample]:
    """Return the samples that several engines made and all of them completed."""
    sound = ("done", "time_limit")
    return [item for item in samples if item.hosts and all(share.status in sound for share in item.hosts)]


def summary(row: ResultRow) -> HostSummary | None:
    """Return the summary of a result; None if no repeat was completed on all of several hosts."""
    samples = multi_host_samples(row.samples)
    if not samples:
        return None
    rates = [[_rate(share, sample) for share in sample.hosts] for sample in samples]
    return HostSummary(
        host_count=len(samples[0].hosts),
        min_rate=median(min(values) for values in rates),
        mean_rate=median(fmean(values) for values in rates),
        max_rate=median(max(values) for values in rates),
        min_transferred_bytes=median(min(share.stonewall_bytes for share in sample.hosts) for sample in samples),
        skew_ns=median(sample.skew_ns for sample in samples),
        uncertainty_ns=median(sample.clock_uncertainty_ns for sample in samples),
    )


def lines(row: ResultRow) -> list[HostFigures]:
    """Return one line for each host, in the order of the study."""
    found: dict[str, list[tuple[HostShare, Sample]]] = {}
    for sample in multi_host_samples(row.samples):
        for share in sample.hosts:
            found.setdefault(share.host, []).append((share, sample))
    return [_line(host, parts) for host, parts in found.items()]


def _line(host: str, parts: Sequence[tuple[HostShare, Sample]]) -> HostFigures:
    def middle(name: str) -> float | None:
        known = [
            found for share, _ in parts if (found := reliable_latencies(share.latency, share.ops).get(name)) is not None
        ]
        return median(known) if len(known) == len(parts) else None

    return HostFigures(
        host=host,
        rate=median(_rate(share, sample) for share, sample in parts),
        bytes=median(share.bytes for share, _ in parts),
        stonewall_bytes=median(share.stonewall_bytes for share, _ in parts),
        p50_ns=middle("p50"),
        p99_ns=middle("p99"),
        cpu_share=median(_cpu_share(share, sample) for share, sample in parts),
        repeats=len(parts),
    )


def _cpu_share(share: HostShare, sample: Sample) -> float:
    """Return how many CPUs a host's engine kept busy; of commands, how many the tasks did that the host ran."""
    if sample.tasks:
        return sum(task.cpu_ns for task in sample.tasks if task.host == share.host) / max(1, sample.elapsed_ns)
    return share.cpu_ns / share.elapsed_ns if share.elapsed_ns else 0.0


def _rate(share: HostShare, sample: Sample) -> float:
    return share.iops if sample.is_counted else share.throughput
