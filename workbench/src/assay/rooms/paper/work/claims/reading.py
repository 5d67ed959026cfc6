"""A sentence as the checks see it: its clauses, what it speaks of, and its quantities."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from assay.rooms.paper.work.claims.facts import Cell, FactIndex
from assay.rooms.paper.work.claims.mention_finder import MentionFinder
from assay.rooms.paper.work.claims.mentions import (
    OPERATION,
    RUN,
    TARGET,
    Mention,
    by_dimension,
    pairs_of,
)
from assay.rooms.paper.work.claims.quantities import Quantity, find_quantities
from assay.rooms.paper.work.claims.sentences import REFERENCE_CLOSE, REFERENCE_OPEN, Sentence


class RemarkKind(StrEnum):
    """What is wrong with a sentence."""

    REFERENCE = "doubtful reference"
    NUMBER = "wrong number"
    UNIT = "wrong unit"
    DIRECTION = "contradicted"
    UNDECIDED = "undecided"
    PRICE = "wrong price"
    UNSOUND = "unsound number"
    UNSUPPORTED = "not supported"

    @property
    def is_note(self) -> bool:
        """Whether the data say nothing against the sentence, but nothing for it either."""
        return self is RemarkKind.UNSUPPORTED


@dataclass(frozen=True, slots=True)
class SentenceFault:
    """What a check finds in a sentence.

    Attributes:
        words: The words of the sentence that it is about.
        text: What the data say, and how to mend the sentence.
    """

    kind: RemarkKind
    words: str
    text: str


_CLAUSE = re.compile(
    r"[;:]\s|\s[—–]\s|,?\s(?=(?:while|whereas|but|although|though|yet)\b)|,\s(?=(?:and|so|which|because|since)\b)", re.I
)
_PRONOUN = re.compile(r"\b(?:it|its|it's|they|their|both|this|that|these|there|the same)\b", re.IGNORECASE)
_OPEN_QUESTION = re.compile(
    r"\b(?:would|could(?! be (?:written|read|reread|rewritten|stored|fetched)\b)|might|"
    r"may|should|(?<!, )whether|hypothes\w+|assum\w+|suppos\w+|likely|perhaps|possibly|if|expect\w*|"
    r"plan(?:s|ned)?|intend\w*|hope\w*|predict\w*|unclear|unknown|must|needs? (?:about |some |at least |"
    r"up to )?[0-9]|requires?|required|wants?|"
    r"target of|goal)\b|\?",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"\b(?:except(?:ing|ion)?|apart from|excluding|other than|(?:all|every|each|any) (?:\w+ ){0,3}but)\b", re.IGNORECASE
)
_ELSEWHERE = re.compile(
    r"\b(?:vendors?|data ?sheets?|manufacturers?|advertis\w+|claim(?:s|ed)? by|according to|literature|prior work|"
    r"(?:previous(?:ly)?|earlier) (?:work|published|studies|stud(?:y|ies)|projects?|papers?|experiments?)|"
    r"not part of this|specifi(?:ed|cation|es)|rated|nominal(?:ly)?|theoretical\w*|line rate|"
    r"nic|sata|sas|pcie|nvme|infiniband|modern|"
    r"typical(?:ly)? (?:ssd|disk|drive|hard|server)|other studies|et al)\b|\[[0-9]+\]",
    re.IGNORECASE,
)
_PART_OF_MACHINE = re.compile(
    r"\b(?:link(?:s| speed| of)?|ethernet|interface|limit(?:s|ed)? (?:of|to|by)|quota|"
    r"networks? of|carr(?:y|ies)|capacity of)\b",
    re.IGNORECASE,
)
"""Words for what has a speed by its kind; they apply to numbers that no comma separates from them."""


@dataclass(frozen=True)
class Reading:
    """A sentence with what was found in it.

    Attributes:
        sentence: Its words, without marks.
        mentions: In their order, those of axes among them.
        quantities: Those that are no value of an axis.
        clauses: Where its clauses begin and end.
        carried: Targets of the sentence before, if this one has none but a pronoun.
        before: All mentions of the sentence before, if it is of the same paragraph.
        axis_values: Mentions of axes with their quantities.
    """

    sentence: str
    mentions: tuple[Mention, ...]
    quantities: tuple[Quantity, ...]
    clauses: tuple[tuple[int, int], ...]
    carried: tuple[Mention, ...]
    before: tuple[Mention, ...]
    axis_values: tuple[tuple[Mention, Quantity], ...]

    def clause_at(self, place: int) -> tuple[int, int]:
        """Return the clause of a place."""
        return next((clause for clause in self.clauses if clause[0] <= place < clause[1]), self.clauses[-1])

    def words_of(self, clause: tuple[int, int]) -> str:
        """Return the words of a clause."""
        return self.sentence[clause[0] : clause[1]]

    def within(self, start: int, end: int) -> list[Mention]:
        """Return the mentions between two places."""
        return [mention for mention in self.mentions if start <= mention.start < end]

    def context(self, clause: tuple[int, int]) -> list[Mention]:
        """Return the mentions that apply to a clause: its own, else those of the sentence, else carried ones."""
        own = by_dimension(self.within(*clause))
        whole = by_dimension(self.mentions)
        found = [mention for group in own.values() for mention in group]
        for dimension, group in whole.items():
            if dimension not in own and not any(shares_axis(dimension, other) for other in own):
                before = [mention for mention in group if mention.end <= clause[0]]
                found += before if before and dimension == TARGET and len(before) == 1 else group
        if not any(mention.dimension == TARGET for mention in found):
            found += self.carried
        return found

    def is_open(self, clause: tuple[int, int]) -> bool:
        """Return whether a clause states no fact of all that it names: a question, a condition, an exception."""
        return _EXCEPTION.search(self.sentence) is not None or _OPEN_QUESTION.search(self.words_of(clause)) is not None

    def is_elsewhere(self, item: Quantity) -> bool:
        """Return whether a number is of others, such as of a data sheet or a link."""
        start = self.sentence.rfind(", ", 0, item.start) + 1
        end = self.sentence.find(", ", item.end)
        piece = self.sentence[start : end if end >= 0 else len(self.sentence)]
        return _ELSEWHERE.search(self.sentence) is not None or _PART_OF_MACHINE.search(piece) is not None


def shares_axis(first: str, second: str) -> bool:
    """Return whether two dimensions have an axis in common."""
    return bool(set(first.split("|")) & set(second.split("|")))


def read_sentence(sentence: Sentence, finder: MentionFinder, before: Reading | None) -> Reading:
    """Return what stands in a sentence.

    Args:
        sentence: The sentence.
        finder: Finds mentions in it.
        before: The sentence before it in its paragraph; None if it is the first one.
    """
    text, spans = _without_marks(sentence.text)
    names = _with_common_targets(finder.names(text))
    operations = finder.operations(text, names)
    blocked = [(mention.start, mention.end) for mention in names]
    found = [replace(item, is_reference=_is_within(item, spans)) for item in find_quantities(text, blocked)]
    keys = tuple(before.axis_values[-1][0].dimension.split("|")) if before is not None and before.axis_values else ()
    axes = finder.axes(text, found, keys)
    used = {(item.start, item.end) for _, item in axes}
    others = tuple(item for item in found if (item.start, item.end) not in used)
    mentions = sorted([*names, *operations, *(mention for mention, _ in axes)], key=lambda item: item.start)
    carried: tuple[Mention, ...] = ()
    if before is not None and _PRONOUN.search(text) and not any(item.dimension == TARGET for item in mentions):
        carried = tuple(item for item in (*before.mentions, *before.carried) if item.dimension == TARGET)
    earlier = before.mentions if before is not None else ()
    return Reading(text, tuple(mentions), others, _clauses(text), carried, earlier, tuple(axes))


def _with_common_targets(names: list[Mention]) -> list[Mention]:
    """Return names in which `the d2 server ... 2xlarge` is d2.2xlarge: two groups of targets that share one."""
    groups = [item for item in names if item.dimension == TARGET and len(item.pairs) > 1]
    kept, used = [], set()
    for item in names:
        shared = [(other, item.pairs & other.pairs) for other in groups if other is not item and item in groups]
        single = [(other, pairs) for other, pairs in shared if len(pairs) == 1]
        # The first group of a clause is the family; those behind it choose from it.
        if single and single[0][0].start < item.start:
            used.add(single[0][0].start)
            kept.append(replace(item, pairs=single[0][1], is_group=False))
        else:
            kept.append(item)
    return [item for item in kept if item.start not in used or item.dimension != TARGET]


def _without_marks(text: str) -> tuple[str, list[tuple[int, int]]]:
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for part in re.split(f"([{REFERENCE_OPEN}{REFERENCE_CLOSE}])", text):
        if part == REFERENCE_OPEN:
            spans.append((at, at))
        elif part == REFERENCE_CLOSE and spans:
            spans[-1] = (spans[-1][0], at)
        elif part not in (REFERENCE_OPEN, REFERENCE_CLOSE):
            parts.append(part)
            at += len(part)
    return "".join(parts), spans


def _is_within(item: Quantity, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= item.start and item.end <= end for start, end in spans)


def _clauses(text: str) -> tuple[tuple[int, int], ...]:
    ends = [match.end() for match in _CLAUSE.finditer(text)] + [len(text)]
    starts = [0, *ends[:-1]]
    return tuple((start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip())


def cells_of(facts: FactIndex, mentions: Sequence[Mention]) -> list[Cell]:
    """Return the results that fit all mentions, in order."""
    return [facts.cells[number] for number in sorted(facts.select(pairs_of(mentions)))]


def is_about_results(mentions: Sequence[Mention]) -> bool:
    """Return whether mentions bind a number to results: two properties, a target or an operation among them."""
    dimensions = {mention.dimension for mention in mentions if mention.dimension != RUN}
    return len(dimensions) > 1 and bool(dimensions & {TARGET, OPERATION})
