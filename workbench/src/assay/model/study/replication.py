"""Replication of a study: a source and a replica on two hosts, how one follows the other, and what happens meanwhile.

An entry is read into `StudyReplication`. Each of its cases is one command (`commands.py`), whose program the room
`replication` has: the hook `replication_commands`.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from assay.model.frozen import Frozen
from assay.model.site.box import Link
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.target import YEAR_NS, Flag, Text
from assay.model.units import UnitError, choices_hint, display_value, format_duration, parse_duration

COMMAND = "command"
"""What a replicator of the user's own is called in names."""
REPLICATORS = {
    "rsync": ("rsync", "ssh"),
    "rclone": ("rclone", "ssh"),
    "lsyncd": ("lsyncd", "rsync", "ssh"),
    "btrfs": ("btrfs", "ssh"),
}
"""ReplicatorChoice -> the programs that both hosts must have."""
SCENARIOS = {
    "initial": "everything is copied to an empty replica",
    "update": "the source is changed, and the changes are copied",
    "steady": "an application writes at the source while replication goes on",
    "cut": "the link is cut during a sync (in a box)",
    "kill": "the replicator is killed during a sync, and started again",
    "full": "the replica's storage is full during a sync (in a box)",
    "changing": "a file changes while it is copied",
    "failover": "the source is lost, the replica takes over, and its state is brought back",
}
ONLY_IN_BOX = ("cut", "full")
"""Scenarios that harm what other programs use: the link, and the storage."""
MAX_FILES = 10**6
MAX_STREAMS = 64
_ON_CHANGE = "on change"
_TRIGGER = "write `on change`, or `every 5s`"


class ReplicatorChoice(NamedTuple):
    """A replicator.

    Attributes:
        word: A key of `REPLICATORS`, or `COMMAND`.
        run: Words of a command of the user's own.
        back: Words of the command that copies back; empty if there is none.
    """

    word: str
    run: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


class ReplicationCase(NamedTuple):
    """One combination of what an entry lists.

    Attributes:
        name: Name of its command: that of the entry, and what of it is listed.
        replicator, scenario: What copies, and what happens.
        every: Nanoseconds from one sync to the next; None: on change.
        streams: Files, or parts of the tree, at a time.
    """

    name: str
    replicator: ReplicatorChoice
    scenario: str
    every: int | None
    streams: int


OWN_VARIABLES = ("source", "replica", "host", "ssh", "incoming", "kept")
"""Names that stand for values in the words of a replicator of the user's own."""
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")


def _words(written: object) -> tuple[str, ...]:
    if not isinstance(written, list) or not written or not all(isinstance(word, str) for word in written):
        raise fault(f"{display_value(written)} is not a command", "write a list: [rsync, -a, $source/, $host:$replica]")
    for place, word in enumerate(written):
        for name in _VARIABLE.findall(word):
            if name not in OWN_VARIABLES:
                known = ", ".join(f"${one}" for one in OWN_VARIABLES)
                raise fault(f"there is no variable ${name}", f"one of: {known}", place)
    return tuple(written)


class OwnReplicator(Frozen):
    """A command of the user's own that copies the source to the replica."""

    run: Annotated[tuple[str, ...], BeforeValidator(_words)] = Field(
        description="Copies the directory $source to $replica on $host; $ssh is the ssh command, $incoming a directory "
        "there on the same file system."
    )
    back: Annotated[tuple[str, ...], BeforeValidator(_words)] = Field(
        (), description="Copies $replica on $host to $source; what it would destroy goes to $kept. For `failover`."
    )


def _listed(written: object) -> list[Any]:
    if written == []:
        raise fault("the list is empty", "write at least one item, or leave the field out")
    return written if isinstance(written, list) else [written]


def _replicators(written: object) -> tuple[ReplicatorChoice, ...]:
    found = []
    for place, one in enumerate(_listed(written)):
        inner = (place,) if isinstance(written, list) else ()
        if isinstance(one, ReplicatorChoice):
            found.append(one)
        elif isinstance(one, dict):
            found.append(_own_replicator(one))
        elif isinstance(one, str) and one in REPLICATORS:
            found.append(ReplicatorChoice(one))
        else:
            hint = f"{choices_hint(one, REPLICATORS)}; or write {{run: [PROGRAM, ...]}}"
            raise fault(f"{display_value(one)} is not a replicator", hint, *inner)
    return tuple(found)


