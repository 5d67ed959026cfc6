"""What would change a choice of storage, in figures: cost against size, and what each assumption weighs."""

from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from assay.model.frozen import Frozen

Axis = Literal["capacity", "read", "write", "read_iops", "write_iops"]


class Kept(Frozen):
    """A design that is looked at again, and what of it stays as it was chosen; sizes and counts follow.

    Attributes:
        design: Its name in the advice.
        about: What it is.
        values: Parameter -> the value that stays.
    """

    design: str
    about: str = ""
    values: dict[str, Any] = Field(default_factory=dict)


class Point(Frozen):
    """One size and what a design costs there.

    Attributes:
        at: Bytes, or bytes or operations per second.
        month: As `Picture.measure` says; None: nothing of this design meets the need there.
        option: Label of the variant that costs least.
    """

    at: float
    month: Decimal | None = None
    option: str | None = None


class Curve(Frozen):
    """One design over all sizes."""

    design: str
    points: tuple[Point, ...]


class Crossing(Frozen):
    """Where the cheapest design changes, or passes the budget: between two sizes that were both computed.

    Attributes:
        below: The last size at which `before` is the cheapest.
        at: The first one at which `after` is.
        before, after: Designs; None: none of them meets the need. The same: only the budget is crossed.
        over: From `at` on the cheapest is above the budget.
        before_month: Of `before` at `at`; None: it does not meet the need there.
        after_month: Of `after` at `at`.
    """

    below: float
    at: float
    before: str | None
    after: str | None
    before_month: Decimal | None = None
    after_month: Decimal | None = None
    over: bool = False
    text: str


class Curves(Frozen):
    """Cost of designs against one thing that the need asks for.

    Attributes:
        axis: Key of the need.
        along: Further keys that grow in proportion.
        need: The need's own value; `growth` comes on top of each size as it does of this one.
        crossings: By size.
    """

    axis: Axis
    along: tuple[Axis, ...] = ()
    need: float
    curves: tuple[Curve, ...]
    crossings: tuple[Crossing, ...] = ()


class End(Frozen):
    """One end of an assumption's range.

    Attributes:
        value: In words.
        month: What the recommended design costs then; None: it does not meet the need.
        gap: By how much the cheapest other design is dearer; negative: it is cheaper. None: one of the two is missing.
        choice: The design that would be chosen; None: none.
    """

    value: str
    month: Decimal | None = None
    gap: Decimal | None = None
    choice: str | None = None


class Assumption(Frozen):
    """What one assumption weighs.

    Attributes:
        name: What is assumed.
        value: As it is, in words.
        low, high: The ends that were computed; None: there is no such end.
        size: The largest change of the cost or of the gap at an end.
        turns: Another design would be chosen at an end, or none.
    """

    name: str
    value: str
    low: End | None = None
    high: End | None = None
    size: Decimal = Decimal(0)
    turns: bool = False


class Picture(Frozen):
    """What would change the choice among the best designs.

    Attributes:
        designs: At most five, the best first.
        measure: What all amounts are, such as `USD a month`.
        month: Of the best at the need.
        gap: By how much the cheapest other design is dearer; None: no other meets the need.
        runner_up: That other design.
        rate: None: the need asks for no rate.
        tornado: The largest first.
        idle: Assumptions at both ends of which nothing changes.
    """

    designs: tuple[Kept, ...]
    measure: str
    month: Decimal
    gap: Decimal | None = None
    runner_up: str | None = None
    capacity: Curves
    rate: Curves | None = None
    tornado: tuple[Assumption, ...] = ()
    idle: tuple[str, ...] = ()
