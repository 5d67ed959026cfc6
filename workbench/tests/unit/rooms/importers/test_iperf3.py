"""iperf 3's outputs: every figure comes back, both ways stay apart, and rates are those of what was received."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from network_samples import FOLDER, NUMBER, check_damaged, figure, names, numbers, read, results_of, sample, text_of

from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.results import OutputError
from assay.rooms.importers.work.runs import make_run
from assay.store import RunStore

TEXTS, DOCUMENTS = names("iperf3", ".txt"), names("iperf3", ".json")
ROW = re.compile(rf"\[[ \w]+\](?:\[..-.\])? *{NUMBER}-({NUMBER}) +sec +({NUMBER} [KMG]?Bytes .*)")
OUTSIDE = re.compile(r"\[.*\] Sent (\d+) datagrams")
CPU = re.compile(r"CPU Utilization: (.*)")


def every_number(part: Any) -> list[str]:
    """All numbers of decoded JSON, whose objects are lists of pairs."""
    if isinstance(part, list):
        return [one for each in part for one in every_number(each[1] if isinstance(each, tuple) else each)]
    return [part] if isinstance(part, str) and part.startswith("=") else []


def decoded(text: str) -> dict[str, Any]:
    """`end` and `intervals` of the first document of a text, or of a stream of events; numbers begin with `=`."""

    def load(words: str) -> Any:
        marked = {"parse_int": "={}".format, "parse_float": "={}".format}
        return json.JSONDecoder(object_pairs_hook=lambda pairs: pairs, **marked).raw_decode(words)[0]

    if '"event":"' not in text:
        return dict(load(text[text.index("{") :]))
    events = [dict(load(line)) for line in text.splitlines()]
    intervals = [one["data"] for one in events if one["event"] == "interval"]
    return {"end": next(one["data"] for one in events if one["event"] == "end"), "intervals": intervals}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_number_of_json_comes_back(name: str) -> None:
    document = decoded(text_of("iperf3", name))
    printed = Counter(one.lstrip("=") for part in ("end", "intervals") for one in every_number(document.get(part, [])))
    found = [one for result in sample("iperf3", name) for one in result.figures]
    assert Counter(one.text for one in found) == printed
    assert all(not one.unit or one.unit in UNITS for one in found)


@pytest.mark.parametrize("name", TEXTS)
def test_every_number_of_text_comes_back(name: str) -> None:
    lines = [line.strip() for line in text_of("iperf3", name).splitlines()]
    rows = [match for line in lines if (match := ROW.fullmatch(line))]
    printed = Counter(word for match in rows for word in numbers(match[2]))
    printed += Counter(match[1] for line in lines if (match := OUTSIDE.fullmatch(line)))
    printed += Counter(word for line in lines if (match := CPU.fullmatch(line)) for word in numbers(match[1]))
    found = [one for result in sample("iperf3", name) for one in result.figures]
    assert Counter(one.text for one in found if not one.name.endswith("seconds")) == printed


@pytest.mark.parametrize("name", [*TEXTS, *DOCUMENTS])
def test_a_damaged_output_is_read_or_refused(name: str) -> None:
    check_damaged("iperf3", text_of("iperf3", name), name, times=6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("3.12-parallel.txt", [("tcp send of 2 streams, as received", "sum, received: rate")]),
        ("3.21-parallel-server.txt", [("tcp receive of 2 streams, as received", "sum, received: rate")]),
        ("3.0.12-reverse-server.txt", [("tcp send, as sent", "sent: rate")]),
        ("3.12-udp.txt", [("udp send of 2 streams, as received", "sum, received: rate")]),
        (
            "3.12-bidir-server.txt",
            [("tcp receive, as received", "received: rate"), ("tcp send, as sent", "sent: rate")],
        ),
        ("3.12-parallel.json", [("tcp send of 2 streams, as received", "sum_received.bits_per_second")]),
        ("3.12-reverse.json", [("tcp receive, as received", "sum_received.bits_per_second")]),
        (
            "3.7-bidir.json",
            [(f"tcp {way}, as received", "sum_received.bits_per_second") for way in ("send", "receive")],
        ),
        ("3.21-stream.json", [("tcp send of 2 streams, as received", "sum_received.bits_per_second")]),
    ],
)
def test_which_figure_is_the_rate(name: str, expected: list[tuple[str, str]]) -> None:
    results = [result for result in sample("iperf3", name) if not result.left_out]
    assert [result.name for result in results] == [words for words, _ in expected]
    for result, (_, rate) in zip(results, expected, strict=True):
        assert result.measured and result.measured.throughput == pytest.approx(float(convert(*figure(result, rate))))
        assert result.measured.iops is None and result.operation == "transfer"


def test_old_versions_have_the_second_way_under_the_same_keys() -> None:
    send, receive = sample("iperf3", "3.7-bidir.json")
    assert figure(send, "sum_received.bytes") == ("630115480", "bytes")
    assert figure(receive, "sum_received.bytes") == ("616955904", "bytes")


@pytest.mark.parametrize("name", ["3.0.12-udp", "3.1.3-udp"])
def test_old_versions_of_udp_print_what_was_sent_and_lost(name: str) -> None:
    (result,) = sample("iperf3", f"{name}.json")
    sent, packets, lost = (int(figure(result, f"sum.{key}")[0]) for key in ("bytes", "packets", "lost_packets"))
    assert result.measured and result.measured.bytes == sent * (packets - lost) // packets
    assert lost and result.measured.ops == packets - lost and result.name.endswith("as received")
    (text,) = sample("iperf3", f"{name}.txt")
    rate, packets, lost = (float(figure(text, f"sum: {key}")[0]) for key in ("rate", "datagrams", "lost"))
    assert text.measured and text.measured.throughput == pytest.approx(rate * 1e6 / 8 * (packets - lost) / packets)


def test_facts_of_json() -> None:
    (output,) = read("iperf3", text_of("iperf3", "3.12-parallel.json"))
    assert (output.file.program, output.file.form, output.file.host) == ("iperf3 3.12", "JSON", "10.77.0.1")
    assert output.file.measured_at == 1796008311 and output.file.date == "Mon, 30 Nov 2026 03:11:51 GMT"
    (result,) = output.results
    assert result.parameters == {"streams": 2, "record_size": 131072} and result.target == "10.77.0.2"
    assert result.measured and result.measured.bytes == 1145831424 and result.measured.elapsed_ns == 2011690000


def test_a_failed_test_is_left_out() -> None:
    (refused,) = sample("iperf3", "3.12-refused.json")
    assert refused.left_out == "iperf3 failed: unable to connect to server: Connection refused"
    good, stopped = sample("iperf3", "3.12-parallel-server.json")
    assert good.operation == "transfer" and "server has terminated" in stopped.left_out
    text = text_of("iperf3", "3.12-parallel.txt")
    (cut,) = results_of("iperf3", text[: text.index("- - - -")])
    assert "ends before its last table" in cut.left_out and cut.figures
    with pytest.raises(OutputError, match="stopped before"):
        read("iperf3", text_of("iperf3", "3.21-stream.json").splitlines()[0])


def test_seconds_that_were_left_out_are_no_part_of_the_rate() -> None:
    (result,) = sample("iperf3", "3.12-omit.txt")
    assert result.measured and result.measured.throughput == 17.5e9 / 8
    assert any("omitted" in one.name for one in result.figures)


@pytest.mark.parametrize("number", ["-1", "1e30", '"many"', "[]", "true"])
def test_numbers_that_nothing_counts_are_refused(number: str) -> None:
    text = re.sub(
        r'("sum_received":\s*\{[^}]*"bytes":\s*)[0-9]+', rf"\g<1>{number}", text_of("iperf3", "3.12-reverse.json")
    )
    with pytest.raises(OutputError, match="bytes cannot be") as error:
        read("iperf3", text)
    assert error.value.hint


def test_a_run_of_both_ways_has_two_cases(tmp_path: Path) -> None:
    file = FOLDER / "iperf3" / "3.12-bidir.json"
    folder = make_run(read_outputs(str(file)), tmp_path, "net", "assay import")
    with RunStore.open(folder) as store:
        assert [case.workload for case in store.cases()] == ["tcp send", "tcp receive"]
        rates = [one.throughput for one in store.samples()]
    assert rates == pytest.approx([7208926747.3 / 8, 5450601536.1 / 8])
