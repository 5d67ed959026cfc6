"""Tables that authors order: what is chosen, grouped, summarised and marked, and which orders are refused."""

import re
from functools import cache
from typing import Any

import pytest
from builders import answered, make_case, make_run, row_of
from priced import priced_run
from pydantic import ValidationError
from sample_run import sample_run

from assay.model.base import AssayError
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.verdict import Verdict
from assay.report.document import Num, Table
from assay.report.selection.tables import TableOptions, table_blocks
from assay.report.view import RunView

KIB = 1024
RATES = {("disk", 4): 100e6, ("disk", 64): 300e6, ("memory", 4): 1000e6, ("memory", 64): 2000e6, ("memory", 256): 3e9}


def a_row(target: str, size: int, rate: float, operation: str = "read", **more: Any) -> ResultRow:
    verdict = more.pop("verdict", Verdict.OK)
    case = make_case(f"{target}-{size}-{operation}", target, (operation,), axes={"record_size": size * KIB}, **more)
    repeats = [rate, rate * 1.01, rate * 0.99]
    found = row_of(case, repeats, verdict, operation=operation)
    return found.model_copy(update={"iops": found.throughput, "throughput": None}) if operation == "stat" else found


def view_of(*rows: ResultRow, **run: Any) -> RunView:
    cases = tuple({row.case.id: row.case for row in rows}.values())
    return RunView(
        RunAnalysis(run=make_run(**run), cases=cases, excluded=(), rows=rows, comparisons=(), notes=(), jobs=())
    )


@cache
def two_targets() -> RunView:
    rows = [a_row(target, size, rate) for (target, size), rate in RATES.items()]
    rows += [a_row(target, size, rate / 2, "write") for (target, size), rate in RATES.items()]
    return RunView(answered(view_of(*rows).analysis))


def tables(*views: RunView, **options: Any) -> list[Table]:
    named = {f"r{number}": view for number, view in enumerate(views, start=1)}
    return [block for block in table_blocks(TableOptions.model_validate(options), named) if isinstance(block, Table)]


def table(*views: RunView, **options: Any) -> Table:
    (found,) = tables(*views, **options)
    return found


def cells(found: Table) -> list[list[str]]:
    return [[cell.text if isinstance(cell, Num) else str(cell) for cell in row] for row in found.rows]


def refused(*views: RunView, **options: Any) -> str:
    with pytest.raises(AssayError) as error:
        tables(*views, **options)
    return f"{error.value.message} | {error.value.hint}"


def test_rows_and_columns_are_values_of_properties() -> None:
    found = table(two_targets(), rows="record_size", columns=["target"], where={"operation": "read"})
    assert [(column.title, column.unit) for column in found.columns] == [
        ("Record size", ""),
        ("disk", "MB/s"),
        ("memory", "MB/s"),
    ]
    assert cells(found) == [["4 KiB", "100", "1,000"], ["64 KiB", "300", "2,000"], ["256 KiB", "–", "3,000"]]
    assert found.caption.startswith("Throughput by record size and target; read. Results are medians of 3 repeats. –:")


def test_the_author_decides_about_order_unit_and_decimals() -> None:
    options = {"rows": "record_size", "columns": "target", "unit": "KiB/s", "decimals": 1, "sort": "value"}
    where = {"operation": "read", "target": ["memory", "disk"], "record_size": [">4KiB", "<=64 KiB"]}
    found = table(two_targets(), **options, where=where)
    assert [column.title for column in found.columns] == ["Record size", "memory", "disk"]
    assert cells(found) == [["64 KiB", "1,953,125.0", "292,968.8"]]
    by_value = table(two_targets(), rows="record_size", where={"operation": "read", "target": "memory"}, sort="value")
    assert [row[0] for row in cells(by_value)] == ["256 KiB", "64 KiB", "4 KiB"]


