"""Designs with the prices at the time of a measurement, and measurements of designs."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from assay.model.frozen import Frozen
from assay.model.money.amount import Payment, Term
from assay.model.money.design import S3, Design, DynamoDb
from assay.model.money.price import Bill, PriceBook
from assay.model.money.use import DesignChoice, Use
from assay.model.study.axis import fault

PRICES_SCHEMA = 1
"""Version of `FrozenPrices` as stored."""


class DesignCeiling(Frozen):
    """The limit of a design by one metric, according to the catalogue at that time.

    Attributes:
        layer: The part of the design with the lowest limit.
        value: Sustained bytes or operations per second.
        burst: Highest rate for a limited time, if that is more.
        burst_seconds: How long the burst lasts with full credits; None: not published.
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
    """A design that was measured or compared, with everything needed to price it.

    Attributes:
        bill: Bill that includes the use in the study.
        usable: Bytes for data; None: not computed.
        ceilings: Known ceilings, at most one for each metric.
    """

    chosen: DesignChoice
    design: Design
    bill: Bill
    usable: int | None = None
    how_usable: str = ""
    ceilings: tuple[DesignCeiling, ...] = ()

    @property
    def unpriced_fields(self) -> tuple[str, ...]:
        """Fields of `use` that are missing to price requests that are charged one by one; empty if none is missing."""
        service = self.design.service
        requests = service.requests if isinstance(service, S3 | DynamoDb) else None
        billed = {line.dimension for line in self.bill.lines}
        return () if requests is None or requests.dimension in billed else requests.fields


class FrozenPrices(Frozen):
    """Prices stored with a run, so that its costs never change: the designs and the rows that price them.

    Attributes:
        book: Book with only the rows that were used.
        designs: Name of a target -> its design.
        hosts: Rented hosts that generate the load, which belong to no design, and the network of a stack.
    """

    schema_version: int = PRICES_SCHEMA
    term: Term = "on-demand"
    payment: Payment | None = None
    use: Use = Use()
    book: PriceBook
    designs: dict[str, PricedDesign]
    hosts: Bill = Bill()


RecoveryMetric = Literal["recovery_point", "recovery_time"]
"""Longest lag of a replica, and time until it took over, in seconds."""
EvidenceMetric = Literal[
    "read", "write", "read_iops", "write_iops", "read_latency_p99", "write_latency_p99", RecoveryMetric
]
"""In bytes per second, operations per second, or seconds."""


class MeasuredValue(Frozen):
    """A measured value and its interval; `low` and `high` equal the value if no interval is known."""

    value: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    low: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    high: Annotated[float, Field(gt=0, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _ordered(self) -> "MeasuredValue":
        if not self.low <= self.value <= self.high:
            raise fault(
                f"{self.value} is not between {self.low} and {self.high}", "write low <= value <= high", "value"
            )
        return self

    def overlaps(self, other: "MeasuredValue") -> bool:
        """Whether the intervals overlap, so that the two values cannot be separated."""
        return self.low <= other.high and other.low <= self.high


class DesignEvidence(Frozen):
    """One measured figure of one design.

    Attributes:
        pattern: Access pattern; None: not known.
        record: Bytes of each operation; None: not known.
        clients: Hosts that measured it; None: not known.
        source: The run, or a paper and the place in it.
    """

    chosen: DesignChoice
    metric: EvidenceMetric
    measured: MeasuredValue
    pattern: Literal["sequential", "random"] | None = None
    record: int | None = Field(None, gt=0)
    clients: int | None = Field(None, ge=1)
    source: str = Field(min_length=1)
