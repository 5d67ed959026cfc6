"""Tables and lines that describe a trace."""

from collections.abc import Iterator
from typing import Any

from assay.analyse.traces.course import Span
from assay.analyse.traces.summary import FileSummary, OpSummary, TraceSummary
from assay.analyse.traces.words import about_time, counted, losses_words
from assay.model.secret import redact_command
from assay.model.trace.records import FILE_KINDS, escape_name
from assay.model.units import about_count, about_number, about_rate, about_size, format_size

SPARKS = "▁▂▃▄▅▆▇█"
_COLUMNS = 60
_CLASSES = (4 << 10, 64 << 10, 1 << 20, 16 << 20, 1 << 30)
"""Greatest sizes of files that are counted together."""

_OPENED = {"d": "O_DIRECT", "s": "O_SYNC or O_DSYNC", "a": "O_APPEND"}
"""Letter of an open -> its flag."""

OP_COLUMNS = ("operation", "count", "failed", "bytes", "median size", "95 % up to", "sequential", "time")
FILE_COLUMNS = ("file", "size", "operations", "read", "written")
PHASE_COLUMNS = ("from", "for", "what", "operations", "read", "written")


def head_lines(summary: TraceSummary) -> Iterator[str]:
    """Yield what was recorded, in words."""
    header = summary.header
    if header.command is not None:
        yield f"command      {redact_command(header.command)}"
    yield f"recorded by  {header.source}" + (f" on {header.recorded}" if header.recorded else "")
    took = about_time(summary.end if header.duration_ns is None else header.duration_ns)
    if header.untraced_ns is not None:
        took += f"; {about_time(header.untraced_ns)} without tracing"
    yield f"duration     {took}"
    yield f"reads        {_side(summary.total(reads=True), summary.end)}"
    yield f"writes       {_side(summary.total(reads=False), summary.end)}"
    yield f"mix          {_mix(summary)}"
    yield f"tasks        {_tasks(summary)}"
    yield f"files        {_files(summary)}"
    if opened := [f"{about_count(summary.flags[one])} {words}" for one, words in _OPENED.items() if summary.flags[one]]:
        yield f"opened with  {', '.join(opened)}, of {counted(summary.operations['open'].count, 'open')}"


def op_rows(summary: TraceSummary) -> list[tuple[str, ...]]:
    """Return a row for each kind of operation, the most frequent first."""
    ranked = sorted(summary.operations.items(), key=lambda item: (-item[1].count, item[0]))
    return [
        (
            op,
            about_count(one.count),
            about_count(one.failed) if one.failed else "",
            about_size(one.moved) if one.sizes.total else "",
            _size(one.sizes.quantile(0.5)),
            _size(one.sizes.quantile(0.95)),
            _percent(one.sequential, one.placed) if one.placed else "",
            about_time(one.time),
        )
        for op, one in ranked
    ]


def file_rows(summary: TraceSummary) -> list[tuple[str, ...]]:
    """Return a row for each of the files that were used most."""
    return [
        (
            escape_name(one.file.name),
            _state(one),
            about_count(one.operations),
            about_size(one.read) if one.read else "",
            about_size(one.written) if one.written else "",
        )
        for one in summary.top_files()
    ]


def phase_rows(summary: TraceSummary) -> list[tuple[str, ...]]:
    """Return a row for each phase."""
    return [
        (
            about_time(one.begin) if one.begin else "0",
            about_time(min(one.end, summary.end) - one.begin),
            one.kind,
            about_count(one.operations),
            _rate(one.read, one),
            _rate(one.written, one),
        )
        for one in summary.course.phases()
        if one.begin < summary.end
    ]


