"""The share of a read that came from memory, beside what somebody else reads in /proc/PID/io of the engine."""

import json
import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
from paths import this_python
from run_tools import ASSAY, ENGINE, needs_engine
from soak import times

from assay.launch.cgroup import find_controller
from assay.model.base import AssayError

pytestmark = needs_engine

WATCHER = """{python}# Starts the real engine in its place, and writes down its I/O counters as long as there are any.
import select, subprocess, sys, time
if sys.argv[1:2] != ["run"]:
    sys.exit(subprocess.call([{engine!r}, *sys.argv[1:]]))
# The job comes when this process is in its control group, which the engine is then in too.
select.select([sys.stdin], [], [])
child = subprocess.Popen([{engine!r}, *sys.argv[1:]])
last = ""
while child.poll() is None:
    try:
        last = open(f"/proc/{{child.pid}}/io").read() or last
    except OSError:
        pass
    time.sleep(0.001)
with open({log!r}, "a") as log:
    log.write(" ".join(last.split()) + "\\n")
sys.exit(child.returncode)
"""
STUDY = """
study: share
question: How much came from memory?
targets: {{disk: {{kind: file, path: {path}}}}}
workloads:
  reads: {{operations: [write, {operation}], file_size: {size}, record_size: {record}, {cache}}}
repeats: {repeats}
ceilings: none
"""


def counted(folder: Path, operation: str, size: str, record: str, cache: str) -> tuple[float, float]:
    """(share from memory in Assay's finding, share by the counters that were read beside it), both 0 to 1."""
    log, engine = folder / "io.log", folder / "assay-engine"
    engine.write_text(WATCHER.format(python=this_python(), engine=ENGINE, log=str(log)))
    engine.chmod(engine.stat().st_mode | stat.S_IXUSR)
    study = STUDY.format(
        path=folder / "data", operation=operation, size=size, record=record, cache=cache, repeats=times(2, 3)
    )
    (folder / "study.yaml").write_text(study)
    environment = {**os.environ, "ASSAY_ENGINE": str(engine)}
    words = [ASSAY, "run", "study.yaml"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = subprocess.run([ASSAY, "show", "last", "c0001", "--json"], cwd=folder, capture_output=True, check=True)
    row = next(row for row in json.loads(shown.stdout)["rows"] if row["operation"] == operation)
    finding = next(item for item in row["findings"] if item["rule"] == "cached_read")
    assert row["verdict"] == "cached"
    read = fetched = 0
    for line in log.read_text().splitlines():
        words = line.split()
        counters = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        read += counters["rchar:"]
        fetched += counters["read_bytes:"]
    return finding["numbers"]["memory_share"], 1 - fetched / read


def test_a_small_file_is_called_cached_with_the_share_that_the_counters_show() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="assay-share-") as folder:
        said, shown = counted(Path(folder), "read", "64MiB", "128KiB", "cache: keep")
    assert said == pytest.approx(shown, abs=0.05) and said > 0.95


def test_so_is_one_of_which_memory_holds_a_part() -> None:
    """Random reads of a file somewhat larger than the memory that the engine may use."""
    try:
        find_controller()
    except AssayError as error:
        pytest.skip(error.message)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="assay-share-") as folder:
        said, shown = counted(
            Path(folder), "random_read", "192MiB", "128KiB", "cache: limit, memory_limit: 176MiB, runtime: 3s"
        )
    assert said == pytest.approx(shown, abs=0.05)
    assert 0.1 < said < 0.99, said
