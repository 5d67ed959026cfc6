"""Command lines of IOR and mdtest as people write them, and the studies that ask the same.

Those of Perlmutter and of vi4io's mdtest were published (one path is shorter here); IO500's are by its rules; "random",
"collective", "leaves" and the lines of SAID were made for this test. The expected studies were written from the
programs' documentation and source, not from what comes out here.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from assay.model.base import AssayError
from assay.plan.command_lines.options import binary_size
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study
from assay.rooms.foreign.work.ior import ior_study
from assay.rooms.foreign.work.mdtest import mdtest_study

ROOT = Path(__file__).resolve().parents[5]


class Published(NamedTuple):
    """A command line, what the workload and the study say, and what the notes name."""

    line: str
    workload: dict[str, Any]
    study: dict[str, Any]
    noted: tuple[str, ...]


IOR = {
    # The tutorial of IOR's documentation: a read that no node has in memory.
    "first-steps": Published(
        "mpirun -n 64 ./ior -t 1m -b 16m -s 16 -F -C -e",
        {
            "operations": ["write", "read"], "layout": "separate", "segments": 16, "block_size": "16MiB",
            "record_size": "1MiB", "lanes": 64, "reorder": "node", "cache": "keep", "sync": "fsync",
        },
        {"repeats": 1},
        ("cache: keep", "-i 1", "-o"),
    ),
    # Acceptance of Perlmutter's Lustre: writes for 45 seconds.
    "perlmutter-write": Published(
        "srun ./ior -w -t 1m -b 1m -s 100000 -a POSIX -F -e -g -vv -C -o /pscratch/IOR-strided.out -D 45",
        {
            "operations": ["write"], "layout": "separate", "segments": 100000, "block_size": "1MiB",
            "record_size": "1MiB", "lanes": 1, "reorder": "node", "time_limit": "45s", "cache": "keep", "sync": "fsync",
        },
        {"targets": {"place": {"kind": "file", "path": "/pscratch/assay-ior"}}, "repeats": 1},
        ("tasks", "-g", "-v", "-o /pscratch/IOR-strided.out"),
    ),
    # The same machine, with large transfers.
    "perlmutter-large": Published(
        "srun ./ior -w -F -e -g -vv -O lustrestripecount=1 -t 64m -b 64g -D 45 -k -o /global/testFile",
        {
            "operations": ["write"], "layout": "separate", "segments": 1, "block_size": "64GiB",
            "record_size": "64MiB", "lanes": 1, "time_limit": "45s", "cache": "keep", "sync": "fsync",
        },
        {"repeats": 1, "output": {"keep_files": True}},
        ("lustrestripecount=1",),
    ),
    # IO500's hard write.
    "io500-hard": Published(
        "mpiexec -np 10 ior -C -Q 1 -g -G 27 -k -e -t 47008 -b 47008 -w -r -s 10000000 -D 300 "
        "-O stoneWallingWearOut=1 -a POSIX -o /mnt/io500/ior-hard/file",
        {
            "operations": ["write", "read"], "layout": "shared", "segments": 10000000, "block_size": "47008B",
            "record_size": "47008B", "lanes": 10, "reorder": "node", "time_limit": "300s", "wear_out": True,
            "cache": "keep", "sync": "fsync",
        },
        {"seed": 27, "repeats": 1, "output": {"keep_files": True}},
        ("-g", "-D 300"),
    ),
    # One shared file by collective MPI-IO.
    "collective": Published(
        "srun -n 4 ior -a MPIIO -c -V -w -r -t 1m -b 4m -s 2 -C -e -o /scratch/f",
        {
            "operations": ["write", "read"], "layout": "shared", "segments": 2, "block_size": "4MiB",
            "record_size": "1MiB", "tasks_per_host": 4, "reorder": "node", "cache": "keep", "sync": "fsync",
            "collective": True, "view": "subarray",
        },
        {"targets": {"place": {"kind": "mpiio", "path": "/scratch/assay-ior"}}, "launcher": "srun"},
        ("-o /scratch/f",),
    ),
    # Random reads of one file for each task past the cache, repeated.
    "random": Published(
        "mpirun -np 16 -ppn 8 IOR -a POSIX -F -r -z -t 4k -b 4g -i 3 --posix.odirect -o /beegfs/t -l random",
        {
            "operations": ["random_read"], "layout": "separate", "segments": 1, "block_size": "4GiB",
            "record_size": "4KiB", "lanes": 16, "cache": "direct", "sync": "none",
        },
        {"repeats": 3},
        ("2 nodes", "-r without -w", "-z", "-l random"),
    ),
}  # fmt: skip

MDTEST = {
    # vi4io.org's example of a tree: 222 directories of 100 files and 2 tasks, 22,200 in all.
    "tree": Published(
        "mpiexec -n 2 ./mdtest -d /tmp/ -b 10 -z 2 -i 1 -I 100",
        {
            "operations": ["create", "stat", "open", "unlink"], "files": 11100, "depth": 2, "width": 10, "inner": True,
            "layout": "shared", "lanes": 2, "sync": "none",
        },
        {"repeats": 1, "targets": {"place": {"kind": "file", "path": "/tmp/assay-mdtest"}}},
        ("-i 1", "stat of directories"),
    ),
    # IO500's hard creation.
    "io500-hard": Published(
        "mpiexec -np 10 mdtest -a POSIX -n 1000000 -t -w 3901 -e 3901 -P -G 27 -N 1 -F -C -W 300 -d /mnt/mdtest-hard",
        {
            "operations": ["create"], "files": 1000000, "layout": "shared", "lanes": 10, "reorder": "lane",
            "sync": "none", "file_size": "3901B", "time_limit": "300s", "wear_out": True,
        },
        {"repeats": 1},
        ("-t", "-P", "-G 27", "-N 1"),
    ),
    # Own directories, files at the leaves only.
    "leaves": Published(
        "mdtest -F -L -u -z 3 -b 5 -n 1250 -i 3 -d /scratch -R",
        {
            "operations": ["create", "stat", "open", "unlink"], "files": 1250, "depth": 3, "width": 5,
            "layout": "separate", "lanes": 1, "sync": "none",
        },
        {"repeats": 3},
        ("tasks", "-R"),
    ),
}  # fmt: skip


def mdtest(line: str, _read: Any = None) -> str:
    return mdtest_study(line)


ALL = [(ior_study, name, item) for name, item in IOR.items()] + [
    (mdtest, f"mdtest-{name}", item) for name, item in MDTEST.items()
]


def nothing(path: str) -> str:
    raise AssertionError(f"no script was to be read: {path}")


@pytest.mark.parametrize(("make", "name", "item"), ALL, ids=[name for _make, name, _item in ALL])
def test_a_published_command_line_becomes_the_study_that_asks_the_same(make: Any, name: str, item: Published) -> None:
    text = make(item.line, nothing)
    study = yaml.safe_load(text)
    workload = study["workloads"]["ior" if "ior" in item.line.lower().split("mdtest")[0] else "files"]
    assert workload == item.workload
    assert {key: study.get(key) for key in item.study} == item.study
    notes = [line for line in text.splitlines() if line.startswith("# * ")]
    for word in item.noted:
        assert any(note.startswith(f"# * {word}:") for note in notes), (word, notes)


@pytest.mark.parametrize(("make", "name", "item"), ALL, ids=[name for _make, name, _item in ALL])
def test_what_comes_out_can_be_planned(make: Any, name: str, item: Published) -> None:
    loaded = load_study(make(item.line, nothing).encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    assert not expansion.faults
    jobs = [plan_job(loaded.study, case, 1).job for case in expansion.cases]
    assert len(jobs) == len(loaded.study.workloads)
    if name == "io500-hard":
        assert jobs[0].file_size_bytes == 10 * 10_000_000 * 47008
        assert [phase.wear_out for phase in jobs[0].phases] == [True, False]


class Said(NamedTuple):
    """A command line, what is said of a workload (None: nothing) and of the study, and parts of notes."""

    make: Any
    line: str
    workload: dict[str, Any]
    study: dict[str, Any] = {}  # noqa: RUF012
    noted: tuple[str, ...] = ()
    name: str = "ior"


RND = "-z -z -t=4096 -b=4096 -s=10000000 -r -k -e -C -Q=1 -G=-1113158312 -D=300 -O stoneWallingWearOut=1 -a POSIX"
SAID = {
    "glued": Said(ior_study, "srun -n8 -N2 ior -F -o /s/x", {"lanes": 8}, {}, ("2 nodes: ",)),
    "glued-each": Said(
        ior_study, "srun -N4 --ntasks-per-node=16 ior -F -o /s/x", {"lanes": 64}, {}, ("4 nodes: ",)
    ),
    "glued-mdtest": Said(mdtest, "srun -n8 mdtest -n 10 -d /s", {"lanes": 8}, name="files"),
    "slots": Said(ior_study, "mpirun -H node1:4,node2:4 ior -F", {"lanes": 8}, {}, ("2 nodes: ", "-H: 8 tasks, one")),
    "placed": Said(
        ior_study, "mpirun -np 8 --map-by ppr:4:node ior -F -a AIO", {"lanes": 8}, {}, ("2 nodes: ", "-a AIO: one")
    ),
    "shuffled-before-4.0": Said(
        ior_study, "mpirun -np 4 ior -z -t 4k -b 4k -s 10", {"file_size": "160KiB", "segments": None}, {},
        ("-z: a block has one transfer: all of the file", "file_size: that of 4 tasks"),
    ),
    "shuffled": Said(
        ior_study, "ior -z -F -t 4k -b 8k -s 10", {"segments": 10, "block_size": "8KiB"}, {},
        ("-z: order is random in each block, as from IOR 4.0 on",),
    ),
    "of-another-interface": Said(
        ior_study, "ior --dfs.pool p -F --aio.max-pending=8 -a AIO", {"layout": "separate"}, {},
        ("--dfs.pool=p: an option of another interface, which -a AIO does not use", "--aio.max-pending=8: no counter"),
    ),
    "hints-of-gpfs": Said(
        ior_study, "ior --posix.gpfs.createsharing --posix.gpfs.finegrainwritesharing -F", {"layout": "separate"}, {},
        ("--posix.gpfs.createsharing: a hint of GPFS", "--posix.gpfs.finegrainwritesharing: a hint of GPFS"),
    ),
    "over-lines": Said(ior_study, "mpirun -np 8 ior -w \\\n  -F \\ \n\t-o \\\r\n/x/f", {"lanes": 8}),
    "directives": Said(
        ior_study, "ior -F -O storeFileOffset=0,beegfsNumTargets=4,gpuid=1,showHelp=0,nodes=2", {"layout": "separate"},
        {}, ("beegfsNumTargets=4: set it on the directory before",),
    ),
    "by-nodes": Said(
        mdtest, "mpirun -np 16 -ppn 4 mdtest -n 9 -F -u -N 1", {"lanes": 16, "reorder": "lane", "reorder_by": 4}, {},
        ("4 nodes: ", "-N 1: 4 lanes, those of 1 of 4 nodes"), "files",
    ),
    "by-two-nodes": Said(
        mdtest, "srun -N 4 -n 32 mdtest -n 9 -F -N 2", {"reorder": "lane", "reorder_by": 16}, {},
        ("4 nodes: ", "-N 2: 16 lanes, those of 2 of 4 nodes"), "files",
    ),
    "by-all-nodes": Said(
        mdtest, "mpirun -ppn 4 -np 8 mdtest -n 9 -F -N 4 -d /t;", {"reorder": "lane", "reorder_by": 16}, {},
        ("2 nodes: ", "-N 4: 16 lanes on are each lane's own; versions before 3.3"), "files",
    ),
    "by-tasks": Said(
        mdtest, "mpirun -np 16 mdtest -n 9 -F -N 3", {"reorder": "lane", "reorder_by": 3}, {},
        ("-N 3: lanes of one node; mdtest goes on by nodes",), "files",
    ),
    "range-of-nodes": Said(ior_study, "srun -N 2-4 -n 8 ior -F", {"lanes": 8}, {}, ("-N 2-4: not a number",)),
    "slots-of-one": Said(ior_study, "mpirun -np 2 -H node1:4,node2:4 ior -F", {"lanes": 2}),
    "resource-sets": Said(ior_study, "jsrun -n 4 -a 2 -r 2 ior -F", {"lanes": 8}, {}, ("2 nodes: ",)),
    "too-many": Said(ior_study, "mpirun -np 4 ior -N 32 -F", {"lanes": 4}, {}, ("-N 32: only 4 tasks are started",)),
    "variable": Said(ior_study, "mpirun -np $NP ior -F", {"lanes": 1}, {}, ("tasks: '-np $NP' is not a number",)),
    # IO500's rnd4K-easy-read: blocks of one transfer, drawn over the whole file.
    "drawn": Said(
        ior_study,
        f"mpiexec -np 10 ior {RND} -F -o /mnt/rnd/file",
        {
            "operations": ["random_read"], "layout": "separate", "file_size": "40960MB", "record_size": "4KiB",
            "segments": None, "block_size": None, "time_limit": "300s", "wear_out": None, "reorder": "node",
        },
        {"seed": 3181808984},
        (
            "-z -z: each record of the whole file comes exactly once, in random order; IOR draws",
            "-G -1113158312: seeds have no sign: 3181808984",
            "stoneWallingWearOut=1: left out: random operations end at the limit",
            "-r without -w: what is read is written first, outside the timing: all 410 GB, however much another "
            "run has written; lower file_size for less",
        ),
    ),
    "drawn-shared": Said(
        ior_study,
        "mpirun -np 4 ior -r -z -z -t 4k -b 64k -s 16",
        {"file_size": "4MiB", "layout": "shared", "segments": None, "block_size": None},
        {},
        ("file_size: that of 4 tasks", "-z -z: each record", "random are only its blocks of 65536 bytes"),
    ),
    "shuffled-in-blocks": Said(
        ior_study, "mpirun -np 2 ior -r -z -F -t 4k -b 64k -s 16", {"segments": 16, "block_size": "64KiB"}
    ),
    "file-system": Said(
        ior_study,
        "mpirun -np 4 ior -a MPIIO -w -o ufs:/s/x",
        {"tasks_per_host": 4},
        {"targets": {"place": {"kind": "mpiio", "path": "/s/assay-ior", "prefix": "ufs"}}},
    ),
    "ranks-of-nodes": Said(
        ior_study,
        "IOR_HINT__MPI__cb_nodes=4 IOR_HINT__MPI__cb_buffer_size=16777216 IOR_HINT__MPI__x=y KEY=secret "
        "mpirun -np 8 -npernode 4 -H a,b ior -a MPIIO -w -Y -B -c -o /s/x",
        {"tasks_per_host": 4, "cb_nodes": 4, "cb_buffer_size": 16777216, "cache": "keep", "sync": "none"},
        {"targets": {"place": {"kind": "mpiio", "path": "/s/assay-ior", "hints": {"x": "y"}}}},
        ("2 nodes: name them as hosts of the study, then write hosts: 2 and tasks_per_host: 4; until then 4 of 8 tasks",
         "KEY: a study sets no variables", "-Y: left out", "-B: left out: MPI-IO has no O_DIRECT"),
    ),
    "more-than-a-host-takes": Said(
        ior_study,
        "srun -N 1382 --ntasks-per-node=4 ior -w -F -o /s/x",
        {"hosts": 1382, "lanes": 4},
        {"hosts": "allocation"},
        ("5528 tasks: hosts: 1382 with 4 each, those of the job in which it runs; or name hosts",),
    ),
    "more-than-a-host-takes-of-mpi": Said(
        ior_study,
        "srun -n 1536 ior -a MPIIO -w -o /s/x",
        {"hosts": 2, "tasks_per_host": 768},
        {"hosts": "allocation", "launcher": "srun"},
        ("1536 tasks: the command line does not name the nodes; hosts: 2 with 768 each",),
    ),
    "more-than-a-host-takes-of-mdtest": Said(
        mdtest,
        "mpirun -np 4000 -ppn 100 mdtest -F -n 10 -d /s/x",
        {"hosts": 40, "lanes": 100},
        {"hosts": "allocation"},
        ("4000 tasks: hosts: 40 with 100 each",),
        "files",
    ),
    "hints-of-a-file": Said(
        ior_study, "mpirun -np 2 ior -a MPIIO -U hf -w", {}, {}, ("-U hf: its hints are not in this study",)
    ),
    "mapped": Said(
        ior_study, "ior -a MMAP -Y -B -w --", {"method": "mmap", "sync": "fsync", "cache": "keep"}, {},
        ("-Y: sync: fsync, once", "-B: left out: a mapping"),
    ),
    "directories-in-turn": Said(
        ior_study,
        "mpirun -np 4 ior -F -o /a/x@/b/y",
        {"layout": "separate"},
        {"targets": {"place": {"kind": "file", "path": "/a/assay-ior", "shares": ["/b/assay-ior"]}}},
        ("-o /a/x@/b/y: files go to /a/assay-ior and /b/assay-ior",),
    ),
    "one-file-of-several": Said(
        ior_study,
        "mpirun -np 4 ior -o /a/x@/b/y",
        {"layout": "shared"},
        {"targets": {"place": {"kind": "file", "path": "/a/assay-ior"}}},
        ("-o /a/x@/b/y: one shared file is in the first of them, /a/assay-ior",),
    ),
    "reordered-in-several": Said(
        ior_study,
        "mpirun -np 4 ior -F -C -o /a/x@/b/y",
        {"reorder": "node"},
        {"targets": {"place": {"kind": "file", "path": "/a/assay-ior"}}},
        ("-o /a/x@/b/y: with reorder lanes cannot keep to one of several",),
    ),
    "worn-out-random": Said(
        ior_study, "ior -w -z -F -t 4k -b 1m -D 5 -O stoneWallingWearOut=1", {"time_limit": "5s", "wear_out": None}, {},
        ("stoneWallingWearOut=1: left out: random operations end",),
    ),
    "worn-out-read": Said(
        ior_study,
        "mpirun -np 10 ior -r -C -t 47008 -b 47008 -s 10000000 -D 300 -O stoneWallingWearOut=1 "
        "-O stoneWallingWearOutIterations=50",
        {"operations": ["read"], "time_limit": "300s", "wear_out": None},
        {},
        ("stoneWallingWearOut=1: left out: reads end", "first, outside the timing: all 4.7 TB",
         "stoneWallingWearOutIterations=50: what another run has written is not read"),
    ),
    "at-least": Said(
        ior_study, "ior -D 5 -O minTimeDuration=10", {"runtime": "5s", "time_limit": None}, {},
        ("-D 5: a runtime takes no time_limit: ends at 5s",),
    ),
    "on-by-none": Said(
        ior_study, "mpirun -np 4 ior -C -Q 0", {"reorder": None, "reorder_by": None}, {}, ("-C -Q 0: on by no node",)
    ),
    "random-nodes": Said(ior_study, "mpirun -np 4 ior -Z -Z -Q 2", {"reorder": "random"}, {}, ("-Q 2: with -Z",)),
    "items-of-directories": Said(
        mdtest, "mpirun -np 2 mdtest -n 10 -I 5 -d /s", {"files": 10, "depth": 1, "width": 2, "inner": None}, {},
        ("-n 10 -I 5: 2 directories with 5 of each task",), "files",
    ),
    "items-of-trees": Said(
        mdtest, "mpirun -np 2 mdtest -n 10 -I 5 -z 1 -b 2 -d /s", {"files": 30, "depth": 1, "width": 2, "inner": True},
        {}, ("-n 10 -I 5: one tree, with 10 items of each task in a directory; mdtest makes 2 trees with 5",), "files",
    ),
    "removed-only": Said(
        mdtest, "mdtest -D -T -r -n 10 -d /s", {"operations": ["rmdir"]}, {}, ("without -C: ",), "directories"
    ),
    "both": Said(mdtest, "mdtest -F -D -n 10 -d /s", {"operations": ["mkdir", "rmdir"]}, name="directories"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_the_same_is_said(name: str) -> None:
    item = SAID[name]
    text = item.make(item.line, nothing)
    study = yaml.safe_load(text)
    workload = study["workloads"][item.name]
    assert {key: workload.get(key) for key in item.workload} == item.workload
    assert {key: study.get(key) for key in item.study} == item.study
    notes = [line.removeprefix("# * ") for line in text.splitlines() if line.startswith("# * ")]
    for words in item.noted:
        assert any(words in note for note in notes), (words, notes)
    nodes_or_tasks = [note for note in notes if note.startswith("tasks:") or " nodes: " in note]
    assert item.line.startswith(("ior", "mdtest")) or len(nodes_or_tasks) == sum(
        words.startswith("tasks:") or " nodes: " in words for words in item.noted
    ), nodes_or_tasks
    assert "secret" not in "".join(notes)
    loaded = load_study(text.encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    assert not expansion.faults
    assert all(plan_job(loaded.study, case, 1).job for case in expansion.cases)


def test_no_branches_are_wanted_of_a_tree_without_levels() -> None:
    study = yaml.safe_load(mdtest_study("mdtest -z 0 -b 0 -I 10 -F -L -d /x"))
    assert study["workloads"]["files"]["files"] == 10
    with pytest.raises(AssayError, match="-b: 0 is below 1"):
        mdtest_study("mdtest -z 1 -b 0 -I 10 -d /x")


def test_a_directory_workload_stands_beside_that_of_files() -> None:
    study = yaml.safe_load(mdtest_study("mdtest -n 10 -d /x", 3))
    assert study["workloads"]["directories"]["operations"] == ["mkdir", "rmdir"]
    assert study["workloads"]["directories"]["lanes"] == 3


def test_each_test_of_a_script_is_a_workload() -> None:
    script = "ignored\nIOR START\n  api=POSIX, testFile=/mnt/a  # shared\n blockSize=8m,transferSize=1m\nRUN\n"
    script += "filePerProc=1\nwriteFile=1\nsegmentCount=3\nRUN\nIOR STOP\nblockSize=1\n"
    study = yaml.safe_load(ior_study("mpirun -np 2 ior -f deck.txt -e", {"deck.txt": script}.__getitem__))
    one, two = study["workloads"]["test-1"], study["workloads"]["test-2"]
    assert (one["layout"], one["block_size"], one["operations"]) == ("shared", "8MiB", ["write", "read"])
    assert (two["layout"], two["segments"], two["operations"], two["sync"]) == ("separate", 3, ["write"], "fsync")
    assert "targets" not in one


def test_tests_of_a_script_have_targets_of_their_own() -> None:
    script = (
        "IOR START\ntestFile=/mnt/a\nrepetitions=5\nRUN\napi=MPIIO\ntestFile=/mnt/b/c\nrepetitions=2\nRUN\nIOR STOP\n"
    )
    text = ior_study("mpirun -np 2 ior -f deck.txt", {"deck.txt": script}.__getitem__)
    study = yaml.safe_load(text)
    assert study["targets"] == {
        "place": {"kind": "file", "path": "/mnt/assay-ior"},
        "place-2": {"kind": "mpiio", "path": "/mnt/b/assay-ior-2"},
    }
    one, two = study["workloads"]["test-1"], study["workloads"]["test-2"]
    assert (one["targets"], one["lanes"]) == (["place"], 2)
    assert (two["targets"], two["tasks_per_host"]) == (["place-2"], 2)
    assert (study["repeats"], study["launcher"]) == (5, "mpirun")
    assert "# * repetitions: tests have 5, 2, and a study has one number: 5 for all" in text
    loaded = load_study(text.encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    assert not expand(loaded.study).faults


@pytest.mark.parametrize(
    ("text", "size"), [("8", 8), ("4k", 4096), ("2M", 2 << 20), ("1g", 1 << 30), ("1t", 1 << 40), ("16 m", 16 << 20)]
)
def test_sizes_are_iors(text: str, size: int) -> None:
    assert binary_size(text, "-b", "ior") == size


WRONG = {
    "ior -t 1m -b 1500k": "ior: the block size, 1536000, is not a multiple of the transfer size, 1048576",
    "ior -t": "ior -t lacks its value",
    "ior -b many": "ior -b: 'many' is not a size",
    "ior -C -Z": "ior: -C and -Z exclude each other",
    "ior -C -z": "ior: -C and -z exclude each other in one shared file",
    "ior -O stoneWallingWearOut=1": "ior: stoneWallingWearOut needs a deadline",
    "ior -O nothing=1": "ior -O nothing=1: there is no directive 'nothing'",
    "ior -a HDF5": "ior -a HDF5: there is no such target",
    "ior --nothing": "ior has no option --nothing",
    "ior file": "ior: 'file' is not an option and not the value of one",
    "mpirun -np 4 hostname": "no ior in the command line",
    "ior 'x": "the command line cannot be read: no closing quotation",
    "ior -i 0": "ior -i: 0 is below 1",
    "ior -b 0": "ior: the block size, 0, is below the transfer size, 262144",
    "ior -b 1.5g": "ior -b: '1.5g' has decimals, which ior does not read",
    "ior -t 1q": "ior -t: '1q' has a unit that ior does not know",
    "ior -t 1": "ior -t: 1 is not a multiple of 8 bytes",
    "mpirun -np 2 ior -a DFS --dfs.pool p1 --dfs.cont=c -w": "ior -a DFS: there is no such target",
    "ior -a CHFS --chfs.chunk_size=4k -w -b 4": "ior -a CHFS: there is no such target",
    "ior --posix.nosuch=1": "ior has no option --posix.nosuch",
    "ior -a MPIIO -c -z": "ior: -c and -z exclude each other with -a MPIIO",
    "ior -w -z -R -G 1": "ior: -R with -z needs the order in which the data was written",
    "ior -R": "ior: -R without -w needs the signature",
    "ior -o ufs:/s/x": "ior -o ufs:/s/x: ufs: names a file system to MPI-IO, and this goes through POSIX",
    "ior -u -F -o /a/x@/b/y": "ior: several files in -o and -u exclude each other",
    "mpirun -np 0 ior": "mpirun -np: 0 is below 1",
    "ior -o /x < in.txt": "'<' is shell syntax, not an argument of ior",
    "ior -o /x | tee log && rm /x": "'|' is shell syntax, not an argument of ior",
    "cd /x; mpirun -np 2 ior": "';' is shell syntax, not an argument of ior",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_ior_would_not_take_is_refused_with_its_place(line: str) -> None:
    with pytest.raises(AssayError) as caught:
        ior_study(line, nothing)
    assert caught.value.message.startswith(WRONG[line]), caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mdtest -a DFS --dfs.pool p --dfs.cont c -F", "mdtest -a DFS: there is no such target"),
        ("mdtest -d /x", "mdtest: the number of files or directories is missing"),
        ("mdtest -n 10 -I 5 -u", "mdtest: -n 10 and -I 5 exclude each other with -u"),
        ("mdtest -n 10 -I 3", "mdtest: -n 10 is not a multiple of -I 3"),
        ("mdtest -n 10 -w 1.5k", "mdtest -w: '1.5k' has decimals, which mdtest does not read"),
        ("mdtest -n 10 && ls", "'&&' is shell syntax, not an argument of mdtest"),
        ("mdtest -n 5 -z 2 -b 3", "mdtest: 5 items are fewer than 13 directories"),
        ("mdtest -n 7 -e 10 -F", "mdtest -e 10: files of 0 bytes have nothing to read"),
        ("mdtest -q", "mdtest has no option -q (in '-q')"),
    ],
)
def test_what_mdtest_would_not_take_is_refused(line: str, message: str) -> None:
    with pytest.raises(AssayError) as caught:
        mdtest_study(line)
    assert caught.value.message.startswith(message), caught.value.message


@pytest.mark.parametrize("path", sorted((ROOT / "contract/golden/layouts").glob("*.json")), ids=lambda path: path.stem)
def test_the_job_of_a_layout_is_the_one_that_was_held_against_ior(path: Path) -> None:
    """`bench/layouts/compare.py` ran IOR and the engine, which did the same; the engine's own test repeats its part."""
    table = json.loads(path.read_bytes())
    nodes = re.search(r"numNodes=(\d+)", table["command"])
    hosts = int(nodes[1]) if nodes else 1
    study = yaml.safe_load(ior_study(f"mpirun -np {table['tasks']} {table['command']}", nothing))
    study["workloads"]["ior"] |= {"lanes": table["tasks"] // hosts, "hosts": hosts}
    study |= {"hosts": [f"h{number}" for number in range(hosts)]} if hosts > 1 else {}
    loaded = load_study(yaml.safe_dump(study).encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    job = plan_job(loaded.study, expand(loaded.study).cases[0], 1).job
    told = json.loads(job.model_dump_json(exclude_defaults=True)) | {"lanes": job.lanes * (job.ranks or 1)}
    assert {field: told.get(field) for field in table["job"]} == table["job"]


def test_nodes_of_srun_are_those_of_the_allocation() -> None:
    made = yaml.safe_load(ior_study("srun -N 2 --ntasks-per-node=2 ior -a MPIIO -c -t 1m -b 4m -o /x/f", None, None))
    assert (made["launcher"], made["hosts"]) == ("srun", "allocation")
    (workload,) = made["workloads"].values()
    assert (workload["hosts"], workload["tasks_per_host"]) == (2, 2)


def test_tasks_that_no_hosts_share_equally_are_refused() -> None:
    with pytest.raises(AssayError, match="1031 tasks are more than the 1024 that one host takes") as caught:
        ior_study("mpirun -np 1031 ior -w -F -o /s/x", nothing)
    assert "state the number of nodes" in caught.value.hint


def test_a_word_that_is_taken_for_o_direct_is_told_what_it_is() -> None:
    with pytest.raises(AssayError, match="there is no directive 'direct'") as caught:
        ior_study("mpirun -np 2 ior -O direct=1 -w -o /s/x", nothing)
    assert "--posix.odirect" in caught.value.hint
