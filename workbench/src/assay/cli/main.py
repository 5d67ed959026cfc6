"""The `assay` command."""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

try:
    import typer
    import typer.exceptions

    from assay.model.base import EXIT_BUG, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_USAGE, AssayError
    from assay.model.own_program import without_working_directory
    from assay.model.room import rooms
    from assay.terminal.command_group import SETTINGS, AliasCommand, Group
    from assay.terminal.output import prepare_streams, print_line
    from assay.terminal.stop_signals import Stopped, stopping_in_order
except KeyboardInterrupt:
    # Ctrl-C during the imports prints no traceback either.
    sys.exit(130)

_CORE = {
    "measure": (
        "assay.cli.measure",
        "Measure one target, or compare several: reads and writes, sequential and random, large and small.",
    ),
    "init": (
        "assay.cli.studies.init",
        "Write a commented study file to start from. An existing file is replaced only with --force.",
    ),
    "check": ("assay.cli.check", "Check a study file and its targets without writing anything."),
    "plan": (
        "assay.cli.plan",
        "Show what a run would do: cases, repeats, excluded cases with reasons, time, bytes, order and cost.",
    ),
    "run": ("assay.cli.run", "Measure a study and store the results."),
    "list": ("assay.cli.list", "List the runs, the newest last."),
    "show": ("assay.cli.show", "Show a run's results and verdicts, or all details of one case."),
    "report": (
        "assay.cli.report",
        "Write a run's report as one HTML file that opens without a network, and print its path.",
    ),
    "export": ("assay.cli.export", "Write a run's results as a table for other programs."),
    "compare": (
        "assay.cli.compare",
        "Compare runs, or the targets of one run.",
    ),
    "ab": ("assay.cli.ab.command", "Measure two sides in turns, and say which is faster and by how much."),
    "history": ("assay.cli.history", "Show the results of a study over all its runs, and where they changed."),
    "env": (
        "assay.cli.env",
        "Show what a run's results depend on: machine, kernel, settings, storage, network, versions.",
    ),
    "ceilings": (
        "assay.cli.ceilings",
        "Measure the ceilings of this machine's memory and one directory or device: the most that each can do.",
    ),
    "preflight": (
        "assay.cli.preflight",
        "Measure the network between clients and servers before measuring storage over it.",
    ),
    "aoe": (
        "assay.cli.disks.aoe",
        "Find, describe, attach and mirror disks behind ATA over Ethernet (AoE). Needs root or `CAP_NET_RAW`.",
    ),
    "catalog": (
        "assay.cli.money.catalog",
        "Show cloud services and their limits: instances, volumes, file systems, object storage, tables.",
    ),
    "price": (
        "assay.cli.money.price",
        "Price storage designs: by the hour, month and year, by TB, GB/s, IOPS and job.",
    ),
    "doctor": (
        "assay.cli.doctor",
        "Show what this machine supports for measurements, and how to get what is missing.",
    ),
    "completion": (
        "assay.cli.completion",
        "Print the script with which a shell completes commands, options, runs and studies; nothing is changed.",
    ),
}
"""Name -> its module, and the first paragraph of its help; in the order in which a user needs them."""


def _commands() -> dict[str, tuple[str, str]]:
    """The commands of the core, and behind each those that rooms add after it."""
    added = [(name, each) for room in rooms() for name, each in room.commands.items()]
    if lost := [name for name, each in added if each.after not in _CORE]:
        raise TypeError(f"commands {', '.join(lost)} stand after none of the core")
    found = {}
    for name, entry in _CORE.items():
        found[name] = entry
        found |= {own: (each.module, each.about) for own, each in added if each.after == name}
    return found


COMMANDS = _commands()
"""As `_CORE`, with those of all rooms."""
GC_THRESHOLD = 100_000
"""Objects that Python allocates before it collects garbage: loading modules leaves none, and collecting takes
a tenth of the time of a quick command."""
COMPLETE_VARIABLE = "_ASSAY_COMPLETE"
"""Set by a shell that completes a word; the script that `assay completion` prints sets it."""


