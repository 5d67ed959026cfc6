"""Every figure that fio prints is in what is imported: digit by digit, in its unit."""

import json
from decimal import Decimal
from typing import Any

import pytest
from fio_samples import SAMPLES, document_of, read, results_of, text_of

from assay.analyse import histograms
from assay.model.result.percentile import PERCENTILES
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.results import ImportedResult, Measurement

LATENCIES = {"clat": 1000, "clat_ns": 1, "lat": 1000, "lat_ns": 1}


def numbers(part: dict[str, Any], before: str = "") -> dict[str, str]:
    """Every number of a job, by its place, but for bins and options."""
    found: dict[str, str] = {}
    for name, value in part.items():
        if isinstance(value, dict):
            found |= {} if name in ("bins", "job options") else numbers(value, f"{before}{name}.")
        elif not isinstance(value, str) or name not in ("jobname", "desc"):
            found[before + name] = value
    return found


def measured_of(result: ImportedResult) -> Measurement:
    assert result.measured is not None
    return result.measured


@pytest.mark.parametrize("name", SAMPLES)
def test_every_figure_comes_back_digit_by_digit(name: str) -> None:
    jobs = document_of(name)["jobs"]
    results = results_of(name)
    assert len(results) == len(jobs)
    for job, result in zip(jobs, results, strict=True):
        assert {figure.name: figure.text for figure in result.figures} == numbers(job)


@pytest.mark.parametrize("name", SAMPLES)
def test_rates_counts_and_times_are_those_of_fio(name: str) -> None:
    for job, result in zip(document_of(name)["jobs"], results_of(name, "random"), strict=True):
        if result.measured is None:
            continue
        parts = [job[key] for key in ("mixed", "read", "write") if int(job.get(key, {}).get("total_ios", 0))]
        measured = result.measured
        assert measured.ops == sum(int(part["total_ios"]) for part in parts)
        kib = [0 if "io_kbytes" in part else 1024 for part in parts]
        assert measured.bytes == sum(int(part["io_bytes"]) * (k or 1) for part, k in zip(parts, kib, strict=True))
        rates = [int(part["bw_bytes"]) if "bw_bytes" in part else int(part["bw"]) * 1024 for part in parts]
        assert measured.throughput == sum(rates)
        assert Decimal(measured.iops) == pytest.approx(sum(Decimal(part["iops"]) for part in parts))
        assert (measured.elapsed_ns or 0) == max(int(part["runtime"]) for part in parts) * 10**6


@pytest.mark.parametrize("name", SAMPLES)
def test_latencies_are_those_of_one_of_fios_times(name: str) -> None:
    for job, result in zip(document_of(name)["jobs"], results_of(name, "random"), strict=True):
        measured = result.measured
        if measured is None or not measured.latency or measured.kinds:
            continue
        part = next(job[key] for key in ("mixed", "read", "write") if int(job.get(key, {}).get("total_ios", 0)))
        key = next(key for key in (result.latency_of, f"{result.latency_of}_ns") if key in part)
        factor, times = LATENCIES[key], part[key]
        for one in ("min", "mean", "max"):
            assert measured.latency[one] == float(Decimal(times[one]) * factor)
        for percent, value in times.get("percentile", {}).items():
            for own, wanted in PERCENTILES.items():
                if float(percent) == wanted:
                    assert measured.latency[own] == int(value) * factor


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith("-plus")])
def test_bins_are_a_histogram_of_ours(name: str) -> None:
    (job,) = document_of(name)["jobs"]
    (result,) = results_of(name)
    measured = measured_of(result)
    assert measured.histogram is not None
    whole = histograms.decode(measured.histogram)
    assert whole.total == measured.ops
    counted = measured.kinds or ()
    for counts in counted:
        assert counts.histogram is not None and histograms.decode(counts.histogram).total == counts.ops
    for counts in counted or (measured,):
        part = job[getattr(counts, "kind", "read")]
        printed = part.get("clat_ns") or part["clat"]
        factor = 1 if "clat_ns" in part else 1000
        assert counts.histogram is not None
        own = histograms.summary(histograms.decode(counts.histogram))
        for percent, value in printed["percentile"].items():
            for key, wanted in PERCENTILES.items():
                if float(percent) == wanted and int(value):
                    assert own[key] == pytest.approx(int(value) * factor, rel=1e-3), key


def test_each_unit_has_a_factor_and_a_source() -> None:
    assert all(unit.factor > 0 and unit.source for unit in UNITS.values())
    for name in SAMPLES:
        for result in results_of(name):
            assert all(not figure.unit or figure.unit in UNITS for figure in result.figures)
    assert convert("475333", "KiB/s") == 475333 * 1024
    assert convert("1.37", "us") == 1370


def test_units_are_those_of_the_version() -> None:
    (old,), (new,) = results_of("2.2.10-randread"), results_of("3.33-read")
    units = {figure.name: figure.unit for figure in old.figures}
    assert (units["read.io_bytes"], units["read.clat.mean"], units["read.bw"]) == ("KiB", "us", "KiB/s")
    units = {figure.name: figure.unit for figure in new.figures}
    assert (units["read.io_bytes"], units["read.clat_ns.mean"], units["read.bw_bytes"]) == ("bytes", "ns", "B/s")
    assert (units["read.clat_ns.percentile.99.000000"], units["read.clat_ns.N"], units["read.iops"]) == (
        "ns",
        "",
        "1/s",
    )
    # From 2.21 on fio prints bytes, and the KiB beside them.
    (between,) = results_of("2.21-jobs-grouped")
    units = {figure.name: figure.unit for figure in between.figures}
    assert (units["write.io_bytes"], units["write.io_kbytes"], units["write.clat.max"]) == ("bytes", "KiB", "us")


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_read_is_what_was_written(name: str) -> None:
    """Lines are those of the jobs, and the head says version and date."""
    output, document = read(text_of(name)), document_of(name)
    assert output.file.version == name.split("-")[0] and output.file.date == document["time"]
    lines = text_of(name).splitlines()
    assert output.file.line == next(number for number, line in enumerate(lines, 1) if line.startswith("{"))
    for job, result in zip(document["jobs"], output.results, strict=True):
        assert result.line is not None and f'"jobname" : {json.dumps(job["jobname"])}' in lines[result.line - 1]
        assert set(result.options) == {*document.get("global options", {}), *job.get("job options", {})}
