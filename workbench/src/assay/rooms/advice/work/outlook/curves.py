"""The cost of the best designs over what a need requires, and where the cheapest of them changes."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from assay.model.money.amount import format_money
from assay.model.units import about_size
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.model.sensitivity import CostCurve, CostCurves, Crossing, CurvePoint, NeedAxis
from assay.rooms.advice.work.checks import Assessment
from assay.rooms.advice.work.outlook.reassess import Reassessment
from assay.rooms.advice.work.texts import amount as rate_words

FACTORS = tuple(Decimal(text) for text in ("0.1", "0.2", "0.5", "1", "2", "5", "10"))
"""Sizes to compute, as factors of what the need requires."""
HALVINGS = 5
"""Bisections between two such sizes: a gap of a factor of 2 to 2.5 shrinks to 2 to 3 percent."""
RATES: tuple[NeedAxis, ...] = ("read", "write", "read_iops", "write_iops")


@dataclass(frozen=True)
class _At:
    """The best variants of the designs at one size; designs that were left out are missing.

    Attributes:
        first: The cheapest design.
        over: Whether it is above the budget.
    """

    size: float
    found: Mapping[str, Assessment | None]
    first: str | None
    over: bool


def capacity_curves(again: Reassessment) -> CostCurves:
    """Return the cost over capacity, all else as the need states."""
    whole = again.need.capacity
    return NeedSweep(again, "capacity", (), lambda size: {"capacity": round(size)}, whole).curves()


def rate_curves(again: Reassessment) -> CostCurves | None:
    """Return the cost over the required rates, all in proportion; the first one is the axis. None without rates."""
    need = again.need
    rates = [name for name in RATES if getattr(need, name) is not None]
    if not rates:
        return None
    first, *others = rates
    whole = getattr(need, first)
    shares = {name: Decimal(repr(getattr(need, name))) / Decimal(repr(whole)) for name in rates}

    def changed(size: float) -> dict[str, float]:
        return {name: float(Decimal(repr(size)) * share) for name, share in shares.items()}

    return NeedSweep(again, first, tuple(others), changed, whole).curves()


def size_text(axis: str, size: float) -> str:
    """Return a size or rate with its unit: `310 TB`, `2.5 GB/s`, `12,000 IOPS`."""
    return about_size(size) if axis == "capacity" else rate_words(axis, size)


class NeedSweep:
    """One key of a need over a range of sizes."""

    def __init__(
        self,
        again: Reassessment,
        axis: NeedAxis,
        along: tuple[NeedAxis, ...],
        changed: Callable[[float], Mapping[str, float]],
        whole: float,
    ) -> None:
        """Store the designs and the key.

        Args:
            again: The designs.
            axis: Key of the need.
            along: Keys that grow in proportion.
            changed: Returns the need's keys and values at a size.
            whole: The need's own size.
        """
        self._again, self._axis, self._along, self._changed, self._whole = again, axis, along, changed, whole

    def need_at(self, size: float) -> Need:
        """Return the need at a size, all else unchanged."""
        return self._again.need.model_copy(update=dict(self._changed(size)))

    def curves(self) -> CostCurves:
        """Return each design's cost at each size, and where the cheapest changes."""
        again, whole = self._again, self._whole
        sizes = [float(Decimal(repr(whole)) * factor) for factor in FACTORS]
        points = [self._at(size) for size in sizes]
        turns = [each for low, high in pairwise(points) for each in self._between(low, high)]
        return CostCurves(
            axis=self._axis,
            scaled_with=self._along,
            need=float(whole),
            sizes=tuple(sizes),
            curves=tuple(
                CostCurve(design=each.name, points=self._points(each.name, [*points, *(at for _, at in turns)]))
                for each in again.designs
            ),
            crossings=tuple(crossing for crossing, _ in turns),
        )

    def _points(self, name: str, computed: Sequence[_At]) -> tuple[CurvePoint, ...]:
        """Return the points of a design: those computed, and the last sizes at which it meets the need."""
        known = {at.size: at for at in computed if name in at.found}
        for low, high in pairwise(sorted(known)):
            if (known[low].found[name] is None) != (known[high].found[name] is None):
                known |= {at.size: at for at in self._limit(name, known[low], known[high])}
        return tuple(self._point(name, known[size]) for size in sorted(known))

    def _limit(self, name: str, low: _At, high: _At) -> Iterator[_At]:
        """Yield the two sizes, found by bisection, between which a design begins or ceases to meet the need."""
        for _ in range(HALVINGS):
            middle = _rounded(math.sqrt(low.size * high.size))
            if not low.size < middle < high.size:
                break
            at = self._at(middle, lambda other: other != name)
            low, high = (at, high) if (at.found[name] is None) == (low.found[name] is None) else (low, at)
        yield from (low, high)

    def _at(self, size: float, but: Callable[[str], bool] | None = None) -> _At:
        found = self._again.resized(self.need_at(size), but)
        first = self._again.chosen_design(found)
        return _At(size, found, first, first is not None and not self._again.is_affordable(found[first]))

    def _point(self, name: str, at: _At) -> CurvePoint:
        item = at.found[name]
        label = item.variant.label if item is not None else None
        return CurvePoint(at=at.size, month=self._again.measure(item), option=label)

    def _between(self, low: _At, high: _At, halvings: int = HALVINGS) -> Iterator[tuple[Crossing, _At]]:
        """Yield where the cheapest design changes between two sizes, by bisection, with the costs there."""
        if (low.first, low.over) == (high.first, high.over):
            return
        middle = _rounded(math.sqrt(low.size * high.size))
        if not halvings or not low.size < middle < high.size:
            yield self._crossing(low, high), high
            return
        at = self._at(middle, self._ruled_out(low, high))
        yield from self._between(low, at, halvings - 1)
        yield from self._between(at, high, halvings - 1)

    def _ruled_out(self, low: _At, high: _At) -> Callable[[str], bool]:
        """Return a function that states whether a design cannot be the cheapest between two sizes.

        That holds if it meets the need at neither end, or costs more at the low end than one of the cheapest designs at
        the high end: a larger size is never cheaper.
        """
        # A design that meets the need at both ends also does between them, for at most its cost at the high end.
        both = [name for name in (low.first, high.first) if name is not None and low.found.get(name) is not None]
        costs = [self._again.measure(high.found.get(name)) for name in both]
        limit = min((cost for cost in costs if cost is not None), default=None)

        def is_ruled_out(name: str) -> bool:
            if name in (low.first, high.first) or self._again.need.prefer != "cost":
                return False
            here = low.found.get(name), high.found.get(name)
            cost_at_low = self._again.measure(here[0])
            if here == (None, None):
                return True
            return cost_at_low is not None and limit is not None and cost_at_low > limit

        return is_ruled_out

    def _crossing(self, low: _At, high: _At) -> Crossing:
        before, after = low.first, high.first
        was = self._again.measure(high.found.get(before)) if before is not None else None
        now = self._again.measure(high.found.get(after)) if after is not None else None
        over = high.over and not low.over
        text = self.crossing_text(low.size, high.size, before, after, was, now)
        if over and before == after:
            text = f"from {size_text(self._axis, high.size)} up, {after}"
        text += _term_words(before, low, high)
        if over:
            text += f"{', which' if before != after else ''} is above the budget"
        return Crossing(
            below=low.size,
            at=high.size,
            before=before,
            after=after,
            before_month=was,
            after_month=now,
            over_budget=over,
            text=text,
        )

    def crossing_text(
        self, low: float, high: float, before: str | None, after: str | None, was: Decimal | None, now: Decimal | None
    ) -> str:
        """Return a crossing in words; at equal cost the faster design is chosen.

        Args:
            low: The size at which `before` is the cheapest.
            high: The size at which `after` is.
            before: A design; None: none meets the need.
            after: A design; None: none meets the need.
            was: Cost of `before` at the larger size.
            now: Cost of `after` at the larger size.
        """
        up_to, start = size_text(self._axis, low), size_text(self._axis, high)
        start = start if start != up_to else f"just above {start}"
        measure = self._again.measure_text
        if after is None:
            return f"from {start} up, none of these designs meets the need; up to {up_to}, {before} is the choice"
        assert now is not None
        if before is None:
            return f"up to {up_to}, none of these designs meets the need; from {start} up, {after} does"
        if was is None:
            return (
                f"from {start} up, {after} is the choice ({format_money(now)} {measure}): {before} meets the need only "
                f"up to {up_to}"
            )
        if format_money(now) == format_money(was):
            same = "costs the same as" if now == was else "costs a fraction of a cent less than"
            fast = " and is no slower" if now == was else ""
            return f"from {start} up, {after} {same} {before}{fast} ({format_money(now)} {measure})"
        costs = f"{format_money(now)} against {format_money(was)} {measure}"
        return f"from {start} up, {after} costs less than {before} ({costs})"


def _term_words(name: str | None, low: _At, high: _At) -> str:
    """Return that a design is paid on another term at the larger size, which makes its cost jump; else nothing."""
    items = [at.found.get(name) for at in (low, high) if name is not None]
    terms = [item.variant.best.term for item in items if item is not None]
    if len(set(terms)) < 2:
        return ""
    why = ", since on more spot servers an interruption is more likely than not" if terms[0] == "spot" else ""
    return f"; {name} is priced {terms[1]} from there and {terms[0]} below{why}"


def _rounded(size: float) -> float:
    """Round to three significant digits, so that the size in the text is exactly the one that was computed."""
    return float(f"{size:.3g}")
