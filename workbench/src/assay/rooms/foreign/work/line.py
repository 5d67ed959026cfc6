"""Splits another program's command line into launcher, program and the words behind it."""

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assay.model.base import AssayError
from assay.rooms.foreign.work.launcher import Launch, launch_of

_SHELL = re.compile(r"(\d*|&)(>>?|<<?)[&|]?.*|\|\|?&?|&&?|;|.*;")
"""Shell syntax: redirections, pipes, further commands."""
_OUTPUT = re.compile(r"(?:[12]?|&)>[>|]?(?P<file>[^<>|;]*)")
"""A redirection of what a program prints; its file may be the next word."""
_BRACES = re.compile(r"(?<!\$)\{(?:(\d{1,6})\.\.(\d{1,6})|([^{}]*,[^{}]*))\}")
"""A sequence or list in braces that a shell writes out. `{1...4}` is none: warp reads that itself."""
_MAX_BRACED = 4096
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
"""A line continuation. Blanks behind the backslash are accepted, since they are a common copying error."""

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
    try:
        words = shlex.split(join_lines(text), comments=False)
    except ValueError as error:
        message = f"the command line cannot be read: {str(error).lower()}"
        raise AssayError(message, "quote it as for a shell") from None
    words = _without_output(words)
    shell = next((word for word in words if _SHELL.fullmatch(word)), None)
    if shell is not None:
        message = f"{shell!r} is shell syntax, not an argument of {names[0]}"
        raise AssayError(
            message, f"write the command of {names[0]} alone, without redirections, pipes and further ones"
        )
    plain = set(join_lines(text).split())
    words = [one for word in words for one in (_written_out(word) if word in plain else [word])]
    place = next((at for at, word in enumerate(words) if _is_program(word, names)), None)
    if place is None:
        if not words or not words[0].startswith("-"):
            message = f"no {names[0]} in the command line {text!r}"
            raise AssayError(message, f"write it as it is run, such as: mpirun -np 4 {names[0]} ...")
        return Parts((), names[0], tuple(words))
    return Parts(tuple(words[:place]), words[place], tuple(words[place + 1 :]))


def _without_output(words: list[str]) -> list[str]:
    """Leave out where a program's output goes, which is no part of its work: redirections, and what is behind a pipe.

    Input, and commands that run before, behind or beside the program, stay.
    """
    pipe = words.index("|") if "|" in words else len(words)
    if any(_SHELL.fullmatch(word) and word != "|" and not _OUTPUT.fullmatch(word) for word in words[pipe:]):
        return words
    kept, rest = [], words[:pipe]
    while rest:
        word = rest.pop(0)
        redirection = _OUTPUT.fullmatch(word)
        if redirection is None:
            kept.append(word)
        elif not redirection["file"] and rest:
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


def _is_program(word: str, names: Sequence[str]) -> bool:
    base = Path(word).name.lower()
    return base in names or base.split("-")[0].split(".")[0] in names


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
