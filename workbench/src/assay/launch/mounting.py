"""Mounts that a study asks for, made on each host that generates its load, and taken away at the end.

What a study may name is in `model/study/mounts.py`; a host's own answer decides where: in an empty directory that
nobody but root can put another in the place of, with nothing mounted on it. What is taken away is the mount that was
made, which the journal knows by its number, device, type and source.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from assay.journal.entry import MOUNT, Journal
from assay.launch.shell import Answer, Shell
from assay.model.base import EXIT_REFUSED, AssayError, Say, warning
from assay.model.foreign import plain
from assay.model.secret import redacted
from assay.model.study.mounts import StudyMount

SECONDS = 60.0
FLUSH_SECONDS = 600.0
"""Of a mount that is unmounted while the run goes on: what is dirty is written before, and may be a whole memory."""
MOST_WORDS = 300
"""Characters of what mount(8) complains of."""
SEEN = "seen"
"""In the journal: host -> what is mounted there, as `top` below says it, and whether the directory was made for it."""
CHANGING = "changing"
"""In the journal, while it is unmounted and mounted again: it then has another number than what `SEEN` says."""
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
"""For sh, with the directory, and as the kernel shows it. `top` finds what is mounted there last, and counts.

A run that was killed may have left a command under way there: each waits for those before it. What stays, as programs
do that serve a mount, must not have the lock, hence `9<&-`.
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
"""The same, with what this run has mounted there before, and type, source and options.

Without its helper, mount(8) of util-linux knows no server by its name; that of BusyBox does.
"""
_ASK = _LOOK + "no fit"
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
"""The same. Programs, devices and rights of what is served are never the host's.

The directory above is entered, so that nothing is made elsewhere if a link takes its place. What somebody has mounted
there at the same moment is not told from ours, and stays. So do its flags: what is limited
is the mount that a descriptor leads to, where mount(8) can do that.
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
"""For sh, with what was mounted, and whether the directory was made for it. Servers may take a moment to be done."""
_WHY = {
    "mounted": "something is mounted there already",
    "busy": "another command for mounts is under way there",
    "link": "{} is a symbolic link",
    "file": "{} is no directory",
    "theirs": "{} is of another user, who could put another directory in its place",
    "open": "{} can be changed by other users, who could put another directory in its place",
    "above": "{} does not exist",
    "home": "is the home directory of a user",
    "full": "is not empty: what it holds would be hidden",
    "crowded": "something else was mounted there at the same moment: all that is mounted there stays",
    "helper": "the program {} is not there",
    "replaced": "was replaced while it was mounted: nothing is mounted there now",
}
_HINTS = {
    "mounted": "name a directory at which nothing is mounted, or leave `mounts` out and use what is there",
    "link": "name the directory itself",
    "above": "make it first",
    "crowded": "see `findmnt` there, and unmount what is not needed",
    "replaced": "see who renames directories there, and try again",
}
_PACKAGES = {
    **dict.fromkeys(("nfs", "nfs4"), "nfs-common (Debian, Ubuntu), nfs-utils (RHEL, Alma, Arch) or nfs-client (SUSE)"),
    **dict.fromkeys(("cifs", "smb3"), "cifs-utils"),
    "glusterfs": "glusterfs-client (Debian, Ubuntu) or glusterfs-fuse (RHEL, Alma)",
    "moosefs": "moosefs-client",
    "lustre": "lustre-client-utils (Debian, Ubuntu) or lustre-client (RHEL, Alma)",
}
"""Type -> the package with its helper."""
_HINT = "name an empty directory, or one that does not exist yet, such as /mnt/assay"


class Mounting:
    """The mounts of a run, while it is entered."""

    def __init__(
        self,
        shells: Sequence[Shell],
        mounts: Sequence[StudyMount],
        journal: Journal,
        known: Mapping[str, Mapping[str, Any]],
        say: Say,
    ) -> None:
        """Nothing is mounted yet.

        Args:
            shells: Of the hosts.
            mounts: Each is made on each host.
            journal: Where they are recorded: before they are made, and by what they are known again.
            known: Point -> details of what this run has recorded before it went on.
            say: Told of what stays.
        """
        self._shells, self.mounts, self._say = list(shells), tuple(mounts), say
        self._journal, self._known = journal, known
        self._seen: dict[tuple[str, str], tuple[str, str]] = {}
        """Point and host -> what is mounted there, and whether its directory was made for it."""
        self._entries: dict[str, int] = {}

    def __enter__(self) -> "Mounting":
        """Make all of them, when all hosts have said that they can be.

        Raises:
            AssayError: One cannot be made; those that were are taken away.
        """
        for mount in self.mounts:
            for shell in self._shells:
                _ask(shell, mount, _ASK, self._before(shell, mount)[0], self._changed(mount))
        try:
            for mount in self.mounts:
                for shell in self._shells:
                    self._make(shell, mount)
        except BaseException:
            self._take_all()
            raise
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        """Take all of them away; what stays is told."""
        self._take_all()

    def _before(self, shell: Shell, mount: StudyMount) -> tuple[str, str]:
        """What this run has mounted on a host before it went on, and whether its directory was made for it."""
        match self._recorded(mount).get(shell.host.name):
            case [str(seen), str(made)]:
                return seen, made
        return "", ""

    def _recorded(self, mount: StudyMount) -> dict[str, Any]:
        """Host -> what this run has mounted there before it went on, if that was the same."""
        known = self._known.get(mount.at, {})
        seen = known.get(SEEN)
        return seen if isinstance(seen, dict) and (known.get("source"), known.get("type")) == _named(mount) else {}

    def _changed(self, mount: StudyMount) -> bool:
        """Whether this run was ended while it mounted that again."""
        return bool(self._known.get(mount.at, {}).get(CHANGING))

    def _make(self, shell: Shell, mount: StudyMount) -> None:
        """Mount one, and write down by what it is known again."""
        source, kind = _named(mount)
        if mount.at not in self._entries:
            details = {"source": source, "type": kind, SEEN: self._recorded(mount), CHANGING: self._changed(mount)}
            self._entries[mount.at] = self._journal.record(MOUNT, mount.at, details)
        before, made = self._before(shell, mount)
        word, *rest = _ask(shell, mount, _MAKE, before, self._changed(mount))
        if word == "done":
            before, made = rest[1], "made" if "made" in (made, rest[0]) else "kept"
        elif rest[0]:
            before = rest[0]
        self._seen[mount.at, shell.host.name] = before, made
        self._note(mount, changing=self._changed(mount))

    def _note(self, mount: StudyMount, *, changing: bool) -> None:
        """Write down by what a mount is known again on each host, and whether it may be another one in a moment."""
        source, kind = _named(mount)
        here = {host: list(seen) for (at, host), seen in self._seen.items() if at == mount.at}
        details = {"source": source, "type": kind, SEEN: {**self._recorded(mount), **here}, CHANGING: changing}
        self._journal.amend(self._entries[mount.at], details)

    @contextlib.contextmanager
    def changing(self, mounts: Sequence[StudyMount]) -> Iterator[None]:
        """Write down that some are unmounted and mounted again meanwhile, by `take` and `put` of several hosts at once.

        A run that ends meanwhile knows them again by what is mounted, once it goes on.
        """
        for mount in mounts:
            self._note(mount, changing=True)
        try:
            yield
        finally:
            for mount in mounts:
                self._note(mount, changing=False)

    def take(self, shell: Shell, mounts: Sequence[StudyMount]) -> None:
        """Unmount some on a host; their directories stay.

        Raises:
            AssayError: One stays, or something else is mounted there by now.
        """
        for mount in reversed(mounts):
            seen, made = self._seen[mount.at, shell.host.name]
            if reason := _taken(shell, mount.at, seen, "kept", FLUSH_SECONDS):
                message = f"host {shell.host.name}: {mount.at}: could not be unmounted: {reason}"
                raise AssayError(message, "see what uses it there")
            self._seen[mount.at, shell.host.name] = "", made

    def put(self, shell: Shell, mounts: Sequence[StudyMount]) -> None:
        """Mount on a host what was unmounted.

        Raises:
            AssayError: It cannot be mounted any more.
        """
        for mount in mounts:
            _, made = self._seen[mount.at, shell.host.name]
            seen, _ = self._before(shell, mount)
            _, *rest = _ask(shell, mount, _MAKE, seen, self._changed(mount))
            self._seen[mount.at, shell.host.name] = rest[-1], made

    def restore(self) -> None:
        """Mount what was unmounted and could not be mounted again.

        Raises:
            AssayError: It still cannot be.
        """
        hosts = {shell.host.name: shell for shell in self._shells}
        for mount in self.mounts:
            for host in [host for host in hosts if self._seen.get((mount.at, host), ("?",))[0] == ""]:
                with self.changing([mount]):
                    self.put(hosts[host], [mount])

    def _take_all(self) -> None:
        left: set[str] = set()
        for mount in reversed(self.mounts):
            for shell in reversed(self._shells):
                if (seen := self._seen.pop((mount.at, shell.host.name), None)) is not None:
                    reason = _taken(shell, mount.at, *seen)
                    if reason:
                        left.add(mount.at)
                        self._say(warning(f"host {shell.host.name}: {mount.at}: could not be unmounted: {reason}"))
        for at, entry in self._entries.items():
            if at not in left:
                self._journal.removed(entry)
        self._entries = {}


def foresee(shells: Sequence[Shell], mounts: Sequence[StudyMount]) -> None:
    """Ask hosts whether all that a study has mounted can be; nothing is made.

    Raises:
        AssayError: One cannot be, as far as is known before a server is asked.
    """
    for mount in mounts:
        for shell in shells:
            _ask(shell, mount, _ASK)


def _ask(shell: Shell, mount: StudyMount, script: str, seen: str = "", changed: bool = False) -> list[str]:
    """What a host answers: `fit`, `ours`, or `done` with whether the directory was made, and what is mounted.

    Args:
        shell: Of the host.
        mount: What there is to be.
        script: `_ASK` or `_MAKE`.
        seen: What this run has mounted there before it went on; empty if nothing.
        changed: That run was ended while it mounted that again, so that it has another number by now.

    Raises:
        AssayError: It cannot be mounted there.
    """
    words = [mount.at, _shown(mount.at), seen, mount.type, mount.source, mount.all_options]
    answer = shell.run(["sh", "-c", script, "sh", *words], SECONDS)
    word, _, rest = answer.out.strip().partition(" ")
    if word == "mounted" and changed and _alike(seen, rest):
        return ["ours", rest]
    if word in ("fit", "ours", "done"):
        return [word, *rest.split(" ", 1)]
    where = f"host {shell.host.name}: {mount.at}"
    if word in _WHY:
        message = f"{where}: {plain(_WHY[word].format(rest))}"
        install = f"install {_PACKAGES[mount.type]} there" if word == "helper" else ""
        raise AssayError(message, install or _HINTS.get(word, _HINT), EXIT_REFUSED)
    hint = "try the same with mount(8) there; it takes root, and the programs for the type"
    raise AssayError(f"{where}: {mount.source} cannot be mounted: {complaint(answer)}", hint, EXIT_REFUSED)


def _taken(shell: Shell, at: str, seen: str, made: str, seconds: float = SECONDS) -> str:
    """Take a mount away; returns why it is still there."""
    with contextlib.suppress(AssayError):
        answer = shell.run(["sh", "-c", _TAKE, "sh", at, _shown(at), seen, made], seconds)
        match answer.out.strip():
            case "gone":
                return ""
            case "other":
                return "something else is mounted there by now"
        return complaint(answer)
    return "it does not answer"


def _named(mount: StudyMount) -> tuple[str, str]:
    return mount.source, mount.type


def _alike(before: str, now: str) -> bool:
    """Whether two mounts are of one boot, type and source; numbers and devices are others each time."""
    words, others = before.split(" "), now.split(" ")
    return len(words) == len(others) > 1 and (words[0], *words[-2:]) == (others[0], *others[-2:])


def complaint(answer: Answer) -> str:
    """What mount(8) and its helpers say, in one line and without passwords."""
    lines = [line.strip() for line in answer.err.splitlines()]
    said = "; ".join(dict.fromkeys(line for line in lines if line and not line.startswith("Refer to the ")))
    return plain(redacted(said))[:MOST_WORDS] or answer.last_line


def _shown(path: str) -> str:
    r"""A path as /proc/self/mountinfo has it: blanks and the like as `\040`."""
    return "".join(f"\\{ord(sign):03o}" if sign in " \t\n\\" else sign for sign in path)
