"""Which metrics of PerfKitBenchmarker have a counterpart, by the names that its benchmarks give them."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, NamedTuple

from assay.model.study.axis import AxisValue
from assay.model.study.names import WORK
from assay.rooms.importers.work.figure_units import UNITS, convert, whole_number
from assay.rooms.importers.work.fio_options import size_of
from assay.rooms.importers.work.results import NO_ORDER, Measurement, rate_alone

Kind = Literal["fio", "transfer", "round_trip", "transaction", "put", "get", ""]
_FIO = re.compile(r"(.{1,80}:(?:read|write|trim)):(bandwidth|iops|latency(?::.{1,20})?)")
_NETPERF = re.compile(r"((?:TCP|UDP)_(?:C?RR|STREAM))_(Transaction_Rate|Throughput|Latency_.{1,20})")
_MULTI = re.compile(r"(Multi-stream (upload|download)) .{1,60}")
_YCSB = re.compile(r"overall .{1,40}")
_RATES = {"overall Throughput": "transaction", "NOPM": "transaction", "TPM": "transaction", "tps": "transaction"}
_UNITS = {
    "usec": "us", "us": "us", "ms": "ms", "seconds": "s", "second": "s", "sec": "s", "s": "s", "KB/s": "KiB/s",
    "Mbits/sec": "Mbit/s", "Mbps": "Mbit/s", "bit / second": "bit/s", "operation / second": "1/s", "ops/sec": "ops/sec",
    "percent": "%", "%": "%", "NOPM": "1/min", "TPM": "1/min", "tps": "1/s", "transactions_per_second": "1/s",
    "MB/s": "MB/s", "GB/s": "GB/s", "IOPS": "1/s",
}  # fmt: skip
"""Unit of a sample -> ours. KB/s are fio's `bw`, which is KiB/s (linux_packages/fio.py)."""
_PLACES = {"mean": "mean", "average": "mean", "min": "min", "max": "max", "p50": "p50", "p90": "p90", "p99": "p99"}
_PLACES |= {"p99.9": "p99.9", "p99.99": "p99.99"}
_FIO_WORDS = {"read": "read", "write": "write", "randread": "random_read", "randwrite": "random_write"}


class MetricGroup(NamedTuple):
    """The metrics of one result.

    Attributes:
        name: What they have in common; empty for those without a counterpart.
        kind: What it measures; empty without a counterpart.
    """

    name: str
    kind: Kind


class MetricMeaning(NamedTuple):
    """What becomes of a group: a measurement, or why it has none."""

    left_out: str = ""
    operation: str | None = None
    parameters: dict[str, AxisValue] = {}  # noqa: RUF012 - never changed
    measured: Measurement | None = None
    latency_of: str = ""


def group_of(test: str, metric: str) -> MetricGroup:
    """Return the result that a metric belongs to.

    Args:
        test: Name of the benchmark.
        metric: Name of the metric.
    """
    if match := _FIO.fullmatch(metric):
        return MetricGroup(match[1], "fio")
    if test.startswith("iperf") and metric in ("Throughput", "UDP Throughput"):
        return MetricGroup(metric, "transfer")
    if match := _NETPERF.fullmatch(metric):
        return MetricGroup(match[1], "transfer" if match[1].endswith("STREAM") else "round_trip")
    if match := _MULTI.fullmatch(metric):
        return MetricGroup(match[1], "put" if match[2] == "upload" else "get")
    if _YCSB.fullmatch(metric):
        return MetricGroup("overall", "transaction")
    if metric in _RATES:
        return MetricGroup("tps" if metric == "tps" else "TPROC-C", "transaction")
    return MetricGroup("", "")


def figure_unit(metric: str, unit: str) -> str:
    """Return our unit of a figure; empty if it is not known, as fio's IOPS are published without one."""
    return "1/s" if metric.endswith(":iops") else _UNITS.get(unit, "")


