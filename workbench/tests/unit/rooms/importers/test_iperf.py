"""iperf 2's outputs: every figure comes back, both ways stay apart, and rates are those of what was received."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from network_samples import FOLDER, NUMBER, check_damaged, figure, names, numbers, read, results_of, sample, text_of

from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.results import OutputError
from assay.rooms.importers.work.runs import make_run
from assay.store import RunStore

TEXTS, TABLES = names("iperf", ".txt"), names("iperf", ".csv")
ROW = re.compile(rf"\[[ *\w-]+\] *{NUMBER}- *({NUMBER}) +sec +({NUMBER} [KMG]?Bytes .*)")
OUTSIDE = re.compile(r"\[.*\].* (?:Sent (\d+) datagrams|(\d+) datagrams received out-of-order)")


@pytest.mark.parametrize("name", TEXTS)
def test_every_printed_number_comes_back(name: str) -> None:
    lines = [line.strip() for line in text_of("iperf", name).splitlines()]
    rows = [match for line in lines if (match := ROW.fullmatch(line))]
    printed = Counter(word for match in rows for word in numbers(match[2]))
    printed += Counter(match[1] or match[2] for line in lines if (match := OUTSIDE.fullmatch(line)))
    found = [one for result in sample("iperf", name) for one in result.figures]
    assert Counter(one.text for one in found if not one.name.endswith("seconds")) == printed
    ends = Counter(one.text for one in found if one.name.endswith("seconds"))
    assert ends and not ends - Counter(match[1] for match in rows)
    assert all(not one.unit or one.unit in UNITS for one in found)


@pytest.mark.parametrize("name", TABLES)
def test_every_number_of_csv_comes_back(name: str) -> None:
    rows = list(csv.reader(text_of("iperf", name).splitlines()))
    printed = Counter(word for row in rows for word in row[7:] if word != "-nan")
    found = [one for result in sample("iperf", name) for one in result.figures]
    assert Counter(one.text for one in found if not one.name.endswith("seconds")) == printed
    assert all(result.operation == "transfer" for result in sample("iperf", name))


@pytest.mark.parametrize("name", [*TEXTS, *TABLES])
def test_a_damaged_output_is_read_or_refused(name: str) -> None:
    check_damaged("iperf", text_of("iperf", name), name, times=6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2.0.9-parallel.txt", [("tcp send of 2 streams, as sent", "sum: rate")]),
        ("2.1.8-parallel-server.txt", [("tcp receive of 2 streams, as received", "sum: rate")]),
        ("2.0.9-udp.txt", [("udp send, as received", "received: rate")]),
        ("2.0.9-mbytes.txt", [("tcp send, as sent", "rate")]),
        ("2.0.5-dual.txt", [("tcp send, as sent", "rate"), ("tcp receive, as received", "rate")]),
        ("2.1.8-dual.txt", [("tcp receive, as received", "rate"), ("tcp send, as sent", "rate")]),
        ("2.1.8-sum-only.txt", [("tcp send of 2 streams, as sent", "sum: rate")]),
        ("2.1.8-reverse.txt", [("tcp receive, as received", "rate")]),
        ("2.1.8-tradeoff-server.txt", [("tcp receive, as received", "rate"), ("tcp send, as sent", "rate")]),
        ("2.0.9-parallel.csv", [("transfer of 2 streams", "sum: rate")]),
        ("2.0.9-udp.csv", [("udp, as received", "received: rate")]),
        ("2.1.8-udp-server.csv", [("udp, as received", "rate")]),
    ],
)
def test_which_figure_is_the_rate(name: str, expected: list[tuple[str, str]]) -> None:
    results = sample("iperf", name)
    assert [result.name for result in results] == [words for words, _ in expected]
    for result, (_, rate) in zip(results, expected, strict=True):
        assert result.measured and result.measured.throughput == float(convert(*figure(result, rate)))
        assert result.measured.iops is None


def test_units_are_powers_of_1024_for_bytes_and_of_1000_for_bits() -> None:
    (mbytes,), (kbits,) = sample("iperf", "2.0.9-mbytes.txt"), sample("iperf", "2.0.9-kbits.txt")
    assert figure(mbytes, "rate") == ("728", "MBytes/sec") and mbytes.measured
    assert mbytes.measured.throughput == 728 * 2**20
    text, unit = figure(kbits, "rate")
    assert unit == "Kbits/sec" and kbits.measured and kbits.measured.throughput == float(text) * 125


def test_both_ways_at_once_are_two_results_and_their_sum_is_none() -> None:
    receive, send = sample("iperf", "2.1.8-dual-server.txt")
    assert figure(receive, "rate") == ("5.69", "Gbits/sec")
    assert any(one.name.startswith("SUM") and one.text == "11.6" for one in receive.figures)
    assert receive.measured and send.measured and (receive.workload, send.workload) == ("tcp receive", "tcp send")
    assert receive.measured.throughput == 5.69e9 / 8 and send.measured.throughput == 5.98e9 / 8
    full = sample("iperf", "2.1.8-full-duplex.txt")
    assert [(one.workload, one.measured and one.measured.throughput) for one in full] == [
        ("tcp send", 4.26e9 / 8),
        ("tcp receive", 3.40e9 / 8),
    ]


def test_streams_are_one_result_with_a_figure_each() -> None:
    (result,) = sample("iperf", "2.0.9-parallel.txt")
    assert result.parameters == {"streams": 2} and result.target == "10.77.0.2"
    rates = {one.name for one in result.figures if one.name.endswith(": rate") and "-" not in one.name}
    assert rates == {"sum: rate", "stream 3: rate", "stream 4: rate"}
    (csv_,) = sample("iperf", "2.1.8-parallel.csv")
    totals = [figure(csv_, f"stream {number}: rate")[0] for number in (1, 2)]
    assert csv_.measured and csv_.measured.throughput == sum(map(int, totals)) / 8
    assert csv_.measured.bytes == 547487804 + 553648188


def test_udp_has_datagrams_and_their_size() -> None:
    (result,) = sample("iperf", "2.0.9-udp.txt")
    sent, lost = (int(figure(result, f"received: {name}")[0]) for name in ("datagrams", "lost"))
    assert result.measured and result.measured.ops == sent - lost and result.parameters["record_size"] == 1470
    alone = re.sub(r"\[.*Server Report:\n.*\n", "", text_of("iperf", "2.0.9-udp.txt"))
    (own,) = results_of("iperf", alone)
    assert own.name == "udp send, as sent" and own.measured and own.measured.ops is None


def test_bounceback_is_a_test_of_round_trips() -> None:
    (result,) = sample("iperf", "2.1.8-bounceback.txt")
    assert result.operation == "round_trip" and result.measured and result.measured.iops == 10838.0
    assert result.measured.latency == {"mean": 92000.0, "min": 16000.0, "max": 757000.0}
    assert result.measured.ops == 30 and result.parameters["record_size"] == 100


def test_a_log_of_a_server_has_each_test() -> None:
    first, second = (text_of("iperf", f"2.0.9-{name}.txt") for name in ("enhanced-server", "kbytes-server"))
    tail = second[second.index("[  4] local") :]
    results = results_of("iperf", first + tail + tail.replace("[  4]", "[  5]"))
    assert [result.parameters["streams"] for result in results] == [2, 1, 1]


def test_lines_around_an_output_do_not_matter(tmp_path: Path) -> None:
    text = text_of("iperf", "2.1.8-parallel.txt")
    file = tmp_path / "log"
    noise = f"\ufeff$ iperf -c host -P 2\n{text}\n$ exit\n"
    file.write_bytes(noise.replace("\n", "\r\n").encode())
    (output,) = read_outputs(str(file))
    assert (
        output.file.program == "iperf" and output.results[0].figures == sample("iperf", "2.1.8-parallel.txt")[0].figures
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Client connecting to h, TCP port 5001\n[  3] local 1.1.1.1 port 5 connected with h port 5001\n",
            "no measurement",
        ),
        ("Client connecting to h, TCP port 5001\n[  3]  0.0-10.0 sec  1.10 GBytes  Gbits/sec\n", "not a row"),
        (f"Client connecting to h, TCP port 5001\n[  3]  0.0-1.0 sec  {'9' * 40} GBytes  1 Gbits/sec\n", "not a row"),
        ("20261130032038,a,1,b,2,3,0.0-1.0,5,x\n20261130032038,a,1,b,2,3,0.0-1.0,5,7\n", "not a row"),
        ("20261130032038,a,1,b,2,3,3.0-1.0,5,7\n", "below 0"),
        ("20261130032038,a,1,b,2,3,0.0-1.0,5,-7\n", "below 0"),
        (
            "Client connecting to h, TCP port 5001\n[  3]  3.0- 1.0 sec  1.10 GBytes  2.20 Gbits/sec\n",
            "ends before it begins",
        ),
    ],
)
def test_what_is_not_iperfs_is_refused(text: str, message: str) -> None:
    with pytest.raises(OutputError, match=message) as error:
        read("iperf", text)
    assert error.value.hint


def test_nothing_moved_is_left_out() -> None:
    text = re.sub(
        r"[0-9.]+ GBytes +[0-9.]+ Gbits/sec", "0.00 GBytes  0.00 Gbits/sec", text_of("iperf", "2.0.9-kbits.txt")
    )
    text = re.sub(r"[0-9]+ KBytes +[0-9]+ Kbits/sec", "0.00 Bytes  0.00 bits/sec", text)
    (result,) = results_of("iperf", text)
    assert result.operation is None and "its rate is 0" in result.left_out


def layout(row: dict[str, str]) -> str:
    """What iperf 2.0.9 prints of a row of the paper's table (src/Locale.c there): of four streams, their sum."""
    line = "-" * 60
    head = f"{line}\nClient connecting to {row['target'].split(' (')[0].split()[-1]}, TCP port 5001\n"
    head += f"TCP window size: 45.0 KByte (default)\n{line}\n"
    streams = 4 if "-P 4" in row["options"] else 1
    ports = range(55934, 55934 + streams)
    body = "".join(
        f"[{number:3d}] local 172.31.5.10 port {port} connected with 10.0.0.4 port 5001\n"
        for number, port in enumerate(ports, start=3)
    )
    body += "[ ID] Interval       Transfer     Bandwidth\n"
    interval = f" 0.0-{float(row['seconds']):4.1f} sec"
    total = f"{interval}  {row['gbytes_printed']:>4} GBytes  {row['gbit_s_printed']:>4} Gbits/sec\n"
    part = f"{interval}  1.00 GBytes  1.00 Gbits/sec\n"
    if streams == 1:
        return f"{head}{body}[  3] {total}"
    return head + body + "".join(f"[{number:3d}] {part}" for number in range(3, 3 + streams)) + f"[SUM] {total}"