def _own_replicator(written: dict[Any, Any]) -> ReplicatorChoice:
    own = OwnReplicator.model_validate(written)
    return ReplicatorChoice(COMMAND, own.run, own.back)


def _scenarios(written: object) -> tuple[str, ...]:
    for place, one in enumerate(listed := _listed(written)):
        if not isinstance(one, str) or one not in SCENARIOS:
            inner = (place,) if isinstance(written, list) else ()
            raise fault(f"{display_value(one)} is not a scenario", choices_hint(one, SCENARIOS), *inner)
    return tuple(listed)


def _triggers(written: object) -> tuple[int | None, ...]:
    """Return nanoseconds from one sync to the next of each trigger; None: on change."""
    found: list[int | None] = []
    for place, one in enumerate(_listed(written)):
        if one is None or isinstance(one, int):
            found.append(one)
            continue
        inner = (place,) if isinstance(written, list) else ()
        word, _, time = str(one).partition(" ")
        if one == _ON_CHANGE:
            found.append(None)
        elif word == "every" and time:
            try:
                found.append(parse_duration(time.strip()))
            except UnitError as error:
                raise fault(error.message, _TRIGGER, *inner) from None
        else:
            raise fault(f"{display_value(one)} is not a trigger", _TRIGGER, *inner)
    return tuple(found)


def _streams(written: object) -> tuple[int, ...]:
    for one in (listed := _listed(written)):
        if not isinstance(one, int) or isinstance(one, bool) or not 1 <= one <= MAX_STREAMS:
            raise fault(f"{display_value(one)} is not a number of streams", f"write 1 to {MAX_STREAMS}")
    return tuple(listed)


def _options(written: object) -> tuple[str, ...]:
    if not isinstance(written, list | tuple) or not all(isinstance(one, str) for one in written):
        raise fault("it is not a list of options", "write a list: [--compress]")
    return tuple(written)


def _items(word: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [word, {"type": "array", "items": word, "minItems": 1}]})


_REPLICATOR_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"enum": list(REPLICATORS)},
        {
            "type": "object",
            "properties": {name: {"type": "array", "items": {"type": "string"}} for name in ("run", "back")},
            "required": ["run"],
            "additionalProperties": False,
        },
    ]
}
Count = Annotated[int, SingleField(axis.whole(0, MAX_FILES))]
Time = Annotated[int, SingleField(axis.duration(10**6, YEAR_NS))]


