"""What is to be seen in a chart all of whose results are ok: ends, greatest value with its place, crossings."""

import itertools
from collections.abc import Iterator

from assay.report import numbers
from assay.report.selection.cells import Key
from assay.report.selection.contents import ChartContents
from assay.report.selection.decided import undecided_reasons
from assay.report.selection.properties import named_words, value_words

_MAX_LINES = 4
"""Most lines whose ends are named."""
_MAX_CROSSINGS = 2


def sentence(contents: ChartContents, are_lines: bool) -> str:
    """Return what is to be seen in a chart; empty if there is only one value."""
    values = {key: figure.value for key in contents.cells if (figure := contents.figure(key)) is not None}
    if len(values) < 2:
        return ""
    highest, lowest = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
    parts = [_ends(contents)] if are_lines else []
    words = f"Highest: {_value(contents, values[highest])} ({_where(contents, highest)})"
    parts.append(
        words if are_lines else f"{words}; lowest: {_value(contents, values[lowest])} ({_where(contents, lowest)})"
    )
    crossings = list(_crossings(contents)) if are_lines else []
    parts += crossings[:_MAX_CROSSINGS]
    return " ".join(f"{part}." for part in parts if part)


def _value(contents: ChartContents, value: float) -> str:
    return f"{numbers.significant(value)} {contents.unit.name}".strip()


def _where(contents: ChartContents, key: Key) -> str:
    return ", ".join(named_words(name, value) for name, value in zip(contents.axes, key, strict=True))


def _ends(contents: ChartContents) -> str:
    """Return the first and the last value of each line; empty if there are many lines."""
    series = contents.series()
    if len(series) > _MAX_LINES:
        return ""
    texts = []
    for one in series:
        places = [place for place in contents.orders[contents.axes[0]] if (place, *one) in contents.cells]
        figures = [contents.figure((place, *one)) for place in (places[0], places[-1])] if len(places) > 1 else []
        known = [_value(contents, figure.value) for figure in figures if figure is not None]
        if len(known) == 2:
            texts.append(f"{contents.name(one)} {known[0]} to {known[1]}".strip())
    return f"From left to right: {numbers.listing(texts)}" if texts else ""


def _crossings(contents: ChartContents) -> Iterator[str]:
    """Yield where one target's line crosses another's, if the run decides on both sides which target is faster."""
    if (
        contents.series_names != ("target",)
        or contents.selection.over
        or contents.selection.options.value.name != "rate"
    ):
        return
    places, series = contents.orders[contents.axes[0]], contents.series()
    for number, first in enumerate(series):
        for second in series[number + 1 :]:
            signs = [(place, _leader(contents, (place, *first), (place, *second))) for place in places]
            decided = [(place, sign) for place, sign in signs if sign]
            for (before, sign), (after, other) in itertools.pairwise(decided):
                if sign != other:
                    axis = contents.axes[0]
                    ends = named_words(axis, before), value_words(axis, after)
                    yield f"{contents.name(first)} and {contents.name(second)} cross between {ends[0]} and {ends[1]}"


def _leader(contents: ChartContents, first: Key, second: Key) -> int:
    """Return 1 if the first result is faster, -1 if the second is, 0 if that is not decided."""
    sides = [contents.cells.get(key) for key in (first, second)]
    results = [cell.results[0] for cell in sides if cell is not None and cell.results]
    if len(results) < 2 or results[0].run != results[1].run:
        return 0
    if undecided_reasons(results[0].view, results[0].row, results[1].row):
        return 0
    rates = [one.row.rate.median for one in results if one.row.rate is not None]
    return 1 if rates[0] > rates[1] else -1
