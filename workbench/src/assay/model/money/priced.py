"""Designs with the prices that held when something was measured, and what was measured of designs."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from assay.model.frozen import Frozen
from assay.model.money.amount import Payment, Term
from assay.model.money.design import S3, Design, DynamoDb
from assay.model.money.price import Bill, Book
from assay.model.money.use import Chosen, Use
from assay.model.study.axis import fault

PRICES_SCHEMA = 1
"""Version of `FrozenPrices` as it is stored."""


class DesignCeiling(Frozen):
    """What holds a design in one respect, by the catalogue as it was.

    Attributes:
        layer: The part of it that lets least through.
        value: Bytes or operations per second for ever.
        burst: The most for a while, if that is more.
        burst_seconds: How long, from full credits; None: not published.
        how: The formula with its numbers.
    """

    metric: Literal["read", "write", "read_iops", "write_iops"]
    layer: str
    value: float
    burst: float | None = None
    burst_seconds: float | None = None
    how: str = ""
    source: str = ""


class PricedDesign(Frozen):
    """A design that was measured or compared, complete in itself.

    Attributes:
        bill: With the use of the study.
        usable: Bytes for data; None: not computed.
        ceilings: Those that are known, at most one of each metric.
    """

    chosen: Chosen
    design: Design
    bill: Bill
    usable: int | None = None
    how_usable: str = ""
    ceilings: tuple[DesignCeiling, ...] = ()

    @property
    def unpriced(self) -> tuple[str, ...]:
        """What `use` does not say of requests that are paid for one by one, so that the bill has none of them."""
        service = self.design.service
        requests = service.requests if isinstance(service, S3 | DynamoDb) else None
        billed = {line.dimension for line in self.bill.lines}
        return () if requests is None or requests.dimension in billed else requests.fields


class FrozenPrices(Frozen):
    """What a run carries, so that its costs never change: the designs and the rows of the book that price them.

    Attributes:
        book: With only the rows that were used.
        designs: Name of the target -> its design.
    """

    schema_version: int = PRICES_SCHEMA
    term: Term = "on-demand"
    payment: Payment | None = None
    use: Use = Use()
    book: Book
    designs: dict[str, PricedDesign]


EvidenceMetric = Literal["read", "write", "read_iops", "write_iops", "read_latency_p99", "write_latency_p99"]
"""Bytes per second, operations per second, and seconds."""


class Measured(Frozen):
    """A measured value with the ends of its interval; both are the value where no interval is known."""

    value: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    low: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    high: Annotated[float, Field(gt=0, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _ordered(self) -> "Measured":
        if not self.low <= self.value <= self.high:
            raise fault(
                f"{self.value} is not between {self.low} and {self.high}", "write low <= value <= high", "value"
            )
        return self

    def overlaps(self, other: "Measured") -> bool:
        """Whether the intervals share a value, so that the two cannot be separated."""
        return self.low <= other.high and other.low <= self.high


class Evidence(Frozen):
    """One measured figure of one design.

    Attributes:
        pattern: How it was accessed; None: not known.
        record: Bytes of each operation; None: not known.
        clients: Hosts that measured it; None: not known.
        source: The run, or a paper and the place in it.
    """

    chosen: Chosen
    metric: EvidenceMetric
    measured: Measured
    pattern: Literal["sequential", "random"] | None = None
    record: int | None = Field(None, gt=0)
    clients: int | None = Field(None, ge=1)
    source: str = Field(min_length=1)
