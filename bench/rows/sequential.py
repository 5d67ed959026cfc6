"""Records of 1 MiB in sequence: reads, rewrites and new files, buffered and direct, on the disk and in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model import Contender, Row, Setting, at_least
from peers import assay, bare, elbencho, fio
from setting import WRITTEN_BYTES

RECORD = 1 << 20
MEASURES = ("mb_per_s", "cpu_us", "rss_mib")
NEW_BYTES, NEW_PASSES = 256 << 20, 2


def _file(setting: Setting, memory: bool, name: str, for_elbencho: bool = False) -> Path:
    """A file on the disk or in memory; `for_elbencho`: by another name, since it refuses directories in /dev."""
    if memory:
        return (setting.disk / "tmpfs" if for_elbencho else setting.memory) / name / "f0"
    return setting.disk / name / "f0"


def _job(setting: Setting, memory: bool, name: str, phases: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    target = assay.file_target(_file(setting, memory, name).parent.parent, name)
    return assay.job(target, phases, record_size_bytes=RECORD, **fields)


def _existing(write: bool, memory: bool, direct: bool) -> list[Contender]:
    """Reads of the file that all reads read, or writes over another that is there."""
    name, size = ("written", WRITTEN_BYTES) if write else ("data", assay.GIB)
    option = ["--direct"] if direct else []
    # One pass and its flush on the disk: the time of the flush must not depend on how often the same was written.
    once = write and not memory and not direct
    seconds = 0.4 if once else None

    def loop(setting: Setting) -> list[str]:
        time = [] if once else ["--seconds", str(setting.seconds)]
        mode = ["--rewrite", "--fsync"] if write else ["--read"]
        return ["sequential", str(_file(setting, memory, name)), *mode, "--bytes", str(size), *time, *option]

    def job(setting: Setting) -> dict[str, Any]:
        operation = "rewrite" if write else "read"
        phase = {"operation": operation} if once else assay.timed(operation, setting)
        kept = {"keep_files": True, "reuse_files": True, "file_size_bytes": size, "direct": direct}
        return _job(setting, memory, name, [phase], **kept)

    def words(setting: Setting) -> list[str]:
        base = [f"--filename={_file(setting, memory, name)}", "--invalidate=0", "--bs=1m", f"--size={size >> 20}m"]
        mode = ["--rw=write", "--end_fsync=1"] if write else ["--rw=read"]
        return [*base, *mode, "--ioengine=psync", f"--direct={int(direct)}", *([] if once else fio.timed(setting))]

    flush = ["--sync"] if write and not memory else []
    return [
        bare.loop(loop, "bare pwrite loop, one buffer" if write else "bare pread loop", seconds=seconds),
        assay.runs(job, assay.one_phase, label="Assay, unique data" if write else "Assay", seconds=seconds),
        fio.runs(words, label="fio psync", side="write" if write else "read", seconds=seconds),
        elbencho.sequential(
            "--write" if write else "--read",
            lambda s: _file(s, memory, name, for_elbencho=True),
            size >> 20,
            *flush,
            *option,
            passes=1 if once else 0,
        ),
    ]


def _new(memory: bool, direct: bool) -> list[Contender]:
    """A new file again and again; the first is not counted, since it brings its memory into use."""
    option = ["--direct"] if direct else []

    def path(setting: Setting, for_elbencho: bool = False) -> Path:
        """The new file, which is not there yet."""
        root = setting.memory if memory else setting.disk
        (root / "new-file").unlink(missing_ok=True)
        return (setting.disk / "tmpfs" if memory and for_elbencho else root) / "new-file"

    def loop(setting: Setting) -> list[str]:
        amount = ["--bytes", str(NEW_BYTES), "--passes", str(NEW_PASSES)]
        return ["sequential", str(path(setting)), "--write", "--fsync", *amount, *option]

    def job(setting: Setting) -> dict[str, Any]:
        path(setting)
        phases = [{"operation": "write", "measured": number > 0} for number in range(NEW_PASSES + 1)]
        return _job(setting, memory, "new", phases, file_size_bytes=NEW_BYTES, direct=direct)

    return [
        bare.loop(loop, "bare pwrite loop, one buffer", seconds=0.6),
        assay.runs(job, assay.all_phases, label="Assay, unique data", seconds=0.6),
        elbencho.sequential(
            "--write",
            lambda s: path(s, for_elbencho=True),
            NEW_BYTES >> 20,
            "--trunc",
            *([] if memory else ["--sync"]),
            *option,
            passes=NEW_PASSES + 1,
            skip=1,
        ),
    ]


def _row(kind: str, memory: bool, direct: bool) -> Row:
    how, where = "direct" if direct else "buffered", "tmpfs" if memory else "disk"
    title = {"read": "Sequential reads of 1 MiB", "rewrite": "Sequential writes of 1 MiB over an existing file"}
    notes = {"read": "", "new": "fio cannot leave out its first pass, so it is not here. "}
    flushed = "The flush counts; elbencho's is sync(2), whose time is added."
    return Row(
        key=f"{kind}-{how}-{where}",
        title=f"{title.get(kind, 'Sequential writes of 1 MiB to a new file')}, {how}, {where}",
        contenders=_new(memory, direct) if kind == "new" else _existing(kind == "rewrite", memory, direct),
        measures=MEASURES,
        headline=("mb_per_s",),
        goals=[at_least("mb_per_s", 0.97, "bare")],
        cached=("memory file" if memory else "file",) if kind == "read" and (memory or not direct) else (),
        note=notes.get(kind, "") + ("" if memory or kind == "read" else flushed),
    )


ROWS = [
    _row(kind, memory, direct)
    for kind in ("read", "rewrite", "new")
    for memory in (False, True)
    for direct in (False, True)
    # To a new file in memory, direct differs in nothing.
    if not (kind == "new" and memory and direct)
]
