"""`assay list`: what runs there are, and how far each of them is."""

import json
from pathlib import Path

from run_tools import assay
from stored_runs import DAY, STARTED, noisy, store_run


def two(folder: Path) -> Path:
    """A finished run of ten repeats, and one a day later that was stopped after two of three."""
    runs = folder / "assay-runs"
    speeds = {("disk", "write"): noisy(3e8, 2)}
    store_run(runs, "later", speeds, planned=3, created_at=STARTED + DAY, study="weekly")
    store_run(runs, "early", {("disk", "write"): noisy(3e8)})
    return runs


def test_runs_are_listed_with_what_is_done_of_what_was_planned_the_newest_last(tmp_path: Path) -> None:
    two(tmp_path)
    rows = [line.split() for line in assay(tmp_path, "list").stdout.splitlines() if "2026-" in line]
    early, later = rows
    assert (early[0], later[0]) == ("early", "later")
    assert (early[1], later[1]) == ("nightly", "weekly")
    assert (early[-3:], later[-3:]) == (["10", "of", "10"], ["2", "of", "3"])
    assert "complete" in early and "stopped" in later
    assert early[2:4] == ["2026-11-21", "19:15:03"]


def test_json_has_the_same(tmp_path: Path) -> None:
    runs = two(tmp_path)
    early, later = json.loads(assay(tmp_path, "list", "--json").stdout)
    assert (early["id"], early["finished"], early["planned"], early["status"]) == ("early", 10, 10, "complete")
    assert (later["id"], later["finished"], later["planned"], later["status"]) == ("later", 2, 3, "stopped")
    assert later["folder"] == str((runs / "later").relative_to(tmp_path))


def test_where_there_are_none_the_next_step_is_said(tmp_path: Path) -> None:
    said = assay(tmp_path, "list", "--out", "nowhere")
    assert (said.stdout, said.stderr.strip()) == ("", "there are no runs in nowhere; start one with `assay run STUDY`")
