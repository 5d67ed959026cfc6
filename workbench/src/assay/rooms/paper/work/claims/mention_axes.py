"""Values of axes in a sentence: `with 4 clients`, `records of 64 KiB`, `from 8 to 32 MiB`."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from assay.rooms.paper.work.claims.facts import COUNTED_KEYS, SIZE_KEYS, FactIndex, Pair
from assay.rooms.paper.work.claims.mentions import OPERATION, RUN, TARGET, WORKLOAD, Mention
from assay.rooms.paper.work.claims.quantities import Kind, Quantity

_NOUN_AFTER = r"[ -](?:(?:random|sequential|large|small|of|sized?)\s)?(?:{})\b"
_NOUN_BEFORE = (
    r"\b(?:{})(?: sizes?)?(?: (?:of|up to|from|with|above|below|at|is|are|smaller than|larger than|as large as|"
    r"as small as|at least|at most|over|under|between|and|to|or))*\s$"
)
_OF_THEM = re.compile(r" of (?:them|these|those)\b")
_NOUNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"clients?|hosts?|machines?|computers?", ("hosts", "streams", "lanes")),
    (r"nodes?", ("hosts", "servers")),
    (r"servers?", ("servers",)),
    (r"threads?|workers?|lanes?|jobs?", ("lanes", "streams")),
    (r"process(?:es)?|streams?|tasks?", ("streams", "lanes", "tasks_per_host")),
    (r"(?:[a-z-]+ )?(?:requests?|operations?|reads?|writes?|i/os?) (?:in flight|outstanding)", ("queue_depth",)),
    (r"in flight|outstanding", ("queue_depth",)),
)  # fmt: skip
_SIZE_NOUNS: tuple[tuple[str, str], ...] = (
    (r"records?|blocks?|transfers?|requests?|i/os?", "record_size"),
    (r"files?", "file_size"),
    (r"objects?|items?", "object_size"),
)
_LISTED = re.compile(r"\s?(?:,|,? ?(?:and|or|to|rather than|instead of|than|versus|vs\.?)|–|-|/)\s?(?:with |at )?")
_BARE_AFTER = re.compile(r"\s?(?:[,.;:)]|$|(?:and|or|than|but|to|the|is|are|was|were|it|rather|do|does|did)\b)")
_BARE_BEFORE = re.compile(r"\b(?:with|at|to|from|for|than|and|of|as)\s$")
_FACTOR = re.compile(r"\bfactor of (?:[a-z]+ ){0,3}$", re.IGNORECASE)


class AxisFinder:
    """Finds values of the axes that the runs have."""

    def __init__(self, facts: FactIndex) -> None:
        self._values = facts.values_of

    def axes(
        self, text: str, quantities: Iterable[Quantity], before: tuple[str, ...] = ()
    ) -> list[tuple[Mention, Quantity]]:
        """Return the mentions of values of axes, with their quantities.

        Args:
            text: The sentence.
            quantities: Its quantities.
            before: Axes of the last number of the sentence before, to which `24 of them` refers.
        """
        found = []
        items = list(quantities)
        for item, keys in zip(items, self._all_keys(text, items, before), strict=True):
            if not keys:
                continue
            pairs: frozenset[Pair] = frozenset()
            for each in (item, item.until) if item.until else (item,):
                pairs |= frozenset(self._values_near(keys, each))
            limit = "" if item.kind is Kind.COUNT and not _is_limit(item) else _limit(text, item)
            if item.until is not None or limit:
                pairs = frozenset(self._values_between(keys, item, limit))
            exact = [key for key in keys if any(pair[0] == key for pair in pairs)]
            named = tuple(exact or keys)
            end = (item.until or item).end
            mention = Mention(
                "|".join(named), pairs, item.start, end, len(pairs) > 1, item.until is not None or bool(limit)
            )
            found.append((mention, item))
        return _with_common_axes(found)

    def _all_keys(self, text: str, items: list[Quantity], before: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the axes of each quantity; a bare number shares the noun of another: `with 4 clients and with 16`."""
        found = [self._keys(text, item) for item in items]
        for at in range(len(items) - 2, -1, -1):
            item, following = items[at], items[at + 1]
            is_count = not found[at] and item.kind is following.kind is Kind.COUNT
            if is_count and found[at + 1] and _LISTED.fullmatch(text, (item.until or item).end, following.start):
                found[at] = self._shared(item, found[at + 1])
        last = before
        for at, item in enumerate(items):
            end = (item.until or item).end
            is_bare = (
                _BARE_AFTER.match(text, end)
                and not _FACTOR.search(text, 0, item.start)
                and _BARE_BEFORE.search(text, 0, item.start)
            )
            if item.kind is Kind.COUNT and not found[at] and (is_bare or _OF_THEM.match(text, end)):
                found[at] = self._shared(item, last)
            last = found[at] if item.kind is Kind.COUNT and found[at] else last
        return found

    def _shared(self, item: Quantity, keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(key for key in keys if any(True for _ in self._values_near((key,), item)))

    def _keys(self, text: str, item: Quantity) -> tuple[str, ...]:
        """Return the axes that a quantity may be a value of; none if it is no such value."""
        last = item.until or item
        after, before = text[last.end : last.end + 40], text[max(0, item.start - 40) : item.start]
        if item.kind is Kind.SIZE:
            known = tuple(key for key in SIZE_KEYS if key in self._values)
            named = [key for pattern, key in _SIZE_NOUNS if re.match(_NOUN_AFTER.format(pattern), after, re.I)]
            named += [key for pattern, key in _SIZE_NOUNS if re.search(_NOUN_BEFORE.format(pattern), before, re.I)]
            if named and named[0] in known:
                return (named[0],)
            if re.match(r"[ -](?:random |sequential )?(?:reads?|writes?|reading|writing|puts?|gets?)\b", after, re.I):
                return tuple(key for key in ("record_size", "object_size") if key in known)
            if any(True for _ in self._values_near(known, item)) or re.search(
                r"\b(?:at|with|for|of|in|to|and|from|than)\s$", before
            ):
                return known
            return ()
        if item.kind is not Kind.COUNT or _FACTOR.search(before):
            return ()
        if (
            re.search(r"\b(?:queue[ -])?depths?(?: of| is| from| at)?\s$", before, re.I)
            and "queue_depth" in self._values
        ):
            return ("queue_depth",)
        for pattern, keys in _NOUNS:
            if re.match(
                rf"[ -](?:NFS |BeeGFS |(?-i:(?!(?:per|of|on|in|and|or|to|times|more|fewer) )[a-z-]+ ))?(?:{pattern})\b",
                after,
                re.I,
            ):
                is_noun = True
            else:
                is_noun = (
                    re.search(rf"\b(?:{pattern}) (?:from|between|of|is|was)\s$", before, re.IGNORECASE) is not None
                )
            if is_noun:
                known = tuple(key for key in keys if key in self._values)
                return tuple(key for key in known if any(True for _ in self._values_near((key,), item))) or known
        return self._other_axes(after, before)

    def _other_axes(self, after: str, before: str) -> tuple[str, ...]:
        """Return axes whose own names stand beside a number."""
        for key in self._values:
            words = key.replace("_", " ")
            if key not in (TARGET, OPERATION, WORKLOAD, RUN, *SIZE_KEYS, *COUNTED_KEYS) and (
                re.match(rf"[ -]{words}\b", after, re.I) or re.search(rf"\b{words}(?: of| is)?\s$", before, re.I)
            ):
                return (key,)
        return ()

    def _values_near(self, keys: Iterable[str], item: Quantity) -> Iterator[Pair]:
        for key in keys:
            for value in self._values.get(key, []):
                if isinstance(value, int | float) and not isinstance(value, bool) and _is_same(item, float(value)):
                    yield key, value

    def _values_between(self, keys: Iterable[str], item: Quantity, limit: str) -> Iterator[Pair]:
        low, high = item.value * 0.999, (item.until.value if item.until else item.value) * 1.001
        for key in keys:
            for value in self._values.get(key, []):
                if not isinstance(value, int | float) or isinstance(value, bool):
                    continue
                if (
                    (item.until is not None and low <= value <= high)
                    or (limit == "most" and value <= high)
                    or (limit == "least" and value >= low)
                    or (limit == "more" and value > high)
                    or (limit == "less" and value < low)
                ):
                    yield key, value


def _with_common_axes(found: list[tuple[Mention, Quantity]]) -> list[tuple[Mention, Quantity]]:
    """Return mentions that may be of several axes as of those that another mention of the sentence is of."""
    kept = []
    for mention, item in found:
        keys = mention.dimension.split("|")
        if len(keys) > 1:
            others = [set(other.dimension.split("|")) for other, _ in found if other is not mention]
            common = next((keys_of for keys_of in others if keys_of < set(keys)), None)
            if common:
                pairs = frozenset(pair for pair in mention.pairs if pair[0] in common)
                dimension = "|".join(key for key in keys if key in common)
                mention = replace(mention, dimension=dimension, pairs=pairs)
        kept.append((mention, item))
    return kept


def _is_same(item: Quantity, value: float) -> bool:
    """Return whether a value of an axis is the written one; sizes have no rounding, as those of axes are exact."""
    if item.kind is Kind.SIZE:
        return abs(value - item.value) <= 1e-6 * item.value
    return value == item.value


def _is_limit(item: Quantity) -> bool:
    return item.bound.value in ("at least", "at most", "up to", "more than", "less than")


def _limit(text: str, item: Quantity) -> str:
    """Return how a value bounds a range of its axis: `most`, `least`, `more`, `less`; empty if it does not."""
    after = text[item.end : item.end + 24]
    if re.match(r"\s?(?:\w+ )?(?:and|or) (?:more|larger|above|up)\b|\s(?:\w+ )?(?:on|upwards?)\b", after):
        return "least"
    if re.match(r"\s?(?:\w+ )?(?:and|or) (?:less|smaller|below|fewer)\b", after):
        return "most"
    if re.search(r"\blarger than $", text[: item.start]):
        return "more"
    return {"at most": "most", "up to": "most", "at least": "least", "more than": "more", "less than": "less"}.get(
        item.bound.value, ""
    )
