"""The study: one question, with the targets, workloads and axes that answer it.

These classes read what may be written in a study file and hold what it means: sizes in bytes, durations in
nanoseconds, rates per second.
"""

import errno
import posixpath
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo, WithJsonSchema, model_validator

from assay.model import axis, names
from assay.model.axis import Axis, Kind, Single, Sweep, fault
from assay.model.base import Frozen
from assay.model.case import Parameters
from assay.model.units import one_of, shown

YEAR_NS = 365 * 86400 * 10**9
MOST_CASES = 100_000
"""A study with more cases than this, before `where` and `exclude`, is refused."""
MOST_JOBS = 1_000_000
"""A study with more cases x repeats than this is refused."""
MOST_OPERATIONS = 30
"""So that a job stays within 64 phases when each operation needs data to be prepared."""

KINDS: Mapping[str, Kind] = {
    "file_size": axis.size(1, 2**63 - 1),
    "record_size": axis.size(1, 2**30),
    "lanes": axis.whole(1, 1024),
    "layout": axis.choice(("separate", "shared")),
    "queue_depth": axis.whole(1, 4096),
    "method": axis.choice(("auto", "io_uring", "sync")),
    "cache": axis.choice(("direct", "drop", "evict", "limit", "keep")),
    "memory_limit": axis.size(1, 2**63 - 1, optional=True),
    "sync": axis.choice(("none", "fsync", "fdatasync", "o_sync", "o_dsync")),
    "preallocate": axis.flag(),
    "rate": axis.rate(0.001, 1e9),
    "arrivals": axis.choice(("constant", "poisson")),
    "runtime": axis.duration(1, YEAR_NS, optional=True),
    "time_limit": axis.duration(1, YEAR_NS, optional=True),
    "read_percent": axis.whole(0, 100),
    "stride": axis.whole(1, 2**20),
    "verify": axis.flag(),
    "compressible": axis.whole(0, 100),
    "duplicate": axis.whole(0, 100),
}
"""Field of a workload that may be an axis -> how its values are read. The bounds are the engine's."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _name(written: object) -> str:
    if isinstance(written, str) and _PLAIN_NAME.fullmatch(written):
        return written
    raise fault(
        f"{shown(written)} is not a name", "use 1 to 64 letters, digits, `.`, `_`, `-`, not starting with a sign"
    )


def _text(written: object) -> str:
    if not isinstance(written, str):
        raise fault(f"{shown(written)} is not text", "write text, in quotes if it looks like a number")
    return written


def _path(written: object, info: ValidationInfo) -> str:
    """An absolute path; relative ones start at the validation context's `base`."""
    hint = "write an absolute path such as /var/tmp/assay-test"
    if not isinstance(written, str) or not written:
        raise fault(f"{shown(written)} is not a path", hint)
    if not written.isprintable():
        raise fault("the path has unprintable characters", hint)
    if written.startswith("~"):
        raise fault(f"`~` is not expanded in `{written}`", "write the whole path of the home directory")
    if any(part in ("..", ".") for part in written.split("/")):
        raise fault(f"`{written}` has a `.` or `..` part", "write the path without them")
    path = posixpath.join((info.context or {}).get("base", "/"), written)
    path = "/" + posixpath.normpath(path).lstrip("/")
    if path == "/":
        raise fault("`/` cannot be a target", "name a directory below it that Assay may create")
    return path


def _listed(written: object) -> object:
    if not isinstance(written, list):
        raise fault(f"{shown(written)} is not a list", "write a list: [a, b]")
    if not written:
        raise fault("the list is empty", "write at least one item, or leave the field out")
    return written


def _groups(written: object) -> object:
    if isinstance(written, list) and all(isinstance(group, list) for group in written):
        return written
    raise fault("it is not a list of groups", "write a list in a list: zip: [[lanes, queue_depth]]")


