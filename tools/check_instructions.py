#!/usr/bin/env python3
"""Fail where the engine needs more user-space instructions per operation than the limits allow.

Counted by valgrind's callgrind in the lane's thread, so that a busy machine makes little difference: two jobs that
differ only in their number of operations, and the difference divided by that number. Limits are in
tools/instructions.json; 5 percent more is allowed, since compilers differ. What is above its limit is counted again,
and the least counts. `--update` writes what is counted now.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = ROOT / "tools" / "instructions.json"
ENGINE = os.environ.get("ASSAY_ENGINE", str(ROOT / "target" / "release" / "assay-engine"))
SLACK = 1.05
TRIES = 4
#: Powers of two, for which a random order needs no second try.
FEW, MANY = 1 << 14, 1 << 17
RECORD = 512
#: The same for names, which take longer to make.
FEW_NAMES, MANY_NAMES = 1 << 12, 1 << 16

CASES: dict[str, dict[str, object]] = {
    "null, depth 1, random read": {"kind": "null", "operation": "random_read"},
    "null, depth 32, random read": {"kind": "null", "operation": "random_read", "queue_depth": 32},
    "null, depth 1, random mix": {"kind": "null", "operation": "random_mix"},
    "null, depth 1, stat": {"kind": "null", "operation": "stat", "tree": True},
    "file, sync, depth 1, random read": {"kind": "file", "operation": "random_read", "method": "sync"},
    "file, io_uring, depth 32, random read": {
        "kind": "file",
        "operation": "random_read",
        "method": "io_uring",
        "queue_depth": 32,
    },
    "file, sync, depth 1, read": {"kind": "file", "operation": "read", "method": "sync"},
    "file, sync, depth 1, stat": {"kind": "file", "operation": "stat", "method": "sync", "tree": True},
    "file, sync, depth 1, open": {"kind": "file", "operation": "open", "method": "sync", "tree": True},
}


def job(case: dict[str, object], operations: int, root: str) -> dict[str, object]:
    """The job that does so many operations."""
    directory = "tree" if case.get("tree") else "data"
    target = {"kind": "null"} if case["kind"] == "null" else {"kind": "file", "root": root, "directory": directory}
    phases: list[dict[str, object]] = [{"operation": case["operation"]}]
    if case["operation"] == "random_mix":
        phases[0]["mix"] = {"read": 50, "write": 50}
    made: dict[str, object] = {"reuse_files": True, "file_size_bytes": operations * RECORD}
    if case.get("tree"):
        made = {"reuse_files": True, "file_size_bytes": 0, "tree": {"files": operations}}
    return {
        "spec_version": 2,
        "id": "count",
        "target": target,
        "record_size_bytes": RECORD,
        "queue_depth": case.get("queue_depth", 1),
        "method": case.get("method", "auto"),
        # One interval: what an interval costs is not an operation's.
        "interval_ns": 3_600_000_000_000,
        "keep_files": True,
        "phases": phases,
        **made,
    }


def run(words: list[str], content: dict[str, object], folder: str) -> None:
    """Runs the engine, with `words` before it."""
    file = Path(folder) / "job.json"
    file.write_text(json.dumps(content))
    done = subprocess.run([*words, ENGINE, "run", str(file)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"error: {' '.join(words) or 'the engine'} failed: {(done.stderr or done.stdout).strip()[-500:]}")


def count(content: dict[str, object], folder: str) -> int:
    """Instructions of the lane: of all threads but the first, which prepares and reports, that which executes most."""
    output = Path(folder) / "callgrind"
    words = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={output}"]
    run(words, content, folder)
    parts = sorted(Path(folder).glob("callgrind-*"))
    threads = [re.search(r"^totals: (\d+)", part.read_text(), re.MULTILINE) for part in parts[1:]]
    if not threads or None in threads:
        sys.exit("error: valgrind wrote no totals of threads")
    return max(int(found[1]) for found in threads if found)


def counted(folder: str) -> dict[str, float]:
    """Instructions per operation of each case."""
    (Path(folder) / ".assay-target").touch()
    for operation, names in (("write", False), ("create", True)):
        made = {"kind": "file", "operation": operation, "tree": names}
        run([], {**job(made, MANY_NAMES if names else MANY, folder), "reuse_files": False}, folder)
    limits = json.loads(LIMITS.read_text())
    per_operation = {}
    for name, case in CASES.items():
        few, many = (FEW_NAMES, MANY_NAMES) if case.get("tree") else (FEW, MANY)
        least = {few: sys.maxsize, many: sys.maxsize}
        for _ in range(TRIES):
            least = {number: min(fewest, count(job(case, number, folder), folder)) for number, fewest in least.items()}
            per_operation[name] = round((least[many] - least[few]) / (many - few), 1)
            if per_operation[name] <= limits.get(name, 0) * SLACK:
                break
    return per_operation


def main() -> int:
    """Exit code 1 if a limit is exceeded."""
    if shutil.which("valgrind") is None:
        print("SKIPPED: instructions per operation: there is no valgrind (apt-get install valgrind)")
        return 0
    with tempfile.TemporaryDirectory(prefix="assay-count-", dir="/var/tmp") as folder:
        found = counted(folder)
    if "--update" in sys.argv[1:]:
        LIMITS.write_text(json.dumps(found, indent=2) + "\n")
    limits = json.loads(LIMITS.read_text())
    over = 0
    for name, instructions in found.items():
        limit = limits.get(name)
        word = "ok" if limit and instructions <= limit * SLACK else "TOO MANY"
        over += word != "ok"
        print(f"{name:40} {instructions:8.1f} instructions/operation, limit {limit} + 5 %  {word}")
    if over:
        print("error: the engine needs more instructions than before: see docs/performance.md, or --update the limits")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
