"""What recordings of other tools become, and that a damaged one is one line."""

import gzip
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from paths import GOLDEN
from trace_tools import imported

from assay.model.base import AssayError
from assay.rooms.traces.work.sources import darshan_log as darshan_log_module
from assay.rooms.traces.work.sources.darshan_process import EXIT_NO_OPERATIONS
from assay.rooms.traces.work.sources.registry import ZSTD, Import


class Done(NamedTuple):
    """How a process ended."""

    returncode: int


FIO3 = """fio version 3 iolog
21 /x/a.0.0 add
151 /x/a.0.0 open
158 /x/a.0.0 read 4096 4096
409 /x/a.0.0 write 0 512
618 /x/a.0.0 sync 61440 0
700 /x/a.0.0 trim 0 4096
700 /x/a.0.0 close
"""
FIO2 = """fio version 2 iolog
/x/a add
/x/a open
/x/../x/a write 0 4096
/x/a wait 1000 0
/x/a datasync 0 0
fio version 2 iolog
/x/a read 0 4096
"""
BLKPARSE = """  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]
  8,0    3       11     0.000028801   697  D   W 223490 + 56 [kjournald]
  8,0    0        5     0.000931194     0  C   W 223490 + 56 [0]
  8,0    0        8     0.001000000   698  D  RA 100 + 8 [cat]
  8,0    0        8     0.001100000   698  D FWS 8 + 8 [cat]
  8,0    0        9     0.001500000     0  C  RA 100 + 8 [0]
  8,0    0        9     0.001700000     0  C FWS 8 + 8 [0]
  8,0    0        9     0.001800000   698  D   D 8 + 8 [cat]
  8,0    0        9     0.001900000     0  C   D 8 + 8 [0]
  8,0    0        8     0.002000000   698  D   R 900 + 8 [cat]
CPU0 (8,0):
 Reads Queued:           0,        0KiB
"""
DXT = """# darshan log version: 3.41
# DXT, file_id: 164, file_name: /x/with blank
# DXT, rank: 0, hostname: h
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)
 X_POSIX       1   read        0               0          64      0.0048      0.0048
 X_POSIX       0  write        0               0      262144      0.0029      0.0032
 X_MPIIO       0  write        0       262144      0.0029      0.0032
"""
SUMS = """# darshan log version: 3.10
#<module>\t<rank>\t<record id>\t<counter>\t<value>\t<file name>\t<mount pt>\t<fs type>
POSIX\t0\t9\tPOSIX_OPENS\t1\t/x/f\t/\text4
POSIX\t0\t9\tPOSIX_READS\t2\t/x/f\t/\text4
POSIX\t0\t9\tPOSIX_BYTES_READ\t9\t/x/f\t/\text4
POSIX\t0\t9\tPOSIX_F_READ_START_TIMESTAMP\t0.5\t/x/f\t/\text4
POSIX\t0\t9\tPOSIX_F_READ_END_TIMESTAMP\t1.5\t/x/f\t/\text4
POSIX\t0\t9\tPOSIX_F_READ_TIME\t0.4\t/x/f\t/\text4
STDIO\t0\t9\tSTDIO_OPENS\t1\t<STDIN>\t/\text4
POSIX\t-1\t10\tPOSIX_WRITES\t1\t/x/g\t/\text4
POSIX\t-1\t10\tPOSIX_BYTES_WRITTEN\t7\t/x/g\t/\text4
"""
COLUMNS = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tend\tduration_ns\n"
WARP = COLUMNS + (
    "0\t1\tPUT\tc\t1\t10\thttp://h:9000\tb/k\t\t2025-01-01T00:00:02.5Z\t\t2025-01-01T00:00:03Z\t500000000\n"
    "1\t0\tGET\tc\t1\t20\thttp://h:9000\tb/old\t\t2025-01-01T01:00:02+01:00\t\t2025-01-01T00:00:03Z\t1\n"
    "2\t0\tGET\tc\t1\t0\thttp://h:9000\tb/k\tgone, alas\t2025-01-01T00:00:04Z\t\t2025-01-01T00:00:05Z\t2\n"
    "3\t0\tSTAT\tc\t1\t0\thttp://h:9000\tb/k\t\t2025-01-01T00:00:06Z\t\t2025-01-01T00:00:07Z\t3\n"
    "# warp get\n"
)
SAI3 = COLUMNS + "0\t1\tDELETE\tc\t1\t0\ts3://\ts3://b/k\t\t1000000000\t\t1000000005\t5\n"


