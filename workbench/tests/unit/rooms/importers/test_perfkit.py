"""PerfKitBenchmarker's samples: metrics with a counterpart become results, the rest keeps its figures."""

import json

import pytest
from imported_samples import FILE, check_damage, check_units, recognising, sample_names, sample_text

from assay.rooms.importers.work.results import ImportedResult, ImportOptions, OutputError
from assay.rooms.importers.work.suites import perfkit

SAMPLES = sample_names("perfkit")


def results_of(text: str, order: str | None = None) -> list[ImportedResult]:
    options = ImportOptions(order="random" if order == "random" else None)
    return [one for output in perfkit.read(text, FILE, options) for one in output.results]


def line(metric: str, value: object, unit: str, test: str, run: str = "r1", **labels: object) -> str:
    words = ",".join(f"|{name}:{text}|" for name, text in sorted(labels.items()))
    return json.dumps(
        {"metric": metric, "value": value, "unit": unit, "timestamp": 1.7e9, "test": test, "official": False,
         "run_uri": run, "sample_uri": "x", "labels": words}
    )  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_a_figure(name: str) -> None:
    text = sample_text("perfkit", name)
    expected = [(one["metric"], one["value"]) for one in map(json.loads, text.splitlines())]
    results = results_of(text)
    found = [(figure.name, float(figure.text)) for result in results for figure in result.figures]
    assert sorted(found) == sorted(expected) and recognising(text) == "PerfKitBenchmarker"
    check_units(results)
    check_damage(perfkit.read, text[:6000], name, 20)


def test_jobs_of_fio_are_operations_on_data() -> None:
    write, read, random = results_of(sample_text("perfkit", "fio.json"))
    assert (write.operation, read.operation, random.operation) == ("write", "read", "random_write")
    # fio's bw is KiB/s, whatever its unit is called.
    assert write.measured and write.measured.throughput == 68118 * 1024 and write.measured.iops == 133
    assert write.measured.latency["p99"] == 823_296_000 and write.latency_of == "clat"
    assert write.parameters == {"hosts": 1, "record_size": 512 << 10, "queue_depth": 64}
    assert write.target == "GCP n1-standard-4"


def test_the_order_is_stated_where_labels_lack_it() -> None:
    text = line("job:read:bandwidth", 1000, "KB/s", "fio", blocksize="4k")
    assert "--order" in results_of(text)[0].left_out
    assert results_of(text, "random")[0].operation == "random_read"
    assert "mix" in results_of(line("job:read:bandwidth", 1000, "KB/s", "fio", rw="randrw"))[0].left_out
    assert "trims" in results_of(line("job:trim:bandwidth", 1000, "KB/s", "fio", rw="randtrim"))[0].left_out


def test_networks_objects_and_databases_have_counterparts() -> None:
    text = "\n".join(
        (
            line("Throughput", 9000.5, "Mbits/sec", "iperf", sending_thread_count=4),
            line("TCP_RR_Transaction_Rate", 20000.0, "transactions_per_second", "netperf"),
            line("TCP_RR_Latency_p50", 48.0, "us", "netperf"),
            line(
                "Multi-stream upload net throughput", 8e9, "bit / second", "object_storage_service", object_size_B=1000
            ),
            line("NOPM", 600, "NOPM", "hammerdbcli"),
            line("Average Latency", 0.5, "ms", "ping"),
            line("End to End Runtime", 61.5, "seconds", "iperf"),
        )
    )
    transfer, round_trip, put, orders, *others = results_of(text)
    assert transfer.measured and transfer.measured.throughput == 9000.5e6 / 8 and transfer.operation == "transfer"
    assert round_trip.measured and round_trip.measured.iops == 20000 and round_trip.measured.latency == {"p50": 48000}
    assert put.measured and put.measured.throughput == 1e9 and put.parameters == {"object_size": 1000}
    assert orders.measured and orders.measured.iops == 10 and orders.operation == "transaction"
    assert [one.left_out for one in others] == ["no metric that Assay has an operation for"] * 2


def test_labels_tell_results_apart_and_runs_are_repeats() -> None:
    one, two = results_of(
        "\n".join(line("Throughput", 9, "Mbits/sec", "iperf", sending_thread_count=count) for count in (1, 4))
    )
    assert (one.workload, two.workload) == (
        "iperf: Throughput sending_thread_count=1", "iperf: Throughput sending_thread_count=4",
    )  # fmt: skip
    first, second = results_of("\n".join(line("Throughput", 9, "Mbits/sec", "iperf", run) for run in ("a", "b")))
    assert first.workload == second.workload


def test_values_that_are_not_finite_are_no_figures() -> None:
    assert results_of(line("Throughput", float("nan"), "Mbits/sec", "iperf"))[0].figures == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"value": 8153.0', '"value": "8153"'), "no number"),
        (('"value": 8153.0', '"value": ' + "9" * 50), "characters"),
        (('"test": "hammerdbcli"', '"other": 1'), "cut off"),
        (('"metric": "NOPM"', '"metric": ["NOPM"]'), ""),
    ],
)
def test_what_is_no_sample_is_refused(change: tuple[str, str], message: str) -> None:
    text = sample_text("perfkit", "hammerdb.json")
    assert change[0] in text
    if not message:
        assert len(results_of(text.replace(*change))) == 1
        return
    with pytest.raises(OutputError) as error:
        perfkit.read(text.replace(*change), FILE, ImportOptions())
    assert message in error.value.message
