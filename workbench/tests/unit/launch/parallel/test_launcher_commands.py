"""What is typed for each launcher, and how it is told which one it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.launch.parallel.command import LauncherCommand, Program, find_command
from assay.launch.shell import NOT_FOUND, CommandResult
from assay.model.base import AssayError
from assay.model.site.host import THIS_HOST

VERSIONS = {
    "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n": (
        "mpirun",
        "Open MPI",
        "4.1.4",
    ),
    "mpirun (Open MPI) 5.0.3\n": ("mpirun", "Open MPI", "5.0.3"),
    "HYDRA build details:\n    Version:                                 4.0.2\n    Release Date:   Thu\n": (
        "mpirun",
        "MPICH",
        "4.0.2",
    ),
    "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307 (id: d82b3071db)\n": (
        "mpirun",
        "Intel MPI",
        "2021.9",
    ),
    "slurm-wlm 22.05.8\n": ("srun", "Slurm", "22.05.8"),
    "slurm 23.11.10\n": ("srun", "Slurm", "23.11.10"),
}


class Head:
    """A shell that answers one thing."""

    host = THIS_HOST

    def __init__(self, answer: CommandResult) -> None:
        self.answer = answer

    def run(self, _argv: Sequence[str], _timeout: float, _given: bytes | None = None) -> CommandResult:
        return self.answer


def found(name: Any, out: str, code: int = 0, err: str = "") -> LauncherCommand:
    return find_command(name, Head(CommandResult(code, out, err)))  # type: ignore[arg-type]


@pytest.mark.parametrize("said", VERSIONS)
def test_a_launcher_is_known_by_what_it_says(said: str) -> None:
    name, family, version = VERSIONS[said]
    command = found(name, said)
    assert (command.family, command.version) == (family, version)


def test_what_is_no_launcher_is_refused() -> None:
    with pytest.raises(AssayError, match="`srun` was not found"):
        found("srun", "", NOT_FOUND, "srun: command not found")
    with pytest.raises(AssayError, match="is not a launcher that Assay knows"):
        found("mpirun", "prun 1.0\n")
    with pytest.raises(AssayError, match="is not a launcher that Assay knows"):
        found("mpirun", "slurm 23.11.10\n")


def typed(family: Any, name: Any, tasks: int, mpi: bool = False, inside: bool = False) -> str:
    environment = {"SLURM_JOB_ID": "7"} if inside else {}
    return " ".join(LauncherCommand(name, family, "1").words(["n1", "n2"], tasks, mpi, environment))


def test_each_family_has_its_own_words() -> None:
    assert typed("Open MPI", "mpirun", 1) == "mpirun --host n1:1,n2:1 -np 2 --map-by ppr:1:node --bind-to none"
    assert typed("Open MPI", "mpirun", 4) == "mpirun --host n1:4,n2:4 -np 8 --map-by ppr:4:node"
    assert typed("MPICH", "mpirun", 1) == "mpirun -hosts n1,n2 -ppn 1 -n 2 -bind-to none"
    assert typed("Intel MPI", "mpirun", 2) == "mpirun -hosts n1,n2 -ppn 2 -n 4"
    srun = "srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --distribution=block --nodelist=n1,n2 --kill-on-bad-exit=0"
    srun += " --job-name=assay"
    assert typed("Slurm", "srun", 1) == f"{srun} --cpu-bind=none --mpi=none"
    assert typed("Slurm", "srun", 1, inside=True) == f"{srun} --overlap --cpu-bind=none --mpi=none"
    assert "--mpi" not in typed("Slurm", "srun", 2, mpi=True), "which plugin starts MPI is the user's setting"


@pytest.mark.parametrize(
    ("cpus", "tasks", "one_by_one"),
    [("1(x2)", 2, True), ("5,1(x3)", 2, True), ("5,1(x3)", 1, False), ("4(x2)", 4, False), ("4(x2)", 2, False)],
)
def test_tasks_are_placed_by_name_where_cpus_would_decide(cpus: str, tasks: int, one_by_one: bool) -> None:
    environment = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": cpus}
    words = LauncherCommand("srun", "Slurm", "1").words(["n1", "n2"], tasks, False, environment)
    named = {"--overcommit", "--distribution=arbitrary", f"--nodelist={','.join(['n1'] * tasks + ['n2'] * tasks)}"}
    spread = {f"--ntasks-per-node={tasks}", "--distribution=block", "--nodelist=n1,n2"}
    assert set(words) & (named | spread) == (named if one_by_one else spread)


def test_the_program_is_its_own_relay() -> None:
    command = LauncherCommand("mpirun", "MPICH", "4")
    assert Program("/e").words(command, 2, "k", Path("/r/.words-k")) == [
        *("/e", "relay", "--launcher", "mpirun", "--tasks", "2", "--key", "k", "--words", "/r/.words-k"),
    ]
    other = Program("/e", engine="/mpi", mpi=True).words(LauncherCommand("srun", "Slurm", "22"), 1, "k", None)
    assert other == ["/e", "relay", "--launcher", "srun", "--tasks", "1", "--key", "k", "--engine", "/mpi"]
