"""Findings of an audit, and what rules look at."""

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple

from assay.model.frozen import Frozen
from assay.model.units import about_duration, about_latency, about_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.work.results import Figure, ImportedResult, Measurement, ToolOutput

MINUTE_NS = 60 * 10**9
Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Of findings, the worst first.

error: what is printed cannot be true as it stands; warning: it can hardly be, or is not what it seems; note: what a
reader should know before using the number.
"""


class AuditFinding(Frozen):
    """What a rule found.

    Attributes:
        rule: Id of the rule.
        severity: How bad it is.
        file: The file, as the user named it.
        line: Line of the result, from 1.
        result: Name of the result; empty for a whole output.
        text: One sentence with the numbers.
        numbers: The numbers of the sentence, by name.
        others: Other places that the finding is about, each `file:line`.
        plain: The same for readers who have the original and not its tables here; empty: `text` is plain enough.
        source: Where in the original the figures stand, and of what they are; empty if it is not stated.
    """

    rule: str
    severity: Severity
    file: str
    line: int
    result: str
    text: str
    numbers: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    others: tuple[str, ...] = ()
    plain: str = ""
    source: str = ""

    @property
    def place(self) -> str:
        """File and line: `disk.json:8`."""
        return f"{self.file}:{self.line}"


class Item:
    """One result with the output that it is of.

    Attributes:
        output: The output.
        result: The result.
    """

    def __init__(self, output: ToolOutput, result: ImportedResult) -> None:
        self.output, self.result = output, result

    @property
    def measured(self) -> Measurement | None:
        """What it contributes to a run."""
        return self.result.measured

    @property
    def line(self) -> int:
        """Line on which it begins."""
        return self.result.line or self.output.file.line

    @property
    def place(self) -> str:
        """File and line: `disk.json:8`."""
        return f"{self.output.file.file}:{self.line}"

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Figures as printed, by name."""
        return {figure.name: figure for figure in self.result.figures}

    def parameter(self, name: str) -> int:
        """Return a parameter that is a number; 0 if it is not known."""
        value = self.result.parameters.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    def is_throughput_test(self) -> bool:
        """Return whether it is a test of iozone's throughput mode, with its five figures."""
        return all(name in self.figures for name in THROUGHPUT_FIGURES)


THROUGHPUT_FIGURES = ("children", "min", "max", "avg", "min_xfer")
"""What iozone prints of each test in throughput mode."""


class RuleFinding(NamedTuple):
    """What a rule says of an item, or of a whole output.

    Attributes:
        item: The result, or the first of those that it is about.
        text: One sentence.
        numbers: Its numbers by name.
        others: Other results that it is about.
    """

    item: Item
    text: str
    numbers: dict[str, object] = {}  # noqa: RUF012 - never changed
    others: tuple[Item, ...] = ()


def by_output(items: Sequence[Item]) -> list[list[Item]]:
    """Return the results of each output, in order."""
    found: dict[int, list[Item]] = {}
    for item in items:
        found.setdefault(id(item.output), []).append(item)
    return list(found.values())


def first_of_outputs(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the first result of each output."""
    return (members[0] for members in by_output(items))


RuleFunction = Callable[[Sequence[Item], MachineFacts], Iterator[RuleFinding]]


class Rule(NamedTuple):
    """A rule of the audit.

    Attributes:
        id: Its name, in findings and in docs/reference/audit.md.
        severity: Of its findings.
        about: What it finds, in one sentence.
        basis: Why that speaks against a result: a law, or the source of how the tool works.
        find: Yields what it finds among all results that are audited together.
    """

    id: str
    severity: Severity
    about: str
    basis: str
    find: RuleFunction


def number(text: str) -> Decimal:
    """Return a printed number."""
    return Decimal(text)


def half_digit(text: str) -> Decimal:
    """Return half of the last printed digit's place: `12.50` -> 0.005."""
    exponent = Decimal(text).as_tuple().exponent
    return Decimal(5).scaleb((exponent if isinstance(exponent, int) else 0) - 1)


def tail(count: int, least: int, chance: float) -> float:
    """Return the chance of at least so many hits of a count, each of which has a chance (binomial distribution)."""
    return sum(
        math.comb(count, hits) * chance**hits * (1 - chance) ** (count - hits) for hits in range(least, count + 1)
    )


def time_words(nanoseconds: float) -> str:
    """Return a time for display: `1.2 ms`, `3 min 20 s`."""
    return about_latency(nanoseconds) if nanoseconds < MINUTE_NS else about_duration(nanoseconds / 1e9)


def rate_words(bytes_per_s: float) -> str:
    """Return a rate for display: `1.2 GB/s`."""
    return f"{about_size(bytes_per_s)}/s"
