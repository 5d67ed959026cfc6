"""Rules that were not evaluated, grouped by reason, since many results lack the same evidence."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from assay.model.result.result import ResultRow

_FIGURES = re.compile(r"[0-9][0-9.,]*(?: ?[kMGTP]?i?B\b)?")


class UnevaluatedGroup(NamedTuple):
    """A reason for which rules were not evaluated.

    Attributes:
        rules: Names of the rules that were not evaluated for this reason, in the order of their first result.
        reason: The reason in words, with the figures of the first result.
        result_count: The number of results that it concerns.
        other_wordings_count: The number of further wordings that differ only in their figures.
        applies: False if the rules do not apply to these results, so that no evidence is missing.
    """

    rules: tuple[str, ...]
    reason: str
    result_count: int
    other_wordings_count: int
    applies: bool


def without_numbers(text: str) -> str:
    """Return the text without its numbers and sizes, so that sentences that differ only in those become equal."""
    return _FIGURES.sub("", text)


def group_by_reason(rows: Iterable[ResultRow]) -> list[UnevaluatedGroup]:
    """Return each reason once; reasons with missing evidence come first, then the most frequent ones."""
    rules: dict[tuple[bool, str], dict[str, None]] = {}
    wordings: dict[tuple[bool, str], dict[str, None]] = {}
    results: Counter[tuple[bool, str]] = Counter()
    for row in rows:
        keys = set()
        for each in row.not_evaluated:
            key = each.applies, without_numbers(each.reason)
            rules.setdefault(key, {})[each.rule] = None
            wordings.setdefault(key, {})[each.reason] = None
            keys.add(key)
        results.update(keys)
    reasons = [
        UnevaluatedGroup(tuple(names), next(iter(wordings[key])), results[key], len(wordings[key]) - 1, key[0])
        for key, names in rules.items()
    ]
    return sorted(reasons, key=lambda lack: (not lack.applies, -lack.result_count))
