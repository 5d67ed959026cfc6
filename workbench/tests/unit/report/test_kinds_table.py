"""Reads and writes of a mix, each with its own rate and latencies, in tables."""

import pytest
from builders import make_case, make_run, make_sample
from report_parts import tables_of

from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import KindCounts
from assay.report.build import build_document
from assay.report.document import Table
from assay.report.kinds_table import KIND_COLUMNS, kind_rates, kinds_table

MS = 1_000_000


def mixed(repeat: int, reads: int = 700, writes: int = 300) -> tuple[KindCounts, ...]:
    """Records of 4 KiB; the reads of the first repeat took a millisecond, of the second two, and so on."""
    slow = {"p50": float(repeat * MS), "p99": float(5 * MS)}
    return (
        KindCounts(kind="read", ops=reads, bytes=reads * 4096, latency=slow, histogram="r"),
        KindCounts(kind="write", ops=writes, bytes=writes * 4096, latency={"p50": 10.0, "p99": 20.0}, histogram="w"),
        KindCounts(kind="sync", errors=1),
    )


def analysis(operation: str = "random_mix") -> RunAnalysis:
    case = make_case("c0001", "disk", (operation,))
    samples = [
        make_sample("c0001", repeat, operation=operation, elapsed_ns=10**9, kinds=mixed(repeat)) for repeat in (1, 2, 3)
    ]
    return analyse(make_run(), (case,), (), samples, (), judge)


def test_each_kind_has_a_line_with_its_own_rate() -> None:
    records = kinds_table(analysis()).records
    assert [(record["repeat"], record["kind"]) for record in records[:3]] == [(1, "read"), (1, "write"), (1, "sync")]
    reads, writes, flushes = records[:3]
    assert (reads["ops"], reads["per_s"], reads["throughput_bytes_per_s"]) == (700, 700.0, 700 * 4096)
    assert (writes["latency_p50_ns"], reads["latency_p50_ns"]) == (10.0, MS)
    assert reads["latency_p99_ns"] is None, "700 operations are too few"
    assert (flushes["failed_ops"], flushes["throughput_bytes_per_s"], flushes["latency_p50_ns"]) == (1, None, None)
    assert set(reads) == {column.name for column in KIND_COLUMNS} and reads["first_byte_p50_ns"] is None


def test_a_phase_without_time_or_kinds_has_no_rates() -> None:
    (rate, *_) = kind_rates(make_sample(elapsed_ns=0, kinds=mixed(1)))
    assert (rate.iops, rate.throughput) == (0.0, None)
    assert kind_rates(make_sample(kinds=())) == ()


def tables(found: RunAnalysis) -> dict[str, Table]:
    return tables_of(build_document(found))


def test_the_report_has_the_kinds_of_a_mix_as_medians_over_repeats() -> None:
    table = tables(analysis())["mixes-table"]
    reads, writes = table.rows
    assert [str(row[4]) for row in (reads, writes)] == ["read", "write"]
    values = [[getattr(cell, "value", None) for cell in row[5:]] for row in (reads, writes)]
    assert values == [[700 * 4096.0, 700.0, 2.0 * MS, None], [300 * 4096.0, 300.0, 10.0, None]]


def test_a_repeat_without_a_kind_counts_with_none_of_it() -> None:
    case = make_case("c0001", "disk", ("random_mix",))
    shares = [mixed(1, 64, 0)[:1], mixed(2, 60, 4), mixed(3, 62, 2)]
    samples = [
        make_sample("c0001", repeat, operation="random_mix", elapsed_ns=10**9, kinds=kinds)
        for repeat, kinds in enumerate(shares, start=1)
    ]
    reads, writes = tables(analyse(make_run(), (case,), (), samples, (), judge))["mixes-table"].rows
    assert [getattr(row[6], "value", None) for row in (reads, writes)] == [62.0, 2.0]
    assert getattr(writes[5], "value", None) == 2 * 4096.0


@pytest.mark.parametrize("kinds", [(), (KindCounts(kind="read", ops=9),)])
def test_without_a_mix_there_is_no_such_table(kinds: tuple[KindCounts, ...]) -> None:
    case = make_case("c0001", "disk", ("read",))
    found = analyse(make_run(), (case,), (), [make_sample(kinds=kinds, operation="read")], (), judge)
    assert "mixes-table" not in tables(found)


def test_the_time_to_the_first_byte_is_shown_where_it_is_told() -> None:
    first = {"p50": float(2 * MS), "p99": float(4 * MS)}
    gets = KindCounts(kind="get", ops=2000, bytes=2000 * 4096, latency={"p50": 3.0 * MS}, first_byte=first)
    samples = [
        make_sample("c0001", repeat, operation="get", elapsed_ns=10**9, kinds=(gets,), ops=2000) for repeat in (1, 2, 3)
    ]
    run = analyse(make_run(), (make_case("c0001", "disk", ("get",)),), (), samples, (), judge)
    table = tables(run)["mixes-table"]
    assert [column.title for column in table.columns][-2:] == ["First byte p50", "First byte p99"]
    assert [getattr(cell, "value", None) for cell in table.rows[0][-2:]] == [2.0 * MS, 4.0 * MS]
    assert "First byte" not in str([column.title for column in tables(analysis())["mixes-table"].columns])
