"""The launcher of a run: where it is typed, whether it is there, and what it starts."""

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


def steps_of(name: LauncherName, hosts: Sequence[Host], launchers: Sequence[Launcher], folder: Path) -> StepLauncher:
    """What starts engines on these hosts with one command.

    It is typed on this machine, or for hosts of a box on the first of them.

    Args:
        name: What is typed.
        hosts: They have the engine.
        launchers: What starts a single one on each.
        folder: Of the run, on storage that all hosts share.

    Raises:
        AssayError: The launcher is not there, or the engine is not at the same place on all hosts.
    """
    boxed = hosts[0].kind == "box"
    head = make_shell(hosts[0] if boxed else THIS_HOST)
    command = find_command(name, head)
    paths = {host.name: _path(launcher) for host, launcher in zip(hosts, launchers, strict=True)}
    first, *_ = paths.values()
    other = next((host for host, path in paths.items() if path != first), None)
    if other is not None:
        message = f"host {other}: the engine is in {paths[other]}, and on others in {first}"
        raise AssayError(
            message, f"{name} needs it at the same place on all: share a home, or XDG_CACHE_HOME", EXIT_REFUSED
        )
    for left in folder.glob(f"{WORDS_FILE}*"):
        # Of a run that was killed.
        left.unlink(missing_ok=True)
    return StepLauncher(command, head, hosts, Program(first), folder.absolute())


def through_mpi(steps: StepLauncher, engine: Path) -> StepLauncher:
    """The same, where an engine that is linked to an MPI measures; it is at this place on all hosts."""
    return replace(steps, program=replace(steps.program, engine=str(engine), mpi=True))


def _path(launcher: Launcher) -> str:
    if isinstance(launcher, HostLauncher):
        return launcher.path
    assert isinstance(launcher, LocalLauncher)
    return str(launcher.engine)
