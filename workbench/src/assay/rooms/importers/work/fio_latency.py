"""Latencies of fio's JSON: its summaries, percentiles and, with json+, bins."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assay.model.base import AssayError
from assay.model.result.percentile import PERCENTILES
from assay.rooms.importers.work.figure_units import convert, whole_number
from assay.rooms.importers.work.json_text import Number
from assay.rooms.importers.work.results import OutputError

_NAMES = (("lat", "lat_ns", "ns"), ("lat", "lat", "us"), ("clat", "clat_ns", "ns"), ("clat", "clat", "us"))
"""What a time is, its name in the output, its unit. fio's `lat` is Assay's latency: from submission to completion."""
_SUMMARY = ("min", "mean", "max")
_MAX_NS = 2**50
"""Longest latency that is used: 13 days."""
_MAX_BINS = 10_000
_BINS_DIGITS = 3
"""Significant digits of Assay's histograms; fio's bins have two or three."""
_HINT = "give the file as fio wrote it"


class Latency(NamedTuple):
    """Latencies in Assay's form.

    Attributes:
        name: `lat` or `clat`; empty without any.
        values: Name, as in `Sample.latency` -> nanoseconds.
        histogram: As in `Sample`; None without bins.
    """

    name: str = ""
    values: dict[str, float] = {}  # noqa: RUF012 - never changed
    histogram: str | None = None


def latency_of(part: Mapping[str, Any], line: int) -> Latency:
    """Return the latencies of one direction.

    That is `lat` if fio prints percentiles of it, or none of `clat` either; else `clat`, so that mean and percentiles
    are of the same time. fio leaves out the percentiles of `lat` unless they are asked for (lat_percentiles=1).

    Args:
        part: What the output says of the direction.
        line: Line of the job, for messages.

    Raises:
        OutputError: A latency is not a number, negative, or longer than any that can be stored.
    """
    found = [(*one, times) for one in _NAMES if isinstance(times := part.get(one[1]), dict) and _is_measured(times)]
    ordered = sorted(found, key=lambda one: not (one[3].get("percentile") or one[3].get("bins")))
    if not ordered:
        return Latency()
    name, _, unit, times = ordered[0]
    values = {key: _ns(times[key], unit, line) for key in _SUMMARY if key in times}
    histogram = _histogram(times["bins"], unit, line) if isinstance(times.get("bins"), dict) else None
    if histogram is not None:
        from assay.analyse import histograms

        values |= histograms.summary(histograms.decode(histogram))
    return Latency(name, values | _percentiles(times, unit, line), histogram)


def pooled(parts: Sequence[Latency]) -> Latency:
    """Return the latencies of several directions together; empty if they have no bins, which alone can be added."""
    if len(parts) == 1:
        return parts[0]
    texts = [one.histogram for one in parts if one.histogram is not None]
    names = {one.name for one in parts}
    if len(texts) < len(parts) or len(names) != 1 or any(name not in one.values for name in _SUMMARY for one in parts):
        return Latency()
    from assay.analyse import histograms

    decoded = [histograms.decode(text) for text in texts]
    whole = histograms.merge(decoded)
    mean = sum(one.values["mean"] * each.total for one, each in zip(parts, decoded, strict=True)) / whole.total
    least, most = (choose(one.values[name] for one in parts) for choose, name in ((min, "min"), (max, "max")))
    values = {"min": least, "mean": mean, **histograms.summary(whole), "max": most}
    return Latency(names.pop(), values, histograms.encode(whole))


def _is_measured(times: Mapping[str, Any]) -> bool:
    """Whether fio measured it: with disable_lat=1 and the like all is 0."""
    return any(isinstance(times.get(name), Number) and times[name].value != 0 for name in ("max", "mean"))


def _ns(number: object, unit: str, line: int) -> float:
    if not isinstance(number, Number) or not 0 <= convert(number, unit) <= _MAX_NS:
        raise OutputError(line, "a latency is negative, too long, or not a number", _HINT)
    return float(convert(number, unit))


def _percentiles(times: Mapping[str, Any], unit: str, line: int) -> dict[str, float]:
    """Return the printed percentiles that Assay has names for, in its order."""
    printed = times.get("percentile")
    found: dict[str, float] = {}
    for key, value in printed.items() if isinstance(printed, dict) else ():
        try:
            percent = float(key)
        except ValueError:
            continue
        found |= {name: _ns(value, unit, line) for name, wanted in PERCENTILES.items() if percent == wanted}
    return found


def _histogram(bins: Mapping[str, Any], unit: str, line: int) -> str | None:
    """Return fio's bins as a histogram of ours; None if they are empty.

    A bin's name is the middle of its times (stat.c, `plat_idx_to_val`), which is what fio's percentiles are, too.
    """
    if len(bins) > _MAX_BINS:
        raise OutputError(line, f"{len(bins):,} bins of latencies, more than fio has", _HINT)
    counts: dict[int, int] = {}
    for key, count in bins.items():
        is_time = whole_number(key) is not None and convert(key, unit) <= _MAX_NS
        if not is_time or not isinstance(count, Number) or not 0 <= count.value < 2**53:
            raise OutputError(line, "a bin of latencies has a wrong time or count", _HINT)
        counts[int(convert(key, unit))] = int(count.value)
    if not any(counts.values()):
        return None
    from assay.analyse import histograms

    text = histograms.of_counts(counts, max(counts), _BINS_DIGITS)
    try:
        histograms.decode(text)
    except AssayError as error:
        raise OutputError(line, error.message, _HINT) from None
    return text
