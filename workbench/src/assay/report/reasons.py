"""Rules that were not evaluated, by the reason: many results lack the same evidence."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from assay.model.result.result import Row

_FIGURES = re.compile(r"[0-9][0-9.,]*(?: ?[kMGTP]?i?B\b)?")


class Lack(NamedTuple):
    """One reason.

    Attributes:
        rules: Names of the rules that were not evaluated for it, in the order of their first result.
        reason: Why, with the figures of the first result.
        results: How many results it holds for.
        more: Further wordings that differ in figures only.
        applies: False if the rules have nothing to say there, so that nothing is missing.
    """

    rules: tuple[str, ...]
    reason: str
    results: int
    more: int
    applies: bool


def without_figures(text: str) -> str:
    """A text by which sentences that differ in their figures only are the same."""
    return _FIGURES.sub("", text)


def grouped(rows: Iterable[Row]) -> list[Lack]:
    """Each reason once, with the rules and the number of results: missing evidence first, the most frequent first."""
    rules: dict[tuple[bool, str], dict[str, None]] = {}
    wordings: dict[tuple[bool, str], dict[str, None]] = {}
    results: Counter[tuple[bool, str]] = Counter()
    for row in rows:
        seen = set()
        for each in row.not_evaluated:
            key = each.applies, without_figures(each.reason)
            rules.setdefault(key, {})[each.rule] = None
            wordings.setdefault(key, {})[each.reason] = None
            seen.add(key)
        results.update(seen)
    found = [
        Lack(tuple(names), next(iter(wordings[key])), results[key], len(wordings[key]) - 1, key[0])
        for key, names in rules.items()
    ]
    return sorted(found, key=lambda lack: (not lack.applies, -lack.results))
