"""The options: each target with the place it turned out to be."""

from assay.model.result.run import Place
from assay.report import numbers
from assay.report.document import Cell, Column, Mono, Note, Num, Section, Table
from assay.report.first.caveats import started
from assay.report.sections.existing import existing_table
from assay.report.view import View

_COLUMNS = (
    Column("Target"),
    Column("Kind"),
    Column("Path"),
    Column("File system"),
    Column("Device"),
    Column("Free", numeric=True),
    Column("Stored in memory"),
    Column("O_DIRECT bypasses the cache"),
    Column("Limits"),
)


def _below(place: Place) -> tuple[str, ...]:
    return (f"lies on {place.stacked_on}",) if place.stacked_on else ()


def _free(place: Place) -> Num:
    if place.free_bytes is None:
        return Num(numbers.NONE, None)
    return Num(numbers.size(place.free_bytes), float(place.free_bytes))


def _known(told: bool, place: Place) -> str:
    """Of what was found out of the machine's own storage; of a server's nobody here knows."""
    if place.servers:
        return numbers.NONE
    return "yes" if told else "no"


def _cells(place: Place) -> tuple[Cell, ...]:
    return (
        place.target,
        place.kind,
        Mono(place.path),
        numbers.NONE if place.filesystem == place.kind else place.filesystem,
        Mono(place.device) if place.device else numbers.NONE,
        _free(place),
        _known(place.memory_backed, place),
        _known(place.direct_bypasses_cache, place),
        "; ".join((*place.limits, *_below(place))) or numbers.NONE,
    )


def _empty(cell: Cell) -> bool:
    return cell == numbers.NONE or (isinstance(cell, Num) and cell.value is None)


def section(view: View) -> Section:
    """Targets, one row each, with the columns that any of them fills."""
    rows = [_cells(place) for place in view.run.places]
    filled = [number for number in range(len(_COLUMNS)) if not all(_empty(row[number]) for row in rows)]
    columns = tuple(_COLUMNS[number] for number in filled)
    kept = tuple(tuple(row[number] for number in filled) for row in rows)
    existing = existing_table(view)
    tables = (Table("options-table", columns, kept), *((existing,) if existing else ()))
    return Section("options", "Options", (*tables, *(Note(words, "warning") for words in started(view))))