def spark_lines(summary: TraceSummary) -> list[str]:
    """Return two lines of bars: bytes per second that were read and written over time; none if it was nothing."""
    spans = _columns(summary.course.spans())
    lines = []
    for what, values in (("read", [one.read for one in spans]), ("written", [one.written for one in spans])):
        most = max(values, default=0)
        if most:
            bars = "".join(" " if not value else SPARKS[(len(SPARKS) - 1) * value // most] for value in values)
            seconds = (spans[0].end - spans[0].begin) / 1e9
            lines.append(f"{what:8} {bars} at most {about_rate(most / seconds, False)}")
    return lines


def loss_lines(summary: TraceSummary) -> list[str]:
    """Return what the trace does not show."""
    return losses_words(summary.header.losses)


def as_json(summary: TraceSummary) -> dict[str, Any]:
    """Return the summary as values for JSON; sizes in bytes, times in nanoseconds."""
    header = summary.header
    return {
        "source": header.source,
        "command": header.command,
        "recorded": header.recorded,
        "duration_ns": header.duration_ns,
        "untraced_ns": header.untraced_ns,
        "end_ns": summary.end,
        "busy_ns": summary.busy,
        "operations": {op: _op_json(one) for op, one in sorted(summary.operations.items())},
        "open_flags": dict(sorted(summary.flags.items())),
        "tasks": summary.tasks,
        "max_tasks": summary.max_tasks,
        "max_in_flight": summary.max_in_flight,
        "files": {
            "count": len(summary.files),
            "new": sum(one.file.size is None and one.file.kind in "fo" for one in summary.files.values())
            - summary.missing_files,
            "missing": summary.missing_files,
            "bytes": sum(one.file.size or 0 for one in summary.files.values()),
            "top_files": [_file_json(one) for one in summary.top_files()],
        },
        "phases": [_span_json(one) for one in summary.course.phases()],
        "over_time": [_span_json(one) for one in summary.course.spans()],
        "losses": [{"code": code, "count": count} for code, count in sorted(header.losses.items())],
    }


def _op_json(one: OpSummary) -> dict[str, Any]:
    found: dict[str, Any] = {"count": one.count, "failed": one.failed, "time_ns": one.time}
    if one.sizes.total:
        found |= {
            "bytes": one.moved,
            "median_size": one.sizes.quantile(0.5),
            "p95_size": one.sizes.quantile(0.95),
            "placed": one.placed,
            "sequential": one.sequential,
        }
    return found


def _file_json(one: FileSummary) -> dict[str, Any]:
    return {
        "name": one.file.name,
        "kind": FILE_KINDS[one.file.kind],
        "size": one.file.size,
        "operations": one.operations,
        "read": one.read,
        "written": one.written,
    }


def _span_json(one: Span) -> dict[str, Any]:
    return {
        "begin_ns": one.begin,
        "end_ns": one.end,
        "kind": one.kind,
        "operations": one.operations,
        "read": one.read,
        "written": one.written,
    }


def _side(one: OpSummary, end: int) -> str:
    if not one.count:
        return "none"
    rate = about_rate(one.moved / (end / 1e9), False) if end else ""
    parts = [about_size(one.moved), f"in {counted(one.count, 'operation')}"]
    if one.placed:
        parts.append(f"{_percent(one.sequential, one.placed)} sequential")
    return ", ".join([*parts, *([rate] if rate else [])])


def _mix(summary: TraceSummary) -> str:
    reads, writes = summary.total(reads=True), summary.total(reads=False)
    total = sum(one.count for one in summary.operations.values())
    data = reads.count + writes.count
    if not data:
        return f"{counted(total, 'operation')}, none of which reads or writes"
    moved = reads.moved + writes.moved
    shares = f"{_percent(reads.count, data)} of operations on data are reads"
    if moved:
        shares += f", and {_percent(reads.moved, moved)} of bytes"
    return f"{shares}; {_percent(data, total)} of all operations are on data"


def _tasks(summary: TraceSummary) -> str:
    at_once = f"{about_count(summary.max_tasks)} at once at most"
    return f"{about_count(summary.tasks)}, {at_once}; {counted(summary.max_in_flight, 'operation')} at once at most"


def _files(summary: TraceSummary) -> str:
    plain = [one for one in summary.files.values() if one.file.kind in "fo"]
    old = [one.file.size for one in plain if one.file.size is not None]
    parts = [f"{about_count(len(old))} that existed"]
    if old:
        parts[0] += f" ({about_size(sum(old))}{': ' + _classes(old) if len(old) > 1 else ''})"
    parts.append(f"{about_count(len(plain) - len(old) - summary.missing_files)} new")
    parts.append(f"{about_count(summary.missing_files)} looked for and missing")
    folders = sum(one.file.kind == "d" for one in summary.files.values())
    devices = sum(one.file.kind == "b" for one in summary.files.values())
    if folders:
        parts.append(f"{about_count(folders)} director{'y' if folders == 1 else 'ies'}")
    if devices:
        parts.append(counted(devices, "device"))
    return ", ".join(parts)


def _classes(sizes: list[int]) -> str:
    parts, before = [], 0
    if empty := sizes.count(0):
        parts.append(f"{about_count(empty)} empty")
    for most in _CLASSES:
        if count := sum(before < size <= most for size in sizes):
            parts.append(f"{about_count(count)} of at most {format_size(most)}")
        before = most
    if count := sum(size > before for size in sizes):
        parts.append(f"{about_count(count)} larger")
    return ", ".join(parts)


def _state(one: FileSummary) -> str:
    if one.is_missing:
        return "missing"
    return "new" if one.file.size is None and one.file.kind != "d" else _size(one.file.size)


def _columns(spans: list[Span]) -> list[Span]:
    """Return the spans joined to columns of equal width."""
    each = -(-len(spans) // _COLUMNS) or 1
    found = []
    for at in range(0, len(spans), each):
        one = spans[at]
        for other in spans[at + 1 : at + each]:
            one = one.with_next(other)
        found.append(one)
    return found


def _rate(moved: int, span: Span) -> str:
    return about_rate(moved / ((span.end - span.begin) / 1e9), False) if moved else ""


def _size(size: int | None) -> str:
    return "" if size is None else about_size(size)


def _percent(part: int, whole: int) -> str:
    return f"{about_number(100 * part / whole)} %" if whole else "0 %"
