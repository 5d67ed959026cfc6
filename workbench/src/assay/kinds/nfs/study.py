"""An NFS export in a study file."""

import posixpath
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from assay.kinds.exports import CallSize, Connections, ExportTarget, PlainName, Port, Timeout
from assay.model.site.storage import SiteStorage
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.hosts import Servers
from assay.model.study.target import StatedCeilings, Text
from assay.model.units import display_value

PORT = 2049
"""Standard port of NFS servers (IANA)."""


def _export(written: object) -> str:
    hint = "write the path as the server exports it, such as /export"
    if not isinstance(written, str) or not written.startswith("/") or not written.isprintable():
        raise fault(f"{display_value(written)} is not an exported path", hint)
    if any(part in ("..", ".") for part in written.split("/")):
        raise fault(f"`{written}` has a `.` or `..` part", hint)
    return "/" + posixpath.normpath(written).lstrip("/")


Export = Annotated[str, BeforeValidator(_export), WithJsonSchema({"type": "string", "pattern": "^/"})]
Identity = Annotated[int | None, SingleField(axis.whole(0, 2**32 - 2, optional=True))]


FLUSHES = {
    "fsync": "COMMIT at the end of each file, inside the measured time",
    "fdatasync": "COMMIT at the end of each file, inside the measured time",
    "o_sync": "each WRITE is FILE_SYNC",
    "o_dsync": "each WRITE is DATA_SYNC",
    "none": "writes may still be in the servers' memory when the clock stops",
}
"""Sync policy -> its meaning (RFC 1813 section 3.3.7)."""


class NfsTarget(ExportTarget):
    """An NFS export, accessed with version 3 over TCP by the engine's own client, without a mount or a client cache."""

    noun: ClassVar[str] = "an NFS export"
    rank: ClassVar[int] = 3
    default_port: ClassVar[int] = PORT
    examples: ClassVar[dict[str, str]] = {"servers": "server1", "export": "/export"}

    kind: Literal["nfs"]
    servers: Servers = Field(
        description="One server, or several with an export each; lanes take turns among them. Node sets as in hosts."
    )
    export: Export = Field(description="Path that the servers export.")
    directory: PlainName = Field(
        "assay", description="Directory in the export that Assay makes, marks and removes; it must be new or Assay's."
    )
    port: Port = Field(None, description="Port of the NFS service; 2049 if left out.")
    mount_port: Port = Field(None, description="Port of the mount service. Left out: the portmapper reports it.")
    nconnect: Connections = Field(1, description="TCP connections of each lane.")
    rsize: CallSize = Field(1 << 20, description="Bytes of one READ call at most; the server may allow less.")
    wsize: CallSize = Field(1 << 20, description="Bytes of one WRITE call at most; the server may allow less.")
    uid: Identity = Field(None, description="User that calls are made as; the engine's own if left out.")
    gid: Identity = Field(None, description="Group that calls are made as; the engine's own if left out.")
    timeout: Timeout = Field(
        60 * 10**9,
        description="A call without a reply for this long fails; until then it is sent again, as by a mount.",
    )
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @classmethod
    def protocol(cls) -> str:
        """See `Target.protocol`."""
        return "NFS"

    @classmethod
    def flushes(cls) -> Mapping[str, str]:
        """See `Target.flushes`."""
        return FLUSHES

    @classmethod
    def fields_at(cls, storage: SiteStorage) -> Mapping[str, object] | None:
        """See `Target.fields_at`. EFS has only NFS 4.1, which the engine's client has not."""
        server, _, export = storage.mount.partition(":")
        if storage.mount_type not in ("nfs", "nfs4") or not export.startswith("/") or ".efs." in server:
            return None
        servers = storage.servers if server in storage.servers else (server,)
        return {"servers": list(servers), "export": export, "port": None, "mount_port": None}

    @property
    def path(self) -> str:
        """Its place, for people to read: server:export/directory."""
        first, more = self.servers[0], len(self.servers) - 1
        return f"{first}{f' and {more} more' if more else ''}:{self.export.rstrip('/')}/{self.directory}"
