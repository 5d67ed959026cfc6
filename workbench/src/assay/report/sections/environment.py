"""The environment that the run found: targets, machine and software."""

from collections.abc import Iterator

from assay.analyse.environments.settings import setting_lines
from assay.model.result.run import TargetPlace
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Facts, Fold, Heading, Mono, Note, Num, Section, Table
from assay.report.environments import readable_values
from assay.report.sections.existing_objects import existing_objects_table
from assay.report.view import RunView

_BRIEF: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Host", "host", ("name", "vendor", "product", "system")),
    ("Cloud", "cloud", ("provider", "instance_type", "zone")),
    ("Kernel", "kernel", ("release",)),
    ("Processor", "cpu", ("model", "usable", "governor")),
    ("Memory", "memory", ("total",)),
)
"""Label, section and items of the short description of the machine."""
_BRIEF_OF_JOB = ("partition", "nodes", "time limit", "state", "reason", "stopped")
_JOB = "scheduler job "
_PREFIX = {"usable": "CPUs ", "governor": "governor ", "time limit": "time limit "}
"""Item -> words before its value, for values that are unclear alone."""
_COLUMNS = (
    Column("Target"),
    Column("Kind"),
    Column("Path"),
    Column("Storage"),
    Column("Free", is_numeric=True),
    Column("Stored in memory"),
    Column("O_DIRECT bypasses the cache"),
    Column("Notes"),
)


def section(view: RunView) -> Section:
    """Return the section: targets, one row each, and the machine in a few lines."""
    environment = {name: readable_values(values) for name, values in view.run.environment.items()}
    brief = [(label, part, names) for label, part, names in _BRIEF if part in environment]
    brief += [
        (_title(part.removeprefix("scheduler ")), part, _BRIEF_OF_JOB) for part in environment if part.startswith(_JOB)
    ]
    facts = [(label, text) for label, part, names in brief if (text := _known(environment[part], names))]
    existing = existing_objects_table(view)
    blocks: list[Block] = [_targets(view)] if view.run.places else []
    blocks += [existing] if existing else []
    blocks += [Facts(tuple(facts))] if facts else []
    losses = [f"{loss.sentence}." for loss in view.run.host_losses]
    blocks += [Bullets(tuple(lines))] if (lines := [*setting_lines(view.run.environment), *losses]) else []
    if view.run.imports:
        # Little is known of an imported run: all of it.
        blocks += [Facts(tuple(values.items())) for values in environment.values()]
    if not environment:
        blocks.append(Note("The run contains no description of its environment.", "warning"))
    return Section("environment", "Environment", tuple(blocks))


def folds(view: RunView) -> Iterator[Fold]:
    """Yield the whole environment, part by part."""
    blocks: list[Block] = []
    for name, values in view.run.environment.items():
        mark = f"environment-{len(blocks)}"
        blocks += [Heading(_title(name), mark, 4), Facts(tuple(readable_values(values).items()))]
    if blocks:
        yield Fold("Environment in full", tuple(blocks), "environment-all")


def _targets(view: RunView) -> Table:
    """Return a table with a row for each target and the columns that are not empty for all."""
    rows = [_cells(place) for place in view.run.places]
    filled = [number for number in range(len(_COLUMNS)) if not all(_empty(row[number]) for row in rows)]
    columns = tuple(_COLUMNS[number] for number in filled)
    return Table("options-table", columns, tuple(tuple(row[number] for number in filled) for row in rows))


def _cells(place: TargetPlace) -> tuple[Cell, ...]:
    below = (f"on {place.stacked_on}",) if place.stacked_on else ()
    system = "" if place.filesystem == place.kind else place.filesystem
    lies_on = place.storage_chain if place.layers else " on ".join(filter(None, (system, place.device)))
    return (
        place.target,
        place.kind,
        Mono(place.path),
        lies_on or numbers.NONE,
        Num(numbers.NONE if place.free_bytes is None else numbers.size(place.free_bytes), place.free_bytes),
        _known_of(place.memory_backed, place),
        _known_of(place.direct_bypasses_cache, place),
        "; ".join((*place.limits, *below)) or numbers.NONE,
    )


def _known_of(answer: bool, place: TargetPlace) -> str:
    """Return yes or no for storage of this machine; for storage of a server the answer is not known."""
    if place.servers:
        return numbers.NONE
    return "yes" if answer else "no"


def _empty(cell: Cell) -> bool:
    return cell == numbers.NONE or (isinstance(cell, Num) and cell.value is None)


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]


def _known(values: dict[str, str], names: tuple[str, ...]) -> str:
    found = ((_PREFIX.get(name, ""), values.get(name, "")) for name in names)
    return "; ".join(prefix + value for prefix, value in found if value and not value.startswith(("none:", "unknown")))
