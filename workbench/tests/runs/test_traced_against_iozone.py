"""iozone and the engine read and write the same bytes for a command line and its study, in the same order."""

import os
import re
import shutil
from pathlib import Path

import pytest
from traced_calls import Calls, calls_of, engine_calls, traced

from assay.rooms.foreign.work.iozone.study import iozone_study

needs = pytest.mark.skipif(
    not (shutil.which("iozone") and shutil.which("strace") and os.environ.get("ASSAY_ENGINE")),
    reason="iozone, strace and ASSAY_ENGINE are needed to compare calls with those of iozone",
)

JOBS = {
    "write": "-i 0 -s 256k -r 16k",
    "write-once": "-i 0 -s 256k -r 16k -+n",
    "read": "-i 0 -i 1 -s 128k -r 4k",
    "random": "-i 0 -i 2 -s 128k -r 4k -+n",
    "backward": "-i 0 -i 3 -s 128k -r 4k -+n",
    "record": "-i 0 -i 4 -s 64k -r 4k -+n",
    "stride": "-i 0 -i 5 -s 256k -r 4k -j 3 -+n",
    "direct": "-i 0 -i 1 -s 64k -r 16k -I",
    "o_sync": "-i 0 -s 64k -r 16k -o",
    "o_dsync": "-i 0 -s 64k -r 16k -+D",
    "fsync": "-i 0 -s 64k -r 16k -e",
    "throughput": "-t 2 -i 0 -i 1 -s 64k -r 16k -x",
    "auto": "-a -i 0 -n 64k -g 128k -y 32k -q 64k",
    "pread": "-E -i 9 -i 10 -s 64k -r 4k",
}
"""Options of iozone; the order of random reads and writes is not compared."""


def moves_of(found: dict[tuple[str, str], Calls], is_random: bool) -> list[list[tuple[str, int, int]]]:
    """All moves of each file, in order if that is decided; files have other names."""
    files: dict[str, list[tuple[str, int, int]]] = {}
    for (_thread, name), calls in found.items():
        files.setdefault(name, []).extend(calls.moves)
    return sorted(sorted(moves) if is_random else moves for moves in files.values())


@needs
@pytest.mark.parametrize("options", JOBS.values(), ids=JOBS)
def test_the_same_bytes_are_moved(options: str, tmp_path: Path) -> None:
    place = tmp_path / "iozone"
    place.mkdir()
    files = f"-F {place}/1 {place}/2" if "-t" in options else f"-f {place}/1"
    program = shutil.which("iozone") or ""
    traces = traced([program, *options.split(), *files.split()], tmp_path, "trace")
    theirs = calls_of(traces, re.compile(re.escape(str(place))), only_lanes=False)
    cases = engine_calls(iozone_study(f"iozone {options} {files}", lambda path: path), tmp_path)
    is_random = "-i 2" in options or "-i 5" in options or len(cases) > 1 or "-t" in options
    ours = [moves for case in cases for moves in moves_of(case, is_random)]
    if len(cases) > 1:
        ours = [sorted(move for moves in ours for move in moves)]
    expected = moves_of(theirs, is_random)
    if "-i 5" in options:  # iozone's order at the end of the file is its own
        assert [len(moves) for moves in ours] == [len(moves) for moves in expected]
    else:
        assert ours == expected
    flags = [
        {flag for calls in found.values() for flag in calls.flags}
        for found in ({key: calls for case in cases for key, calls in case.items()}, theirs)
    ]
    assert flags[0] == flags[1]
