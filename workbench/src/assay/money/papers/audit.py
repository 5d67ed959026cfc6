"""Which usual mistake gives a printed figure that the right computation does not give.

A figure is computed again with each mistake, and with each two together. What gives the printed digits is reported,
the simplest first; that it does is no proof that it was made.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from assay.model.money.amount import EXACT, rounded

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
"""Mistake -> in words. `cut` is of the printing, all others of the computation."""
MOST = 2
"""Mistakes together at most."""
MONTHS: dict[str, Decimal] = {f"month-{hours}": Decimal(hours) for hours in (720, 730, 744)}

Mistakes = frozenset[str]
NONE: Mistakes = frozenset()
Compute = Callable[[Mistakes], Decimal]


@dataclass(frozen=True)
class Checked:
    """A printed figure, and how it is computed.

    Attributes:
        printed: As it is printed, without thousands separators; its digits are those that must come out.
        compute: The value with some mistakes made.
        knows: The mistakes that `compute` can make.
    """

    printed: str
    compute: Compute
    knows: Mistakes

    def gives(self, mistakes: Mistakes) -> bool:
        """Whether the printed digits come out with these mistakes."""
        return printing(self.compute(mistakes - {"cut"}), digits_of(self.printed), "cut" in mistakes) == self.printed

    @property
    def right(self) -> bool:
        """Whether they come out without any."""
        return self.gives(NONE)


def digits_of(printed: str) -> int:
    """Digits after the point."""
    return len(printed.partition(".")[2])


def printing(value: Decimal, digits: int, cut: bool = False) -> str:
    """A value with so many digits, rounded half up or cut off."""
    if not cut:
        return f"{rounded(value, digits):f}"
    return f"{value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_DOWN, context=EXACT):f}"


def explain(figures: Sequence[Checked]) -> list[Mistakes]:
    """The mistakes that give the printed digits of all figures; empty if none do, or if all are right.

    Of combinations only those that none of their parts explains alone.
    """
    if not figures or all(figure.right for figure in figures):
        return []
    known = {"cut"}.union(*(figure.knows for figure in figures))
    found: list[Mistakes] = []
    for size in range(1, MOST + 1):
        for some in itertools.combinations(sorted(known, key=list(MISTAKES).index), size):
            mistakes = frozenset(some)
            if any(simpler <= mistakes for simpler in found) or len(mistakes & MONTHS.keys()) > 1:
                continue
            if all(figure.gives(mistakes & (figure.knows | {"cut"})) for figure in figures):
                found.append(mistakes)
    return found


def words(mistakes: Iterable[str]) -> str:
    """`read instead of write, and 1024 for 1000`."""
    return ", and ".join(MISTAKES[name] for name in sorted(mistakes, key=list(MISTAKES).index))
