"""Rules about one result of any tool: its numbers against each other."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.model.result.percentile import PERCENTILES
from assay.model.units import about_duration, about_latency, about_number, about_size, format_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, by_output, number, rate_words

BIN_SHARE = 0.02
"""By how much a percentile may be beyond the extremes: fio's bins are up to 1/64 wide (stat.h, FIO_IO_U_PLAT_BITS)."""
ELBENCHO_SHARE = 2**0.25 - 1
"""The same for elbencho, which prints the upper end of a bin: four for each power of two (LatencyHistogram.h)."""
RATE_SHARE = 0.02
CLOCK_NS = 2_000_000
"""What two roundings to a millisecond change of a time."""
MIN_ROUNDED, ROUND = 8, 100
"""Fewest figures of four digits or more that are all multiples of this number by no chance."""


def latency_order(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield latencies that are not in order: least, percentiles, greatest; and means outside of them."""
    for item in items:
        latency = item.measured.latency if item.measured else {}
        share = ELBENCHO_SHARE if item.output.file.tool == "elbencho" else BIN_SHARE
        names = [name for name in ("min", *PERCENTILES, "max") if name in latency]
        for lower, upper in pairwise(names):
            slack = 1 + share if "min" in (lower, upper) or "max" in (lower, upper) else 1
            if latency[lower] > latency[upper] * slack:
                yield _latency_finding(item, lower, upper, latency)
                break
        else:
            if "mean" in latency and "max" in latency and latency["mean"] > latency["max"]:
                yield _latency_finding(item, "mean", "max", latency)
            elif "mean" in latency and "min" in latency and latency["mean"] < latency["min"]:
                yield _latency_finding(item, "min", "mean", latency)


def _latency_finding(item: Item, lower: str, upper: str, latency: dict[str, float]) -> RuleFinding:
    low, high = (about_latency(latency[name]) for name in (lower, upper))
    return RuleFinding(
        item, f"the {lower} latency, {low}, is above the {upper} latency, {high}", {lower: low, upper: high}
    )


def rate_from_bytes(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rates that are not the bytes over the time that the output states."""
    for item in items:
        measured = item.measured
        if measured is None or not measured.elapsed_ns or not measured.has_counts or len(measured.kinds) > 1:
            continue
        slack = RATE_SHARE + CLOCK_NS / measured.elapsed_ns
        for what, amount, stated, words in (
            ("bytes", measured.bytes, measured.throughput, rate_words),
            ("operations", measured.ops, measured.iops or 0.0, lambda rate: f"{about_number(rate)}/s"),
        ):
            rate = (amount or 0) / measured.elapsed_ns * 1e9
            if amount is not None and stated > 0 and abs(rate - stated) > slack * max(rate, stated):
                time = about_duration(measured.elapsed_ns / 1e9)
                count = about_size(amount) if what == "bytes" else f"{amount:,} operations"
                text = f"{count} in {time} are {words(rate)}, and {words(stated)} are stated"
                yield RuleFinding(item, text, {"computed": words(rate), "stated": words(stated)})
                break


def record_above_file(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results whose record is larger than the file."""
    for item in items:
        record, size = item.parameter("record_size"), item.parameter("file_size")
        if record and size and record > size:
            text = f"a record of {format_size(record)} does not fit into a file of {format_size(size)}"
            yield RuleFinding(item, text, {"record": str(record), "file": str(size)})


def rounded_figures(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield outputs all of whose rates are multiples of a hundred."""
    for members in by_output(items):
        rates = [item.result.figures[-1] for item in members if item.result.figures]
        rates = [one for one in rates if one.unit.endswith(("/sec", "/s")) and number(one.text) >= 10 * ROUND]
        if len(rates) >= MIN_ROUNDED and all(number(one.text) % ROUND == 0 for one in rates):
            text = f"all {len(rates)} rates are multiples of {ROUND}: they are not as the tool prints them"
            yield RuleFinding(members[0], text, {"rates": len(rates)})
