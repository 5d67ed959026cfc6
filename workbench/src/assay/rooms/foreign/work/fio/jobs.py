"""Jobs of fio, with the options that each has after `[global]` and the job itself were read.

Source: fio 3.42, init.c and options.c.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from assay.model.base import AssayError
from assay.rooms.foreign.work.fio.options import ALIASES, FLAGS, OPTIONAL, OPTIONS, SECRETS, canonical
from assay.rooms.foreign.work.fio.values import size_of, whole_of

Reader = Callable[[str], str]
"""Returns the text of a file, from its path."""
_MAX_JOBS, _MAX_DEPTH, _MAX_INCLUDES = 1000, 8, 100
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORDS = {"$pagesize": "4096", "$ncpus": "", "$mb_memory": ""}
"""Words that stand for numbers of the machine; those without one here are not known before the run."""


class Value(NamedTuple):
    """The value of an option.

    Attributes:
        value: The value; empty for an option without one.
        where: Where it was written: file and line, or the command line.
        written: The option as it is shown in messages and notes.
    """

    value: str
    where: str
    written: str


@dataclass
class FioJob:
    """A job: a section of a file, or a `--name` of the command line.

    Attributes:
        name: Its name.
        where: Where it begins.
        values: Option -> value.
        values: Option -> value.
    """

    name: str
    where: str
    values: dict[str, Value] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """Return the value of an option, `default` if it is not set; neutral ones are as they are written."""
        value = self.values.get(name)
        return default if value is None else value.value

    def has(self, name: str) -> bool:
        """Return whether a flag or boolean is set, and not to 0."""
        value = self.values.get(name)
        return value is not None and value.value.strip() not in ("0", "none")

    @property
    def is_timed(self) -> bool:
        """Whether it works for a time, over its files as often as needed; fio ignores time_based without a runtime."""
        return self.has("time_based") and self.has("runtime")

    def number(self, name: str, default: int, least: int = 0) -> int:
        """Return the value of an option as a whole number.

        Raises:
            AssayError: It is none.
        """
        if name not in self.values:
            return default
        number = size_of(self.text(name), self.kb_base)
        if number is None or number < least:
            raise self.error(name, "this is not a number that fio takes", "write a whole number")
        return number

    def size(self, name: str, default: int = 0) -> int:
        """Return the value of an option in bytes; raises AssayError if it is no size."""
        if name not in self.values:
            return default
        size = size_of(self.text(name), self.kb_base)
        if size is None:
            raise self.error(name, "this is not a size that has a counterpart", "write one such as 1g")
        return size

    @property
    def kb_base(self) -> int:
        """1024, or 1000 with kb_base=1000."""
        return 1000 if self.text("kb_base", "1024") == "1000" else 1024

    def error(self, name: str, why: str, hint: str) -> AssayError:
        """Return an error about an option, with its place."""
        value = self.values.get(name)
        where, written = (self.where, f"{name}=") if value is None else (value.where, value.written)
        return AssayError(f"{where}: job {self.name}: {written}: {why}", hint)


@dataclass
class FioJobs:
    """All jobs of a command line or file, in order, and options that are set before any job is."""

    variables: Mapping[str, str]
    read: Reader
    sections: tuple[str, ...] = ()
    jobs: list[FioJob] = field(default_factory=list)
    globals: dict[str, Value] = field(default_factory=dict)
    includes: int = 0

    def add(self, name: str, where: str) -> FioJob:
        """Add a job with the options that are global by now."""
        if len(self.jobs) >= _MAX_JOBS:
            raise AssayError(f"{where}: more than {_MAX_JOBS} jobs", "convert a part of them")
        job = FioJob(name, where, dict(self.globals))
        self.jobs.append(job)
        return job

    def add_file(self, path: str) -> None:
        """Add the jobs of a file."""
        first = len(self.jobs)
        _FileReader(self, path).read_lines(self.read(path), path, 0)
        if 0 < first < len(self.jobs):
            job = self.jobs[first]
            job.values["stonewall"] = Value("1", job.where, "a file after the first")

    def takes(self, section: str) -> bool:
        """Return whether a section is asked for: all are without `--section`."""
        return not self.sections or any(section == name for name in self.sections) or section.startswith("global")


class _FileReader:
    """Reads the lines of a job file and of the files that it includes."""

    def __init__(self, jobs: FioJobs, path: str) -> None:
        self.jobs, self.path = jobs, path
        self.values: dict[str, Value] | None = None
        self.is_skipped = False

    def read_lines(self, text: str, path: str, depth: int) -> None:
        """Read the lines of a file.

        Raises:
            AssayError: fio would refuse a line.
        """
        for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
            line, where = raw.strip(), f"{path}:{number}"
            if not line or line[0] in ";#":
                continue
            if line[0] == "[":
                self._section(line, where, depth)
            elif self.is_skipped:
                continue
            elif self.values is None:
                raise AssayError(f"{where}: {line[:60]!r} stands before the first section", "begin with [global]")
            elif line.startswith("include "):
                self._include(re.split("[;#]", line)[0][len("include ") :].strip(), path, where, depth)
            else:
                self._option(re.split("[;#]", line)[0].strip(), where)

    def _section(self, line: str, where: str, depth: int) -> None:
        if depth:
            raise AssayError(f"{where}: a section in an included file", "fio takes options only there")
        name = line[1:].rpartition("]")[0] or line[1:]
        self.is_skipped = not self.jobs.takes(name)
        if self.is_skipped:
            return
        is_global = name.startswith("global")
        self.values = self.jobs.globals if is_global else self.jobs.add(name, where).values

    def _include(self, name: str, path: str, where: str, depth: int) -> None:
        self.jobs.includes += 1
        if depth >= _MAX_DEPTH or self.jobs.includes > _MAX_INCLUDES:
            raise AssayError(f"{where}: too many files include each other", "include a file once")
        inner = name if is_file(name) else str(Path(path).parent / name)
        self.read_lines(self.jobs.read(inner), inner, depth + 1)

    def _option(self, line: str, where: str) -> None:
        assert self.values is not None
        name, equals, text = line.partition("=")
        set_option(self.values, name.strip(), text.strip() if equals else None, where, self.jobs.variables)


def set_option(
    values: dict[str, Value], name: str, text: str | None, where: str, variables: Mapping[str, str] | None
) -> None:
    """Set an option of a job.

    Args:
        values: Those of the job.
        name: Name of the option, as written.
        text: Its value; None without one.
        where: Where it was written.
        variables: Those of the environment, for `${NAME}`; None where the shell has replaced them.

    Raises:
        AssayError: fio has no such option, it lacks its value, or a variable is not set.
    """
    found = canonical(name)
    if found not in OPTIONS:
        raise AssayError(f"{where}: fio has no option {name!r}", close_names(name, (*OPTIONS, *ALIASES)))
    if text is None and found not in OPTIONAL:
        raise AssayError(f"{where}: {name} lacks its value", f"write {name}=VALUE")
    value = _replaced(text or "", where, found, variables) if variables is not None else text or ""
    if text is None and found in FLAGS:
        value = "1"
    if found == "filename" and found in values:
        # Each adds files, also to those of [global] (options.c, str_filename_cb).
        value = f"{values[found].value}:{value}"
    shown = "(not shown)" if found in SECRETS else value
    values.pop(found, None)
    values[found] = Value(value, where, name if text is None else f"{name}={shown}")


def _replaced(text: str, where: str, name: str, variables: Mapping[str, str]) -> str:
    if name in SECRETS:
        return ""

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in variables:
            message = f"{where}: {name}={text}: the variable {match[1]} is not set"
            raise AssayError(message, f"set it as for fio: {match[1]}=VALUE assay study from fio ...")
        return variables[match[1]]

    found = _VARIABLE.sub(value_of, text)
    for word, number in _KEYWORDS.items():
        if word in found and not number:
            raise AssayError(f"{where}: {name}={text}: {word} is another on each machine", "write the number")
        found = found.replace(word, number)
    return found


def close_names(name: str, names: Iterable[str]) -> str:
    """Return a hint with names of options that are close to a wrong one."""
    found = get_close_matches(name, names, 3)
    return f"did you mean {' or '.join(found)}?" if found else "fio --cmdhelp lists all options"


def is_file(path: str) -> bool:
    """Return whether a text is the path of a file."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def whole_text(job: FioJob, name: str, default: int) -> int:
    """Return the first of a comma-separated list of numbers."""
    number = whole_of(job.text(name, str(default)).split(",")[0])
    if number is None:
        raise job.error(name, "this is not a whole number", "write digits only")
    return number
