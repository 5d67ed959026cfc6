import hashlib
from pathlib import Path

import pytest
from plan_tools import load, study

from assay.model.study.commands import StudyCommand
from assay.plan.expand import expand
from assay.report.sections.commands_figures import figure_cell
from assay.run.program_files import program_faults
from assay.run.study_plan import uncounted_text


def _messages(**fields: object) -> list[str]:
    command = StudyCommand.model_validate({"run": ["true"], **fields})
    return [f"{'.'.join(fault.path)}: {fault.message}" for fault in program_faults(("commands", "a"), command)]


def test_missing_programs_are_found() -> None:
    assert _messages() == []
    missing = "this machine has no program no-such-program"
    assert _messages(run=["no-such-program", "x"]) == [f"commands.a.run: {missing}"]
    assert _messages(check=["no-such-program"]) == [f"commands.a.check: {missing}"]
    assert _messages(run=["/no/such/program"]) == ["commands.a.run: this machine has no program /no/such/program"]


def test_programs_that_only_the_run_can_find_are_left_alone() -> None:
    assert _messages(run=["no-such-program"], environment={"PATH": "/opt/tools"}) == []
    assert _messages(run=["$path/made", "x"]) == []
    assert _messages(run=["./made"]) == []
    assert _messages(run={"shell": "no-such-program"}) == []


def test_input_files_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "ref"
    file.write_bytes(b"ACGT")
    right = hashlib.sha256(b"ACGT").hexdigest()
    assert _messages(inputs={"ref": {"path": str(file), "sha256": right}}) == []
    assert _messages(inputs={"ref": f"{file}x"}) == [f"commands.a.inputs.ref: {file}x: does not exist"]
    assert _messages(inputs={"ref": str(tmp_path)}) == [f"commands.a.inputs.ref: {tmp_path}: a directory"]
    wrong = _messages(inputs={"ref": {"path": str(file), "sha256": "0" * 64}})
    assert wrong == [f"commands.a.inputs.ref: {file}: its SHA-256 is {right}, not {'0' * 64}"]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ([], "the list is empty"),
        ({"shel": "x"}, "unknown key `shel`"),
        ({"shell": " "}, "`shell` has no text"),
        ({"shell": "echo $$HOME"}, "$$HOME: /bin/sh reads $$ as its process number"),
        ({"shell": "i=$$((i+1))"}, "$$(: /bin/sh reads $$ as its process number"),
        (["cp", "$input/x"], "there is no variable $input"),
    ],
)
def test_wrong_programs_are_explained(run: object, message: str) -> None:
    written = {
        "study": "s",
        "question": "q?",
        "targets": {"disk": {"kind": "file", "path": "/tmp/assay-test"}},
        "commands": {"a": {"run": run}},
    }
    problems = [problem.message for problem in load(written).problems]
    assert any(message in problem for problem in problems), problems


def test_the_shell_keeps_its_own_process_number() -> None:
    assert StudyCommand.model_validate({"run": {"shell": "echo $$ > file.$$; kill $$"}}).run.shell


def test_an_estimate_says_that_it_does_not_count_the_bytes_of_commands() -> None:
    targets = {"disk": {"kind": "file", "path": "/tmp/assay-test"}}
    programs = load({"study": "s", "question": "q?", "targets": targets, "commands": {"a": {"run": ["true"]}}}).study
    assert programs is not None
    assert uncounted_text(expand(programs).cases) == ", not counting what the commands read and write"
    assert uncounted_text(expand(study()).cases) == ""


def test_whole_figures_of_programs_keep_their_digits() -> None:
    def shown(value: float) -> str:
        return figure_cell(value, "").text

    assert [shown(value) for value in (1234567, 50123.4, 12.5, -3, 0.12345)] == [
        "1,234,567",
        "50,123",
        "12.5",
        "-3",
        "0.123",
    ]
