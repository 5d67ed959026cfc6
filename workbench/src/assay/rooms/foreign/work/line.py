"""Splits another program's command line into launcher, program and the words behind it."""

import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assay.model.base import AssayError
from assay.rooms.foreign.work.launcher import Launch, launch_of
from assay.rooms.foreign.work.shell_words import ShellWord, shell_line

_OUTPUT = re.compile(r"[12]?>[>|&]?|&>>?")
"""A redirection of what a program prints; its file is the next word."""
_BRACES = re.compile(r"(?<!\$)\{(?:(\d{1,6})\.\.(\d{1,6})|([^{}]*,[^{}]*))\}")
"""A sequence or list in braces that a shell writes out. `{1...4}` is none: warp reads that itself."""
_MAX_BRACED = 4096
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
"""A line continuation. Blanks behind the backslash are accepted, since they are a common copying error."""
_DASHES = ("\N{EN DASH}", "\N{EM DASH}", "\N{MINUS SIGN}", "\N{HYPHEN}", "\N{NON-BREAKING HYPHEN}")
"""What texts are printed with in place of hyphens, so that options copied from them are none to any program."""
_WITH_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")


@dataclass
class Line:
    """A command line.

    Attributes:
        program: The word that names the program.
        launch: The part before it.
        words: The words after it.
    """

    program: str
    launch: Launch
    words: tuple[str, ...]


class Parts(NamedTuple):
    """A command line in its parts.

    Attributes:
        before: The words before the program.
        program: The word that names the program.
        words: The words after it.
    """

    before: tuple[str, ...]
    program: str
    words: tuple[str, ...]


def join_lines(text: str) -> str:
    """Join a command line that continues over several lines, and strip what ends it in a script."""
    return _CONTINUED.sub(" ", text).rstrip("; \t\r\n")


def read_line(text: str, names: Sequence[str]) -> Line:
    """Find the program in a command line, and read the launcher before it.

    Args:
        text: The command line, as it was typed in a shell.
        names: Possible names of the program.

    Raises:
        AssayError: The text cannot be split into words, has shell syntax, or does not name the program.
    """
    parts = split_line(text, names)
    return Line(parts.program, launch_of(parts.before) if parts.before else Launch(), parts.words)


def split_line(text: str, names: Sequence[str]) -> Parts:
    """Split a command line at the program in it.

    Args:
        text: The command line, as it was typed in a shell.
        names: Possible names of the program.

    Raises:
        AssayError: The text cannot be split into words, has shell syntax, or does not name the program.
    """
    found = _without_output(shell_line(join_lines(text), os.environ).words)
    shell = next((word.value for word in found if word.is_operator), None)
    if shell is not None:
        message = f"{shell!r} is shell syntax, not an argument of {names[0]}"
        raise AssayError(message, f"write the command of {names[0]} alone, without other commands and input")
    dashed = next((word.value for word in found if word.is_plain and word.value.startswith(_DASHES)), None)
    if dashed is not None:
        raise AssayError(
            f"{dashed!r} begins with a printed dash, which is no hyphen", "write - or --, as the tool has it"
        )
    words = [one for word in found for one in (_written_out(word.value) if word.is_plain else [word.value])]
    place = _program_at(words, names)
    if place is None:
        if not words or not words[0].startswith("-"):
            message = f"no {names[0]} in the command line {text!r}"
            raise AssayError(message, f"write it as it is run, such as: mpirun -np 4 {names[0]} ...")
        return Parts((), names[0], tuple(words))
    return Parts(tuple(words[:place]), words[place], tuple(words[place + 1 :]))


def plain_words(text: str) -> list[str]:
    """Return the words of a command line with its variables as they were written, for the head of a study."""
    return [word.value for word in shell_line(join_lines(text), {}).words]


def unset_variables(text: str) -> list[str]:
    """Return the names of the variables in a command line that are not set here."""
    return shell_line(join_lines(text), os.environ).unset


def _without_output(words: list[ShellWord]) -> list[ShellWord]:
    """Leave out what is no part of a program's work: where its output goes, what is behind a pipe, and `&` at the end.

    Input, and commands that run before, behind or beside the program, stay.
    """
    if words and words[-1] == ShellWord("&", is_operator=True):
        words = words[:-1]
    pipe = next((at for at, word in enumerate(words) if word.is_operator and word.value in ("|", "|&")), len(words))
    if any(word.is_operator and word.value[0] != "|" and not _OUTPUT.fullmatch(word.value) for word in words[pipe:]):
        return words
    if any(word.is_operator and word.value == "||" for word in words[pipe:]):
        return words
    kept: list[ShellWord] = []
    rest = words[:pipe]
    while rest:
        word = rest.pop(0)
        if not (word.is_operator and _OUTPUT.fullmatch(word.value)):
            kept.append(word)
        elif rest:
            rest.pop(0)
    return kept


def _written_out(word: str) -> list[str]:
    """Return the words that a shell makes of a word with braces.

    Raises:
        AssayError: They are too many.
    """
    match = _BRACES.search(word)
    if match is None:
        return [word]
    first, last, several = match.groups()
    inner = _sequence(first, last) if several is None else several.split(",")
    ends = _written_out(word[match.end() :])
    if len(inner) * len(ends) > _MAX_BRACED:
        raise AssayError(f"{word!r} stands for more than {_MAX_BRACED} words", "write a shorter range")
    return [f"{word[: match.start()]}{one}{end}" for one in inner for end in ends]


def _sequence(first: str, last: str) -> list[str]:
    """Return the numbers from one to another, of one width if either begins with a 0, as in bash."""
    step = 1 if int(first) <= int(last) else -1
    numbers = range(int(first), int(last) + step, step)
    is_padded = any(len(text) > 1 and text.startswith("0") for text in (first, last))
    width = max(len(first), len(last)) if is_padded else 0
    return [str(number).zfill(width) for number in numbers[: _MAX_BRACED + 1]]


def _program_at(words: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the place of the program: the first word of its name, or else one such as `ior-4.0` or `mdtest.exe`."""
    bases = [Path(word).name.lower() for word in words]
    exact = (at for at, base in enumerate(bases) if base in names)
    close = (at for at, base in enumerate(bases) if base.split("-")[0].split(".")[0] in names)
    return next(exact, next(close, None))


def directory_path(folder: str, name: str, option: str) -> str:
    """Return the path of directory `name` in a folder from the command line; an empty folder is the current one.

    Raises:
        AssayError: The folder is relative and leads above the current directory.
    """
    path = posixpath.normpath(posixpath.join(folder, name))
    if ".." in path.split("/"):
        raise AssayError(f"{option}: {folder!r} is above this directory", "write an absolute path")
    return path


def refuse_password(names: str, option: str) -> None:
    """Refuse an address with a password where IOR and mdtest expect paths.

    Both begin another path at each @, so that the password would be part of the one before.

    Raises:
        AssayError: There is one.
    """
    if _WITH_PASSWORD.search(names):
        raise AssayError(f"{option}: an address with a password is no path", "write the path alone")
