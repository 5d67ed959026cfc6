"""A kind of target in a folder of its own is all that commands need to work with it."""

import subprocess
import sys
from pathlib import Path

from paths import REPOSITORY
from run_tools import needs_engine

NEW = REPOSITORY / "workbench" / "tests" / "support" / "new_kind"
PROGRAM = """
import sys
import assay.kinds
assay.kinds.__path__.append(sys.argv[1])
from assay.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
STUDY = """
study: new-kind
question: How fast is memory?
targets: {memory: {kind: ram, block: 64KiB}, nothing: {kind: "null"}}
workloads: {one: {operations: [write, read], file_size: 1MiB, record_size: 64KiB, runtime: 50ms}}
repeats: 1
ceilings: none
"""


def assay(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(NEW), *words], cwd=folder, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def test_its_fields_are_checked_in_its_own_words(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    for old, new, told in (
        ("block: 64KiB", "blok: 64KiB", "did you mean `block`?"),
        (", block: 64KiB", "", "add a line such as `block: 1MiB`"),
        ("kind: ram", "kind: ra", "did you mean `ram`?"),
        ("block: 64KiB", "path: /x", "it is only for kind: file and kind: device"),
    ):
        file.write_text(STUDY.replace(old, new))
        code, output = assay(tmp_path, "check", "study.yaml")
        assert (code, told in output) == (2, True), output


@needs_engine
def test_it_is_planned_measured_and_reported(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    code, output = assay(tmp_path, "plan", "study.yaml")
    assert (code, "memory: memory of the engine, 5 GB/s" in output) == (0, True), output
    code, output = assay(tmp_path, "run", "study.yaml", "--out", "runs")
    assert (code, "complete" in output, "the run will have errors" in output) == (0, True, False), output
    code, output = assay(tmp_path, "show", "last", "--out", "runs")
    assert (code, "memory: memory, blocks of 65536 bytes, ram (memory of the engine)" in output) == (0, True), output
    code, output = assay(tmp_path, "report", "last", "--out", "runs")
    assert code == 0, output
