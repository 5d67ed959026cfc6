"""The study: one question, with the targets, workloads and axes that answer it.

These classes read a study file and hold its resolved values: sizes in bytes, durations in nanoseconds, rates per
second.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema, create_model, field_validator, model_validator

from assay.model.frozen import Frozen
from assay.model.money.study_prices import StudyPrices
from assay.model.study import axis, names
from assay.model.study.axis import Axis, SingleField, SweepField, ValueKind, fault
from assay.model.study.commands import (
    ONLY_OF_REPLAYS,
    ONLY_OF_RUNS,
    RECORDED,
    REPLAY,
    RUN,
    UNWRITTEN_FIELDS,
    StudyCommand,
    StudyReplay,
)
from assay.model.study.hosts import AnyHosts, Hosts
from assay.model.study.kinds import AnyKindField
from assay.model.study.needs import Needs
from assay.model.study.parameter import Parameter
from assay.model.study.parameters import DEFAULTS, DEFINITIONS
from assay.model.study.repeats import DEFAULT_REPEATS, Repeats, RepeatsField
from assay.model.study.replication import StudyReplication
from assay.model.study.schedule import Schedule
from assay.model.study.settings import Settings
from assay.model.study.stages import StageRule
from assay.model.study.target import YEAR_NS, Flag, Target, Text
from assay.model.units import choices_hint, display_value

MAX_CASES = 100_000
"""Limit on the cases of a study, before `where` and `exclude`."""
MAX_JOBS = 1_000_000
"""Limit on cases x repeats of a study."""
TARGET_INTERVALS = 20
"""Number of intervals, if possible, that show the course of a phase."""
MIN_INTERVAL_NS, MAX_INTERVAL_NS = 50_000_000, 1_000_000_000
"""Bounds in nanoseconds of the interval, if the study does not set it."""
MAX_OPERATIONS = 30
"""Keeps a job within 64 phases if each operation needs data to be prepared."""

VALUE_KINDS: Mapping[str, ValueKind] = {name: item.kind for name, item in DEFINITIONS.items()}
"""Field of a workload that may be an axis -> the kind of its values. The bounds are the engine's."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _name(written: object) -> str:
    if isinstance(written, str) and _PLAIN_NAME.fullmatch(written):
        return written
    raise fault(
        f"{display_value(written)} is not a name",
        "use 1 to 64 letters, digits, `.`, `_`, `-`; begin with a letter or a digit",
    )


def _listed(written: object) -> object:
    if not isinstance(written, list):
        raise fault(f"{display_value(written)} is not a list", "write a list: [a, b]")
    if not written:
        raise fault("the list is empty", "write at least one item, or leave the field out")
    return written


def _groups(written: object) -> object:
    if isinstance(written, list) and all(isinstance(group, list) for group in written):
        return written
    raise fault("it is not a list of groups", "write a list in a list: zip: [[lanes, queue_depth]]")


def _operation(written: object) -> str:
    if isinstance(written, str) and (written in names.OPERATIONS or written in names.PROGRAMS):
        return written
    from assay.model.study.peers import OPERATIONS

    peer = OPERATIONS.get(written) if isinstance(written, str) else None
    hint = peer.hint(str(written)) if peer else choices_hint(written, names.OPERATIONS)
    raise fault(f"{display_value(written)} is not an operation", hint)


LauncherWord = Literal["ssh", "mpirun", "srun"]
Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{_PLAIN_NAME.pattern}$"})]
OperationName = Annotated[str, BeforeValidator(_operation), WithJsonSchema({"enum": list(names.OPERATIONS)})]


class Exclusion(Frozen):
    """Cases that are left out on purpose, and why."""

    when: Text = Field(description="Expression that is true for the cases to leave out.")
    why: Text = Field(description="The reason, for the report.")


