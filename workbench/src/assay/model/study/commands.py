"""Commands of a study: programs that are measured as they are, beside workloads.

A command is read as a workload with the operation `run`, whose axes it shares, and with what is to be executed; one
that replays a trace as a workload with the operation `replay`.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.parameter import Parameter
from assay.model.study.target import YEAR_NS, path_from
from assay.model.units import UnitError, choices_hint, display_value

RUN, REPLAY = "run", "replay"
"""The operations of commands: to run a program, and to replay a trace."""
RECORDED, FAST = "recorded", "fast"
"""Words for `pace`, beside factors of the recorded pace."""
MIN_PACE, MAX_PACE = 0.001, 1000.0
"""Bounds of such a factor."""
ONLY_OF_RUNS, ONLY_OF_REPLAYS = ("tasks", "threads"), ("pace", "verify")
"""Parameters that commands have only if they run a program, or only if they replay a trace."""
VARIABLES = ("path", "inputs", "task", "tasks", "lane", "host", "threads")
"""Names that stand for values in the words of a command, written as `$task` or `${task}`."""
ONLY_OF_TASKS = ("task", "lane")
"""Those of them that `prepare` does not have: it is executed before there are tasks."""
OUTPUT_BYTES = 64 << 10
"""Most bytes of what a task prints in which figures are looked for: half from the beginning, half from the end."""
MAX_TASKS = 10_000
MAX_WORDS = 10_000

_VARIABLE = re.compile(r"\$(?:\$|\{(?P<braced>\w*)\}|(?P<plain>\w+))", re.ASCII)
_DOUBLED = re.compile(r"\$\$(?:[A-Za-z_]\w*|[{(])", re.ASCII)
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ProgramWords(Frozen):
    """What is executed.

    Attributes:
        words: Program and arguments; or one text, if the shell executes it.
        shell: Whether `/bin/sh -c` executes it.
    """

    words: tuple[str, ...]
    shell: bool = False

    @property
    def variables(self) -> Iterator[str]:
        """The names of variables in its words, apart from the shell's own."""
        for word in () if self.shell else self.words:
            for found in _VARIABLE.finditer(word):
                if name := found["braced"] or found["plain"]:
                    yield name


def replaced(word: str, name: str, value: str) -> str:
    """Return a word with one of its variables replaced."""

    def one(found: re.Match[str]) -> str:
        return value if name in (found["braced"], found["plain"]) else found[0]

    return _VARIABLE.sub(one, word)


def _word(written: object, *inner: str | int) -> str:
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        raise fault(f"{display_value(written)} is not a word", "write text or a number", *inner)
    if "\0" in str(written):
        raise fault("it has a zero byte", "remove it", *inner)
    return str(written)


def _program(written: object) -> ProgramWords:
    form = "write a list [bowtie2, -p, $threads], or {shell: TEXT} for /bin/sh"
    if isinstance(written, ProgramWords):
        return written
    if isinstance(written, dict):
        return _shell_program(written)
    if written == []:
        raise fault("the list is empty", "begin with the program: [gzip, -k, $inputs/data]")
    if not isinstance(written, list):
        raise fault(f"{display_value(written)} is not a command", form)
    if len(written) > MAX_WORDS:
        raise fault(f"it has more than {MAX_WORDS:,} words", "read them from a file")
    words = tuple(_word(word, place) for place, word in enumerate(written))
    if not words[0]:
        raise fault("its first word is empty", "begin with the program", 0)
    program = ProgramWords(words=words)
    for name in program.variables:
        if name not in VARIABLES:
            hint = f"{choices_hint(f'${name}', [f'${one}' for one in VARIABLES])}; for a dollar sign, write $$"
            raise fault(f"there is no variable ${name}", hint)
    return program


def _shell_program(written: dict[Any, Any]) -> ProgramWords:
    hint = "write {shell: TEXT}, such as {shell: 'sort data | uniq'}"
    for name in written:
        if name != "shell":
            raise fault(f"unknown key {display_value(name)}", hint)
    text = written.get("shell")
    if not isinstance(text, str) or not text.strip():
        raise fault("`shell` has no text", hint)
    # The shell gets its text unchanged: to it, $$ is the number of its process.
    if found := _DOUBLED.search(text):
        once = found[0][1:]
        raise fault(
            f"{found[0]}: /bin/sh reads $$ as its process number", f"write {once}: a text for the shell is not changed"
        )
    return ProgramWords(words=(_word(text, "shell"),), shell=True)


def _file_name(written: object) -> str:
    if isinstance(written, str) and _FILE_NAME.fullmatch(written):
        return written
    raise fault(f"{display_value(written)} is not a file name", "use letters, digits, `.`, `_`, `-`")


def _sha256(written: object) -> str:
    if isinstance(written, str) and _SHA256.fullmatch(written.lower()):
        return written.lower()
    raise fault(
        f"{display_value(written)} is not a SHA-256", "write its 64 hexadecimal digits, as sha256sum prints them"
    )


