"""`assay check` says what a command of a study lacks on this machine."""

import sys
from pathlib import Path

import pytest
from in_process import run_here
from run_tools import needs_engine

from assay.plan.load import load_study

pytestmark = needs_engine
STUDY = """
study: mine
question: How long?
targets: {{t: {{kind: file, path: {place}}}}}
commands: {{w: {{run: [{program}], inputs: {{data: {data}}}, cache: keep}}}}
repeats: 1
ceilings: none
"""


def checked(folder: Path, program: str = sys.executable, data: str = "data") -> tuple[int, str]:
    """Exit code and messages of `assay check`, in another folder than the study's."""
    (folder / "study").mkdir()
    (folder / "study" / "data").write_text("1")
    study = folder / "study" / "study.yaml"
    study.write_text(STUDY.format(place=folder / "place", program=program, data=data))
    ended = run_here(folder, "check", study)
    return ended.returncode, ended.stderr


def test_a_relative_input_starts_at_the_study(tmp_path):
    assert checked(tmp_path)[0] == 0
    text = STUDY.format(place="/tmp/x", program="cat", data="data")
    study = load_study(text.encode(), "/somewhere", folder="/there").study
    assert study is not None and study.workloads["w"].command is not None
    assert study.workloads["w"].command.inputs["data"].path == "/there/data"


def test_a_missing_input_is_named(tmp_path):
    code, said = checked(tmp_path, data="none")
    assert code == 2
    assert f"commands.w.inputs.data: {tmp_path}/study/none: does not exist" in said


@pytest.mark.parametrize("program", ["no-such-program", "/etc/passwd"])
def test_a_missing_program_is_named(tmp_path, program):
    code, said = checked(tmp_path, program=program)
    assert code == 2
    assert f"commands.w.run: this machine has no program {program}" in said
