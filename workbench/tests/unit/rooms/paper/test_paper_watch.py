"""A watched paper: when it is made again, and what it is made of."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from stored_runs import noisy, store_run

from assay.model.base import AssayError
from assay.rooms.paper.work.watch import FileTimes, PaperFiles, build_at_changes
from assay.run.analysis import load_analysis


class Ended(KeyboardInterrupt):
    """What Ctrl-C raises."""


def lines_of(states: list[FileTimes], fail_at: int = -1) -> list[str]:
    """The lines of builds while files have one state after the other; the build with number `fail_at` fails."""
    lines: list[str] = []
    looks: Iterator[FileTimes] = iter(states)
    waits = iter(range(len(states) - 1))

    def build() -> str:
        if len(lines) == fail_at:
            raise AssayError("p.yaml:3: it is\nwrong", "mend it")
        return f"built {len(lines)}"

    def wait() -> None:
        if next(waits, None) is None:
            raise Ended

    with pytest.raises(Ended):
        build_at_changes(build, lambda: next(looks), wait, lines.append)
    return lines


A, B = {"p": (1, 1)}, {"p": (2, 1)}


def test_it_is_made_once_and_then_at_each_change_only() -> None:
    assert lines_of([A, A, A]) == ["built 0"]
    assert lines_of([A, B, B, A]) == ["built 0", "built 1", "built 2"]


def test_a_file_that_comes_or_goes_is_a_change() -> None:
    assert len(lines_of([A, {**A, "q": (1, 1)}, A])) == 3


def test_after_an_error_it_goes_on_at_the_next_change() -> None:
    assert lines_of([A, A, B, A], fail_at=0) == ["error: p.yaml:3: it is wrong (hint: mend it)", "built 1", "built 2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store_run(tmp_path / "runs", "one", {("disk", "read"): noisy(5e8, 3)})
    (tmp_path / "logo.svg").write_text("<svg/>")
    (tmp_path / "p.yaml").write_text(
        "title: T\nlook: {logo: logo.svg}\nruns: {a: one}\nparts: [results, {later: {files: [later.csv]}}]\n"
    )
    return tmp_path


def touched(path: Path) -> None:
    """Let a file be ten seconds newer."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**10))


def test_description_named_files_and_runs_are_watched(folder: Path) -> None:
    files = PaperFiles([str(folder / "p.yaml")], True, folder / "runs")
    before = files.times()
    assert files.times() == before
    load_analysis("one", folder / "runs")
    (folder / "unnamed.csv").write_text("x")
    assert files.times() == before, "reading a run is no change, nor is a file that no one names"
    for name in ("p.yaml", "logo.svg", "runs/one/run.sqlite"):
        touched(folder / name)
        now = files.times()
        assert now != before, name
        before = now
    (folder / "later.csv").write_text("x")
    assert files.times() != before


def test_a_newer_run_is_a_change_for_a_paper_of_the_last(folder: Path) -> None:
    files = PaperFiles(["last"], False, folder / "runs")
    before = files.times()
    store_run(folder / "runs", "two", {("disk", "read"): noisy(5e8, 3)}, created_at=2e9)
    assert [name for name in files.times() if name.endswith("two/run.sqlite")] and files.times() != before


def test_files_of_other_tools_are_watched_as_files_and_in_folders(folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir()
    (logs / "a.json").write_text("{}")
    for ref in (logs, logs / "a.json"):
        files = PaperFiles([str(ref)], False, folder / "runs")
        before = files.times()
        touched(logs / "a.json")
        assert files.times() != before


def test_a_broken_description_is_watched_until_it_is_mended(folder: Path) -> None:
    paper = folder / "p.yaml"
    text = paper.read_text()
    paper.write_text("title: [")
    files = PaperFiles([str(paper)], True, folder / "runs")
    assert str(paper) in files.times() and len(files.times()) == 2
    paper.write_text(text)
    touched(paper)
    assert str(folder / "logo.svg") in files.times()