def _errno(written: object) -> int:
    if isinstance(written, int) and not isinstance(written, bool) and 1 <= written <= 4095:
        return written
    known = {name: number for number, name in errno.errorcode.items()}
    if isinstance(written, str) and written in known:
        return known[written]
    raise fault(f"{shown(written)} is not an errno", "write a name such as EIO or ENOSPC, or a number from 1 to 4095")


def _operation(written: object) -> str:
    if isinstance(written, str) and written in names.OPERATIONS:
        return written
    raise fault(f"{shown(written)} is not an operation", one_of(written, names.OPERATIONS))


def _host(written: object) -> str:
    if written == "localhost":
        return "localhost"
    raise fault(f"{shown(written)} cannot be used as a host", "only localhost is possible in this version")


Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{_PLAIN_NAME.pattern}$"})]
Text = Annotated[str, BeforeValidator(_text)]
Path = Annotated[str, BeforeValidator(_path), WithJsonSchema({"type": "string", "minLength": 1})]
Duration = Annotated[int, Single(axis.duration(0, YEAR_NS))]
Count = Annotated[int, Single(axis.whole(0, 2**63 - 1))]
Lane = Annotated[int | None, Single(axis.whole(0, 1023, optional=True))]
Flag = Annotated[bool, Single(axis.flag())]
Errno = Annotated[
    int,
    BeforeValidator(_errno),
    WithJsonSchema({"anyOf": [{"enum": sorted(errno.errorcode.values())}, {"type": "integer", "minimum": 1}]}),
]
OperationName = Annotated[str, BeforeValidator(_operation), WithJsonSchema({"enum": list(names.OPERATIONS)})]
Host = Annotated[str, BeforeValidator(_host), WithJsonSchema({"const": "localhost"})]


class FixedLatency(Frozen):
    """Every operation of the null target takes the same time."""

    distribution: Literal["fixed"]
    time: Duration = Field(description="Service time.")


class UniformLatency(Frozen):
    """Times equally likely between two bounds."""

    distribution: Literal["uniform"]
    min: Duration = Field(description="Least service time.")
    max: Duration = Field(description="Greatest service time.")

    @model_validator(mode="after")
    def _ordered(self) -> "UniformLatency":
        if self.min > self.max:
            raise fault("min is above max", "swap them")
        return self


class ExponentialLatency(Frozen):
    """Memoryless times."""

    distribution: Literal["exponential"]
    mean: Duration = Field(description="Mean service time.")


class Stall(Frozen):
    """From its n-th operation on the null target stands still."""

    at_op: Count = Field(description="Number of the operation in the phase, from 0, counted per lane.")
    duration: Duration = Field(description="How long.")
    lane: Lane = Field(None, description="Only this lane; every lane if left out.")


class ScriptedError(Frozen):
    """The n-th operation on the null target fails."""

    at_op: Count = Field(description="Number of the operation in the phase, from 0, counted per lane.")
    errno: Errno = Field(description="The error: EIO, ENOSPC ..., or its number.")
    lane: Lane = Field(None, description="Only this lane; every lane if left out.")


class FileTarget(Frozen):
    """A directory that Assay creates, marks, and alone writes in."""

    kind: Literal["file"]
    path: Path = Field(
        description="The directory. Its parent must exist; the directory itself must be new, empty or Assay's."
    )
    description: Text = Field("", description="What it is, for the report.")


class DeviceTarget(Frozen):
    """A whole block device, which is overwritten."""

    kind: Literal["device"]
    path: Path = Field(description="The device, for example /dev/sdx. Everything on it is lost.")
    description: Text = Field("", description="What it is, for the report.")


class NullTarget(Frozen):
    """No storage: operations end at once, or as scripted."""

    kind: Literal["null"]
    latency: Annotated[
        FixedLatency | UniformLatency | ExponentialLatency | None, Field(discriminator="distribution")
    ] = Field(None, description="Service time of each operation; none if left out.")
    stalls: tuple[Stall, ...] = Field((), description="Times at which it stands still.")
    errors: tuple[ScriptedError, ...] = Field((), description="Operations that fail.")
    description: Text = Field("", description="What it is, for the report.")


