"""Options of `check`, `plan` and `run` that change a study for one command."""

from typing import TYPE_CHECKING

import typer

from assay.model.user_text import MAX_REPEATS

if TYPE_CHECKING:
    from assay.plan.change import Change

SET = typer.Option(
    [],
    "--set",
    metavar="NAME=VALUE",
    help="Set a parameter to another value, or to several, in all workloads that use it: "
    "`record_size=4KiB,1MiB`; `grid.record_size=4KiB` in one.",
)
REPEATS = typer.Option(None, "--repeats", min=1, max=MAX_REPEATS, help="Repeats of each case, instead of the study's.")
ONLY = typer.Option([], "--only", metavar="WORKLOAD", help="Only this workload. Repeatable.")
TARGET = typer.Option([], "--target", metavar="TARGET", help="Only this target. Repeatable.")

ON_ROOT = "Directories for mounts may be on the root file system."


def study_change(values: list[str], repeats: int | None, only: list[str], targets: list[str]) -> "Change | None":
    """Return the change of the study that the options describe; None if they change nothing."""
    if not (values or only or targets) and repeats is None:
        return None
    from assay.plan.change import Change

    return Change(tuple(values), repeats, tuple(only), tuple(targets))
