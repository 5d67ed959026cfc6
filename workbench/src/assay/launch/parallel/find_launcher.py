"""Finds the launcher of a run and the program that it starts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.launch.install import HostLauncher
from assay.launch.launcher import Launcher, LocalLauncher
from assay.launch.parallel.command import LauncherName, Program, find_command
from assay.launch.parallel.step import WORDS_FILE, StepLauncher
from assay.launch.shell import make_shell
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.host import THIS_HOST, Host


def make_step_launcher(
    name: LauncherName, hosts: Sequence[Host], launchers: Sequence[Launcher], folder: Path
) -> StepLauncher:
    """Return what starts engines on these hosts with one command.

    The command runs on this machine, or for hosts of a box on the first of them.

    Args:
        name: Name of the launcher.
        hosts: Hosts on which the engine is installed.
        launchers: For each host, the launcher that starts a single engine there.
        folder: Folder of the run, on storage that all hosts share.

    Raises:
        AssayError: The launcher is not installed, or the engine is not at the same place on all hosts.
    """
    boxed = hosts[0].kind == "box"
    head = make_shell(hosts[0] if boxed else THIS_HOST)
    command = find_command(name, head)
    paths = {host.name: _path(launcher) for host, launcher in zip(hosts, launchers, strict=True)}
    first, *_ = paths.values()
    other = next((host for host, path in paths.items() if path != first), None)
    if other is not None:
        message = f"host {other}: the engine is in {paths[other]}, on other hosts in {first}"
        raise AssayError(
            message, f"{name} needs it at the same path on all hosts: share a home, or XDG_CACHE_HOME", EXIT_REFUSED
        )
    for leftover in folder.glob(f"{WORDS_FILE}*"):
        # Left by a run that was killed.
        leftover.unlink(missing_ok=True)
    return StepLauncher(command, head, hosts, Program(first), folder.absolute())


def with_mpi_engine(steps: StepLauncher, engine: Path) -> StepLauncher:
    """Return the same launcher with an engine that is linked to an MPI, at the same path on all hosts."""
    return replace(steps, program=replace(steps.program, engine=str(engine), mpi=True))


def _path(launcher: Launcher) -> str:
    if isinstance(launcher, HostLauncher):
        return launcher.path
    assert isinstance(launcher, LocalLauncher)
    return str(launcher.engine)
