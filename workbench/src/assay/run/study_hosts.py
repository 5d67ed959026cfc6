"""The hosts of a study: brings up its site, reaches the hosts, installs the engine, and releases the site."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.launch.binary import Engine, find_mpi_engine
from assay.launch.install import launcher_for
from assay.launch.parallel.find_launcher import make_step_launcher, with_mpi_engine
from assay.launch.shell import close_shells
from assay.model.base import AssayError, PrintLine
from assay.model.study.case import Case
from assay.model.study.study import Study
from assay.run.fleet import Fleet
from assay.site.choose import site_of
from assay.site.site import SiteState, running_site


def copy_study_files(study: Study, base: Path, folder: Path) -> None:
    """Copy the files that a study names into the folder of its run, so that the run can go on without the originals.

    Args:
        study: The study.
        base: Folder of the study file, where relative names start.
        folder: Folder of the run.

    Raises:
        AssayError: There is no such file, or it cannot be copied.
    """
    for name, read in site_of(study, base).files.items():
        if os.path.lexists(folder / name):
            continue
        try:
            content = read()
            with (folder / name).open("xb") as file:
                file.write(content)
        except OSError as error:
            raise AssayError(
                f"{folder / name}: {error.strerror}", "check the permissions and the free space there"
            ) from None


@contextlib.contextmanager
def hosts_of_study(
    study: Study,
    cases: Sequence[Case],
    base: Path,
    engine: Engine,
    print_line: PrintLine,
    local_fleet: Callable[[SiteState], Fleet],
) -> Iterator[Fleet]:
    """Bring up the site, and yield the hosts with an engine on each; release it afterwards.

    Args:
        study: The study.
        cases: Its cases.
        base: Folder with the files that `copy_study_files` copies.
        engine: The engine of this machine.
        print_line: Prints a line.
        local_fleet: Makes the fleet if this machine alone is enough.

    Raises:
        AssayError: A host cannot be reached or used; the site is released.
    """
    needed = max((case.parameters.hosts for case in cases), default=1)
    with running_site(site_of(study, base, is_run_folder=True), needed, print_line) as site:
        if site.is_local:
            yield local_fleet(site)
            return
        try:
            used = site.clients[:needed]
            launchers = tuple(launcher_for(host, engine) for host in used)
            if study.launcher == "ssh":
                yield Fleet(used, launchers, site)
                return
            steps = make_step_launcher(study.launcher, used, launchers, base)
            uses_mpi = any(study.targets[case.target].through_mpi for case in cases)
            mpi = with_mpi_engine(steps, find_mpi_engine()) if uses_mpi else None
            yield Fleet(used, launchers, site, steps=steps, mpi_steps=mpi)
        finally:
            close_shells()
