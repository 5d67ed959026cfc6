"""What would change a choice of storage, in figures: cost against size, and the weight of each assumption."""

from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from assay.model.frozen import Frozen

NeedAxis = Literal["capacity", "read", "write", "read_iops", "write_iops"]


class FixedDesign(Frozen):
    """A design whose cost is computed again with some parameters fixed as chosen; sizes and counts follow the need.

    Attributes:
        design: Name of the design in the advice.
        about: Description of the design.
        values: Parameter -> its fixed value.
    """

    design: str
    about: str = ""
    values: dict[str, Any] = Field(default_factory=dict)


class CurvePoint(Frozen):
    """The cost of a design at one size.

    Attributes:
        at: Bytes, bytes per second or operations per second.
        month: Cost in the unit of `Sensitivity.measure`; None if no variant of the design satisfies the need there.
        option: Label of the variant that costs least.
    """

    at: float
    month: Decimal | None = None
    option: str | None = None


class CostCurve(Frozen):
    """The cost of one design over all sizes."""

    design: str
    points: tuple[CurvePoint, ...]


class Crossing(Frozen):
    """Between two computed sizes, the cheapest design changes or its cost passes the budget.

    Attributes:
        below: The last size at which `before` is the cheapest design.
        at: The first size at which `after` is the cheapest design.
        before, after: Designs; None: no design satisfies the need. Equal if only the budget is crossed.
        over_budget: From `at` on, the cheapest design costs more than the budget.
        before_month: Cost of `before` at `at`; None: it does not satisfy the need there.
        after_month: Cost of `after` at `at`.
    """

    below: float
    at: float
    before: str | None
    after: str | None
    before_month: Decimal | None = None
    after_month: Decimal | None = None
    over_budget: bool = False
    text: str


class CostCurves(Frozen):
    """Costs of designs against one quantity of the need.

    Attributes:
        axis: Key of the quantity in the need.
        scaled_with: Further quantities that grow in proportion.
        need: The need's own value; `growth` is added to each size as it is to this one.
        sizes: Sizes at which all designs are computed. Curves have points at crossings, and where a design no longer
            meets the need, as well.
        crossings: In order of size.
    """

    axis: NeedAxis
    scaled_with: tuple[NeedAxis, ...] = ()
    need: float
    sizes: tuple[float, ...]
    curves: tuple[CostCurve, ...]
    crossings: tuple[Crossing, ...] = ()


class RangeEnd(Frozen):
    """The result at one end of an assumption's range.

    Attributes:
        value: The assumed value in words.
        month: Cost of the recommended design then; None: it does not satisfy the need.
        gap: Cost of the cheapest other design minus that of the recommended one; None: one of the two is missing.
        choice: The design that would be chosen; None if none would.
    """

    value: str
    month: Decimal | None = None
    gap: Decimal | None = None
    choice: str | None = None


class Assumption(Frozen):
    """The effect of one assumption on the choice.

    Attributes:
        name: What is assumed.
        value: Its present value in words.
        low, high: Results at the ends of its range; None: there is no such end.
        size: The largest change of the cost or of the gap at either end.
        changes_choice: At an end another design, or none, would be chosen.
    """

    name: str
    value: str
    low: RangeEnd | None = None
    high: RangeEnd | None = None
    size: Decimal = Decimal(0)
    changes_choice: bool = False


class Sensitivity(Frozen):
    """What would change the choice among the best designs.

    Attributes:
        designs: At most five, the best first.
        measure: Unit of all amounts, such as `USD a month`.
        month: Cost of the best design at the need.
        gap: Cost of the cheapest other design minus that of the best; None: no other satisfies the need.
        runner_up: The cheapest other design.
        rate: Costs against the rate; None: the need requires no rate.
        tornado: Assumptions by effect, the largest first.
        without_effect: Assumptions that change nothing at either end.
    """

    designs: tuple[FixedDesign, ...]
    measure: str
    month: Decimal
    gap: Decimal | None = None
    runner_up: str | None = None
    capacity: CostCurves
    rate: CostCurves | None = None
    tornado: tuple[Assumption, ...] = ()
    without_effect: tuple[str, ...] = ()
