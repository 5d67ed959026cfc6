"""How much work it is to judge a run: it is counted, not timed. And that nothing is lost on the way."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest
from large_run import OPERATIONS, REPEATS, build
from run_tools import assay

from assay.judge import judge as judging
from assay.judge.answer import Answer
from assay.judge.rules import RULES, Rule
from assay.model.result.brief_result import summarise
from assay.model.result.evidence import Evidence
from assay.report.export_csv import csv_text
from assay.report.kinds_table import kinds_table
from assay.report.tables import results_table, samples_table
from assay.run import analysis
from assay.run.analysis import analyse_store, judged_rows
from assay.run.answers import store_conclusions
from assay.store import RunStore, reader


@pytest.mark.parametrize("bad", [False, True])
def test_case_by_case_says_the_same_as_all_at_once(tmp_path: Path, bad: bool) -> None:
    with RunStore.open(build(tmp_path, 10, bad), write=True) as store:
        whole = analyse_store(store, quick=True).rows
        assert list(judged_rows(store)) == list(whole)
        assert len(whole) == 10 * len(OPERATIONS) and all(bool(row.findings) == bad for row in whole)
        assert not bad or min(len(row.findings) for row in whole) >= 3
        store_conclusions(store)
        assert store.results() == [summarise(row) for row in whole]
        assert store.info().page is not None


def test_at_the_end_of_a_run_each_rule_is_asked_once_of_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()

    def counting(rule: Rule) -> Rule:
        def counted(evidence: Evidence) -> Answer:
            asked[rule.__name__] += 1
            return rule(evidence)

        counted.__name__ = rule.__name__
        return counted

    monkeypatch.setattr(judging, "RULES", tuple(map(counting, RULES)))
    looks = Counter[str]()
    count_calls(monkeypatch, analysis, "exceeded_ceilings", looks)
    count_calls(monkeypatch, analysis, "autocorrelation", looks)
    count_calls(monkeypatch, reader, "sample_of", looks)
    with RunStore.open(build(tmp_path, 6), write=True) as store:
        store_conclusions(store)
    rows = 6 * len(OPERATIONS)
    assert asked == dict.fromkeys([rule.__name__ for rule in RULES], rows)
    assert looks == {"exceeded_ceilings": 1, "autocorrelation": 1, "sample_of": rows * REPEATS}


def count_calls(monkeypatch: pytest.MonkeyPatch, module: object, name: str, into: Counter[str]) -> None:
    """Count the calls of a module's function."""
    function: Callable[..., object] = getattr(module, name)

    def counted(*arguments: object, **named: object) -> object:
        into[name] += 1
        return function(*arguments, **named)

    monkeypatch.setattr(module, name, counted)


def test_the_work_grows_with_the_cases_and_no_faster(tmp_path: Path) -> None:
    few, many = (calls_of_conclude(build(tmp_path / str(cases), cases)) for cases in (4, 12))
    least = calls_of_conclude(build(tmp_path / "one", 1))
    # Of each case beyond the first: what the first few take, and what as many more take.
    assert (many - few) / 8 < 1.05 * (few - least) / 3
    assert (many - few) / 8 < MAX_CALLS


MAX_CALLS = 3_000
"""Calls of functions for a case of two operations with five repeats each."""


def calls_of_conclude(folder: Path) -> int:
    """How many functions are called while a run is judged at its end."""
    found = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    with RunStore.open(folder, write=True) as store:
        sys.setprofile(count)
        try:
            store.save_results(map(summarise, judged_rows(store)))
        finally:
            sys.setprofile(None)
    return found


def test_rows_are_made_one_after_another(tmp_path: Path) -> None:
    with RunStore.open(build(tmp_path, 3)) as store:
        asked: list[str] = []
        store._db.set_trace_callback(asked.append)
        rows: Iterator[object] = judged_rows(store)
        next(rows)
        assert sum("FROM samples s" in text for text in asked) == 1
        list(rows)
        assert sum("FROM samples s" in text for text in asked) == 3


def test_a_table_is_written_case_by_case_as_at_once(tmp_path: Path) -> None:
    with RunStore.open(build(tmp_path / "assay-runs", 4, bad=True)) as store:
        whole = analyse_store(store)
    for name, table in (("results", results_table), ("samples", samples_table), ("kinds", kinds_table)):
        written = assay(tmp_path, "export", "last", "--format", "csv", "--table", name, "--output", "-").stdout
        assert written == csv_text(table(whole))


def test_what_was_kept_at_the_end_is_shown_without_reading_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunStore.open(build(tmp_path / "assay-runs", 30), write=True) as store:
        store_conclusions(store)
    read: Counter[str] = Counter()
    count_calls(monkeypatch, reader, "sample_of", read)
    shown = assay(tmp_path, "show", "last").stdout
    assert "20 more results" in shown and "60 ok" in shown and not read
    assert assay(tmp_path, "show", "last", "c00007").stdout and read == {"sample_of": len(OPERATIONS) * REPEATS}


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
        (case, samples), *_ = store.cases_with_samples()
        asked: list[str] = []
        store._db.set_trace_callback(asked.append)
        assert (store.cases(case.id), store.samples(case.id)) == ((case,), samples)
        brief_jobs, jobs = store.jobs(case.id, with_job=False), store.jobs(case.id)
        assert len(store.attempts(case.id)) == len(jobs) == REPEATS
        assert store.results(case.id) == []
        next(store.cases_with_samples())
        store._db.set_trace_callback(None)
        assert len([text for text in asked if text.startswith("SELECT")]) == 9
        for text in asked:
            plan = [row[3] for row in store._db.execute(f"EXPLAIN QUERY PLAN {text}")]
            # `measured` goes through all cases once, to see whether one is lost, and finds the samples of each.
            if "EXCEPT" not in text:
                assert not [step for step in plan if step.startswith("SCAN") and step != "SCAN cases"], (text, plan)
        assert [job.model_copy(update={"job": {}}) for job in jobs] == list(brief_jobs)
        assert all(job.job for job in jobs)