@pytest.mark.parametrize(
    ("text", "source", "losses", "records"),
    [
        (
            FIO3,
            "fio",
            {"discard": 1, "no-durations": 5, "no-results": 2},
            """T 1 - 0|F 1 f 8192 x/a.0.0|O 151000 0 1 open 1 - - 0 rwc|O 158000 0 1 read 1 4096 4096 4096 -
            O 409000 0 1 write 1 0 512 512 -|O 618000 0 1 fsync 1 - - 0 -|O 700000 0 1 close 1 - - 0 -|E 1 700000""",
        ),
        (
            FIO2,
            "fio",
            {"no-durations": 4, "no-results": 2, "no-times": 6},
            """T 1 - 0|T 2 - 0|F 1 f - x/a|O 0 0 1 open 1 - - 0 rwc|O 0 0 1 write 1 0 4096 4096 -
            O 0 0 2 read 1 0 4096 4096 -|O 1000000 0 1 fdatasync 1 - - 0 -|E 1 1000000|E 2 1000000""",
        ),
        (
            BLKPARSE,
            "blkparse",
            {"discard": 1, "unfinished": 1},
            """T 1 - 0|T 2 - 0|F 1 b 114455552 8-0|O 28801 902393 1 write 1 114426880 28672 28672 -
            O 1000000 500000 2 read 1 51200 4096 4096 -|O 1100000 0 2 fsync 1 - - 0 -
            O 1100000 600000 2 write 1 4096 4096 4096 -|E 1 1700000|E 2 1700000""",
        ),
        (
            "\n".join(line for line in BLKPARSE.splitlines() if " Q " in line),
            "blkparse",
            {"no-durations": 1},
            "T 1 - 0|F 1 b 114430976 8-0|O 2197 0 1 write 1 114426880 4096 4096 -|E 1 2197",
        ),
        (
            DXT,
            "darshan",
            {"no-results": 2, "other-operations": 1},
            """T 1 - 0|T 2 - 0|F 1 f 64 x/with_blank|O 2900000 300000 2 write 1 0 262144 262144 -
            O 4800000 0 1 read 1 0 64 64 -|E 1 4800000|E 2 4800000""",
        ),
        (
            SUMS,
            "darshan",
            {"no-order": 4},
            """T 1 - 0|T 2 - 0|F 1 f 9 x/f|O 0 0 1 open 1 - - 0 rwc|F 2 f - x/g|O 0 0 2 write 2 0 7 7 -
            O 500000000 200000000 1 read 1 0 4 4 -|O 900000000 200000000 1 read 1 4 5 5 -
            E 1 1100000000|E 2 1100000000""",
        ),
        (
            WARP,
            "warp",
            {},
            """T 1 - 0|T 2 - 0|F 1 o 20 b/old|O 0 1 2 get 1 0 20 20 -|F 2 o - b/k
            O 500000000 500000000 1 put 2 0 10 10 -
            O 2000000000 2 2 get 2 0 0 -EIO -|O 4000000000 3 2 head 2 - - 0 -|E 1 4000000003|E 2 4000000003""",
        ),
        (SAI3, "sai3", {}, "T 1 - 0|F 1 o 0 b/k|O 0 5 1 delete 1 - - 0 -|E 1 5"),
    ],
    ids=["fio3", "fio2", "blkparse", "blkparse-queued", "dxt", "darshan", "warp", "sai3"],
)
def test_a_recording_becomes_a_trace(
    tmp_path: Path, text: str, source: str, losses: dict[str, int], records: str
) -> None:
    head, *lines = imported(text, tmp_path)
    assert f'"source":"{source}"' in head
    for code, count in losses.items():
        assert f'{{"code":"{code}","count":{count}}}' in head
    assert head.count('"code"') == len(losses)
    wanted = [
        line.strip().replace(" ", "\t").replace("_", " ") for each in records.split("|") for line in each.splitlines()
    ]
    assert lines == wanted


def darshan_log(name: str) -> Path:
    """One of the logs that come with the package of Darshan."""
    spec = find_spec("darshan")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / name


def test_a_log_of_darshan_with_a_trace(tmp_path: Path) -> None:
    header, totals = Import(str(darshan_log("tests/input/sample-dxt-simple.darshan")), False).write(tmp_path / "out")
    assert header.losses == {"no-results": 2}
    with gzip.open(tmp_path / "out", "rt") as file:
        writes = [line.split("\t") for line in file if line.startswith("O")]
    # Offset and length as `darshan-dxt-parser` prints them, times in nanoseconds.
    assert [(int(row[1]), row[6], row[7]) for row in writes] == [(103378843, "0", "40"), (104216653, "0", "4000")]
    assert (totals.operations, totals.written) == (2, 4040)


