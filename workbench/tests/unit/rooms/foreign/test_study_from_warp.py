"""Command lines of warp as people write them, and the studies that ask the same.

Most are from warp's documentation and from issues (noobaa-core#6302, ceph#55029, minio/warp#201, #263, #382). The
expected studies were written from warp's documentation and source, not from what comes out here.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from assay.model.base import AssayError
from assay.plan.command_lines.warp_options import OPTIONS, warp_seconds, warp_size
from assay.plan.expand import expand
from assay.plan.load import load_study
from assay.rooms.foreign.work import warp_options
from assay.rooms.foreign.work.warp import warp_study

NAMES = Path(__file__).resolve().parents[3] / "golden" / "options"
"""What `warp COMMAND --help` lists."""
KEYS = "--access-key=AKEY --secret-key ASECRET"
MIX = {"get": 45, "put": 15, "head": 30, "delete": 10}


class Written(NamedTuple):
    """A command line, what the workload and the target say, and what the notes name."""

    line: str
    workload: dict[str, Any]
    target: dict[str, Any] = {}  # noqa: RUF012
    noted: tuple[str, ...] = ()


LINES = {
    "readme-mixed": Written(
        f"warp mixed --host=s3-server{{1...8}}:9000 {KEYS} --autoterm",
        {"operations": ["object_mix"], "mix": MIX, "lanes": 20, "objects": 125, "object_size": "10MiB",
         "runtime": "300s"},
        {"endpoints": [f"http://s3-server{number}:9000" for number in range(1, 9)], "balance": "least_loaded",
         "bucket": "warp-benchmark-bucket"},
        ("--autoterm: left out", "--access-key: no key is in a study", "repeats: 1"),
    ),
    "readme-clients": Written(
        f"warp get --duration=3m --warp-client=client-{{1...10}} --host=minio-server-{{1...16}} {KEYS}",
        {"operations": ["get"], "hosts": 10, "objects": 125, "runtime": "180s"},
    ),
    "noobaa": Written(
        f"warp mixed --objects=100 --duration=1m --host=127.0.0.1:6001 {KEYS} --autoterm",
        {"objects": 5, "mix": MIX, "runtime": "60s"},
        {"endpoints": ["http://127.0.0.1:6001"]},
    ),
    "ceph": Written(
        f"nice numactl -N 1 -m 1 -- warp put --host=127.0.0.1:8000 {KEYS} --concurrent 128 --obj.size=32M "
        "--duration=2m --md5 --bucket=b01b --noclear",
        {"operations": ["put"], "lanes": 128, "object_size": "32MB", "part_size": "16MiB", "runtime": "120s"},
        {"bucket": "b01b", "checksum": "md5"},
        ("part_size: 16MiB: as the library of warp", "put: goes over its objects"),
    ),
    "issue-201": Written(
        "warp mixed --noclear --put-distrib=47 --get-distrib=36 --delete-distrib=17 --stat-distrib=0 --duration=5h "
        "--objects=1000000 --obj.size=40k --bucket=b01 --host=h:9000",
        {"mix": {"get": 36, "put": 47, "delete": 17}, "objects": 50000, "object_size": "40kB", "runtime": "18000s"},
    ),
    "issue-263": Written(
        "warp mixed --put-distrib 100 --obj.size 256KiB --concurrent=1 --warp-client=172.17.50.124:8001 "
        "--host=172.17.50.124:5000 --bucket testput --benchdata testput --objects 500 --duration=2m "
        "--host-select=roundrobin --no-color --debug --noclear",
        {"mix": {"get": 24, "put": 54, "head": 16, "delete": 6}, "lanes": 1, "objects": 500, "hosts": 1},
    ),
    "issue-382": Written(
        f"warp mixed --duration=2m --host=node1:9000 {KEYS} --concurrent=200 --analyze.v --bucket=perftest --tls "
        "--get-distrib 15 --put-distrib 45 --obj.randsize --obj.size=32MiB --storage-class REDUCED_REDUNDANCY",
        {"object_size": "128KiB..32MiB", "lanes": 200, "mix": {"get": 15, "put": 45, "head": 30, "delete": 10}},
        {"endpoints": ["https://node1:9000"], "storage_class": "REDUCED_REDUNDANCY"},
        ("--obj.randsize: each power of two",),
    ),
    "stat": Written("warp stat --autoterm", {"operations": ["head"], "objects": 500, "object_size": "1kB"}),
    "list": Written(
        "warp list --host=h:9000 --objects 10000 --concurrent 10",
        {"operations": ["list"], "objects": 1000, "lanes": 10},
    ),
    "delete": Written(
        "warp delete --objects 25000 --batch 100 --host h:9000",
        {"operations": ["multi_delete"], "objects": 1250, "runtime": None},
        noted=("delete: all objects are removed once",),
    ),
    "delete-one-by-one": Written("warp delete -batch 1 -host h", {"operations": ["delete"], "objects": 1250}),
    "one-dash": Written(
        "warp get -tls -range-size=1MiB -obj.size=8MiB -lookup=path -region eu-west-1 -host=h -concurrent=512",
        {"range": "1MiB", "lanes": 256, "queue_depth": 2, "objects": 10},
        {"endpoints": ["https://h"], "addressing": "path", "region": "eu-west-1"},
    ),
    "existing": Written(
        "warp get --list-existing --bucket data --prefix logs/2026 --host h",
        {"operations": ["get"], "object_size": None},
        {"existing": "logs/2026", "bucket": "data"},
    ),
    "weights": Written("warp put --obj.size=4KiB:70,1MiB:30 --host h", {"object_size": {"4KiB": 70, "1MiB": 30}}),
    "versioned": Written("warp versioned --host h", {"operations": ["object_mix"], "objects": 13}, {"versioned": True}),
    "multipart": Written(
        "warp multipart --parts=500 --part.size=10MiB --host h",
        {"operations": ["get"], "objects": 1, "object_size": "250MiB", "range": "10MiB", "part_size": "10MiB"},
    ),
    "multipart-put": Written(
        "warp multipart-put --parts 100 --part.size 5MiB --host h",
        {"operations": ["put"], "object_size": "500MiB", "part_size": "5MiB", "lanes": 20},
    ),
    "limited": Written("warp stat --rps-limit=500 --host h --concurrent 7", {"rate": "500/s", "lanes": 7}),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_command_line_becomes_the_study_that_asks_the_same(name: str) -> None:
    written = LINES[name]
    text = warp_study(written.line)
    study = yaml.safe_load(text)
    (workload,) = study["workloads"].values()
    for key, value in written.workload.items():
        assert workload.get(key) == value, key
    for key, value in written.target.items():
        assert study["targets"]["bucket"].get(key) == value, key
    for note in written.noted:
        assert f"# * {note}" in text
    assert "AKEY" not in text and "ASECRET" not in text
    loaded = load_study(text.encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    assert not expand(loaded.study).faults


WRONG = {
    "warp": "there is no benchmark",
    "warp squeeze": "warp has no benchmark squeeze",
    "warp snowball --compress": "is none of S3",
    "warp retention": "no lock is set on objects",
    "warp append": "objects are put whole",
    "warp zip": "files in an archive",
    "warp fanout --copies=50": "under many names",
    "warp analyze x.csv.zst": "'x.csv.zst' is not an option",
    "warp get --rdma=cpu": "data goes over TCP",
    "warp get --signature=S3V2": "by version 4 only",
    "warp get --objects": "lacks its value",
    "warp get --object 5": "warp has no option --object",
    "warp get --tls=maybe": "neither true nor false",
    "warp get --obj.size=many": "is not a size",
    "warp get --duration=5": "is not a duration",
    "warp get --host=file:hosts.txt": "the file is not read",
    "warp get --checksum=MD4": "there is no such sum",
    "warp get --concurrent=0": "nothing is done",
    "warp mixed --delete-distrib=50": "more objects would be deleted than put",
    "warp multipart --part.size=1MiB": "no parts below 5 MiB",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_warp_or_a_study_cannot_do_is_refused(line: str) -> None:
    with pytest.raises(AssayError) as error:
        warp_study(line)
    assert WRONG[line] in error.value.message and error.value.hint


def test_every_option_and_command_is_mapped_refused_or_explained() -> None:
    """Each once, also those that the help of the tool lists."""
    parts = [
        set(part) for part in (warp_options.MAPPED, warp_options.REFUSED, warp_options.NOTES, warp_options.HARMLESS)
    ]
    assert sorted(name for part in parts for name in part) == sorted(OPTIONS)
    assert set((NAMES / "warp-1.6.1.txt").read_text().split()) <= set(OPTIONS)
    commands = set((NAMES / "warp-1.6.1-commands.txt").read_text().split())
    assert commands <= {*warp_options.COMMANDS, *warp_options.REFUSED_COMMANDS}


def test_sizes_and_times_are_warps() -> None:
    """Sizes of go-humanize, whose M is 10^6; durations of Go."""
    sizes = [warp_size(text, "obj.size") for text in ("10MiB", "32M", "1KB", "512", "1.5GiB", "40k")]
    assert sizes == [10 << 20, 32_000_000, 1000, 512, 3 << 29, 40_000]
    assert [warp_seconds(text, "duration") for text in ("1h30m", "90s", "5m0s")] == [5400, 90, 300]
