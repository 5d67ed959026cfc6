"""Hold Assay's layouts against IOR's: which task writes and reads which bytes of which file, in which order.

    .venv/bin/python -m bench.layouts.compare [--write] [--ior PATH]

runs IOR (in PATH, with mpirun) and Assay's engine with the same command lines under strace, and compares every transfer
of every task: file, offset, length, order. `assay study from ior` makes the job, so that it is held, too. With --write
the maps of IOR become the golden tables in contract/golden/layouts, which the engine's tests read.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study
from assay.rooms.foreign.work.ior import ior_study

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "contract/golden/layouts"
ENGINE = ROOT / "target/release/assay-engine"
TASKS = 4
FIELDS = ("lanes", "layout", "file_size_bytes", "block_size_bytes", "record_size_bytes", "phases")

LAYOUTS = {
    "one-segment": "-w -r -t 4k -b 16k",
    "segmented": "-w -r -t 4k -b 16k -s 3",
    "strided": "-w -r -t 47008 -b 47008 -s 5",
    "file-per-task": "-w -r -F -t 4k -b 16k -s 3",
    "next-node": "-w -r -C -t 4k -b 8k -s 2 -O numTasksOnNode0=2,numNodes=2",
    "next-node-own-files": "-w -r -C -F -t 4k -b 8k -s 2 -O numTasksOnNode0=2,numNodes=2",
    "three-nodes-on": "-w -r -C -Q 3 -t 4k -b 4k -s 2 -O numTasksOnNode0=1,numNodes=4",
    "shuffled-own-files": "-w -r -F -z -t 4k -b 16k -s 3",
}
"""Name -> IOR's options. A shuffled order is its random numbers'; there the bytes of each segment are compared."""

Map = dict[str, list[list[list[Any]]]]
"""`write` and `read` -> for each task its transfers in order: number of the file, offset, length."""

_CALL = re.compile(r'^(\w+)\((?:AT_FDCWD, "([^"]*)"|(\d+))(.*)\)\s+= (-?\d+)')


def traced(words: list[str], trace: Path, environment: dict[str, str]) -> None:
    """Run a program under strace; its calls are in `trace` and files beside it."""
    calls = "trace=openat,openat2,lseek,read,write,pread64,pwrite64,close,prctl"
    shell = f"exec strace -ff -e {calls} -o {trace}.${{OMPI_COMM_WORLD_RANK:-0}} " + " ".join(words)
    launch = ["mpirun", "--oversubscribe", "-np", str(TASKS)] if "ior" in Path(words[0]).name else []
    done = subprocess.run(
        [*launch, "sh", "-c", shell], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")


def ior_map(ior: str, options: str, folder: Path) -> Map:
    """What IOR does."""
    file = folder / "ior-file"
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    traced([ior, "-a", "POSIX", "-k", *options.split(), "-o", str(file)], folder / "ior", allowed)
    found: Map = {"write": [[] for _ in range(TASKS)], "read": [[] for _ in range(TASKS)]}
    for task in range(TASKS):
        for calls in folder.glob(f"ior.{task}.*"):
            _add_calls(calls.read_text().splitlines(), str(file), found, task)
    return found


def _add_calls(lines: list[str], file: str, found: Map, task: int) -> None:
    """The transfers of one thread of IOR."""
    opened: dict[str, int] = {}
    at: dict[str, int] = defaultdict(int)
    for line in lines:
        call = _CALL.match(line)
        if call is None:
            continue
        name, path, number, rest, result = call.groups()
        if name == "openat" and path is not None and path.startswith(file):
            opened[result] = int(path.rpartition(".")[2]) if "." in Path(path).name else 0
            at[result] = 0
        elif number in opened and name == "lseek":
            at[number] = int(result)
        elif number in opened and name in ("read", "write"):
            found[name][task].append([opened[number], at[number], int(result)])
            at[number] += int(result)
        elif number in opened and name in ("pread64", "pwrite64"):
            offset = int(rest.rpartition(",")[2])
            found["read" if name == "pread64" else "write"][task].append([opened[number], offset, int(result)])


def job_of(options: str) -> dict[str, Any]:
    """The engine's job that the command line becomes, as far as the layout goes."""
    nodes = re.search(r"numNodes=(\d+)", options)
    hosts = int(nodes[1]) if nodes else 1
    text = ior_study(f"mpirun -np {TASKS} ior {options}", lambda path: path)
    text = text.replace(f"lanes: {TASKS}", f"lanes: {TASKS // hosts}\n    hosts: {hosts}")
    text += f"hosts: [{', '.join(f'h{number}' for number in range(hosts))}]\n" if hosts > 1 else ""
    loaded = load_study(text.encode(), "/tmp")
    if loaded.study is None:
        sys.exit(f"{options}: {loaded.problems}")
    case = expand(loaded.study).cases[0]
    job = json.loads(plan_job(loaded.study, case, 1).job.model_dump_json(exclude_defaults=True))
    # One engine with all lanes does what several with a part of them do.
    return {field: job[field] for field in FIELDS if job.get(field) is not None} | {"lanes": TASKS}


