"""`assay history`: the results of a study from run to run."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from run_tools import assay, study
from stored_runs import DAY, STARTED, noisy, store_run

OLD = {"kernel": {"release": "6.1"}, "memory": {"total": "8 GiB"}}
NEW = {"kernel": {"release": "6.2"}, "memory": {"total": "8 GiB"}}
WRITE, READ = ("disk", "write"), ("disk", "read")


def nightly(folder: Path, levels: list[float], **changes: Any) -> None:
    """One run a day; the rate of writes is 300 MB/s times the level, that of reads always the same."""
    for day, level in enumerate(levels):
        speeds = {WRITE: noisy(300e6 * level, 4, seed=100 + day), READ: noisy(500e6, 4, seed=200 + day)}
        environment = NEW if level != levels[0] else OLD
        when = {"created_at": STARTED + day * DAY, "environment": environment}
        store_run(folder / "assay-runs", f"run-{day:02}", speeds, **{**when, **changes})


def test_a_change_has_its_date_its_size_and_what_differs_around_it(tmp_path: Path) -> None:
    nightly(tmp_path, [1.0] * 5 + [0.8] * 4)
    lines = assay(tmp_path, "history", "nightly").stdout.splitlines()
    assert lines[:2] == ["study nightly: 9 runs, from 2026-11-21 to 2026-11-29", "1 of 2 results changed"]
    assert lines[3].split() == ["result", "runs", "first", "last", "changes"]
    first, second = lines[5:7]
    assert first.startswith("disk / grid / record_size=65536, write  ")
    (change,) = [words for words in first.split("  ") if "2026-11-26" in words]
    assert change.strip() == "2026-11-26 −19.2 % (p<0.001)"
    chart = next(word for word in first.split() if set(word) <= set("▁▂▃▄▅▆▇█"))
    assert len(chart) == 9 and min(chart[:5]) > max(chart[5:])
    assert second.startswith("disk / grid / record_size=65536, read  ") and "2026-" not in second
    place = lines.index("What changed with the run of 2026-11-26")
    assert lines[place + 1 : place + 3] == [
        "  from  run-04 (complete, 2026-11-25 19:15 UTC)",
        "  to    run-05 (complete, 2026-11-26 19:15 UTC)",
    ]
    assert [line.split() for line in lines[place:] if "kernel" in line] == [["kernel", "release", "6.1", "6.2"]]
    assert lines[-1] == "more: assay compare run-04 run-05"


def test_a_level_that_is_left_and_returned_to_shows_twice(tmp_path: Path) -> None:
    nightly(tmp_path, [1.0] * 4 + [0.8] * 3 + [1.0] * 4)
    found = json.loads(assay(tmp_path, "history", "nightly", "--json").stdout)
    write, read = found["rows"]
    assert [(change["before"], change["after"]) for change in write["changes"]] == [(3, 4), (6, 7)]
    assert [change["ratio"] for change in write["changes"]] == pytest.approx([0.8, 1.25], rel=0.03)
    assert all(change["p"] < 0.01 for change in write["changes"]) and read["changes"] == []
    assert [run["id"] for run in found["runs"]] == [f"run-{day:02}" for day in range(11)]
    assert [point["run"] for point in write["points"]] == list(range(11)) and write["unit"] == "bytes/s"
    assert [(item["before"], item["after"]) for item in found["boundaries"]] == [(3, 4), (6, 7)]
    assert found["boundaries"][0]["differences"][0]["after"] == "6.2"


def test_noise_is_no_change(tmp_path: Path) -> None:
    nightly(tmp_path, [1.0] * 12)
    text = assay(tmp_path, "history", "nightly").stdout
    assert "0 of 2 results changed" in text and "What changed" not in text


def test_two_runs_on_each_side_are_enough_for_a_great_change(tmp_path: Path) -> None:
    nightly(tmp_path, [1.0, 1.0, 0.4, 0.4])
    assert "1 of 2 results changed" in assay(tmp_path, "history", "nightly").stdout


def test_false_numbers_are_left_out_and_counted(tmp_path: Path) -> None:
    nightly(tmp_path, [1.0] * 4)
    fast = {WRITE: noisy(300e6, 4, seed=9), READ: noisy(9e9, 4)}
    for day in (4, 5, 6):
        when = {"created_at": STARTED + day * DAY, "environment": OLD, "samples": {READ: {"device_read_bytes": 0}}}
        store_run(tmp_path / "assay-runs", f"run-{day:02}", fast, **when)
    found = json.loads(assay(tmp_path, "history", "nightly", "--json").stdout)
    read = next(row for row in found["rows"] if row["name"].endswith(", read"))
    assert (len(read["points"]), read["left_out"], read["changes"]) == (4, [4, 5, 6], [])
    assert "3 left out: cached, impossible or incomplete" in assay(tmp_path, "history", "nightly").stdout


def test_other_parameters_under_the_same_name_are_another_series(tmp_path: Path) -> None:
    """The study was edited: its file size, which is no axis, is another one since."""
    nightly(tmp_path, [1.0] * 3)
    for day in (3, 4, 5):
        speeds = {WRITE: noisy(900e6, 4, seed=day)}
        store_run(tmp_path / "assay-runs", f"run-{day:02}", speeds, created_at=STARTED + day * DAY, file_size=1 << 30)
    found = json.loads(assay(tmp_path, "history", "nightly", "--json").stdout)
    lengths = {row["name"]: len(row["points"]) for row in found["rows"]}
    assert lengths["disk / grid / record_size=65536, write"] == 3
    assert lengths["disk / grid / record_size=65536, write (parameters 2)"] == 3
    assert not any(row["changes"] for row in found["rows"])


def test_the_study_may_be_named_by_its_file(tmp_path: Path) -> None:
    nightly(tmp_path, [1.0] * 4, study="tiny")
    store_run(tmp_path / "assay-runs", "other", {READ: noisy(1e8)}, study="other")
    assert assay(tmp_path, "history", str(study(tmp_path))).stdout.startswith("study tiny: 4 runs")


def test_what_is_wrong_is_one_line_and_a_hint(tmp_path: Path) -> None:
    missing = assay(tmp_path, "history", "nightly", expect=2).stderr.splitlines()
    assert missing[0] == "error: there are no runs of study 'nightly' in assay-runs"
    nightly(tmp_path, [1.0] * 3)
    few = assay(tmp_path, "history", "nightly", expect=2).stderr.splitlines()
    assert few[0].endswith("has 3 complete runs in assay-runs, but a history needs at least 4")
    other = assay(tmp_path, "history", "weekly", expect=2).stderr.splitlines()
    assert other[1] == "hint: there are runs of nightly"
    (tmp_path / "broken.yaml").write_text("study: [")
    assert "broken.yaml:" in assay(tmp_path, "history", "broken.yaml", expect=2).stderr
    assert "file name too long" in assay(tmp_path, "history", "x" * 300, expect=2).stderr


def spoil(folder: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        database.execute(statement)


def test_runs_that_cannot_be_used_are_left_out_and_named(tmp_path: Path) -> None:
    nightly(tmp_path, [1.0] * 8)
    runs = tmp_path / "assay-runs"
    spoil(runs / "run-01", "UPDATE cases SET document = '{}'")
    spoil(runs / "run-02", "UPDATE run SET status = 'interrupted'")
    (runs / "run-03" / "run.sqlite").write_bytes(b"x" * 5000)
    (runs / "empty").mkdir()
    (runs / "empty" / "run.sqlite").touch()
    done = assay(tmp_path, "history", "nightly")
    assert done.stdout.startswith("study nightly: 5 runs, ")
    notes = done.stderr.splitlines()
    assert len(notes) == 4 and all(note.startswith("note: left out: ") for note in notes)
    assert "/empty/" in notes[0] + notes[1] and "/run-03/" in notes[0] + notes[1]
    assert notes[2] == "note: left out: 1 run that did not complete: run-02 (interrupted)"
    assert "run-01 is damaged: Case.id: field required" in notes[3]
    spoil(runs / "run-04", "UPDATE run SET details = 'null'")
    spoil(runs / "run-05", "DROP TABLE results")
    refused = assay(tmp_path, "history", "nightly", expect=2).stderr
    assert "has 3 complete runs in assay-runs, but a history needs at least 4" in refused


def test_of_many_results_the_first_are_shown_and_chance_is_told(tmp_path: Path) -> None:
    for day in range(4):
        speeds = {
            (f"t{number:02}", "read"): noisy(1e8 if number == 59 and day > 1 else 5e8, 2, 0.01, 100 * day + number)
            for number in range(60)
        }
        store_run(tmp_path / "assay-runs", f"run-{day}", speeds, created_at=STARTED + day * DAY)
    done = assay(tmp_path, "history", "nightly")
    lines = done.stdout.splitlines()
    assert lines[5].startswith("t59 / grid") and any(line == "20 more results: --all" for line in lines)
    assert "about 1 would show a change by chance" in done.stderr
    assert "t58 / grid" in assay(tmp_path, "history", "nightly", "--all").stdout
