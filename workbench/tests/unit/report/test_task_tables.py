"""Tasks of commands in exports, in the report and beside a case."""

import csv
import io
import json

import pytest
from builders import make_analysis, make_case, make_sample, row_of
from jsonschema import Draft202012Validator

from assay.analyse import hosts
from assay.analyse.samples import _with_tasks
from assay.analyse.validate import failed_task
from assay.cli.show import _without_long_values
from assay.model.result.replays import ReplayedKind, ReplayResult
from assay.model.result.result import Comparison, ResultRow, RunAnalysis
from assay.model.result.sample import ErrorTally, HostShare
from assay.model.result.tasks import TaskIo, TaskResult
from assay.model.study.replication_figures import KEY_TIMES, SYNCS, scenario_figures
from assay.report.comparison_page import _time_words
from assay.report.document import Bullets, Fold, Note, Num, Table
from assay.report.export_csv import csv_text
from assay.report.export_json import json_document, json_schema
from assay.report.growth.sentences import number_words, plural_noun
from assay.report.measure import REPLAYS, REPLAYS_NOTE, TASKS
from assay.report.measure_time import time_measure
from assay.report.sections import commands_tasks, method
from assay.report.sections.commands_tasks import case_tasks, tasks_fold
from assay.report.sections.results import _caption
from assay.report.summary.lines import measure_of_rows, range_text, rate_of
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
    case = make_case("c0001", operations=("run",), tasks=2, cache="keep")
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


def test_a_failure_of_a_program_is_that_of_the_task_which_ended_so() -> None:
    ended = {"lane": 0, "started_ns": 0, "elapsed_ns": 1}
    tasks = (
        TaskResult(task="a", exit_code=1, failure="exit code 1", **ended),
        TaskResult(task="b", exit_code=3, failure="exit code 3: oops", **ended),
        TaskResult(task="c", signal=9, failure="killed by signal 9", **ended),
    )
    known = {"kind": "fault", "name": None, "count": 1, "example": "run /x/c0001-r1, lane 0 of number 1: ..."}
    errors = [ErrorTally(domain="program", code=code, **known) for code in (3, -9)]
    found = _with_tasks((*errors, ErrorTally(domain="os", code=3, **known)), tasks)
    assert [one.example for one in found] == [
        "task b ended with exit code 3: oops",
        "task c was killed by signal 9",
        known["example"],
    ]
    sample = make_sample(operation="run", errors=found)
    assert failed_task([make_sample(), sample]) == found[0].example and failed_task([make_sample()]) == ""


def test_lanes_of_commands_are_no_threads() -> None:
    assert (number_words("lanes", 2, "run"), number_words("lanes", 1, "replay")) == ("2 lanes", "1 copy")
    assert (number_words("lanes", 2, "read"), plural_noun("hosts", "run")) == ("2 threads", "hosts")