def engine_map(options: str, folder: Path) -> Map:
    """What Assay's engine does with the same command line."""
    place = folder / "place"
    place.mkdir()
    (place / ".assay-target").write_text("{}")
    target = {"kind": "file", "root": str(place), "directory": "job"}
    job = {"spec_version": 2, "id": "layout", "target": target, "method": "sync", **job_of(options)}
    (folder / "job.json").write_text(json.dumps(job))
    traced([str(ENGINE), "run", str(folder / "job.json"), ">", str(folder / "events")], folder / "assay", {})
    found: Map = {"write": [[] for _ in range(TASKS)], "read": [[] for _ in range(TASKS)]}
    for calls in folder.glob("assay.0.*"):
        _add_lane(calls.read_text().splitlines(), found)
    return found


def _add_lane(lines: list[str], found: Map) -> None:
    """The transfers of one thread of the engine, if it is a lane."""
    lane, opened = -1, dict[str, int]()
    for line in lines:
        if named := re.match(r'prctl\(PR_SET_NAME, "lane(\d+)"', line):
            lane = int(named[1])
        elif file := re.match(r'openat2?\(\d+, "f(\d+)".*= (\d+)$', line):
            opened[file[2]] = int(file[1])
        elif call := re.match(r"p(read|write)64\((\d+), .*, (\d+), (\d+)\)\s+= (\d+)$", line):
            if call[2] not in opened or lane < 0:
                continue
            found[call[1]][lane].append([opened[call[2]], int(call[4]), int(call[5])])


def bytes_of_segments(transfers: list[list[Any]], segment: int) -> list[list[Any]]:
    """The same transfers, in each segment by offset."""
    return sorted(transfers, key=lambda one: (one[1] // segment, one[0], one[1]))


def agree(options: str, ours: Map, iors: Map) -> bool:
    """Whether both do the same."""
    if " -z" not in options:
        return ours == iors
    block = int(re.search(r"-b (\d+)k", options)[1]) << 10  # type: ignore[index]
    # What is written at random is prepared before; only what is read is held.
    return all(
        bytes_of_segments(ours["read"][task], block) == bytes_of_segments(iors["read"][task], block)
        for task in range(TASKS)
    )


def main() -> None:
    """Compare all layouts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the golden tables")
    parser.add_argument("--ior", default=shutil.which("ior"), help="the program ior")
    arguments = parser.parse_args()
    if arguments.ior is None or shutil.which("mpirun") is None or shutil.which("strace") is None:
        sys.exit("ior, mpirun and strace are needed: build IOR and name it with --ior")
    wrong = 0
    for name, options in LAYOUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            iors = ior_map(arguments.ior, options, Path(folder))
            ours = engine_map(options, Path(folder))
        same = agree(options, ours, iors)
        wrong += not same
        moved = sum(len(task) for way in iors.values() for task in way)
        print(f"{name}: ior {options}: {moved} transfers of {TASKS} tasks, {'the same' if same else 'NOT the same'}")
        if not same:
            print(f"  IOR:   {json.dumps(iors)}\n  Assay: {json.dumps(ours)}")
        if arguments.write:
            GOLDEN.mkdir(parents=True, exist_ok=True)
            table = {"command": f"ior {options}", "tasks": TASKS, "job": job_of(options), "ior": iors}
            (GOLDEN / f"{name}.json").write_text(json.dumps(table, separators=(",", ":")) + "\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
