"""`assay study`."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from assay.model.base import AssayError
from assay.model.secret import redact
from assay.model.user_files import read_user_file
from assay.rooms.foreign.tools import TOOLS, Tool
from assay.terminal.command_group import Group, group
from assay.terminal.output import note
from assay.terminal.output_file import FORCE, OutputFile, never_marked, output_option

_MAX_SCRIPT = 1 << 20
"""Bytes of a script at most."""
_MAX_NAMED = 8
"""Variables that one message names."""
_LONG = re.compile(r"(\S{300})\S+")
_PASSWORD = re.compile(r"[A-Za-z0-9]:/{1,2}[^/\s@]*:[^/\s@]*@")
"""`http://user:password@`, of which paths keep one slash."""

_OTHER_PROGRAMS = (
    *("cosbench", "hsbench", "ycsb", "sysbench", "smallfile", "filebench"),
    *("bonnie", "bonnie++", "dbench", "diskspd", "dd"),
)
"""Other programs that measure storage, whose command lines are not converted."""


class _Sources(Group):
    """The group of programs whose command lines become studies."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve a command as any group does, but for a program in `_OTHER_PROGRAMS` suggest no similar name."""
        if args and args[0].lower() in set(_OTHER_PROGRAMS) - set(self.list_commands(ctx)):
            read = ", ".join(self.list_commands(ctx))
            words = "`assay check` suggests our names for options of fio, iozone or vdbench in a study"
            ctx.fail(f"command lines of {args[0]} cannot be converted, only those of {read}; {words}")
        return super().resolve_command(ctx, args)


app = group("Make study files from command lines of other programs.")
source = group("Make a study file from the command line of another program.", _Sources)
app.add_typer(source, name="from")

_LINE = typer.Argument(help="The whole command line in quotes, with or without its launcher.", metavar="COMMAND")
_INI = typer.Argument(help="The configuration file.", metavar="FILE")
_PARAMETERS = typer.Argument(help="The parameter file.", metavar="FILE")
_TRACE = typer.Argument(help="The trace.", metavar="FILE")
_VARIABLES = typer.Argument(None, help="Values of its variables: NAME=VALUE.", metavar="[NAME=VALUE]...")
_REPLAY = typer.Option(False, "--replay", help="Do the operations of the trace again, instead of similar work.")
_EACH = typer.Option(None, "--tasks", min=1, help="Tasks on each host.")
_TASKS = typer.Option(None, "--tasks", min=1, help="Tasks, instead of the command line's.")
_OUTPUT = output_option("Write the study to a file.")


@source.command("ior")
def from_ior(line: str = _LINE, tasks: int | None = _TASKS, output: Path | None = _OUTPUT, force: bool = FORCE) -> None:
    """Convert a command line of IOR to a study.

    Sizes are read as IOR reads them: k, m and g are powers of 1024. The study begins with a line for each
    option that has no counterpart, and the reason. A script file (-f) is read; each of its tests becomes a workload.

    Example: `assay study from ior "mpirun -np 4 ior -t 1m -b 16m -s 16 -F -C -e -o /mnt/x" --output ior.yaml`
    """
    from assay.rooms.foreign.work.ior import ior_study

    _write_study(lambda: ior_study(line, _script, tasks), output, force, line)


@source.command("mdtest")
def from_mdtest(
    line: str = _LINE, tasks: int | None = _TASKS, output: Path | None = _OUTPUT, force: bool = FORCE
) -> None:
    """Convert a command line of mdtest to a study.

    The study begins with a line for each option that has no counterpart, and the reason.

    Example: `assay study from mdtest "mpirun -np 4 mdtest -n 1000 -F -u -w 3901 -N 1 -d /mnt/x" --output mdtest.yaml`
    """
    from assay.rooms.foreign.work.mdtest import mdtest_study

    _write_study(lambda: mdtest_study(line, tasks), output, force, line)


@source.command("io500")
def from_io500(
    file: Path = _INI, tasks: int | None = _EACH, output: Path | None = _OUTPUT, force: bool = FORCE
) -> None:
    """Convert a configuration of IO500 (config.ini) to a study with the same phases.

    The study begins with a line for each option that has no counterpart, and the reason. `assay show` prints the
    score of its runs.

    Example: `assay study from io500 config.ini --tasks 16 --output io500.yaml`
    """
    from assay.rooms.foreign.work.io500 import io500_study

    _write_study(
        lambda: io500_study(_text(str(file), str(file), "name a configuration of IO500"), str(file), tasks),
        output,
        force,
    )


@source.command("vdbench")
def from_vdbench(
    file: Path = _PARAMETERS,
    variables: list[str] | None = _VARIABLES,
    output: Path | None = _OUTPUT,
    force: bool = FORCE,
) -> None:
    """Convert a parameter file of vdbench to a study: each run definition becomes one workload or several.

    The study begins with a line for each parameter that has no counterpart, and the reason.

    Example: `assay study from vdbench work.parm --output work.yaml`
    """
    from assay.rooms.foreign.work.vdbench.study import vdbench_study

    values = dict(_assigned(one) for one in variables or [])
    hint = "name a parameter file of vdbench"

    def included(name: str) -> str:
        beside = str(file.parent / name) if "/" not in name else name
        return _text(beside, f"{file}: include={name}", hint)

    _write_study(lambda: vdbench_study(_text(str(file), str(file), hint), str(file), included, values), output, force)


