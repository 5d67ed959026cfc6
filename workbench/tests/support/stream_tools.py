"""Streams of events that are true, and ways to spoil them."""

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from builders import make_case, make_run
from hypothesis import strategies as st
from paths import GOLDEN, REPOSITORY

from assay.analyse.rows import analyse
from assay.contract._generated import Job
from assay.contract.parts import HOST_LINE_START
from assay.judge.judge import judge
from assay.launch.engine import Outcome
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import JobRecord, Sample
from assay.report import html
from assay.report.build import build_document
from assay.run.read_events import read_repeat
from assay.run.series import run_rows

EVENTS = REPOSITORY / "contract" / "golden" / "events"
STREAMS = GOLDEN / "streams"
SECONDS = 3600.0
EXTREMES = (
    *(0, 1, -1, 2, 2**31, 2**32, 2**40, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 10**40),
    *(0.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan")),
    *(None, True, "", "x", "\x1b[31m", "\ud800", "7", "nan", [], {}, [[]], [{}], {"event": "hello"}, "é\u2028" * 40),
)


@dataclass(frozen=True)
class Base:
    """A true stream: the lines that engines said, the job, and whether they are those of several hosts."""

    name: str
    lines: tuple[str, ...]
    job: Job
    hosts: bool


@cache
def bases() -> tuple[Base, ...]:
    """All true streams."""
    found = []
    for path in [*sorted(EVENTS.glob("*.ndjson")), STREAMS / "two-hosts.ndjson"]:
        lines = tuple(path.read_text().rstrip("\n").split("\n"))
        hosts = lines[0].startswith(HOST_LINE_START)
        hello = json.loads(lines[1 if hosts else 0])
        found.append(Base(path.stem, lines, Job.model_validate(hello["job"]), hosts))
    return tuple(found)


def bomb(size: int) -> str:
    """A histogram whose compressed part becomes so many bytes."""
    packed = zlib.compress(struct.pack(">IIIIQQd", 0x1C849313, size, 0, 3, 1, 2**62, 1.0) + b"\0" * size, 9)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


@cache
def histograms() -> tuple[str, ...]:
    """Histograms that are none, or lie: bombs, counts that overflow, resolutions and bounds that nobody has."""
    made = [bomb(8 << 20), "", "AAAA", "=" * 400]
    bounds = [(0, 1, 2**62), (3, 0, 0), (3, 2**63, 2**64 - 1), (9, 1, 2**40), (3, 1, 2), (3, 7, 2**64 - 1), (1, 1, 99)]
    for digits, lowest, highest in bounds:
        for counts in (b"\x02", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff" * 3, b"\x01", b"\xff" * 9, b""):
            body = struct.pack(">IIIIQQd", 0x1C849313, len(counts), 0, digits, lowest, highest, 1.0) + counts
            packed = zlib.compress(body)
            made.append(base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode())
    return tuple(made)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def _change(lines: list[str], at: int, where: int, make: Callable[[Any], Any]) -> None:
    try:
        event = json.loads(lines[at])
    except ValueError:
        return
    found = list(places(event))
    if not found:
        return
    *path, last = found[where % len(found)]
    inner = event
    for key in path:
        inner = inner[key]
    inner[last] = make(inner[last])
    lines[at] = json.dumps(event, separators=(",", ":"))


def _scaled(value: Any, pick: int) -> Any:
    factor = (2, 10, -1, 0, 1000, 10**9)[pick % 6]
    return value * factor if isinstance(value, int | float) and not isinstance(value, bool) else value


def spoil(lines: list[str], how: str, at: int, where: int, pick: int) -> None:
    """Spoil lines in one way.

    Args:
        lines: Changed in place.
        how: The way.
        at: Number of the line; likewise `where` of the place in it, and `pick` of what comes there; all may be larger
            than what there is.
    """
    if not lines:
        return
    at %= len(lines)
    match how:
        case "drop":
            del lines[at]
        case "double":
            lines.insert(where % (len(lines) + 1), lines[at])
        case "move":
            lines.insert(where % len(lines), lines.pop(at))
        case "cut":
            lines[at] = lines[at][: where % (len(lines[at]) + 1)]
        case "end":
            del lines[at:]
        case "byte":
            place = where % (len(lines[at]) + 1)
            lines[at] = lines[at][:place] + chr(pick % 0x3000) + lines[at][place + 1 :]
        case "value":
            _change(lines, at, where, lambda _: EXTREMES[pick % len(EXTREMES)])
        case "scale":
            _change(lines, at, where, lambda value: _scaled(value, pick))
        case "near":
            _change(lines, at, where, lambda value: value + pick % 7 - 3 if isinstance(value, int) else value)
        case "histogram":
            spoil_histogram(lines, at, pick)
        case "forge":
            lines.insert(
                at, HOST_LINE_START + f'"host":"h{pick}","status":"ok","reason":"","offset_ns":{pick},"lines":{where}}}'
            )


def spoil_histogram(lines: list[str], at: int, pick: int) -> None:
    """Put a histogram that is none for the first one from a line on."""
    for number in range(at, len(lines)):
        if '"HISTFAAA' in lines[number]:
            begin = lines[number].index('"HISTFAAA') + 1
            _, quote, rest = lines[number][begin:].partition('"')
            lines[number] = lines[number][:begin] + histograms()[pick % len(histograms())] + quote + rest
            return


WAYS = ("drop", "double", "move", "cut", "end", "byte", "value", "scale", "near", "histogram", "forge")
SPOILED = st.tuples(
    st.integers(0, 8),
    st.lists(
        st.tuples(st.sampled_from(WAYS), st.integers(0, 199), st.integers(0, 9999), st.integers(0, 9999)),
        min_size=1,
        max_size=4,
    ),
)
"""A stream and what is done to it."""


def spoiled(base: Base, changes: list[tuple[str, int, int, int]]) -> str:
    """The text of a stream after changes."""
    lines = list(base.lines)
    for change in changes:
        spoil(lines, *change)
    return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Stored:
    """As much of a stored run as its time series are made of."""

    events_text: str
    hosts: bool

    def info(self) -> Any:
        return make_run(hosts=("c1", "c2") if self.hosts else ())

    def order(self) -> list[tuple[str, int]]:
        return [("c0001", 1)]

    def events(self, _case: str, _repeat: int) -> str:
        return self.events_text


def through(base: Base, text: str, report: bool) -> tuple[Outcome, tuple[Sample, ...]]:
    """Take a text all the way that a repeat goes: guard, samples, store, time series, judge, report.

    Raises:
        Exception: Anything that is raised on the way is a defect.
    """
    text = text.encode("utf-8", "replace").decode("utf-8", "replace")
    outcome, samples = read_repeat(
        "c0001", 1, base.job, Outcome("ok", "", 1.0, SECONDS, stop_requested=False, events=text), base.hosts
    )
    assert outcome.status in ("ok", "errors", "crashed") and outcome.reason.isprintable()
    assert (outcome.status == "ok") == (not outcome.reason) and "\n" not in outcome.reason
    kept = tuple(Sample.model_validate_json(sample.model_dump_json()) for sample in samples)
    told: list[str] = []
    for row in run_rows(Stored(text, base.hosts), told.append):  # type: ignore[arg-type]
        assert all(isinstance(value, str | None) or -(2**63) <= value < 2**63 for value in row.values())
    assert all(line.isprintable() for line in told)
    analysis = analysed(base, outcome, kept, report)
    if report:
        page = html.render_html(build_document(analysis))
        assert "\x1b" not in page
    return outcome, kept


def analysed(base: Base, outcome: Outcome, samples: tuple[Sample, ...], whole: bool) -> RunAnalysis:
    """The analysis of a run with this one repeat."""
    operations = tuple(str(phase.operation) for phase in base.job.phases if phase.measured)
    case = make_case(operations=operations)
    record = JobRecord(
        case="c0001",
        repeat=1,
        status=outcome.status,
        attempts=1,
        started_at=1.0,
        seconds=1.0,
        reason=outcome.reason,
        job=base.job.model_dump(mode="json"),
    )
    return analyse(make_run(repeats=1), [case], [], samples, [record], judge, quick=not whole)
