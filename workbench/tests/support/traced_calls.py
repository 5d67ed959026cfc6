"""Calls on files that a program and the engine make, by strace, so that both can be compared."""

import json
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study

_OPEN = re.compile(r'openat2?\([^"]*"([^"]*)", (.*)\)\s+= (\d+)')
_MOVE = re.compile(r"(?:p(read|write)64|(read|write))\((\d+), .*\)\s+= (\d+)$")
_AT = re.compile(r", (\d+)\)\s+= \d+$")
_SEEK = re.compile(r"lseek\((\d+), .*\)\s+= (\d+)$")
_FLUSH = re.compile(r"(fsync|fdatasync)\((\d+)")


@dataclass
class Calls:
    """What was done to one file.

    Attributes:
        moves: Reads and writes in order: `read` or `write`, offset, bytes.
        flags: Those of the open calls of descriptors with reads or writes.
        flushes: Number of fsync and fdatasync calls.
        is_plain: It was written by write, at the position of the descriptor.
    """

    moves: list[tuple[str, int, int]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    flushes: Counter[str] = field(default_factory=Counter)
    is_plain: bool = False


def traced(words: list[str], folder: Path, name: str) -> list[Path]:
    """Run a program under strace, and return the files with the calls of each of its threads."""
    calls = "trace=openat,openat2,open,creat,lseek,read,write,pread64,pwrite64,fsync,fdatasync,close,prctl"
    program = ["strace", "-ff", "-e", calls, "-o", str(folder / name), *words]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=folder, timeout=120)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    (folder / f"{name}.out").write_text(done.stdout)
    return sorted(folder.glob(f"{name}.[0-9]*"))


def calls_of(files: list[Path], wanted: re.Pattern[str], only_lanes: bool) -> dict[tuple[str, str], Calls]:
    """Return thread and file -> what was done to the file there, of files whose path matches."""
    found: dict[tuple[str, str], Calls] = {}
    for path in files:
        lines = path.read_text(errors="replace").splitlines()
        if only_lanes and not any('PR_SET_NAME, "lane' in line for line in lines):
            continue
        opened: dict[str, tuple[str, str]] = {}
        at: dict[str, int] = {}
        for line in lines:
            if match := _OPEN.search(line):
                if wanted.search(match[1]):
                    opened[match[3]] = (match[1], match[2])
                else:
                    opened.pop(match[3], None)
                at[match[3]] = 0
            elif match := _SEEK.match(line):
                if match[1] in opened and match[2] == "0":
                    _drop_rewound(found.get((path.name, opened[match[1]][0])))
                at[match[1]] = int(match[2])
            elif (match := _MOVE.match(line)) and match[3] in opened:
                name, flags = opened[match[3]]
                calls = found.setdefault((path.name, name), Calls())
                place = _AT.search(line) if match[1] else None
                offset = int(place[1]) if place else at.get(match[3], 0)
                size = int(match[4])
                if size:
                    calls.moves.append((match[1] or match[2], offset, size))
                    calls.flags |= set(re.findall(r"O_[A-Z]*(?:DIRECT|SYNC)\b", flags))
                calls.is_plain = calls.is_plain or match[2] == "write"
                if not match[1]:
                    at[match[3]] = offset + size
            elif (match := _FLUSH.match(line)) and match[2] in opened:
                found.setdefault((path.name, opened[match[2]][0]), Calls()).flushes[match[1]] += 1
    return found


def _drop_rewound(calls: Calls | None) -> None:
    """Drop a read of the first record that is read again at once, by which iozone fills its buffer before the clock."""
    if calls is not None and calls.moves and calls.moves[-1][:2] == ("read", 0):
        calls.moves.pop()


def engine_calls(text: str, folder: Path) -> list[dict[tuple[str, str], Calls]]:
    """Return what the engine does in each case of a study of one target of kind file."""
    loaded = load_study(text.encode(), str(folder))
    assert loaded.study is not None, loaded.problems
    found = []
    for number, case in enumerate(expand(loaded.study).cases):
        job: dict[str, Any] = json.loads(plan_job(loaded.study, case, 1).job.model_dump_json(exclude_defaults=True))
        place = folder / f"place{number}"
        place.mkdir()
        (place / ".assay-target").write_text("{}")
        job["target"] = {"kind": "file", "root": str(place), "directory": "job"}
        (folder / f"job{number}.json").write_text(json.dumps(job))
        engine = os.environ["ASSAY_ENGINE"]
        files = traced([engine, "run", str(folder / f"job{number}.json")], folder, f"engine{number}")
        found.append(calls_of(files, re.compile(r"^f\d+(\.\d+)?$"), only_lanes=True))
    return found
