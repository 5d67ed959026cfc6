"""`assay completion`, and the completion of run names."""

from typing import Literal

import typer

from assay.terminal.output import print_line


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