@pytest.mark.parametrize("written", ["64KiB", "64 kib", 65536, "65536", [65536], "!=4KiB", ">= 64 KiB"])
def test_a_value_may_be_written_in_several_ways(written: Any) -> None:
    where = {"operation": "read", "target": "disk", "record_size": written}
    assert cells(table(two_targets(), rows="record_size", where=where)) == [["64 KiB", "300"]]


def test_a_mean_over_some_values_says_which() -> None:
    order = {"rows": "operation", "columns": "target", "mean_over": "record_size"}
    found = table(two_targets(), **order, where={"record_size": ">4KiB"})
    assert "record size >4KiB" in found.caption and "record size >4KiB" not in table(two_targets(), **order).caption


def test_means_state_over_what_and_of_how_many_values_they_are() -> None:
    found = table(two_targets(), rows="operation", columns="target", mean_over="record_size")
    assert cells(found) == [["Read", "200 °", "2,000", "2, 3"], ["Write", "100 °", "1,000", "2, 3"]]
    assert "Mean over record size; the last column states of how many values." in found.caption
    assert "operation" not in found.caption.split(".")[1]
    assert "° not of all values that others have (read, disk: without record size 256 KiB; " in found.notes
    even = table(
        two_targets(),
        rows="operation",
        columns="target",
        mean_over="record_size",
        where={"record_size": "<1MiB", "target": "disk"},
    )
    assert "Mean over record size, of 2 values each." in even.caption and not even.notes and len(even.columns) == 2


def test_means_over_the_values_that_all_have() -> None:
    order = {"rows": "operation", "columns": "target", "mean_over": "record_size", "common_values": True}
    found = table(two_targets(), **order)
    assert cells(found) == [["Read", "200", "1,500"], ["Write", "100", "750"]] and not found.notes
    assert (
        "of 2 values each" in found.caption and "(only values that all compared runs and targets have)" in found.caption
    )
    apart = view_of(a_row("disk", 4, 1e8), a_row("memory", 64, 1e9), a_row("disk", 4, 3e8, "write"))
    assert cells(table(apart, **order)) == [["Read", "–", "–"], ["Write", "300", "–"]]


def test_maximum_and_minimum() -> None:
    options = {"rows": "target", "where": {"operation": "read"}}
    assert cells(table(two_targets(), **options, max_over="record_size"))[0] == ["disk", "300 °", "2"]
    found = table(two_targets(), **options, min_over=["record_size"])
    assert cells(found) == [["disk", "100 °", "2"], ["memory", "1,000", "3"]]
    assert "Least value over record size" in found.caption


def test_doubtful_values_are_marked_and_explained() -> None:
    bad = a_row("disk", 64, 9e9, verdict=Verdict.CACHED)
    view = view_of(a_row("disk", 4, 1e8), bad, a_row("memory", 4, 1e9), a_row("memory", 64, 1e9))
    found = table(view, rows="record_size", columns="target")
    assert cells(found) == [["4 KiB", "100", "1,000"], ["64 KiB", "9,000 †", "1,000"]]
    assert found.notes.startswith("† cached: memory served the data")
    mean = table(view, rows="target", mean_over="record_size")
    assert cells(mean)[0] == ["disk", "4,550 †"] and "† at least one result behind it is cached" in mean.notes


def test_a_verdict_that_all_have_is_a_sentence_not_a_sign() -> None:
    view = view_of(*(a_row(target, 4, 1e8, verdict=Verdict.UNVERIFIED) for target in ("disk", "memory")))
    found = table(view, rows="target")
    assert cells(found) == [["disk", "100"], ["memory", "100"]] and not found.notes
    assert "All values are unverified (" in found.caption


def test_bytes_and_operations_are_never_in_one_column() -> None:
    view = view_of(a_row("disk", 4, 1e8), a_row("disk", 4, 700.0, "stat"))
    words = refused(view, rows="operation", columns="target")
    assert words.startswith("MB/s and operations/s would stand in one column | ")
    found = table(view, rows="target", columns="operation")
    assert [column.unit for column in found.columns] == ["", "MB/s", "operations/s"]
    assert cells(found) == [["disk", "100", "700"]]


