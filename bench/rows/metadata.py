"""Empty files of one directory: create, stat, unlink; in memory, and on ext4 on a loop device in memory."""

from __future__ import annotations

from pathlib import Path

from model import AbsentError, Contender, Row, Setting, at_least
from peers import assay, bare, elbencho, fio, ior
from setting import new_folder

COUNT, LOOP_COUNT = 50_000, 25_000
NOTE = (
    "Nobody flushes here: Assay's job says `sync: none`. fio looks for each file before its run, which spares the "
    "kernel a search when it creates it. mdtest's names are twice as long as the others', so that ext4 has fewer of "
    "them in a block to search."
)
MEASURES = ("create_per_s", "stat_per_s", "unlink_per_s")


def _root(setting: Setting, loop: bool) -> Path:
    if not loop:
        return setting.memory
    if setting.loop is None:
        raise AbsentError(setting.loop_absent)
    return setting.loop


def _contenders(loop: bool) -> list[Contender]:
    def folder(setting: Setting) -> Path:
        """A new directory for each contender: one that held many names once is slower for ever."""
        return new_folder(_root(setting, loop) / "names", flush=loop)

    def elbencho_path(setting: Setting) -> Path:
        """The same by a name that elbencho takes: it refuses directories in /dev."""
        path = folder(setting)
        return path if loop else setting.disk / "tmpfs" / path.name

    def root(setting: Setting) -> Path:
        folder(setting).rmdir()
        return _root(setting, loop)

    count = LOOP_COUNT if loop else COUNT
    return [
        bare.names(lambda s: str(folder(s)), count),
        assay.names(root, count),
        ior.names(lambda s: str(folder(s)), count),
        elbencho.names(lambda s: str(elbencho_path(s)), count),
        fio.names(lambda s: str(folder(s)), count),
    ]


def _row(loop: bool) -> Row:
    return Row(
        key="metadata-ext4" if loop else "metadata-tmpfs",
        title=f"{LOOP_COUNT:,} empty files, ext4 on a loop device in memory"
        if loop
        else f"{COUNT:,} empty files, tmpfs",
        contenders=_contenders(loop),
        measures=MEASURES,
        headline=MEASURES,
        note=NOTE,
        goals=[at_least(measure, 0.95, "bare") for measure in MEASURES],
    )


ROWS = [_row(False), _row(True)]
