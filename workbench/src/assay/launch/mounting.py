"""Mounts that a study asks for, made on each host that generates its load, and taken away at the end."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from assay.journal.entry import MOUNT
from assay.launch.shell import Shell
from assay.model.base import EXIT_REFUSED, AssayError, Say
from assay.model.study.mounts import StudyMount

SECONDS = 60.0
_MADE, _OTHER = 31, 32
"""Exit codes of the scripts below."""
_MAKE = (
    "at=$1 type=$2 source=$3 options=$4; "
    'if mountpoint -q "$at"; then '
    '[ "$(findmnt -n -o SOURCE --mountpoint "$at" | tail -n 1)" = "$source" ] && [ "$5" = ours ] && exit 0; '
    f"exit {_OTHER}; fi; "
    'made=; [ -d "$at" ] || { mkdir "$at" || exit 1; made=1; }; '
    'if mount -t "$type" ${options:+-o "$options"} "$source" "$at"; '
    f'then [ -z "$made" ] || exit {_MADE}; else code=$?; [ -z "$made" ] || rmdir "$at"; exit $code; fi'
)
"""For sh, with point, type, source, options and whether this run has mounted it before."""
_TAKE = (
    'at=$1; n=0; while mountpoint -q "$at"; do umount "$at" && break; n=$((n+1)); [ $n -lt 20 ] || exit 1; sleep 0.5; '
    'done; [ "$2" != made ] || rmdir "$at"'
)
"""For sh, with point, and whether the directory was made for it. Servers may take a moment to be done."""


class Mounting:
    """The mounts of a run, while it is entered."""

    def __init__(
        self,
        shells: Sequence[Shell],
        mounts: Sequence[StudyMount],
        record: Callable[[str, str, Mapping[str, Any]], int],
        removed: Callable[[int], None],
        known: Mapping[str, Mapping[str, Any]],
        say: Say,
    ) -> None:
        """Nothing is mounted yet.

        Args:
            shells: Of the hosts.
            mounts: Each is made on each host.
            record: Records one before it is made: kind, name and details; its number.
            removed: Records that it is gone.
            known: Point -> details of what this run has recorded before it went on.
            say: Told of what stays.
        """
        self._shells, self._mounts, self._say = list(shells), list(mounts), say
        self._record, self._removed, self._known = record, removed, known
        self._made: list[tuple[Shell, StudyMount, bool]] = []
        self._entries: dict[str, int] = {}

    def __enter__(self) -> "Mounting":
        """Make all of them.

        Raises:
            AssayError: One cannot be made; those that were are taken away.
        """
        try:
            for mount in self._mounts:
                self._entries[mount.at] = self._record(MOUNT, mount.at, {"source": mount.source, "type": mount.type})
                for shell in self._shells:
                    self._made.append((shell, mount, self._make(shell, mount)))
        except BaseException:
            self._take_all()
            raise
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        """Take all of them away; what stays is told."""
        self._take_all()

    def _make(self, shell: Shell, mount: StudyMount) -> bool:
        """Mount one; whether its directory was made for it."""
        ours = "ours" if self._known.get(mount.at, {}).get("source") == mount.source else ""
        words = (mount.at, mount.type, mount.source, mount.all_options, ours)
        answer = shell.run(["sh", "-c", _MAKE, "sh", *words], SECONDS)
        if answer.code in (0, _MADE):
            return answer.code == _MADE
        where = f"host {shell.host.name}: {mount.at}"
        if answer.code == _OTHER:
            hint = "name a directory at which nothing is mounted, or leave `mounts` out and use what is there"
            raise AssayError(f"{where}: something is mounted there already", hint, EXIT_REFUSED)
        hint = "try the same with mount(8) there; it takes root, and the programs for the type"
        raise AssayError(f"{where}: {mount.source} cannot be mounted: {answer.last_line}", hint, EXIT_REFUSED)

    def _take_all(self) -> None:
        left: set[str] = set()
        for shell, mount, made in reversed(self._made):
            reason = "it does not answer"
            with contextlib.suppress(AssayError):
                answer = shell.run(["sh", "-c", _TAKE, "sh", mount.at, "made" if made else ""], SECONDS)
                if answer.code == 0:
                    continue
                reason = answer.last_line
            left.add(mount.at)
            self._say(f"warning: host {shell.host.name}: {mount.at}: could not be unmounted: {reason}")
        self._made = []
        for at, entry in self._entries.items():
            if at not in left:
                self._removed(entry)
        self._entries = {}