def test_several_results_in_a_cell_are_refused_with_what_to_do() -> None:
    words = refused(two_targets(), rows="target", columns="operation")
    assert "2 results are in one cell (target disk, operation read); they differ in record_size (4KiB, 64KiB)" in words
    assert "put record_size into rows, columns, split or where, or into mean_over" in words
    words = refused(two_targets(), rows="target", mean_over="record_size")
    assert (
        "they differ in operation (read, write) | add operation to mean_over, or choose one value with where" in words
    )


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"rows": "recordsize"}, "there is no property `recordsize`", "did you mean `record_size`?"),
        ({"rows": "colour"}, "there is no property `colour`", "one of: run, host, target"),
        ({"rows": "queue_depthh"}, "there is no property `queue_depthh`", "did you mean `queue_depth`?"),
        ({"where": {"target": "dsk"}}, "no result has target `dsk`", "did you mean `disk`?"),
        ({"where": {"record_size": "8KiB"}}, "no result has record_size `8KiB`", "4KiB, 64KiB, 256KiB"),
        ({"where": {"record_size": ">1MiB"}}, "no result has record_size >1MiB", "4KiB, 64KiB, 256KiB"),
        ({"where": {"record_size": ">big"}}, "`big` is not a number", "`>256KiB`"),
        ({"where": {"target": ">4"}}, "Target is no number", "one of its values"),
        ({"where": {"record_size": ">256"}}, "where.record_size: `256` has no unit", "write one, as in"),
        ({"where": {"record_size": [">4KiB", "64KiB"]}}, "values and comparisons are mixed", "only comparisons"),
        (
            {"where": {"target": "disk", "record_size": "256KiB"}},
            "no result has record_size 256KiB together with target disk",
            "record_size is one of: 4KiB, 64KiB",
        ),
        ({"value": "p42"}, "there is no value `p42`", "p50"),
        ({"value": "p99", "mean_over": "record_size"}, "no chosen result has this value", "another value"),
        ({"value": {"ratio_to": "tape"}}, "no result is of target `tape`", "disk, memory"),
        ({"value": "cost_month"}, "run r1 has no prices", "prices"),
        ({"unit": "MB"}, "unit `MB`", "MB/s"),
        ({"unit": "ms"}, "unit `ms`", "MB/s"),
        ({"rows": ["target"], "columns": "target"}, "`target` stands there twice", "leave it out"),
    ],
)
def test_wrong_orders_name_the_choices(options: dict[str, Any], message: str, hint: str) -> None:
    order = {"rows": ["record_size", "target"], "columns": "operation"} | options
    words = refused(two_targets(), **order)
    assert message in words.split(" | ")[0] and hint in words.split(" | ")[1]


