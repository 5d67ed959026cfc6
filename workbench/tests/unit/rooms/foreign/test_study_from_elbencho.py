"""Command lines of elbencho as people write them, and the studies that ask the same.

Most are from elbencho's own help and documentation, from its issues (breuner/elbencho#76), from Glenn Lockwood's page
about it and from the benchmark of a procurement (Arrhenius). The expected studies were written from elbencho's
documentation and source, not from what comes out here.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from assay.model.base import AssayError
from assay.plan.command_lines.elbencho_options import OPTIONS, elbencho_size
from assay.plan.expand import expand
from assay.plan.load import load_study
from assay.rooms.foreign.work import elbencho_options
from assay.rooms.foreign.work.elbencho import elbencho_study

NAMES = Path(__file__).resolve().parents[3] / "golden" / "options" / "elbencho-3.1-9.txt"
"""What `elbencho --help-all` of version 3.1-9 lists."""
S3 = "--s3endpoints http://10.0.0.1:9000,10.0.0.2 --s3key AKEY --s3secret=ASECRET"


def no_file(path: str) -> str:
    """A reader that finds no file."""
    raise AssayError(f"{path}: no such file", "")


class Written(NamedTuple):
    """A command line, what its workloads and the study say, and what the notes name."""

    line: str
    workloads: dict[str, dict[str, Any]]
    study: dict[str, Any] = {}  # noqa: RUF012
    noted: tuple[str, ...] = ()


LINES = {
    "files-in-sequence": Written(
        'elbencho -w -b 4M -t 16 --direct -s 20g "/mnt/myfs/file[1-4]"',
        {"data": {"operations": ["write"], "layout": "separate", "lanes": 16, "file_size": "5GiB",
                  "record_size": "4MiB",
                  "cache": "direct", "sync": "none"}},
        {"targets": {"place": {"kind": "file", "path": "/mnt/myfs/assay-elbencho"}}, "repeats": 1},
        ("-t 16: 16 lanes have a file of 5GiB each", "sync: none", "-i 1"),
    ),
    "files-at-random": Written(
        'elbencho -r -b 4k -t 16 --iodepth 16 --direct --rand --timelimit 20 -s 20g "/mnt/myfs/file[1-4]"',
        {"data": {"operations": ["random_read"], "lanes": 16, "queue_depth": 16, "record_size": "4KiB",
                  "time_limit": "20s", "cache": "direct"}},
        noted=("-r --rand: each record comes once", "-r without -w"),
    ),
    "device": Written(
        "elbencho -r -b 4K --lat --direct --rand -s 10g /dev/nvme0n1",
        {"data": {"operations": ["random_read"], "layout": "shared", "lanes": 1, "file_size": "10GiB"}},
        {"targets": {"device": {"kind": "device", "path": "/dev/nvme0n1"}}},
        ("/dev/nvme0n1: all that is on it is lost",),
    ),
    "trees": Written(
        "elbencho -w -d -t 2 -n 3 -N 4 -s 1m -b 1m /data/testdir",
        {"directories": {"operations": ["mkdir"], "files": 3, "lanes": 2, "layout": "separate"},
         "data": {"operations": ["write"], "files": 12, "depth": 1, "width": 3, "layout": "separate", "lanes": 2}},
    ),
    "trees-read": Written(
        "elbencho -r -t 2 -n 3 -N 4 -s 1m -b 128k /data/testdir",
        {"data": {"operations": ["read"], "files": 12, "record_size": "128KiB", "file_size": "1MiB"}},
    ),
    "trees-removed": Written(
        "elbencho -F -D -t 2 -n 3 -N 4 /data/testdir",
        {"directories": {"operations": ["rmdir"], "files": 3}, "names": {"operations": ["unlink"], "files": 12}},
    ),
    "lockwood": Written(
        "./bin/elbencho ./elbencho.seq.1M --threads 8 --size 1M --block 1M --blockvaralgo fast --blockvarpct 0 --sync "
        "--mkdirs --write --delfiles --deldirs --nolive",
        {"directories": {"operations": ["mkdir", "rmdir"], "lanes": 8},
         "data": {"operations": ["write"], "files": 1, "sync": "fsync", "duplicate": 100, "cache": "keep"},
         "names": {"operations": ["unlink"], "file_size": "1MiB"}},
        noted=("--sync: fsync", "--blockvarpct 0: 100 %"),
    ),
    "arrhenius": Written(
        "elbencho --hosts node1,node2:1611 --rotatehosts=1 -t 8 -w -r -b 4m -s 10g -n 0 -F /mnt/fs",
        {"data": {"operations": ["write", "read"], "layout": "shared", "files": 1, "hosts": 2, "lanes": 8,
                  "reorder": "node", "file_size": "10GiB"},
         "names": {"operations": ["unlink"], "hosts": 2, "file_size": None}},
        {"hosts": ["node1", "node2"]},
        ("--hosts: ports of elbencho's services", "--stat, -F: they are done in a workload of their own"),
    ),
    "objects": Written(
        f"elbencho {S3} -w -d -t 8 -n 4 -N 16 -s 10m -b 10m bucket1",
        {"objects": {"operations": ["put"], "objects": 64, "object_size": "10MiB", "lanes": 8, "part_size": None}},
        {"targets": {"bucket": {"kind": "s3", "bucket": "bucket1",
                                "endpoints": ["http://10.0.0.1:9000", "http://10.0.0.2"]}}},
        ("--s3key: no key is in a study", "--s3secret: no key"),
    ),
    "issue-76": Written(
        f"elbencho {S3} -s 4m -b 4m -N 100 --timelimit 30 -w -r -F --hosts h1 test-bucket --lat --cpu --lathisto "
        "--latpercent --latpercent9s 0 --allelapsed --svcelapsed --s3nompcheck --livecsv live-csv.csv -t 4",
        {"objects": {"operations": ["put", "get"], "objects": 100, "time_limit": "30s", "hosts": 1},
         "deletes": {"operations": ["delete"], "objects": 100, "time_limit": None}},
        {"hosts": ["h1"]},
    ),
    "parts": Written(
        f"elbencho {S3} -wr -t4 -N 2 -s 64m -b 16m --s3region eu-north-1 --s3virtaddr b01",
        {"objects": {"operations": ["put", "get"], "part_size": "16MiB", "lanes": 4}},
        {"targets": {"bucket": {"kind": "s3", "bucket": "b01", "endpoints": ["http://10.0.0.1:9000", "http://10.0.0.2"],
                                "region": "eu-north-1", "addressing": "virtual_host"}}},
    ),
    "ranges": Written(
        f"elbencho {S3} -r --rand -t 4 -N 2 -s 64m -b 1m b01",
        {"get": {"operations": ["get"], "range": "1MiB", "object_size": "64MiB", "part_size": None}},
    ),
    "mix": Written(
        "elbencho -w --rwmixpct 70 --rand -t 4 -b 8k -s 1g --verify 0 --infloop --timelimit 60 /x/f",
        {"data": {"operations": ["random_mix"], "read_percent": 70, "layout": "shared", "runtime": "60s",
                  "file_size": "1GiB", "verify": None}},
    ),
    "limited": Written(
        "elbencho -w -r --limitwrite 100m -t 2 -b 1m -s 1g /x/f",
        {"write": {"operations": ["write"], "rate": "200/s"}, "read": {"operations": ["read"], "rate": None}},
    ),
    "strided": Written(
        "elbencho -w -r --strided -t 4 -b 1m -s 1g /x/f",
        {"data": {"operations": ["write", "read"], "layout": "shared", "segments": 256, "block_size": "1MiB",
                  "file_size": None}},
    ),
    "several-a-thread": Written(
        "elbencho -w -t 2 -b 1m -s 4m /x/f[1-3,5]",
        {"data": {"operations": ["write"], "files": 2, "file_size": "4MiB", "lanes": 2}},
    ),
    "empty-files": Written(
        "elbencho -w --stat -r -F -d -D -t 2 -n 1 -N 10 -s 0 /x/d",
        {"names": {"operations": ["create", "stat", "open", "unlink"], "files": 10, "file_size": None}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_command_line_becomes_the_study_that_asks_the_same(name: str) -> None:
    written = LINES[name]
    text = elbencho_study(written.line, no_file)
    study = yaml.safe_load(text)
    if name != "empty-files":
        assert set(study["workloads"]) == set(written.workloads)
    for workload, fields in written.workloads.items():
        for key, value in fields.items():
            assert study["workloads"][workload].get(key) == value, (workload, key)
    for key, value in written.study.items():
        assert study[key] == value
    for note in written.noted:
        assert f"# * {note}" in text
    loaded = load_study(text.encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    assert not expand(loaded.study).faults


def test_no_secret_is_in_a_study() -> None:
    line = (
        f"AWS_SECRET_ACCESS_KEY=VSECRET elbencho {S3} --s3sessiontoken TSECRET --s3credlist a:CSECRET -w -N 1 -s 1m b"
    )
    text = elbencho_study(line, no_file)
    for secret in ("AKEY", "ASECRET", "TSECRET", "CSECRET", "VSECRET"):
        assert secret not in text
    assert "--s3secret=(redacted)" in text


WRONG = {
    "elbencho -w -s 1x /x/f": "elbencho --size: '1x' is not a size",
    "elbencho -w -q /x/f": "elbencho has no option -q",
    "elbencho --wrong /x": "elbencho has no option --wrong",
    "elbencho --s3 /x": "elbencho has no option --s3",
    "elbencho -w -t": "elbencho -t lacks its value",
    "elbencho -w -t 1 --threads 2 /x": "elbencho --threads is given twice",
    "elbencho -w -s 1m": "elbencho: there is no path",
    "elbencho -s 1m /x/f": "these options leave nothing to do",
    "elbencho -w /x/f": "how large the files are is not in the command line",
    "elbencho -r /dev/sdx": "how much of the device is used",
    "elbencho -r -s 1m /dev/sdx /dev/sdy": "2 devices at once",
    "elbencho -w -t 2000 -s 1m /x/f": "one host has 1 to 1024 lanes",
    "elbencho -w -s 1g --infloop /x/f": "--infloop never ends",
    "elbencho -w -s 1g --backward /x/f": "nothing is written backwards",
    "elbencho -w -n 1 -N 1 -s 1g --strided /x": "files of a tree",
    "elbencho --netbench --servers a --clients b -s 1g": "it measures a network",
    "elbencho -r --gds --gpuids all /x/f": "no data goes to memory of GPUs",
    "elbencho --service": "it measures nothing",
    "elbencho -w -s 1m --hosts a,a /x/f": "a host is named twice",
    "elbencho -w -s 1m --hosts node[9-1] /x/f": "no range that can be read",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_elbencho_or_a_study_cannot_do_is_refused(line: str) -> None:
    with pytest.raises(AssayError) as error:
        elbencho_study(line, no_file)
    assert WRONG[line] in error.value.message and error.value.hint


def test_objects_with_names_of_their_own_are_shared_out_among_the_lanes() -> None:
    study = yaml.safe_load(elbencho_study(f"elbencho {S3} -w -r -t 16 -s 250m -b 10m 'b/big/file[1-2560]'", no_file))
    assert study["workloads"]["objects"]["objects"] == 160


def test_braces_are_written_out_as_by_a_shell() -> None:
    study = yaml.safe_load(elbencho_study("elbencho -w -t 8 -s 1g /mnt/{a,b}/f{0..3}", no_file))
    assert study["targets"]["place"]["shares"] == ["/mnt/b/assay-elbencho"]
    data = study["workloads"]["data"]
    assert (data["layout"], data["file_size"], data["lanes"]) == ("separate", "1GiB", 8)
    quoted = yaml.safe_load(elbencho_study("elbencho -w -t 8 -s 1g '/mnt/f{0..3}'", no_file))
    assert quoted["workloads"]["data"]["layout"] == "shared"


def test_files_of_a_set_have_one_operation_in_flight() -> None:
    with pytest.raises(AssayError, match="one operation in flight"):
        elbencho_study("elbencho -w -d -t 2 --iodepth 4 -n 1 -N 10 -s 1g /mnt/x", no_file)


def test_one_file_of_each_lane_has_many_operations_in_flight() -> None:
    line = "elbencho -r --rand -t 2 --iodepth 4 -n 1 -N 1 -s 1g --timelimit 9 --infloop /mnt/x"
    text = elbencho_study(line, no_file)
    data = yaml.safe_load(text)["workloads"]["data"]
    assert {"layout": "separate", "file_size": "1GiB", "queue_depth": 4, "lanes": 2}.items() <= data.items()
    assert not data.keys() & {"files", "depth", "width"}
    assert "# * --iodepth 4: each lane keeps its one file open" in text


def test_hosts_of_a_file_are_read_and_else_named() -> None:
    line = "elbencho --hostsfile h -w -t 4 -s 1g /mnt/x/f{1..24}"
    read = yaml.safe_load(elbencho_study(line, {"h": "a,b:1611\n# c\nn[1-2] # more\n"}.__getitem__))
    assert read["hosts"] == ["a", "b", "n1", "n2"]
    assert read["workloads"]["data"]["hosts"] == 4
    text = elbencho_study(line, no_file)
    assert "hosts" not in yaml.safe_load(text)
    assert "# * --hostsfile h: the file cannot be read here" in text
    assert "# * 24 paths from /mnt/x/f1 to /mnt/x/f24: files go to /mnt/x/assay-elbencho" in text


@pytest.mark.parametrize(
    ("threads", "size", "part", "ending"),
    [
        (2, "2m", "3MiB", "the same bytes"),
        (2, "3m", "4MiB", "1.05 MB less in all"),
        (4, "1m", "1MiB", "1.05 MB more in all"),
    ],
)
def test_files_that_lanes_do_not_share_out_evenly_say_by_how_much(
    threads: int, size: str, part: str, ending: str
) -> None:
    text = elbencho_study(f"elbencho -w -t {threads} -b 1m -s {size} '/mnt/f[1-3]'", no_file)
    assert yaml.safe_load(text)["workloads"]["data"]["file_size"] == part
    note = next(line for line in text.splitlines() if line.startswith(f"# * -t {threads}"))
    assert note.endswith(f"3 files of {size[0]}MiB: {ending}")


def test_every_option_is_mapped_refused_or_explained() -> None:
    """Each once, also those that `--help-all` of the tool lists."""
    parts = [set(part) for part in (elbencho_options.MAPPED, elbencho_options.REFUSED, elbencho_options.NOTES,
                                    elbencho_options.HARMLESS)]  # fmt: skip
    assert sorted(name for part in parts for name in part) == sorted(OPTIONS)
    assert set(NAMES.read_text().split()) <= set(OPTIONS)


def test_sizes_are_elbenchos() -> None:
    assert [elbencho_size(text, "-s") for text in ("8", "4k", "2M", "1g")] == [8, 4096, 2 << 20, 1 << 30]
