"""From samples to rows: grouping, estimates, pooled latencies, notes, and the time it takes."""

import tracemalloc
from typing import Any

import pytest
from builders import MEMORY_PLACE, MIB, hdr, make_analysis, make_case, make_names, make_place, make_run, make_sample
from counted import calls_of
from soak import times

from assay.analyse import histograms
from assay.analyse.rows import analyse, memory_bytes
from assay.judge.judge import judge
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.sample import JobRecord, Sample
from assay.model.result.verdict import Verdict
from assay.model.study.case import Case

MAX_CALLS = 2500
"""For a case with three repeats; measured: 1,700."""


def analysed(cases: tuple[Case, ...], samples: list[Sample], **fields: Any) -> RunAnalysis:
    return analyse(make_run(**fields), cases, (), samples, (), judge)


def one_row(speeds: list[float], case: Case | None = None, **fields: Any) -> tuple[ResultRow, RunAnalysis]:
    case = case or make_case()
    samples = [
        make_sample(repeat=repeat, throughput=speed, operation=case.operations[0], **fields)
        for repeat, speed in enumerate(speeds, start=1)
    ]
    found = analysed((case,), samples, repeats=len(speeds))
    return found.rows[0], found


def test_rows_follow_the_plan_and_are_judged() -> None:
    found = make_analysis()
    assert [(row.case.id, row.operation) for row in found.rows] == [
        ("c0001", "write"),
        ("c0001", "read"),
        ("c0002", "write"),
        ("c0002", "read"),
    ]
    assert [row.verdict for row in found.rows] == [Verdict.INCOMPLETE, Verdict.OK, Verdict.OK, Verdict.OK]
    assert "ENOSPC" in found.rows[0].findings[0].text
    read = found.rows[1].throughput
    assert read is not None and read.n == 3 and read.median == pytest.approx(200e6 * (1 + 2 / 97))
    assert {comparison.operation for comparison in found.comparisons} == {"write", "read"}


def test_a_failed_repeat_is_shown_and_not_counted() -> None:
    row = make_analysis().rows[0]
    assert len(row.samples) == 3 and row.samples[0].status == "failed"
    assert row.throughput is not None and row.throughput.n == 2


def test_the_same_operation_twice_stays_apart() -> None:
    case = make_case(operations=("write", "read", "write"))
    samples = [
        make_sample(repeat=repeat, phase=phase, operation=operation, throughput=speed)
        for repeat in (1, 2, 3)
        for phase, operation, speed in ((1, "write", 100e6), (2, "read", 150e6), (4, "write", 300e6))
    ]
    rows = analysed((case,), samples).rows
    medians = [(row.operation, row.throughput.median) for row in rows if row.throughput]
    assert medians == [("write", 100e6), ("read", 150e6), ("write (2)", 300e6)]
    assert all(row.verdict is Verdict.OK for row in rows)


def test_latencies_of_repeats_are_pooled() -> None:
    values = [[1000, 1100, 1200] * 5, [50_000, 51_000] * 5, [900] * 5]
    samples = [
        make_sample(
            repeat=number,
            histogram=hdr(part),
            latency={"min": float(min(part)), "mean": sum(part) / len(part), "max": float(max(part))},
        )
        for number, part in enumerate(values, start=1)
    ]
    row = analysed((make_case(),), samples).rows[0]
    every = [value for part in values for value in part]
    assert row.latency["mean"] == pytest.approx(sum(every) / 30)
    assert (row.latency["min"], row.latency["max"]) == (900.0, 51_000.0)
    pool = histograms.decode(hdr(every))
    assert row.latency["p50"] == float(histograms.percentiles(pool, [50.0])[0])
    assert list(row.latency) == ["min", "mean", "p50", "max"], "of 30 operations no higher percentile can be said"
    assert row.curve == histograms.curve(pool)


def test_a_case_without_samples_says_why() -> None:
    job = JobRecord(
        case="c0001", repeat=1, status="refused", attempts=1, started_at=1.0, seconds=0.1, reason="no O_DIRECT", job={}
    )
    found = analyse(make_run(), (make_case(),), (), (), (job,), judge)
    assert found.rows[0].verdict is Verdict.INCOMPLETE
    assert "repeat 1 refused: no O_DIRECT" in found.rows[0].findings[0].text
    assert found.rows[0].throughput is None


def test_quick_gives_the_same_verdicts_and_estimates() -> None:
    whole = make_analysis()
    samples = [sample for row in whole.rows for sample in row.samples]
    quick = analyse(whole.run, whole.cases, (), samples, whole.jobs, judge, quick=True)
    assert [(row.verdict, row.throughput) for row in quick.rows] == [
        (row.verdict, row.throughput) for row in whole.rows
    ]
    assert quick.comparisons == () and quick.rows[1].latency == {}


