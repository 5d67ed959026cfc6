"""The common part of NFS exports and SMB shares in a study file."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from assay.kinds.families import EngineSideTarget
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.names import Group
from assay.model.study.target import TargetService
from assay.model.units import display_value

if TYPE_CHECKING:
    from assay.model.source import FieldFault
    from assay.model.study.study import Workload


def _plain(written: object) -> str:
    if isinstance(written, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", written):
        return written
    raise fault(f"{display_value(written)} is not a plain name", "use letters, digits, `.`, `_` and `-`")


PlainName = Annotated[str, BeforeValidator(_plain), WithJsonSchema({"type": "string", "minLength": 1})]
Port = Annotated[int | None, SingleField(axis.whole(1, 65535, optional=True))]
Connections = Annotated[int, SingleField(axis.whole(1, 16))]
CallSize = Annotated[int, SingleField(axis.size(1024, 2**30))]
Timeout = Annotated[int, SingleField(axis.duration(10**8, 3600 * 10**9))]


def service_at(written: str, port: int) -> TargetService:
    """Return a server from its name with or without a port.

    Args:
        written: `HOST`, `HOST:PORT`, `[V6]` or `[V6]:PORT`.
        port: Port of a server that is written without one.
    """
    name, own_port = _split(written)
    return TargetService(name.strip("[]"), int(own_port or port))


def _split(written: str) -> tuple[str, str]:
    """Split into name and port, which is empty if there is none."""
    name, colon, port = written.rpartition(":")
    return (name, port) if colon and not written.endswith("]") else (written, "")


class ExportTarget(EngineSideTarget):
    """What servers export by a protocol that the engine speaks itself, without a mount or a client cache."""

    groups: ClassVar[tuple[Group, ...]] = ("data", "names")
    times_out_when_lost: ClassVar[bool] = True
    default_port: ClassVar[int]
    """Standard port of the protocol."""

    if TYPE_CHECKING:
        # Each kind declares these as fields, in its own order.
        @property
        def servers(self) -> tuple[str, ...]:
            """Its servers, as written in the study."""

        @property
        def port(self) -> int | None:
            """Port of servers that are written without one; None for the standard port."""

    @property
    def services(self) -> tuple[TargetService, ...]:
        """Its servers, each with its port."""
        return tuple(service_at(server, self.port or self.default_port) for server in self.servers)

    def addresses(self, count: int | None) -> list[str]:
        """Return the addresses for the engine, with `port` where a server is written without one.

        Args:
            count: Number of servers to use, from the first; None for all.
        """
        port = f":{self.port}" if self.port else ""
        return [server if _split(server)[1] else f"{server}{port}" for server in self.servers[:count]]

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """See `Target.crosscheck`: the rules in `crosscheck.py` of the kind."""
        yield from self.kind_module("crosscheck").crosscheck(self, name, workload, work)