def test_tasks_count_as_the_work_of_their_host() -> None:
    one = {"task": "1", "lane": 0, "started_ns": 0, "elapsed_ns": SECOND, "user_ns": SECOND // 2}
    tasks = (TaskResult(host="h1", **one),)
    # The engine of a host without tasks ends at once.
    shares = tuple(
        HostShare(host=name, status="done", elapsed_ns=elapsed, cpu_ns=10**6)
        for name, elapsed in (("h1", SECOND), ("h2", 1000))
    )
    row = timed((1.0,), tasks=1)
    sample = row.samples[0].model_copy(update={"hosts": shares, "tasks": tasks})
    found = hosts.lines(row.model_copy(update={"samples": (sample,)}))
    assert [line.cpu_share for line in found] == [0.5, 0.0]


def test_a_program_in_a_job_is_cut_for_the_eye() -> None:
    job = {"environment": {"JOB": "{}", "PROGRAM": "UEsD" * 10_000}, "words": ["a" * 5000, 1]}
    text = json.dumps(_without_long_values(job))
    assert len(text) < 400 and '"JOB": "{}"' in text and "40,000 characters; --json has all" in text


def test_how_many_tasks_failed_so_comes_last() -> None:
    tally = ErrorTally(kind="fault", name=None, count=4, example="task 1 ended with exit code 3", domain="program")
    assert tally.words == "task 1 ended with exit code 3, and 3 more in this way"
    assert tally.model_copy(update={"count": 1}).words == tally.example
    assert tally.model_copy(update={"domain": "os"}).words == "4 x task 1 ended with exit code 3"


@pytest.mark.parametrize(
    ("seconds", "parameters", "label"),
    [
        ((8.0, 8.2, 8.1), {"tasks": 4, "lanes": 2}, "wall clock in s"),
        ((2.0, 2.2, 2.1), {"tasks": 4, "lanes": 1}, None),
        ((0.2, 0.22, 0.21), {"tasks": 1}, "wall clock in ms"),
        ((2.0, 2.2, 2.1), {"tasks": 4, "lanes": 8}, "wall clock in s"),
    ],
)
def test_jobs_of_seconds_have_a_time_and_short_ones_a_rate(
    seconds: tuple[float, ...], parameters: dict[str, int], label: str | None
) -> None:
    row = timed(seconds, **parameters)
    measure = time_measure([row])
    assert (None if measure is None else measure.label) == label
    assert label is None or rate_of(row, measure_of_rows([row]))[0] == pytest.approx(sorted(seconds)[1])


def timed(seconds: tuple[float, ...], figures: dict[str, float] | None = None, **parameters: int) -> ResultRow:
    case = make_case("c1", operations=("run",), **parameters)
    task = TaskResult(task="1", lane=0, started_ns=0, elapsed_ns=1, figures=figures or {})
    samples = tuple(
        make_sample("c1", at, operation="run", ops=1, elapsed_ns=round(each * SECOND), tasks=(task,))
        for at, each in enumerate(seconds, start=1)
    )
    return row_of(case, [1.0], operation="run").model_copy(update={"samples": samples})


def test_replays_have_the_time_of_their_io_unless_paces_differ() -> None:
    def replayed(pace: str) -> ResultRow:
        kinds = {"read": ReplayedKind(count=1, replayed_ns=SECOND // 4)}
        copy = ReplayResult(lane=0, started_ns=0, elapsed_ns=2 * SECOND, recorded_ns=2 * SECOND, tasks=1, kinds=kinds)
        case = make_case("c1", operations=("replay",), pace=pace)
        sample = make_sample("c1", operation="replay", ops=1, elapsed_ns=2 * SECOND, replays=(copy,))
        return row_of(case, [1.0], operation="replay").model_copy(update={"samples": (sample,)})

    rows = [replayed("recorded"), replayed("2"), replayed("fast")]
    assert [measure_of_rows([row]).label for row in rows] == ["I/O time in ms"] * 2 + ["wall clock in s"]
    assert rate_of(rows[0], measure_of_rows(rows[:2]))[0] == 0.25
    assert measure_of_rows(rows).label == "wall clock in s"


def test_a_slower_job_is_the_longer_end_of_a_range() -> None:
    rows = [timed((9.0, 9.0, 9.0), tasks=1), timed((3.0, 3.0, 3.0), tasks=1)]
    assert range_text(rows, measure_of_rows(rows)) == "3.00 to 9.00"
    assert measure_of_rows([*rows, timed((1.0, 1.0), tasks=8, lanes=1)]).unit == "tasks/s"


def test_a_replication_is_known_by_a_time_of_its_scenario() -> None:
    """Its wall clock has making and comparing files in it."""
    printed = dict.fromkeys(scenario_figures("update"), 0.0) | {"update duration": 2.5, "initial duration": 9.0}
    measure = measure_of_rows([timed((40.0, 40.0), printed, tasks=1)])
    assert measure.label == "update duration in s"
    assert set(KEY_TIMES) <= {name for scenario in SYNCS for name in scenario_figures(scenario)}
    assert all(any(name in KEY_TIMES for name in scenario_figures(scenario)) for scenario in SYNCS)


def test_a_rate_of_replays_says_what_it_is_at_a_recorded_pace() -> None:
    assert REPLAYS_NOTE in _caption(REPLAYS, short=True) and REPLAYS_NOTE not in _caption(TASKS, short=True)


@pytest.mark.parametrize(
    ("operation", "separable", "words"),
    [("run", True, "time +25.0 %"), ("run", False, "time ~ +25.0 %"), ("read", True, ""), ("create", True, "")],
)
def test_a_comparison_of_jobs_says_how_their_time_differs(operation: str, separable: bool, words: str) -> None:
    fields = {"workload": "w", "axes": {}, "base": "a", "other": "b", "low": None, "high": None, "caveat": ""}
    pair = Comparison(operation=operation, ratio=0.8, separable=separable, n_base=3, n_other=3, **fields)
    assert _time_words(pair) == words


def test_the_method_of_commands_says_nothing_of_data_that_the_engine_did_not_make(analysis: RunAnalysis) -> None:
    words = str(method.section(RunView(analysis)))
    assert "incompressible" not in words and "What programs read and write is their own affair" in words
    assert "Page cache before each repeat of a command, after its files were made: " in words
    plain = str(method.section(RunView(make_analysis())))
    assert "incompressible" in plain and "of a command" not in plain
