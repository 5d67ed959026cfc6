"""Which common mistake explains a printed figure that the correct computation does not give.

A figure is recomputed with each mistake, and with each pair of mistakes. Those that give the printed digits are
reported, simplest first. That a mistake gives them does not prove that it was made.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from assay.model.money.amount import EXACT, round_half_up

MISTAKES: dict[str, str] = {
    "cut": "cut off instead of rounded",
    "read": "read instead of write",
    "binary": "1024 for 1000",
    "decimal": "1000 for 1024",
    "last": "last instead of best",
    "burst": "burst instead of baseline",
    "tb": "TB for TiB",
    "month-720": "a month of 720 hours",
    "month-730": "a month of 730 hours",
    "month-744": "a month of 744 hours",
}
"""Mistake -> in words. `cut` concerns printing, all others the computation."""
MAX_MISTAKES = 2
"""Most mistakes that are combined."""
MONTHS: dict[str, Decimal] = {f"month-{hours}": Decimal(hours) for hours in (720, 730, 744)}

Mistakes = frozenset[str]
NONE: Mistakes = frozenset()
Compute = Callable[[Mistakes], Decimal]


@dataclass(frozen=True)
class PrintedFigure:
    """A printed figure, and how it is computed.

    Attributes:
        printed: The printed text without thousands separators; the computed value is compared with as many digits.
        compute: Returns the value that a set of mistakes gives.
        possible_mistakes: The mistakes that `compute` can make.
    """

    printed: str
    compute: Compute
    possible_mistakes: Mistakes

    def is_given_by(self, mistakes: Mistakes) -> bool:
        """Return whether these mistakes give the printed digits."""
        return (
            format_digits(self.compute(mistakes - {"cut"}), digits_of(self.printed), "cut" in mistakes) == self.printed
        )

    @property
    def is_right(self) -> bool:
        """Whether the computation without a mistake gives the printed digits."""
        return self.is_given_by(NONE)


def digits_of(printed: str) -> int:
    """Return the number of digits after the decimal point."""
    return len(printed.partition(".")[2])


def format_digits(value: Decimal, digits: int, cut: bool = False) -> str:
    """Return a value as text with so many decimal digits, rounded half up or cut off."""
    if not cut:
        return f"{round_half_up(value, digits):f}"
    return f"{value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_DOWN, context=EXACT):f}"


def explaining_mistakes(figures: Sequence[PrintedFigure]) -> list[Mistakes]:
    """Return the mistakes that give the printed digits of all figures; empty if none do, or if all figures are right.

    A combination is left out if one of its mistakes explains the figures alone.
    """
    if not figures or all(figure.is_right for figure in figures):
        return []
    known = {"cut"}.union(*(figure.possible_mistakes for figure in figures))
    explanations: list[Mistakes] = []
    for size in range(1, MAX_MISTAKES + 1):
        for chosen in itertools.combinations(sorted(known, key=list(MISTAKES).index), size):
            mistakes = frozenset(chosen)
            if any(simpler <= mistakes for simpler in explanations) or len(mistakes & MONTHS.keys()) > 1:
                continue
            if all(figure.is_given_by(mistakes & (figure.possible_mistakes | {"cut"})) for figure in figures):
                explanations.append(mistakes)
    return explanations


def mistakes_text(mistakes: Iterable[str]) -> str:
    """Return mistakes in words: `read instead of write, and 1024 for 1000`."""
    return ", and ".join(MISTAKES[name] for name in sorted(mistakes, key=list(MISTAKES).index))