class StudyReplication(Frozen):
    """How a replica follows its source. Fields that may be lists are axes: each combination is a case."""

    source: Text = Field(description="Host with the source.")
    replica: Text = Field(description="Host with the replica, as the source reaches it by ssh.")
    replicator: Annotated[tuple[ReplicatorChoice, ...], BeforeValidator(_replicators), _items(_REPLICATOR_SCHEMA)] = (
        Field(
            (ReplicatorChoice("rsync"),),
            description="What copies: rsync, rclone (over SFTP), lsyncd (on change), btrfs (send and receive of "
            "snapshots), or {run: [PROGRAM, ...]}. May be a list.",
            json_schema_extra={"default": "rsync"},
        )
    )
    scenario: Annotated[tuple[str, ...], BeforeValidator(_scenarios), _items({"enum": list(SCENARIOS)})] = Field(
        ("update",),
        description=f"{'; '.join(f'{word}: {about}' for word, about in SCENARIOS.items())}. May be a list.",
        json_schema_extra={"default": "update"},
    )
    trigger: Annotated[tuple[int | None, ...], BeforeValidator(_triggers), _items({"type": "string"})] = Field(
        (None,),
        description="When a sync begins in `steady` and `failover`: `on change`, or `every 5s`. May be a list.",
        json_schema_extra={"default": _ON_CHANGE},
    )
    streams: Annotated[
        tuple[int, ...],
        BeforeValidator(_streams),
        _items({"type": "integer", "minimum": 1, "maximum": MAX_STREAMS}),
    ] = Field(
        (1,),
        description="Files at a time (rclone), or parts of the tree (rsync). May be a list.",
        json_schema_extra={"default": 1},
    )
    options: Annotated[
        tuple[str, ...],
        BeforeValidator(_options),
        WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    ] = Field((), description="Further options of the replicator, such as [--compress].")
    snapshots: Flag = Field(
        False,
        description="Each sync copies a snapshot of the source, which must be on btrfs.",
    )
    read_only: Flag = Field(True, description="Users of the replica cannot write until it is promoted; needs root.")
    files: Annotated[int, SingleField(axis.whole(1, MAX_FILES))] = Field(100, description="Files of the source.")
    file_size: Annotated[int, SingleField(axis.size(1, 2**50))] = Field(64 << 10, description="Size of each.")
    new: Count = Field(10, description="Files that are added before an update.")
    updated: Count = Field(10, description="Files of which 64 KiB are changed.")
    deleted: Count = Field(5, description="Files that are deleted.")
    write_every: Time = Field(
        2 * 10**8, description="Time between two writes of 4 KiB of the application in `steady` and `failover`."
    )
    runtime: Time = Field(10**10, description="How long the application writes.")
    detect: Time = Field(2 * 10**9, description="The replica is promoted when it was silent at the source for so long.")
    timeout: Annotated[int, SingleField(axis.duration(10**9, YEAR_NS))] = Field(
        5 * 10**9, description="A sync without progress is given up after this time."
    )
    link: Link = Field(None, description="Speed of the link, which utilisation refers to. Left out: that of the box.")
    task_limit: Time = Field(6 * 10**11, description="A repeat that takes longer has failed.")
    targets: Annotated[tuple[Text, ...], BeforeValidator(_listed)] | None = Field(
        None, description="Targets that it runs on; their directories are made on both hosts. Left out: all."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.source == self.replica:
            message, hint = f"source and replica are the same host, {self.source}", "name two hosts"
            raise fault(message, hint, "replica")
        for one in self.replicator:
            if one.word == COMMAND and not one.back and "failover" in self.scenario:
                hint = "add `back: [PROGRAM, ...]` beside `run`, or leave `failover` out"
                raise fault("a command of your own cannot bring the state back", hint, "replicator")
            for scenario in self.scenario:
                if one.word == "lsyncd" and scenario in (*ONLY_IN_BOX, "changing"):
                    hint = "use rsync, which lsyncd calls, or another scenario"
                    raise fault(
                        f"lsyncd never gives up, so there is no scenario `{scenario}` with it", hint, "scenario"
                    )
        if any(one.word == "lsyncd" for one in self.replicator) and self.trigger != (None,):
            raise fault("lsyncd replicates on change", "leave `trigger` out, or use another replicator", "trigger")
        if self.runtime < 2 * self.write_every:
            raise fault("the application would write nothing", "write a runtime of many times `write_every`", "runtime")
        if self.updated + self.deleted > self.files:
            message = f"of {self.files} files, {self.updated} cannot be updated and {self.deleted} deleted"
            raise fault(message, "write fewer, or more `files`", "updated")
        disturbed = {"cut", "kill", "full"}.intersection(self.scenario)
        if disturbed and not self.new:
            raise fault("without new files there is nothing to disturb", "write new: 10", "new")
        return self

    def cases(self, name: str) -> Iterator[ReplicationCase]:
        """Yield its cases.

        Args:
            name: Name of the entry.
        """
        for replicator, scenario, every, streams in itertools.product(
            self.replicator, self.scenario, self.trigger, self.streams
        ):
            if scenario not in ("steady", "failover") and every != self.trigger[0]:
                continue  # Only these have a trigger.
            words = [name]
            words += [replicator.word] if len(self.replicator) > 1 else []
            words += [scenario] if len(self.scenario) > 1 else []
            has_triggers = len(self.trigger) > 1 and scenario in ("steady", "failover")
            words += [("on-change" if every is None else format_duration(every))] if has_triggers else []
            words += [f"{streams}-{'stream' if streams == 1 else 'streams'}"] if len(self.streams) > 1 else []
            yield ReplicationCase("-".join(words), replicator, scenario, every, streams)

    def btrfs_hosts(self) -> tuple[str, ...]:
        """Return the hosts whose directories must be on btrfs."""
        both = any(one.word == "btrfs" for one in self.replicator)
        return (self.source, self.replica) if both else (self.source,) if self.snapshots else ()

    def programs(self) -> tuple[str, ...]:
        """Return the programs that both hosts must have; of a command of the user's own the source."""
        own = [program for one in self.replicator for program in REPLICATORS.get(one.word, (*one.run[:1], "ssh"))]
        own += ["btrfs"] if self.snapshots else []
        return tuple(dict.fromkeys(("ip", "python3", *own)))
