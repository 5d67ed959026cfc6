"""fio and the engine make the same calls for a job and its study: which bytes of files, with which flags, in order."""

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from traced_calls import Calls, calls_of, engine_calls, traced

from assay.rooms.foreign.work.fio.study import fio_study

needs = pytest.mark.skipif(
    not (shutil.which("fio") and shutil.which("strace") and os.environ.get("ASSAY_ENGINE")),
    reason="fio, strace and ASSAY_ENGINE are needed to compare calls with those of fio",
)

JOBS = {
    "write": "--rw=write --bs=4k --size=256k",
    "read": "--rw=read --bs=16k --size=256k",
    "random_read": "--rw=randread --bs=4k --size=256k",
    "random_write": "--rw=randwrite --bs=4k --size=256k",
    "mix": "--rw=randrw --bs=4k --size=256k --rwmixread=100",
    "lanes": "--rw=write --bs=8k --size=128k --numjobs=3",
    "parts": "--rw=read --bs=4k --size=64k --numjobs=2 --offset_increment=64k --filename=parts",
    "direct": "--rw=write --bs=4k --size=64k --direct=1",
    "o_sync": "--rw=write --bs=4k --size=64k --sync=1",
    "o_dsync": "--rw=randwrite --bs=4k --size=64k --sync=dsync",
    "end_fsync": "--rw=write --bs=4k --size=64k --end_fsync=1",
    "odd-size": "--rw=write --bs=2300 --size=22k",
    "loops": "--rw=read --bs=4k --size=64k --loops=2",
    "more-than-size": "--rw=write --bs=4k --size=64k --io_size=192k",
    "less-than-size": "--rw=read --bs=4k --size=256k --io_size=64k",
    "verify": "--rw=write --bs=4k --size=64k --verify=crc32c --verify_state_save=0",
    "files": "--rw=write --bs=4k --size=64k --nrfiles=4 --file_service_type=sequential --openfiles=1",
    "overwrite": "--rw=write --bs=4k --size=64k --overwrite=1",
    "lseek": "--rw=randread --bs=4k --size=64k --ioengine=sync",
}


def fio_calls(options: str, folder: Path) -> dict[tuple[str, str], Calls]:
    """What fio does after it has laid out its files, which it writes in the process that starts its jobs."""
    place = folder / "fio"
    place.mkdir()
    engine = "" if "ioengine" in options else "--ioengine=psync"
    words = ["fio", "--name=j", f"--directory={place}", *engine.split(), *options.split(), "--output-format=json"]
    return calls_of(traced(words, folder, "trace"), re.compile(re.escape(str(place))), only_lanes=False)


def moved(calls: Calls, options: str) -> list[tuple[str, int, int]]:
    """The moves that count: of jobs that only read, without the writes that lay out a file.

    The engine prepares files by io_uring or in large records, outside the lanes' own calls.
    """
    if "overwrite" in options and calls.is_plain:
        return []  # fio lays out files by write, and works on them by pwrite
    only_reads = "read" in options.split()[0] or "rwmixread=100" in options
    return [move for move in calls.moves if move[0] == "read" or not only_reads]


def each_file(found: dict[tuple[str, str], Calls], options: str) -> list[list[tuple[str, int, int]]]:
    """The moves of each thread and file, in order if that is decided; files have other names."""
    lists = [moved(calls, options) for calls in found.values()]
    return sorted(sorted(one) if "rand" in options else one for one in lists if one)


@needs
@pytest.mark.parametrize("options", JOBS.values(), ids=JOBS)
def test_the_same_calls_are_made(options: str, tmp_path: Path) -> None:
    theirs = fio_calls(options, tmp_path)
    study = fio_study(
        f"fio --name=j {options} {'' if 'ioengine' in options else '--ioengine=psync'}", lambda path: path
    )
    ours = engine_calls(study, tmp_path)[0]
    assert each_file(ours, options) == each_file(theirs, options)
    flags = [{flag for calls in found.values() for flag in calls.flags if calls.moves} for found in (ours, theirs)]
    assert flags[0] == flags[1]
    if "fsync" in options:
        flushes = [sum((calls.flushes for calls in found.values()), Counter[str]()) for found in (ours, theirs)]
        assert flushes[0] == flushes[1]