Target = Annotated[FileTarget | DeviceTarget | NullTarget, Field(discriminator="kind")]


class Exclusion(Frozen):
    """Cases that are left out on purpose, and why."""

    when: Text = Field(description="Expression that is true for the cases to leave out.")
    why: Text = Field(description="The reason, for the report.")


def _parameter(name: str, description: str) -> Any:
    default = Parameters.model_fields[name].default
    return Field(
        default_factory=lambda: Axis(listed=(default,)),
        description=description,
        json_schema_extra={"default": default},
    )


class Workload(Frozen):
    """What is done to a target. Each field with a default may be one value, a list or a range; the latter are axes."""

    operations: Annotated[tuple[OperationName, ...], BeforeValidator(_listed)] = Field(
        description="The phases of one case, in order.", min_length=1, max_length=MOST_OPERATIONS
    )
    file_size: Annotated[Axis, Sweep(KINDS["file_size"])] = Field(
        description="Size of each file, or of the part of the device that is used."
    )
    record_size: Annotated[Axis, Sweep(KINDS["record_size"])] = Field(description="Bytes of one operation.")
    lanes: Annotated[Axis, Sweep(KINDS["lanes"])] = _parameter("lanes", "Worker threads.")
    layout: Annotated[Axis, Sweep(KINDS["layout"])] = _parameter(
        "layout", "separate: one file per lane; shared: one file, of which each lane has a part."
    )
    queue_depth: Annotated[Axis, Sweep(KINDS["queue_depth"])] = _parameter(
        "queue_depth", "Operations each lane keeps in flight."
    )
    method: Annotated[Axis, Sweep(KINDS["method"])] = _parameter(
        "method", "How operations reach the kernel: io_uring, sync (pread and pwrite), or auto."
    )
    cache: Annotated[Axis, Sweep(KINDS["cache"])] = _parameter(
        "cache",
        "direct: O_DIRECT; drop: the host's page cache is dropped before each phase; evict: the case's files are taken "
        "out of the cache before each phase; limit: the engine gets memory_limit bytes; keep: left alone on purpose.",
    )
    memory_limit: Annotated[Axis, Sweep(KINDS["memory_limit"])] = _parameter(
        "memory_limit", "Memory of the engine and of the cache it fills, with cache: limit."
    )
    sync: Annotated[Axis, Sweep(KINDS["sync"])] = _parameter(
        "sync", "What makes writes stable: fsync or fdatasync at the end of a phase, o_sync or o_dsync, or none."
    )
    preallocate: Annotated[Axis, Sweep(KINDS["preallocate"])] = _parameter(
        "preallocate", "Reserve the file's space before it is written."
    )
    rate: Annotated[Axis, Sweep(KINDS["rate"])] = _parameter(
        "rate", "Open loop: operations per second of all lanes together. Left out: as fast as possible."
    )
    arrivals: Annotated[Axis, Sweep(KINDS["arrivals"])] = _parameter(
        "arrivals", "Spacing of the operations at a rate: constant or poisson."
    )
    runtime: Annotated[Axis, Sweep(KINDS["runtime"])] = _parameter(
        "runtime", "Run each phase for this long, over the data as often as needed. Left out: once over the data."
    )
    time_limit: Annotated[Axis, Sweep(KINDS["time_limit"])] = _parameter(
        "time_limit", "Stop a phase after this long; the result then covers the part done."
    )
    read_percent: Annotated[Axis, Sweep(KINDS["read_percent"])] = _parameter(
        "read_percent", "Share of reads in random_mix and sequential_mix."
    )
    stride: Annotated[Axis, Sweep(KINDS["stride"])] = _parameter(
        "stride", "Distance of successive records in stride_read, in records."
    )
    verify: Annotated[Axis, Sweep(KINDS["verify"])] = _parameter("verify", "Check every byte that is read.")
    compressible: Annotated[Axis, Sweep(KINDS["compressible"])] = _parameter(
        "compressible", "Percent of the data that is zeros."
    )
    duplicate: Annotated[Axis, Sweep(KINDS["duplicate"])] = _parameter(
        "duplicate", "Percent of the data that is copies of a few blocks."
    )
    targets: Annotated[tuple[Name, ...], BeforeValidator(_listed)] | None = Field(
        None, description="Names of the targets it runs on; all if left out."
    )
    where: Text | None = Field(None, description="Only cases for which this expression is true.")
    exclude: dict[Name, Exclusion] = Field({}, description="Name -> cases to leave out and why.")
    zip: Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_groups)] = Field(
        (), description="Groups of axes that advance together."
    )
    optional: Flag = Field(
        False, description="Left out, with the reason, where this machine cannot do it, instead of refusing the run."
    )

    _written: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _remember_order(cls, written: Any, handler: Any) -> "Workload":
        workload: Workload = handler(written)
        if isinstance(written, dict):
            workload._written = tuple(written)
        return workload

    def axis(self, field: str) -> Axis:
        """The values of a field of `KINDS`."""
        found: Axis = getattr(self, field)
        return found

    @property
    def swept(self) -> tuple[str, ...]:
        """The fields that are axes, in the order they were written."""
        order = [*self._written, *(field for field in KINDS if field not in self._written)]
        return tuple(field for field in order if field in KINDS and self.axis(field).swept)


