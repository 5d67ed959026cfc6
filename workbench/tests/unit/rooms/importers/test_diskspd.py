"""diskspd's text and XML: every figure comes back, options become parameters."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tool_samples import FILE, check_damage, in_a_terminal, only_reader, paths_of, results, sample, texts

from assay.rooms.importers.work.disks import diskspd
from assay.rooms.importers.work.results import ImportOptions, OutputError

SAMPLES = paths_of("diskspd")
TEXTS = [path for path in SAMPLES if path.suffix == ".txt"]
NUMBER = r"[0-9]+(?:\.[0-9]+)?"


def printed_numbers(text: str) -> list[str]:
    """Cells of all tables below `Results for`, and the lines above them with one number."""
    found = []
    for line in text[text.index("Results for") :].splitlines():
        if match := re.match(rf"(?:(?:actual )?test time|thread count|proc count):\s*({NUMBER})", line):
            found.append(match[1])
        if "%" in line and "%-ile" not in line:
            found += re.findall(rf"({NUMBER})%", line)
        elif match := re.match(r"total:(.*)|\s*[0-9]+ \|(.*)\|[^|]*\)|\s*(?:m[ai][nx]|[0-9]\S+) \|(.*)", line):
            cells = next(part for part in match.groups() if part is not None)
            found += re.findall(rf"(?<![^|\s]){NUMBER}(?![^|\s])", cells)
    return sorted(found)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_printed_number_comes_back(path: Path) -> None:
    text = path.read_text()
    found = results(diskspd.read, text)
    assert texts(found) == printed_numbers(text) and len(found) == 1
    assert only_reader(path) == "diskspd's text or XML"
    row = next(line for line in text.splitlines() if line.startswith("total: "))
    moved, ops, rate, iops = (cell.strip() for cell in row[6:].split("|")[:4])
    measured = found[0].measured
    assert measured and (measured.ops, measured.bytes, measured.iops) == (int(ops), int(moved), float(iops))
    # MiB/s, and MB/s of diskspd for Linux, are 2^20 bytes.
    assert abs(measured.throughput / 2**20 - float(rate)) <= 0.01


@pytest.mark.parametrize("name", ["2.0.21-perfkit.xml", "2.2.0-printer.xml"])
def test_xml_has_the_same_numbers(name: str) -> None:
    text = sample("diskspd", name)
    (result,) = results(diskspd.read, text)
    rows = re.findall(rf"<(\w+)>({NUMBER})</", text[text.rindex("</Profile>") :])
    kept = [figure.text for figure in result.figures]
    assert set(kept) >= {one for tag, one in rows if tag != "Percentile"} and result.measured
    assert result.measured.ops == sum(int(one) for tag, one in rows if tag == "IOCount")


def test_xml_has_the_same() -> None:
    text = sample("diskspd", "2.2.0-printer.xml")
    (result,) = results(diskspd.read, text)
    root = ElementTree.fromstring(text)
    spans = [span for span in root if span.tag == "TimeSpan"]
    wanted = [one.text for span in spans for one in span.iter() if one.text and one.text.strip()]
    courses = [one for span in spans for one in span.iterfind("Thread/Target/Iops") for one in one.iter()]
    skipped = [one.text for one in courses if one.text and one.text.strip()]
    points = [
        value for one in root.iterfind("TimeSpan/Iops/Bucket") for key, value in one.items() if "Sample" not in key
    ]
    found = sorted(figure.text for figure in result.figures)
    assert sorted(found + skipped) == sorted(one for one in wanted + points if one != "testfile1.dat")
    assert result.measured and result.measured.bytes == 6291456 and result.measured.elapsed_ns == 120 * 10**9
    assert (result.measured.read_bytes, result.measured.write_bytes) == (4194304, 2097152)
    assert result.parameters["record_size"] == 65536 and result.parameters["queue_depth"] == 2


def test_options_become_parameters() -> None:
    (mix,) = results(diskspd.read, sample("diskspd", "2.0.21-mix.txt"))
    assert mix.operation == "random_mix" and mix.parameters == {
        "record_size": 4096,
        "queue_depth": 1,
        "lanes": 1,
        "hosts": 1,
        "file_size": 2**30,
        "layout": "separate",
        "runtime": 30 * 10**9,
        "cache": "direct",
        "read_percent": 70,
        "sync": "o_dsync",
        "rate": None,
    }
    assert mix.measured and [(one.kind, one.ops, one.bytes) for one in mix.measured.kinds] == [
        ("read", 25060, 102645760),
        ("write", 10626, 43524096),
    ]
    assert mix.measured.latency["p99.9"] == 7_432_000 and mix.measured.latency["mean"] == 840_000
    assert mix.measured.kinds[0].latency["max"] == 7_990_000
    (two,) = results(diskspd.read, sample("diskspd", "linux-two.txt"))
    assert (two.operation, two.target, two.parameters["layout"]) == ("write", "2 targets", "separate")
    (read,) = results(diskspd.read, sample("diskspd", "linux-read.txt"))
    assert read.operation == "read" and "cache" not in read.parameters


def test_the_command_line_stands_in_for_options_that_are_not_printed() -> None:
    text = sample("diskspd", "2.2.0-groups.txt")
    (result,) = results(diskspd.read, text)
    assert result.operation == "random_write" and result.target == r"C:\dskspd\testfile.dat"
    expected = {"record_size": 4096, "queue_depth": 4, "lanes": 4, "layout": "shared", "sync": "o_dsync"}
    assert expected.items() <= result.parameters.items() and result.parameters["cache"] == "direct"
    unknown = text[text.index("System information") :]
    assert "--order" in results(diskspd.read, unknown)[0].left_out
    assert results(diskspd.read, unknown, ImportOptions("sequential"))[0].operation == "write"
    share = text.replace("-r4K", "-rs50")
    assert "a share of its operations is random" in results(diskspd.read, share)[0].left_out


def test_several_outputs_and_a_terminal_around_them() -> None:
    one, other = (sample("diskspd", name) for name in ("2.0.21-mix.txt", "linux-mix.txt"))
    outputs = diskspd.read(in_a_terminal(one + "\n" + other), FILE)
    assert [len(output.results) for output in outputs] == [1, 1]
    assert texts([result for output in outputs for result in output.results]) == sorted(
        printed_numbers(one) + printed_numbers(other)
    )
    xml = sample("diskspd", "2.2.0-printer.xml")
    assert [output.file.line for output in diskspd.read(f"x\n{xml}{xml}", FILE)] == [2, 2 + xml.count("\n")]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("1189.03 |    0.840 |     129.18 |     1.051\n", "1189.03\n", 50),
        ("146169856 |        35686", "14616x856 |        35686", 48),
        ("Write IO", "Wrote IO", 64),
        ("30.01s", f"{'9' * 30}s", 32),
    ],
)
def test_what_diskspd_does_not_print_is_refused(old: str, new: str, line: int) -> None:
    text = sample("diskspd", "2.0.21-mix.txt")
    assert old in text
    with pytest.raises(OutputError) as error:
        diskspd.read(text.replace(old, new), FILE)
    assert error.value.line == line and error.value.hint


@pytest.mark.parametrize(
    "bad", ["<!DOCTYPE x [<!ENTITY a 'b'>]>", "<a>" * 40 + "</a>" * 40, "<a>", "<BytesCount>x</BytesCount>"]
)
def test_xml_that_is_none_of_diskspds_is_refused(bad: str) -> None:
    text = sample("diskspd", "2.2.0-printer.xml")
    changed = text.replace("<BytesCount>6291456</BytesCount>", bad)
    with pytest.raises(OutputError):
        diskspd.read(changed, FILE)
    with pytest.raises(OutputError):
        diskspd.read(text[:-20], FILE)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_damaged_outputs_are_read_or_refused(path: Path) -> None:
    check_damage(diskspd.read, path, 6)
