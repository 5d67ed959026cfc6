"""Requirements, as a study states them: `need: {read: 500MB/s, write p99: 10ms, align time: 60s}`."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema

from assay.model import units
from assay.model.frozen import Frozen
from assay.model.study import names
from assay.model.study.axis import fault
from assay.model.units import UnitError, choices_hint, display_value

NeedMeasure = Literal["throughput", "iops", "p50", "p90", "p99", "p99.9", "p99.99", "time"]
"""The measured quantity: bytes per second, operations per second, a percentile of latency, or the wall clock of a
command."""

FSYNC = "fsync"
"""Every operation that writes, in workloads whose `sync` flushes each write."""
FLUSHED = ("o_sync", "o_dsync")
"""Values of `sync` that flush each write."""

TIME = "time"
"""The measure of commands: the wall clock of all tasks, or of a replay."""
_PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99")
_IOPS = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<factor>[kM]?)(?P<unit>(?: ?IOPS| ?/ ?s)?)")
_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6}
_FORM = "write it as `read: 500MB/s`, `random_read: 20k IOPS` or `write p99: 10ms`, of a command `NAME time: 60s`"


class TargetNeed(Frozen):
    """A requirement that each target must satisfy at every measured point.

    Attributes:
        operation: Name of an operation, or `fsync`; empty for the wall clock of commands.
        measure: The measured quantity.
        limit: Lower limit in bytes per second or operations per second, or upper limit in nanoseconds.
        workload: Name of the only workload or command concerned; empty: all that have the operation.
    """

    operation: str
    measure: NeedMeasure
    limit: float
    workload: str = ""

    @property
    def is_upper_limit(self) -> bool:
        """The limit is an upper one, since the quantity is a time."""
        return self.measure in (*_PERCENTILES, TIME)

    def covers(self, workload: str, operation: str, sync: str) -> bool:
        """Whether a result is subject to this requirement.

        Args:
            workload: Name of the result's workload.
            operation: Label of the result, which may number an operation that a case has twice.
            sync: The `sync` parameter of the result's case.
        """
        if self.workload and workload != self.workload:
            return False
        name = operation.split(" ", 1)[0]
        if self.measure == TIME:
            return name in names.PROGRAMS
        if self.operation == FSYNC:
            return name in names.WORK and names.WORK[name].writes and sync in FLUSHED
        return name == self.operation


class _Key(NamedTuple):
    workload: str
    operation: str
    measure: str


def _key(written: str, value: object) -> _Key:
    """Parse `[WORKLOAD ]OPERATION[ PERCENTILE or iops]`, or `[COMMAND ]time`."""
    words = written.split()
    if words and words[-1].lower() == TIME and len(words) < 3:
        return _Key("".join(words[:-1]), "", TIME)
    measure = words.pop() if words and words[-1].lower() in (*_PERCENTILES, "iops") else ""
    for first in (0, 1):
        name = "_".join(words[first:])
        if name == FSYNC or name in names.OPERATIONS:
            return _Key("".join(words[:first]), name, measure.lower())
    hint = choices_hint(" ".join(words), (*names.OPERATIONS, FSYNC)) if len(words) == 1 else _FORM
    if len(words) == 1 and _parses(value, units.parse_duration):
        hint = f"if it is a command, write `{words[0]} time: {value}`"
    raise fault(f"{display_value(written)} does not name an operation", hint, written)


def _need(written: str, value: object) -> TargetNeed:
    key = _key(written, value)
    if key.measure in (*_PERCENTILES, TIME):
        return _made(key, key.measure, _read(written, value, units.parse_duration))
    text = value if isinstance(value, str) else str(value)
    if key.measure != "iops" and _parses(value, units.parse_duration):
        raise fault("a latency needs a percentile", f"write `{written} p99: {value}`", written)
    if key.operation == FSYNC:
        raise fault("fsync needs a latency", "write `fsync p99: 10ms`", written)
    found = _IOPS.fullmatch(text.strip())
    counted = key.measure == "iops" or names.is_counted(key.operation)
    if found and (counted or found["unit"]):
        return _made(key, "iops", float(found["number"]) * _FACTORS[found["factor"]])
    if counted:
        raise fault(
            f"{display_value(value)} is not a number of operations per second", "write it as 20k or 20000", written
        )
    return _made(key, "throughput", _read(written, value, units.parse_throughput))


def _made(key: _Key, measure: Any, limit: float) -> TargetNeed:
    if limit <= 0:
        raise fault("it is not above 0", _FORM, " ".join(part for part in key if part))
    return TargetNeed(operation=key.operation, measure=measure, limit=limit, workload=key.workload)


def _read(written: str, value: object, parse: Any) -> float:
    try:
        return float(parse(value))
    except UnitError as error:
        raise fault(error.message, error.hint, written) from None


def _parses(value: object, parse: Any) -> bool:
    try:
        parse(value)
    except UnitError:
        return False
    return isinstance(value, str)


def _needs(written: object) -> object:
    if isinstance(written, tuple):
        return written
    if not isinstance(written, Mapping) or not written:
        raise fault("it is not a list of needs" if written else "it is empty", _FORM)
    for key in written:
        if not isinstance(key, str):
            raise fault(f"{display_value(key)} does not name an operation", _FORM)
    return tuple(_need(key, value) for key, value in written.items())


Needs = Annotated[
    tuple[TargetNeed, ...],
    BeforeValidator(_needs),
    WithJsonSchema({"type": "object", "minProperties": 1, "additionalProperties": {"type": ["string", "number"]}}),
]
"""All requirements of a study, written as a mapping of the measured quantity to its limit."""