@pytest.mark.parametrize(
    "options",
    [
        {"run": "r1", "runs": ["r1"]},
        {"mean_over": "a", "max_over": "b"},
        {"where": {"target": []}},
        {"where": "target"},
        {"value": "ratio_to"},
        {"value": {"ratio": "disk"}},
        {"rows": []},
        {"common_values": True},
    ],
)
def test_orders_that_contradict_themselves(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TableOptions.model_validate({"rows": ["target"]} | options)


def test_ratios_are_of_the_same_work_and_say_what_is_undecided() -> None:
    order = {"rows": "record_size", "columns": "target", "value": {"ratio_to": "disk"}}
    found = table(two_targets(), **order, where={"operation": "read"})
    assert [row[0] for row in cells(found)] == ["4 KiB", "64 KiB", "256 KiB"]
    assert [row[1].split()[0] for row in cells(found)] == ["1.00", "1.00", "–"]
    assert [row[2].split()[0] for row in cells(found)] == ["10.0", "6.67", "–"]
    assert "No comparison decides that the targets differ." in found.caption, "three repeats are too few"
    mean = table(
        two_targets(), rows="operation", where={"target": "memory"}, value={"ratio_to": "disk"}, mean_over="record_size"
    )
    assert cells(mean)[0][1].split()[0] == "7.50", "(1000 + 2000) / (100 + 300): over the sizes that both have"
    assert "both over the same values" in mean.caption


def test_a_ratio_that_the_run_decides_has_no_sign() -> None:
    view = RunView(sample_run())
    where = {"workload": "grid", "operation": "write", "target": "memory", "file_size": "64MiB"}
    found = table(view, rows="record_size", value={"ratio_to": "disk"}, where=where)
    assert found.rows and not any("≈" in row[1] for row in cells(found)) and "decide" not in found.caption


def test_runs_side_by_side_say_where_and_when_they_were_measured() -> None:
    first = view_of(a_row("disk", 4, 1e8), environment={"host": {"name": "a1"}})
    later = {"created_at": make_run().created_at + 86400}
    second = view_of(a_row("disk", 4, 2e8), environment={"host": {"name": "b2"}}, **later)
    found = table(first, second, rows="target", columns="run")
    assert cells(found) == [["disk", "100", "200"]]
    assert re.search(r"not measured together, so .*: r1 \(\d{4}-\d\d-\d\d, a1\) and r2 \(.*, b2\)\.", found.caption)
    words = refused(first, second, rows="target")
    assert "they differ in run (r1, r2)" in words
    assert "not measured together" not in table(first, first, rows="target", columns="run").caption


def test_means_over_runs_name_what_else_differs() -> None:
    other = view_of(a_row("disk", 4, 2e8, queue_depth=8))
    words = refused(view_of(a_row("disk", 4, 1e8)), other, rows="target", mean_over="run")
    assert "they differ in queue_depth (1, 8) | add queue_depth to mean_over" in words


def test_a_table_too_large_is_refused_and_can_be_split() -> None:
    rows = [a_row(target, size, size * 1e6) for target in ("disk", "memory") for size in range(1, 402)]
    view = view_of(*rows)
    words = refused(view, rows="record_size", columns="target")
    assert words.startswith("the table would have 401 rows and 2 columns") and "split" in words
    parts = tables(view, rows="record_size", split="target", where={"record_size": "<=400KiB"}, unit="MB/s", decimals=0)
    assert [len(part.rows) for part in parts] == [400, 400]
    assert parts[1].caption.startswith("Throughput by record size; memory.")
    assert cells(parts[1])[399] == ["400 KiB", "400"]


def test_latencies_costs_and_repeats() -> None:
    view = RunView(sample_run())
    where = {"workload": "grid", "operation": "read", "file_size": "64MiB", "target": "disk"}
    found = table(view, rows="record_size", value="p99", where=where)
    assert found.columns[1].title == "Latency, p99" and found.columns[1].unit in ("µs", "ms")
    interval = table(view, rows="record_size", value="interval", where=where)
    assert re.fullmatch(r"[\d.,]+ \([\d.,]+ to [\d.,]+\)", cells(interval)[0][1].split(" †")[0])
    assert "In brackets: 95 % interval." in interval.caption
    repeats = table(view, rows="record_size", value="repeats", where=where)
    assert cells(repeats)[0][1].isdigit() and "medians" not in repeats.caption
    costs = table(RunView(priced_run()), rows="target", value="cost_month")
    assert costs.columns[1].title == "Cost of a month" and costs.columns[1].unit == "USD"
    assert re.search(r"Prices: [\w-]+ of \d{4}-\d\d-\d\d\.", costs.caption)
    month = {str(row[0]): row[1].value for row in costs.rows if isinstance(row[1], Num)}
    rates, each = (
        table(RunView(priced_run()), rows="target", value=value, where={"operation": "write"})
        for value in ("rate", "cost_per_rate")
    )
    assert each.columns[1].unit == "USD for GB/s"
    for rate, cost in zip(rates.rows, each.rows, strict=True):
        assert isinstance(rate[1], Num) and isinstance(cost[1], Num) and rate[1].value
        assert cost[1].value == pytest.approx(month[str(rate[0])] / rate[1].value * 1e9)
