"""The batch script of a run, and the options of sbatch that go into it. This module only makes text."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from assay.model.base import AssayError
from assay.model.secret import redact_word

RESERVED_OPTIONS = {
    "-a": "a run is one job",
    "--array": "a run is one job",
    "--wrap": "Assay writes the script",
    "-o": "the job's output goes into the run's folder",
    "--output": "the job's output goes into the run's folder",
    "-e": "the job's output goes into the run's folder",
    "--error": "the job's output goes into the run's folder",
    "-D": "the job starts where this command does",
    "--chdir": "the job starts where this command does",
    "-J": "Assay finds the job by its name, which is that of the run",
    "--job-name": "Assay finds the job by its name, which is that of the run",
    "-W": "Assay follows the job",
    "--wait": "Assay follows the job",
    "--parsable": "Assay reads the output of sbatch",
    "--test-only": "`assay plan` shows what a study would do",
    "-h": "`man sbatch` explains them",
    "--help": "`man sbatch` explains them",
    "--usage": "`man sbatch` explains them",
    "-V": "`sbatch --version` prints it",
    "--version": "`sbatch --version` prints it",
}
"""Option of sbatch -> why the user cannot give it."""
OPTIONS_OF_ENVIRONMENT = tuple(
    f"SBATCH_{name}"
    for name in (*("ARRAY_INX", "ERROR", "JOB_NAME", "NO_REQUEUE", "OPEN_MODE", "OUTPUT", "REQUEUE", "SIGNAL", "WAIT"),)
)
"""Variables that would make sbatch override options of the script (sbatch(1), INPUT ENVIRONMENT VARIABLES)."""
_NO_SECRETS = ("--wckey", "--signal")
"""Options that look like a secret but are none: a workload key, and `B:TERM@60`, which is not `user:password@`."""
SECRET_HINT = "set it in the environment instead: sbatch passes it to the job"
STOP_BEFORE_SECONDS = 120
"""How long before its end a job gets the signal to stop, so that the current repeat ends and its data is removed."""
STOP_SHARE = 4
"""The time before the end is at most one part in this many of the time limit."""
MIN_STOP_SECONDS = 15
_PATH = re.compile(r"[A-Za-z0-9_./+=@,: -]+")
_TIMES = (
    (re.compile(r"(\d+)"), (60,)),
    (re.compile(r"(\d+):(\d+)"), (60, 1)),
    (re.compile(r"(\d+):(\d+):(\d+)"), (3600, 60, 1)),
    (re.compile(r"(\d+)-(\d+)"), (86400, 3600)),
    (re.compile(r"(\d+)-(\d+):(\d+)"), (86400, 3600, 60)),
    (re.compile(r"(\d+)-(\d+):(\d+):(\d+)"), (86400, 3600, 60, 1)),
)
"""Formats of a time limit, and the seconds of each number. Source: sbatch(1), --time."""
_NODES_FOLLOW = (("-n", "--ntasks"), ("-w", "--nodelist"), ("-F", "--nodefile"))
"""Options that determine the number of nodes if it is not given."""


def check_options(written: str) -> list[str]:
    """Split the options of sbatch that a user gives in one text, and check them.

    Raises:
        AssayError: They are not such options, or one of them is set by Assay.
    """
    if "\n" in written or "\0" in written:
        raise AssayError("the options of sbatch have more than one line", "write them in one")
    try:
        words = shlex.split(written)
    except ValueError as error:
        message = f"the options of sbatch cannot be read: {str(error).lower()}"
        raise AssayError(message, 'write, for example, --slurm "-p compute -N 16 -t 1:00:00"') from None
    if words and not words[0].startswith("-"):
        raise AssayError(
            f"`{words[0]}` is not an option of sbatch", 'write, for example, --slurm "-p compute -N 16 -t 1:00:00"'
        )
    if ":" in words:
        raise AssayError(
            "--slurm cannot have `:`: a run is one job, whose nodes have one set of options", "leave it out"
        )
    for word in words:
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name not in _NO_SECRETS and redact_word(word) != word:
            raise AssayError(f"--slurm has a password in {name}, which the run would store", SECRET_HINT)
        # sbatch accepts a prefix of a long option.
        ours = next((one for one in RESERVED_OPTIONS if one == name or (len(name) > 2 and one.startswith(name))), None)
        if ours is not None:
            raise AssayError(f"--slurm cannot have {ours}: {RESERVED_OPTIONS[ours]}", "leave it out")
    return words


def option_value(words: Sequence[str], short: str, long: str) -> str:
    """Return the value of an option of sbatch, the last if it is given twice; empty if it is not given.

    Args:
        words: As `check_options` returns them.
        short: Such as `-N`.
        long: Such as `--nodes`.
    """
    value = ""
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in (short, long):
            value = following
        elif word.startswith(f"{long}="):
            value = word.partition("=")[2]
        elif word.startswith(short) and not word.startswith("--"):
            value = word[len(short) :].removeprefix("=")
    return value


def time_limit(words: Sequence[str]) -> int | None:
    """Return the requested time limit in seconds; None if there is none, or its format is unknown."""
    limit = option_value(words, "-t", "--time")
    for pattern, seconds in _TIMES:
        if match := pattern.fullmatch(limit):
            total = sum(int(number) * each for number, each in zip(match.groups(), seconds, strict=True))
            return total or None
    return None


def node_count(words: Sequence[str]) -> int | None:
    """Return the least number of nodes requested, 1 by default; None if it follows from other options."""
    match = re.match(r"\d+", option_value(words, "-N", "--nodes"))
    if match:
        return int(match[0])
    return None if any(option_value(words, short, long) for short, long in _NODES_FOLLOW) else 1


def stop_seconds(words: Sequence[str]) -> int:
    """Return how long before its end the job gets the signal to stop: from its options, or the default."""
    match = re.search(r"@(\d+)$", option_value(words, "--signal", "--signal"))
    if match:
        return int(match[1])
    limit = time_limit(words)
    return (
        STOP_BEFORE_SECONDS if limit is None else max(MIN_STOP_SECONDS, min(STOP_BEFORE_SECONDS, limit // STOP_SHARE))
    )


def script_text(run: str, output: Path, options: Sequence[str], command: Sequence[str]) -> str:
    """Return the batch script.

    Assay's settings precede the user's options, which may override them.

    Args:
        run: Id of the run.
        output: File for the output of the job.
        options: The user's, as `check_options` returns them.
        command: What the job executes.

    Raises:
        AssayError: The path of the output has characters that sbatch would interpret.
    """
    if not _PATH.fullmatch(str(output)):
        raise AssayError(
            f"{output}: Slurm would interpret some characters of this path", "choose another folder with --out"
        )
    lines = [
        "#!/bin/sh",
        f"#SBATCH --job-name={job_name(run)}",
        f'#SBATCH --output="{output}"',
        "#SBATCH --open-mode=append",
        "# Stop before the time limit: `assay run RUN --resume` measures the interrupted repeat again.",
        f"#SBATCH --signal=B:TERM@{stop_seconds(options)}",
        "# A job that lost a node ends and is not requeued: resume the run yourself, on nodes that work.",
        "#SBATCH --no-requeue",
    ]
    if options:
        lines.append(f"#SBATCH {' '.join(_quoted(word) for word in options)}")
    # exec, so that the signal reaches the command: Slurm sends it to the process of the script.
    return "\n".join([*lines, f"exec {shlex.join(command)}", ""])


def job_name(run: str) -> str:
    """Return the name of the job of a run, by which it is found again."""
    return f"assay-{run}"


def _quoted(word: str) -> str:
    """Quote a word as sbatch reads it after `#SBATCH`: double quotes keep spaces, a backslash keeps a character."""
    if re.fullmatch(r"[^\s\"'\\#]+", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
