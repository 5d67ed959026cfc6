"""File systems that a study mounts on the hosts that generate its load."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from assay.model.frozen import Frozen
from assay.model.secret import redact_word
from assay.model.study.axis import fault
from assay.model.study.target import Path
from assay.model.units import display_value

NETWORK_TYPES = (
    *("nfs", "nfs4", "cifs", "smb3", "glusterfs", "moosefs", "ceph", "fuse.ceph"),
    *("lustre", "beegfs", "beegfs_nodev", "pvfs2", "gpfs"),
)
"""Types of network file systems. Nothing of the host itself is mounted."""
SYSTEM_DIRECTORIES = (
    *(
        "bin",
        "boot",
        "dev",
        "efi",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "opt",
        "proc",
        "run",
        "sbin",
        "snap",
        "sys",
        "tmp",
    ),
    *("nix", "gnu", "usr", "var", "lost+found"),
)
"""First parts of paths that belong to the system, except below the directories in `OPEN`."""
OPEN_DIRECTORIES = ("/tmp", "/var/tmp", "/var/mnt", "/var/scratch")
ROOT, HOMES = "root", "/home"
"""No mount point may be in root's home, be the folder of the home directories, or be a home directory."""
_SOURCE = re.compile(r"(?!(PART)?(LABEL|UUID)=|ID=)(//)?[A-Za-z0-9_\[][^\s\0]{0,1023}")
"""Excludes sources by which mount(8) would find a disk of the host: LABEL=, UUID= and similar."""
_BARRED = r"r?bind$|r?move$|remount$|loop(=|$)|make-|[xX]-|credentials=|(suid|dev|exec|users?|owner|group|defaults)$"
_OPTION = re.compile(rf"(?!(?i:{_BARRED}))[A-Za-z][^\s\0,/]{{0,255}}")
"""No paths: helpers of mount(8) write to files named in options. No rights: mounts are nosuid, nodev and noexec."""
_LOGINS = {"cifs": "credentials", "smb3": "credentials", "ceph": "secretfile"}
"""Type -> the option that names the file with the password (mount.cifs(8), mount.ceph(8))."""
_TEXT = {"type": "string"}


def _type(written: object) -> str:
    if isinstance(written, str) and written in NETWORK_TYPES:
        return written
    raise fault(
        f"{display_value(written)} is not a type of network file system", f"write one of {', '.join(NETWORK_TYPES)}"
    )


def _point(path: str) -> str:
    """Check that a mount point hides neither what the system needs nor what users store."""
    parts = path.split("/")[1:]
    is_system = parts[0] in SYSTEM_DIRECTORIES and not any(path.startswith(f"{place}/") for place in OPEN_DIRECTORIES)
    is_home = parts[0] == ROOT or path == HOMES or (path.startswith(f"{HOMES}/") and len(parts) == 2)
    if is_system or is_home or any(part.startswith(".") for part in parts):
        what = "a home directory" if is_home else "the system's own" if is_system else "a hidden directory"
        raise fault(
            f"{display_value(path)} is {what}, where nothing is mounted", "write a new directory, such as /mnt/assay"
        )
    return path


def _source(written: object) -> str:
    if isinstance(written, str) and redact_word(written) != written:
        raise fault("the source has a password in it", "put it in a file on each host, and name that in `credentials`")
    if isinstance(written, str) and _SOURCE.fullmatch(written):
        return written
    raise fault(
        f"{display_value(written)} is not something that a server exports",
        "write for example nas1:/export or //nas1/share",
    )


def _options(written: object) -> str:
    parts = written.split(",") if isinstance(written, str) else ()
    if isinstance(written, str) and redact_word(written) != written:
        raise fault("the options have a password in them", "put it in a file, and name that in `credentials`")
    if parts and all(_OPTION.fullmatch(part) for part in parts):
        return ",".join(parts)
    hint = (
        "write options of mount(8) with commas between, such as vers=4.1,nconnect=4; a password goes in `credentials`"
    )
    raise fault(f"{display_value(written)} is not a list of mount options for a network file system", hint)


class StudyMount(Frozen):
    """Something that servers serve, mounted on each host that generates the load."""

    source: Annotated[str, BeforeValidator(_source), WithJsonSchema(_TEXT)] = Field(
        description="Source as in mount(8): nas1:/export, //nas1/share."
    )
    at: Annotated[Path, AfterValidator(_point)] = Field(
        description="Where hosts see it: an empty directory outside the system's; it is created if only its last part"
        " is missing."
    )
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
        """The options for mount(8); empty without any."""
        login = f"{_LOGINS[self.type]}={self.credentials}" if self.credentials else ""
        return ",".join(part for part in (self.options or "", login) if part)
