"""Judging a run of 10,000 cases: memory, time, and that nothing is lost on the way."""

import os
import time
from pathlib import Path

import pytest
from judge_large import OPERATIONS, build, judged_apart
from run_tools import assay

from assay.model.result.brief import brief
from assay.run.analysis import analyse_store, judged_rows
from assay.run.judging import judged_results
from assay.store import RunStore


def test_10_000_cases_are_judged_listed_and_shown_in_little_memory_and_time(tmp_path: Path) -> None:
    folder = build(tmp_path / "assay-runs", 10_000)
    few, found = judged_apart(build(tmp_path / "few", 1_000)), judged_apart(folder)
    assert (found["rows"], found["findings"]) == (20_000, 0)
    # Measured on two CPUs: 177 MB, 6 to 7 s. Its CPU time was 14 times that of a tenth of the cases, which one process
    # judges (two that share a core count more), and 190 to 250 times the loop in Python.
    assert found["peak_bytes"] < 500e6
    assert found["cpu"] < 30 * few["cpu"]
    assert found["cpu"] < 600 * found["reference"]
    for words in (("list",), ("show", "last"), ("show", "last", "c07777")):
        print(words, took := least_cpu(tmp_path, *words) / found["reference"])
        assert took < MOST, words
    shown = assay(tmp_path, "show", "last").stdout
    assert "19960 more results" in shown and "20000 ok" in shown


MOST = 10
"""Times of the loop in Python in which a command about a run of 10,000 cases must be done."""


def least_cpu(folder: Path, *words: str) -> float:
    """CPU seconds of the cheapest of three calls: the first one imports what it needs."""
    used = []
    for _ in range(3):
        begun = time.process_time()
        assay(folder, *words)
        used.append(time.process_time() - begun)
    return min(used)


@pytest.mark.parametrize("cases", [1, 2, 7])
def test_several_processes_say_the_same_as_one(tmp_path: Path, cases: int) -> None:
    with RunStore.open(build(tmp_path, cases, bad=True)) as store:
        alone = list(judged_results(store, 1))
        assert len(alone) == cases * len(OPERATIONS)
        assert list(judged_results(store, 3)) == alone


def test_what_a_process_that_died_leaves_is_judged_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunStore.open(build(tmp_path, 5)) as store:
        alone = list(judged_results(store, 1))
        monkeypatch.setattr("assay.run.judging._judge_part", exit_at_once)
        assert list(judged_results(store, 3)) == alone


def exit_at_once(*_: object) -> None:
    """As a process ends that the kernel kills."""
    os._exit(9)


@pytest.mark.parametrize("bad", [False, True])
def test_case_by_case_says_the_same_as_all_at_once(tmp_path: Path, bad: bool) -> None:
    with RunStore.open(build(tmp_path, 20, bad), write=True) as store:
        whole = analyse_store(store, quick=True).rows
        assert list(judged_rows(store)) == list(whole)
        assert len(whole) == 20 * len(OPERATIONS) and all(bool(row.findings) == bad for row in whole)
        assert not bad or min(len(row.findings) for row in whole) >= 3
        store.save_results(judged_results(store))
        assert store.results() == [brief(row) for row in whole]


def test_case_by_case_says_why_repeats_are_missing(tmp_path: Path) -> None:
    with RunStore.open(build(tmp_path, 3), write=True) as store:
        store._db.execute("DELETE FROM samples WHERE case_id = 'c00001' AND repeat > 3")
        store._db.execute("DELETE FROM samples WHERE case_id = 'c00002'")
        store._db.execute("UPDATE outcomes SET status = 'crashed' WHERE case_id > 'c00000' AND repeat > 3")
        store._db.execute("UPDATE attempts SET reason = 'killed' WHERE case_id > 'c00000' AND repeat > 3")
        rows = list(judged_rows(store))
        assert rows == list(analyse_store(store, quick=True).rows)
        found = {row.case.id: [finding.text for finding in row.findings] for row in rows}
        assert found["c00000"] == []
        assert found["c00001"] == ["2 of 5 repeats missing (repeat 4 crashed: killed; repeat 5 crashed: killed)"]
        assert "5 of 5 repeats missing" in found["c00002"][0]
        # Known well enough after what was done: nothing is missing.
        store._db.execute("DELETE FROM outcomes WHERE case_id = 'c00001' AND repeat > 3")
        store.settle("c00001", "known")
        rows = list(judged_rows(store))
        assert rows == list(analyse_store(store, quick=True).rows)
        assert [row.findings for row in rows if row.case.id == "c00001"] == [(), ()]


def test_one_case_is_found_without_reading_the_others(tmp_path: Path) -> None:
    with RunStore.open(build(tmp_path, 3)) as store:
        (case, samples), *_ = store.measured()
        asked: list[str] = []
        store._db.set_trace_callback(asked.append)
        assert (store.cases(case.id), store.samples(case.id)) == ((case,), samples)
        brief_jobs, jobs = store.jobs(case.id, whole=False), store.jobs(case.id)
        assert len(store.attempts(case.id)) == len(jobs) == 5
        assert store.results(case.id) == []
        next(store.measured())
        store._db.set_trace_callback(None)
        assert len([text for text in asked if text.startswith("SELECT")]) == 8
        for text in asked:
            plan = [row[3] for row in store._db.execute(f"EXPLAIN QUERY PLAN {text}")]
            # `measured` counts all cases, goes through them, and finds the samples of each.
            assert not [step for step in plan if step.startswith("SCAN") and not step.startswith("SCAN cases ")], (
                text,
                plan,
            )
        assert [job.model_copy(update={"job": {}}) for job in jobs] == list(brief_jobs)
        assert all(job.job for job in jobs)