_GROUPS: tuple[names.Group, ...] = ("names", "objects", "programs")
"""Groups of operations other than data."""
_OWN_DEFAULTS = {
    group: {name: Axis(listed=own) for name, item in DEFINITIONS.items() if (own := item.own_default(group))}
    for group in _GROUPS
}
"""Group -> defaults of workloads of that group that differ from those of data operations."""


def written_group(workload: Mapping[str, Any]) -> names.Group:
    """Return the group of a workload as written: names, objects or programs if any operation has it, else data."""
    operations = workload.get("operations")
    words = [word for word in operations if isinstance(word, str)] if isinstance(operations, list) else []
    found = {names.WORK[word].group for word in words if word in names.WORK}
    return next((group for group in _GROUPS if group in found), "data")


class _Operations(Frozen):
    operations: Annotated[tuple[OperationName, ...], BeforeValidator(_listed)] = Field(
        description="The phases of one case, in order.", min_length=1, max_length=MAX_OPERATIONS
    )


def _swept(name: str, item: Parameter) -> tuple[Any, Any]:
    """Return type and definition of the workload field for a parameter."""
    kind = Annotated[Axis, SweepField(item.kind)]
    if item.is_required:
        return kind, Field(description=item.about)
    default = DEFAULTS[name]
    usual = Axis(listed=(default,))
    extra: dict[str, Any] = {"default": default}
    return kind, Field(default_factory=lambda: usual, description=item.about, json_schema_extra=extra)


if TYPE_CHECKING:
    from assay.model.study.mounts import StudyMount

    _Swept = _Operations
else:
    _Swept = create_model(
        "_Swept", __base__=_Operations, **{name: _swept(name, item) for name, item in DEFINITIONS.items()}
    )


class Workload(_Swept):
    """What is done to a target. Each field with a default may be one value, a list or a range; the latter are axes."""

    targets: Annotated[tuple[Name, ...], BeforeValidator(_listed)] | None = Field(
        None, description="Names of the targets it runs on; all if left out."
    )
    where: Text | None = Field(None, description="Only cases for which this expression is true.")
    exclude: dict[Name, Exclusion] = Field({}, description="Name -> cases to leave out and why.")
    zip: Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_groups)] = Field(
        (), description="Groups of axes that advance together."
    )
    optional: Flag = Field(
        False,
        description="If this machine cannot do it, the workload is left out, with the reason, instead of refusing the"
        " run.",
    )
    command: StudyCommand | None = Field(None, description="What is executed, if it is a command; never written here.")
    replay: StudyReplay | None = Field(None, description="What is replayed, if it is a trace; never written here.")

    _written: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _remember_order(cls, written: Any, handler: Any) -> "Workload":
        mapping = isinstance(written, dict)
        own = dict(_OWN_DEFAULTS.get(written_group(written), {})) if mapping else {}
        if mapping and any(written.get(field) is not None for field in ("file_sizes", "total_size")):
            # The largest file size is computed with the cases.
            own["file_size"] = Axis(listed=(0,))
        if mapping and written.get("segments") is not None:
            # The segments determine it, with the lanes of each case.
            own["file_size"] = Axis(listed=(0,))
        workload: Workload = handler({**own, **written} if own else written)
        if mapping:
            workload._written = tuple(written)
        return workload

    @model_validator(mode="after")
    def _programs_are_commands(self) -> Self:
        """Refuse `run` and `replay` among the operations of a workload, which has nothing to execute."""
        for operation, work, what in ((RUN, self.command, "program"), (REPLAY, self.replay, "trace")):
            if operation in self.operations and work is None:
                hint = f"write the {what} below `commands:`, beside `workloads:`"
                raise fault(f"`{operation}` needs a {what}", hint, "operations")
        return self

    @property
    def group(self) -> names.Group:
        """The group of its operations: that of any that are not on data; then all must have it."""
        return written_group({"operations": list(self.operations)})

    def axis(self, field: str) -> Axis:
        """Return the values of a field of `KINDS`."""
        found: Axis = getattr(self, field)
        return found

    @property
    def swept_fields(self) -> tuple[str, ...]:
        """The fields that are axes, in the order they are written."""
        order = [*self._written, *(field for field in VALUE_KINDS if field not in self._written)]
        return tuple(field for field in order if field in VALUE_KINDS and self.axis(field).swept)


