"""`assay completion`, and the completion of run names."""

import re
from typing import Literal

import typer

from assay.cli.output import print_line
from assay.cli.settings import runs_folder
from assay.model.base import AssayError

PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names that are offered to a shell: only those that it takes for one plain word."""


def command(
    shell: Literal["bash", "zsh", "fish"] = typer.Argument(..., help="Shell that the script is for."),
) -> None:
    """Print the script with which a shell completes commands, options, runs and studies; nothing is changed.

    Bash: `assay completion bash > ~/.local/share/bash-completion/completions/assay`

    Zsh: `assay completion zsh > DIR/_assay`, where DIR is in fpath

    Fish: `assay completion fish > ~/.config/fish/completions/assay.fish`

    Example: `source <(assay completion bash)`
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from assay.cli.main import COMPLETE_VARIABLE

    for line in get_completion_script(prog_name="assay", complete_var=COMPLETE_VARIABLE, shell=shell).splitlines():
        print_line(line)


def matching_runs(incomplete: str) -> list[str]:
    """Return `last`, ids of runs (newest first) and names of studies that begin with `incomplete`."""
    from assay.store.lookup import list_runs

    try:
        runs = list_runs(runs_folder())[::-1]
    except AssayError:
        return []
    names = ("last", *(run.id for run in runs), *(run.study for run in runs))
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete) and PLAIN_WORD.fullmatch(name)]