@source.command("trace")
def from_trace(file: Path = _TRACE, replay: bool = _REPLAY, output: Path | None = _OUTPUT, force: bool = FORCE) -> None:
    """Make a study whose work resembles that of a trace (`assay record`, `assay trace import`), or replays it.

    It reads and writes as many bytes in as many records, flushes and looks at names as often as the words of a study
    allow, and begins with a line for each amount that differs. With --replay its operations are those of the trace, one
    by one.

    Example: `assay study from trace tar.trace.gz --replay --output tar.yaml`
    """
    from assay.rooms.foreign.work.trace import replay_study, trace_study

    folder = Path.cwd() if output is None else output.absolute().parent
    _write_study(lambda: replay_study(str(file), folder) if replay else trace_study(str(file)), output, force)


def _assigned(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise AssayError(f"{text}: no value of a variable", "write NAME=VALUE, such as size=10g")
    return name.lstrip("$"), value


def _add(tool: Tool) -> None:
    def from_tool(
        text: str = typer.Argument(help=tool.help, metavar=tool.metavar),
        output: Path | None = _OUTPUT,
        force: bool = FORCE,
    ) -> None:
        _write_study(lambda: tool.make(text, lambda path: _text(path, path, tool.file_hint)), output, force, text)

    source.command(tool.name, help=tool.description)(from_tool)


for _tool in TOOLS:
    _add(_tool)


def _script(path: str) -> str:
    from assay.rooms.foreign.work.io500 import looks_like_io500

    text = _text(path, f"ior -f {path}", "name a script of IOR")
    if looks_like_io500(text):
        message = f"ior -f {path}: this is a configuration of IO500, not a script of IOR"
        raise AssayError(message, f"write: assay study from io500 {path}")
    return text


def _text(path: str, what: str, hint: str) -> str:
    try:
        return read_user_file(path, what, hint, _MAX_SCRIPT).decode()
    except UnicodeDecodeError:
        raise AssayError(f"{what}: it is not text", hint) from None


def _write_study(make: Callable[[], str], output: Path | None, force: bool, line: str = "") -> None:
    file = OutputFile(output or Path("-"), never_marked, force)
    text = _without_passwords(lambda: _with_variables(make, line))
    _check(text)
    file.write(text)
    if not file.prints:
        note(f"the study: {file.path}; next: assay plan {file.path}")


def _with_variables(make: Callable[[], str], line: str) -> str:
    """Return a study that no unset variable of the command line is left in.

    Args:
        make: Returns the study.
        line: The command line; empty for a file.

    Raises:
        AssayError: As `make`, which then also names the variables that are not set; or one of them is in the study.
    """
    names = _names_unset(line)
    try:
        study = make()
    except AssayError as error:
        error.others += (_unset(names),) if names else ()
        raise
    body = "\n".join(one for one in study.splitlines() if not one.startswith("#"))
    left = [name for name in names if re.search(rf"\$\{{?{name}\b", body)]
    if left:
        raise AssayError(*_unset(left))
    return study


def _names_unset(line: str) -> list[str]:
    """Return the unset variables of a command line; none if it cannot be split, or is the path of a file."""
    from assay.rooms.foreign.work.line import unset_variables

    try:
        return unset_variables(line)
    except AssayError:
        return []


def _unset(names: Sequence[str]) -> tuple[str, str]:
    """Return the message about variables that are not set, and its hint."""
    shown = ", ".join(names[:_MAX_NAMED]) + (" ..." if len(names) > _MAX_NAMED else "")
    what = (
        f"variable{'s' if len(names) > 1 else ''} of the command line that {'are' if len(names) > 1 else 'is'} not set"
    )
    return f"{what}: {shown}", f"write the value, or set it: {names[0]}=VALUE assay study from ..."


def _check(text: str) -> None:
    """Refuse a study that has no cases, before it is written.

    Raises:
        AssayError: It cannot be read, or a case of it cannot be done.
    """
    from assay.plan.expand import expand
    from assay.plan.load import load_study

    loaded = load_study(text.encode(), str(Path.cwd()))
    faults = expand(loaded.study).faults if loaded.study else loaded.problems
    if faults:
        raise AssayError(f"a study cannot do this work: {faults[0].message}", faults[0].hint)


def _without_passwords(make: Callable[[], str]) -> str:
    """Return a study; neither it nor what is wrong with the command line may repeat a password.

    Raises:
        AssayError: As `make`, or an address in the study has a password.
    """
    try:
        study = make()
    except AssayError as error:
        error.message, error.hint = _shown(error.message), _shown(error.hint)
        error.others = tuple((_shown(message), _shown(hint)) for message, hint in error.others)
        raise
    if any(_PASSWORD.search(line) for line in study.splitlines() if not line.startswith("#")):
        message = "a password stands in an address, and studies hold none"
        raise AssayError(message, "leave out `user:password@`; docs/guides/objects.md says where keys are kept")
    return study


def _shown(text: str) -> str:
    """Return a message without passwords, and without all of a word that fills screens."""
    return _LONG.sub(r"\1...", redact(text))
