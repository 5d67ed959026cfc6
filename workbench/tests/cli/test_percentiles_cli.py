"""What is printed of percentiles: never a number without what it is worth, and none of too few operations."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import MS, hdr, make_case, make_meta, make_place, make_sample
from report_parts import tables_of
from run_tools import assay
from stored_runs import DAY, STARTED, store_run

from assay.analyse import histograms
from assay.model.result.sample import HostShare
from assay.report.build import build_document
from assay.report.document import Document, Num
from assay.report.html import render_html
from assay.rooms.advice.commands.evidence import _p99
from assay.run.analysis import load_analysis
from assay.store import RunStore

SEEN = (1.8, 6.8, 4.4, 4.5, 113.6)
"""p99 of five repeats in milliseconds, whose rates were alike."""
EVEN = (4.4, 4.6, 4.5, 4.7, 4.3)


def latencies(p99_ms: float, ops: int) -> list[int]:
    """Most take 1 ms, the slowest of fifty as long as that."""
    slow = ops // 50
    return [MS] * (ops - slow) + [int(p99_ms * MS)] * slow


def store_tails(root: Path, name: str, tails: dict[str, Sequence[float]], ops: int = 2000, **fields: Any) -> Path:
    """A finished run of reads on some targets: target -> p99 of each repeat in milliseconds.

    Args:
        root: Folder of the runs.
        name: Id of the run.
        tails: What was measured.
        ops: Operations of each repeat.
        fields: `created_at` of the run; others are those of its samples.
    """
    cases = [make_case(f"c{number:04}", target) for number, target in enumerate(tails, start=1)]
    repeats = len(next(iter(tails.values())))
    created = fields.pop("created_at", STARTED)
    places = tuple(make_place(target) for target in tails)
    meta = make_meta(id=name, study="nightly", created_at=created, repeats=repeats, places=places)
    order = [(case.id, repeat) for repeat in range(1, repeats + 1) for case in cases]
    with RunStore.create(root, meta, cases, (), order, "study: nightly\n") as store:
        for case_id, repeat in order:
            case = next(case for case in cases if case.id == case_id)
            values = latencies(tails[case.target][repeat - 1], ops)
            text = hdr(values)
            tail = histograms.summary(histograms.decode(text))
            latency = {"min": float(min(values)), "mean": float(np.mean(values)), **tail, "max": float(max(values))}
            sample = make_sample(
                case.id, repeat, 100e6 + repeat * 1e6, ops=ops, latency=latency, histogram=text, **fields
            )
            store.finish_repeat(store.begin_attempt(case.id, repeat, {}), "ok", 0.1, "", "", [sample])
        store.set_status("complete")
        return store.folder


def document(folder: Path, name: str = "a") -> Document:
    return build_document(load_analysis(name, folder / "assay-runs"))


def cells(of: Document, name: str, title: str) -> list[str]:
    """The texts of a column of a table."""
    found = tables_of(of)[name]
    place = [column.title for column in found.columns].index(title)
    return [cell.text if isinstance(cell := row[place], Num) else str(cell) for row in found.rows]


def test_a_tail_that_repeats_do_not_agree_on_stands_with_a_remark_beside_ok(tmp_path: Path) -> None:
    store_tails(tmp_path / "assay-runs", "a", {"disk": SEEN, "ssd": EVEN})
    text = assay(tmp_path, "show", "a", "c0001").stdout
    assert "read: ok" in text
    (line,) = [line for line in text.splitlines() if line.startswith("p99 of read: ")]
    assert line.startswith("p99 of read: 4.50 ms (") and line.endswith(
        " uncertain: p99 of the 5 repeats: 1.80 ms to 114 ms"
    )
    assert "p50 of read: 1.00 ms (1.00 ms to 1.00 ms)\n" in text
    assert "p99.9 of read: 114 ms, no interval: of all repeats together, because one has 2,000 operations" in text
    assert "p99.99 of read: too few operations: 10,000 in all repeats, p99.99 takes 100,000" in text
    page = document(tmp_path)
    assert cells(page, "results-table", "p99") == ["4,500*", "4,500"]
    assert cells(page, "results-table", "p50") == ["1,000", "1,000"]
    assert "4,500*" in render_html(page)


def test_nothing_is_printed_of_five_operations(tmp_path: Path) -> None:
    store_tails(tmp_path / "assay-runs", "a", {"disk": SEEN}, ops=5)
    text = assay(tmp_path, "show", "a", "c0001").stdout
    lines = [line for line in text.splitlines() if " done " in line]
    assert [line.count("too few") for line in lines] == [3] * 5
    assert "p90, p99, p99.9, p99.99 of read: too few operations: 25 in all repeats, p90 takes 100" in text
    shown = json.loads(assay(tmp_path, "show", "a", "c0001", "--json").stdout)["rows"][0]
    assert shown["samples"][0]["latency"].keys() == {"min", "mean", "max"}
    assert shown["latency"].keys() == {"min", "mean", "p50", "max"}, "all repeats together have 25"
    assert [item["quality"] for item in shown["percentiles"]] == ["no interval"] + ["too few operations"] * 4
    page = document(tmp_path)
    assert cells(page, "results-table", "p50") == ["1,000*"]
    assert cells(page, "results-table", "p99") == ["too few"]


def exported(folder: Path, name: str) -> list[dict[str, str]]:
    words = ("export", "a", "--format", "csv", "--table", name, "--output", "-")
    return list(csv.DictReader(io.StringIO(assay(folder, *words).stdout)))


def test_exports_have_empty_cells_with_reason_and_count(tmp_path: Path) -> None:
    store_tails(tmp_path / "assay-runs", "a", {"disk": SEEN}, ops=900)
    (row,) = exported(tmp_path, "results")
    assert float(row["latency_p90_ns"]) > 0 and row["latency_p90_quality"] == "known"
    assert row["latency_p99_median_ns"] == row["latency_p99_low_ns"] == row["latency_p99_high_ns"] == ""
    assert (row["latency_p99_quality"], row["latency_ops_min"], row["latency_ops"]) == ("no interval", "900", "4500")
    assert float(row["latency_p99_ns"]) > 0, "all repeats together have enough"
    assert (row["latency_p99_9_ns"], row["latency_p99_9_quality"]) == ("", "too few operations")
    samples = exported(tmp_path, "samples")
    assert {sample["latency_p99_ns"] for sample in samples} == {""} and all(
        sample["latency_p90_ns"] for sample in samples
    )
    assert {sample["ops"] for sample in samples} == {"900"}


def shaky(factor: float, seed: int) -> list[float]:
    return (factor * np.exp(np.random.default_rng(seed).normal(0, 0.05, 8))).tolist()


def test_targets_of_a_run_are_compared_by_p50_and_p99(tmp_path: Path) -> None:
    store_tails(tmp_path / "assay-runs", "a", {"disk": shaky(4, 1), "ssd": shaky(8, 2)})
    text = assay(tmp_path, "compare", "a", "--by", "target").stdout
    assert "1 row: 0 faster, 0 slower, 1 without a significant difference (~)" in text
    assert "p50 of latency: 0 shorter, 0 longer, 1 without a significant difference\n" in text
    assert "p99 of latency: 0 shorter, 1 longer, 0 without a significant difference\n" in text
    (line,) = [line for line in text.splitlines() if line.startswith("  disk -> ssd / grid")]
    assert " ms -> " in line and ", +" in line and line.endswith(", p 0.003")
    (row,) = json.loads(assay(tmp_path, "compare", "a", "--by", "target", "--json").stdout)["rows"]
    assert (row["significant"], row["p50"]["significant"], row["p99"]["significant"]) == (False, False, True)
    assert row["p99"]["difference"] == pytest.approx(1, abs=0.2)
    assert row["before"]["p99_low_ns"] < row["before"]["p99_ns"] < row["before"]["p99_high_ns"] < 5 * MS
    assert row["before"]["p99_quality"] == "known"
    page = document(tmp_path)
    (half,), (tail,) = (cells(page, "comparison-table", name) for name in ("p50", "p99"))
    assert not half.endswith("*") and tail.endswith("*") and "× higher (" in tail
    assay(tmp_path, "compare", "a", "--by", "target", "--output", "page.html")
    assert "longer" in (tmp_path / "page.html").read_text()


def test_what_has_too_few_operations_is_not_compared_and_said(tmp_path: Path) -> None:
    store_tails(tmp_path / "assay-runs", "a", {"disk": shaky(4, 1), "ssd": shaky(8, 2)}, ops=999)
    text = assay(tmp_path, "compare", "a", "--by", "target").stdout
    assert "p50 of latency: 0 shorter" in text and "p99 of latency: too few operations in 1 row\n" in text
    (row,) = json.loads(assay(tmp_path, "compare", "a", "--by", "target", "--json").stdout)["rows"]
    assert row["p99"] is None and row["before"]["p99_quality"] == "no interval"


def test_latencies_of_runs_are_compared_from_three_runs_a_side(tmp_path: Path) -> None:
    root = tmp_path / "assay-runs"
    for number in range(3):
        store_tails(root, f"a{number}", {"disk": shaky(4, number)}, created_at=STARTED + number * DAY)
        store_tails(root, f"b{number}", {"disk": shaky(9, 9 + number)}, created_at=STARTED + (9 + number) * DAY)
    text = assay(tmp_path, "compare", "a0,a1,a2", "b0,b1,b2").stdout
    assert "p99 of latency: 0 shorter, 1 longer, 0 without a significant difference\n" in text
    text = assay(tmp_path, "compare", "a0", "b0").stdout
    assert (
        "p99 of latency: 0 shorter, 0 longer, 1 without a significant difference; fewer than 3 runs on a side" in text
    )


def test_runs_without_latencies_say_nothing_of_them(tmp_path: Path) -> None:
    store_run(tmp_path / "assay-runs", "a", {("disk", "read"): [1e8] * 4, ("ssd", "read"): [1e8] * 4})
    assert "of latency" not in assay(tmp_path, "compare", "a", "--by", "target").stdout


def test_advice_takes_the_interval_of_a_p99_and_none_of_too_few_operations(tmp_path: Path) -> None:
    root = tmp_path / "assay-runs"
    store_tails(root, "a", {"disk": EVEN})
    store_tails(root, "b", {"disk": EVEN}, ops=100)
    known, few = (_p99(load_analysis(name, root).rows[0]) for name in "ab")
    assert known is not None and known.low < known.value < known.high
    assert known.value == pytest.approx(4.5e-3, rel=1e-2) and few is None


@pytest.mark.parametrize(("ops", "shown"), [(2000, True), (999, False)])
def test_a_host_with_few_operations_has_no_p99(tmp_path: Path, ops: int, shown: bool) -> None:
    shares = tuple(
        HostShare(host=name, status="done", ops=count, elapsed_ns=1, latency={"p50": 1e3, "p99": 5e3})
        for name, count in (("h1", ops), ("h2", 5))
    )
    store_tails(tmp_path / "assay-runs", "a", {"disk": EVEN}, hosts=shares)
    lines = assay(tmp_path, "show", "a", "c0001").stdout.splitlines()
    first, second = (next(line for line in lines if f" {name} " in line) for name in ("h1", "h2"))
    assert "1.00" in first.split() and ("5.00" in first.split()) is shown
    assert "1.00" not in second.split() and "5.00" not in second.split()
