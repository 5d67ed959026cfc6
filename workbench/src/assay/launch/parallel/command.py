"""Commands that start processes on several hosts: `mpirun` of Open MPI, MPICH or Intel MPI, `srun` of Slurm."""

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.launch.shell import NOT_FOUND, Shell
from assay.model.base import EXIT_REFUSED, AssayError

VERSION_SECONDS = 30.0
LauncherName = Literal["mpirun", "srun"]
Family = Literal["Open MPI", "MPICH", "Intel MPI", "Slurm"]
_INSTALL = {
    "mpirun": "load the module of an MPI, or `apt-get install openmpi-bin`",
    "srun": "srun comes with Slurm: start Assay on a machine with its commands",
}
ALLOCATION = "SLURM_JOB_ID"
"""Set by Slurm inside an allocation."""
_CPUS = "SLURM_JOB_CPUS_PER_NODE"
"""CPUs of each node of the allocation, such as 5,1(x3) (sbatch(1))."""
_ROOT_ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Allows Open MPI to run as root: in a box every user is root; elsewhere the user decides."""


@dataclass(frozen=True)
class LauncherCommand:
    """A launcher that is installed on the machine where it runs.

    Attributes:
        name: Name of the program.
        family: Its implementation.
        version: Version that it reports.
    """

    name: LauncherName
    family: Family
    version: str

    @property
    def feeds_all(self) -> bool:
        """Whether it passes its standard input to all processes."""
        return self.name == "srun"

    def words(
        self, hosts: Sequence[str], tasks: int, mpi: bool, environment: Mapping[str, str] = os.environ
    ) -> list[str]:
        """Return the command, up to the program to start.

        Processes are numbered host after host. A single process on a host is not pinned; several are pinned as the
        launcher, its settings and its variables decide.

        Args:
            hosts: Names by which the launcher knows the hosts.
            tasks: Number of processes on each host.
            mpi: The processes are MPI programs.
            environment: Environment variables; they show whether there is an allocation.
        """
        count, joined = len(hosts) * tasks, ",".join(hosts)
        alone = tasks == 1
        if self.family == "Slurm":
            words = ["srun", f"--nodes={len(hosts)}", f"--ntasks={count}", *_spread(hosts, tasks, environment)]
            words += ["--kill-on-bad-exit=0", "--job-name=assay"]
            words += ["--overlap"] if ALLOCATION in environment else []
            return [*words, *(["--cpu-bind=none"] if alone else []), *([] if mpi else ["--mpi=none"])]
        if self.family == "Open MPI":
            slots = ",".join(f"{host}:{tasks}" for host in hosts)
            words = ["mpirun", "--host", slots, "-np", str(count), "--map-by", f"ppr:{tasks}:node"]
            return [*words, *(["--bind-to", "none"] if alone else [])]
        words = ["mpirun", "-hosts", joined, "-ppn", str(tasks), "-n", str(count)]
        return [*words, *(["-bind-to", "none"] if alone and self.family == "MPICH" else [])]


def _spread(hosts: Sequence[str], tasks: int, environment: Mapping[str, str]) -> list[str]:
    """Return the options of srun for `tasks` tasks on each host, host after host.

    In an allocation srun ignores `--ntasks-per-node` and starts one task for each CPU, or none if there are fewer CPUs
    than tasks. So the host of each task is named, unless all hosts have enough CPUs.
    """
    cpus = {int(count) for count, _ in re.findall(r"(\d+)(\(x\d+\))?", environment.get(_CPUS, ""))}
    if tasks > 1 and cpus and (len(cpus) > 1 or min(cpus) < tasks):
        each = ",".join(host for host in hosts for _ in range(tasks))
        return ["--overcommit", "--distribution=arbitrary", f"--nodelist={each}"]
    return [f"--ntasks-per-node={tasks}", "--distribution=block", f"--nodelist={','.join(hosts)}"]


def find_command(name: LauncherName, head: Shell) -> LauncherCommand:
    """Find a launcher on the host of `head`.

    Raises:
        AssayError: It is not installed, fails, or is of no known family.
    """
    answer = head.run([name, "--version"], VERSION_SECONDS)
    if answer.code == NOT_FOUND or "not found" in answer.err:
        raise AssayError(f"host {head.host.name}: `{name}` was not found", _INSTALL[name], EXIT_REFUSED)
    if answer.code:
        message = f"host {head.host.name}: `{name} --version` fails: {answer.last_line}"
        raise AssayError(message, f"`{name}` must work there before Assay can use it", EXIT_REFUSED)
    output = (answer.out or answer.err).strip()
    first_line = output.splitlines()[0] if output else ""
    families: list[tuple[str, Family]] = [
        (r"Open MPI|OpenRTE", "Open MPI"),
        (r"Intel", "Intel MPI"),
        (r"HYDRA", "MPICH"),
        (r"^slurm", "Slurm"),
    ]
    found = next((family for pattern, family in families if re.search(pattern, output)), None)
    if found is None or (found == "Slurm") != (name == "srun"):
        message = (
            f"host {head.host.name}: `{name} --version` says {first_line!r}, which is not a launcher that Assay knows"
        )
        raise AssayError(message, "mpirun of Open MPI, MPICH or Intel MPI, and srun of Slurm are known", EXIT_REFUSED)
    number = re.search(r"Version:\s*(\S+)", output) if found == "MPICH" else re.search(r"\d+(\.\d+)+\S*", first_line)
    version = (number.group(1) if found == "MPICH" else number.group(0)) if number else first_line
    return LauncherCommand(name, found, version)


@dataclass(frozen=True)
class Program:
    """The program to start on each host.

    Attributes:
        path: The engine that runs as relay, at the same path on all hosts.
        engine: The engine that measures, if it is another one; else empty.
        mpi: It is an MPI program: all processes that are started together form one MPI world.
    """

    path: str
    engine: str = ""
    mpi: bool = False

    def words(self, command: LauncherCommand, tasks: int, key: str, file: Path | None) -> list[str]:
        """Return the program with its arguments, for the launcher to start."""
        words = [self.path, "relay", "--launcher", command.name, "--tasks", str(tasks), "--key", key]
        words += ["--words", str(file)] if file else []
        return [*words, *(["--engine", self.engine] if self.engine else [])]


def new_key() -> str:
    """Return a random key, unique to a job, by which the processes of one host find each other."""
    return secrets.token_hex(8)


def launcher_environment(boxed: bool) -> dict[str, str]:
    """Return extra environment variables for the launcher."""
    return dict(_ROOT_ALLOWED) if boxed else {}
