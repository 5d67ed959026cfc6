"""Unmounts file systems on hosts and mounts them again, so that nothing of them stays in memory."""

import contextlib
import threading
from collections.abc import Iterable, Mapping, Sequence

from assay.launch.mounter import FLUSH_SECONDS, SECONDS, Mounter, error_text
from assay.launch.shell import Shell
from assay.model.base import AssayError
from assay.model.site.host import HostMount
from assay.model.study.mounts import StudyMount

REMOUNTED = "unmounted and mounted again"
HINT = "find out with `fuser -vm` what uses it there; unmounting needs root"
_UNMOUNT = r"""
mounted() { findmnt --noheadings --types notmpfs --mountpoint "$1" >/dev/null; }
n=0
while mounted "$1"; do
  said=$(umount "$1" 2>&1) || { n=$((n+1)); [ $n -lt 20 ] || { echo "$said" >&2; exit 1; }; sleep 0.5; }
done
"""
"""For sh, with the mount point. A tmpfs there does not count: a host may have an empty one below the mount."""


class Remounter:
    """Remounts what Assay has mounted on the hosts of a run: mounts of the study and of the site."""

    def __init__(self, mounter: Mounter | None, host_mounts: Mapping[str, Sequence[HostMount]]) -> None:
        """Do nothing yet.

        Args:
            mounter: The mounts of the study; None if it has none.
            host_mounts: Host -> mounts that Assay made when it set up the host.
        """
        self._mounting, self._made = mounter, host_mounts
        self._unmounted: dict[tuple[str, str], tuple[Shell, HostMount]] = {}
        """Host and mount point -> what is unmounted and not mounted again yet."""

    def __call__(self, paths: Sequence[str], shells: Sequence[Shell]) -> None:
        """Unmount the mounts of some directories on all hosts, and all of the same sources, and mount them again.

        Two mounts of one source may share their cache.

        Raises:
            AssayError: It fails on a host, or a directory is in no mount that Assay has made there.
        """
        of_mounting = self._mounting.mounts if self._mounting is not None else ()
        of_study = [
            mount
            for mount in of_mounting
            if mount.source in {one.source for one in of_mounting if contains_any(one.at, paths)}
        ]
        work: list[tuple[Shell, list[HostMount]]] = []
        for shell in shells:
            made = self._made.get(shell.host.name, ())
            candidates: list[HostMount | StudyMount] = [*made, *of_study]
            sources = {one.source for one in candidates if contains_any(one.at, paths)}
            chosen = [one for one in made if one.source in sources]
            points = [one.at for one in candidates if one.source in sources]
            if missing := next((path for path in paths if not any(contains_any(at, [path]) for at in points)), None):
                raise AssayError(f"host {shell.host.name}: {missing} is not on a mount that Assay has made", "")
            work.append((shell, chosen))
        problems: list[AssayError] = []
        with self._mounting.remounting(of_study) if self._mounting is not None else contextlib.nullcontext():
            threads = [threading.Thread(target=self._remount, args=(*one, of_study, problems)) for one in work]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if problems:
            raise problems[0]

    def restore(self) -> None:
        """Try again to mount what could not be mounted again, so that the files in it can be removed.

        Raises:
            AssayError: It cannot be mounted.
        """
        for shell, mount in list(self._unmounted.values()):
            self._mount(shell, mount)
        if self._mounting is not None:
            self._mounting.restore()

    def _remount(
        self, shell: Shell, made: Sequence[HostMount], of_study: Sequence[StudyMount], problems: list[AssayError]
    ) -> None:
        """Remount on one host: everything is unmounted before anything is mounted."""
        try:
            for mount in reversed(made):
                answer = shell.run(["sh", "-c", _UNMOUNT, "sh", mount.at], FLUSH_SECONDS)
                if answer.code != 0:
                    message = f"host {shell.host.name}: {mount.at}: could not be unmounted: {error_text(answer)}"
                    raise AssayError(message, HINT)
                self._unmounted[shell.host.name, mount.at] = shell, mount
            if self._mounting is not None:
                self._mounting.unmount(shell, of_study)
            for mount in made:
                self._mount(shell, mount)
            if self._mounting is not None:
                self._mounting.mount(shell, of_study)
        except AssayError as error:
            problems.append(error)

    def _mount(self, shell: Shell, mount: HostMount) -> None:
        answer = shell.run(mount.command, SECONDS)
        if answer.code != 0:
            message = f"host {shell.host.name}: {mount.at}: {mount.source} could not be mounted: {error_text(answer)}"
            raise AssayError(message, HINT)
        del self._unmounted[shell.host.name, mount.at]


def contains_any(at: str, paths: Iterable[str]) -> bool:
    """Return whether one of the paths is in the mount at `at`."""
    return any(f"{path}/".startswith(f"{at}/") for path in paths)
