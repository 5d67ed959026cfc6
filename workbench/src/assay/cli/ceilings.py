"""`assay ceilings`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_INTERRUPTED, AssayError
from assay.terminal.output import ceiling_text, note, print_json, print_line, print_table

if TYPE_CHECKING:
    from assay.run.ceilings.place import PlaceCeilings


def command(
    target: str = typer.Argument(
        ...,
        metavar="TARGET",
        help="A directory in which Assay may create its own, or a block device.",
    ),
    destroy: bool = typer.Option(False, "--destroy", help="The block device may be overwritten."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Measure the ceilings of this machine's memory and one directory or device: the most that each can do.

    Takes about 5 seconds. Writes a file of up to 128 MiB several times in a directory of its own, and removes it.
    `assay run` does the same before its cases. Exit codes: 0 all measured, 1 some could not be measured, 3 refused,
    130 interrupted.

    Example: `assay ceilings /var/tmp`, `assay ceilings /dev/sdx --destroy --json`
    """
    from assay.run.ceilings.place import measure_place

    if not target:
        raise AssayError("TARGET is empty", "name a directory or a block device")
    try:
        found = measure_place(Path(target).absolute(), destroy, note)
    except KeyboardInterrupt:
        note("stopped: no measurement was completed, and the test data is removed")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if as_json:
        print_json({"target": found.place.path, "place": found.place, "ceilings": found.ceilings})
    else:
        _print_ceilings(found)
    missing = sum(item.value is None for item in found.ceilings)
    if missing:
        note(f"{missing} of {len(found.ceilings)} ceilings could not be measured")
        raise typer.Exit(EXIT_INCOMPLETE)


def _print_ceilings(found: "PlaceCeilings") -> None:
    place = found.place
    print_line(f"target   {place.path}, {place.storage_chain}")
    below = f"is on {place.stacked_on}: the ceilings are partly those of this machine's memory"
    for line in (*place.limits, *([below] if place.stacked_on else ())):
        print_line(f"limit    {line}")
    rows = [
        [
            item.name,
            ceiling_text(item.value, item.unit),
            ceiling_text(item.lowest, item.unit),
            item.how if item.value else f"not measured: {item.reason}",
        ]
        for item in found.ceilings
    ]
    print_table(["what", "best pass", "worst pass", "how"], rows, right=("best pass", "worst pass"))
