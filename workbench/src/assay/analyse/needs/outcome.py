"""A limit of a measured number, and the answer to whether it is satisfied."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from assay.model.base import EXIT_INCOMPLETE, EXIT_OK, EXIT_REFUSED
from assay.model.study.needs import TIME


class NeedStatus(StrEnum):
    """The answer to a need, the worst first."""

    NO = "no"
    UNDECIDED = "undecided"
    YES = "yes"

    @property
    def exit_code(self) -> int:
        """Exit code of a command that answers: 0 for yes, 1 for no, 3 for undecided."""
        return {NeedStatus.YES: EXIT_OK, NeedStatus.NO: EXIT_INCOMPLETE, NeedStatus.UNDECIDED: EXIT_REFUSED}[self]


ORDER = tuple(NeedStatus)
"""The answers, the worst first."""


def worst_status(statuses: Iterable[NeedStatus]) -> NeedStatus:
    """Return no if any is no, yes if all are yes, else undecided; undecided also without any: nothing was measured."""
    return min(statuses, key=ORDER.index, default=NeedStatus.UNDECIDED)


class NeedLimit(NamedTuple):
    """What is required of a number.

    Attributes:
        measure: `p99` or another percentile of latency, `mean` latency, `time` of a command, `throughput`, `iops`, or
            the name of another number that is to be great, of which the caller has the values.
        value: Upper limit in nanoseconds of a latency or time, else lower limit: bytes per second, operations per
            second, or the unit of the values.
        kind: Only latencies of operations of this kind count, where an operation mixes several; empty: all.
    """

    measure: str
    value: float
    kind: str = ""

    @property
    def is_upper(self) -> bool:
        """The limit is an upper one, since the number is a time."""
        return self.measure in ("mean", TIME) or self.measure[1:2].isdigit()

    @property
    def allowed_share(self) -> float:
        """Share of the operations that may take longer; of percentiles only."""
        return 1 - float(self.measure[1:]) / 100


class NeedOutcome(NamedTuple):
    """What a result shows about a limit.

    Attributes:
        status: Whether it is satisfied.
        value: Nanoseconds, bytes per second, operations per second or a share; None without a result.
        low: Lower end of the 95 % interval; None if it is not known.
        high: Upper end of the 95 % interval; None if it is not known.
        why: Why it is undecided, or what to know about the number; may be empty.
    """

    status: NeedStatus
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    def margin(self, limit: NeedLimit) -> float:
        """Return by how much the number is better than needed, as a factor, at least; 0 if unknown."""
        if limit.is_upper:
            return limit.value / self.high if self.high else 0.0
        return (self.low or 0.0) / limit.value
