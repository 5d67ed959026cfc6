"""The command line that people paste above fio's output: it says what the output itself does not."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model.escape import escape_line
from assay.model.secret import redact_line, redact_word
from assay.rooms.importers.work import fio_options

MAX_COMMAND = 4000
"""Longest command line in characters."""
_MAX_OPTION = 300
_TYPED = re.compile(
    r"(?:[^|]{0,80}[$#%>+]\s*)?(?:(?:sudo|time|nice|env|[A-Z_]{1,40}=\S{0,80})\s+){0,5}(\S{0,200}?\bfio\s+-.{1,4000})"
)
_ASIDE = frozenset(("output", "output-format", "eta", "eta-newline", "status-interval", "minimal", "append-terse"))
"""Options of fio itself that change no job."""
_ALIASES = {"readwrite": "rw", "blocksize": "bs"}
_ENDS = re.compile(r"[|;&]|[12]?>")
"""What ends the options of a command in a shell."""


@dataclass(frozen=True)
class TypedCommand:
    """A command line of fio.

    Attributes:
        text: As it was typed, without secrets; empty without one.
        shared: Options before the first job.
        jobs: Name -> options of each job.
        is_whole: No job file adds to it.
    """

    text: str = ""
    shared: Mapping[str, str] = field(default_factory=dict)
    jobs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    is_whole: bool = False

    def options_of(self, job: str) -> dict[str, str]:
        """Return the options of a job; empty if they are not known, or not all of them."""
        return fio_options.together(self.shared, self.jobs[job]) if self.is_whole and job in self.jobs else {}

    def target_of(self, job: str) -> str:
        """Return the file, device or folder of a job; empty if the command does not say it."""
        options = self.options_of(job)
        target = options.get(fio_options.FILES) or options.get("directory") or ""
        return "" if "$" in target or "`" in target else target


def begins_command(line: str) -> str:
    """Return what was typed if a line is, or begins, a command line of fio; else nothing."""
    match = _TYPED.fullmatch(line.strip()) if "fio" in line else None
    return match[1] if match else ""


def read_command(typed: str) -> TypedCommand:
    """Return what a command line says; what no shell could read says nothing."""
    try:
        words = shlex.split(typed.replace("\\\n", " "), comments=True)[1:]
    except ValueError:
        return TypedCommand()
    shared: dict[str, str] = {}
    jobs: dict[str, dict[str, str]] = {}
    current, is_whole, place = shared, True, 0
    while place < len(words) and not _ENDS.match(words[place]):
        word, following = words[place], words[place + 1 : place + 2]
        name, separator, value = word.lstrip("-").partition("=")
        place += 1
        if not word.startswith("-"):
            is_whole = False
            continue
        if not separator:
            # Without a value it is a flag, such as --time_based.
            has_value = bool(following) and not following[0].startswith("-") and not _ENDS.match(following[0])
            value, place = (following[0], place + 1) if has_value else ("1", place)
        name = _ALIASES.get(name, name)
        if name == "name":
            current = jobs.setdefault(value, {})
        elif name not in _ASIDE:
            current[name] = _shown(name, value)
    return TypedCommand(escape_line(redact_line(typed.replace("\\\n", " ")), MAX_COMMAND), shared, jobs, is_whole)


def _shown(name: str, value: str) -> str:
    return escape_line(redact_word(f"{name}={value}").removeprefix(f"{name}="), _MAX_OPTION)
