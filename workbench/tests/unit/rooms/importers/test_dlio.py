"""DLIO's summaries: rates of MLPerf Storage, in bytes and in samples."""

import json
from collections.abc import Iterator

import pytest
from imported_samples import FILE, check_damage, check_units, recognising, sample_names, sample_text

from assay.rooms.importers.work.results import ImportedResult, OutputError
from assay.rooms.importers.work.suites import dlio

SAMPLES = sample_names("mlperf-storage")
LOG = """[OUTPUT] 2025-05-01T10:00:00 Saved outputs in /results
[OUTPUT] 2025-05-01T10:00:00 Averaged metric over all steps/epochs
[METRIC] ==========================================================
[METRIC] Number of Simulated Accelerators: 8
[METRIC] Training Accelerator Utilization [AU] (%): 96.7593 (0.4038)
[METRIC] Training Throughput (samples/second): 20.9226 (0.0875)
[METRIC] Training I/O Throughput (MB/second): 2925.1717 (12.2271)
[METRIC] train_au_meet_expectation: success
[METRIC] Checkpoint save duration (seconds): 2.0000 (0.1000)
[METRIC] Checkpoint save I/O Throughput (GB/second): 4.5000 (0.2000)
[METRIC] ==========================================================
"""


def results_of(text: str) -> list[ImportedResult]:
    return [one for output in dlio.read(text, FILE) for one in output.results]


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers(one)
    elif isinstance(value, int | float):
        yield value


@pytest.mark.parametrize("name", SAMPLES)
def test_every_number_comes_back(name: str) -> None:
    text = sample_text("mlperf-storage", name)
    document = json.loads(text)
    wanted = {**document["metric"], **{one: document.get(one) for one in (*dlio._COUNTS, *dlio._SIZES)}}
    (result,) = results_of(text)
    assert sorted(float(one.text) for one in result.figures) == sorted(numbers(wanted))
    assert recognising(text) == "DLIO" and result.measured
    # What DLIO calls MB is 1024 x 1024 bytes.
    assert result.measured.throughput == pytest.approx(document["metric"]["train_io_mean_MB_per_second"] * 2**20)
    assert result.measured.iops == document["metric"]["train_throughput_mean_samples_per_second"]
    check_units([result])
    check_damage(dlio.read, text, name, 24)


def test_units_of_dlio_3_and_marks_of_deviations_do_not_matter() -> None:
    new = LOG.replace("MB/second", "MiB/second").replace("GB/second", "GiB/second").replace("(0.", "(±0.")
    assert [one.figures for one in results_of(new)] == [one.figures for one in results_of(LOG)]


def test_hosts_and_accelerators_are_lanes() -> None:
    (many,) = results_of(sample_text("mlperf-storage", "1.0-cosmoflow-16-hosts.json"))
    assert many.parameters == {"hosts": 16, "lanes": 4} and many.operation == "read"
    assert many.workload == "training (mean of 5 epochs)" and many.options == {"train_au_meet_expectation": "success"}
    (old,) = results_of(sample_text("mlperf-storage", "dlio-unet3d.json"))
    assert old.parameters == {"streams": 2}


def test_the_log_and_checkpoints_are_read() -> None:
    training, save = results_of(f"$ mpirun dlio_benchmark\n{LOG}done\n".replace("\n", "\r\n"))
    assert recognising(LOG) == "DLIO" and training.measured and save.measured
    assert training.measured.throughput == pytest.approx(2925.1717 * 2**20) and training.parameters == {"streams": 8}
    assert save.operation == "write" and save.measured.throughput == 4.5 * 2**30 and save.measured.iops is None
    check_units([training, save])
    check_damage(dlio.read, LOG, "log", 40)


def test_values_that_are_not_finite_are_no_figures() -> None:
    text = sample_text("mlperf-storage", "dlio-unet3d.json")
    rate = "1139.7296277439752"
    (result,) = results_of(text.replace(rate, "NaN"))
    assert rate in text and result.left_out == "no rate in bytes above 0 is printed"


@pytest.mark.parametrize(
    ("change", "message"),
    [(('"metric": {', '"metric": 5, "x": {'), "without `metric`"), (('"epochs": 4\n}', '"epochs": 4\n'), "not JSON")],
)
def test_damaged_summaries_are_refused(change: tuple[str, str], message: str) -> None:
    text = sample_text("mlperf-storage", "dlio-unet3d.json")
    assert change[0] in text
    with pytest.raises(OutputError) as error:
        dlio.read(text.replace(*change), FILE)
    assert message in error.value.message and error.value.hint
