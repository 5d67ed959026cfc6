"""What a sentence speaks of: targets, operations, workloads, runs, and values of axes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from assay.model.study.names import OBJECT_READS, OBJECT_WRITES, READS, WRITES
from assay.rooms.paper.work.claims.facts import COUNTED_KEYS, SIZE_KEYS, FactIndex, Pair
from assay.rooms.paper.work.claims.quantities import Kind, Quantity

TARGET, OPERATION, WORKLOAD, RUN = "target", "operation", "workload", "run"


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that select results.

    Attributes:
        dimension: `target`, `operation`, `workload`, `run`, or the axis; several axes are joined by `|`.
        pairs: The properties of which a result must have one; empty if nothing in the runs is like that.
        start, end: Place in the sentence.
        is_group: The words stand for several targets or operations.
        is_limit: The value bounds a range of the axis: `up to 64 KiB`.
    """

    dimension: str
    pairs: frozenset[Pair]
    start: int
    end: int
    is_group: bool = False
    is_limit: bool = False


_SEQUENTIAL_READS = frozenset({"read", "reread", "fread", "re_fread"})
_SEQUENTIAL_WRITES = frozenset({"write", "rewrite", "fwrite", "re_fwrite"})
_AS_NOUN = r"(?= (?:rates?|throughput|operations?|requests?|latenc\w+|performance|of|speed|from|to)\b)"
_OPERATIONS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"re-?reads?(?:ing)?|re-?readers?|second reads?", frozenset({"reread"})),
    (r"record[ -]rewrit(?:es?|ing)", frozenset({"record_rewrite"})),
    (r"re-?writ(?:es?|ing|ers?|ten)|overwrit(?:es?|ing)", frozenset({"rewrite"})),
    (r"backwards? read(?:s|ing)?|reads? backwards?", frozenset({"backward_read"})),
    (r"stride[ -]?d? read(?:s|ing)?", frozenset({"stride_read"})),
    (r"re-?fwrites?", frozenset({"re_fwrite"})),
    (r"re-?freads?", frozenset({"re_fread"})),
    (r"fwrites?", frozenset({"fwrite", "re_fwrite"})),
    (r"freads?", frozenset({"fread", "re_fread"})),
    (r"(?:initial|first) writ(?:es?|ers?|ing)", frozenset({"write"})),
    (r"(?:initial|first) read(?:s|ers?|ing)?", frozenset({"read"})),
    (
        (
            rf"puts|(?-i:PUTs?)|put{_AS_NOUN}|(?<=are )put|(?<=is )put|(?<=were )put|put(?= into)|putting|uploads?|"
            rf"uploaded|"
            rf"stor(?:es|ed) objects|storing objects"
        ),
        frozenset({"put"}),
    ),
    (
        rf"gets|(?-i:GETs?)|get{_AS_NOUN}|downloads?|downloaded|getting(?= (?:an?|the|objects?|items?)\b)|"
        rf"fetch(?:es|ed|ing)?",
        frozenset({"get"}),
    ),
    (r"stats?|lookups?", frozenset({"stat"})),
    (r"creat(?:es?|ed|ions?|ing)", frozenset({"create"})),
    (r"unlinks?|remov(?:es?|als?|ing)|delet(?:es?|ions?|ing)", frozenset({"unlink", "delete", "multi_delete"})),
    (r"renam(?:es?|ing)", frozenset({"rename"})),
    (r"mkdirs?", frozenset({"mkdir"})),
    (r"rmdirs?", frozenset({"rmdir"})),
    (r"heads|HEADs?", frozenset({"head"})),
    (r"listings?|lists", frozenset({"list"})),
    (r"quer(?:y|ies)", frozenset({"query"})),
    (r"scans?", frozenset({"scan"})),
    (r"transfers?|iperf", frozenset({"transfer"})),
    (r"round[ -]trips?|pings?", frozenset({"round_trip"})),
    (r"transactions?", frozenset({"transaction"})),
)
_READ_WORD = r"reads?|reading|readers?"
_WRITE_WORD = r"writ(?:es?|ing|ten|ers?)|wrote"
_GENERIC = re.compile(
    rf"(?<![\w-])(?P<order>(?:random|sequential)(?:ly)?[ -](?:[0-9]+ ?[kKMG]i?B? )?)?"
    rf"(?:(?P<read>{_READ_WORD})|(?P<write>{_WRITE_WORD}))(?!\w)(?P<after> (?:\w+ ){{0,4}}?(?:at random|"
    rf"randomly|sequentially|in order))?",
    re.IGNORECASE,
)
_BOTH = re.compile(
    (
        rf"(?:random|sequential)(?:ly)?[ -](?:{_READ_WORD}|{_WRITE_WORD}) (?:and|or|"
        rf"as well as) (?P<second>{_READ_WORD}|{_WRITE_WORD})"
    ),
    re.IGNORECASE,
)
_LOCAL = re.compile(rf"(?<![\w-])local(?:ly)?(?= (?:{_READ_WORD}|{_WRITE_WORD})\b)", re.IGNORECASE)
_NOUN_AFTER = r"[ -](?:(?:random|sequential|large|small|of|sized?)\s)?(?:{})\b"
_NOUN_BEFORE = (
    r"\b(?:{})(?: sizes?)?(?: (?:of|up to|from|with|above|below|at|is|are|smaller than|larger than|as large as|"
    r"as small as|at least|at most|over|under|between|and|to|or))*\s$"
)
_ONES = re.compile(r"\b(random|sequential) (?:ones?|access(?:es)?|order)\b", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
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
_BARE_AFTER = re.compile(r"\s?(?:[,.;:)]|$|(?:and|or|than|but|to|the|is|are|was|were|it|rather)\b)")
_BARE_BEFORE = re.compile(r"\b(?:with|at|to|from|for|than|and|of|as)\s$")
_FACTOR = re.compile(r"\bfactor of (?:[a-z]+ ){0,3}$", re.IGNORECASE)
_PLAIN_WORDS = frozenset(
    {
        "objects",
        "items",
        "files",
        "data",
        "small",
        "large",
        "grid",
        "depth",
        "main",
        "test",
        "read",
        "write",
        "random",
        "sequential",
    }
)
"""Names of workloads that are taken for such only beside the word `workload`."""
_COMMON = frozenset(
    {
        "option",
        "the",
        "test",
        "file",
        "a",
        "with",
        "and",
        "of",
        "on",
        "in",
        "for",
        "vm",
        "linux",
        "data",
        "all",
        "run",
        "pair",
        "parallel",
    }
)
_SYNONYMS = (
    ("memory", "ram", "tmpfs", "main memory", "memory-backed"),
    ("disk", "drive", "local disk", "local storage"),
    ("bucket", "object store", "object storage", "s3"),
    ("table", "dynamodb"),
)
"""Words that stand for a target whose name is one of them, if no other target has a name among them."""


class MentionFinder:
    """Finds mentions; what it looks for is built once from the facts."""

    def __init__(self, facts: FactIndex) -> None:
        self._facts = facts
        self._values = facts.values_of
        self._operations = {str(value) for value in self._values.get(OPERATION, [])}

    @cached_property
    def _names(self) -> list[tuple[re.Pattern[str], str, frozenset[Pair], bool]]:
        """Patterns of the names of targets, workloads and runs, the longest names first."""
        found: dict[str, tuple[str, frozenset[Pair], bool]] = {}
        for dimension in (RUN, WORKLOAD, TARGET):
            values = [str(value) for value in self._values.get(dimension, []) if str(value)]
            if dimension != TARGET and len(values) < 2 and dimension == RUN:
                continue
            for name in values:
                if not (dimension == WORKLOAD and name.casefold() in self._target_names):
                    found[name.casefold()] = (dimension, frozenset({(dimension, name)}), False)
        for word, names in _workload_words([str(value) for value in self._values.get(WORKLOAD, [])]).items():
            found.setdefault(word, (WORKLOAD, frozenset((WORKLOAD, name) for name in names), len(names) > 1))
        for name in [str(value) for value in self._values.get(WORKLOAD, []) if " / " in str(value)]:
            for part in name.casefold().split(" / "):
                old = found.get(part, (WORKLOAD, frozenset(), False))
                if old[0] == WORKLOAD:
                    found[part] = (WORKLOAD, old[1] | {(WORKLOAD, name)}, bool(old[1]))
                for word in [*re.split(r"[\s._/()-]+", part)][: 1 + part.count("-")]:
                    if len(word) > 3 and word not in _COMMON and word not in self._target_names:
                        old = found.get(word, (WORKLOAD, frozenset(), True))
                        if old[0] == WORKLOAD:
                            found[word] = (WORKLOAD, old[1] | {(WORKLOAD, name)}, True)
        for name in self._target_texts:
            if (match := re.fullmatch(r"(.+?)[ _-]?([1-9])", name)) is not None:
                for word in (
                    f"{_ORDINALS[int(match[2]) - 1]} {match[1]}",
                    f"{match[1]} {_NUMBER_WORDS[int(match[2]) - 1]}",
                ):
                    found.setdefault(word.casefold(), (TARGET, frozenset({(TARGET, name)}), False))
        for word, names in self._groups().items():
            found.setdefault(word, (TARGET, frozenset((TARGET, name) for name in names), len(names) > 1))
        ordered = sorted(found.items(), key=lambda item: -len(item[0]))
        local = [str(value) for value in self._values.get(WORKLOAD, []) if str(value).casefold().startswith("local_")]
        pairs = frozenset((WORKLOAD, name) for name in local)
        patterns = [(_name_pattern(name), *item) for name, item in ordered]
        return [*patterns, (_LOCAL, WORKLOAD, pairs, len(local) > 1)] if local else patterns

    @cached_property
    def _target_texts(self) -> list[str]:
        return [str(value) for value in self._values.get(TARGET, [])]

    def _numbered(self, text: str) -> Iterator[Mention]:
        """Yield the targets in lists such as `options 1 and 2`."""
        for noun in {name[:-1].rstrip(" _-") for name in self._target_texts if name[-1:].isdigit()} - {""}:
            for match in re.finditer(
                rf"(?<!\w){re.escape(noun)}s ((?:[0-9](?:, | and | or |, and |/)?)+)", text, re.IGNORECASE
            ):
                for digit in re.finditer(r"[0-9]", match[1]):
                    names = [name for name in self._target_texts if name.casefold().startswith(noun.casefold())]
                    pairs = frozenset((TARGET, name) for name in names if name[-1] == digit[0])
                    start = match.start(1) + digit.start()
                    if pairs:
                        yield Mention(TARGET, pairs, start, start + 1)

    @cached_property
    def _target_names(self) -> frozenset[str]:
        return frozenset(str(value).casefold() for value in self._values.get(TARGET, []))

    def _groups(self) -> dict[str, list[str]]:
        """Return other words for targets -> the targets: synonyms, and parts of their names."""
        names = [str(value) for value in self._values.get(TARGET, [])]
        found: dict[str, list[str]] = {}
        for words in _SYNONYMS:
            mine = [name for name in names if name.casefold() in words]
            if len(mine) == 1:
                found |= {word: mine for word in words if word not in self._target_names}
        for name in names:
            parts = [part for part in re.split(r"[\s._/-]+", name.casefold()) if part not in _COMMON]
            for part in parts if len(parts) > 1 else ():
                if len(part) > 1 and not part.isdigit():
                    found.setdefault(part, [])
                    found[part] += [name] if name not in found[part] else []
        return {word: mine for word, mine in found.items() if len(mine) < len(names) or len(names) == 1}

    def names(self, text: str) -> list[Mention]:
        """Return the mentions of targets, workloads and runs."""
        found = list(self._numbered(text))
        for pattern, dimension, pairs, is_group in self._names:
            for match in pattern.finditer(text):
                is_other = _is_other_use(text, match) or (dimension == WORKLOAD and not _is_workload(text, match))
                if not is_other and not _overlaps(match.start(), match.end(), found):
                    found.append(Mention(dimension, pairs, match.start(), match.end(), is_group))
        found += self._ordinals(text, found)
        return sorted(found, key=lambda item: item.start)

    def _ordinals(self, text: str, found: list[Mention]) -> Iterator[Mention]:
        """Yield targets that only an ordinal names, after another one of them: `the third option ... the first`."""
        if not any(mention.dimension == TARGET for mention in found):
            return
        for match in re.finditer(
            rf"\bthe ({'|'.join(_ORDINALS)})(?=[,.;)]|$| (?:and|or|one|is|was|has|with|to)\b)", text
        ):
            digit = str(_ORDINALS.index(match[1]) + 1)
            pairs = frozenset((TARGET, name) for name in self._target_texts if re.search(rf"[ _-]{digit}$", name))
            if len(pairs) == 1 and not _overlaps(match.start(), match.end(), found):
                yield Mention(TARGET, pairs, match.start(), match.end())

    def operations(self, text: str, names: Iterable[Mention]) -> list[Mention]:
        """Return the mentions of operations, outside of names."""
        found: list[Mention] = []
        taken = list(names)
        for pattern, operations in _OPERATIONS:
            if known := operations & self._operations:
                for match in re.finditer(rf"(?<![\w.-])(?:{pattern})(?![\w-])", text, re.IGNORECASE):
                    if not _overlaps(match.start(), match.end(), [*taken, *found]):
                        pairs = frozenset((OPERATION, operation) for operation in known)
                        found.append(Mention(OPERATION, pairs, match.start(), match.end()))
        seconds = [match.start("second") for match in _BOTH.finditer(text)]
        for match in _GENERIC.finditer(text):
            if not _overlaps(match.start(), match.end(), [*taken, *found]):
                known = self._generic(text, match, match.start() in seconds) & self._operations
                if known:
                    pairs = frozenset((OPERATION, operation) for operation in known)
                    found.append(Mention(OPERATION, pairs, match.start(), match.end(), True))
        found += self._ones(text, found)
        return sorted(found, key=lambda item: item.start)

    def _ones(self, text: str, found: list[Mention]) -> Iterator[Mention]:
        """Yield operations that a pronoun stands for: `random reads are slower than sequential ones`."""
        known = {str(value) for mention in found for _, value in mention.pairs}
        for match in _ONES.finditer(text):
            is_random = match[1].lower() == "random"
            reads = {"random_read"} if is_random else _SEQUENTIAL_READS
            writes = {"random_write"} if is_random else _SEQUENTIAL_WRITES
            wanted = (reads if known & READS else frozenset()) | (writes if known & WRITES else frozenset())
            if wanted & self._operations:
                pairs = frozenset((OPERATION, operation) for operation in wanted & self._operations)
                yield Mention(OPERATION, pairs, match.start(), match.end(), True)

    def _generic(self, text: str, match: re.Match[str], follows_order: bool) -> frozenset[str]:
        """Return what `read`, `random writes` or `reads 4 KiB records at random` may mean."""
        words = f"{match['order'] or ''}{match['after'] or ''}".lower()
        if not words:
            before = text[: match.start()].lower()
            nearest = max((before.rfind("random"), "random"), (before.rfind("sequential"), "sequential"))
            if nearest[0] >= 0 and (follows_order or not re.search(r"[,;]", before[nearest[0] :])):
                words = nearest[1]
            elif re.search(r"\b(?:at random|randomly)\b", text) and "sequential" not in text.lower():
                words = "random"
            elif re.search(r"\bsequentially\b", text) and "random" not in text.lower():
                words = "sequential"
        is_read = bool(match["read"])
        if "random" in words:
            return frozenset({"random_read"} if is_read else {"random_write"})
        if "sequential" in words or "in order" in words:
            return _SEQUENTIAL_READS if is_read else _SEQUENTIAL_WRITES
        return frozenset((READS | OBJECT_READS) if is_read else (WRITES | OBJECT_WRITES)) - {"random_mix", "file_mix"}

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
                rf"[ -](?:parallel |concurrent |simultaneous |NFS |BeeGFS |iozone )?(?:{pattern})\b", after, re.I
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


def _name_pattern(name: str) -> re.Pattern[str]:
    words = r"[\s_-]".join(re.escape(word) for word in re.split(r"[\s_-]+", name))
    return re.compile(rf"(?<![\w./-])(?:the )?{words}(?:s|'s|’s)?(?![\w/]|\.\w|-\w)", re.IGNORECASE)


def _is_other_use(text: str, match: re.Match[str]) -> bool:
    """Return whether a word is no name here: `Table 3`, `memory limit`, `disk cache`."""
    after = text[match.end() : match.end() + 20]
    word = match[0].lower().removeprefix("the ")
    if word in ("table", "tables", "option", "options", "figure") and re.match(r" [0-9IVX]+\b", after):
        return True
    return (
        word in ("memory", "disk")
        and re.match(r" (?:cgroup|limit|cache|copy|bandwidth|space|size)\b", after) is not None
    )


def _workload_words(names: Iterable[str]) -> dict[str, list[str]]:
    """Return other words for workloads: `local disk` and `local reads` for `local_store`, `ebs` for `ebs_st1`."""
    found: dict[str, list[str]] = {}
    for name in names:
        first, _, last = name.casefold().partition("_")
        if not last or " " in name:
            continue
        words = [first] if first not in _COMMON_FIRST else [f"{first} {noun}" for noun in _STORES]
        for word in words:
            found.setdefault(word, []).append(name)
    return found


_COMMON_FIRST = frozenset(
    {"local", "instance", "remote", "shared", "small", "large", "random", "sequential", "file", "object"}
)
_STORES = ("storage", "disk", "drive", "flash", "ssd", "volume")


def _is_workload(text: str, match: re.Match[str]) -> bool:
    """Return whether a common word is the name of a workload here."""
    word = match[0].lower().removeprefix("the ")
    near = text[max(0, match.start() - 12) : match.end() + 12].lower()
    return word not in _PLAIN_WORDS or "workload" in near


def _overlaps(start: int, end: int, others: Iterable[Mention]) -> bool:
    return any(start < other.end and other.start < end for other in others)


def by_dimension(mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    """Return mentions by what they are of."""
    found: dict[str, list[Mention]] = {}
    for mention in mentions:
        found.setdefault(mention.dimension, []).append(mention)
    return found


def narrowed(mentions: Iterable[Mention]) -> list[Mention]:
    """Return mentions in which `reads` and `writes` stand for the plain operations of these names alone."""
    found = []
    for mention in mentions:
        plain = frozenset(pair for pair in mention.pairs if pair[1] in ("read", "write"))
        found.append(replace(mention, pairs=plain) if mention.dimension == OPERATION and plain else mention)
    return found


def pairs_of(mentions: Iterable[Mention]) -> list[frozenset[Pair]]:
    """Return what results must have to fit all dimensions of mentions."""
    groups = by_dimension(mentions)
    return [frozenset().union(*(mention.pairs for mention in group)) for group in groups.values()]
