"""Words that are mistyped: what was probably meant is named."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import run_here
from run_tools import assay, needs_engine, only_run, study
from stored_runs import DAY, STARTED, noisy, store_run

from assay.cli.main import COMMANDS


def test_a_mistyped_command_names_the_one_that_was_meant(tmp_path: Path) -> None:
    said = assay(tmp_path, "repot", "last", expect=2)
    assert "No such command 'repot'; did you mean `report`?" in said.stderr


def test_nothing_is_suggested_for_what_is_like_no_command(tmp_path: Path) -> None:
    said = assay(tmp_path, "zzzzzz", expect=2)
    assert "No such command 'zzzzzz'." in said.stderr and "mean" not in said.stderr


def test_a_program_that_is_not_read_is_not_taken_for_one_that_is(tmp_path: Path) -> None:
    for program in ("cosbench", "filebench", "dd"):
        said = run_here(tmp_path, "study", "from", program, "x")
        assert said.returncode == 2
        assert f"error: command lines of {program} cannot be converted, only those of ior" in said.stderr
        assert "mean" not in said.stderr
    assert "'ior'" in run_here(tmp_path, "study", "from", "iorr", "x").stderr


LONG = [name for name in COMMANDS if len(name) > 4 and not name.startswith("price")]
"""Those that differ from every other one by more than a letter."""


@given(st.sampled_from(LONG), st.data())
def test_a_letter_typed_twice_does_not_hide_what_was_meant(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name) - 1))
    word = name[:place] + name[place] + name[place:]
    assert f"did you mean `{name}`?" in run_here(Path.cwd(), word).stderr


def test_a_study_name_stands_for_its_newest_run(tmp_path: Path) -> None:
    runs = tmp_path / "assay-runs"
    speeds = {("disk", "write"): noisy(3e8)}
    store_run(runs, "newer", speeds, created_at=STARTED + DAY)
    store_run(runs, "older", speeds)
    store_run(runs, "nightly-like", speeds, study="weekly", created_at=STARTED + 2 * DAY)
    assert json.loads(assay(tmp_path, "show", "nightly", "--json").stdout)["id"] == "newer"
    assert json.loads(assay(tmp_path, "show", "weekly", "--json").stdout)["id"] == "nightly-like"
    unknown = assay(tmp_path, "show", "nightyl", expect=2).stderr.splitlines()
    assert unknown == ["error: there is no run or study 'nightyl' in assay-runs", "hint: did you mean `nightly`?"]


def test_a_study_file_stands_for_the_newest_run_of_its_study(tmp_path: Path) -> None:
    for day, name in enumerate(("first", "second", "third")):
        store_run(tmp_path / "assay-runs", name, {("disk", "write"): noisy(3e8)}, created_at=STARTED + day * DAY)
    (tmp_path / "db.yaml").write_text("study: nightly\nquestion: How fast?\n")
    assert json.loads(assay(tmp_path, "show", "db.yaml", "--json").stdout)["id"] == "third"
    (tmp_path / "db.yaml").write_text("study: other\n")
    unknown = assay(tmp_path, "show", "db.yaml", expect=2).stderr.splitlines()
    assert unknown == [
        "error: there is no run of the study other of db.yaml in assay-runs",
        "hint: `assay run db.yaml` starts one",
    ]
    assert "did you mean `nightly`?" in assay(tmp_path, "show", "nightly.yaml", expect=2).stderr


def test_a_case_is_known_by_its_number(tmp_path: Path) -> None:
    store_run(tmp_path / "assay-runs", "run", {("disk", "write"): noisy(3e8), ("ram", "write"): noisy(9e8)})
    whole = assay(tmp_path, "show", "last", "c0002").stdout
    for short in ("c2", "2", "c02"):
        assert assay(tmp_path, "show", "last", short).stdout == whole
    for wrong in ("c3", "x", "c", "-1", "c1e3", "9" * 40):
        said = assay(tmp_path, "show", "last", "--", wrong, expect=2).stderr
        assert f"run run has no case '{wrong}'; it has c0001 to c0002" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("report last --htm", "No such option: --htm\n"),
        ("report last --ouput x", "No such option: --ouput; did you mean `--output`?\n"),
        ("run s.yaml --repeat 3", "No such option: --repeat; did you mean `--repeats`?\n"),
        ("study from ior --taks 3 x", "No such option: --taks; did you mean `--tasks`?\n"),
    ],
)
def test_only_an_option_that_is_near_is_suggested(tmp_path: Path, words: str, said: str) -> None:
    assert f"error: {said}" in assay(tmp_path, *words.split(), expect=2).stderr


def test_a_report_is_opened_if_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_run(tmp_path / "assay-runs", "one", {("disk", "write"): noisy(3e8)})
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: not opened.append(url))
    path = tmp_path / "page.html"
    assert assay(tmp_path, "report", "one", "-o", path, "--open").stderr == ""
    assert opened == [path.as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert (
        f"no browser could be opened here; the report is {path}"
        in assay(tmp_path, "report", "one", "-o", path, "--open").stderr
    )


def test_a_fault_of_a_change_has_the_line_that_it_takes_the_place_of(tmp_path: Path) -> None:
    path = study(tmp_path)
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "file_size" in text)
    said = assay(tmp_path, "check", "study.yaml", "--set", "file_size=4KiB", expect=2).stderr.splitlines()
    assert any(each.startswith("study.yaml:") and "is larger than file_size 4KiB" in each for each in said), said
    assert line > 1 and said[-1] == "the study was changed with --set file_size=4KiB"


@needs_engine
def test_a_run_keeps_the_changed_study_and_is_resumed_with_the_same_change(tmp_path: Path) -> None:
    study(tmp_path)
    change = ("--set", "record_size=64KiB", "--repeats", 2, "--only", "grid", "--target", "place")
    done = assay(tmp_path, "run", "study.yaml", *change, "--quiet")
    run = only_run(tmp_path)
    assert done.stdout == f"{run.relative_to(tmp_path)}\n" and "c0001" not in done.stderr
    kept = (run / "study.yaml").read_text()
    assert kept.startswith("# study.yaml with --set record_size=64KiB --repeats 2 --only grid --target place\n")
    assert "repeats: 2\n" in kept and "128KiB" not in kept
    assert "c0001" in assay(tmp_path, "plan", run / "study.yaml").stdout
    said = assay(tmp_path, "run", "study.yaml", *change, "--resume", expect=2)
    assert "there is no unfinished run" in said.stderr
    refused = assay(tmp_path, "run", run, *change[:2], "--resume", expect=2).stderr
    assert "a run is resumed unchanged, without --set record_size=64KiB" in refused
