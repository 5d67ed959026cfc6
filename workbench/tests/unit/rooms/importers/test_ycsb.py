"""YCSB: every number comes back, a run and the operations of its mix are transactions."""

import json
import re
from decimal import Decimal

import pytest
from imported_samples import FILE, check_damage, check_units, recognising, sample_names, sample_text

from assay.rooms.importers.work.databases import ycsb
from assay.rooms.importers.work.results import ImportedResult, OutputError

SAMPLES = sample_names("ycsb")


def results_of(name: str) -> list[ImportedResult]:
    return [one for output in ycsb.read(sample_text("ycsb", name), FILE) for one in output.results]


def named(name: str, result: str) -> ImportedResult:
    return next(one for one in results_of(name) if one.name == result)


def printed(text: str) -> list[str]:
    """All numbers that are printed, but bars of 0."""
    if '"metric"' in text:
        found = re.findall(r'"measurement" : "([^"]*)",\s*"value" : (\S+)', text)
    else:
        found = re.findall(r"^\[[^\]]*\], (.*), (\S+)$", text, re.M)
    return [value for key, value in found if not re.fullmatch(">?[0-9]+", key) or Decimal(value) if "Below" not in key]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_printed_number_comes_back(name: str) -> None:
    text, results = sample_text("ycsb", name), results_of(name)
    assert sorted(one.text for result in results for one in result.figures) == sorted(printed(text))
    assert recognising(text) == "YCSB"
    check_units(results)
    assert ycsb.read(text.replace("\n", "\r\n"), FILE) and all(
        one.operation in ("transaction", None) for one in results
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_no_damage_raises_anything_else(name: str) -> None:
    check_damage(ycsb.read, sample_text("ycsb", name), name, 12)


def test_a_run_has_its_rate_and_each_operation_of_a_mix_its_own() -> None:
    overall, read, update = results_of("0.17.0-mongodb.txt")
    assert overall.measured and overall.measured.iops == 28246.19382538203 and overall.measured.ops == 5_000_000
    assert overall.measured.elapsed_ns == 177_015_000_000 and not overall.measured.latency
    assert read.measured and read.measured.iops == pytest.approx(2498425 / 177.015)
    assert update.measured and update.measured.latency["p99"] == 294_000
    assert (read.target, read.workload, read.parameters) == (
        "MongoDbClient", "workloada run: READ", {"hosts": 1, "lanes": 8},
    )  # fmt: skip
    assert read.options["fieldcount"] == "64" and read.latency_of == "latency of READ"


def test_the_only_operation_of_a_run_is_the_run() -> None:
    (one,) = results_of("0.17.0-load-a.txt")
    assert one.workload == "workloada load" and one.measured and one.measured.latency["mean"] == 609_974


def test_percentiles_of_bars_are_only_figures() -> None:
    scan = named("0.17.0-run-e-histogram.txt", "SCAN")
    assert scan.measured and set(scan.measured.latency) == {"mean", "min", "max"}
    assert any(one.name == "99thPercentileLatency(us)" and one.unit == "us" for one in scan.figures)
    old = named("0.1.4-run-a.txt", "READ")
    assert [(one.text, one.unit) for one in old.figures if "95th" in one.name] == [("12", "ms")]
    assert [one.unit for one in named("0.17.0-run-a-timeseries.txt", "READ").figures][-1] == "us"


def test_failures_are_errors_of_the_operation_and_of_the_run() -> None:
    overall, read, update = results_of("0.17.0-run-a-failed.txt")
    for one in (overall, read):
        assert one.measured and [tally.count for tally in one.measured.errors] == [64]
    assert update.measured and not update.measured.errors and read.measured and read.measured.ops == 458
    # Before version 0.4, Operations has those that failed, too.
    text = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n[READ], Operations, 100\n"
    (old,) = ycsb.read(text + "[READ], Return=0, 90\n[READ], Return=-1, 10\n", FILE)[0].results
    assert old.measured and old.measured.ops == 100 and old.measured.errors[0].count == 10


def test_outputs_in_one_file_are_told_apart() -> None:
    load, run = ycsb.read(sample_text("ycsb", "0.12.0-load-and-run-a.txt"), FILE)
    assert [one.results[0].workload for one in (load, run)] == ["oldworkloada load", "oldworkloada run"]
    bare = re.sub("(?m)^Command line.*$", "", sample_text("ycsb", "0.12.0-load-and-run-a.txt"))
    assert [one.results[0].workload for one in ycsb.read(bare, FILE)] == ["INSERT", "READ+UPDATE"]


def test_latencies_from_when_they_were_due_are_left_out() -> None:
    left = {one.name: one.left_out for one in results_of("0.17.0-run-d-both.txt") if one.left_out}
    assert "Intended-READ" in left and "due" in left["Intended-READ"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Throughput(ops/sec), 3046", "Throughput(ops/sec), many"), "no number"),
        (("[READ], Operations, 2014", "[READ], Operations, -2014000"), ""),
        (("[READ], MinLatency(us)", "[READ], MaxLatency(us)"), "printed twice"),
        (("RunTime(ms), 1313", "RunTime(ms), 13130000000000000"), "time of a run"),
        (("[READ], Operations, 2014", "[READ], Operations, " + "9" * 30), "no number"),
        (("[READ], Operations, 2014", "[READ], Operations"), "no number of YCSB"),
    ],
)
def test_damaged_outputs_are_refused(change: tuple[str, str], message: str) -> None:
    text = sample_text("ycsb", "0.17.0-run-a.txt")
    assert change[0] in text
    with pytest.raises(OutputError) as error:
        ycsb.read(text.replace(*change), FILE)
    assert message in error.value.message and error.value.hint


def test_passwords_are_not_kept() -> None:
    text = sample_text("ycsb", "0.17.0-run-a.txt").replace(" -P workloada", " -P workloada -p db.passwd=hush")
    assert "hush" not in json.dumps([one.model_dump(mode="json") for one in ycsb.read(text, FILE)])


def test_ends_without_a_name_are_no_errors() -> None:
    text = sample_text("ycsb", "0.17.0-run-a.txt")
    assert "Return=OK" in text
    for result in ycsb.read(text.replace("Return=OK", "Return="), FILE)[0].results:
        assert result.measured is None or (result.measured.status == "done" and not result.measured.errors)
