"""Replicators: how each copies the source to the replica, and back."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field

from .processes import DriverError, Sync, run
from .standby import INCOMING, PROMOTED, RECEIVED, REPLICA

SOURCE, SET_ASIDE, SNAPSHOTS = "source", "set-aside", "snapshots"
"""What is in the directory of the source: its tree, what a failback would have overwritten, and snapshots."""

NANOSECONDS = "--modify-window=-1"
"""By default rsync takes two versions of the same size and the same second for the same (rsync(1), --modify-window)."""


@dataclass
class Ends:
    """The two ends of a replication.

    Attributes:
        folder: Directory of the source.
        host: Host of the replica, as ssh knows it.
        remote: Directory there.
        ssh: The ssh client with its options.
        options: Further options of the replicator.
        streams: Files, or parts of the tree, at a time.
        timeout_s: Seconds without progress after which a sync is given up.
    """

    folder: str
    host: str
    remote: str
    ssh: list[str]
    options: list[str] = field(default_factory=list)
    streams: int = 1
    timeout_s: float = 5.0

    def here(self, name: str) -> str:
        """Return a path at the source."""
        return os.path.join(self.folder, name)

    def there(self, name: str) -> str:
        """Return a path at the replica."""
        return os.path.join(self.remote, name)


class Replicator:
    """A replicator.

    Attributes:
        programs: What both hosts must have for it.
        is_continuous: It goes on by itself, and never ends.
        resolution_s: Versions whose times differ by less may be the same to it, if their sizes are.
    """

    programs: tuple[str, ...] = ("ssh",)
    is_continuous = False
    resolution_s = 2.1

    def __init__(self, ends: Ends) -> None:
        """Do nothing yet."""
        self.ends = ends

    def start(self, tree: str) -> Sync:
        """Start a sync.

        Args:
            tree: Directory that is copied: the source, or a snapshot of it.
        """
        raise NotImplementedError

    def back(self) -> Sync:
        """Start to copy the promoted replica over the source; what that would destroy goes into `SET_ASIDE`."""
        raise NotImplementedError


class Rsync(Replicator):
    """rsync over ssh; several streams share out the folders of the tree."""

    programs: tuple[str, ...] = ("rsync", "ssh")
    resolution_s = 0.0

    def start(self, tree: str) -> Sync:
        """See `Replicator`."""
        ends, sync = self.ends, Sync()
        target = f"{ends.host}:{ends.there(REPLICA)}/"
        temporary = f"--temp-dir={ends.there(INCOMING)}"
        folders = sorted(one.name for one in os.scandir(tree) if one.is_dir())
        if ends.streams > 1 and folders:
            shares = [folders[number :: ends.streams] for number in range(ends.streams)]
            commands = [
                shlex.join([*self._words(temporary), *(os.path.join(tree, name) for name in share), target])
                for share in shares
                if share
            ]
            whole = shlex.join([*self._words(temporary), f"{tree}/", target])
            waits = " ".join('wait "$1" || exit; shift;' for _ in commands)
            starts = " ".join(f'{command} & set -- "$@" $!;' for command in commands)
            return sync.start(["/bin/sh", "-c", f"{starts} {waits} {whole}"])
        return sync.start([*self._words(temporary), f"{tree}/", target])

    def back(self) -> Sync:
        """See `Replicator`."""
        ends = self.ends
        os.makedirs(ends.here(INCOMING), exist_ok=True)
        keep = ["--backup", f"--backup-dir={ends.here(SET_ASIDE)}", f"--temp-dir={ends.here(INCOMING)}"]
        source = f"{ends.host}:{ends.there(PROMOTED)}/"
        return Sync().start([*self._words(*keep), source, f"{ends.here(SOURCE)}/"])

    def _words(self, *more: str) -> list[str]:
        ends = self.ends
        timeout = f"--timeout={max(1, round(ends.timeout_s))}"
        return ["rsync", "-a", "--delete", NANOSECONDS, timeout, "-e", shlex.join(ends.ssh), *more, *ends.options]


class Rclone(Replicator):
    """rclone over SFTP."""

    programs = ("rclone", "ssh")

    def __init__(self, ends: Ends) -> None:
        """Look up how ssh reaches the replica: rclone has an SFTP client of its own."""
        super().__init__(ends)
        found: dict[str, str] = {}
        for line in run([*ends.ssh, "-G", ends.host]).splitlines():
            key, _, value = line.partition(" ")
            found.setdefault(key, value)
        keys = [found.get("identityfile", "")]
        key = next((path for path in map(os.path.expanduser, keys) if os.path.exists(path)), "")
        known = os.path.expanduser(found.get("userknownhostsfile", "").split(" ")[0])
        settings = {"host": found["hostname"], "user": found["user"], "port": found["port"], "key_file": key}
        settings["known_hosts_file"] = known if os.path.exists(known) else ""
        settings["disable_hashcheck"] = "true"
        self._remote = ":sftp," + ",".join(f"{name}='{value}'" for name, value in settings.items() if value)

    def start(self, tree: str) -> Sync:
        """See `Replicator`."""
        return Sync().start([*self._words(), tree, f"{self._remote}:{self.ends.there(REPLICA)}"])

    def back(self) -> Sync:
        """See `Replicator`."""
        keep = f"--backup-dir={self.ends.here(SET_ASIDE)}"
        source = f"{self._remote}:{self.ends.there(PROMOTED)}"
        return Sync().start([*self._words(), keep, source, self.ends.here(SOURCE)])

    def _words(self) -> list[str]:
        ends, timeout = self.ends, f"{max(1, round(self.ends.timeout_s))}s"
        words = ["rclone", "sync", "--config=", f"--timeout={timeout}", f"--contimeout={timeout}", "--retries=1"]
        words += ["--low-level-retries=1", f"--transfers={ends.streams}", f"--checkers={max(4, ends.streams)}"]
        return [*words, *ends.options]


class Lsyncd(Rsync):
    """lsyncd, which watches the source and calls rsync for what has changed. Failback is by rsync."""

    programs = ("lsyncd", "rsync", "ssh")
    is_continuous = True

    def start(self, tree: str) -> Sync:
        """Start the daemon in the foreground; it copies everything first, and never ends by itself."""
        ends = self.ends
        extra = [
            NANOSECONDS,
            f"--temp-dir={ends.there(INCOMING)}",
            f"--timeout={max(1, round(ends.timeout_s))}",
            *ends.options,
        ]
        text = f"""
