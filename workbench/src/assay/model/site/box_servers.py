"""What a host of a box serves and mounts, as written in the file."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.study.target import Text
from assay.model.units import display_value

NAME_PATTERN = re.compile(r"[a-z][a-z0-9-]{0,30}")
SYSTEM_DIRECTORIES = frozenset(
    [
        "bin",
        "boot",
        "dev",
        "etc",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "lost+found",
        "media",
        "mnt",
        "opt",
        "proc",
        "root",
        "run",
        "sbin",
        "srv",
        "sys",
        "tmp",
        "usr",
        "var",
    ]
)
"""Top-level directories that a host shares with the machine, or that belong to the system."""


def _name(written: object) -> str:
    if isinstance(written, str) and NAME_PATTERN.fullmatch(written):
        return written
    raise fault(
        f"{display_value(written)} is not a name", "write small letters, digits and `-`, a letter first, at most 31"
    )


def _directory(written: object) -> str:
    """Check an absolute path whose first directory is not one of the machine's system."""
    hint = "write a directory such as /export or /export/a, which only this host will have"
    if not isinstance(written, str) or not re.fullmatch(r"(/[A-Za-z0-9._-]+)+", written):
        raise fault(f"{display_value(written)} is not an absolute path of plain letters", hint)
    parts = written.split("/")[1:]
    if any(part in (".", "..") for part in parts):
        raise fault(f"`{written}` has a `.` or `..` part", hint)
    if parts[0] in SYSTEM_DIRECTORIES:
        raise fault(f"`{written}`: /{parts[0]} is the system's", hint)
    return written


def _not_empty(written: object) -> object:
    if isinstance(written, str) and not written:
        raise fault("the name is empty", "write a name")
    return written


NETWORK_FILESYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "glusterfs",
    "moosefs",
    "ceph",
    "fuse.ceph",
    "lustre",
    "beegfs",
    "pvfs2",
    "tmpfs",
)
"""File system types that hosts may mount. Other types, or the options excluded below, would let the author of a box
file mount the machine's own files or run programs; helpers of mount(8) write to files named in options."""
SAFE_OPTIONS = {
    "moosefs": ("ro", "mfsmaster", "mfsport", "mfsioretries", "mfscachemode", "mfsattrcacheto", "mfsentrycacheto"),
    "fuse.ceph": (
        *("ro", "ceph.id", "ceph.mon-host", "ceph.auth-client-required", "ceph.client-oc"),
        *("ceph.client-oc-size", "ceph.fuse-disable-pagecache"),
    ),
}
"""Type -> its allowed options; others make its program write to files."""
_OPTION = r"(?!(?i:r?bind\b|r?move\b|remount\b|loop\b|make-|x-))[A-Za-z][^\s\0,/]{0,255}"


def _matching(pattern: str, what: str, hint: str, number: bool = False) -> BeforeValidator:
    """Return a validator for text that matches a pattern completely; with `number`, also for a whole number."""

    def read(written: object) -> str:
        if number and type(written) is int:
            return str(written)
        if isinstance(written, str) and re.fullmatch(pattern, written):
            return written
        raise fault(f"{display_value(written)} is not {what}", hint)

    return BeforeValidator(read)


Name = Annotated[str, BeforeValidator(_name)]
Directory = Annotated[str, BeforeValidator(_directory)]
NonEmptyText = Annotated[Text, AfterValidator(_not_empty)]
_DEVICE = _matching(r"[a-z][a-z0-9-]{0,30}", "a name of a device", "write small letters and digits: data")
_BUCKET = _matching(
    r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", "a name of a bucket", "write 3 to 63 small letters, digits, `-`"
)
_TABLE = _matching(r"[A-Za-z0-9_.-]{3,255}", "a name of a table", "write 3 to 255 letters, digits, `_`, `.`, `-`")
_USER = _matching(r"[a-z_][a-z0-9_-]{0,31}", "a name of a user", "write small letters and digits: alice")
_OPTION_WORD = _matching(
    r"[a-z0-9][a-z0-9-]{0,30}", "an option of a server", "write small letters, digits and `-`", number=True
)
_LOGIN = _matching(r"[a-z_][a-z0-9_-]{0,31}@[a-z][a-z0-9-]{0,30}", "a user of a server", "write alice@server1")
_SERVED = r"(//)?[A-Za-z0-9_\[][^\s\0]{0,1023}"
_SOURCE = _matching(_SERVED, "something that a server exports", "write for example server1:/export")
_TYPE = _matching(
    f"({'|'.join(NETWORK_FILESYSTEMS)})", "what a host can mount", f"write one of {', '.join(NETWORK_FILESYSTEMS)}"
)
_OPTIONS = _matching(f"{_OPTION}(,{_OPTION})*", "a list of mount options", "write for example ro,vers=4.2")

