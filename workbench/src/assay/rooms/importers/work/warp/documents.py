"""warp's JSON: totals of requests, and the analysis of a log.

Totals (`warp-*.json.zst`, unpacked, and `--json`, of version 1.1 and later) are `Realtime` of pkg/aggregate/live.go,
analyses (`warp analyze --json` before 1.1, and later with `--full`) are `Aggregated` of aggregate.go. Rates of totals
are those of all requests; what warp prints as average leaves out the first and the last two seconds, and is a figure.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.json_text import Number, decode_json, line_of
from assay.rooms.importers.work.results import Figure, OutputError
from assay.rooms.importers.work.warp.measured import HINT, Requests

TOTALS = re.compile(r'^[ \t]*\{\s*"v"\s*:\s*[0-9]{1,3},\s*"(?:commandline|total|final)"\s*:', re.M)
ANALYSIS = re.compile(r'^[ \t]*\{\s*"(?:type"\s*:\s*"(?:single|mixed)"|mixed_server_stats"\s*:\s*\{)', re.M)
_MAX_KINDS = 40
_TIMES = {"fastest_millis": "min", "dur_avg_millis": "mean", "dur_median_millis": "p50", "dur_90_millis": "p90",
          "dur_99_millis": "p99", "slowest_millis": "max"}  # fmt: skip
_RATES = {"average_bps": "B/s", "average_ops": "1/s", "fastest_bps": "B/s", "fastest_ops": "1/s", "median_bps": "B/s",
          "median_ops": "1/s", "slowest_bps": "B/s", "slowest_ops": "1/s", "bytes": "bytes", "objects": "", "ops": "",
          "operations": "", "errors": "", "measure_duration_millis": "ms", "segment_duration_millis": "ms"}  # fmt: skip
_NUMBER = re.compile(r"-?[0-9]{1,19}(?:\.[0-9]{1,25})?(?:[eE][+-]?[0-9]{1,2})?")


def is_document(text: str) -> bool:
    """Whether a text has JSON of warp."""
    if TOTALS.search(text) is not None:
        return '"by_op_type"' in text or '"total_requests"' in text
    return ANALYSIS.search(text) is not None and '"operations"' in text and '"measure_duration_millis"' in text


class WarpDocument:
    """A document of warp.

    Attributes:
        line: Line of the file on which it begins, from 1.
        kinds: Requests of each type.
        whole: All requests together; None if the document does not say it.
        is_mixed: Whether they were mixed; None if the document does not say it.
        command: The command line as printed; empty if it is not, like all texts here.
        version: Version of warp.
        hosts: Services that were asked.
    """

    def __init__(self, text: str) -> None:
        """Read the first document of a text.

        Raises:
            OutputError: It is not what warp writes.
        """
        match = TOTALS.search(text) or ANALYSIS.search(text)
        assert match is not None
        start = text.index("{", match.start())
        self.line = line_of(text, start)
        content, _ = decode_json(text, start)
        self.command = self.version = ""
        self.hosts: list[str] = []
        self.whole: Requests | None = None
        self.is_mixed: bool | None = None
        if match.re is TOTALS:
            self._take_totals(content)
        else:
            self._take_analysis(content)
        if not self.kinds:
            raise OutputError(self.line, "no requests in this output of warp", HINT)
        if len(self.kinds) > _MAX_KINDS:
            raise OutputError(self.line, f"more than {_MAX_KINDS} types of requests", HINT)

    def _take_totals(self, content: Mapping[str, Any]) -> None:
        self.command = _text(content, "commandline")
        self.version = escape_line(_text(content, "warp_version"), 40)
        self.hosts = _names(content.get("total", {}), "hosts")
        kinds = content.get("by_op_type")
        parts = kinds if isinstance(kinds, dict) else {}
        self.kinds = [self._totals(name, part) for name, part in parts.items()]
        self.kinds.sort(key=lambda one: one.started_at or 0.0)
        if isinstance(content.get("total"), dict):
            self.whole = self._totals("", content["total"])

    def _totals(self, name: str, part: Any) -> Requests:
        if not isinstance(part, dict):
            raise OutputError(self.line, f"{escape_line(name, 40)!r} is no part with requests", HINT)
        figures = [
            self._figure(part, key, unit)
            for key, unit in (
                ("total_requests", ""), ("total_objects", ""), ("total_errors", ""), ("total_bytes", "bytes"),
                ("concurrency", ""),
            )
        ]  # fmt: skip
        counts = [int(Decimal(figure.text)) for figure in figures]
        requests, objects, errors, moved, streams = counts
        start, end = (_moment(part, key) for key in ("start_time", "end_time"))
        found = Requests(escape_line(name, 40), self.line, figures, streams=streams)
        self._add_throughput(found, part.get("throughput"))
        found.ops, found.objects, found.bytes, found.errors = requests - errors, objects, moved, errors
        found.started_at, found.ended_at = start, end
        if start is not None and end is not None and end > start:
            found.elapsed_ns = round((end - start) * 1e9)
        found.clients = len(_names(part, "clients")) or 1
        first = part.get("first_errors")
        found.first_error = escape_line(str(first[0]), 200) if isinstance(first, list) and first else ""
        self._add_requests(found, _segments(part.get("requests_by_client")))
        return found

    def _take_analysis(self, content: Mapping[str, Any]) -> None:
        operations = content.get("operations")
        parts = operations if isinstance(operations, list) else []
        self.kinds = [self._analysed(part) for part in parts]
        self.is_mixed = content.get("mixed") is True
        self.hosts = sorted({name for part in parts for name in _names(part, "host_names")})
        if self.is_mixed and isinstance(content.get("mixed_server_stats"), dict):
            self.whole = Requests(
                "", self.line, streams=max((one.streams or 0 for one in self.kinds), default=0) or None
            )
            self._add_throughput(self.whole, content["mixed_server_stats"])

    def _analysed(self, part: Any) -> Requests:
        if not isinstance(part, dict):
            raise OutputError(self.line, "an operation that is no part of its own", HINT)
        figures = [
            self._figure(part, key, "") for key in ("n", "concurrency", "errors", "hosts", "clients") if key in part
        ]
        texts = {figure.name: int(Decimal(figure.text)) for figure in figures}
        found = Requests(escape_line(_text(part, "type"), 40), self.line, figures)
        if part.get("skipped") is True:
            found.left_out = "too few samples, as warp says"
        self._add_throughput(found, part.get("throughput"))
        found.errors = texts.get("errors", 0)
        found.streams, found.clients = texts.get("concurrency"), texts.get("clients") or None
        found.started_at, found.ended_at = (_moment(part, key) for key in ("start_time", "end_time"))
        self._add_requests(found, [part["single_sized_requests"]] if part.get("single_sized_requests") else [])
        return found

    def _add_throughput(self, found: Requests, part: Any) -> None:
        """Take the rates that warp computes."""
        if not isinstance(part, dict):
            return
        values: dict[str, Decimal] = {}
        segmented = part.get("segmented")
        for prefix, one in (("throughput.", part), ("segments.", segmented)):
            for key, unit in _RATES.items():
                if isinstance(one, dict) and key in one:
                    figure = self._figure(one, key, unit, prefix)
                    found.figures.append(figure)
                    values[figure.name] = Decimal(figure.text)
        seconds = values.get("throughput.measure_duration_millis", Decimal(0)) / 1000
        found.bytes_rate = _rate(values, "throughput.average_bps", "throughput.bytes", seconds)
        found.object_rate = _rate(values, "throughput.average_ops", "throughput.objects", seconds)

    def _add_requests(self, found: Requests, segments: Sequence[Any]) -> None:
        """Take the times of requests; of several stretches of 10 s these have no percentiles that could be added."""
        known = [one for one in segments if isinstance(one, dict) and one.get("skipped") is not True]
        sizes = {str(one.get("obj_size", "0")) for one in known}
        if len(sizes) == 1 and known and isinstance(known[0].get("obj_size"), Number):
            found.object_size = int(Decimal(self._figure(known[0], "obj_size", "bytes").text)) or None
        times = [self._times(one) for one in known]
        weights = [int(Decimal(self._figure(one, "requests", "").text)) for one in known]
        for number, one in enumerate(times):
            mark = f"[{number}]" if len(times) > 1 else ""
            found.figures += [Figure(f"requests{mark}.{key}", text, "ms") for key, text in one.items()]
        found.latency = _together(times, weights)
        parts = [one.get("first_byte") for one in known]
        if len(parts) == 1 and isinstance(parts[0], dict):
            self._add_first_byte(found, parts[0])

    def _times(self, part: Mapping[str, Any]) -> dict[str, str]:
        return {key: self._figure(part, key, "ms").text for key in _TIMES if key in part}

    def _add_first_byte(self, found: Requests, part: Mapping[str, Any]) -> None:
        names = {"fastest_millis": "min", "average_millis": "mean", "median_millis": "p50", "p90_millis": "p90",
                 "p99_millis": "p99", "slowest_millis": "max"}  # fmt: skip
        for key, name in names.items():
            if key in part:
                figure = self._figure(part, key, "ms", "first_byte.")
                found.figures.append(figure)
                found.first_byte[name] = float(convert(figure.text, "ms"))

    def _figure(self, part: Mapping[str, Any], key: str, unit: str, prefix: str = "") -> Figure:
        value = part.get(key)
        if not isinstance(value, Number) or not _NUMBER.fullmatch(value) or not 0 <= Decimal(value) < 2**63:
            raise OutputError(self.line, f"{key} cannot be {escape_line(str(value), 40)!r}", HINT)
        return Figure(f"{prefix}{key}", str(value), unit)


def _rate(values: Mapping[str, Decimal], average: str, amount: str, seconds: Decimal) -> float | None:
    if average in values:
        return float(values[average])
    return float(values[amount] / seconds) if amount in values and seconds else None


def _together(times: Sequence[Mapping[str, str]], weights: Sequence[int]) -> dict[str, float]:
    """Return the times of all stretches: mean, least and greatest, and percentiles if there is one stretch."""
    parts = [{_TIMES[key]: float(convert(text, "ms")) for key, text in one.items()} for one in times]
    if len(parts) < 2:
        return parts[0] if parts else {}
    if not sum(weights) or any(len(one) < len(_TIMES) for one in parts):
        return {}
    mean = sum(one["mean"] * weight for one, weight in zip(parts, weights, strict=True)) / sum(weights)
    return {"min": min(one["min"] for one in parts), "mean": mean, "max": max(one["max"] for one in parts)}


def _segments(part: Any) -> list[Any]:
    """Return the stretches in which requests of one size were timed, of all clients."""
    clients = part.values() if isinstance(part, dict) else ()
    stretches = [one for each in clients if isinstance(each, list) for one in each if isinstance(one, dict)]
    return [one["single_sized_requests"] for one in stretches if one.get("single_sized_requests")]


def _names(part: Any, key: str) -> list[str]:
    names = part.get(key) if isinstance(part, dict) else None
    return [escape_line(one, 80) for one in names if isinstance(one, str)] if isinstance(names, list) else []


def _text(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key, "")
    return value if isinstance(value, str) and not isinstance(value, Number) else ""


def _moment(part: Mapping[str, Any], key: str) -> float | None:
    """Return a time as seconds since 1970; None if it is none, or the zero of Go."""
    text = _text(part, key)[:40]
    try:
        date = datetime.fromisoformat(text)
        return date.timestamp() if date.tzinfo is not None and date.year > 1970 else None
    except (ValueError, OverflowError):
        return None
