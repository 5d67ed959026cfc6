"""Makes the mounts of a study on each host that generates its load, and unmounts them at the end.

`model/study/mounts.py` says what a study may name. Each host checks the directory itself: it must be empty, without a
mount on it, and no other user may be able to replace it. Only the mount that was made is unmounted: the journal has its
number, device, type and source.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from assay.journal.entry import MOUNT, Journal
from assay.launch.shell import CommandResult, Shell
from assay.model.base import EXIT_REFUSED, AssayError, PrintLine, warning
from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.study.mounts import StudyMount

SECONDS = 60.0
FLUSH_SECONDS = 600.0
"""Time limit of an unmount during the run: dirty pages are written first, which may be as many as fit in memory."""
MAX_CHARS = 300
"""Most characters of an error message of mount(8)."""
MOUNTS_KEY = "seen"
"""Key in the journal: host -> its mount as `top` below prints it, and whether the directory was made for it."""
REMOUNTING_KEY = "changing"
"""Key in the journal, true while it is remounted: its number may differ then from the one at `MOUNTS_KEY`."""
_BEGIN = r"""
set -f
at=$1 shown=$2
no() { printf '%s\n' "$*"; exit 0; }
read -r boot </proc/sys/kernel/random/boot_id
up=${at%/*}
if [ -d "$up/" ] && command -v flock >/dev/null; then exec 9<"$up/" && flock -w 30 9 || no busy; fi
top() {
  seen= count=0
  while read -r id parent device root point rest; do
    [ "$point" = "$shown" ] || continue
    rest=${rest##* - } count=$((count+1)) top=$id
    type=${rest%% *} rest=${rest#* }
    seen="$boot $id $device $type ${rest%% *}"
  done </proc/self/mountinfo
}
top
"""
"""For sh, with the directory, and its name in mountinfo. `top` finds the last mount there, and counts the mounts.

A killed run may have left a command under way there, so each command takes a lock and waits for those before it.
Programs that stay, such as those that serve a mount, must not inherit the lock, hence `9<&-`.
"""
_LOOK = (
    _BEGIN
    + r"""
[ -z "$seen" ] || [ "$seen" != "$3" ] || no ours
[ -z "$seen" ] || no mounted "$seen"
folder=
while :; do
  here=${folder:-/}
  [ ! -L "$here" ] || no link "$here"
  [ -e "$here" ] || break
  [ -d "$here" ] || no file "$here"
  owner=$(stat -c %u -- "$here") mode=0$(stat -c %a -- "$here")
  case $owner in 0 | "$(id -u)") ;; *) no theirs "$here" ;; esac
  [ $((mode & 022)) -eq 0 ] || [ $((mode & 01000)) -ne 0 ] || no open "$here"
  [ "$folder" != "$at" ] || break
  rest=${at#"$folder"/}
  folder=$folder/${rest%%/*}
done
[ "$folder" = "$at" ] || no above "$here"
! cut -d: -f6 /etc/passwd | grep -qxF -- "$at" || no home
[ ! -e "$at" ] || [ -z "$(ls -A -- "$at")" ] || no full
type=$4 source=$5 options=$6
case $type,$options in
  *[,\ ]addr=* | *[,\ ]ip=*) ;;
  nfs,* | nfs4,* | cifs,* | smb3,* | glusterfs,* | moosefs,* | lustre,*)
    case $(mount --version 2>/dev/null) in *util-linux*)
      helper=mount.$type found=$(command -v "$helper")
      for folder in /sbin /sbin/fs.d /sbin/fs /usr/sbin; do [ ! -x "$folder/$helper" ] || found=$folder; done
      [ -n "$found" ] || no helper "$helper"
    esac ;;
esac
"""
)
"""For sh, with the arguments of `_BEGIN`, what this run has mounted there before, and type, source and options.

Without its helper, mount(8) of util-linux cannot resolve the name of a server; that of BusyBox can.
"""
_CHECK = _LOOK + "no fit"
_MAKE = (
    _LOOK
    + r"""
made=kept above=${at%/*} name=./${at##*/}
cd -P -- "${above:-/}" && [ "$(pwd -P)" = "${above:-/}" ] && [ ! -L "$name" ] || no replaced
[ -d "$name" ] || { mkdir -m 755 -- "$name" && made=made; } || no failed
undo() { [ "$made" = kept ] || rmdir -- "$name"; no failed; }
before=
while read -r id rest; do before="$before $id "; done </proc/self/mountinfo
mount -t "$type" ${options:+-o "$options"} "$source" "$name" >&2 9<&- || undo
top
[ $count -le 1 ] || no crowded
[ $count -eq 1 ] || {
  while read -r id parent device root point rest; do
    case $before in *" $id "*) continue ;; esac
    case $rest in *" - "*" $source "*) umount "$(printf %b "$point")" >&2 9<&- ;; esac
  done </proc/self/mountinfo
  no replaced
}
ours=$seen limits=remount,bind,nosuid,nodev,noexec
sh -c 'grep -q "^mnt_id:[[:blank:]]*$1\$" /proc/self/fdinfo/8 && exec mount -c -i -o "$2" /proc/self/fd/8' \
  sh "$top" $limits 8<"$at" 2>/dev/null || {
  top
  [ "$seen" = "$ours" ] || no crowded
  mount -i -o $limits "$at" >&2 || { umount "$at"; undo; }
}
no done $made "$ours"
"""
)
"""For sh, with the arguments of `_LOOK`. The mount gets nosuid, nodev and noexec.

