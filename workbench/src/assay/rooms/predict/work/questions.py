"""Reads what a user wants to know: host counts, a rate, a limit."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from assay.analyse.growth.known_limits import KnownLimit
from assay.model.base import AssayError
from assay.model.units import UnitError, choices_hint, display_value, parse_rate, parse_size, parse_throughput

MAX_HOSTS = 1_000_000
MAX_COUNTS = 50
MAX_SIZE = 1 << 63
_COUNT = re.compile(r"[0-9]{1,7}")


class LimitOption(NamedTuple):
    """A limit that the user states.

    Attributes:
        target: None: of every target.
        is_counted: It is of operations per second, not of bytes per second.
    """

    target: str | None
    is_counted: bool
    limit: KnownLimit


def parse_hosts(text: str) -> list[int]:
    """Read host counts, `16,24`; each is returned once, in the order of the text.

    Raises:
        AssayError: It is not a list of numbers from 1 to a million.
    """
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not _COUNT.fullmatch(word) or not 1 <= int(word) <= MAX_HOSTS:
            raise AssayError(f"--hosts: {display_value(word)} is not a number of hosts", "write --hosts 16,24")
    counts = list(dict.fromkeys(map(int, words)))
    if len(counts) > MAX_COUNTS:
        raise AssayError(f"--hosts: {len(counts)} numbers are more than {MAX_COUNTS}", "predict fewer at a time")
    return counts


def parse_total(option: str, text: str) -> tuple[float, bool]:
    """Read a rate: `2GB/s` or `20Gb/s` as bytes per second, `5000/s` as operations per second.

    Args:
        option: Name of the option, for messages.
        text: What the user wrote.

    Returns:
        The rate, and whether it is of operations.

    Raises:
        AssayError: It is neither, or 0.
    """
    hint = "write 2GB/s, 20Gb/s (bits), or 5000/s (operations)"
    for parse, counted in ((parse_rate, True), (parse_throughput, False)):
        try:
            rate = parse(text)
        except UnitError:
            continue
        if not 0 < rate < float("inf"):
            raise AssayError(f"{option}: {display_value(text)} is not above 0", hint)
        return rate, counted
    raise AssayError(f"{option}: {display_value(text)} is not a rate", hint)


def parse_capacity(text: str) -> tuple[int, bool]:
    """Read a size of data: `10TB` as bytes, a plain number as that of files or objects.

    Returns:
        The size, and whether it is a number of files or objects.

    Raises:
        AssayError: It is neither, or 0.
    """
    hint = "write 10TB, or a number of files or objects: 1000000"
    counted = re.fullmatch(r"[0-9]{1,18}", text.strip()) is not None
    try:
        size = int(text) if counted else parse_size(text)
    except UnitError as error:
        raise AssayError(f"--capacity: {error.message}", hint) from None
    if not 0 < size < MAX_SIZE:
        raise AssayError(f"--capacity: {display_value(text)} is not a size that data can have", hint)
    return size, counted


def parse_limits(texts: Sequence[str], targets: Collection[str]) -> list[LimitOption]:
    """Read limits of all hosts together, `20Gb/s` of each target or `store=20Gb/s` of one.

    Args:
        texts: What the user wrote.
        targets: The targets of the run.

    Raises:
        AssayError: One is not a rate, or names no target of the run.
    """
    found = []
    for text in texts:
        target, equals, amount = text.rpartition("=")
        if equals and target not in targets:
            hint = choices_hint(target, sorted(targets))
            raise AssayError(f"--limit: the run has no target {display_value(target)}", hint)
        rate, counted = parse_total("--limit", amount)
        found.append(LimitOption(target if equals else None, counted, KnownLimit("--limit", rate, False, "")))
    return found
