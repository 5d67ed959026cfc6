"""What a study has mounted on the hosts that generate its load."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.study.target import Path
from assay.model.units import shown

TYPES = (
    *("nfs", "nfs4", "cifs", "smb3", "glusterfs", "moosefs", "ceph", "fuse.ceph"),
    *("lustre", "beegfs", "beegfs_nodev", "pvfs2", "gpfs"),
)
"""Types of file systems over a network. Nothing of a host itself is mounted."""
_SOURCE = re.compile(r"(//)?[A-Za-z0-9_\[][^\s\0]{0,1023}")
_BARRED = r"r?bind$|r?move$|remount$|loop(=|$)|make-|[xX]-|credentials=|secret|pass(word)?="
_OPTION = re.compile(rf"(?!{_BARRED})[A-Za-z][^\s\0,/]{{0,255}}")
"""No paths: helpers of mount(8) write to files that options name."""
_LOGINS = {"cifs": "credentials", "smb3": "credentials", "ceph": "secretfile"}
"""Type -> the option that names a file with the password (mount.cifs(8), mount.ceph(8))."""
_TEXT = {"type": "string"}


def _type(written: object) -> str:
    if isinstance(written, str) and written in TYPES:
        return written
    raise fault(f"{shown(written)} is no type of file system over a network", f"write one of {', '.join(TYPES)}")


def _source(written: object) -> str:
    if isinstance(written, str) and _SOURCE.fullmatch(written):
        return written
    raise fault(f"{shown(written)} is nothing that a server serves", "write such as nas1:/export or //nas1/share")


def _options(written: object) -> str:
    parts = written.split(",") if isinstance(written, str) else ()
    if parts and all(_OPTION.fullmatch(part) for part in parts):
        return ",".join(parts)
    hint = (
        "write options of mount(8) with commas between, such as vers=4.1,nconnect=4; a password goes in `credentials`"
    )
    raise fault(f"{shown(written)} are no options for what servers serve", hint)


class StudyMount(Frozen):
    """Something that servers serve, mounted on each host that generates the load."""

    source: Annotated[str, BeforeValidator(_source), WithJsonSchema(_TEXT)] = Field(
        description="What, as mount(8) takes it: nas1:/export, //nas1/share."
    )
    at: Path = Field(description="Where hosts see it; the directory is made if only that is not there.")
    type: Annotated[str, BeforeValidator(_type), WithJsonSchema(_TEXT)] = Field(
        description="Type of the file system, such as nfs4, cifs, glusterfs, ceph, lustre or beegfs."
    )
    options: Annotated[str, BeforeValidator(_options), WithJsonSchema(_TEXT)] | None = Field(
        None, description="Options of mount(8), with commas between and without paths."
    )
    credentials: Path | None = Field(
        None, description="File on each host: of cifs with name and password, of ceph with the secret."
    )

    @model_validator(mode="after")
    def _takes_credentials(self) -> "StudyMount":
        if self.credentials is not None and self.type not in _LOGINS:
            raise fault(f"a mount of type {self.type} takes no credentials", "leave `credentials` out", "credentials")
        return self

    @property
    def all_options(self) -> str:
        """As mount(8) takes them; empty without any."""
        login = f"{_LOGINS[self.type]}={self.credentials}" if self.credentials else ""
        return ",".join(part for part in (self.options or "", login) if part)