class Output(Frozen):
    """What is kept of a run."""

    interval: Annotated[int, Single(axis.duration(10**7, 3600 * 10**9))] = Field(
        10**9, description="Length of the intervals in which progress is recorded.", json_schema_extra={"default": "1s"}
    )
    keep_files: Flag = Field(False, description="Leave the test data in place after each case.")


class Study(Frozen):
    """A study file."""

    name: Name = Field(alias="study", description="Name of the study; part of each run's name.")
    question: Text = Field(description="What it is to answer, in one sentence.")
    description: Text = Field("", description="More about it, for the report.")
    targets: dict[Name, Target] = Field(description="Name -> place under test.", min_length=1)
    workloads: dict[Name, Workload] = Field(description="Name -> what is done.", min_length=1)
    repeats: Annotated[int, Single(axis.whole(1, 1000))] = Field(
        3, description="Independent executions of each case. Intervals need at least 3."
    )
    order: Literal["random", "sequential"] = Field(
        "random", description="random: each round has every case once, shuffled; sequential: rounds in plan order."
    )
    seed: Annotated[int, Single(axis.whole(0, 2**53 - 1))] = Field(1, description="Decides the order and the data.")
    hosts: Annotated[tuple[Host, ...], BeforeValidator(_listed)] = Field(
        ("localhost",), description="Machines that generate the load."
    )
    output: Output = Field(default_factory=Output, description="What is kept.")


def study_schema() -> dict[str, Any]:
    """JSON Schema of what may be written in a study file, for editors."""
    schema = Study.model_json_schema(mode="validation")
    workload = schema["$defs"]["Workload"]
    defaults = {key: value for key, value in workload.items() if key != "required"}
    defaults |= {"title": "Defaults", "description": "Fields that all workloads share."}
    schema["$defs"]["Defaults"] = defaults
    # With `defaults`, no single field is required of the workload itself.
    workload.pop("required")
    properties = schema["properties"]
    place = list(properties).index("workloads")
    items = [*properties.items()]
    items.insert(place, ("defaults", {"$ref": "#/$defs/Defaults", "description": "Fields that all workloads share."}))
    schema["properties"] = dict(items)
    for part in (schema, *schema["$defs"].values()):
        for field in part["properties"].values():
            if "patternProperties" in field:
                field["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Assay study", **schema}
