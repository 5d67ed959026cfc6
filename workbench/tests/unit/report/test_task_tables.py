"""Tasks of commands in exports, in the report and beside a case."""

import csv
import io

import pytest
from builders import make_analysis, make_case, make_sample, row_of
from jsonschema import Draft202012Validator

from assay.model.result.result import RunAnalysis
from assay.model.result.sample import ErrorTally
from assay.model.result.tasks import TaskIo, TaskResult
from assay.report.document import Bullets, Fold, Note, Num, Table
from assay.report.export_csv import csv_text
from assay.report.export_json import json_document, json_schema
from assay.report.sections import commands_tasks
from assay.report.sections.commands_tasks import case_tasks, tasks_fold
from assay.report.tasks_table import tasks_table
from assay.report.view import RunView

SECOND = 10**9
STUDY = """
study: s
targets: {disk: {kind: file, path: /x}}
commands:
  grid: {run: [a], figures: {depth: {pattern: 'depth ([0-9]+)', unit: m}, never: 'no ([0-9]+)'}}
"""


@pytest.fixture(scope="module")
def analysis() -> RunAnalysis:
    io = TaskIo(call_read_bytes=10, call_write_bytes=20, reads=1, writes=2, read_bytes=3, write_bytes=4)
    good = TaskResult(
        task="a", lane=1, host="h1", started_ns=SECOND // 2, elapsed_ns=SECOND, exit_code=0, user_ns=7, io=io
    ).model_copy(update={"figures": {"depth": 12.5}})
    bad = TaskResult(task="b", lane=0, started_ns=0, elapsed_ns=5, exit_code=3, failure="exit code 3: oops")
    case = make_case("c0001", operations=("run",), tasks=2)
    samples = (make_sample("c0001", 1, operation="run", started_at=1000.0, tasks=(good, bad)),)
    row = row_of(case, [1.0], operation="run").model_copy(update={"samples": samples})
    plain = make_analysis()
    run = plain.run.model_copy(update={"study_text": STUDY})
    update = {"rows": (row,), "cases": (case,), "comparisons": (), "decisions": (), "run": run}
    return plain.model_copy(update=update)


def test_an_export_has_a_line_for_each_task_and_a_column_for_each_figure(analysis: RunAnalysis) -> None:
    good, bad = csv.DictReader(io.StringIO(csv_text(tasks_table(analysis))))
    assert (good["command"], good["task"], good["host"], good["lane"], good["repeat"]) == ("grid", "a", "h1", "1", "1")
    assert (good["started_at_unix_s"], good["elapsed_ns"], good["exit_code"]) == ("1000.5", "1000000000", "0")
    assert (good["read_bytes"], good["device_write_bytes"], good["cpu_user_ns"]) == ("10", "4", "7")
    assert (good["figure depth (m)"], good["figure never"]) == ("12.5", "")
    assert (bad["exit_code"], bad["failure"], bad["figure depth (m)"]) == ("3", "exit code 3: oops", "")
    assert bad["read_bytes"] == bad["looks"] == ""


def test_json_has_the_figures_of_each_task(analysis: RunAnalysis) -> None:
    document = json_document(analysis)
    Draft202012Validator(json_schema()).validate(document)
    assert [task["figures"] for task in document["tasks"]] == [{"depth": 12.5}, {}]


def test_a_case_names_the_figures_that_tasks_did_not_print(analysis: RunAnalysis) -> None:
    bullets, table = case_tasks(RunView(analysis), analysis.rows[0])
    assert isinstance(bullets, Bullets) and isinstance(table, Table)
    # The failed task is no surprise, and the figure that the other one printed is not missing.
    assert len(bullets.items) == 1 and "figure never: in what 1 of 1 task printed" in str(bullets.items[0])
    titles = [column.title for column in table.columns]
    cells = [line[titles.index("depth")] for line in table.rows]
    assert [cell.text for cell in cells if isinstance(cell, Num)] == ["12.5 m", "–"]


def test_a_report_has_the_first_tasks_and_names_the_export(
    analysis: RunAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = tasks_fold(RunView(analysis))
    assert isinstance(fold, Fold) and fold.summary == "2 tasks, one by one" and len(fold.blocks) == 1
    monkeypatch.setattr(commands_tasks, "MAX_LINES", 1)
    cut = tasks_fold(RunView(analysis))
    assert cut is not None and isinstance(cut.blocks[0], Note) and "--table tasks" in str(cut.blocks[0])
    assert tasks_fold(RunView(make_analysis())) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"exit_code": 3, "failure": "exit code 3: oops"}, "task 1 ended with exit code 3: oops"),
        ({"signal": 9, "failure": "killed by signal 9"}, "task 1 was killed by signal 9"),
        ({"signal": 9, "failure": "killed after 5 s, its time limit"}, "task 1 was killed after 5 s, its time limit"),
        ({"failure": "a cannot be started: no"}, "task 1: a cannot be started: no"),
        ({"exit_code": 0}, ""),
    ],
)
def test_a_failed_task_is_named_first(fields: dict[str, object], words: str) -> None:
    failed = TaskResult.model_validate({"task": "1", "lane": 0, "started_ns": 0, "elapsed_ns": 1, **fields})
    assert failed.failure_words == words


def test_how_many_tasks_failed_so_comes_last() -> None:
    tally = ErrorTally(kind="fault", name=None, count=4, example="task 1 ended with exit code 3", domain="program")
    assert tally.words == "task 1 ended with exit code 3, and 3 more in this way"
    assert tally.model_copy(update={"count": 1}).words == tally.example
    assert tally.model_copy(update={"domain": "os"}).words == "4 x task 1 ended with exit code 3"
