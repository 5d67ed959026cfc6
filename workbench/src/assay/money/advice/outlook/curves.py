"""Cost of the best designs against what a need asks for, and where the cheapest of them changes."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from assay.model.money.advice_picture import Axis, Crossing, Curve, Curves, Point
from assay.model.money.amount import money
from assay.model.money.need import Need
from assay.model.units import about_size
from assay.money.advice.checks import Assessed
from assay.money.advice.outlook.again import Again
from assay.money.advice.words import amount as rate_words

FACTORS = tuple(Decimal(text) for text in ("0.1", "0.2", "0.5", "1", "2", "5", "10"))
"""Of what the need asks for."""
HALVINGS = 5
"""Of the distance of two such sizes: what is 2 to 2.5 times as large is 2 to 3 percent larger in the end."""
RATES: tuple[Axis, ...] = ("read", "write", "read_iops", "write_iops")


@dataclass(frozen=True)
class _At:
    """The best variant of each design at one size; of those that were looked at.

    Attributes:
        first: The cheapest.
        over: It is above the budget.
    """

    size: float
    found: Mapping[str, Assessed | None]
    first: str | None
    over: bool


def capacity_curves(again: Again) -> Curves:
    """Cost against capacity, all else as the need says."""
    whole = again.need.capacity
    return Sweep(again, "capacity", (), lambda size: {"capacity": round(size)}, whole).curves()


def rate_curves(again: Again) -> Curves | None:
    """Cost against the rates that are asked for, all in proportion; the first one is the scale. None without rates."""
    need = again.need
    asked = [name for name in RATES if getattr(need, name) is not None]
    if not asked:
        return None
    first, *others = asked
    whole = getattr(need, first)
    shares = {name: Decimal(repr(getattr(need, name))) / Decimal(repr(whole)) for name in asked}

    def changed(size: float) -> dict[str, float]:
        return {name: float(Decimal(repr(size)) * share) for name, share in shares.items()}

    return Sweep(again, first, tuple(others), changed, whole).curves()


def size_words(axis: str, size: float) -> str:
    """`310 TB`, `2.5 GB/s`, `12,000 IOPS`."""
    return about_size(size) if axis == "capacity" else rate_words(axis, size)


class Sweep:
    """One key of a need over its sizes."""

    def __init__(
        self,
        again: Again,
        axis: Axis,
        along: tuple[Axis, ...],
        changed: Callable[[float], Mapping[str, float]],
        whole: float,
    ) -> None:
        """Keep what is looked at.

        Args:
            again: The designs.
            axis: Key of the need.
            along: Keys that grow in proportion.
            changed: Size -> keys of the need there.
            whole: The need's own size.
        """
        self._again, self._axis, self._along, self._changed, self._whole = again, axis, along, changed, whole

    def need_at(self, size: float) -> Need:
        """The need at a size, all else as it is."""
        return self._again.need.model_copy(update=dict(self._changed(size)))

    def curves(self) -> Curves:
        """Each design at each size, and where the cheapest changes."""
        again, whole = self._again, self._whole
        sizes = [float(Decimal(repr(whole)) * factor) for factor in FACTORS]
        points = [self._at(size) for size in sizes]
        crossings = [each for low, high in pairwise(points) for each in self._between(low, high)]
        return Curves(
            axis=self._axis,
            along=self._along,
            need=float(whole),
            curves=tuple(
                Curve(design=each.name, points=tuple(self._point(each.name, point) for point in points))
                for each in again.designs
            ),
            crossings=tuple(crossings),
        )

    def _at(self, size: float, but: Callable[[str], bool] | None = None) -> _At:
        found = self._again.all(self.need_at(size), but)
        first = self._again.first(found)
        return _At(size, found, first, first is not None and not self._again.affords(found[first]))

    def _point(self, name: str, at: _At) -> Point:
        item = at.found[name]
        label = item.variant.label if item is not None else None
        return Point(at=at.size, month=self._again.measure(item), option=label)

    def _between(self, low: _At, high: _At, halvings: int = HALVINGS) -> Iterator[Crossing]:
        """Where the cheapest changes between two sizes, as often as it is seen to."""
        if (low.first, low.over) == (high.first, high.over):
            return
        middle = _rounded(math.sqrt(low.size * high.size))
        if not halvings or not low.size < middle < high.size:
            yield self._crossing(low, high)
            return
        at = self._at(middle, self._hopeless(low, high))
        yield from self._between(low, at, halvings - 1)
        yield from self._between(at, high, halvings - 1)

    def _hopeless(self, low: _At, high: _At) -> Callable[[str], bool]:
        """Says of a design that it is not the cheapest between.

        It meets the need at neither end, or costs more at the low one than one of the cheapest at the high one: more
        is never cheaper than less.
        """
        # What does at both ends does between them, for no more than at the high one.
        both = [name for name in (low.first, high.first) if name is not None and low.found.get(name) is not None]
        costs = [self._again.measure(high.found.get(name)) for name in both]
        most = min((cost for cost in costs if cost is not None), default=None)

        def hopeless(name: str) -> bool:
            if name in (low.first, high.first) or self._again.need.prefer != "cost":
                return False
            here = low.found.get(name), high.found.get(name)
            least = self._again.measure(here[0])
            if here == (None, None):
                return True
            return least is not None and most is not None and least > most

        return hopeless

    def _crossing(self, low: _At, high: _At) -> Crossing:
        before, after = low.first, high.first
        was = self._again.measure(high.found.get(before)) if before is not None else None
        now = self._again.measure(high.found.get(after)) if after is not None else None
        over = high.over and not low.over
        text = self.words(low.size, high.size, before, after, was, now)
        if over and before == after:
            text = f"from {size_words(self._axis, high.size)} up, {after}"
        if over:
            text += f"{', which' if before != after else ''} is above the budget"
        return Crossing(
            below=low.size,
            at=high.size,
            before=before,
            after=after,
            before_month=was,
            after_month=now,
            over=over,
            text=text,
        )

    def words(
        self, low: float, high: float, before: str | None, after: str | None, was: Decimal | None, now: Decimal | None
    ) -> str:
        """A crossing in words; of what costs the same the faster one is chosen.

        Args:
            low: The size at which `before` is the cheapest.
            high: The size at which `after` is.
            before: A design; None: nothing meets the need.
            after: Likewise.
            was: Cost of `before` at the larger size.
            now: Cost of `after` there.
        """
        up_to, start = size_words(self._axis, low), size_words(self._axis, high)
        start = start if start != up_to else f"just above {start}"
        measure = self._again.measured
        if after is None:
            return f"from {start} up, none of these designs meets the need; up to {up_to}, {before} is the choice"
        assert now is not None
        if before is None:
            return f"up to {up_to}, none of these designs meets the need; from {start} up, {after} does"
        if was is None:
            return f"from {start} up, {after} is the choice ({money(now)} {measure}): {before} is for up to {up_to}"
        if money(now) == money(was):
            same = "costs the same as" if now == was else "costs a fraction of a cent less than"
            fast = " and is no slower" if now == was else ""
            return f"from {start} up, {after} {same} {before}{fast} ({money(now)} {measure})"
        costs = f"{money(now)} against {money(was)} {measure}"
        return f"from {start} up, {after} costs less than {before} ({costs})"


def _rounded(size: float) -> float:
    """Three digits that count, so that what is said is what was computed."""
    return float(f"{size:.3g}")