_PASSED = _matching(
    r"[a-z][a-z0-9-]{0,30}:[A-Za-z0-9/][A-Za-z0-9/._-]{0,254}",
    "what a host serves",
    "write for example server1:my-bucket",
)

Device = Annotated[str, _DEVICE]
Bucket = Annotated[str, _BUCKET]
Table = Annotated[str, _TABLE]
User = Annotated[str, _USER]
ServerLogin = Annotated[str, _LOGIN]
MountSource = Annotated[str, _SOURCE]
PassedName = Annotated[str, _PASSED]
MountType = Annotated[str, _TYPE]
Options = Annotated[str, _OPTIONS]
Option = Annotated[str, _OPTION_WORD]

OfferKind = Literal["directory", "device", "bucket", "table"]


@dataclass(frozen=True)
class ServerOffer:
    """One thing that a server offers.

    Attributes:
        kind: Kind of the thing.
        name: Its name in the box; for a directory, its path.
    """

    kind: OfferKind
    name: str


class BoxServer(Frozen):
    """A server that runs on a host."""

    kind: NonEmptyText = Field(description="Kind of server, such as nfs-ganesha.")
    exports: tuple[Directory, ...] = Field((), description="Directories it serves, on disks of the host.")
    devices: tuple[Device, ...] = Field((), description="Devices it serves: disks of the host without a file system.")
    buckets: tuple[Bucket, ...] = Field((), description="Buckets it has.")
    tables: tuple[Table, ...] = Field((), description="Tables it has.")
    users: tuple[User, ...] = Field(
        (), description="Users who may log in. Passwords are generated, and removed with the box."
    )
    data: Directory | None = Field(None, description="Directory on a disk of the host where it keeps its data.")
    mount: Directory | None = Field(
        None, description="Directory at which its own host sees its exports, as a file system."
    )
    options: dict[Option, Option] = Field({}, description="Options of the server, such as signing: required.")
    source: PassedName | None = Field(
        None, description="HOST:NAME of the data that it passes on; it starts when that host serves."
    )

    @model_validator(mode="after")
    def _once(self) -> "BoxServer":
        for key in ("exports", "devices", "buckets", "tables", "users"):
            names = getattr(self, key)
            twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
            if twice is not None:
                raise fault(f"{twice} comes twice", "name each once", key)
        return self

    @property
    def upstream(self) -> str:
        """Host that serves what this server passes on; empty if it passes nothing on."""
        return (self.source or "").partition(":")[0]

    @property
    def upstream_name(self) -> str:
        """Name of what it passes on; empty if it passes nothing on."""
        return (self.source or "").partition(":")[2]

    @property
    def offers(self) -> tuple[ServerOffer, ...]:
        """Everything that it offers."""
        return (
            *(ServerOffer("directory", name) for name in (*self.exports, *([self.mount] if self.mount else []))),
            *(ServerOffer("device", name) for name in self.devices),
            *(ServerOffer("bucket", name) for name in self.buckets),
            *(ServerOffer("table", name) for name in self.tables),
        )


class BoxMount(Frozen):
    """Something that a host mounts when all servers of its box answer."""

    source: MountSource = Field(description="Source as in mount(8): server1:/export, //server1/share.")
    at: Directory = Field(description="Directory at which the host mounts it.")
    type: MountType = Field(description="Type of the file system, such as nfs4 or cifs.")
    options: Options | None = Field(None, description="Options of mount(8), with commas between.")
    user: ServerLogin | None = Field(None, description="Log in as USER@HOST: the option credentials= names its file.")

    @model_validator(mode="after")
    def _plain(self) -> "BoxMount":
        known = SAFE_OPTIONS.get(self.type, ())
        for option in (self.options or "").split(",") if known and self.options else ():
            if option.partition("=")[0] not in known:
                raise fault(
                    f"{option} is not allowed as a mount option of {self.type} in a box",
                    f"write of {', '.join(known)}",
                    "options",
                )
        return self
