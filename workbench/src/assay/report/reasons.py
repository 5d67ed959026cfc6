"""Rules that were not evaluated, by the reason: many results lack the same evidence."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from assay.model.result.result import Row
from assay.model.result.verdict import NOT_APPLICABLE

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
    rules: dict[str, dict[str, None]] = {}
    wordings: dict[str, dict[str, None]] = {}
    results: dict[str, int] = {}
    for row in rows:
        seen = set()
        for line in row.not_evaluated:
            rule, _, reason = line.partition(": ")
            plain = without_figures(reason)
            rules.setdefault(plain, {})[rule] = None
            wordings.setdefault(plain, {})[reason] = None
            seen.add(plain)
        for plain in seen:
            results[plain] = results.get(plain, 0) + 1
    found = []
    for plain, names in rules.items():
        reason = next(iter(wordings[plain]))
        applies = not reason.startswith(NOT_APPLICABLE)
        words = reason.removeprefix(NOT_APPLICABLE)
        found.append(Lack(tuple(names), words, results[plain], len(wordings[plain]) - 1, applies))
    return sorted(found, key=lambda lack: (not lack.applies, -lack.results))
