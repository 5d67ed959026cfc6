"""The batch script of a run, and the options of sbatch that go into it. Text only; nothing is run here."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from assay.model.base import AssayError
from assay.model.secret import redacted_word

OURS = {
    "-a": "a run is one job",
    "--array": "a run is one job",
    "--wrap": "Assay writes the script",
    "-o": "the job's output goes into the run's folder",
    "--output": "the job's output goes into the run's folder",
    "-e": "the job's output goes into the run's folder",
    "--error": "the job's output goes into the run's folder",
    "-D": "the job starts where this command does",
    "--chdir": "the job starts where this command does",
    "-J": "the job has the name of its run, by which it is found",
    "--job-name": "the job has the name of its run, by which it is found",
    "-W": "Assay follows the job",
    "--wait": "Assay follows the job",
    "--parsable": "Assay reads what sbatch says",
    "--test-only": "`assay plan` tells what a study would do",
    "-h": "`man sbatch` explains them",
    "--help": "`man sbatch` explains them",
    "--usage": "`man sbatch` explains them",
    "-V": "`sbatch --version` tells it",
    "--version": "`sbatch --version` tells it",
}
"""Option of sbatch -> why it cannot be given."""
OPTIONS_OF_ENVIRONMENT = tuple(
    f"SBATCH_{name}"
    for name in (*("ARRAY_INX", "ERROR", "JOB_NAME", "NO_REQUEUE", "OPEN_MODE", "OUTPUT", "REQUEUE", "SIGNAL", "WAIT"),)
)
"""Variables by which sbatch would take for its own what the script says (sbatch(1), INPUT ENVIRONMENT VARIABLES)."""
_NO_SECRETS = ("--wckey", "--signal")
"""Options that look like a secret, and have none: a workload key, and `B:TERM@60`, which is no `user:password@`."""
KEEP_SECRETS = "set it in the environment instead: sbatch hands that on to the job"
STOP_SECONDS = 120
"""How long before its end a job is told to stop, so that the repeat at hand ends and its data is removed."""
STOP_SHARE = 4
"""At most one of so many parts of the time limit goes for that."""
LEAST_STOP = 15
_PATH = re.compile(r"[A-Za-z0-9_./+=@,: -]+")
_TIMES = (
    (re.compile(r"(\d+)"), (60,)),
    (re.compile(r"(\d+):(\d+)"), (60, 1)),
    (re.compile(r"(\d+):(\d+):(\d+)"), (3600, 60, 1)),
    (re.compile(r"(\d+)-(\d+)"), (86400, 3600)),
    (re.compile(r"(\d+)-(\d+):(\d+)"), (86400, 3600, 60)),
    (re.compile(r"(\d+)-(\d+):(\d+):(\d+)"), (86400, 3600, 60, 1)),
)
"""How a time limit is written, and the seconds of each number. Source: sbatch(1), --time."""
_NODES_FOLLOW = (("-n", "--ntasks"), ("-w", "--nodelist"), ("-F", "--nodefile"))
"""Options from which the number of nodes follows where it is not given."""


def check_options(written: str) -> list[str]:
    """The words of the options of sbatch that a user gives in one text.

    Raises:
        AssayError: They are no such options, or one of them is not the user's to give.
    """
    if "\n" in written or "\0" in written:
        raise AssayError("the options of sbatch have more than one line", "write them in one")
    try:
        words = shlex.split(written)
    except ValueError as error:
        message = f"the options of sbatch cannot be read: {str(error).lower()}"
        raise AssayError(message, 'write such as --slurm "-p compute -N 16 -t 1:00:00"') from None
    if words and not words[0].startswith("-"):
        raise AssayError(f"`{words[0]}` is no option of sbatch", 'write such as --slurm "-p compute -N 16 -t 1:00:00"')
    if ":" in words:
        raise AssayError(
            "--slurm cannot have `:`: a run is one job, whose nodes have one set of options", "leave it out"
        )
    for word in words:
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name not in _NO_SECRETS and redacted_word(word) != word:
            raise AssayError(f"--slurm has a password in {name}, which the run would keep", KEEP_SECRETS)
        # sbatch takes the beginning of a long option for the whole of it.
        ours = next((one for one in OURS if one == name or (len(name) > 2 and one.startswith(name))), None)
        if ours is not None:
            raise AssayError(f"--slurm cannot have {ours}: {OURS[ours]}", "leave it out")
    return words


def option(words: Sequence[str], short: str, long: str) -> str:
    """The value of an option of sbatch, the last where it comes twice; empty if it is not given.

    Args:
        words: As `check_options` returns them.
        short: Such as `-N`.
        long: Such as `--nodes`.
    """
    found = ""
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in (short, long):
            found = following
        elif word.startswith(f"{long}="):
            found = word.partition("=")[2]
        elif word.startswith(short) and not word.startswith("--"):
            found = word[len(short) :].removeprefix("=")
    return found


def time_limit(words: Sequence[str]) -> int | None:
    """Seconds of the time limit that is asked for; None if none is, or it is not one that is known."""
    written = option(words, "-t", "--time")
    for pattern, seconds in _TIMES:
        if found := pattern.fullmatch(written):
            total = sum(int(number) * each for number, each in zip(found.groups(), seconds, strict=True))
            return total or None
    return None


def node_count(words: Sequence[str]) -> int | None:
    """The least number of nodes that is asked for, 1 where nothing says so; None if it follows from something else."""
    found = re.match(r"\d+", option(words, "-N", "--nodes"))
    if found:
        return int(found[0])
    return None if any(option(words, short, long) for short, long in _NODES_FOLLOW) else 1


def stop_seconds(words: Sequence[str]) -> int:
    """How long before its end the job is told to stop: as its options say, or as Assay asks."""
    told = re.search(r"@(\d+)$", option(words, "--signal", "--signal"))
    if told:
        return int(told[1])
    limit = time_limit(words)
    return STOP_SECONDS if limit is None else max(LEAST_STOP, min(STOP_SECONDS, limit // STOP_SHARE))


def script_text(run: str, output: Path, options: Sequence[str], command: Sequence[str]) -> str:
    """The batch script.

    What Assay sets stands before the user's options, which may so override it.

    Args:
        run: Id of the run.
        output: File that takes what the job prints.
        options: The user's, as `check_options` returns them.
        command: What the job does.

    Raises:
        AssayError: The path of the output has letters that sbatch would read as something else.
    """
    if not _PATH.fullmatch(str(output)):
        raise AssayError(
            f"{output}: Slurm may take some letters of this path for something else", "choose another with --out"
        )
    lines = [
        "#!/bin/sh",
        f"#SBATCH --job-name={job_name(run)}",
        f'#SBATCH --output="{output}"',
        "#SBATCH --open-mode=append",
        "# It is told to stop in time: what is measured then is measured again by `assay run RUN --resume`.",
        f"#SBATCH --signal=B:TERM@{stop_seconds(options)}",
        "# A job that lost a node ends, and does not begin again by itself: the run goes on, on whole nodes, when you",
        "# say so.",
        "#SBATCH --no-requeue",
    ]
    if options:
        lines.append(f"#SBATCH {' '.join(_quoted(word) for word in options)}")
    # exec: the signal goes to the one process of the script.
    return "\n".join([*lines, f"exec {shlex.join(command)}", ""])


def job_name(run: str) -> str:
    """Name of the job of a run, by which it is found again."""
    return f"assay-{run}"


def _quoted(word: str) -> str:
    """As sbatch reads words after `#SBATCH`: double quotes keep spaces, a backslash keeps the next letter."""
    if re.fullmatch(r"[^\s\"'\\#]+", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
