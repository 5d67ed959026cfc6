"""What a cache does to a number: cached and impossible results beside the honest ones."""

import math

from assay.model.result import Row
from assay.report import numbers
from assay.report.charts.dots import cache_chart
from assay.report.document import Badge, Block, Cell, Chart, Column, Gallery, Mono, Num, Paragraph, Section, Table
from assay.report.view import FALSE, View, sound

_MOST_ROWS = 200
_MOST_DRAWN = 16


def section(view: View) -> Section | None:
    """The section; None if no result is cached or impossible."""
    false = [row for row in view.analysis.rows if row.verdict in FALSE]
    if not false:
        return None
    pairs = [(row, _honest(row, view)) for row in false[:_MOST_ROWS]]
    blocks: list[Block] = [Paragraph(tuple(_words(pairs)) or _NO_PAIR)]
    drawn = [(_label(row), honest, row) for row, honest in pairs if honest and row.throughput][:_MOST_DRAWN]
    if drawn:
        caption = "Filled: the honest result. Hollow: the same operation answered from memory. Median throughput."
        spec = cache_chart(drawn, view.targets)
        blocks.append(Gallery((Chart("cache-chart", "Honest and cached", caption, spec, wide=True),)))
    blocks.append(_table(pairs, len(false)))
    return Section("caching", "What a cache does to a number", tuple(blocks))


_NO_PAIR = (
    "These results are not the storage's speed; the run holds no honest result of the same operation beside them."
)


def _honest(row: Row, view: View) -> Row | None:
    """The sound result of the same operation on the same target at the nearest point."""

    def distance(other: Row) -> float:
        a, b = row.case.parameters, other.case.parameters
        pairs = (
            (a.file_size, b.file_size),
            (a.record_size, b.record_size),
            (a.lanes, b.lanes),
            (a.queue_depth, b.queue_depth),
        )
        return sum(abs(math.log2(max(x, 1) / max(y, 1))) for x, y in pairs)

    found = [other for other in view.analysis.rows if other.operation == row.operation and sound(other)]
    found = [other for other in found if other.case.target == row.case.target and other.case.parameters.cache != "keep"]
    return min(found, key=distance, default=None)


def _factor(row: Row, honest: Row | None) -> float | None:
    if honest is None or honest.throughput is None or row.throughput is None:
        return None
    return row.throughput.median / honest.throughput.median


def _words(pairs: list[tuple[Row, Row | None]]) -> list[str]:
    factors = [
        (factor, row, honest) for row, honest in pairs if honest and (factor := _factor(row, honest)) is not None
    ]
    if not factors:
        return []
    factor, row, honest = max(factors, key=lambda item: item[0])
    name = numbers.operation_title(row.operation)
    words = f"{name} on {row.case.target} gave {_speed(row)} MB/s with the verdict {row.verdict.value}: "
    words += f"{numbers.ratio(factor)} the honest {_speed(honest)} MB/s. "
    return [words, "Numbers like it are kept apart here: they say how fast memory is, not how fast the storage is."]


def _label(row: Row) -> str:
    return f"{row.case.target}: {numbers.operation_title(row.operation)} {_sizes(row)}"


def _speed(row: Row) -> str:
    return numbers.mb_per_s(row.throughput.median if row.throughput else None)


def _table(pairs: list[tuple[Row, Row | None]], total: int) -> Table:
    columns = (
        Column("Verdict"),
        Column("Target"),
        Column("Operation"),
        Column("File / record"),
        Column("Cache"),
        Column("Measured", "MB/s", numeric=True),
        Column("Honest", "MB/s", numeric=True),
        Column("Factor", numeric=True),
        Column("Honest result at"),
        Column("What was seen"),
    )
    rows: list[tuple[Cell, ...]] = []
    for row, honest in pairs:
        value = row.throughput.median if row.throughput else None
        plain = honest.throughput.median if honest and honest.throughput else None
        factor = _factor(row, honest)
        rows.append(
            (
                Badge(row.verdict),
                row.case.target,
                numbers.operation_title(row.operation),
                _sizes(row),
                Mono(row.case.parameters.cache),
                Num(numbers.mb_per_s(value), value),
                Num(numbers.mb_per_s(plain), plain),
                Num(numbers.ratio(factor), factor) if factor is not None else Num(numbers.NONE, None),
                f"{_sizes(honest)}, {honest.case.parameters.cache}" if honest else numbers.NONE,
                " ".join(finding.text for finding in row.findings) or numbers.NONE,
            )
        )
    caption = f"The first {len(pairs)} of {total:,}." if total > len(pairs) else ""
    return Table("cache-table", columns, tuple(rows), caption)


def _sizes(row: Row) -> str:
    return f"{numbers.size(row.case.parameters.file_size)} / {numbers.size(row.case.parameters.record_size)}"
