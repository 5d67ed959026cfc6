"""`assay check`: is the study correct, and can it run here?"""

from pathlib import Path

import typer

from assay.cli.changes import ON, ON_ROOT, ONLY, REPEATS, SET, TARGET, study_change, study_path
from assay.terminal.output import as_path
from assay.terminal.settings import RUNS


def command(
    study: Path = typer.Argument(parser=as_path, help="Study file, or a folder with a `study.yaml`.", metavar="STUDY"),
    values: list[str] = SET,
    repeats: int | None = REPEATS,
    only: list[str] = ONLY,
    targets: list[str] = TARGET,
    on: str = ON,
    out: Path = RUNS,
    on_root: bool = typer.Option(False, "--yes-on-root", help=ON_ROOT),
) -> None:
    """Check a study file and its targets without writing anything.

    Reports what `assay run` would refuse before measuring, if this machine can find it out: nothing is created, mounted
    or started. This machine's access to buckets, tables and exports is checked. Other hosts are not:
    `assay preflight` and `assay run` check them.

    Each problem is one line `file:line: error: ...` with a hint below it; the exit code is then 2.

    Example: `assay check study.yaml`
    """
    from assay.cli.studies.study_check import check_file

    check_file(study_path(study), study_change(values, repeats, only, targets, on), out, on_root)
