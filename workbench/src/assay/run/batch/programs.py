"""Runs Slurm's programs with limits on time and output, for a named cluster if the job is on one."""

import os
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from assay.model.base import EXIT_REFUSED, AssayError, Code
from assay.model.foreign import plain
from assay.model.secret import redacted
from assay.model.units import about_size

if TYPE_CHECKING:
    from assay.launch.answers import Collected

ANSWER_SECONDS = 60.0
"""Longest wait for one of Slurm's programs: a controller under load takes its time."""
CLUSTERS = "SLURM_CLUSTERS"
"""Variable with the cluster that Slurm's programs use if they are given none."""


UNKNOWN_JOB = "invalid job id"
"""Complaint of squeue and scontrol about a job that ended some time ago."""


class SlurmError(AssayError):
    """A program of Slurm is missing, does not answer, or fails."""


def on_cluster(cluster: str | None) -> list[str]:
    """Return the option that selects a cluster; none for the cluster of this machine."""
    return ["-M", cluster] if cluster else []


def ask(words: Sequence[str], what: str, cluster: str | None = None) -> str:
    """Return the output of a program of Slurm.

    Args:
        words: Its name and options.
        what: For messages: what is unknown without it.
        cluster: Cluster whose controller is asked: its name, "" for that of this machine, or None to leave it to the
            environment.

    Raises:
        SlurmError: The program is missing, takes too long or fails; the message has its complaint in one line.
    """
    from assay.launch.answers import MOST_OUT

    command = [words[0], *on_cluster(cluster), *words[1:]]
    answer = call(command, what, without=() if cluster is None else (CLUSTERS,))
    if answer.late:
        message = f"{what}: {words[0]} has said nothing for {ANSWER_SECONDS:.0f} s"
        raise SlurmError(message, "see with `sinfo` whether its controller answers", EXIT_REFUSED)
    if answer.long:
        message = f"{what}: {words[0]} says more than {about_size(MOST_OUT)}"
        raise SlurmError(message, "see with `type -a` which program that is", EXIT_REFUSED)
    if answer.code != 0:
        fault = told(answer.err.decode("utf-8", "replace"))
        code = Code.UNKNOWN_JOB if UNKNOWN_JOB in fault.lower() else None
        raise SlurmError(f"{what}: {fault or f'exit code {answer.code}'}", "", EXIT_REFUSED, code=code)
    return answer.out.decode("utf-8", "replace")


def call(words: Sequence[str], what: str, given: str = "", without: Collection[str] = ()) -> "Collected":
    """Run a program of Slurm to its end, and return what it printed.

    Args:
        words: Its name and options.
        what: For messages.
        given: Its standard input.
        without: Variables that it does not get.

    Raises:
        SlurmError: It cannot be started.
    """
    from assay.launch.answers import said

    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment |= {"LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}
    try:
        return said(words, ANSWER_SECONDS, given.encode(), environment)
    except FileNotFoundError:
        raise SlurmError(f"{what}: {words[0]} was not found", "run it on a login node", EXIT_REFUSED) from None
    except OSError as error:
        raise SlurmError(f"{what}: {words[0]} cannot be started: {error.strerror}", "", EXIT_REFUSED) from None


def told(text: str) -> str:
    """Return the complaint of a Slurm program in one line: `sbatch: error: Batch job submission failed: X` gives X."""
    lines = [re.sub(r"^\w+: (error: |fatal: )?", "", line.strip()) for line in text.splitlines() if line.strip()]
    lines = [re.sub(r"^Batch job submission failed: ", "", line) for line in lines]
    return plain(redacted("; ".join(dict.fromkeys(lines))))[:300]