def _input_path(written: object, info: ValidationInfo) -> str:
    # An input is only read, so that it may be above the study, other than a target.
    if isinstance(written, str) and ".." in written.split("/") and not written.startswith("~"):
        written = posixpath.normpath(posixpath.join((info.context or {}).get("folder", "/"), written))
    return path_from("folder", written, info)


def _input(written: object) -> object:
    if isinstance(written, str):
        return {"path": written}
    if isinstance(written, dict | InputFile):
        return written
    raise fault(f"{display_value(written)} is not a file", "write a path, or {path: FILE, sha256: DIGITS}")


def _variables(written: object) -> dict[str, str]:
    if not isinstance(written, dict):
        raise fault(f"{display_value(written)} is not a mapping", "write {LC_ALL: C}")
    for name in written:
        if not isinstance(name, str) or not name or "=" in name:
            raise fault(f"{display_value(name)} is not a name of a variable", "write {LC_ALL: C}")
    return {name: _word(value, name) for name, value in written.items()}


def _task_words(written: object) -> tuple[str, ...]:
    if not isinstance(written, list | tuple):
        raise fault(f"{display_value(written)} is not a list", "write a list of words, or how many tasks there are")
    words = tuple(_word(word, place) for place, word in enumerate(written))
    for place, word in enumerate(words):
        if word in words[:place]:
            raise fault(f"{display_value(word)} comes twice", "name each task once", place)
    return words


def _figure(written: object) -> object:
    return {"pattern": written} if isinstance(written, str) else written


