"""A kind of target in a folder of its own is all that commands need to work with it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from paths import REPOSITORY
from run_tools import needs_engine

SUPPORT = REPOSITORY / "workbench" / "tests" / "support"
PROGRAM = """
import json, sys
from pathlib import Path
import assay.kinds
assay.kinds.__path__.append(sys.argv[1])
from in_process import run_here
ended = [run_here(Path.cwd(), *words) for words in json.loads(sys.argv[2])]
print(json.dumps([(one.returncode, one.stdout + one.stderr) for one in ended]))
"""
"""Runs commands, one after the other, where there is one more kind; prints exit code and output of each as JSON."""
STUDY = """
study: new-kind
question: How fast is memory?
targets: {memory: {kind: ram, block: 64KiB}, nothing: {kind: "null"}}
workloads: {one: {operations: [write, read], file_size: 1MiB, record_size: 64KiB, runtime: 50ms}}
repeats: 1
ceilings: none
"""


def assay(folder: Path, *commands: str) -> list[tuple[int, str]]:
    """Exit code and output of each command."""
    words = json.dumps([command.split() for command in commands])
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(SUPPORT / "new_kind"), words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [(code, output) for code, output in json.loads(done.stdout)]


def test_its_fields_are_checked_in_its_own_words(tmp_path: Path) -> None:
    wrong = (
        ("block: 64KiB", "blok: 64KiB", "did you mean `block`?"),
        (", block: 64KiB", "", "add a line such as `block: 1MiB`"),
        ("kind: ram", "kind: ra", "did you mean `ram`?"),
        ("block: 64KiB", "path: /x", "it is only for kind: file and kind: device"),
    )
    for number, (old, new, _) in enumerate(wrong):
        (tmp_path / f"{number}.yaml").write_text(STUDY.replace(old, new))
    checked = assay(tmp_path, *(f"check {number}.yaml" for number in range(len(wrong))))
    for (code, output), (_, _, expected) in zip(checked, wrong, strict=True):
        assert (code, expected in output) == (2, True), output


@needs_engine
def test_it_is_planned_measured_and_reported(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    words = ("plan study.yaml", "run study.yaml --out runs", "show last --out runs", "report last --out runs")
    plan, run, show, report = assay(tmp_path, *words)
    assert (plan[0], "memory: memory of the engine, 5 GB/s" in plan[1]) == (0, True), plan[1]
    assert (run[0], "complete" in run[1], "the run will have errors" in run[1]) == (0, True, False), run[1]
    described = "memory: memory, blocks of 65536 bytes, ram (memory of the engine)"
    assert (show[0], described in show[1]) == (0, True), show[1]
    assert report[0] == 0, report[1]
