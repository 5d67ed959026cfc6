"""The hosts of a study: its site comes up, the hosts are reached and given the engine, and the site is given back."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.launch.binary import Engine, find_mpi_engine
from assay.launch.install import launcher_for
from assay.launch.parallel.find import steps_of, through_mpi
from assay.launch.shell import close_shells
from assay.model.base import AssayError, Say
from assay.model.study.case import Case
from assay.model.study.study import Study
from assay.run.fleet import Fleet
from assay.site.choose import site_of
from assay.site.site import Standing, brought_up


def keep_companions(study: Study, base: Path, folder: Path) -> None:
    """Copy the files that a study names into the folder of its run, which then holds all that is needed to go on.

    Args:
        study: The study.
        base: Folder of the study file, where relative names start.
        folder: Of the run.

    Raises:
        AssayError: There is no such file.
    """
    for kept, read in site_of(study, base).files.items():
        if os.path.lexists(folder / kept):
            continue
        try:
            content = read()
            with (folder / kept).open("xb") as file:
                file.write(content)
        except OSError as error:
            raise AssayError(f"{folder / kept}: {error.strerror}", "see the rights and the space there") from None


@contextlib.contextmanager
def gathered(
    study: Study, cases: Sequence[Case], base: Path, engine: Engine, say: Say
) -> Iterator[tuple[Fleet | None, Standing]]:
    """The hosts that the cases need, with the engine on each, or None where this machine alone is enough; and the site.

    The site comes up before and is given back after.

    Args:
        study: The study.
        cases: Its cases.
        base: Folder with the files that `keep_companions` copies.
        engine: The engine of this machine.
        say: Takes what there is to say.

    Raises:
        AssayError: A host cannot be reached or used; the site is given back.
    """
    needed = max((case.parameters.hosts for case in cases), default=1)
    with brought_up(site_of(study, base, kept=True), needed, say) as standing:
        if standing.here:
            yield None, standing
            return
        try:
            used = standing.clients[:needed]
            launchers = tuple(launcher_for(host, engine) for host in used)
            if study.launcher == "ssh":
                yield Fleet(used, launchers, standing), standing
                return
            steps = steps_of(study.launcher, used, launchers, base)
            by_mpi = any(study.targets[case.target].through_mpi for case in cases)
            mpi = through_mpi(steps, find_mpi_engine()) if by_mpi else None
            yield Fleet(used, launchers, standing, steps=steps, mpi_steps=mpi), standing
        finally:
            close_shells()
