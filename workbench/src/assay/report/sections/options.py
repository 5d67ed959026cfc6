"""The options: each target with the place it turned out to be."""

from assay.model.result.result import Place
from assay.report import numbers
from assay.report.document import Cell, Column, Mono, Note, Num, Section, Table
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


def section(view: View) -> Section:
    """Targets, one row each."""
    rows: list[tuple[Cell, ...]] = []
    for place in view.run.places:
        rows.append(
            (
                place.target,
                place.kind,
                Mono(place.path),
                place.filesystem,
                Mono(place.device) if place.device else numbers.NONE,
                _free(place),
                "yes" if place.memory_backed else "no",
                "yes" if place.direct_bypasses_cache else "no",
                "; ".join((*place.limits, *_below(place))) or numbers.NONE,
            )
        )
    return Section("options", "Options", (Table("options-table", _COLUMNS, tuple(rows)), *_started(view)))


def _started(view: View) -> tuple[Note, ...]:
    """What the numbers of servers that Assay started are about."""
    found: dict[str, list[str]] = {}
    for place in view.run.places:
        if place.started:
            found.setdefault(place.started, []).append(place.target)
    return tuple(
        Note(
            f"{server} was started by Assay on this machine, for {' and '.join(names)}, and shared its processors with "
            f"the load: these numbers are about {server} on this machine, not about AWS.",
            "warning",
        )
        for server, names in found.items()
    )