class LazyGroup(Group):
    """A group that imports a command's module only when that command runs; its help lists `COMMANDS`."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line and return its exit code; usage errors are printed here."""
        extra["standalone_mode"] = False
        if COMPLETE_VARIABLE in os.environ:
            from typer.completion import completion_init  # type: ignore[attr-defined]

            completion_init()
            extra |= {"prog_name": "assay", "complete_var": COMPLETE_VARIABLE}
        try:
            return super().main(*args, **extra) or 0
        except typer.Abort:
            return EXIT_INCOMPLETE
        except typer.exceptions.TyperException as error:
            return _wrong_usage(error)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def summaries(self, ctx: Any) -> list[tuple[str, str]]:
        """Return name and first paragraph of each command, from `COMMANDS`."""
        return [(name, about) for name, (_, about) in COMMANDS.items()]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve a command as any group does; the error of an unknown name suggests the most similar one."""
        try:
            return super().resolve_command(ctx, args)
        except typer.exceptions.TyperException as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            if near:
                error.message = f"{error.message.rstrip('.')}; did you mean `{near[0]}`?"
            raise

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command `cmd_name` from its module; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        if hasattr(module, "app"):
            group = typer.main.get_group(module.app)
            group.name = cmd_name
            return group
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=cmd_name, cls=AliasCommand)(module.command)
        found = typer.main.get_command(single)
        found.name = cmd_name
        found.allow_interspersed_args = getattr(module, "INTERSPERSED", True)
        return found


def _wrong_usage(error: Any) -> int:
    """Print a usage error of the command line; return the exit code."""
    context = getattr(error, "ctx", None)
    if context is not None:
        print_line(context.get_usage(), err=True)
        print_line(f"Try '{context.command_path} --help' for help.", err=True)
    return _print_error(_unknown_option(error) or error.format_message(), "", int(error.exit_code))


def _unknown_option(error: Any) -> str:
    """Return the message for an unknown option, with the most similar one; empty if the error is another one."""
    name = getattr(error, "option_name", "")
    if not hasattr(error, "possibilities") or error.ctx is None:
        return ""
    from difflib import get_close_matches

    known = [word for option in error.ctx.command.params for word in option.opts if word.startswith("--")]
    # A lower cutoff finds short options similar that share only a few letters.
    near = get_close_matches(name, known, n=1, cutoff=0.75)
    return f"No such option: {name}{f'; did you mean `{near[0]}`?' if near else ''}"


app = typer.Typer(
    cls=LazyGroup, context_settings=SETTINGS, add_completion=False, rich_markup_mode=None, no_args_is_help=True
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """Measure and compare storage, and recommend which to choose and why.

    A first run: `assay init`, `assay plan study.yaml`, `assay run study.yaml`, `assay report RUN`.
    """
    if version:
        from assay import __version__

        print_line(f"assay {__version__}")
        raise typer.Exit


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; errors become one line and an exit code, never a traceback.

    Args:
        words: The words after `assay`; None: those of this process.

    Returns:
        The exit code; `assay.model.base` lists them.
    """
    prepare_streams()
    gc_threshold = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD)
    without_working_directory(os.environ)
    try:
        with stopping_in_order():
            return _command_code(words)
    except AssayError as error:
        for message, hint in error.others:
            _print_error(message, hint, error.exit_code)
        return _print_error(error.message, error.hint, error.exit_code)
    except Stopped as stop:
        return _print_error(f"stopped by {stop.name}", "", stop.exit_code, "")
    except KeyboardInterrupt:
        return _print_error("interrupted", "", EXIT_INTERRUPTED, "")
    except Exception as error:
        if os.environ.get("ASSAY_TRACEBACK"):
            raise
        if not _has_working_directory():
            return _print_error(
                "the working directory was removed while Assay was running", FOLDER_HINT, EXIT_INCOMPLETE
            )
        if (failure := _stored_data_error(error)) is not None:
            return _print_error(failure.message, failure.hint, failure.exit_code)
        message = f"Assay has a bug: {type(error).__name__}: {error}"
        return _print_error(message, "report it with the command and its output with ASSAY_TRACEBACK=1 set", EXIT_BUG)
    finally:
        gc.set_threshold(*gc_threshold)


def _command_code(words: Sequence[str] | None) -> int:
    """Run a command, and remove what it has made for itself; return its exit code."""
    try:
        _check_working_directory()
        return int(app(words))
    finally:
        if (made := sys.modules.get("assay.run.find_run")) is not None:
            made.remove_temporary_runs()
        sys.stdout.flush()


def _stored_data_error(error: Exception) -> AssayError | None:
    """Return the error to report when data read from stored runs cannot be processed, as they may come from anywhere.

    None if no run was read, or `error` is not one that damaged data causes.
    """
    snapshot, damage = (sys.modules.get(f"assay.store.{name}") for name in ("snapshot", "damage"))
    if snapshot is None or damage is None or not snapshot.read_folders or not isinstance(error, damage.DATA_ERRORS):
        return None
    runs = ", ".join(map(str, list(snapshot.read_folders)[-MAX_RUNS_NAMED:]))
    hint = "restore the run from a backup; if it is undamaged, report this with the output of ASSAY_TRACEBACK=1"
    return AssayError(f"the stored data cannot be processed ({type(error).__name__}: {error}): {runs}", hint)


def _print_error(message: str, hint: str, code: int, word: str = "error: ") -> int:
    print_line(f"{word}{message}", err=True)
    if hint:
        print_line(f"hint: {hint}", err=True)
    return code


MAX_RUNS_NAMED = 4
"""Runs that a message names at most: the last ones read."""
FOLDER_HINT = "change to an existing directory"


def _has_working_directory() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def _check_working_directory() -> None:
    """Raise an error if the working directory does not exist, so that no relative path can be resolved."""
    if not _has_working_directory():
        raise AssayError("the working directory does not exist", FOLDER_HINT, EXIT_USAGE)
