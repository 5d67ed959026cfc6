"""Sets of host names as clusters write them: `client[1-8]`, `node[01-16,20]`, `nid[001033,001644]`.

Numbers have as many digits as they like; what is bounded is how many names there are, which is counted before any is
made. Sources: hostlist.c of Slurm (`scontrol show hostnames`), pdsh; steps and operations on sets as ClusterShell has
them.
"""

import itertools
import math
import re
from collections.abc import Iterable, Mapping

from assay.model.units import UnitError, shown

MOST_NODES = 1024
HINT = "write a name such as client1, or a set such as client[1-8] or node[01-16,20]"
OPERATIONS = "!&^"
"""On sets, from left to right: `!` without, `&` in both, `^` in one of the two."""
_WRITTEN = re.compile(r"(?!-)(?:[A-Za-z0-9._,!&^-]|\[[0-9A-Za-z,/ -]*\])+")
_WORD = re.compile(r"(?:[^\s,!&^\[\]]|\[[^\]\[]*\])+")
"""What stands between commas, spaces and operations."""
_TOKEN = re.compile(rf"\s+|[,!&^]|{_WORD.pattern}")
_PIECE = re.compile(r"\[([^\]]*)\]|([^\[]+)")
_RANGE = re.compile(r"(\d{1,64})(?:-(\d{1,64})(?:/(\d{1,18}))?)?", re.ASCII)


def expand_nodes(written: str, most: int = MOST_NODES) -> tuple[str, ...]:
    """The names in a node set, each once, in the order in which they are written.

    Args:
        written: The set.
        most: Names that it may have.

    Raises:
        UnitError: It cannot be read, is empty, or has more than `most` names.
    """
    if not isinstance(written, str) or not _WRITTEN.fullmatch(written):
        raise UnitError(f"{shown(written)} is not a set of hosts", HINT)
    try:
        nodes = list(dict.fromkeys(read_nodes(written, most)))
    except TooManyNodesError as error:
        raise UnitError(f"{shown(written)} has {error.count} hosts", f"name 1 to {most} hosts") from None
    except ValueError as error:
        raise UnitError(f"{shown(written)} is not a set of hosts: {error}", HINT) from None
    if not nodes:
        raise UnitError(f"{shown(written)} has 0 hosts", f"name 1 to {most} hosts")
    return tuple(nodes)


class TooManyNodesError(ValueError):
    """More names than are taken; none was made.

    Attributes:
        count: As many as there would be, before operations on sets.
    """

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} hosts")
        self.count = count


def read_nodes(text: str, most: int, groups: Mapping[str, Iterable[str]] | None = None) -> list[str]:
    """The names in a node set in the order in which they are written; a name that is written twice comes twice.

    Args:
        text: Names and sets, between them commas, spaces or operations.
        most: Names that may be written.
        groups: Names for which `@GROUP` stands; they do not count.

    Raises:
        TooManyNodesError: Its parts have more names than `most`.
        ValueError: It is none; the message says what of it cannot be read.
    """
    parts = _parts(text)
    count = sum(_count(word) for _, word in parts if word[:1] != "@")
    if count > most:
        raise TooManyNodesError(count)
    found: list[str] = []
    for operation, word in parts:
        names = (groups or {})[word[1:]] if word[:1] == "@" else _names(word)
        found = _joined(found, operation, list(names))
    return found


def _parts(text: str) -> list[tuple[str, str]]:
    """The operation before each word, `,` where there is none, and the word."""
    parts: list[tuple[str, str]] = []
    operation, place = ",", 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise ValueError(f"a bracket in `{text[place:]}` has no other one")
        place = token.end()
        if token[0] in OPERATIONS:
            if operation != "," or not parts:
                raise ValueError(f"nothing stands before `{token[0]}`")
            operation = token[0]
        elif token[0] == "," and operation != ",":
            raise ValueError(f"nothing follows `{operation}`")
        elif not token[0].isspace() and token[0] != ",":
            parts.append((operation, token[0]))
            operation = ","
    if operation != ",":
        raise ValueError(f"nothing follows `{operation}`")
    return parts


def _joined(found: list[str], operation: str, names: list[str]) -> list[str]:
    if operation == ",":
        return found + names
    before, after = dict.fromkeys(found), dict.fromkeys(names)
    if operation == "&":
        return [name for name in before if name in after]
    more = [name for name in after if name not in before] if operation == "^" else []
    return [name for name in before if name not in after] + more


def _count(word: str) -> int:
    """How many names a word has."""
    return math.prod(
        sum((numbers.stop - 1 - numbers.start) // numbers.step + 1 for numbers in map(_numbers, inside.split(",")))
        for inside in re.findall(r"\[(.*?)\]", word)
    )


def _names(word: str) -> Iterable[str]:
    pieces = [[plain] if plain else _written(inside) for inside, plain in _PIECE.findall(word)]
    return ("".join(one) for one in itertools.product(*pieces))


def _written(inside: str) -> list[str]:
    """What may stand for a bracket. As Slurm does, numbers have at least the digits of the first one of their range."""
    items = [item.strip() for item in inside.split(",")]
    return [f"{number:0{len(item.partition('-')[0])}d}" for item in items for number in _numbers(item)]


def _numbers(item: str) -> range:
    found = _RANGE.fullmatch(item.strip())
    if found is None:
        raise ValueError(f"`{item}` in brackets is no number and no range of numbers")
    first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
    if last < first or not step:
        raise ValueError(f"the range `{item.strip()}` has no numbers")
    return range(first, last + 1, step)