def test_delays_of_starts_are_pooled() -> None:
    samples = [
        make_sample(
            repeat=repeat, start_delay={"min": 0.0, "mean": 10.0, "max": top}, start_delay_histogram=hdr(values)
        )
        for repeat, top, values in ((1, 900.0, [1, 900] * 4), (2, 5000.0, [2, 5000] * 4), (3, 3.0, [3] * 8))
    ]
    row = analysed((make_case(),), samples).rows[0]
    assert (row.start_delay["min"], row.start_delay["max"]) == (0.0, 5000.0)
    assert row.start_delay["p50"] == 3.0 and "p99" not in row.start_delay
    assert make_analysis().rows[0].start_delay == {}


def names_run(**fields: Any) -> RunAnalysis:
    """Two targets on which files are made, with contents, and looked at."""
    cases = tuple(
        make_case(f"c000{number}", target, ("create", "stat"), file_size=4096)
        for number, target in enumerate(("disk", "memory"), start=1)
    )
    samples = [
        make_names(
            case.id,
            repeat,
            iops=(20e3 if operation == "create" else 500e3) * (1 + repeat / 97) * (3 if case.target == "memory" else 1),
            operation=operation,
            phase=phase,
            bytes=4096 * 1000 if operation == "create" else 0,
            throughput=80e6 if operation == "create" else 0.0,
            **fields,
        )
        for case in cases
        for repeat in (1, 2, 3, 4)
        for phase, operation in enumerate(("create", "stat"))
    ]
    return analysed(cases, samples)


def test_metadata_rows_are_rates_of_operations() -> None:
    found = names_run()
    create, stat, *_ = found.rows
    assert create.is_counted and create.rate == create.iops
    assert create.throughput is not None and create.throughput.median == 80e6
    assert stat.throughput is None and stat.rate is not None
    assert stat.rate.median == pytest.approx(500e3 * (1 + 2.5 / 97)) and stat.rate.n == 4
    assert [row.verdict for row in found.rows] == [Verdict.OK] * 4
    assert [(pair.operation, round(pair.ratio), pair.separable) for pair in found.comparisons] == [
        ("create", 3, True),
        ("stat", 3, True),
    ]
    assert found.notes == ()


def test_notes_about_metadata_speak_of_operations() -> None:
    case = make_case(operations=("stat",), lanes=2)
    rates = [100e3, 101e3, 300e3]
    samples = [make_names(repeat=n, iops=rate, first_finisher_iops=2 * rate) for n, rate in enumerate(rates, start=1)]
    notes = analysed((case,), samples).notes
    assert any("repeat 3 (300,000 operations/s) is an outlier" in note for note in notes)
    assert any("2.00 times that of the whole phase" in note for note in notes)


def test_good_results_have_no_notes() -> None:
    assert one_row([100e6, 101e6, 99e6], make_case(lanes=4), first_finisher=101e6)[1].notes == ()


_NS = hdr([2_000_000] * 4000)
LATE = {
    "start_delay": {"min": 2e6, "mean": 2e6, "p99.9": 2e6, "max": 2e6},
    "start_delay_histogram": _NS,
    "latency": {"min": 2e6, "mean": 3e6, "p99.9": 2e6, "max": 2e6},
    "histogram": _NS,
}


@pytest.mark.parametrize(
    ("words", "speeds", "parameters", "fields"),
    [
        ("repeat 3 (250 MB/s) is an outlier", [100e6, 101e6, 250e6], {}, {}),
        ("repeat 5 (120 MB/s) is an outlier", [100e6, 101e6, 99e6, 100e6, 120e6], {}, {}),
        ("first repeat (70 MB/s) is slower", [70e6, 101e6, 99e6], {}, {}),
        ("did not share the work evenly", [100e6, 100e6, 100e6], {"lanes": 2}, {"first_finisher": 150e6}),
        ("io_uring was requested", [100e6] * 3, {"method": "io_uring"}, {"method": "sync", "method_reason": "why"}),
        (
            "plain system calls were used (why)",
            [100e6] * 3,
            {"method": "io_uring"},
            {"method": "sync", "method_reason": "why"},
        ),
        ("not the requested 8", [100e6] * 3, {"queue_depth": 8}, {"method": "sync"}),
        ("started 2 ms late or more", [100e6] * 3, {}, LATE),
        ("should have been emptied before (drop)", [100e6] * 3, {"cache": "drop"}, {}),
        ("never started", [100e6] * 3, {}, {"unstarted_ops": 5}),
        ("3 of 3 repeats ended at the time limit", [100e6] * 3, {}, {"status": "time_limit"}),
    ],
)
def test_odd_results_are_noted_and_kept(
    words: str, speeds: list[float], parameters: dict[str, Any], fields: dict[str, Any]
) -> None:
    row, found = one_row(speeds, make_case(**parameters), **fields)
    assert len([note for note in found.notes if words in note]) == 1
    assert row.throughput is not None and row.throughput.n == len(speeds)


