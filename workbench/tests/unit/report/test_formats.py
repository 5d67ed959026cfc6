"""Formats that others define are read by others: each number is the run's, and no name can break a file."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from builders import make_analysis, make_ceiling
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.histograms import decode, moments
from assay.analyse.runs import Gate, LostRow, UnjudgedRow
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.result.comparison import RunLabel, RunsComparison
from assay.model.result.result import RunAnalysis
from assay.report.formats.fio import fio_document, fio_text, left_out_count
from assay.report.formats.junit import junit_text
from assay.report.formats.openmetrics import openmetrics_text

KEYS = Path(__file__).parents[2] / "golden" / "fio-3.33-keys.txt"
UNMEASURED = {"slat_ns", "bw_min", "bw_max", "bw_agg", "bw_mean", "bw_dev", "bw_samples", "drop_ios"} | {
    f"iops_{name}" for name in ("min", "max", "mean", "stddev", "samples")
}
"""Of a direction what Assay does not measure."""


def test_both_parsers_of_prometheus_read_the_metrics() -> None:
    from_openmetrics = pytest.importorskip("prometheus_client.openmetrics.parser")
    from_text = pytest.importorskip("prometheus_client.parser")
    analysis = make_analysis(ceilings=(make_ceiling("device read", 250e6),))
    text = openmetrics_text(analysis)
    row = analysis.rows[1]
    assert row.throughput is not None
    for parser in (from_openmetrics, from_text):
        families = {family.name: family for family in parser.text_string_to_metric_families(text)}
        found = {
            sample.labels["estimate"]: sample.value
            for sample in families["assay_throughput_bytes_per_second"].samples
            if (sample.labels["target"], sample.labels["operation"]) == ("disk", "read")
        }
        assert found == {"median": row.throughput.median, "low": row.throughput.low, "high": row.throughput.high}
        shares = families["assay_ceiling_share_ratio"].samples
        assert {sample.labels["ceiling"] for sample in shares} == {"device read"}
        seconds = {
            sample.labels["quantity"]: sample.value
            for sample in families["assay_latency_seconds"].samples
            if (sample.labels["target"], sample.labels["operation"]) == ("disk", "read")
        }
        assert seconds == {name: pytest.approx(value / 1e9) for name, value in row.latency.items()}
        assert all(sample.timestamp is None for family in families.values() for sample in family.samples)


@given(st.text(min_size=1))
def test_no_name_breaks_the_metrics(name: str) -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    analysis = make_analysis(study=name)
    samples = [
        sample
        for family in parser.text_string_to_metric_families(openmetrics_text(analysis))
        for sample in family.samples
    ]
    assert samples and {sample.labels["study"] for sample in samples} == {escape_line(name)}


def test_metrics_end_as_the_format_asks_and_units_end_names() -> None:
    lines = openmetrics_text(make_analysis()).splitlines()
    assert lines[-1] == "# EOF" and lines.count("# EOF") == 1
    for line in lines:
        if line.startswith("# UNIT "):
            _, _, name, unit = line.split()
            assert name.endswith(f"_{unit}")


def paths(value: Any, before: str = "") -> set[str]:
    """Paths of all keys, as the golden list has them."""
    if isinstance(value, dict):
        return {path for key, item in value.items() for path in paths(item, f"{before}/{key}" if before else key)}
    if isinstance(value, list):
        return {path for item in value for path in paths(item, f"{before}/[]")}
    return {before}


def test_every_key_is_one_of_fio() -> None:
    """The list was made of a run of fio 3.33."""
    known = set(KEYS.read_text().split("\n"))
    options = {"jobs/[]/job options/iodepth", "jobs/[]/job options/numjobs"}
    assert paths(fio_document(make_analysis())) - known - options == set()


def test_of_fios_directions_only_what_is_not_measured_is_missing() -> None:
    known = {line.split("/")[3] for line in KEYS.read_text().split("\n") if line.startswith("jobs/[]/read/")}
    for job in fio_document(make_analysis())["jobs"]:
        for direction in ("read", "write"):
            assert known - set(job[direction]) == UNMEASURED


def test_fios_jobs_hold_the_repeats() -> None:
    analysis = make_analysis()
    document = json.loads(fio_text(analysis))
    samples = [(row, sample) for row in analysis.rows for sample in row.samples]
    assert len(document["jobs"]) == len(samples)
    for job, (row, sample) in zip(document["jobs"], samples, strict=True):
        way, other = ("read", "write") if row.operation == "read" else ("write", "read")
        assert job["jobname"].endswith(f".{row.operation}.{sample.repeat}")
        assert (job["error"] == 0) == (sample.status == "done" and not sample.errors)
        assert job[other]["io_bytes"] == job[other]["total_ios"] == job[other]["clat_ns"]["N"] == 0
        assert (job[way]["io_bytes"], job[way]["total_ios"]) == (sample.bytes, sample.ops)
        assert job[way]["bw_bytes"] == pytest.approx(sample.bytes / sample.elapsed_ns * 1e9, abs=1)
        assert job[way]["bw"] == job[way]["bw_bytes"] // 1024
        assert job[way]["runtime"] == round(sample.elapsed_ns / 1e6)


def test_moments_are_those_of_what_was_recorded() -> None:
    text = make_analysis().rows[1].samples[0].histogram
    assert text is not None
    mean, deviation = moments(decode(text))
    assert mean == pytest.approx(2000, rel=1e-3) and deviation == pytest.approx(500000**0.5, rel=1e-3)


def test_fio_has_no_place_for_operations_that_move_no_data() -> None:
    analysis = make_analysis()
    rows = tuple(row.model_copy(update={"samples": ()}) for row in analysis.rows)
    idle = analysis.model_copy(update={"rows": rows})
    assert (left_out_count(analysis), left_out_count(idle)) == (0, len(rows))
    with pytest.raises(AssayError, match="no operation that moves data"):
        fio_document(idle)


def comparison(analysis: RunAnalysis) -> RunsComparison:
    name = RunLabel.of(analysis.run)
    return RunsComparison(before=name, after=name, rows=(), uncompared=(), differences=())


@given(st.text(), st.text())
def test_no_name_breaks_the_xml(name: str, why: str) -> None:
    found = comparison(make_analysis())
    result = Gate((), (LostRow(name, why),), ())
    root = ElementTree.fromstring(junit_text(found, result, (), (UnjudgedRow(f"{name} too", why),), 0.05))
    broken, skipped = root.iter("testcase")
    failure, reason = broken.find("failure"), skipped.find("skipped")
    assert failure is not None and reason is not None
    assert broken.get("name") == (escape_line(name, 2000) or "the check")
    assert failure.get("message") == reason.get("message") == escape_line(why, 2000)
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("2", "1", "1")
