"""sockperf's outputs: every figure comes back, latencies are whole round trips, and throughput is what was sent."""

import re
from collections import Counter

import pytest
from network_samples import NUMBER, check_damaged, figure, names, read, results_of, sample, text_of

from assay.rooms.importers.work.results import OutputError

SAMPLES = names("sockperf", ".txt") + names("sockperf", ".csv")
LINES = (
    "[Total Run]",
    "[Valid Duration]",
    "====> avg-",
    "# dropped",
    "--->",
    "Total of",
    "Summary: Message",
    "Summary: BandW",
)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_printed_number_comes_back(name: str) -> None:
    printed: Counter[str] = Counter()
    for line in re.sub(r"\x1b?\[[0-9;]+m", "", text_of("sockperf", name)).splitlines():
        if line.startswith("sockperf: ") and any(one in line for one in LINES):
            body = re.sub(r"[0-9.]+% ci=", "", line)
            found = re.findall(NUMBER, body.split(" = ")[-1] if "--->" in line else body)
            printed += Counter(found)
        elif match := re.match(r"sockperf: Total (\d+) observations", line):
            printed[match[1]] += 1
    assert Counter(one.text for result in sample("sockperf", name) for one in result.figures) == printed


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_output_is_read_or_refused(name: str) -> None:
    check_damaged("sockperf", text_of("sockperf", name), name)


def test_latency_is_that_of_a_whole_round_trip() -> None:
    (half,), (full,) = sample("sockperf", "3.7-ping-pong.txt"), sample("sockperf", "3.7-ping-pong-full-rtt.txt")
    assert half.latency_of == "latency x 2" and full.latency_of == "rtt"
    assert half.measured and full.measured and half.operation == full.operation == "round_trip"
    assert half.measured.latency["mean"] == float(figure(half, "avg-latency")[0]) * 2000
    assert half.measured.latency["p99"] == float(figure(half, "percentile 99.000")[0]) * 2000
    assert full.measured.latency["mean"] == float(figure(full, "avg-rtt")[0]) * 1000


def test_rate_is_that_of_the_valid_duration() -> None:
    (result,) = sample("sockperf", "3.7-ping-pong.txt")
    count, seconds = (float(figure(result, f"valid {name}")[0]) for name in ("received", "seconds"))
    assert result.measured and result.measured.iops == pytest.approx(count / seconds)
    assert result.measured.ops == count and result.measured.elapsed_ns == round(seconds * 1e9)


def test_mbps_are_powers_of_two() -> None:
    (result,) = sample("sockperf", "3.7-throughput.txt")
    assert result.operation == "transfer" and result.name == "udp throughput, as sent"
    count, seconds = (float(figure(result, name)[0]) for name in ("sent messages", "seconds"))
    assert result.measured and result.measured.throughput == pytest.approx(count * 1024 / seconds, rel=1e-3)
    giga = re.sub(
        r"BandWidth is .*", "BandWidth is 1.250 GBps (10.000 Gbps)", text_of("sockperf", "3.7-throughput.txt")
    )
    (other,) = results_of("sockperf", giga)
    assert other.measured and other.measured.throughput == 1250 * 2**20


def test_what_was_asked_for_and_failures() -> None:
    (result,) = sample("sockperf", "virtual-client-under-load.csv")
    assert result.options["mps"] == "5000" and result.parameters == {"record_size": 1024}
    (refused,) = sample("sockperf", "3.7-refused.txt")
    assert "Connection refused" in refused.left_out
    (output,) = read("sockperf", text_of("sockperf", "3.7-throughput.txt"))
    assert output.file.program == "sockperf 3.7-no.git"


def test_a_line_that_is_none_is_refused() -> None:
    text = text_of("sockperf", "3.7-throughput.txt").replace("MBps", "XBps")
    with pytest.raises(OutputError, match="not a line of sockperf") as error:
        read("sockperf", text)
    assert error.value.hint and error.value.line > 1


def test_round_trips_under_load_are_no_repeats_of_ping_pongs() -> None:
    workloads = [sample("sockperf", f"3.7-{name}.txt")[0].workload for name in ("ping-pong", "under-load")]
    assert workloads == ["udp round trips", "udp round trips under load"]
