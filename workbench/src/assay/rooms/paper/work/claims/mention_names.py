"""Names of targets, workloads and runs in a sentence, and words that stand for them."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from assay.rooms.paper.work.claims.facts import FactIndex, Pair
from assay.rooms.paper.work.claims.mention_operations import READ_WORD, WRITE_WORD
from assay.rooms.paper.work.claims.mentions import RUN, TARGET, WORKLOAD, Mention, overlaps

_LOCAL = re.compile(rf"(?<![\w-])local(?:ly)?(?= (?:{READ_WORD}|{WRITE_WORD})\b)", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
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
    ("memory", "ram", "tmpfs", "main memory", "memory-backed", "ram-backed"),
    ("disk", "drive", "local disk", "local storage"),
    ("bucket", "object store", "object storage", "s3"),
    ("table", "dynamodb"),
)
"""Words that stand for a target whose name is one of them, if no other target has a name among them."""
_COMMON_FIRST = frozenset(
    {"local", "instance", "remote", "shared", "small", "large", "random", "sequential", "file", "object"}
)
_STORES = ("storage", "disk", "drive", "flash", "ssd", "volume")


class NameFinder:
    """Finds names; what it looks for is built once from the facts."""

    def __init__(self, facts: FactIndex) -> None:
        self._values = facts.values_of

    def names(self, text: str) -> list[Mention]:
        """Return the mentions of targets, workloads and runs."""
        found = list(self._numbered(text))
        for pattern, dimension, pairs, is_group in self._names:
            for match in pattern.finditer(text):
                is_other = _is_other_use(text, match) or (dimension == WORKLOAD and not _is_workload(text, match))
                if not is_other and not overlaps(match.start(), match.end(), found):
                    found.append(Mention(dimension, pairs, match.start(), match.end(), is_group))
        found += self._ordinals(text, found)
        return sorted(found, key=lambda item: item.start)

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

    @cached_property
    def _target_names(self) -> frozenset[str]:
        return frozenset(str(value).casefold() for value in self._values.get(TARGET, []))

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

    def _ordinals(self, text: str, found: list[Mention]) -> Iterator[Mention]:
        """Yield targets that only an ordinal names, after another one of them: `the third option ... the first`."""
        if not any(mention.dimension == TARGET for mention in found):
            return
        for match in re.finditer(
            rf"\bthe ({'|'.join(_ORDINALS)})(?=[,.;)]|$| (?:and|or|one|is|was|has|with|to)\b)", text
        ):
            digit = str(_ORDINALS.index(match[1]) + 1)
            pairs = frozenset((TARGET, name) for name in self._target_texts if re.search(rf"[ _-]{digit}$", name))
            if len(pairs) == 1 and not overlaps(match.start(), match.end(), found):
                yield Mention(TARGET, pairs, match.start(), match.end())


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


def _is_workload(text: str, match: re.Match[str]) -> bool:
    """Return whether a common word is the name of a workload here."""
    word = match[0].lower().removeprefix("the ")
    near = text[max(0, match.start() - 12) : match.end() + 12].lower()
    return word not in _PLAIN_WORDS or "workload" in near
