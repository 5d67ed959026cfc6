"""What a cache does to a number: cached and impossible results beside the honest ones."""

from assay.model.result.result import Row
from assay.model.told import NOT_TOLD
from assay.report import numbers
from assay.report.charts.dots import cache_chart
from assay.report.document import Badge, Block, Cell, Chart, Column, Gallery, Mono, Num, Paragraph, Section, Table
from assay.report.measure import COUNTED, DATA, Measure, measure_of
from assay.report.view import View, false, sound

_MOST_ROWS = 200
_MOST_DRAWN = 16


def section(view: View) -> Section | None:
    """The section; None if no result is cached or impossible."""
    untrue = [row for row in view.analysis.rows if false(row)]
    if not untrue:
        return None
    pairs = [(row, _honest(row, view)) for row in untrue[:_MOST_ROWS]]
    blocks: list[Block] = [Paragraph(tuple(_words(pairs)) or _NO_PAIR)]
    charts = tuple(chart for measure in (DATA, COUNTED) if (chart := _chart(pairs, measure, view)) is not None)
    blocks += [Gallery(charts)] if charts else []
    blocks.append(_table(pairs, len(untrue)))
    return Section("caching", "What a cache does to a number", tuple(blocks))


def _chart(pairs: list[tuple[Row, Row | None]], measure: Measure, view: View) -> Chart | None:
    mine = [(row, honest) for row, honest in pairs if row.counted is measure.counted]
    drawn = [(_label(row), honest, row) for row, honest in mine if honest and row.rate][:_MOST_DRAWN]
    if not drawn:
        return None
    what = measure.title.lower()
    caption = f"Filled: the honest result. Hollow: the same operation answered from memory. Median {what}."
    drawing = cache_chart(drawn, view.targets)
    return Chart(f"cache-chart-{what}", "Honest and cached", caption, drawing, wide=True)


_NO_PAIR = (
    "These results are not the storage's speed; the run holds no honest result of the same operation beside them."
)


_ALIKE = ("file_size", "record_size", "files", "lanes", "queue_depth", "hosts")
"""What two cases must have in common, besides operation and target, to differ by the cache."""


def _honest(row: Row, view: View) -> Row | None:
    """The sound result of the same work on the same target, for which the cache was not kept."""

    def alike(other: Row) -> bool:
        same = (other.operation, other.case.target) == (row.operation, row.case.target)
        a, b = row.case.parameters, other.case.parameters
        return same and all(a.known(name) == b.known(name) for name in _ALIKE)

    rows = (other for other in view.analysis.rows if sound(other) and alike(other))
    return next((other for other in rows if _cache(other) not in ("keep", NOT_TOLD, numbers.NONE)), None)


def _factor(row: Row, honest: Row | None) -> float | None:
    if honest is None or honest.rate is None or row.rate is None:
        return None
    return row.rate.median / honest.rate.median


def _words(pairs: list[tuple[Row, Row | None]]) -> list[str]:
    factors = [
        (factor, row, honest) for row, honest in pairs if honest and (factor := _factor(row, honest)) is not None
    ]
    if not factors:
        return []
    factor, row, honest = max(factors, key=lambda item: item[0])
    name = numbers.operation_title(row.operation)
    words = f"{name} on {row.case.target} gave {_speed(row)} with the verdict {row.verdict.value}: "
    words += f"{numbers.ratio(factor)} the honest {_speed(honest)}. "
    return [words, "Numbers like it are kept apart here: they say how fast memory is, not how fast the storage is."]


def _label(row: Row) -> str:
    return f"{row.case.target}: {numbers.operation_title(row.operation)} {_sizes(row)}"


def _speed(row: Row) -> str:
    return measure_of(row.operation).text(row.rate.median) if row.rate else numbers.NONE


def _table(pairs: list[tuple[Row, Row | None]], total: int) -> Table:
    columns = (
        Column("Verdict"),
        Column("Target"),
        Column("Operation"),
        Column("Sizes"),
        Column("Cache"),
        Column("Measured", numeric=True),
        Column("Honest", numeric=True),
        Column("Factor", numeric=True),
        Column("Honest result at"),
        Column("What was seen"),
    )
    rows: list[tuple[Cell, ...]] = []
    for row, honest in pairs:
        factor = _factor(row, honest)
        rows.append(
            (
                Badge(row.verdict),
                row.case.target,
                numbers.operation_title(row.operation),
                _sizes(row),
                Mono(_cache(row)),
                _number(row),
                _number(honest),
                Num(numbers.ratio(factor), factor) if factor is not None else Num(numbers.NONE, None),
                f"{_sizes(honest)}, {_cache(honest)}" if honest else numbers.NONE,
                " ".join(finding.text for finding in row.findings) or numbers.NONE,
            )
        )
    caption = f"The first {len(pairs)} of {total:,}." if total > len(pairs) else ""
    return Table("cache-table", columns, tuple(rows), caption)


def _number(row: Row | None) -> Num:
    return Num(_speed(row), row.rate.median) if row and row.rate else Num(numbers.NONE, None)


def _sizes(row: Row) -> str:
    """File and record size; of metadata operations number and size of the files, of objects their size."""
    p = row.case.parameters
    if row.case.group == "objects":
        return f"objects of {numbers.axis_value('object_size', p.known('object_size', NOT_TOLD))}"
    file, record = (numbers.axis_value(name, p.known(name, NOT_TOLD)) for name in ("file_size", "record_size"))
    if not row.counted:
        return f"{file} / {record}"
    told = all(p.tells(name) for name in ("files", "lanes", "hosts"))
    return f"{p.all_files:,} files of {file}" if told else f"files of {file}, how many is {NOT_TOLD}"


def _cache(row: Row) -> str:
    if row.case.group == "objects":
        return numbers.NONE  # There is none on this side.
    found: str = row.case.parameters.known("cache", NOT_TOLD)
    return found