PAPER_ROWS = (
    ("isilon-node1", "-c isilon-node1 -i 5 -t 60 -P 4", "60", "50.3", "7.2"),
    ("isilon-node3", "-c isilon-node3 -i 5 -t 40 -P 4", "40", "22.5", "4.83"),
    ("isilon-node2", "-c isilon-node2 -i 5 -t 40 -P 4", "40", "22.1", "4.75"),
    ("sgdch500-1", "", "10", "1.75", "1.5"),
    ("sgdch500-2", "", "10", "1.76", "1.51"),
    ("sgdch500-4", "", "10", "1.58", "1.36"),
    ("VM 172.31.2.87 (port 55934)", "", "10", "11.3", "9.67"),
)
"""Section 2.3.1 and 5.3.1 of the white paper on PowerScale: target, options, seconds, GBytes, Gbits/sec as printed."""


@pytest.mark.parametrize("row", PAPER_ROWS)
def test_figures_of_a_paper_come_back(row: tuple[str, ...]) -> None:
    named = dict(zip(("target", "options", "seconds", "gbytes_printed", "gbit_s_printed"), row, strict=True))
    (result,) = results_of("iperf", layout(named))
    before = "sum: " if "-P 4" in named["options"] else ""
    assert figure(result, f"{before}transfer") == (named["gbytes_printed"], "GBytes")
    assert figure(result, f"{before}rate") == (named["gbit_s_printed"], "Gbits/sec")
    assert result.measured and result.measured.throughput == float(named["gbit_s_printed"]) * 1e9 / 8
    assert result.measured.elapsed_ns == int(named["seconds"]) * 10**9


def test_a_transfer_becomes_a_run(tmp_path: Path) -> None:
    folder = make_run(read_outputs(str(FOLDER / "iperf" / "2.0.9-parallel.txt")), tmp_path, "net", "assay import")
    with RunStore.open(folder) as store:
        (one,) = store.samples()
    assert one.operation == "transfer" and one.throughput == 8.52e9 / 8
    assert {"iops", "ops", "bytes"} <= set(one.missing_names)


def test_two_clients_that_write_at_the_same_time_are_not_told_apart() -> None:
    head = text_of("iperf", "2.0.9-mbytes.txt").partition("[ ID]")[0]
    row = "[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0- 1.0 sec   888 MBytes  888 MBytes/sec\n"
    assert len(results_of("iperf", head + row + head + row)) == 2
    with pytest.raises(OutputError, match="two clients wrote into this text at the same time") as error:
        results_of("iperf", head + head + row + row)
    assert error.value.line > head.count("\n") and "a file of its own" in error.value.hint
