"""Words of a sentence that select results: of targets, operations, workloads, runs, and values of axes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from assay.rooms.paper.work.claims.facts import Pair

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


def overlaps(start: int, end: int, others: Iterable[Mention]) -> bool:
    """Return whether a place is within other mentions."""
    return any(start < other.end and other.start < end for other in others)
