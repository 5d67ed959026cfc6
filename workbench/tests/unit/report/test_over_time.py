"""First and repeated fetches, seconds, and moving averages in the report."""

import pytest
from builders import make_case, make_run, make_sample
from report_parts import charts_of, tables_of
from service_rows import service_case

from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.course import Course, RateChange, Segments
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import ErrorTally, KindCounts, Sample
from assay.model.result.verdict import Finding, Verdict
from assay.report.build import build_document
from assay.report.document import Chart, Table
from assay.report.draw.drawing import Dot, Drawing, LineMark, ReferenceLine

MS, S, MB = 1_000_000, 10**9, 10**6


def fetched(repeat: int, operation: str, first: int, repeated: int) -> Sample:
    """First fetches take `repeat` milliseconds, repeated ones a quarter of that."""
    slow, quick = {"p50": float(repeat * MS)}, {"p50": repeat * MS / 4}
    kind = KindCounts(
        kind="get",
        ops=first + repeated,
        bytes=4096,
        latency=slow if first else quick,
        repeated=quick if repeated else {},
        repeated_ops=repeated,
        first=slow if first and repeated else {},
    )
    number = 1 if operation == "get" else 2
    return make_sample(
        "c0001", repeat, operation=operation, phase=number, elapsed_ns=S, ops=first + repeated, kinds=(kind,)
    )


def analysis(samples: list[Sample], operations: tuple[str, ...]) -> RunAnalysis:
    return analyse(make_run(), (make_case("c0001", "disk", operations),), (), samples, (), judge)


def table(found: RunAnalysis, name: str) -> Table | None:
    return tables_of(build_document(found)).get(name)


def texts(row: tuple[object, ...]) -> list[str]:
    return [str(getattr(cell, "text", cell)) for cell in row]


def test_first_and_repeated_fetches_of_one_operation_have_their_times_and_ratio() -> None:
    samples = [fetched(repeat, "get", 1000, 3000) for repeat in (1, 2, 3)]
    found = table(analysis(samples, ("get",)), "accesses-table")
    assert found is not None
    (line,) = found.rows
    assert texts(line)[4:] == ["3,000", "2,000", "too few", "9,000", "500", "too few", "0.25"]


def test_a_second_time_is_set_beside_the_first_one_of_the_same_case() -> None:
    samples = [fetched(repeat, "get", 1000, 0) for repeat in (1, 2, 3)]
    samples += [fetched(repeat, "get (2)", 0, 1000) for repeat in (1, 2, 3)]
    found = table(analysis(samples, ("get", "get (2)")), "accesses-table")
    assert found is not None
    assert [texts(line)[4:6] + texts(line)[7:9] + texts(line)[-1:] for line in found.rows] == [
        ["3,000", "2,000", "0", "–", "–"],
        ["0", "–", "3,000", "500", "0.25"],
    ]


def test_without_repeated_fetches_there_is_no_such_table() -> None:
    samples = [fetched(repeat, "get", 1000, 0) for repeat in (1, 2, 3)]
    assert table(analysis(samples, ("get",)), "accesses-table") is None


def seconds(repeat: int, *rates: float) -> Sample:
    course = Course(intervals=9, interval_ns=S, mean=1, variation=0, segments=Segments(length_ns=S, rates=rates))
    return make_sample("c0001", repeat, operation="read", elapsed_ns=9 * S, course=course)


def test_seconds_of_all_repeats_stand_together() -> None:
    samples = [
        seconds(1, 5 * MB, 9 * MB, 9 * MB),
        seconds(2, 8 * MB, 9 * MB, 10 * MB),
        seconds(3, 8 * MB, 9 * MB, 9 * MB),
    ]
    found = analysis(samples, ("write", "read"))
    line = table(found, "seconds-table")
    assert line is not None
    assert "No second includes the flush at the end." in str(line.caption)
    assert texts(line.rows[0])[4:] == ["9", "MB/s", "5.00", "9.00", "10.0", "56 %"]
    (chart,) = charts(found, "moving-")
    assert isinstance(chart.drawing, Drawing)
    assert [dot.y for dot in chart.drawing.marks_of(Dot)] == [5, 9, 9, 8, 9, 10, 8, 9, 9]
    lines = chart.drawing.marks_of(LineMark)
    assert [y for _, y in lines[0].points] == pytest.approx([23 / 3] * 3)
    assert "Put" not in chart.title and len(lines) == 3


