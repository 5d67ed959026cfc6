"""`assay report` and `assay compare` with several runs: results side by side, matched by work, and what differs."""

from pathlib import Path

import pytest
from report_parts import tables_of
from run_tools import assay
from stored_runs import DAY, ENVIRONMENT, STARTED, noisy, store_run

from assay.report.document import Document, Num, Table
from assay.report.joint import joint_document
from assay.run.between_runs import join_with_history
from assay.terminal.named_runs import load_views

KERNEL = {**ENVIRONMENT, "kernel": {"release": "6.6.1"}, "host": {"name": "second"}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of the same work, one of them elsewhere, and one with other record sizes on a further target."""
    folder = tmp_path_factory.mktemp("joint")
    for number, rate in enumerate((1e8, 2e8, 3e8)):
        speeds = {("disk", "read"): noisy(rate, 5), ("disk", "write"): noisy(rate / 2, 5)}
        environment = KERNEL if number == 1 else ENVIRONMENT
        when = STARTED + number * DAY
        store_run(folder / "assay-runs", f"r{number}", speeds, created_at=when, environment=environment)
    other = {("disk", "read"): noisy(4e8, 5), ("memory", "read"): noisy(9e9, 5)}
    store_run(folder / "assay-runs", "small", other, axes={"record_size": 4096})
    return folder


def cells(table: Table) -> list[list[str]]:
    return [[cell.text if isinstance(cell, Num) else str(cell) for cell in row] for row in table.rows]


def document_of(runs: Path, *names: str) -> Document:
    views = load_views(names, runs / "assay-runs")
    return joint_document(views, join_with_history(runs / "assay-runs", [view.analysis for view in views.values()]))


def results(runs: Path, *names: str) -> list[Table]:
    document = document_of(runs, *names)
    (section,) = (one for one in document.sections if one.id == "results")
    return [block for block in section.blocks if isinstance(block, Table)]


def test_each_run_has_a_column_and_each_work_a_row(runs: Path) -> None:
    read, write = results(runs, "r0", "r1", "r2")
    assert [column.title for column in read.columns] == ["Target", "r0", "r1", "r2"]
    (row,) = cells(read)
    assert row[0] == "disk" and [round(float(word) / 100) for word in row[1:]] == [1, 2, 3]
    assert [round(float(word) / 50) for word in cells(write)[0][1:]] == [1, 2, 3]


def test_rows_are_of_the_same_work(runs: Path) -> None:
    read, _ = results(runs, "r0", "small")
    assert [column.title for column in read.columns] == ["Target", "Record size", "r0", "small"]
    found = {tuple(row[:2]): [word != "–" for word in row[2:]] for row in cells(read)}
    assert found == {
        ("disk", "64 KiB"): [True, False],
        ("disk", "4 KiB"): [False, True],
        ("memory", "4 KiB"): [False, True],
    }


def test_what_differs_between_machines_is_listed_for_all_runs(runs: Path) -> None:
    tables = tables_of(document_of(runs, "r0", "r1", "r2"))
    machines = {row[0]: row[1:] for row in cells(tables["machines-table"])}
    assert machines["kernel: release"] == ["6.1.0-28-amd64", "6.6.1", "6.1.0-28-amd64"]
    assert "memory: total" not in machines and "parameters-table" not in tables
    assert [row[0] for row in cells(tables["runs-table"])] == ["r0", "r1", "r2"]


def test_a_page_of_several_runs(runs: Path, tmp_path: Path) -> None:
    folder = runs / "assay-runs"
    assert assay(tmp_path, "report", "r0", "r1", "--out", folder).stdout == "runs.html\n"
    assert "Compared with r0" in (tmp_path / "runs.html").read_text()
    assert assay(tmp_path, "report", "r0", "r1", "r2", "-o", "x.html", "--out", folder).stdout == "x.html\n"
    (tmp_path / "mine.html").write_text("mine")
    assert assay(tmp_path, "report", "r0", "r1", "-o", "mine.html", "--out", folder, expect=2).stderr
    assert (tmp_path / "mine.html").read_text() == "mine"


def test_three_runs_are_compared_side_by_side(runs: Path, tmp_path: Path) -> None:
    folder = runs / "assay-runs"
    text = assay(tmp_path, "compare", "r0", "r1", "r2", "-o", "c.html", "--out", folder)
    assert (
        "Target" in text.stdout and "kernel: release" in text.stdout and "no difference is significant" in text.stdout
    )
    assert "wrote c.html" in text.stderr and (tmp_path / "c.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report", "r0", "r0"), "run r0 is named more than once"),
        (("report", "r0", "r1", "--beside", "r2"), "--beside is for the report of one run"),
        (("report", "r0", "r1", "--prices", "today"), "--prices is for the report of one run"),
        (("report", "r0", "nothing"), "there is no run or study 'nothing'"),
        (("compare", "r0,r1", "r2", "small"), "3 runs are named, and this needs two sides"),
        (("compare", "r0", "r1", "r2", "--fail-if-slower", "5%"), "3 runs are named, and this needs two sides"),
        (("compare", "r0", "r1", "r2", "--by", "target"), "3 runs are named, and this needs two sides"),
    ],
)
def test_what_several_runs_cannot_have(runs: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = assay(tmp_path, *words, "--out", runs / "assay-runs", expect=2)
    assert message in done.stderr and not list(tmp_path.iterdir())
