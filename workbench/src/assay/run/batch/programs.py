"""Slurm's programs: asked with a bound in time and in bytes, of one cluster where a job is on a named one."""

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
"""Which cluster Slurm's programs ask where none is named to them."""


UNKNOWN_JOB = "invalid job id"
"""What squeue and scontrol complain of, of a job that ended some time ago."""


class SlurmError(AssayError):
    """A program of Slurm is not there, does not answer, or says no."""


def on_cluster(cluster: str | None) -> list[str]:
    """The option by which Slurm's programs ask that cluster; none for the one of this machine."""
    return ["-M", cluster] if cluster else []


def ask(words: Sequence[str], what: str, cluster: str | None = None) -> str:
    """What a program of Slurm prints.

    Args:
        words: Its name and options.
        what: For messages: what is not known without it.
        cluster: Whose controller is asked: by its name, with "" that of this machine; None leaves it to the
            environment.

    Raises:
        SlurmError: It is not there, takes too long or fails; the message has its words in one line.
    """
    from assay.launch.answers import MOST_OUT

    named = [words[0], *on_cluster(cluster), *words[1:]]
    heard = call(named, what, without=() if cluster is None else (CLUSTERS,))
    if heard.late:
        message = f"{what}: {words[0]} has said nothing for {ANSWER_SECONDS:.0f} s"
        raise SlurmError(message, "see with `sinfo` whether its controller answers", EXIT_REFUSED)
    if heard.long:
        message = f"{what}: {words[0]} says more than {about_size(MOST_OUT)}"
        raise SlurmError(message, "see with `type -a` which program that is", EXIT_REFUSED)
    if heard.code != 0:
        fault = told(heard.err.decode("utf-8", "replace"))
        code = Code.UNKNOWN_JOB if UNKNOWN_JOB in fault.lower() else None
        raise SlurmError(f"{what}: {fault or f'exit code {heard.code}'}", "", EXIT_REFUSED, code=code)
    return heard.out.decode("utf-8", "replace")


def call(words: Sequence[str], what: str, given: str = "", without: Collection[str] = ()) -> "Collected":
    """Start a program of Slurm, and hear it to its end.

    Args:
        words: Its name and options.
        what: For messages.
        given: For its standard input.
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
    """What a program of Slurm complains of, in one line: `sbatch: error: Batch job submission failed: X` is X."""
    lines = [re.sub(r"^\w+: (error: |fatal: )?", "", line.strip()) for line in text.splitlines() if line.strip()]
    lines = [re.sub(r"^Batch job submission failed: ", "", line) for line in lines]
    return plain(redacted("; ".join(dict.fromkeys(lines))))[:300]
