"""How two sides of a claim compare, result by result: by the decisions of a run, else by intervals, else by figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from assay.model.result.decision import PointOutcome
from assay.model.study.repeats import EQUAL_WITHIN
from assay.report import numbers
from assay.rooms.paper.work.claims.facts import Cell, FactIndex, Measured
from assay.rooms.paper.work.claims.quantities import Kind


class Winner(StrEnum):
    """The side that has the higher number."""

    FIRST = "first"
    SECOND = "second"
    EQUAL = "equal"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """Two results compared.

    Attributes:
        ratio: The first one's number / the second one's.
        difference: Between the two numbers, without its sign.
        at_least: Lower bound of how many times as much the winner has; 1 if it is not known.
        how: How it is decided, in words.
        is_decided: By repeats, not by figures alone.
    """

    first: Cell
    second: Cell
    winner: Winner
    ratio: float
    how: str
    at_least: float = 1.0
    is_decided: bool = True
    difference: float = 0.0

    def text(self) -> str:
        """Return the pair in words."""
        return f"{self.first.text()} against {self.second.text()}: {numbers.ratio(self.ratio)}, {self.how}"


@dataclass(frozen=True, slots=True)
class Gauge:
    """The number by which results are compared.

    Attributes:
        name: `rate`, `iops`, or the name of a latency; empty: the mean latency, else the median one.
    """

    name: str

    @property
    def is_latency(self) -> bool:
        """Whether lower is better."""
        return self.name not in ("rate", "iops")

    def of(self, cell: Cell) -> Measured | None:
        """Return the number of a result; None if it has none."""
        if self.name == "rate":
            return cell.rate
        if self.name == "iops":
            return next(iter(cell.values(Kind.OPERATIONS)), None)
        known = {value.name: value for value in cell.times}
        return known.get(self.name) if self.name else known.get("mean", known.get("p50"))


RATE = Gauge("rate")


def joined(first: Iterable[Cell], second: Iterable[Cell], differing: frozenset[str]) -> list[tuple[Cell, Cell]]:
    """Return the pairs that agree in all but some properties: of the same run if there are such, else of any."""
    firsts, groups = list(first), dict[tuple[str, ...], list[Cell]]()
    for cell in second:
        groups.setdefault(tuple(str(cell.properties.get(key)) for key in sorted(differing)), []).append(cell)
    return [pair for group in groups.values() for pair in _joined(firsts, group, differing)]


def _joined(firsts: Sequence[Cell], seconds: Sequence[Cell], differing: frozenset[str]) -> list[tuple[Cell, Cell]]:
    tied = _tied(firsts, seconds, differing)
    for without in (frozenset[str](), tied, tied | {"run"}, tied | {"workload"}, tied | {"run", "workload"}):
        left = differing | without
        of_key: dict[tuple[object, ...], list[Cell]] = {}
        for cell in seconds:
            of_key.setdefault(_key(cell, left), []).append(cell)
        pairs = [(cell, other) for cell in firsts for other in of_key.get(_key(cell, left), []) if cell is not other]
        if pairs:
            return pairs
    return []


def _tied(first: Iterable[Cell], second: Iterable[Cell], differing: frozenset[str]) -> frozenset[str]:
    """Return the axes that change only with what differs, such as the number of servers of each target."""
    values: dict[tuple[str, object], set[str]] = {}
    axes: set[str] = set()
    for cell in (*first, *second):
        side = tuple(str(cell.properties.get(key)) for key in sorted(differing))
        axes |= cell.row.case.axes.keys()
        for key, value in cell.row.case.axes.items():
            values.setdefault((key, side), set()).add(str(value))
    return frozenset(key for key in axes if all(len(found) == 1 for (name, _), found in values.items() if name == key))


def _key(cell: Cell, without: frozenset[str]) -> tuple[object, ...]:
    case = cell.row.case
    own: dict[str, object] = {"run": cell.run, "target": cell.target, "workload": case.workload}
    own |= {"operation": cell.row.operation, **case.axes}
    return tuple(sorted((key, str(value)) for key, value in own.items() if key not in without))


def compared(
    pairs: Sequence[tuple[Cell, Cell]], gauge: Gauge, differing: frozenset[str], facts: FactIndex
) -> list[PairOutcome]:
    """Return the outcome of each pair whose numbers are known."""
    outcomes = []
    for first, second in pairs:
        if gauge == RATE and first.row.is_counted is not second.row.is_counted:
            continue
        one, other = gauge.of(first), gauge.of(second)
        if one is None or other is None or one.median <= 0 or other.median <= 0:
            continue
        outcome = _decided(first, second, one, other, gauge, facts) if differing == {"target"} else None
        found = outcome or _by_numbers(first, second, one, other)
        outcomes.append(replace(found, difference=abs(one.median - other.median)))
    return outcomes


def _decided(
    first: Cell, second: Cell, one: Measured, other: Measured, gauge: Gauge, facts: FactIndex
) -> PairOutcome | None:
    """Return the outcome that the run itself decides; None if it made no comparison, or only figures are known."""
    if first.run != second.run:
        return None
    if gauge.is_latency:
        return _decided_latency(first, second, one.median / other.median, gauge.name, facts)
    point = facts.point(first, second)
    if point is None or point.too_few or (point.outcome is PointOutcome.BARRED and point.shows_ratio):
        return None
    ratio = one.median / other.median
    if point.outcome is PointOutcome.FASTER:
        winner = Winner.FIRST if point.winner == first.target else Winner.SECOND
        how = f"decided: at least {numbers.ratio(point.at_least)} for {point.winner}"
        return PairOutcome(first, second, winner, ratio, how, point.at_least)
    if point.outcome is PointOutcome.EQUAL:
        return PairOutcome(first, second, Winner.EQUAL, ratio, f"equal within {numbers.share(point.within)}")
    why = point.why or ("the repeats do not show which one is faster" if point.outcome is PointOutcome.OPEN else "")
    return PairOutcome(first, second, Winner.OPEN, ratio, f"undecided{f': {why}' if why else ''}")


def _decided_latency(first: Cell, second: Cell, ratio: float, name: str, facts: FactIndex) -> PairOutcome | None:
    pair = facts.latency_comparison(first, second, name)
    if pair is None or pair.has_too_few:
        return None
    p = numbers.p_value(pair.p_adjusted)
    if not pair.separable:
        return PairOutcome(first, second, Winner.OPEN, ratio, f"no significant difference of {name}, p {p}")
    winner = Winner.FIRST if ratio > 1 else Winner.SECOND
    return PairOutcome(first, second, winner, ratio, f"a significant difference of {name}, p {p}")


def _by_numbers(first: Cell, second: Cell, one: Measured, other: Measured) -> PairOutcome:
    ratio = one.median / other.median
    if first.is_false or second.is_false:
        return PairOutcome(first, second, Winner.OPEN, ratio, "undecided: a side is cached or impossible")
    ends = (one.low, one.high, other.low, other.high)
    if None not in ends:
        low, high, other_low, other_high = (float(end) for end in ends if end is not None)
        if low > other_high or high < other_low:
            winner = Winner.FIRST if low > other_high else Winner.SECOND
            return PairOutcome(first, second, winner, ratio, "the intervals do not overlap")
        return PairOutcome(first, second, Winner.OPEN, ratio, "undecided: the intervals overlap")
    if abs(ratio - 1) <= EQUAL_WITHIN:
        return PairOutcome(
            first,
            second,
            Winner.EQUAL,
            ratio,
            f"the figures differ by {numbers.share(abs(ratio - 1))}",
            is_decided=False,
        )
    winner = Winner.FIRST if ratio > 1 else Winner.SECOND
    return PairOutcome(first, second, winner, ratio, "by single figures", is_decided=False)
