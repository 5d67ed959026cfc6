"""Reports and exports of buckets and tables say nothing of files, flushes and caches that there are not."""

import pytest
from builders import make_analysis, make_ceiling, make_run
from report_parts import blocks_of, text_of
from service_rows import service_case, service_place, service_run, service_sample

from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.network import NetworkMeasurements, RttMeasurement
from assay.model.result.observations import ServiceCounts
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import KindCounts
from assay.report.build import build_document
from assay.report.document import Document, Table
from assay.report.tables import results_table

LATENCY = {"p50": 2e6, "p99": 8e6, "max": 9e6}
FILE_WORDS = ("flush", "page cache", "O_DIRECT", "kernel", "Devices are", "copy in memory", "iperf3")


def both() -> RunAnalysis:
    return service_run(service_case(1, "bucket"), service_case(2, "table"))


def tables(document: Document, name: str) -> list[Table]:
    return [block for block in blocks_of(document) if isinstance(block, Table) and block.id == name]


def test_options_have_the_columns_that_a_target_fills() -> None:
    (table,) = tables(build_document(both()), "options-table")
    assert [column.title for column in table.columns] == ["Target", "Kind", "Path", "Notes"]
    (files,) = tables(build_document(make_analysis()), "options-table")
    names = [column.title for column in files.columns]
    assert {"Storage", "Free", "Stored in memory", "O_DIRECT bypasses the cache"} <= set(names)
    assert "Notes" not in names


def test_no_sentence_speaks_of_what_only_files_have() -> None:
    analysis = both()
    ceilings = (make_ceiling("engine", 1e6, target="", kind="put lanes=1 depth=1", lowest=9e5),)
    rtt = RttMeasurement(client="c", server="s", method="icmp", min=1e-3, median=1e-3, max=1e-3, sent=5, received=5)
    network = NetworkMeasurements(
        started_at=1.8e9, seconds=3.0, time=2.0, streams=(1,), hosts=(), links=(), paths=(), rtts=(rtt,), mtus=()
    )
    run = analysis.run.model_copy(update={"ceilings": ceilings, "network": network})
    document = build_document(analysis.model_copy(update={"run": run}))
    told = text_of(document)
    assert [word for word in FILE_WORDS if word in told] == []
    assert "Measured before the cases: round trips with ping." in told
    assert "A result close to the engine says little about the storage." in told
    assert "How operations reached the servers" in told


def test_a_study_of_files_is_told_of_its_flush() -> None:
    told = text_of(build_document(make_analysis()))
    for word in ("Writes are timed up to and including the flush", "reached the kernel"):
        assert word in told


@pytest.mark.parametrize("operations", [("put", "get"), ("object_mix",), ("delete",)])
def test_exports_leave_out_what_no_operation_of_the_case_uses(operations: tuple[str, ...]) -> None:
    case = service_case(1, "bucket", operations, mix="get:70, put:30")
    for record in results_table(service_run(case)).records:
        assert (record["mix"] != "") is (operations == ("object_mix",))
        assert (record["access"] != "") is (operations != ("delete",))
        assert (record["verify"] is not None) is (operations != ("delete",))
        assert (record["object_size"], record["objects"], record["lanes"]) == ("4KiB", 64, 1)
        text = [record[name] for name in ("cache", "sync", "layout", "method_asked", "arrivals")]
        rest = [record[name] for name in ("file_size_bytes", "read_percent", "stride_records", "depth", "width")]
        assert (text, rest, record["preallocate"]) == ([""] * 5, [None] * 5, None)


def test_exports_of_files_have_what_their_operations_use() -> None:
    for record in results_table(make_analysis()).records:
        assert (record["cache"], record["sync"], record["layout"]) == ("direct", "fsync", "separate")
        unused = [record[name] for name in ("read_percent", "stride_records", "mix", "access")]
        assert unused == [None, None, "", ""]
        assert record["preallocate"] is False


def seen_run(stale: int) -> RunAnalysis:
    """An object of 64 is looked for until it is seen, three times."""
    case = service_case(1, "bucket", ("read_after_put",))
    kinds = (KindCounts(kind="put", ops=64, bytes=262144), KindCounts(kind="see", ops=64, latency=LATENCY))
    told = ServiceCounts(looks=64 + stale, stale_looks=stale)
    samples = [service_sample(case, repeat, 0, kinds=kinds, ops=128, service=told) for repeat in (1, 2, 3)]
    return analyse(make_run(places=(service_place("bucket"),)), (case,), (), samples, (), judge)


def test_what_other_clients_see_has_a_table_and_stale_looks_a_note() -> None:
    document = build_document(seen_run(stale=16))
    (table,) = tables(document, "seen-table")
    assert [column.title for column in table.columns][4:] == [
        *("Seen", "Seen after p50", "Seen after p99", "Seen after max", "Looks", "Stale looks", "Stale")
    ]
    ((*_, seen, p50, p99, longest, looks, stale, share),) = table.rows
    assert [cell.value for cell in (seen, looks, stale, share)] == [192, 240, 48, 20]
    assert (p50.value, p99.text, longest.value) == (2e6, "too few", 9e6)
    assert tables(document, "services-table") == [], "it tells nothing else"
    note = "48 of 240 checks by another client did not see a completed put"
    assert any(note in text for text in seen_run(stale=16).notes)
    assert not any("checks by another client" in text for text in seen_run(stale=0).notes)
    assert tables(build_document(both()), "seen-table") == []
