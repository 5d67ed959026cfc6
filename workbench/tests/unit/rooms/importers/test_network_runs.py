"""Runs of network tools: reports do not speak of storage, and show the times of round trips."""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from network_samples import FOLDER, results_of, sample, text_of

from assay.analyse.compare import unknown_parameters
from assay.model.result.result import RunAnalysis
from assay.report.build import build_document
from assay.report.html import render_html
from assay.report.measure import mean_time
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.runs import make_run
from assay.run.analysis import analyse_store
from assay.store import RunStore


@cache
def page(*names: str) -> tuple[RunAnalysis, str]:
    """The analysis and the report of a run that is imported from samples, as text without marks."""
    with TemporaryDirectory() as root:
        outputs = [output for name in names for output in read_outputs(str(FOLDER / name))]
        with RunStore.open(make_run(outputs, Path(root), "net", "assay import")) as store:
            analysis = analyse_store(store)
            html = render_html(build_document(analysis))
    return analysis, re.sub(r"<(style|script).*?</\1>|<[^>]+>", " ", html, flags=re.S)


NETWORK = ("iperf/2.0.9-parallel.txt", "iperf3/3.12-bidir.json")
TRIPS = ("ping/busybox-1.35.0.txt", "sockperf/3.7-ping-pong.txt")


def test_a_report_of_transfers_does_not_speak_of_storage() -> None:
    _, text = page(*NETWORK)
    assert "Assay report" in text and "storage report" not in text
    assert "machine and storage can do" not in text
    assert not re.search(r"Operations\s+1/s", text) and not re.search(r"\bp50\b\s+µs", text)


def test_a_mixed_report_has_columns_of_each_kind() -> None:
    _, text = page(*NETWORK, "fio/3.33-randread-plus.json")
    assert re.search(r"Operations\s+1/s", text) and re.search(r"\bp50\b\s+µs", text)
    assert "machines and storage can do" in text and "have no operation in common" in text


def test_mean_times_of_round_trips_are_shown() -> None:
    analysis, text = page(*TRIPS)
    times = [mean_time(row) for row in analysis.rows]
    assert times == [2_900_000, 24_368]
    assert re.search(r"Mean\s+µs", text) and "mean 24.4 µs to 2.9 ms" in text
    assert all(mean_time(row) is None for row in page(*NETWORK)[0].rows)


def test_parameters_of_storage_do_not_keep_transfers_from_being_compared() -> None:
    network, fio = page(*NETWORK)[0].rows[0], page(*NETWORK, "fio/3.33-randread-plus.json")[0].rows[-1]
    assert unknown_parameters(network, network) == ""
    assert fio.operation == "random_read" and "(cache)" in unknown_parameters(fio, fio)


@pytest.mark.parametrize("tool", ["iperf", "ping"])
def test_repeats_are_those_of_several_files(tool: str, tmp_path: Path) -> None:
    name = {"iperf": "2.0.9-parallel.txt", "ping": "iputils-20250605.txt"}[tool]
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    for number, file in enumerate(files):
        file.write_text(f"run {number}\n{text_of(tool, name)}")
    outputs = [output for file in files for output in read_outputs(str(file))]
    with RunStore.open(make_run(outputs, tmp_path, "net", "assay import")) as store:
        assert [one.repeat for one in store.samples()] == [1, 2, 3] and len(store.cases()) == 1
    assert results_of(tool, files[0].read_text())[0].figures == sample(tool, name)[0].figures