settings {{ nodaemon = true, insist = true, statusFile = {_lua(ends.here("lsyncd.status"))} }}
sync {{
    default.rsync, delay = 1, delete = true,
    source = {_lua(tree)}, target = {_lua(f"{ends.host}:{ends.there(REPLICA)}/")},
    rsync = {{ archive = true, rsh = {_lua(shlex.join(ends.ssh))}, _extra = {{ {", ".join(map(_lua, extra))} }} }},
}}
"""
        with open(ends.here("lsyncd.lua"), "w") as file:
            file.write(text)
        return Sync().start(["lsyncd", "-nodaemon", ends.here("lsyncd.lua")])


def _lua(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class BtrfsSend(Replicator):
    """btrfs send and receive: each sync is a snapshot, of which only what is new is sent."""

    programs = ("btrfs", "ssh")
    resolution_s = 0.0

    def __init__(self, ends: Ends) -> None:
        """Do nothing yet; the last snapshot that both ends have is the parent of the next one."""
        super().__init__(ends)
        self.parent = ""

    def start(self, tree: str) -> Sync:
        """See `Replicator`; the tree must be a read-only snapshot."""
        ends, sync = self.ends, Sync()
        send = ["btrfs", "-q", "send", *(["-p", self.parent] if self.parent else []), *ends.options, tree]
        sync.start(send, is_read=True)
        receive = shlex.join(["btrfs", "-q", "receive", ends.there(REPLICA)])
        return sync.start([*ends.ssh, ends.host, receive], reads=sync.processes[0])

    def remove_part(self, name: str) -> None:
        """Remove what a failed sync has left of a snapshot at the replica."""
        path = shlex.quote(self.ends.there(f"{REPLICA}/{name}"))
        words = f"test ! -e {path} || btrfs -q subvolume delete {path}"
        subprocess.run([*self.ends.ssh, self.ends.host, words], stdin=subprocess.DEVNULL, check=False)

    def back(self) -> Sync:
        """Send a snapshot of the promoted replica, and make it the source; the old source stays as `SET_ASIDE`."""
        ends = self.ends
        parent = ends.there(f"{RECEIVED}/{os.path.basename(self.parent)}")
        send = shlex.join(["btrfs", "-q", "send", "-p", parent, ends.there(f"{RECEIVED}/back")])
        sync = Sync().start([*ends.ssh, ends.host, send], is_read=True)
        return sync.start(["btrfs", "-q", "receive", ends.here(SNAPSHOTS)], reads=sync.processes[0])

    def finish_back(self) -> None:
        """Put what was received in the place of the source."""
        ends = self.ends
        os.rename(ends.here(SOURCE), ends.here(SET_ASIDE))
        run(["btrfs", "-q", "subvolume", "snapshot", ends.here(f"{SNAPSHOTS}/back"), ends.here(SOURCE)])
        self.parent = ends.here(f"{SNAPSHOTS}/back")


class OwnCommand(Replicator):
    """A command of the user's own."""

    def __init__(self, ends: Ends, forth: list[str], back: list[str]) -> None:
        """Do nothing yet.

        Args:
            ends: The two ends.
            forth: Words of the command that copies to the replica.
            back: Words of the one that copies back; empty if there is none.
        """
        super().__init__(ends)
        self._forth, self._back = forth, back
        if shutil.which(forth[0]) is None:
            raise DriverError(f"this host has no program {forth[0]}; install it, or write its whole path")

    def start(self, tree: str) -> Sync:
        """See `Replicator`."""
        return Sync().start(self._filled(self._forth, tree, REPLICA))

    def back(self) -> Sync:
        """See `Replicator`; `$kept` is the directory for what would be overwritten."""
        return Sync().start(self._filled(self._back, self.ends.here(SOURCE), PROMOTED))

    def _filled(self, words: list[str], tree: str, remote: str) -> list[str]:
        ends = self.ends
        values = {"source": tree, "replica": ends.there(remote), "host": ends.host, "ssh": shlex.join(ends.ssh)}
        values |= {"kept": ends.here(SET_ASIDE), "incoming": ends.there(INCOMING)}
        return [re.sub(r"\$\{?(\w+)\}?", lambda name: values.get(name[1], name[0]), word) for word in words]


WORDS: dict[str, type[Rsync | Rclone | Lsyncd | BtrfsSend]] = {
    "rsync": Rsync,
    "rclone": Rclone,
    "lsyncd": Lsyncd,
    "btrfs": BtrfsSend,
}
"""Word of a study -> replicator."""
