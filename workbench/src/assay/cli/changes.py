"""Options of `check`, `plan` and `run` that change a study for one command."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.user_files import path_kind
from assay.model.user_text import MAX_REPEATS
from assay.terminal.output import note

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
ON = typer.Option(
    "",
    "--on",
    metavar="SITE",
    help="Other hosts than the study's, and their storage as its target: a stack, `terraform:FOLDER`, `ansible:FILE`, "
    "`parallelcluster:NAME`, `stack:NAME`, a file with hosts, or a node set.",
)
TARGET = typer.Option([], "--target", metavar="TARGET", help="Only this target. Repeatable.")

ON_ROOT = "Directories for mounts may be on the root file system."


def study_path(study: str | Path) -> Path:
    """Return the path of the study file; for a folder that is no run, that of the `study.yaml` in it."""
    path = Path(study)
    if path_kind(path) != "folder" or path_kind(path / "run.sqlite"):
        return path
    return path / "study.yaml" if path_kind(path / "study.yaml") == "file" else path


def study_change(
    values: list[str], repeats: int | None, only: list[str], targets: list[str], on: str = ""
) -> "Change | None":
    """Return the change of the study that the options describe; None if they change nothing.

    Raises:
        AssayError: There is no such site.
    """
    if not (values or only or targets or on) and repeats is None:
        return None
    from assay.plan.change import Change

    site = None
    if on:
        from assay.site.other_site import find_site

        site = find_site(on, Path.cwd())
        if site.note:
            note(f"note: --on {on}: {site.note}")
    return Change(tuple(values), repeats, tuple(only), tuple(targets), site)
