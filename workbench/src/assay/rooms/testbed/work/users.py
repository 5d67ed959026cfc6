"""The directory that all hosts of a box share, and the users of the box, whose homes are in it.

No account is made on the machine: hosts see copies of the account files with these users added.
"""

import os
import pwd
from collections.abc import Sequence
from pathlib import Path

from assay.model.regular_files import read_regular
from assay.rooms.testbed.work.disks import SHARED_FOLDER
from assay.site.installed import checked_output

ACCOUNTS = ("passwd", "group")
"""Account files of /etc that hosts see as copies, with the users of the box added."""
FIRST_ID = 59_000
"""First id for users of a box, below the range that Debian policy reserves; ids in use are skipped."""
HOMES_FOLDER = "home"
MAX_BYTES = 16 << 20
"""Largest account file or key that is read."""


def homes(disks: Path) -> Path:
    """Return the folder with the users' homes, as the machine sees it.

    Args:
        disks: Folder of the disks of the box.
    """
    return disks / SHARED_FOLDER / HOMES_FOLDER


def make_shared_directory(users: Sequence[str], shared: str, folder: Path, disks: Path) -> None:
    """Make the directory that hosts share, the users' homes in it, and the account files.

    Args:
        users: Names of the users.
        shared: The directory, as hosts see it.
        folder: Folder of the box.
        disks: Folder of the disks of the box, which exists.
    """
    place = disks / SHARED_FOLDER
    place.mkdir()
    # Like /tmp: every user may write, but not change files of others.
    place.chmod(0o1777)
    homes(disks).mkdir()
    texts = {name: _machine_accounts(name, users) for name in ACCOUNTS}
    for user, number in zip(users, _free_ids(len(users)), strict=True):
        texts["passwd"] += f"{user}:x:{number}:{number}:user of a box:{shared}/{HOMES_FOLDER}/{user}:/bin/sh\n"
        texts["group"] += f"{user}:x:{number}:\n"
        home = homes(disks) / user
        home.mkdir(mode=0o700)
        os.chown(home, number, number)
    for name, text in texts.items():
        (folder / name).write_text(text)


def _machine_accounts(name: str, users: Sequence[str]) -> str:
    """Return an account file of the machine, without entries that have a name of a user of the box."""
    lines = read_regular(f"/etc/{name}", MAX_BYTES).decode(errors="replace").splitlines()
    return "".join(f"{line}\n" for line in lines if line.partition(":")[0] not in users)


def _free_ids(count: int) -> list[int]:
    """Return ids that no user or primary group of the machine has."""
    taken = {entry.pw_uid for entry in pwd.getpwall()} | {entry.pw_gid for entry in pwd.getpwall()}
    free = (number for number in range(FIRST_ID, FIRST_ID + count + len(taken)) if number not in taken)
    return [next(free) for _ in range(count)]


def make_keys(home: Path, folder: Path) -> None:
    """Make the key with which a user logs in on other hosts, and the files that ssh needs for it.

    Args:
        home: Home of the user.
        folder: Folder of the box.

    Raises:
        AssayError: ssh-keygen fails.
    """
    owner, place = home.stat(), home / ".ssh"
    place.mkdir(mode=0o700)
    key = place / "id_ed25519"
    checked_output(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"assay-{home.name}", "-f", str(key)], f"key of {home}"
    )
    (place / "authorized_keys").write_bytes(read_regular(key.with_suffix(".pub"), MAX_BYTES))
    (place / "config").write_text(f"Include {folder}/ssh_config\n")
    for path in (place, *place.iterdir()):
        os.chown(path, owner.st_uid, owner.st_gid)


def bind_mounts(shared: str, folder: Path, disks: Path) -> list[tuple[str, str]]:
    """Return the paths to bind-mount in hosts: (path on the machine, path in the host)."""
    accounts = [(str(folder / name), f"/etc/{name}") for name in ACCOUNTS]
    return [*accounts, (str(disks / SHARED_FOLDER), shared)]
