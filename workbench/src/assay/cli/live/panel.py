"""The panel of a running measurement as lines of text, for any width."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from assay.cli.live.rate_history import MAX_BINS
from assay.cli.live.state import State
from assay.model.escape import escape_line
from assay.model.units import about_duration, about_rate
from assay.report import numbers

_HEAD = 9
"""Columns of the label at the start of a line."""
_MIN_BAR, _MAX_BAR = 4, 40
_MAX_COURSE = 100
_FIXED = 6
"""Lines of the panel without those of hosts."""


class Glyphs(NamedTuple):
    """The characters of the panel.

    Attributes:
        heights: Heights of a sparkline, from 0 to the greatest.
        done: Finished part of the progress bar.
        remaining: Unfinished part of the progress bar.
        cut: End of a shortened line.
    """

    heights: str
    done: str
    remaining: str
    cut: str


FINE = Glyphs("▁▂▃▄▅▆▇█", "━", "─", "…")
PLAIN = Glyphs("_.-=+*#@", "#", "-", ".")
"""Characters for terminals that cannot show those of `FINE`."""


class PanelLine(NamedTuple):
    """A line of the panel: its label and its text."""

    head: str
    text: str


def panel(state: State, width: int, height: int, glyphs: Glyphs) -> list[PanelLine]:
    """Return the lines, each at most `width` columns; without room for all, the least important ones are left out."""
    room = max(1, width - _HEAD)
    lines = [
        PanelLine("", _bar(state, width, glyphs)),
        PanelLine("case", _case(state)),
        PanelLine("rate", _rates(state, room)),
        PanelLine("latency", _latency(state, room)),
        PanelLine("limit", _limit(state, room)),
        PanelLine("history", _course(state, room, glyphs)),
        *_hosts(state, room, max(0, height - _FIXED), glyphs),
    ]
    return [_cut(line, width, glyphs) for line in lines[: max(1, height)]]


def _cut(line: PanelLine, width: int, letters: Glyphs) -> PanelLine:
    head = f"{line.head:<{_HEAD}}" if line.head else ""
    head, text = head[:width], escape_line(line.text)
    room = width - len(head)
    if cell_len(text) > room:
        text = set_cell_size(text, max(0, room - 1)) + letters.cut * (room > 0)
    return PanelLine(head, text)


def _first_fitting(room: int, *words: str) -> str:
    """Return the first text that fits into `room` columns, or the last one."""
    return next((text for text in words if cell_len(text) <= room), words[-1])


def _bar(state: State, width: int, letters: Glyphs) -> str:
    count = f"{state.done}/{state.total}"
    failed = f", {state.failed} not ok" if state.failed else ""
    left = f"{state.left.words()} left"
    room = min(_MAX_BAR, width - len(f"{count}{failed}  {left}"))
    if room < _MIN_BAR:
        return _first_fitting(width, f"{count}{failed} {left}", f"{count} {left}")
    full = room if state.total <= 0 else min(room, room * max(0, state.done) // state.total)
    return f"{count}{failed} {letters.done * full}{letters.remaining * (room - full)} {left}"


def _case(state: State) -> str:
    if state.case is None:
        return "none yet"
    at_hand = f": {state.outcome}" if state.outcome else f", {state.operation}" if state.operation else ""
    return f"{state.case.id} repeat {state.repeat}{at_hand}; {state.case.label}"


def _rates(state: State, room: int) -> str:
    if silent := state.silent():
        return _first_fitting(room, f"no progress for {about_duration(silent)}", f"silent for {about_duration(silent)}")
    course = state.course
    if not course.hosts:
        return numbers.NONE
    rates = course.rates()
    now, lately = (about_rate(rate.of(course.counted), course.counted) for rate in rates)
    minute = course.seconds >= 59.5
    over = "the last minute" if minute else f"the last {about_duration(course.seconds)}"
    ops = "" if course.counted else f" ({about_rate(rates[0].ops, counted=True)})"
    short = "1 min" if minute else about_duration(course.seconds)
    return _first_fitting(
        room, f"{now}{ops} now, {lately} over {over}", f"{now} now, {lately} over {over}", f"{now}; {lately} in {short}"
    )


def _latency(state: State, room: int) -> str:
    tail = state.tail()
    if tail is None:
        return numbers.NONE
    short = f"p50 {numbers.latency(tail.p50)}, p99 {numbers.latency(tail.p99)}"
    return _first_fitting(room, f"{short} in the last interval", short)


def _limit(state: State, room: int) -> str:
    found = state.binding()
    if found is None:
        return "none known" if state.course.hosts else numbers.NONE
    ceiling = about_rate(found.value, found.unit != "bytes/s")
    share = numbers.share(found.share)
    return _first_fitting(
        room, f"nearest limit is {found.name}: {share} of {ceiling}", f"{found.name}: {share}", f"{share}, {found.name}"
    )


def _course(state: State, room: int, letters: Glyphs) -> str:
    words = f" up to {about_rate(max(state.course.columns(MAX_BINS), default=0.0), state.course.counted)}"
    rates = state.course.columns(max(1, min(_MAX_COURSE, room - len(words) - 1)))
    if not rates:
        return numbers.NONE
    # The greatest of the drawn rates, each of which may be a mean of several bins.
    return f"{sparkline(rates, letters)} up to {about_rate(max(rates), state.course.counted)}"


def sparkline(rates: Sequence[float], glyphs: Glyphs) -> str:
    """Return a sparkline: one character for each rate, as high as its share of the greatest one."""
    top, last = max(rates, default=0.0), len(glyphs.heights) - 1
    return "".join(glyphs.heights[round(last * rate / top) if top else 0] for rate in rates)


def _hosts(state: State, room: int, most: int, letters: Glyphs) -> list[PanelLine]:
    """Return a line for each of several hosts; without room for all, those of the slowest ones."""
    counted = state.course.counted
    every = [(name, now.of(counted), lately.of(counted)) for name, now, lately in state.course.by_host()]
    if len(every) < 2 or not most:
        return []
    fastest = max(lately for _, _, lately in every)
    shown, rest = every, 0
    if len(every) > most:
        slowest = sorted(every, key=lambda item: item[2])[: most - 1]
        shown, rest = [item for item in every if item in slowest], len(every) - len(slowest)
    lines = [
        PanelLine(
            "host", _host(escape_line(name), now, lately, lately / fastest if fastest else 0.0, counted, room, letters)
        )
        for name, now, lately in shown
    ]
    return [*lines, PanelLine("", f"and {numbers.plural(rest, 'host')} more, none slower")] if rest else lines


def _host(name: str, now: float, lately: float, share: float, counted: bool, room: int, letters: Glyphs) -> str:
    words = f"{name} {about_rate(now, counted)} now, {about_rate(lately, counted)} lately"
    bar = min(_MAX_BAR // 2, room - cell_len(words) - 1)
    short = f"{name} {about_rate(now, counted)}"
    return f"{words} {letters.done * round(bar * share)}" if bar >= _MIN_BAR else _first_fitting(room, words, short)