def measured_of(
    group: MetricGroup, values: Mapping[str, tuple[str, str]], labels: Mapping[str, str], order: str | None
) -> MetricMeaning:
    """Return what becomes of a group.

    Args:
        group: The group.
        values: Metric -> value as printed, and its unit.
        labels: What the samples say besides.
        order: Order of offsets that the user states.
    """
    if group.kind == "fio":
        return _fio(group, values, labels, order)
    if group.kind in ("put", "get"):
        return _objects(group, values, labels)
    if not group.kind:
        return MetricMeaning("no metric that Assay has an operation for")
    return _rates(group, values)


def _rate(values: Mapping[str, tuple[str, str]], metric: str, quantity: str) -> Decimal | None:
    text, unit = values.get(metric, ("", ""))
    ours = figure_unit(metric, unit)
    return convert(text, ours) if text and ours and UNITS[ours].quantity == quantity else None


def _latency(values: Mapping[str, tuple[str, str]], before: str) -> dict[str, float]:
    found = {}
    for metric, (text, unit) in values.items():
        place = _PLACES.get(metric.removeprefix(before)) if metric.startswith(before) else None
        ours = _UNITS.get(unit, "")
        if place and ours and UNITS[ours].quantity == "ns":
            found[place] = float(convert(text, ours))
    return found


def _fio(
    group: MetricGroup, values: Mapping[str, tuple[str, str]], labels: Mapping[str, str], order: str | None
) -> MetricMeaning:
    direction = group.name.rpartition(":")[2]
    written = labels.get("rw", labels.get("readwrite", ""))
    if direction == "trim":
        return MetricMeaning("it trims, which Assay does not measure")
    if written in ("rw", "readwrite", "randrw"):
        return MetricMeaning(
            f"it is the part of a mix (rw={written}), whose sum is not published: import fio's own output"
        )
    stated = {"sequential": direction, "random": f"rand{direction}"}.get(order or "", "")
    operation = _FIO_WORDS.get(written or stated)
    if operation is None:
        return MetricMeaning(NO_ORDER)
    rate, iops = (_rate(values, f"{group.name}:{what}", of) for what, of in (("bandwidth", "bytes/s"), ("iops", "1/s")))
    if not rate:
        return MetricMeaning("no rate above 0 is published")
    size = size_of(labels.get("blocksize", labels.get("bs", "")), "1024")
    parameters: dict[str, AxisValue] = {"hosts": 1}
    parameters |= {"record_size": size} if size and 0 < size <= 2**30 else {}
    depth, lanes = (whole_number(labels.get(name), 10**4) for name in ("iodepth", "numjobs"))
    parameters |= {"queue_depth": depth} if depth else {}
    parameters |= {"lanes": lanes} if lanes else {}
    latency = _latency(values, f"{group.name}:latency:")
    words = "clat" if latency else ""
    return MetricMeaning("", operation, parameters, rate_alone(rate, iops, latency=latency), words)


def _objects(group: MetricGroup, values: Mapping[str, tuple[str, str]], labels: Mapping[str, str]) -> MetricMeaning:
    rate = _rate(values, f"{group.name} net throughput", "bytes/s")
    if not rate:
        return MetricMeaning("no net throughput is published")
    parameters: dict[str, AxisValue] = {}
    if (size := whole_number(labels.get("object_size_B"), 10**14)) is not None:
        parameters["object_size"] = size
    assert WORK[group.kind].group == "objects"
    return MetricMeaning("", group.kind, parameters, rate_alone(rate, None))


def _rates(group: MetricGroup, values: Mapping[str, tuple[str, str]]) -> MetricMeaning:
    if group.kind == "transfer":
        streams = (group.name, f"{group.name}_Throughput")
        rate = next((found for name in streams if (found := _rate(values, name, "bytes/s"))), None)
        return (
            MetricMeaning("", "transfer", {}, rate_alone(rate, None)) if rate else MetricMeaning("no rate is published")
        )
    names = ("overall Throughput", "NOPM", "tps", f"{group.name}_Transaction_Rate")
    rate = next((found for name in names if (found := _rate(values, name, "1/s"))), None)
    if not rate:
        return MetricMeaning("no rate above 0 is published")
    latency = _latency(values, f"{group.name}_Latency_")
    words = f"{group.name}_Latency" if latency else ""
    return MetricMeaning("", group.kind, {}, rate_alone(0, rate, latency=latency), words)
