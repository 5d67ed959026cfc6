"""The directory that all hosts of a box have in common, and the box's own users, whose homes are in it.

No account is made on the machine: hosts see files of accounts that have these users besides the machine's.
"""

import os
import pwd
from collections.abc import Sequence
from pathlib import Path

from assay.model.regular import read_regular
from assay.site.box.disks import SHARED
from assay.site.box.programs import run

ACCOUNTS = ("passwd", "group")
"""Files of /etc that hosts have a copy of, with the users of the box."""
FIRST_ID = 59_000
"""The users' ids count up from here, past those that the machine has: below what Debian's policy keeps for itself."""
HOMES = "home"
MOST_BYTES = 16 << 20
"""Of a file of accounts, or a key."""


def homes(disks: Path) -> Path:
    """Where the homes of users are on the machine, of a box with this folder of disks."""
    return disks / SHARED / HOMES


def make(users: Sequence[str], shared: str, folder: Path, disks: Path) -> None:
    """Make the directory that hosts share, the users' homes in it, and the files of accounts.

    Args:
        users: Their names.
        shared: The directory, as hosts see it.
        folder: Of the box.
        disks: Of the box's disks, which exists.
    """
    place = disks / SHARED
    place.mkdir()
    # As /tmp: every user may write, and only into what is theirs.
    place.chmod(0o1777)
    homes(disks).mkdir()
    texts = {name: _kept(name, users) for name in ACCOUNTS}
    for user, number in zip(users, _free(len(users)), strict=True):
        texts["passwd"] += f"{user}:x:{number}:{number}:user of a box:{shared}/{HOMES}/{user}:/bin/sh\n"
        texts["group"] += f"{user}:x:{number}:\n"
        home = homes(disks) / user
        home.mkdir(mode=0o700)
        os.chown(home, number, number)
    for name, text in texts.items():
        (folder / name).write_text(text)


def _kept(name: str, users: Sequence[str]) -> str:
    """A file of the machine's accounts without what has a name of the box's users."""
    lines = read_regular(f"/etc/{name}", MOST_BYTES).decode(errors="replace").splitlines()
    return "".join(f"{line}\n" for line in lines if line.partition(":")[0] not in users)


def _free(count: int) -> list[int]:
    """Ids that no user of the machine has."""
    taken = {entry.pw_uid for entry in pwd.getpwall()} | {entry.pw_gid for entry in pwd.getpwall()}
    free = (number for number in range(FIRST_ID, FIRST_ID + count + len(taken)) if number not in taken)
    return [next(free) for _ in range(count)]


def make_keys(home: Path, folder: Path) -> None:
    """The keys with which a user logs in on the other hosts, and what `ssh` reads of them.

    Args:
        home: Of the user.
        folder: Of the box.

    Raises:
        AssayError: ssh-keygen fails.
    """
    owner, place = home.stat(), home / ".ssh"
    place.mkdir(mode=0o700)
    key = place / "id_ed25519"
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"assay-{home.name}", "-f", str(key)], f"key of {home}")
    (place / "authorized_keys").write_bytes(read_regular(key.with_suffix(".pub"), MOST_BYTES))
    (place / "config").write_text(f"Include {folder}/ssh_config\n")
    for path in (place, *place.iterdir()):
        os.chown(path, owner.st_uid, owner.st_gid)


def binds(shared: str, folder: Path, disks: Path) -> list[tuple[str, str]]:
    """What hosts see elsewhere than the machine: (from, to)."""
    accounts = [(str(folder / name), f"/etc/{name}") for name in ACCOUNTS]
    return [*accounts, (str(disks / SHARED), shared)]