@pytest.mark.parametrize(
    ("reads", "read_bytes", "parameters", "noted"),
    [
        (200, 100 * MIB, {}, True),
        (101, 100 * MIB, {}, False),
        # Something else used the device.
        (200, 200 * MIB, {}, False),
        (200, 100 * MIB, {"huge_pages": True}, False),
        (200, 100 * MIB, {"cache": "evict"}, False),
        (200, 100 * MIB, {"record_size": 65536}, False),
    ],
)
def test_operations_that_the_kernel_splits_are_noted(
    reads: int, read_bytes: int, parameters: dict[str, Any], noted: bool
) -> None:
    case = make_case(**{"cache": "direct", "record_size": MIB, "operations": ("read",), **parameters})
    used = {"reads": reads, "read_bytes": read_bytes, "read_ns": 1, "busy_ns": 1}
    block = BlockDeviceUse(**{"writes": 0, "write_bytes": 0, "write_ns": 0, **used})
    samples = [
        make_sample(repeat=repeat, operation="read", ops=100, bytes=100 * MIB, block=block) for repeat in (1, 2, 3)
    ]
    notes = [note for note in analysed([case], samples).notes if "2 requests to the device" in note]
    assert bool(notes) is noted


def test_the_end_of_a_file_that_is_no_whole_record_is_noted_once_a_case() -> None:
    case = make_case(operations=("write", "read"), file_size=MIB + 10, record_size=65536)
    samples = [make_sample(repeat=repeat, operation=op) for op in ("write", "read") for repeat in (1, 2, 3)]
    (note,) = analysed([case], samples).notes
    assert "the last 10B of each file" in note and "64KiB" in note


def test_faster_than_the_device_is_noted() -> None:
    cases = (make_case("c0001"), make_case("c0002", cache="keep"))
    samples = [make_sample("c0001", n, 100e6) for n in (1, 2, 3)] + [make_sample("c0002", n, 900e6) for n in (1, 2, 3)]
    (note,) = analysed(cases, samples).notes
    assert "900 MB/s is 9 times the fastest direct result" in note


def test_a_drop_over_record_size_is_noted() -> None:
    speeds = {4096: 50e6, 65536: 200e6, MIB: 80e6}
    cases = tuple(make_case(f"c{size}", axes={"record_size": size}) for size in speeds)
    samples = [make_sample(f"c{size}", n, speed) for size, speed in speeds.items() for n in (1, 2, 3)]
    (note,) = analysed(cases, samples).notes
    assert "80 MB/s at 1MiB and 200 MB/s at 64KiB, 2.5× as much" in note


def test_many_notes_of_a_kind_are_counted() -> None:
    cases = tuple(make_case(f"c{number:04}") for number in range(20))
    samples = [make_sample(case.id, n, unstarted_ops=1) for case in cases for n in (1, 2, 3)]
    notes = analysed(cases, samples).notes
    assert len(notes) == 6 and "15 more" in notes[-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8 GiB", 8 << 30),
        ("8131416 KiB", 8131416 * 1024),
        ("not available: /proc is not mounted", None),
        ("", None),
    ],
)
def test_memory_of_the_host(text: str, expected: int | None) -> None:
    assert memory_bytes({"memory": {"total": text}}) == expected
    assert memory_bytes({}) is None


def test_work_and_memory_of_many_cases_are_those_of_each() -> None:
    """Ten thousand take seconds and 500 MB. Work is counted in calls, which no other process changes."""
    count = times(250, 10_000)
    text = hdr([int(90_000 * 1.008**number) for number in range(400)])
    latency = {"min": 90_000.0, "mean": 5e5, "p50": 4e5, "p90": 1e6, "p99": 1.5e6, "p99.9": 1.7e6, "max": 1.8e6}
    cases = tuple(
        make_case(f"c{number:05}", target, axes={"record_size": 4096 * (number + 1)})
        for target in ("disk", "memory")
        for number in range(count // 2)
    )
    cases = tuple(case.model_copy(update={"id": f"c{place:05}"}) for place, case in enumerate(cases))
    samples = [
        make_sample(case.id, repeat, 100e6 + repeat * 1e6, latency=latency, histogram=text)
        for case in cases
        for repeat in (1, 2, 3)
    ]
    run = make_run(places=(make_place(), MEMORY_PLACE))

    def looked_at(some: tuple[Case, ...]) -> RunAnalysis:
        known = {case.id for case in some}
        return analyse(run, some, (), [sample for sample in samples if sample.case in known], (), judge)

    # What is loaded and computed once is no case's share.
    looked_at(cases[:: count // 2])
    found = looked_at(cases)
    assert len(found.rows) == count and len(found.comparisons) == count // 2
    assert all(row.verdict is Verdict.OK for row in found.rows)
    some, more = cases[:: count // 50], cases[:: count // 250]
    few, many = calls_of(lambda: looked_at(some)), calls_of(lambda: looked_at(more))
    assert many < 1.1 * len(more) / len(some) * few
    assert many < MAX_CALLS * len(more)
    del found
    tracemalloc.start()
    part = analyse(run, cases[:200], (), samples[:600], (), judge)
    per_case = tracemalloc.get_traced_memory()[1] / len(part.rows)
    tracemalloc.stop()
    assert per_case * 10_000 < 500e6