class Output(Frozen):
    """What is kept of a run."""

    interval: Annotated[int | None, SingleField(axis.duration(10**7, 3600 * 10**9, optional=True))] = Field(
        None,
        description="Length of the intervals in which progress is recorded. Left out: a twentieth of the runtime, but "
        "at least 50ms and at most 1s; 1s without a runtime.",
    )
    keep_files: Flag = Field(False, description="Leave the test data in place after each case.")

    def interval_for(self, runtime: int | None) -> int:
        """Return the interval for a case that runs for `runtime`, both in nanoseconds."""
        if self.interval is not None:
            return self.interval
        return (
            MAX_INTERVAL_NS
            if runtime is None
            else max(MIN_INTERVAL_NS, min(MAX_INTERVAL_NS, runtime // TARGET_INTERVALS))
        )


def _never_empty(schema: dict[str, Any]) -> None:
    """Change a schema so that a section may be left out, but not be empty."""
    section, _ = schema.pop("anyOf")
    schema.update(section)
    schema.pop("default")


class Study(Frozen):
    """A study file."""

    name: Name = Field(alias="study", description="Name of the study; part of each run's name.")
    question: Text = Field(
        "", description="The question that the study answers, in one sentence; the heading of the report."
    )
    description: Text = Field("", description="More about it, for the report.")
    targets: dict[Name, Annotated[Target, AnyKindField]] = Field(description="Name -> target under test.", min_length=1)
    workloads: dict[Name, Workload] = Field(description="Name -> workload; or commands instead.", min_length=1)
    replication: dict[Name, StudyReplication] = Field(
        {}, description="Name -> source and replica, and how one follows the other; each case is a command."
    )
    repeating: Annotated[Repeats, RepeatsField()] = Field(
        DEFAULT_REPEATS,
        alias="repeats",
        description="Independent executions of each case. A whole number; or with decide and max: until it is decided "
        "which target is faster; or with within and max: until the results are known that well. Left out: until it is "
        "decided, 5 to 20; with a single target 5.",
        json_schema_extra={"default": {"decide": "5%", "max": 20, "min": 5}},
    )
    order: Literal["random", "sequential"] = Field(
        "random", description="random: each round has every case once, shuffled; sequential: rounds in plan order."
    )
    schedule: Schedule | None = Field(
        None,
        description="Spreads the repeats over hours. May contain `repeats` and `order`, which then replace those of the"
        " study.",
    )
    seed: Annotated[int, SingleField(axis.whole(0, 2**53 - 1))] = Field(
        1, description="Seed of the random order and of the data."
    )
    hosts: AnyHosts = Field(
        Hosts(),
        description="Machines that generate the load: a node set such as client[1-8], a list of such, inventory: FILE, "
        "ansible: FILE, terraform: FILE or folder, stack: NAME, parallelcluster: NAME, or allocation: the hosts of the "
        "scheduler's allocation. Left out: this machine; with a box its hosts with the role client.",
        json_schema_extra={"default": "localhost"},
    )
    launcher: LauncherWord = Field(
        "ssh",
        description="What starts the engines on the hosts: ssh, each by itself; mpirun or srun, all with one command.",
    )
    testbed: Text | None = Field(
        None,
        description="A cluster in a box that is brought up for the run and taken down after it: the name of a preset "
        "(office, cluster-8, scaleout-4, wan) or a file that describes one.",
    )
    network: Literal["measure", "none"] = Field(
        "measure",
        description="measure: the throughput of the links between hosts and servers, if there are any, is measured"
        " before the cases; none: it is not, and rules that need it are not evaluated.",
    )
    ceilings: Literal["measure", "none"] = Field(
        "measure",
        description="measure: what memory, device and engine can do at most is measured before the cases, which takes "
        "a few seconds for each target; none: it is not, and rules that need it are not evaluated.",
    )
    patience: Annotated[int | None, SingleField(axis.duration(10**9, YEAR_NS, optional=True))] = Field(
        None,
        description="Storage counts as hung if no operation completes for this long: the repeat is incomplete, and the"
        " run goes on. Left out: two minutes, or ten times the estimate of the repeat if that is longer.",
    )
    output: Output = Field(default_factory=Output, description="What the run stores.")
    settings: Settings = Field(
        Settings(), description="Required machine settings: deviations are reported, and the run continues."
    )
    stages: StageRule | None = Field(
        None,
        description="When `assay run --stage` goes on with more hosts, tasks or lanes without confirmation.",
        json_schema_extra=_never_empty,
    )
    needs: Needs = Field(
        (),
        alias="need",
        description="What each target must reach: `read: 500MB/s`, `random_read: 20k IOPS`, `write p99: 10ms`. The "
        "report says of each: yes, no, or undecided. fsync is every write where `sync` is o_sync or o_dsync; a "
        "workload may be named first: `oltp random_read p99: 2ms`.",
        json_schema_extra={"default": {}},
    )
    prices: StudyPrices | None = Field(
        None,
        description="What the targets would cost if they were certain designs; the run keeps the prices, its report "
        "shows them.",
        json_schema_extra=_never_empty,
    )

    @field_validator("prices", mode="before")
    @classmethod
    def _prices_not_empty(cls, written: Any) -> Any:
        """Refuse an empty section: its author began it and forgot it."""
        if written is None:
            raise fault("it is empty", "add `book` and `designs`, or leave `prices` out")
        return written

    @field_validator("stages", mode="before")
    @classmethod
    def _stages_not_empty(cls, written: Any) -> Any:
        """Refuse an empty section: a rule without conditions would accept everything."""
        if not written:
            raise fault("it is empty", "write efficiency or cost, or leave `stages` out")
        return written

    @model_validator(mode="before")
    @classmethod
    def _schedule_in_one_place(cls, written: Any) -> Any:
        """Move `repeats` and `order` out of `schedule`, where they may be written for readability."""
        schedule = written.get("schedule") if isinstance(written, dict) else None
        if not isinstance(schedule, dict):
            return written
        inner = {field: schedule[field] for field in ("repeats", "order") if field in schedule}
        for field in inner:
            if field in written:
                raise fault(f"{field} is written both in and outside of `schedule`", "keep one", "schedule", field)
        rest = {field: value for field, value in schedule.items() if field not in inner}
        return {**written, **inner, "schedule": rest}

    @model_validator(mode="after")
    def _something_to_decide(self) -> Self:
        """With a single target there is nothing to decide: make the fewest repeats that others have."""
        if self.repeating.decide is None or len(self.targets) > 1:
            return self
        if "repeating" in self.model_fields_set:
            hint = "name another target, or write {within: 5%, max: 30}, or a number"
            raise fault("with one target there is nothing to decide", hint, "repeats")
        least = self.repeating.min
        return self.model_copy(update={"repeating": Repeats(max=least, min=least)})

    @property
    def repeats(self) -> int:
        """Planned executions of each case; with `repeating.adaptive`, their largest number."""
        return self.repeating.max

    @property
    def is_local(self) -> bool:
        """Whether only this machine generates the load, without a launcher for its engines."""
        alone = self.testbed is None and not self.hosts.is_described and self.hosts.nodes in ((), ("localhost",))
        return alone and self.launcher == "ssh"

    def with_targets(self, targets: Mapping[str, Target]) -> "Study":
        """Return the study with these targets added or replaced."""
        return self.model_copy(update={"targets": {**self.targets, **targets}}) if targets else self

    def inspectable_targets(self, targets: Iterable[str]) -> list[str]:
        """Return the targets that this machine can inspect: no exports, and no directories of other hosts."""
        return [name for name in dict.fromkeys(targets) if self.targets[name].is_inspectable(self.is_local)]

    def mounts_of(self, targets: Iterable[str]) -> "list[StudyMount]":
        """Return what is mounted for some targets on each host that generates the load, each mount point once."""
        return list({mount.at: mount for name in targets for mount in self.targets[name].study_mounts}.values())


def _command_schema(workload: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a command that runs a program: its own fields, and those of workloads that it has."""
    shared = _shared_schema(workload, ONLY_OF_REPLAYS)
    fields = {name: field for name, field in own["properties"].items() if name not in UNWRITTEN_FIELDS}
    for name in ("inputs", "figures"):
        # A plain text is the path, or the pattern.
        forms = {"anyOf": [{"type": "string", "minLength": 1}, fields[name]["additionalProperties"]]}
        fields[name] = {**fields[name], "additionalProperties": forms}
    words = {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Words for $task."}
    shared["tasks"] = {**shared["tasks"], "anyOf": [*shared["tasks"]["anyOf"], words]}
    shared["tasks"] = {**shared["tasks"], "default": DEFINITIONS["tasks"].programs_default[0]}
    return {**own, "properties": {**fields, **shared}, "required": ["run"]}


def _replay_schema(workload: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a command that replays a trace."""
    shared = _shared_schema(workload, ONLY_OF_RUNS)
    shared["pace"] = {**shared["pace"], "default": RECORDED}
    file = own["properties"]["replay"]
    forms = {"anyOf": [{"type": "string", "minLength": 1}, {"$ref": file["$ref"]}], "description": file["description"]}
    return {**own, "properties": {"replay": forms, **shared}, "required": ["replay"]}


def _shared_schema(workload: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """Return name -> schema of the fields of workloads that commands have."""
    left_out = {"operations", *(name for name, item in DEFINITIONS.items() if not item.applies_to("programs"))}
    shared = {name: field for name, field in workload["properties"].items() if name not in left_out.union(without)}
    return {**shared, "cache": {**shared["cache"], "default": DEFINITIONS["cache"].programs_default[0]}}


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of study files, for editors."""
    schema = Study.model_json_schema(mode="validation")
    workload = schema["$defs"]["Workload"]
    defaults = {key: value for key, value in workload.items() if key != "required"}
    defaults |= {"title": "Defaults", "description": "Fields that all workloads share."}
    schema["$defs"]["Defaults"] = defaults
    # Because of `defaults`, no field is required in the workload itself.
    workload.pop("required")
    for part in (workload, defaults):
        part["properties"] = {
            name: field for name, field in part["properties"].items() if name not in ("command", "replay")
        }
    schema["$defs"]["StudyCommand"] = _command_schema(workload, schema["$defs"]["StudyCommand"])
    schema["$defs"]["StudyReplay"] = _replay_schema(workload, schema["$defs"]["StudyReplay"])
    properties = schema["properties"]
    place = list(properties).index("workloads")
    items = [*properties.items()]
    commands = {**properties["workloads"], "description": "Name -> program or trace."}
    commands["patternProperties"] = {
        name: {"anyOf": [{"$ref": "#/$defs/StudyCommand"}, {"$ref": "#/$defs/StudyReplay"}]}
        for name in properties["workloads"]["patternProperties"]
    }
    items.insert(place + 1, ("commands", commands))
    items.insert(place, ("defaults", {"$ref": "#/$defs/Defaults", "description": "Fields that all workloads share."}))
    schema["properties"] = dict(items)
    schema["required"] = [name for name in schema["required"] if name != "workloads"]
    schema["anyOf"] = [{"required": ["workloads"]}, {"required": ["commands"]}, {"required": ["replication"]}]
    for part in (schema, *schema["$defs"].values()):
        for field in part["properties"].values():
            if "patternProperties" in field:
                field["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Assay study", **schema}
