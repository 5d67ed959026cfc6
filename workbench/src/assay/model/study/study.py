"""The study: one question, with the targets, workloads and axes that answer it.

These classes read what may be written in a study file and hold what it means: sizes in bytes, durations in
nanoseconds, rates per second.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema, field_validator, model_validator

from assay.model.base import Frozen
from assay.model.money.study_prices import StudyPrices
from assay.model.study import axis, names
from assay.model.study.axis import Axis, Kind, Single, Sweep, fault
from assay.model.study.case import Parameters
from assay.model.study.hosts import Hosts, HostsField
from assay.model.study.kinds import OfAnyKind
from assay.model.study.repeats import STANDARD, Repeats, RepeatsField
from assay.model.study.schedule import Schedule
from assay.model.study.target import YEAR_NS, Flag, Target, Text
from assay.model.units import one_of, shown

MOST_CASES = 100_000
"""A study with more cases than this, before `where` and `exclude`, is refused."""
MOST_JOBS = 1_000_000
"""A study with more cases x repeats than this is refused."""
INTERVALS = 20
"""So many intervals, if possible, show how the rate of a phase goes."""
LEAST_INTERVAL, MOST_INTERVAL = 50_000_000, 1_000_000_000
"""Bounds in nanoseconds of an interval that the study leaves open."""
MOST_OPERATIONS = 30
"""So that a job stays within 64 phases when each operation needs data to be prepared."""

KINDS: Mapping[str, Kind] = {
    "file_size": axis.size(0, 2**63 - 1),
    "record_size": axis.size(1, 2**30),
    "files": axis.whole(1, 10**9, optional=True),
    "depth": axis.whole(0, 16),
    "width": axis.whole(1, 10_000),
    "hosts": axis.whole(1, 4096),
    "servers": axis.whole(1, 1024, optional=True),
    "streams": axis.whole(1, 2**20, optional=True),
    "lanes": axis.whole(1, 1024),
    "layout": axis.choice(("separate", "shared")),
    "queue_depth": axis.whole(1, 4096),
    "method": axis.choice(("auto", "io_uring", "threads", "sync", "mmap")),
    "sqpoll": axis.flag(),
    "iopoll": axis.flag(),
    "huge_pages": axis.flag(),
    "cpus": axis.cpus(),
    "numa_node": axis.whole(0, 1023, optional=True),
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


def _operation(written: object) -> str:
    if isinstance(written, str) and written in names.OPERATIONS:
        return written
    raise fault(f"{shown(written)} is not an operation", one_of(written, names.OPERATIONS))


Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{_PLAIN_NAME.pattern}$"})]
OperationName = Annotated[str, BeforeValidator(_operation), WithJsonSchema({"enum": list(names.OPERATIONS)})]


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


_METADATA_DEFAULTS = {
    "file_size": Axis(listed=(0,)),
    "record_size": Axis(listed=(None,)),
    "cache": Axis(listed=("keep",)),
}
"""What a workload of metadata operations has where it does not say otherwise."""


def on_names(workload: Mapping[str, Any]) -> bool:
    """Whether a workload, as written, has an operation that works on names."""
    operations = workload.get("operations")
    return isinstance(operations, list) and any(word in names.METADATA for word in operations)


class Workload(Frozen):
    """What is done to a target. Each field with a default may be one value, a list or a range; the latter are axes."""

    operations: Annotated[tuple[OperationName, ...], BeforeValidator(_listed)] = Field(
        description="The phases of one case, in order.", min_length=1, max_length=MOST_OPERATIONS
    )
    file_size: Annotated[Axis, Sweep(KINDS["file_size"])] = Field(
        description="Size of each file, or of the part of the device that is used. With metadata operations the "
        "contents of each small file; 0, which is the default there, means empty."
    )
    record_size: Annotated[Axis, Sweep(KINDS["record_size"])] = Field(
        description="Bytes of one operation. Not with metadata operations."
    )
    files: Annotated[Axis, Sweep(KINDS["files"])] = _parameter(
        "files", "Metadata operations: files of each lane, or directories where directories are made."
    )
    depth: Annotated[Axis, Sweep(KINDS["depth"])] = _parameter(
        "depth", "Metadata operations: levels of directories below the top."
    )
    width: Annotated[Axis, Sweep(KINDS["width"])] = _parameter(
        "width", "Metadata operations: directories in each directory that is not one of the deepest."
    )
    hosts: Annotated[Axis, Sweep(KINDS["hosts"])] = _parameter(
        "hosts", "Machines that generate the load together: the first so many of the study's hosts."
    )
    servers: Annotated[Axis, Sweep(KINDS["servers"])] = _parameter(
        "servers", "Servers of the target that are used, the first so many. Left out: all it has."
    )
    streams: Annotated[Axis, Sweep(KINDS["streams"])] = _parameter(
        "streams", "Worker threads of all hosts together, instead of lanes; a multiple of hosts."
    )
    lanes: Annotated[Axis, Sweep(KINDS["lanes"])] = _parameter("lanes", "Worker threads of each host.")
    layout: Annotated[Axis, Sweep(KINDS["layout"])] = _parameter(
        "layout",
        "separate: one file per lane; shared: one file, of which each lane has a part. With metadata operations: a "
        "tree of directories per lane, or one for all.",
    )
    queue_depth: Annotated[Axis, Sweep(KINDS["queue_depth"])] = _parameter(
        "queue_depth", "Operations each lane keeps in flight."
    )
    method: Annotated[Axis, Sweep(KINDS["method"])] = _parameter(
        "method",
        "How operations reach the kernel: io_uring, threads (pread and pwrite in as many threads as operations are in "
        "flight), sync (pread and pwrite), mmap (copies from and to a mapping of the file), or auto.",
    )
    sqpoll: Annotated[Axis, Sweep(KINDS["sqpoll"])] = _parameter(
        "sqpoll", "With method: io_uring, a kernel thread takes the submissions; it keeps a CPU busy."
    )
    iopoll: Annotated[Axis, Sweep(KINDS["iopoll"])] = _parameter(
        "iopoll", "With method: io_uring and cache: direct, completions are polled for."
    )
    huge_pages: Annotated[Axis, Sweep(KINDS["huge_pages"])] = _parameter(
        "huge_pages", "I/O buffers in huge pages, which the host must have reserved."
    )
    cpus: Annotated[Axis, Sweep(KINDS["cpus"])] = _parameter(
        "cpus", "CPUs to pin lanes to, such as 0-3,6: lane i runs on the (i modulo n)-th. Left out: wherever it is put."
    )
    numa_node: Annotated[Axis, Sweep(KINDS["numa_node"])] = _parameter(
        "numa_node", "NUMA node whose memory holds the buffers and, without cpus, on whose CPUs the lanes run."
    )
    cache: Annotated[Axis, Sweep(KINDS["cache"])] = _parameter(
        "cache",
        "direct: O_DIRECT; drop: the host's caches are dropped before each phase; evict: the case's files are taken "
        "out of the cache before each phase; limit: the engine gets memory_limit bytes; keep: left alone on purpose. "
        "Metadata operations have keep (the default there), drop and limit.",
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
        "runtime",
        "Run each phase for this long, over the data as often as needed. Left out: once over the data. Of the metadata "
        "operations only stat, open and readdir go round; the others are done once.",
    )
    time_limit: Annotated[Axis, Sweep(KINDS["time_limit"])] = _parameter(
        "time_limit",
        "Stop a phase after this long; the result then covers the part done. rename, unlink and rmdir are done whole.",
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
        mapping = isinstance(written, dict)
        workload: Workload = handler({**_METADATA_DEFAULTS, **written} if mapping and on_names(written) else written)
        if mapping:
            workload._written = tuple(written)
        return workload

    @property
    def metadata(self) -> bool:
        """Some of its operations work on names; then all of them must."""
        return any(names.is_metadata(operation) for operation in self.operations)

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

    interval: Annotated[int | None, Single(axis.duration(10**7, 3600 * 10**9, optional=True))] = Field(
        None,
        description="Length of the intervals in which progress is recorded. Left out: a twentieth of the runtime, but "
        "at least 50ms and at most 1s; 1s without a runtime.",
    )
    keep_files: Flag = Field(False, description="Leave the test data in place after each case.")

    def interval_for(self, runtime: int | None) -> int:
        """Length of the intervals of a case that runs for `runtime`, both in nanoseconds."""
        if self.interval is not None:
            return self.interval
        return MOST_INTERVAL if runtime is None else max(LEAST_INTERVAL, min(MOST_INTERVAL, runtime // INTERVALS))


def _never_empty(schema: dict[str, Any]) -> None:
    """A section may be left out, but not be written with nothing in it."""
    section, _ = schema.pop("anyOf")
    schema.update(section)
    schema.pop("default")


class Study(Frozen):
    """A study file."""

    name: Name = Field(alias="study", description="Name of the study; part of each run's name.")
    question: Text = Field(description="What it is to answer, in one sentence.")
    description: Text = Field("", description="More about it, for the report.")
    targets: dict[Name, Annotated[Target, OfAnyKind]] = Field(description="Name -> place under test.", min_length=1)
    workloads: dict[Name, Workload] = Field(description="Name -> what is done.", min_length=1)
    repeating: Annotated[Repeats, RepeatsField()] = Field(
        STANDARD,
        alias="repeats",
        description="Independent executions of each case. A whole number; or with decide and max: until it is decided "
        "which target is faster; or with within and max: until the results are known that well. Left out: until it is "
        "decided, 5 to 20; with a single target 5.",
        json_schema_extra={"default": {"decide": "5%", "max": 20, "least": 5}},
    )
    order: Literal["random", "sequential"] = Field(
        "random", description="random: each round has every case once, shuffled; sequential: rounds in plan order."
    )
    schedule: Schedule | None = Field(
        None,
        description="Spreads the repeats over hours. May have `repeats` and `order` in it, which then stand for those "
        "of the study.",
    )
    seed: Annotated[int, Single(axis.whole(0, 2**53 - 1))] = Field(1, description="Decides the order and the data.")
    hosts: Annotated[Hosts, HostsField()] = Field(
        Hosts(),
        description="Machines that generate the load: a node set such as client[1-8], a list of such, or inventory: "
        "FILE. Left out: this machine; with a testbed its hosts with the role client.",
        json_schema_extra={"default": "localhost"},
    )
    testbed: Text | None = Field(
        None,
        description="A cluster in a box that is brought up for the run and taken down after it: the name of a preset "
        "(office, cluster-8, scaleout-4, wan) or a file that describes one.",
    )
    network: Literal["measure", "none"] = Field(
        "measure",
        description="measure: what the links between hosts and servers carry is measured before the cases, if there "
        "are any; none: it is not, and rules that need it are not evaluated.",
    )
    ceilings: Literal["measure", "none"] = Field(
        "measure",
        description="measure: what memory, device and engine can do at most is measured before the cases, which takes "
        "a few seconds for each target; none: it is not, and rules that need it are not evaluated.",
    )
    patience: Annotated[int | None, Single(axis.duration(10**9, YEAR_NS, optional=True))] = Field(
        None,
        description="Storage on which nothing ends for so long counts as hung: the repeat is incomplete, and the run "
        "goes on. Left out: two minutes, or ten times the estimate of the repeat if that is longer.",
    )
    output: Output = Field(default_factory=Output, description="What is kept.")
    prices: StudyPrices | None = Field(
        None,
        description="What the targets would cost if they were certain designs; the run keeps the prices, its report "
        "shows them.",
        json_schema_extra=_never_empty,
    )

    @field_validator("prices", mode="before")
    @classmethod
    def _prices_not_empty(cls, written: Any) -> Any:
        """A section without anything in it was begun and forgotten."""
        if written is None:
            raise fault("it is empty", "add `book` and `designs`, or leave `prices` out")
        return written

    @model_validator(mode="before")
    @classmethod
    def _schedule_in_one_place(cls, written: Any) -> Any:
        """`repeats` and `order` may be written in `schedule`, where they read well."""
        schedule = written.get("schedule") if isinstance(written, dict) else None
        if not isinstance(schedule, dict):
            return written
        inner = {field: schedule[field] for field in ("repeats", "order") if field in schedule}
        for field in inner:
            if field in written:
                raise fault(f"{field} is written in schedule and beside it", "keep one", "schedule", field)
        rest = {field: value for field, value in schedule.items() if field not in inner}
        return {**written, **inner, "schedule": rest}

    @model_validator(mode="after")
    def _something_to_decide(self) -> Self:
        """A single target leaves nothing to decide: then as many repeats as others have at least."""
        if self.repeating.decide is None or len(self.targets) > 1:
            return self
        if "repeating" in self.model_fields_set:
            hint = "name another target, or write {within: 5%, max: 30}, or a number"
            raise fault("with one target there is nothing to decide", hint, "repeats")
        least = self.repeating.least
        return self.model_copy(update={"repeating": Repeats(most=least, least=least)})

    @property
    def repeats(self) -> int:
        """Planned executions of each case; with `repeating.adaptive` the greatest number of them."""
        return self.repeating.most

    @property
    def local(self) -> bool:
        """Whether this machine alone generates the load."""
        return self.testbed is None and self.hosts.inventory is None and self.hosts.nodes in ((), ("localhost",))

    def seen_here(self, targets: Iterable[str]) -> list[str]:
        """Those of `targets` that are this machine's: no exports, and no directories of other hosts."""
        return [name for name in dict.fromkeys(targets) if self.targets[name].seen_here(self.local)]


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
