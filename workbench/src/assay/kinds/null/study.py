"""The null target in a study file, which has no storage: operations end immediately or as scripted."""

import errno
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.names import Group
from assay.model.study.target import YEAR_NS, Duration, StatedCeilings, Target, TargetService, Text
from assay.model.units import display_value

if TYPE_CHECKING:
    from assay.model.source import FieldFault
    from assay.model.study.study import Workload


def _errno(written: object) -> int:
    if isinstance(written, int) and not isinstance(written, bool) and 1 <= written <= 4095:
        return written
    known = {name: number for number, name in errno.errorcode.items()}
    if isinstance(written, str) and written in known:
        return known[written]
    raise fault(
        f"{display_value(written)} is not an errno", "write a name such as EIO or ENOSPC, or a number from 1 to 4095"
    )


Count = Annotated[int, SingleField(axis.whole(0, 2**63 - 1))]
Lane = Annotated[int | None, SingleField(axis.whole(0, 1023, optional=True))]
Percent = Annotated[int, SingleField(axis.whole(0, 99))]
ClockStep = Annotated[int, SingleField(axis.duration(0, YEAR_NS))]
Errno = Annotated[
    int,
    BeforeValidator(_errno),
    WithJsonSchema({"anyOf": [{"enum": sorted(errno.errorcode.values())}, {"type": "integer", "minimum": 1}]}),
]


class FixedLatency(Frozen):
    """The same service time for every operation of the null target."""

    distribution: Literal["fixed"]
    time: Duration = Field(description="Service time.")


class UniformLatency(Frozen):
    """Service times uniformly distributed between two bounds."""

    distribution: Literal["uniform"]
    min: Duration = Field(description="Minimum service time.")
    max: Duration = Field(description="Maximum service time.")

    @model_validator(mode="after")
    def _ordered(self) -> "UniformLatency":
        if self.min > self.max:
            raise fault("min is above max", "swap them")
        return self


class ExponentialLatency(Frozen):
    """Exponentially distributed service times."""

    distribution: Literal["exponential"]
    mean: Duration = Field(description="Mean service time.")


Latency = FixedLatency | UniformLatency | ExponentialLatency


class Stall(Frozen):
    """A stall of the null target from its n-th operation."""

    at_op: Count = Field(description="Number of the operation in the phase, from 0, counted per lane.")
    duration: Duration = Field(description="Duration.")
    lane: Lane = Field(None, description="Only this lane; every lane if left out.")


class ScriptedError(Frozen):
    """A scripted failure of the n-th operation on the null target."""

    at_op: Count = Field(description="Number of the operation in the phase, from 0, counted per lane.")
    errno: Errno = Field(description="The error: EIO, ENOSPC ..., or its number.")
    lane: Lane = Field(None, description="Only this lane; every lane if left out.")


class ScriptedChange(Frozen):
    """A change of the null target's service time from its n-th operation on."""

    at_op: Count = Field(description="Number of the operation in the phase, from 0, counted per lane.")
    latency: Annotated[Latency, Field(discriminator="distribution")] = Field(description="Service time from then on.")
    lane: Lane = Field(None, description="Only this lane; every lane if left out.")


class NullTarget(Target):
    """The null target, which has no storage: operations end immediately or as scripted."""

    noun: ClassVar[str] = "no storage"
    groups: ClassVar[tuple[Group, ...]] = ("data", "names", "objects")
    rank: ClassVar[int] = 9
    keeps_data: ClassVar[bool] = False
    through_kernel: ClassVar[bool] = False
    through_mpi: ClassVar[bool] = False
    is_directory: ClassVar[bool] = False
    whole_device: ClassVar[bool] = False
    has_files: ClassVar[bool] = True
    is_made_by_engines: ClassVar[bool] = False
    times_out_when_lost: ClassVar[bool] = False
    examples: ClassVar[dict[str, str]] = {
        "at_op": "1000",
        "errno": "EIO",
        "latency": "{distribution: fixed, time: 1ms}",
    }

    kind: Literal["null"]
    latency: Annotated[Latency | None, Field(discriminator="distribution")] = Field(
        None, description="Service time of each operation; none if left out."
    )
    stalls: tuple[Stall, ...] = Field((), description="Stalls, during which no operation ends.")
    errors: tuple[ScriptedError, ...] = Field((), description="Operations that fail.")
    changes: tuple[ScriptedChange, ...] = Field(
        (), description="Operations from which on another service time applies."
    )
    vary_percent: Percent = Field(
        0, description="Service times of each phase differ by up to this many percent from those of another."
    )
    clock_step: ClockStep = Field(0, description="The wall clock appears to jump by this much during each phase.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @property
    def path(self) -> str:
        """Empty: it has no place."""
        return ""

    @property
    def services(self) -> tuple[TargetService, ...]:
        """None: no server is involved."""
        return ()

    @property
    def latencies(self) -> tuple[Latency, ...]:
        """All service times that its script may set."""
        found = (self.latency, *(change.latency for change in self.changes))
        return tuple(latency for latency in found if latency is not None)

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """See `Target.crosscheck`: there are no rules for the null target."""
        yield from ()
