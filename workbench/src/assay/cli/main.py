"""The `assay` command."""

import importlib
import os
import sys
from typing import Any

try:
    import typer

    from assay.cli.output import prepare_streams
    from assay.model.base import EXIT_BUG, EXIT_INTERRUPTED, AssayError
except KeyboardInterrupt:
    # Whoever stops the command while it is still being loaded wants no traceback either.
    sys.exit(130)

COMMANDS = (
    "init",
    "check",
    "plan",
    "run",
    "list",
    "show",
    "report",
    "export",
    "compare",
    "history",
    "env",
    "ceilings",
    "preflight",
    "testbed",
    "catalog",
    "advise",
    "prices",
    "price",
    "doctor",
)


class LazyGroup(typer.core.TyperGroup):
    """Imports a command's module only when that command is asked for, so that `assay list` starts fast."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, from the module of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"assay.cli.{cmd_name}")
        if hasattr(module, "app"):
            group = typer.main.get_group(module.app)
            group.name = cmd_name
            return group
        single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        single.command(name=cmd_name)(module.command)
        found = typer.main.get_command(single)
        found.name = cmd_name
        return found


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """Measure and compare storage, and say which one to choose and why.

    A first run: `assay init`, `assay plan study.yaml`, `assay run study.yaml`, `assay report RUN`.
    """
    if version:
        from assay import __version__

        typer.echo(f"assay {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; errors become one line and an exit code, never a traceback."""
    prepare_streams()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except AssayError as error:
        typer.echo(f"error: {error.message}", err=True)
        if error.hint:
            typer.echo(f"hint: {error.hint}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except Exception as error:
        if os.environ.get("ASSAY_TRACEBACK"):
            raise
        typer.echo(f"error: Assay has a bug: {type(error).__name__}: {error}", err=True)
        typer.echo("hint: report it, with the command and what it prints with ASSAY_TRACEBACK=1 set", err=True)
        sys.exit(EXIT_BUG)