The directory above is entered first, so that nothing is made elsewhere if a link takes its place. If another process
mounts something there at the same moment, ours cannot be identified, and all stays. The flags of that other mount stay,
too: they are set on the mount that a descriptor leads to, where mount(8) can do that.
"""
_TAKE = (
    _BEGIN
    + r"""
n=0
while [ -n "$seen" ]; do
  [ "$seen" = "$3" ] || no other
  said=$(umount "$at" 2>&1 9<&-) || { n=$((n+1)); [ $n -lt 20 ] || { echo "$said" >&2; no failed; }; sleep 0.5; }
  top
done
[ "$4" != made ] || rmdir -- "$at"
no gone
"""
)
"""For sh, with the arguments of `_BEGIN`, the mount, and whether the directory was made for it; retries while busy."""
_WHY = {
    "mounted": "something is mounted there already",
    "busy": "another mount command is running there",
    "link": "{} is a symbolic link",
    "file": "{} is not a directory",
    "theirs": "{} belongs to another user, who could replace it",
    "open": "{} can be changed by other users, who could replace it",
    "above": "{} does not exist",
    "home": "is the home directory of a user",
    "full": "is not empty: what it holds would be hidden",
    "crowded": "something else was mounted there at the same time: everything mounted there is left alone",
    "helper": "the program {} is not installed",
    "replaced": "was replaced while it was mounted: nothing is mounted there now",
}
_HINTS = {
    "mounted": "name a directory without a mount, or leave `mounts` out and use the present mount",
    "link": "name the directory itself",
    "above": "make it first",
    "crowded": "run `findmnt` there, and unmount what is not needed",
    "replaced": "find out what renames directories there, and try again",
}
_PACKAGES = {
    **dict.fromkeys(("nfs", "nfs4"), "nfs-common (Debian, Ubuntu), nfs-utils (RHEL, Alma, Arch) or nfs-client (SUSE)"),
    **dict.fromkeys(("cifs", "smb3"), "cifs-utils"),
    "glusterfs": "glusterfs-client (Debian, Ubuntu) or glusterfs-fuse (RHEL, Alma)",
    "moosefs": "moosefs-client",
    "lustre": "lustre-client-utils (Debian, Ubuntu) or lustre-client (RHEL, Alma)",
}
"""Type -> the package that contains its mount helper."""
_HINT = "name an empty directory, or one that does not exist yet, such as /mnt/assay"


class Mounter:
    """The mounts of a run, between entry and exit."""

    def __init__(
        self,
        shells: Sequence[Shell],
        mounts: Sequence[StudyMount],
        journal: Journal,
        known: Mapping[str, Mapping[str, Any]],
        print_line: PrintLine,
    ) -> None:
        """Mount nothing yet.

        Args:
            shells: Shells of the hosts.
            mounts: Mounts to make on each host.
            journal: Journal in which they are recorded before they are made, with what identifies them.
            known: Mount point -> details that this run recorded before it was resumed.
            print_line: Called with a warning for each mount that stays.
        """
        self._shells, self.mounts, self._say = list(shells), tuple(mounts), print_line
        self._journal, self._known = journal, known
        self._made_mounts: dict[tuple[str, str], tuple[str, str]] = {}
        """Mount point and host -> the mount, and whether its directory was made for it."""
        self._entries: dict[str, int] = {}

    def __enter__(self) -> "Mounter":
        """Check all mounts on all hosts, then make them.

        Raises:
            AssayError: One cannot be made; those that were made are unmounted.
        """
        for mount in self.mounts:
            for shell in self._shells:
                _run_script(shell, mount, _CHECK, self._mount_before(shell, mount)[0], self._was_remounting(mount))
        try:
            for mount in self.mounts:
                for shell in self._shells:
                    self._make(shell, mount)
        except BaseException:
            self._unmount_all()
            raise
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        """Unmount all; warn about those that stay."""
        self._unmount_all()

    def _mount_before(self, shell: Shell, mount: StudyMount) -> tuple[str, str]:
        """Return the mount that this run made on a host before it was resumed, and whether it made the directory."""
        match self._recorded(mount).get(shell.host.name):
            case [str(mounted), str(made)]:
                return mounted, made
        return "", ""

    def _recorded(self, mount: StudyMount) -> dict[str, Any]:
        """Return host -> mount that this run made before it was resumed, if source and type are the same."""
        known = self._known.get(mount.at, {})
        mounted = known.get(MOUNTS_KEY)
        return (
            mounted
            if isinstance(mounted, dict) and (known.get("source"), known.get("type")) == _source_and_type(mount)
            else {}
        )

    def _was_remounting(self, mount: StudyMount) -> bool:
        """Return whether this run ended while it remounted that."""
        return bool(self._known.get(mount.at, {}).get(REMOUNTING_KEY))

    def _make(self, shell: Shell, mount: StudyMount) -> None:
        """Make one mount, and record what identifies it."""
        source, kind = _source_and_type(mount)
        if mount.at not in self._entries:
            details = {
                "source": source,
                "type": kind,
                MOUNTS_KEY: self._recorded(mount),
                REMOUNTING_KEY: self._was_remounting(mount),
            }
            self._entries[mount.at] = self._journal.record(MOUNT, mount.at, details)
        before, made = self._mount_before(shell, mount)
        word, *rest = _run_script(shell, mount, _MAKE, before, self._was_remounting(mount))
        if word == "done":
            before, made = rest[1], "made" if "made" in (made, rest[0]) else "kept"
        elif rest[0]:
            before = rest[0]
        self._made_mounts[mount.at, shell.host.name] = before, made
        self._note(mount, changing=self._was_remounting(mount))

    def _note(self, mount: StudyMount, *, changing: bool) -> None:
        """Record what identifies a mount on each host, and whether it is about to be remounted."""
        source, kind = _source_and_type(mount)
        here = {host: list(mounted) for (at, host), mounted in self._made_mounts.items() if at == mount.at}
        details = {
            "source": source,
            "type": kind,
            MOUNTS_KEY: {**self._recorded(mount), **here},
            REMOUNTING_KEY: changing,
        }
        self._journal.amend(self._entries[mount.at], details)

    @contextlib.contextmanager
    def remounting(self, mounts: Sequence[StudyMount]) -> Iterator[None]:
        """Record that mounts are being remounted, by `unmount` and `mount` on several hosts at once.

        If the run ends in between, it identifies them by boot, type and source when it is resumed.
        """
        for mount in mounts:
            self._note(mount, changing=True)
        try:
            yield
        finally:
            for mount in mounts:
                self._note(mount, changing=False)

    def unmount(self, shell: Shell, mounts: Sequence[StudyMount]) -> None:
        """Unmount some mounts on a host; their directories stay.

        Raises:
            AssayError: One cannot be unmounted, or something else is mounted there now.
        """
        for mount in reversed(mounts):
            mounted, made = self._made_mounts[mount.at, shell.host.name]
            if reason := _unmount(shell, mount.at, mounted, "kept", FLUSH_SECONDS):
                message = f"host {shell.host.name}: {mount.at}: could not be unmounted: {reason}"
                raise AssayError(message, "find out with `fuser -vm` what uses it there")
            self._made_mounts[mount.at, shell.host.name] = "", made

    def mount(self, shell: Shell, mounts: Sequence[StudyMount]) -> None:
        """Mount on a host what `unmount` unmounted.

        Raises:
            AssayError: It cannot be mounted again.
        """
        for mount in mounts:
            _, made = self._made_mounts[mount.at, shell.host.name]
            mounted, _ = self._mount_before(shell, mount)
            _, *rest = _run_script(shell, mount, _MAKE, mounted, self._was_remounting(mount))
            self._made_mounts[mount.at, shell.host.name] = rest[-1], made

    def restore(self) -> None:
        """Try again to mount what could not be mounted again.

        Raises:
            AssayError: It still fails.
        """
        hosts = {shell.host.name: shell for shell in self._shells}
        for mount in self.mounts:
            for host in [host for host in hosts if self._made_mounts.get((mount.at, host), ("?",))[0] == ""]:
                with self.remounting([mount]):
                    self.mount(hosts[host], [mount])

    def _unmount_all(self) -> None:
        left: set[str] = set()
        for mount in reversed(self.mounts):
            for shell in reversed(self._shells):
                if (mounted := self._made_mounts.pop((mount.at, shell.host.name), None)) is not None:
                    reason = _unmount(shell, mount.at, *mounted)
                    if reason:
                        left.add(mount.at)
                        self._say(warning(f"host {shell.host.name}: {mount.at}: could not be unmounted: {reason}"))
        for at, entry in self._entries.items():
            if at not in left:
                self._journal.mark_removed(entry)
        self._entries = {}


def check_mounts(shells: Sequence[Shell], mounts: Sequence[StudyMount]) -> None:
    """Check on all hosts that the mounts of a study can be made; nothing is made, and no server is contacted.

    Raises:
        AssayError: One cannot be made.
    """
    for mount in mounts:
        for shell in shells:
            _run_script(shell, mount, _CHECK)


def _run_script(shell: Shell, mount: StudyMount, script: str, mounted: str = "", changed: bool = False) -> list[str]:
    """Run a script on a host; return `fit`, `ours`, or `done` with whether the directory was made, and the mount.

    Args:
        shell: Shell of the host.
        mount: The mount to make.
        script: `_CHECK` or `_MAKE`.
        mounted: The mount that this run made there before it was resumed; empty if none.
        changed: The run ended while it remounted that, so that its number may have changed.

    Raises:
        AssayError: The mount cannot be made there.
    """
    words = [mount.at, _escaped(mount.at), mounted, mount.type, mount.source, mount.all_options]
    answer = shell.run(["sh", "-c", script, "sh", *words], SECONDS)
    word, _, rest = answer.out.strip().partition(" ")
    if word == "mounted" and changed and _same_mount(mounted, rest):
        return ["ours", rest]
    if word in ("fit", "ours", "done"):
        return [word, *rest.split(" ", 1)]
    where = f"host {shell.host.name}: {mount.at}"
    if word in _WHY:
        message = f"{where}: {escape_line(_WHY[word].format(rest))}"
        install = f"install {_PACKAGES[mount.type]} there" if word == "helper" else ""
        raise AssayError(message, install or _HINTS.get(word, _HINT), EXIT_REFUSED)
    hint = "try the same with mount(8) there; it needs root and the mount helper of this type"
    raise AssayError(f"{where}: {mount.source} cannot be mounted: {error_text(answer)}", hint, EXIT_REFUSED)


def _unmount(shell: Shell, at: str, mounted: str, made: str, seconds: float = SECONDS) -> str:
    """Unmount a mount, and return why it is still there; empty if it is gone."""
    with contextlib.suppress(AssayError):
        answer = shell.run(["sh", "-c", _TAKE, "sh", at, _escaped(at), mounted, made], seconds)
        match answer.out.strip():
            case "gone":
                return ""
            case "other":
                return "something else is mounted there now"
        return error_text(answer)
    return "it does not answer"


def _source_and_type(mount: StudyMount) -> tuple[str, str]:
    return mount.source, mount.type


def _same_mount(before: str, now: str) -> bool:
    """Return whether two mounts have the same boot, type and source; number and device change each time."""
    words, others = before.split(" "), now.split(" ")
    return len(words) == len(others) > 1 and (words[0], *words[-2:]) == (others[0], *others[-2:])


def error_text(answer: CommandResult) -> str:
    """Return the errors of mount(8) and its helpers, in one line and without passwords."""
    lines = [line.strip() for line in answer.err.splitlines()]
    message = "; ".join(dict.fromkeys(line for line in lines if line and not line.startswith("Refer to the ")))
    return escape_line(redact(message))[:MAX_CHARS] or answer.last_line


def _escaped(path: str) -> str:
    r"""Return a path as /proc/self/mountinfo shows it: blanks and the like as `\040`."""
    return "".join(f"\\{ord(sign):03o}" if sign in " \t\n\\" else sign for sign in path)
