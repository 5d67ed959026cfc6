"""Sets of host names in cluster notation: `client[1-8]`, `node[01-16,20]`, `nid[001033,001644]`.

Numbers may have any number of digits; the number of names is limited, and counted before any name is made. Sources:
hostlist.c of Slurm (`scontrol show hostnames`), pdsh; steps and set operations as in ClusterShell.
"""

import itertools
import math
import re
from collections.abc import Iterable, Mapping

from assay.model.units import UnitError, display_value

MAX_NODES = 1024
NODES_HINT = "write a name such as client1, or a set such as client[1-8] or node[01-16,20]"
SET_OPERATORS = "!&^"
"""Set operations, evaluated from left to right: `!` difference, `&` intersection, `^` symmetric difference."""
_WRITTEN = re.compile(r"(?!-)(?:[A-Za-z0-9._,!&^-]|\[[0-9A-Za-z,/ -]*\])+")
_WORD = re.compile(r"(?:[^\s,!&^\[\]]|\[[^\]\[]*\])+")
"""A name or pattern between commas, spaces and operations."""
_TOKEN = re.compile(rf"\s+|[,!&^]|{_WORD.pattern}")
_PIECE = re.compile(r"\[([^\]]*)\]|([^\[]+)")
_RANGE = re.compile(r"(\d{1,64})(?:-(\d{1,64})(?:/(\d{1,18}))?)?", re.ASCII)


def expand_nodes(written: str, max_nodes: int = MAX_NODES) -> tuple[str, ...]:
    """Return the names in a node set, each once, in the order in which they are written.

    Args:
        written: The node set.
        max_nodes: Largest number of names.

    Raises:
        UnitError: It cannot be read, is empty, or has more than `max_nodes` names.
    """
    if not isinstance(written, str) or not _WRITTEN.fullmatch(written):
        raise UnitError(f"{display_value(written)} is not a set of hosts", NODES_HINT)
    try:
        nodes = list(dict.fromkeys(read_nodes(written, max_nodes)))
    except TooManyNodesError as error:
        raise UnitError(f"{display_value(written)} has {error.count} hosts", f"name 1 to {max_nodes} hosts") from None
    except ValueError as error:
        raise UnitError(f"{display_value(written)} is not a set of hosts: {error}", NODES_HINT) from None
    if not nodes:
        raise UnitError(f"{display_value(written)} has 0 hosts", f"name 1 to {max_nodes} hosts")
    return tuple(nodes)


class TooManyNodesError(ValueError):
    """A node set has too many names; none was made.

    Attributes:
        count: Number of names before set operations.
    """

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} hosts")
        self.count = count


def read_nodes(text: str, max_nodes: int, groups: Mapping[str, Iterable[str]] | None = None) -> list[str]:
    """Return the names in a node set in the order in which they are written, with duplicates.

    Args:
        text: Names and patterns, separated by commas, spaces or operations.
        max_nodes: Largest number of names written out.
        groups: Group -> the names that `@GROUP` stands for, which do not count for `max_nodes`.

    Raises:
        TooManyNodesError: Its parts have more names than `max_nodes`.
        ValueError: It cannot be read; the message names the part.
    """
    parts = _parts(text)
    count = sum(_count(word) for _, word in parts if word[:1] != "@")
    if count > max_nodes:
        raise TooManyNodesError(count)
    nodes: list[str] = []
    for operation, word in parts:
        names = (groups or {})[word[1:]] if word[:1] == "@" else _names(word)
        nodes = _combine(nodes, operation, list(names))
    return nodes


def _parts(text: str) -> list[tuple[str, str]]:
    """Return pairs of the operation before each word (`,` without one) and the word."""
    parts: list[tuple[str, str]] = []
    operation, place = ",", 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise ValueError(f"unbalanced bracket in `{text[place:]}`")
        place = token.end()
        if token[0] in SET_OPERATORS:
            if operation != "," or not parts:
                raise ValueError(f"a host set is missing before `{token[0]}`")
            operation = token[0]
        elif token[0] == "," and operation != ",":
            raise ValueError(f"a host set is missing after `{operation}`")
        elif not token[0].isspace() and token[0] != ",":
            parts.append((operation, token[0]))
            operation = ","
    if operation != ",":
        raise ValueError(f"a host set is missing after `{operation}`")
    return parts


def _combine(left: list[str], operation: str, names: list[str]) -> list[str]:
    if operation == ",":
        return left + names
    before, after = dict.fromkeys(left), dict.fromkeys(names)
    if operation == "&":
        return [name for name in before if name in after]
    more = [name for name in after if name not in before] if operation == "^" else []
    return [name for name in before if name not in after] + more


def _count(word: str) -> int:
    """Return the number of names of a word."""
    return math.prod(
        sum((numbers.stop - 1 - numbers.start) // numbers.step + 1 for numbers in map(_numbers, inside.split(",")))
        for inside in re.findall(r"\[(.*?)\]", word)
    )


def _names(word: str) -> Iterable[str]:
    pieces = [[plain] if plain else _bracket_texts(inside) for inside, plain in _PIECE.findall(word)]
    return ("".join(parts) for parts in itertools.product(*pieces))


def _bracket_texts(inside: str) -> list[str]:
    """Return the texts that a bracket stands for. As in Slurm, the first number of a range sets the fewest digits."""
    items = [item.strip() for item in inside.split(",")]
    return [f"{number:0{len(item.partition('-')[0])}d}" for item in items for number in _numbers(item)]


def _numbers(item: str) -> range:
    found = _RANGE.fullmatch(item.strip())
    if found is None:
        raise ValueError(f"`{item}` in brackets is neither a number nor a range of numbers")
    first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
    if last < first or not step:
        raise ValueError(f"the range `{item.strip()}` has no numbers")
    return range(first, last + 1, step)
