"""Runs Slurm's programs with limits on time and output, for a named cluster if the job is on one."""

import os
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from assay.model.base import EXIT_REFUSED, AssayError, Code
from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.units import about_size

if TYPE_CHECKING:
    from assay.launch.commands import ProcessOutput

ANSWER_TIMEOUT_SECONDS = 60.0
"""Longest wait for one of Slurm's programs: a controller under load takes its time."""
CLUSTERS_VARIABLE = "SLURM_CLUSTERS"
"""Variable with the cluster that Slurm's programs use if they are given none."""


UNKNOWN_JOB = "invalid job id"
"""Complaint of squeue and scontrol about a job that ended some time ago."""


class SlurmError(AssayError):
    """A program of Slurm is missing, does not answer, or fails."""


def cluster_option(cluster: str | None) -> list[str]:
    """Return the option that selects a cluster; none for the cluster of this machine."""
    return ["-M", cluster] if cluster else []


def query(words: Sequence[str], what: str, cluster: str | None = None) -> str:
    """Return the output of a program of Slurm.

    Args:
        words: Its name and options.
        what: For messages: what is unknown without it.
        cluster: Cluster whose controller is asked: its name, "" for that of this machine, or None to leave it to the
            environment.

    Raises:
        SlurmError: The program is missing, takes too long or fails; the message has its complaint in one line.
    """
    from assay.launch.commands import MAX_STDOUT_BYTES

    command = [words[0], *cluster_option(cluster), *words[1:]]
    answer = run_program(command, what, without=() if cluster is None else (CLUSTERS_VARIABLE,))
    if answer.timed_out:
        message = f"{what}: {words[0]} has not answered for {ANSWER_TIMEOUT_SECONDS:.0f} s"
        raise SlurmError(message, "check with `sinfo` whether the controller answers", EXIT_REFUSED)
    if answer.overflowed:
        message = f"{what}: {words[0]} printed more than {about_size(MAX_STDOUT_BYTES)}"
        raise SlurmError(message, "check with `type -a` which program this is", EXIT_REFUSED)
    if answer.code != 0:
        fault = complaint_text(answer.err.decode("utf-8", "replace"))
        code = Code.UNKNOWN_JOB if UNKNOWN_JOB in fault.lower() else None
        raise SlurmError(f"{what}: {fault or f'exit code {answer.code}'}", "", EXIT_REFUSED, code=code)
    return answer.out.decode("utf-8", "replace")


def run_program(
    words: Sequence[str], what: str, stdin_text: str = "", without: Collection[str] = ()
) -> "ProcessOutput":
    """Run a program of Slurm to its end, and return what it printed.

    Args:
        words: Its name and options.
        what: For messages.
        stdin_text: Its standard input.
        without: Variables that it does not get.

    Raises:
        SlurmError: It cannot be started.
    """
    from assay.launch.commands import run_program

    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment |= {"LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}
    try:
        return run_program(words, ANSWER_TIMEOUT_SECONDS, stdin_text.encode(), environment)
    except FileNotFoundError:
        raise SlurmError(f"{what}: {words[0]} was not found", "run it on a login node", EXIT_REFUSED) from None
    except OSError as error:
        raise SlurmError(f"{what}: {words[0]} cannot be started: {error.strerror}", "", EXIT_REFUSED) from None


def complaint_text(text: str) -> str:
    """Return the complaint of a Slurm program in one line: `sbatch: error: Batch job submission failed: X` gives X."""
    lines = [re.sub(r"^\w+: (error: |fatal: )?", "", line.strip()) for line in text.splitlines() if line.strip()]
    lines = [re.sub(r"^Batch job submission failed: ", "", line) for line in lines]
    return escape_line(redact("; ".join(dict.fromkeys(lines))))[:300]
