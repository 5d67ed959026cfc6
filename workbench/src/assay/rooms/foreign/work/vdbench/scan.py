"""Reads a parameter file of vdbench into definitions, as vdbench reads it (Vdb_scan.java of 5.04.06).

Each line counts up to its first blank; what a line that ends in a comma begins, the next goes on. Parameters of one
definition may stand on lines of their own.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from assay.model.base import AssayError, LineError
from assay.model.escape import escape_line
from assay.rooms.foreign.work.vdbench.options import GENERAL, KINDS, option_of

_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_HOST = re.compile(r"\$\{host\}|\$host|#host")
_TOKEN = re.compile(r"[^,()=]*=?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[^,()])*")
_MAX_DEPTH = 8
"""Files that include each other at most."""
_MAX_LINES = 20_000


class VdbenchParameter(NamedTuple):
    """One parameter.

    Attributes:
        name: Its whole name, however much of it was written.
        values: What stands behind the equals sign, without parentheses.
        text: As written.
    """

    name: str
    values: tuple[str, ...]
    text: str


@dataclass
class Definition:
    """One definition.

    Attributes:
        kind: `sd`, `wd`, `rd`, `fsd`, `fwd`, `hd`, `rg`, or `general` for parameters of the whole file.
        name: Its name.
        line: Line of the file on which it begins, from 1.
        parameters: Its parameters, with those of the last `default` definition of its kind before it.
    """

    kind: str
    name: str
    line: int
    parameters: dict[str, VdbenchParameter] = field(default_factory=dict)

    def values(self, name: str) -> tuple[str, ...]:
        """Return what a parameter was set to; empty if it was not."""
        found = self.parameters.get(name)
        return found.values if found else ()


@dataclass
class ParameterFile:
    """All definitions of a file, and what was left out of them.

    Attributes:
        definitions: In order, without defaults.
        general: Parameters of the whole file.
        has_host_variable: `$host` stands in it, which vdbench puts each host for.
    """

    definitions: list[Definition]
    general: Definition
    has_host_variable: bool = False

    def of(self, kind: str) -> list[Definition]:
        """Return all definitions of a kind."""
        return [one for one in self.definitions if one.kind == kind]


def scan_file(text: str, path: str, read: Callable[[str], str], variables: dict[str, str]) -> ParameterFile:
    """Return the definitions of a parameter file.

    Args:
        text: Its text.
        path: Its path, for messages.
        read: Returns the text of a file that it includes.
        variables: Values of its variables (`./vdbench -f file size=10g`).

    Raises:
        AssayError: vdbench would not read it.
    """
    found = ParameterFile([], Definition(GENERAL, GENERAL, 1))
    defaults = {kind: Definition(kind, "default", 1) for kind in KINDS}
    current = found.general
    for number, token in _tokens(text, path, read, variables, found):
        parameter = _parameter(token, path, number)
        if parameter.name in KINDS and not (parameter.name != current.kind and _is_reference(current, parameter.name)):
            kind = KINDS[parameter.name]
            name = parameter.values[0] if parameter.values else ""
            if name == "default":
                current = defaults[kind]
            else:
                current = Definition(kind, escape_line(name, 80), number, dict(defaults[kind].parameters))
                found.definitions.append(current)
            continue
        option = option_of(current.kind, parameter.name)
        if option is None:
            place = "" if current.kind == GENERAL else f"{current.kind}={current.name}: "
            raise LineError(path, number, f"{place}no parameter of vdbench: {parameter.text}", _hint(current.kind))
        current.parameters[option] = parameter._replace(name=option)
    return found


def _is_reference(current: Definition, word: str) -> bool:
    """Whether a word such as `sd` names what a definition works on, instead of beginning another one."""
    return word in {"wd": ("sd", "hd", "host"), "rd": ("wd", "sd", "fwd", "fsd"), "fwd": ("fsd", "hd", "host"),
                    "sd": ("hd", "host"), "rg": ()}.get(current.kind, ())  # fmt: skip


def _hint(kind: str) -> str:
    return (
        f"look up the parameters of {kind} definitions in the user guide"
        if kind != GENERAL
        else "begin with sd= or fsd="
    )


def _parameter(token: str, path: str, number: int) -> VdbenchParameter:
    name, equals, rest = token.partition("=")
    text = escape_line(token, 100)
    if not equals:
        raise LineError(path, number, f"no parameter: {text}", "write NAME=VALUE, with a comma before the next")
    rest = rest.strip()
    if rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1]
    values = tuple(word.strip() for word in re.split(r",(?![^(]*\))", rest)) if rest else ()
    return VdbenchParameter(name.strip().lower(), values, text)


def _tokens(
    text: str, path: str, read: Callable[[str], str], variables: dict[str, str], found: ParameterFile
) -> Iterator[tuple[int, str]]:
    """Yield each parameter with the number of its line."""
    for number, line in _joined(_lines(text, path, read, 0)):
        line = _VARIABLE.sub(partial(_known_value, variables=variables), line)
        if _HOST.search(line):
            found.has_host_variable = True
            line = _HOST.sub("", line)
        if match := _VARIABLE.search(line):
            message = f"${match[1]} is a variable, whose value is given to vdbench on its command line"
            raise LineError(path, number, message, f"add {match[1]}=VALUE behind the file")
        if line.count("(") != line.count(")"):
            raise LineError(path, number, "parentheses that do not match", "close each that is opened")
        for match in _TOKEN.finditer(line):
            if match[0].strip():
                yield number, match[0].strip()


def _known_value(match: re.Match[str], variables: dict[str, str]) -> str:
    return variables.get(match[1], match[0])


def _lines(text: str, path: str, read: Callable[[str], str], depth: int) -> Iterator[tuple[int, str]]:
    """Yield the lines that count, with those of included files in their place."""
    if depth > _MAX_DEPTH:
        raise AssayError(f"{path}: files include each other more than {_MAX_DEPTH} deep", "write them as one file")
    for number, raw in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        line = raw.strip()
        if number > _MAX_LINES:
            raise AssayError(f"{path}: more than {_MAX_LINES:,} lines", "give less")
        if line.startswith("eof"):
            return
        if not line or line.startswith(("/", "#", "*", "<")):  # `<`: parmfile.html, a copy among vdbench's results
            continue
        if line.startswith("include="):
            name = line.removeprefix("include=").split()[0] if line.removeprefix("include=").strip() else ""
            for _, inner in _lines(read(name), name, read, depth + 1):
                yield number, inner
        else:
            yield number, line


def _joined(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield lines up to their first blank, joined where one ends in a comma."""
    start, held = 0, ""
    for number, line in lines:
        word = _word(line)
        start = start if held else number
        held += word
        if not held.endswith(","):
            yield start, held
            held = ""
    if held:
        yield start, held.rstrip(",")


def _word(line: str) -> str:
    """Return a line up to its first blank, in which quoted blanks do not count; quotes go."""
    found, is_quoted = [], False
    for letter in line:
        if letter == '"':
            is_quoted = not is_quoted
        elif letter in " \t" and not is_quoted:
            break
        else:
            found.append(letter)
    return "".join(found)
