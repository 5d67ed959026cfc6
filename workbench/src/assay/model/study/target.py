"""Places under test, as a study file names them."""

import errno
import posixpath
import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from assay.model.base import Frozen
from assay.model.study import axis
from assay.model.study.axis import Single, fault
from assay.model.study.hosts import expanded
from assay.model.units import shown

YEAR_NS = 365 * 86400 * 10**9


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


def _errno(written: object) -> int:
    if isinstance(written, int) and not isinstance(written, bool) and 1 <= written <= 4095:
        return written
    known = {name: number for number, name in errno.errorcode.items()}
    if isinstance(written, str) and written in known:
        return known[written]
    raise fault(f"{shown(written)} is not an errno", "write a name such as EIO or ENOSPC, or a number from 1 to 4095")


Text = Annotated[str, BeforeValidator(_text)]
Path = Annotated[str, BeforeValidator(_path), WithJsonSchema({"type": "string", "minLength": 1})]
Duration = Annotated[int, Single(axis.duration(0, YEAR_NS))]
Count = Annotated[int, Single(axis.whole(0, 2**63 - 1))]
Lane = Annotated[int | None, Single(axis.whole(0, 1023, optional=True))]
Percent = Annotated[int, Single(axis.whole(0, 99))]
ClockStep = Annotated[int, Single(axis.duration(0, YEAR_NS))]
Throughput = Annotated[float | None, Single(axis.throughput())]
Rate = Annotated[float | None, Single(axis.rate(0.001, 1e12))]
Flag = Annotated[bool, Single(axis.flag())]
Errno = Annotated[
    int,
    BeforeValidator(_errno),
    WithJsonSchema({"anyOf": [{"enum": sorted(errno.errorcode.values())}, {"type": "integer", "minimum": 1}]}),
]


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


class ScriptedChange(Frozen):
    """From its n-th operation on the null target takes another time."""

    at_op: Count = Field(description="Number of the operation in the phase, from 0, counted per lane.")
    latency: Annotated[FixedLatency | UniformLatency | ExponentialLatency, Field(discriminator="distribution")] = Field(
        description="Service time from then on."
    )
    lane: Lane = Field(None, description="Only this lane; every lane if left out.")


class StatedCeilings(Frozen):
    """What a target cannot exceed according to its maker, its catalogue or its contract.

    A result above one of these is called impossible.
    """

    read: Throughput = Field(None, description="Bytes read per second.")
    write: Throughput = Field(None, description="Bytes written per second.")
    read_iops: Rate = Field(None, description="Read operations per second.")
    write_iops: Rate = Field(None, description="Write operations per second.")
    link: Throughput = Field(None, description="Bytes per second of the network link to it, either way.")


class FileTarget(Frozen):
    """A directory that Assay creates, marks, and alone writes in."""

    kind: Literal["file"]
    path: Path = Field(
        description="The directory. Its parent must exist; the directory itself must be new, empty or Assay's."
    )
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")


class DeviceTarget(Frozen):
    """A whole block device, which is overwritten."""

    kind: Literal["device"]
    path: Path = Field(description="The device, for example /dev/sdx. Everything on it is lost.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")


class NullTarget(Frozen):
    """No storage: operations end at once, or as scripted."""

    kind: Literal["null"]
    latency: Annotated[
        FixedLatency | UniformLatency | ExponentialLatency | None, Field(discriminator="distribution")
    ] = Field(None, description="Service time of each operation; none if left out.")
    stalls: tuple[Stall, ...] = Field((), description="Times at which it stands still.")
    errors: tuple[ScriptedError, ...] = Field((), description="Operations that fail.")
    changes: tuple[ScriptedChange, ...] = Field((), description="Moments from which another service time holds.")
    vary_percent: Percent = Field(
        0, description="Service times of each phase differ by up to this many percent from those of another."
    )
    clock_step: ClockStep = Field(0, description="The wall clock is seen to jump by this much during each phase.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")


_ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(:[0-9]{1,5})?|\[[0-9A-Fa-f:.%a-z]+\](:[0-9]{1,5})?")


def _servers(written: object) -> tuple[str, ...]:
    """Names or addresses, each with :PORT or not; node sets are written out: `server[1-4]` is four servers."""
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        hint = "write a name, a node set such as server[1-4], or a list of such"
        raise fault(f"{shown(written)} names no servers", hint)
    found = [name for text in texts for name in ((text,) if _ADDRESS.fullmatch(text) else expanded((text,), "server"))]
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise fault(f"server {twice} comes twice", "name each server once")
    return tuple(found)


def _export(written: object) -> str:
    hint = "write the path as the server exports it, such as /export"
    if not isinstance(written, str) or not written.startswith("/") or not written.isprintable():
        raise fault(f"{shown(written)} is not an exported path", hint)
    if any(part in ("..", ".") for part in written.split("/")):
        raise fault(f"`{written}` has a `.` or `..` part", hint)
    return "/" + posixpath.normpath(written).lstrip("/")


def _plain(written: object) -> str:
    if isinstance(written, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", written):
        return written
    raise fault(f"{shown(written)} is not a plain name", "use letters, digits, `.`, `_` and `-`")


Servers = Annotated[
    tuple[str, ...],
    BeforeValidator(_servers),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
Export = Annotated[str, BeforeValidator(_export), WithJsonSchema({"type": "string", "pattern": "^/"})]
PlainName = Annotated[str, BeforeValidator(_plain), WithJsonSchema({"type": "string", "minLength": 1})]
Port = Annotated[int | None, Single(axis.whole(1, 65535, optional=True))]
Identity = Annotated[int | None, Single(axis.whole(0, 2**32 - 2, optional=True))]
Connections = Annotated[int, Single(axis.whole(1, 16))]
CallSize = Annotated[int, Single(axis.size(1024, 2**30))]
Timeout = Annotated[int, Single(axis.duration(10**8, 3600 * 10**9))]


class NfsTarget(Frozen):
    """An NFS export, reached with version 3 over TCP by the engine itself: no mount, and no cache of the client."""

    kind: Literal["nfs"]
    servers: Servers = Field(
        description="One server, or several with an export each; lanes take turns among them. Node sets as in hosts."
    )
    export: Export = Field(description="Path that the servers export.")
    directory: PlainName = Field(
        "assay", description="Directory in the export that Assay makes, marks and removes; it must be new or Assay's."
    )
    port: Port = Field(None, description="Port of the NFS service; 2049 if left out.")
    mount_port: Port = Field(None, description="Port of the mount service; the portmapper is asked if left out.")
    nconnect: Connections = Field(1, description="TCP connections of each lane.")
    rsize: CallSize = Field(1 << 20, description="Bytes of one READ call at most; the server may allow less.")
    wsize: CallSize = Field(1 << 20, description="Bytes of one WRITE call at most; the server may allow less.")
    uid: Identity = Field(None, description="User that calls are made as; the engine's own if left out.")
    gid: Identity = Field(None, description="Group that calls are made as; the engine's own if left out.")
    timeout: Timeout = Field(
        60 * 10**9, description="A call without a reply for so long fails; until then it is sent again, as by a mount."
    )
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")

    @property
    def host_names(self) -> tuple[str, ...]:
        """The servers without ports."""
        return tuple(re.sub(r":[0-9]+$", "", server).strip("[]") for server in self.servers)

    @property
    def path(self) -> str:
        """Where it is, for people: server:export/directory."""
        first, more = self.servers[0], len(self.servers) - 1
        return f"{first}{f' and {more} more' if more else ''}:{self.export.rstrip('/')}/{self.directory}"


Target = Annotated[FileTarget | DeviceTarget | NfsTarget | NullTarget, Field(discriminator="kind")]
