"""From a configuration of IO500 to a study that has its phases."""

import pytest
import yaml

from assay.model.base import AssayError
from assay.model.study.io500 import is_io500
from assay.plan.expand import expand
from assay.plan.load import load_study
from assay.rooms.foreign.work.io500 import io500_study

WHOLE = """[global]
datadir = /scratch/bench
resultdir = ./results   # beside
api = POSIX
drop-caches = FALSE
drop-caches-cmd = sudo -n bash -c "echo 3 > /proc/sys/vm/drop_caches"

[debug]
stonewall-time = 30

[ior-easy]
API =
transferSize = 4m
blockSize = 72000m
filePerProc = TRUE

[ior-rnd4K-write]
run = TRUE

[mdtest-easy]
API =
n = 500000

[ior-hard]
segmentCount = 95000
collective = TRUE

[mdtest-hard]
n = 20000
files-per-dir =

[find]
external-script =
nproc =
"""


def test_each_value_is_in_its_place() -> None:
    text = io500_study(WHOLE, "config.ini", 16)
    study = yaml.safe_load(text)
    assert study["targets"] == {"place": {"kind": "file", "path": "/scratch/bench/assay-io500"}}
    assert study["defaults"] == {"lanes": 16, "time_limit": "30s", "wear_out": True, "reorder": "node"}
    work = study["workloads"]
    assert is_io500(work)
    assert (work["ior-easy"]["block_size"], work["ior-easy"]["record_size"]) == ("72000MiB", "4MiB")
    assert (work["ior-hard"]["segments"], work["ior-hard"]["record_size"]) == (95000, "47008B")
    assert (work["mdtest-easy"]["files"], work["mdtest-hard"]["files"]) == (500000, 20000)
    assert work["mdtest-hard"]["file_size"] == work["mdtest-hard-read"]["record_size"] == "3901B"
    assert {one["cache"] for one in work.values()} == {"keep"}
    notes = [line for line in text.splitlines() if line.startswith("# * ")]
    assert any(note.startswith("# * [ior-rnd4k-write]: the extended mode") for note in notes)
    assert any("collective = TRUE: for MPI-IO only" in note for note in notes)
    assert not any("drop-caches-cmd" in note for note in notes)


@pytest.mark.parametrize(
    "text",
    [WHOLE, "[ior-easy]\n[ior-hard]\n[mdtest-easy]\n[mdtest-hard]\n", WHOLE.replace("\n", "\r\n"), "\ufeff" + WHOLE],
)
def test_what_comes_out_can_be_planned(text: str) -> None:
    loaded = load_study(io500_study(text, "config.ini").encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    assert (len(expansion.cases), expansion.faults) == (5, ())


def test_phases_that_are_off_are_left_out_and_others_say_how_they_are_cached() -> None:
    text = (
        WHOLE.replace("drop-caches = FALSE", "drop-caches = TRUE") + "[ior-hard-read]\nrun = FALSE\n[ior-easy-write]\n"
    )
    text = text.replace("n = 500000", "n = 500000\nrun = 0").replace(
        "[ior-easy]\nAPI =", "[ior-easy]\nAPI = POSIX --posix.odirect"
    )
    work = yaml.safe_load(io500_study(text, "config.ini"))["workloads"]
    assert list(work) == ["ior-easy", "ior-hard", "mdtest-hard", "mdtest-hard-read"]
    assert work["ior-hard"]["operations"] == ["write"]
    assert (work["ior-easy"]["cache"], work["ior-hard"]["cache"]) == ("direct", "drop")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[global]\nrw=read\n[job]\nbs=4k\n", "c.ini is not a configuration of IO500"),
        ("study: x\n[ior-easy]\n", "c.ini:1: the line cannot be read"),
        ("[ior-easy]\nAPI = DFS --dfs.pool=x\n", r"c.ini: \[ior-easy\] API = DFS: there is no such target"),
        ("[ior-easy]\nblockSize = 1.5g\n", "c.ini .*: '1.5g' has decimals"),
        ("[mdtest-easy]\nn = many\n[ior-easy]\n", "'many' is not a whole number"),
        ("[debug]\nstonewall-time = 0\n[ior-easy]\n", "stonewall-time: 0 is below 1"),
    ],
)
def test_what_cannot_be_taken_is_told_with_the_file(text: str, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        io500_study(text, "c.ini")


@pytest.mark.parametrize("key", ["datadir = ./data", "resultdir = ./r\ntimestamp-datadir = FALSE"])
def test_a_configuration_may_leave_all_phases_to_the_defaults(key: str) -> None:
    study = yaml.safe_load(io500_study(f"[global]\n{key}\n[debug]\nstonewall-time = 1\n", "config.ini"))
    assert is_io500(study["workloads"])
    assert study["defaults"]["time_limit"] == "1s"
    with pytest.raises(AssayError, match="not a configuration"):
        io500_study("[global]\nrw=read\ndirectory=/x\n", "job.fio")


@pytest.mark.parametrize("section", ["global", "ior-hard"])
def test_an_interface_without_a_target_is_refused_where_it_stands(section: str) -> None:
    text = f"[global]\ndatadir = ./data\n[{section}]\napi = S3-libs3 --S3-libs3.host=h\n"
    with pytest.raises(AssayError) as caught:
        io500_study(text, "config.ini")
    assert caught.value.message == f"config.ini: [{section}] API = S3-libs3: there is no such target"
