"""Where the runs are: the flag, then the environment, then the configuration file, then `assay-runs`."""

import json
from pathlib import Path

import pytest
from run_tools import assay
from stored_runs import noisy, store_run

SPEEDS = {("disk", "write"): noisy(3e8)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a run in each place, called as it."""
    for name in ("assay-runs", "by-flag", "by-variable", "by-file"):
        store_run(tmp_path / name, f"run-{name}", SPEEDS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ASSAY_RUNS", raising=False)
    return tmp_path


def configure(folder: Path, text: str) -> Path:
    file = folder / "config" / "assay" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def listed(folder: Path, *words: str) -> list[str]:
    return [run["id"] for run in json.loads(assay(folder, "list", "--json", *words).stdout)]


def test_each_source_goes_before_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert listed(folder) == ["run-assay-runs"]
    configure(folder, f"runs: {folder}/by-file\n")
    assert listed(folder) == ["run-by-file"]
    monkeypatch.setenv("ASSAY_RUNS", "by-variable")
    assert listed(folder) == ["run-by-variable"]
    assert listed(folder, "--out", "by-flag") == ["run-by-flag"]


def test_every_command_that_takes_a_run_finds_it_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUNS", "by-variable")
    for command in (("show",), ("report",), ("export", "-f", "json", "-o", "-"), ("env",), ("compare", "last")):
        assert "assay-runs" not in assay(folder, *command, "last", expect=2 if command[0] == "compare" else 0).stdout
    assert (folder / "by-variable/run-by-variable/report.html").is_file()


def test_doctor_says_which_folder_it_is_and_why(folder: Path) -> None:
    file = configure(folder, "runs: by-file\n")
    facts = {fact["name"]: fact["found"] for fact in json.loads(assay(folder, "doctor", "--json").stdout)}
    assert facts["folder of runs"] == f"by-file ({file})"


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("\nrun: x\n", 2, "unknown key `run`", "did you mean `runs`?"),
        ("runs: 4\n", 1, "runs: 4 is not the name of a folder", "write text"),
        ("runs: [a\n", 1, "the bracket that opens here is not closed", "add the bracket"),
        ("- runs\n", 1, "a list is not a mapping", "write `runs: DIR`"),
        ("", 1, "the file is empty", "give the path of a configuration"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_line(folder: Path, text: str, line: int, message: str, hint: str) -> None:
    file = configure(folder, text)
    told = assay(folder, "list", expect=2).stderr.splitlines()
    assert len(told) == 2 and told[0].startswith(f"error: {file}:{line}: ") and message in told[0]
    assert told[1].startswith(f"hint: {hint}")
    assert listed(folder, "--out", "by-flag") == ["run-by-flag"], "who names the folder needs no file"
