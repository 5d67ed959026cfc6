"""An SMB share in a study file."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from assay.kinds.exports import CallSize, Connections, ExportTarget, PlainName, Port, Timeout
from assay.model.study.axis import fault
from assay.model.study.hosts import Servers
from assay.model.study.target import Flag, StatedCeilings, Text
from assay.model.units import display_value

PORT = 445
"""Standard port of SMB servers (IANA)."""
MAX_SHARES = 1024
_SHARE = re.compile(r'[^\x00-\x1f\x7f"/\\\[\]:|<>+=;,*?]{1,80}')
"""Valid share names ([MS-FSCC] section 2.1.6)."""
VERSIONS = ("2.1", "3.0", "3.0.2", "3.1.1")


def _shares(written: object) -> tuple[str, ...]:
    names = [written] if isinstance(written, str) else written
    hint = "write the name of a share, such as data, or a list of such"
    if not isinstance(names, list | tuple) or not 0 < len(names) <= MAX_SHARES:
        raise fault(f"{display_value(written)} names no shares", hint)
    for name in names:
        if not isinstance(name, str) or not _SHARE.fullmatch(name):
            raise fault(f"{display_value(name)} is not the name of a share", hint)
    if len({name.casefold() for name in names}) < len(names):
        raise fault("a share comes twice", "name each share once")
    return tuple(names)


def _version(written: object) -> str:
    # YAML reads 3.0 as a number.
    text = str(written) if isinstance(written, str | float) and not isinstance(written, bool) else ""
    if text not in VERSIONS:
        raise fault(
            f"{display_value(written)} is not a version of SMB that Assay supports",
            f"write one of {', '.join(VERSIONS)}",
        )
    return text


def _user(written: object) -> str | None:
    if written is None or (isinstance(written, str) and 0 < len(written) <= 256 and written.isprintable()):
        return written
    raise fault(f"{display_value(written)} is not the name of a user", "write USER or DOMAIN\\USER")


def _file(written: object) -> str | None:
    if written is None or (isinstance(written, str) and written.startswith("/") and written.isprintable()):
        return written
    hint = "write the absolute path of a file with lines username= and password=, as mount.cifs takes it"
    raise fault(f"{display_value(written)} is not the path of a file with credentials", hint)


_TEXT = {"type": "string"}
Shares = Annotated[
    tuple[str, ...],
    BeforeValidator(_shares),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MAX_SHARES}]}),
]
Version = Annotated[
    str, BeforeValidator(_version), WithJsonSchema({"anyOf": [{"enum": list(VERSIONS)}, {"enum": [2.1, 3.0]}]})
]
User = Annotated[str | None, BeforeValidator(_user), WithJsonSchema(_TEXT)]
Credentials = Annotated[str | None, BeforeValidator(_file), WithJsonSchema({"type": "string", "pattern": "^/"})]


FLUSHES = {
    "fsync": "FLUSH at the end of each file, inside the measured time",
    "fdatasync": "FLUSH at the end of each file, inside the measured time",
    "o_sync": "files are opened with WRITE_THROUGH",
    "o_dsync": "files are opened with WRITE_THROUGH",
    "none": "writes may still be in the servers' memory when the clock stops",
}
"""Sync policy -> its meaning ([MS-SMB2] sections 2.2.13 and 2.2.17)."""


class SmbTarget(ExportTarget):
    """An SMB share, accessed by the engine's own client, without a mount or a client cache."""

    noun: ClassVar[str] = "an SMB share"
    rank: ClassVar[int] = 4
    default_port: ClassVar[int] = PORT
    examples: ClassVar[dict[str, str]] = {"servers": "server1", "shares": "data"}

    kind: Literal["smb"]
    servers: Servers = Field(
        description="One server, or several with the same shares; lanes take turns among them. Node sets as in hosts."
    )
    shares: Shares = Field(description="Name of a share, or of several; lanes take turns among them, servers first.")
    directory: PlainName = Field(
        "assay", description="Directory in each share that Assay makes, marks and removes; it must be new or Assay's."
    )
    user: User = Field(
        None,
        description="User who signs in, as USER or DOMAIN\\USER. Left out: USER of the environment. The password is in"
        " PASSWD.",
    )
    credentials: Credentials = Field(
        None, description="File with username=, password= and maybe domain=, as of mount.cifs; on each host."
    )
    port: Port = Field(None, description="Port of the servers that are named without one. Left out: 445.")
    version: Version = Field("3.1.1", description="Newest protocol version to use: 2.1, 3.0, 3.0.2 or 3.1.1.")
    signing: Flag = Field(False, description="Sign all messages; else only if the server asks for it.")
    encryption: Flag = Field(False, description="Encrypt all messages; else only if server or share ask for it.")
    channels: Connections = Field(
        1, description="TCP connections of each lane; several need multichannel on the server."
    )
    rsize: CallSize = Field(4 << 20, description="Bytes of one READ at most; the server may allow less.")
    wsize: CallSize = Field(4 << 20, description="Bytes of one WRITE at most; the server may allow less.")
    timeout: Timeout = Field(
        60 * 10**9,
        description="A request without an answer for this long fails; until then a lost connection is opened again.",
    )
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @model_validator(mode="after")
    def _version_has_features(self) -> "SmbTarget":
        if self.version == "2.1" and self.encryption:
            raise fault("SMB 2.1 has no encryption", "leave `encryption` out, or take `version: 3.0` or newer")
        if self.version == "2.1" and self.channels > 1:
            raise fault("SMB 2.1 has no multichannel", "leave `channels` out, or take `version: 3.0` or newer")
        return self

    @classmethod
    def protocol(cls) -> str:
        """See `Target.protocol`."""
        return "SMB"

    @classmethod
    def flushes(cls) -> Mapping[str, str]:
        """See `Target.flushes`."""
        return FLUSHES

    @property
    def path(self) -> str:
        """Its place, for people to read: //server/share/directory."""
        more = len(self.servers) * len(self.shares) - 1
        return f"//{self.servers[0]}/{self.shares[0]}{f' and {more} more' if more else ''}/{self.directory}"

    def with_logins(self, logins: Mapping[tuple[str, str], str]) -> "SmbTarget":
        """See `Target.with_logins`: credentials from the study are not replaced."""
        if self.credentials is not None:
            return self
        files = [
            path for (host, user), path in logins.items() if host in self.server_names and self.user in (None, user)
        ]
        return self.model_copy(update={"credentials": files[0]}) if files else self
