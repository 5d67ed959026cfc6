"""Splits the words behind another program into its options, and reads their values."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.units import choices_hint

_SIZE = re.compile(r"\s*([+-]?[0-9]{1,19})(?![0-9])\s*(\S)?.*")
"""A size; one that fits into the 64 bits of these programs has 19 digits at most."""
_MAX_DIGITS = 19
"""Digits of a whole number of 64 bits."""
_SHIFTS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
INTERFACE_PREFIX = "--"
"""Prefix of the names of options for one interface (-a) other than POSIX and MPI-IO."""
_MODULES = (
    *("dfs", "daos", "aio", "s3", "s3-libs3", "s3-plus", "s3-emc", "hdfs", "hdf5", "ncmpi", "rados", "cephfs", "chfs"),
    *("finchfs", "libnfs", "nfs", "ime", "gfarm", "pmdk", "beegfs", "unifyfs", "mmap", "dummy", "plfs", "blackhole"),
)
"""Interfaces of IOR whose options begin with their name: --dfs.pool."""


class Option(NamedTuple):
    """An option of the other program.

    Attributes:
        name: Internal name.
        takes_value: It takes a value.
        long: Its long name, without dashes; empty if it has none.
    """

    name: str
    takes_value: bool
    long: str = ""


class ParsedOption(NamedTuple):
    """An option on a command line.

    Attributes:
        name: Internal name, as in `Option`.
        value: Its value; empty if it takes none.
        text: The option as written.
    """

    name: str
    value: str
    text: str


def binary_size(text: str, option: str, program: str) -> int:
    """Return a size in bytes as IOR and mdtest read it: k, m, g, t and p are powers of 1024, and the rest is ignored.

    Raises:
        AssayError: The text does not begin with a number, is below 0, or has decimals or other units, which these
            programs would misread.
    """
    found = _SIZE.fullmatch(text)
    letter = (found[2] or "").lower() if found else ""
    if letter in (".", ","):
        message = f"{program} {option}: {text!r} has decimals, which {program} does not read"
        raise AssayError(message, "write a whole number with a smaller unit, such as 1536m for 1.5g")
    if letter and letter != "b" and letter not in _SHIFTS:
        message = f"{program} {option}: {text!r} has a unit that {program} does not know"
        raise AssayError(message, "write a number, or one with k, m, g, t or p: 16m")
    if found is None or int(found[1]) < 0:
        raise AssayError(f"{program} {option}: {text!r} is not a size", "write a number, or one with k, m, g or t: 16m")
    return int(found[1]) << _SHIFTS.get(letter, 0)


def whole_number(text: str, option: str, program: str, least: int = 0) -> int:
    """Parse a whole number.

    Raises:
        AssayError: The text is not a whole number, or the number is below `least`.
    """
    try:
        number = int(text[: _MAX_DIGITS + 2])
    except ValueError:
        raise AssayError(f"{program} {option}: {text!r} is not a whole number", "write digits only") from None
    if len(text) > _MAX_DIGITS + 1:
        raise AssayError(f"{program} {option}: a number of {len(text):,} characters", "write fewer digits")
    if number < least:
        raise AssayError(f"{program} {option}: {number} is below {least}", f"write {least} or more")
    return number


def options_of(words: Sequence[str], letters: Mapping[str, Option], program: str) -> list[ParsedOption]:
    """Return the options of a command line, in order.

    Args:
        words: The words after the program.
        letters: The options that the program has, by their letters or long names.
        program: Its name, for messages.

    Raises:
        AssayError: An option is unknown, or lacks its value.
    """
    longs = {option.long: option for option in letters.values() if option.long}
    found: list[ParsedOption] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            continue
        if word.startswith("--"):
            found.append(_long(word, rest, longs, program))
        elif word.startswith("-") and len(word) > 1:
            found.extend(_short(word, rest, letters, program))
        else:
            message = f"{program}: {word!r} is not an option and not the value of one"
            raise AssayError(message, f"{program} takes options only, such as -{next(iter(letters))}")
    return found


def _long(word: str, rest: list[str], longs: Mapping[str, Option], program: str) -> ParsedOption:
    name, equals, value = word[2:].partition("=")
    option = longs.get(name)
    if option is None and name.partition(".")[0].lower() in _MODULES and "." in name:
        if not equals and rest and not rest[0].startswith("-"):
            value = rest.pop(0)
        return ParsedOption(f"{INTERFACE_PREFIX}{name}", value, f"--{name}" + (f"={value}" if value else ""))
    if option is None:
        raise AssayError(f"{program} has no option --{name}", choices_hint(name, sorted(longs)))
    if option.takes_value and not equals:
        if not rest:
            raise AssayError(f"{program} --{name} lacks its value", f"write --{name}=VALUE")
        value = rest.pop(0)
    return ParsedOption(option.name, value, f"--{name}" + (f"={value}" if option.takes_value else ""))


def _short(word: str, rest: list[str], letters: Mapping[str, Option], program: str) -> list[ParsedOption]:
    found: list[ParsedOption] = []
    at = 1
    while at < len(word):
        letter = word[at]
        option = letters.get(letter)
        if option is None:
            known = " ".join(f"-{name}" for name in letters if len(name) == 1)
            raise AssayError(f"{program} has no option -{letter} (in {word!r})", f"known: {known}")
        at += 1
        if not option.takes_value:
            found.append(ParsedOption(option.name, "", f"-{letter}"))
            continue
        value = word[at:].removeprefix("=") or (rest.pop(0) if rest else "")
        if not value:
            raise AssayError(f"{program} -{letter} lacks its value", f"write -{letter} VALUE")
        found.append(ParsedOption(option.name, value, f"-{letter} {value}"))
        break
    return found