def _pattern(written: object) -> str:
    if not isinstance(written, str):
        raise fault(f"{display_value(written)} is not a pattern", "write a regular expression in quotes")
    try:
        found = re.compile(written, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise fault(f"the pattern cannot be read: {error}", "write a regular expression as Python has them") from None
    if found.groups != 1:
        hint = "put the number in parentheses, such as '([0-9.]+) reads'; (?:...) groups without counting"
        raise fault(f"the pattern has {found.groups} groups, not one", hint)
    return written


def _pace(written: object) -> str:
    if written in (RECORDED, FAST):
        return str(written)
    is_number = isinstance(written, int | float) and not isinstance(written, bool)
    hint = f"write {RECORDED}, {FAST}, or a factor such as 2 for twice as fast"
    if not is_number:
        raise UnitError(f"{display_value(written)} is not a pace", hint)
    if not MIN_PACE <= float(written) <= MAX_PACE:  # type: ignore[arg-type]
        raise UnitError(f"{display_value(written)} is out of range", f"it must be {MIN_PACE:g} to {MAX_PACE:g}")
    return RECORDED if written == 1 else f"{written:.10g}"


def pace() -> axis.ValueKind:
    """Return the kind of paces: recorded, fast, or how many times as fast as recorded, as text."""
    numbers = {"type": "number", "minimum": MIN_PACE, "maximum": MAX_PACE}
    schema = {"anyOf": [{"enum": [RECORDED, FAST]}, numbers], "description": "recorded, fast, or a factor such as 2."}
    return axis.ValueKind(_pace, str, schema, optional=True, label="recorded, fast, or a factor such as 2")


THREADS = Parameter(
    kind=axis.whole(1, 2**20, optional=True),
    about="Commands: stands for $threads. What the program does with it is its own affair.",
    heading="What stood for $threads",
    unknown_text="how many threads the program was to use",
    report_row="limit",
    only=("programs",),
    of_programs=True,
)
PACE = Parameter(
    kind=pace(),
    about="Replays: when operations start. recorded: at their recorded times; a factor such as 2: so many times as "
    "fast; fast: as soon as all that they follow has ended.",
    heading="When operations of a trace started: recorded, fast, or so many times as fast",
    unknown_text="how fast the trace was replayed",
    report_row="limit",
    only=("programs",),
    of_programs=True,
)


def pace_factor(pace: str) -> float:
    """Return how many times as fast as recorded a replay is to be; 1 for `fast`, which has no times."""
    return 1.0 if pace in (RECORDED, FAST) else float(pace)


ProgramField = Annotated[
    ProgramWords,
    BeforeValidator(_program),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1},
                {
                    "type": "object",
                    "properties": {"shell": {"type": "string"}},
                    "required": ["shell"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
FileName = Annotated[str, BeforeValidator(_file_name), WithJsonSchema({"type": "string"})]
Sha256 = Annotated[str, BeforeValidator(_sha256), WithJsonSchema({"type": "string", "pattern": "^[0-9a-fA-F]{64}$"})]


InputPath = Annotated[str, BeforeValidator(_input_path), WithJsonSchema({"type": "string", "minLength": 1})]


class InputFile(Frozen):
    """A file that is copied to the target before tasks are run."""

    path: InputPath = Field(description="The file; a relative path starts at the study.")
    sha256: Sha256 | None = Field(None, description="What its contents must be, as sha256sum prints it.")


class OutputFigure(Frozen):
    """A number that a task prints."""

    pattern: Annotated[str, BeforeValidator(_pattern), WithJsonSchema({"type": "string"})] = Field(
        description="Regular expression with one group, the number. If it occurs several times, the last counts."
    )
    unit: Annotated[str, Field(max_length=20)] = Field("", description="Unit of the number, for display.")


class StudyCommand(Frozen):
    """A program that is run as it is, once for each task, in a directory of the task on the target."""

    run: ProgramField = Field(
        description="Program and arguments as a list; `{shell: TEXT}` for /bin/sh. $path is the directory on the "
        "target, $inputs the one of the inputs, $task the task's number from 1, or its word; $tasks, $lane, $host, "
        "$threads. The working directory is the task's own."
    )
    prepare: ProgramField | None = Field(
        None, description="Executed once before each repeat, in $inputs, on one host. Its time is not measured."
    )
    inputs: dict[FileName, Annotated[InputFile, BeforeValidator(_input)]] = Field(
        {}, description="Name in $inputs -> file that is copied there before each repeat."
    )
    check: ProgramField | None = Field(
        None, description="Executed for each task after all have ended; if it fails, the task has failed."
    )
    outputs: dict[FileName, Sha256] = Field(
        {}, description="File in the task's directory -> SHA-256 of what it must contain."
    )
    environment: Annotated[dict[str, str], BeforeValidator(_variables)] = Field(
        {}, description="Variables of the environment."
    )
    figures: dict[str, Annotated[OutputFigure, BeforeValidator(_figure)]] = Field(
        {}, description="Name -> pattern of a number in what a task prints."
    )
    task_limit: Annotated[int | None, SingleField(axis.duration(10**6, YEAR_NS, optional=True))] = Field(
        None, description="A task that takes longer is killed with all its processes, and has failed."
    )
    task_words: Annotated[tuple[str, ...], BeforeValidator(_task_words)] = Field(
        (), description="Words that stand for $task; empty: numbers from 1."
    )

    task_seconds: float | None = Field(
        None,
        description="Seconds that a task is assumed to take, if something is known of it; never written in a study.",
    )

    @property
    def programs(self) -> Iterator[tuple[str, ProgramWords]]:
        """Its programs, by field."""
        yield "run", self.run
        if self.prepare is not None:
            yield "prepare", self.prepare
        if self.check is not None:
            yield "check", self.check


class StudyReplay(Frozen):
    """A trace that is replayed: each lane replays one copy, in a directory of its own on the target."""

    replay: Annotated[InputFile, BeforeValidator(_input)] = Field(
        description="The trace, as `assay record` or `assay trace import` writes it: a path, or {path: FILE, sha256: "
        "DIGITS}. Its operations on files are done again, on files that are made anew."
    )

    @model_validator(mode="before")
    @classmethod
    def _runs_nothing(cls, written: Any) -> Any:
        """Refuse what only programs have."""
        for name in written if isinstance(written, dict) else ():
            if name == RUN:
                raise fault("a command has either `run` or `replay`", "write two commands", name)
            if name == "copies":
                raise fault("each lane replays one copy", "write lanes: 4 for four at once on each host", name)
            if name in StudyCommand.model_fields or name in ONLY_OF_RUNS:
                raise fault("a trace is replayed without a program", "remove it; `lanes` says how many copies", name)
        return written


UNWRITTEN_FIELDS = ("task_words", "task_seconds")
"""Fields of a command that no study has: they follow from others."""
SHARED_FIELDS = ("targets", "where", "exclude", "zip", "optional")
"""Fields that commands share with workloads, apart from parameters."""


def as_workload(written: object, parameters: Collection[str]) -> object:
    """Return what a study has for a command as the workload that it is read as; anything but a mapping stays as it is.

    `tasks` may be a list of words: then there are that many tasks, with these words for $task.

    Args:
        written: The command.
        parameters: Names of the parameters that commands have.
    """
    if not isinstance(written, dict):
        return written
    is_replay = REPLAY in written
    others = ONLY_OF_RUNS if is_replay else ONLY_OF_REPLAYS
    fields = {*SHARED_FIELDS, *parameters}.difference(others)
    shared = {field: value for field, value in written.items() if field in fields}
    own: dict[str, Any] = {field: value for field, value in written.items() if field not in shared}
    if is_replay:
        return {"operations": [REPLAY], REPLAY: own, **shared}
    words = shared.get("tasks")
    if isinstance(words, list) and any(isinstance(word, str) for word in words):
        own["task_words"], shared["tasks"] = words, len(words)
    return {"operations": [RUN], "command": own, **shared}


SECTIONS = ("workloads", "commands", "replication")
"""Sections of a study file with what is done to its targets."""


def works_of(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the workloads, commands and replications of a parsed study file by name."""
    return {name: work for section in SECTIONS for name, work in data.get(section, {}).items()}


def with_works(data: Mapping[str, Any], works: Mapping[str, Any]) -> dict[str, Any]:
    """Return a parsed study file with other workloads, commands and replications; a name stays in its section.

    Args:
        data: The study file.
        works: Name -> workload, command or replication, each a name that the study has.
    """
    sections = {
        section: {name: work for name, work in works.items() if name in data.get(section, {})} for section in SECTIONS
    }
    changed = {name: sections.get(name, section) for name, section in data.items()}
    return {name: section for name, section in changed.items() if name not in sections or section}