def with_more(sample: Sample, **more: object) -> Sample:
    """The sample with more in its seconds, or in its course (`changes`)."""
    assert sample.course is not None and sample.course.segments is not None
    changes = more.pop("changes", ())
    segments = sample.course.segments.model_copy(update=more)
    return sample.model_copy(
        update={"course": sample.course.model_copy(update={"segments": segments, "changes": changes})}
    )


def charts(found: RunAnalysis, begin: str) -> list[Chart]:
    return [chart for chart in charts_of(build_document(found)) if chart.id.startswith(begin)]


def test_latencies_of_each_repeat_are_lines_of_their_own() -> None:
    kept = {"p50": (1e3, None, 3e3), "p99": (9e3, None, None), "errors": (0, 0, 0)}
    samples = [with_more(seconds(repeat, 8 * MB, 9 * MB, 9 * MB), **kept) for repeat in (1, 2)]
    (chart,) = charts(analysis(samples, ("read",)), "seconds-latency-")
    assert isinstance(chart.drawing, Drawing)
    lines = chart.drawing.marks_of(LineMark)
    assert [(line.tooltip.partition("\n")[0], line.points) for line in lines if "repeat 2" in line.tooltip] == [
        ("disk, repeat 2, p50", ((0.5, 1.0), (2.5, 3.0))),
        ("disk, repeat 2, p99", ((0.5, 9.0),)),
    ]
    assert len(lines) == len(chart.drawing.marks), "nothing is marked"


def test_without_latencies_there_is_no_chart_of_them() -> None:
    samples = [seconds(repeat, 8 * MB, 9 * MB, 9 * MB) for repeat in (1, 2)]
    assert charts(analysis(samples, ("read",)), "seconds-latency-") == []


def test_failures_and_the_changes_of_a_finding_are_marked() -> None:
    fell = RateChange(at_ns=2 * S + S // 2, before=9 * MB, after=2 * MB, p=0.001)
    kept = {"start_ns": S // 2, "p50": (1e3,) * 3, "p99": (1e3,) * 3}
    fine = [
        with_more(seconds(repeat, 9 * MB, 9 * MB, 2 * MB), **kept, errors=(0, 0, 0), changes=(fell,))
        for repeat in (1, 2)
    ]
    failed = with_more(seconds(3, 9 * MB, 9 * MB, 9 * MB), **kept, errors=(0, 7, 0))
    tally = ErrorTally(kind="fault", name="EIO", count=7, example="read")
    found = analysis([*fine, failed.model_copy(update={"errors": (tally,)})], ("read",))
    finding = Finding(verdict=Verdict.BURSTING, rule="bursting", text="it fell", remedy="Run longer.", numbers={})
    for findings in ((), (finding,)):
        rows = tuple(row.model_copy(update={"findings": findings}) for row in found.rows)
        for begin in ("moving-", "seconds-latency-"):
            (chart,) = charts(found.model_copy(update={"rows": rows}), begin)
            assert isinstance(chart.drawing, Drawing)
            changes = [(rule.value, rule.tooltip) for rule in chart.drawing.marks_of(ReferenceLine)]
            words = "from 9.00 MB/s to 2.00 MB/s"
            assert changes == ([(2.0, f"disk, repeat {repeat}\n{words}") for repeat in (1, 2)] if findings else [])
            failures = [(dot.x, dot.tooltip) for dot in chart.drawing.marks_of(Dot) if dot.look == "failed"]
            assert failures == [(1.5, "disk, repeat 3\n7 failed operations")]


def test_short_results_have_no_seconds() -> None:
    samples = [make_sample("c0001", repeat, operation="read", elapsed_ns=S) for repeat in (1, 2, 3)]
    assert table(analysis(samples, ("read",)), "seconds-table") is None


def test_seconds_of_objects_speak_of_no_flush() -> None:
    samples = [seconds(repeat, 8 * MB, 9 * MB).model_copy(update={"operation": "get"}) for repeat in (1, 2, 3)]
    case = service_case(1, "bucket", ("get",))
    found = table(analyse(make_run(), (case,), (), samples, (), judge), "seconds-table")
    assert found is not None and "flush" not in str(found.caption)