def test_a_log_of_darshan_with_sums_of_all_ranks(tmp_path: Path) -> None:
    path = darshan_log("tests/input/sample.darshan")
    header, totals = Import(str(path), keep_names=True).write(tmp_path / "out")
    # 2,048 ranks opened the file once each, and one twice; 16,384 writes are of 128 MiB, and 18 smaller.
    assert header.losses == {"no-order": 2049 + 16402}
    assert (totals.operations, totals.read, totals.written) == (2049 + 16402, 0, 2_199_023_259_968)
    ends, sizes = {}, Counter()
    with gzip.open(tmp_path / "out", "rt") as file:
        for row in (line.split("\t") for line in file if "\twrite\t" in line):
            task, offset, length = row[3], int(row[6]), int(row[7])
            # Each rank writes its part from the beginning to the end.
            assert ends.get(task, offset) == offset
            ends[task] = offset + length
            sizes[length] += 1
    assert len(ends) == 2048
    assert (sizes[128 << 20], sizes[272], sizes[544], sizes[328]) == (16384, 8, 2, 2)


@pytest.mark.parametrize("size", [16, 40, 3000, 9000])
def test_a_damaged_log_of_darshan_is_one_line(tmp_path: Path, size: int) -> None:
    path = tmp_path / "cut.darshan"
    path.write_bytes(darshan_log("tests/input/sample.darshan").read_bytes()[:size])
    with pytest.raises(AssayError, match=r"this log of Darshan cannot be read: it is damaged") as error:
        Import(str(path), keep_names=False).write(tmp_path / "out")
    assert "darshan-parser" in error.value.hint
    assert not (tmp_path / "out").exists()


def test_a_log_of_darshan_without_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(darshan_log_module.subprocess, "run", lambda *_, **__: Done(EXIT_NO_OPERATIONS))
    with pytest.raises(AssayError, match="no module POSIX, STDIO or DXT_POSIX"):
        Import(str(darshan_log("tests/input/sample.darshan")), keep_names=False).write(tmp_path / "out")


def test_streams_and_incomplete_modules_are_losses(tmp_path: Path) -> None:
    warning = "# *WARNING*: The POSIX module contains incomplete data!\n"
    stream = "".join(
        f"STDIO\t2\t11\tSTDIO_{name}\t{value}\t/x/s\t/\text4\n"
        for name, value in {"OPENS": 1, "WRITES": 3, "BYTES_WRITTEN": 9}.items()
    )
    head, *lines = imported(SUMS.replace("POSIX\t0", f"{warning}POSIX\t0", 1) + stream, tmp_path)
    assert '{"code":"missing-files","count":1}' in head
    assert '{"code":"streams","count":4}' in head
    assert sum("\twrite\t" in line for line in lines) == 1 + 3


def test_a_log_of_warp_itself_has_all_its_requests(tmp_path: Path) -> None:
    text = (GOLDEN / "imports" / "warp" / "1.6.1-get.csv").read_text()
    lines = imported(text, tmp_path)
    gets, puts = (sum(f"\t{op}\t" in line for line in text.splitlines()) for op in ("GET", "PUT"))
    assert gets and puts
    assert [sum(f"\t{op}\t" in line for line in lines) for op in ("get", "put")] == [gets, puts]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "this is no recording of a known tool"),
        (b"hello\nworld\n", "this is no recording of a known tool"),
        (ZSTD + b"1234", "compressed with zstd"),
        (gzip.compress(FIO3.encode())[:-20], "damaged after line"),
        (b"fio version 3 iolog\n1 /x read 0 \0\n", "2: this is no text"),
        (b"fio version 3 iolog\n", "there are no operations in it"),
        (b"fio version 1 iolog\n", "1: of logs of fio only versions 2 and 3 are read"),
        (b"fio version 3 iolog\nsoon /x open\n", "2: a timestamp in microseconds cannot be 'soon'"),
        (b"fio version 3 iolog\n1 /x read 0\n", "2: 'read' is no action of fio with 1 numbers"),
        (b"fio version 3 iolog\n1 /x jump 0 1\n", "2: 'jump' is no action of fio with 2 numbers"),
        (b"fio version 3 iolog\n1 /x read 0 -1\n", "2: offset or length cannot be '-1'"),
        (b"fio version 2 iolog\n/x " + b"y" * 70000, "2: the line is too long"),
        (DXT.replace("0.0029      0.0032\n X_M", "\n X_M").encode(), "6: offset, length, start and end are missing"),
        (
            SUMS.replace("READS\t2", "READS\t1e9").encode(),
            "3: POSIX_READS: more than 100,000,000 operations of one file",
        ),
        (SUMS.replace("READS\t2", "READS\ttwo").encode(), "4: this is no counter of darshan-parser"),
        (COLUMNS.encode(), "1: there are no requests in this log"),
        (WARP.replace("2025-01-01T00:00:04Z", "today").encode(), "4: a time cannot be 'today'"),
        (WARP.replace("\tc\t1\t0\t", "\tc\t0\t").encode(), "4: 12 cells in a row of 13 columns"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "r"
    path.write_bytes(content)
    with pytest.raises(AssayError) as error:
        Import(str(path), keep_names=False).write(tmp_path / "out")
    assert error.value.message.removeprefix(f"{path}:").startswith((message, f" {message}")), error.value.message
    assert error.value.hint
