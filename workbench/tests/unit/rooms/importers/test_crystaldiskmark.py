"""CrystalDiskMark's text: every figure comes back, in all layouts."""

import re
from pathlib import Path

import pytest
from tool_samples import FILE, check_damage, in_a_terminal, only_reader, paths_of, results, sample, texts

from assay.rooms.importers.work.disks import crystaldiskmark
from assay.rooms.importers.work.results import OutputError

SAMPLES = paths_of("crystaldiskmark")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_printed_number_comes_back(path: Path) -> None:
    text = path.read_text()
    rows = [line for line in text.splitlines() if re.search(r"\) ?: |(?:Read|Write|KB) +: ", line) and "MB/s" in line]
    printed = [one for row in rows for one in re.findall(r"[0-9]+\.[0-9]+(?= (?:MB/s|IOPS|us))", row)]
    found = results(crystaldiskmark.read, text)
    assert texts(found) == sorted(printed) and len(found) == len(rows) >= 8
    assert only_reader(path) == "CrystalDiskMark's text"
    for row, result in zip(rows, found, strict=True):
        rate = float(re.findall(r"([0-9.]+) MB/s", row)[0])
        if rate:
            assert result.measured and abs(result.measured.throughput / 1e6 - rate) <= 0.002 * rate
            assert (result.operation or "").startswith(
                "random" if "andom" in row or "RND" in row else ("re", "wr", "se")
            )
        else:
            assert "not done" in result.left_out


def test_what_a_row_says_becomes_parameters() -> None:
    found = results(crystaldiskmark.read, sample("crystaldiskmark", "9.0.1-layout.txt"))
    assert [one.operation for one in found if one.operation] == [
        *("read", "read", "random_read", "random_read", "write", "write", "random_write"),
        *("sequential_mix", "sequential_mix", "random_mix", "random_mix"),
    ]
    assert found[2].parameters == {
        "record_size": 4096,
        "queue_depth": 32,
        "lanes": 16,
        "hosts": 1,
        "layout": "shared",
        "file_size": 2**30,
        "cache": "direct",
        "rate": None,
    }
    assert found[4].parameters["sync"] == "none" and found[-1].parameters["read_percent"] == 70
    measured = found[0].measured
    assert measured and measured.latency == {"mean": 1_209_120.0} and measured.iops == 6611.4
    assert found[0].workload == "read (best of 5)" and found[0].target == "D (931GiB)"
    assert found[1].parameters["record_size"] == 128 * 1024


def test_two_disks_of_one_letter_are_two_targets() -> None:
    text = sample("crystaldiskmark", "3.0.2-disk.txt")
    other = results(crystaldiskmark.read, text.replace("178.2/180.1 GB", "20.0/931.5 GB"))
    assert {one.target for one in other} == {"G (931.5 GB)"}


def test_old_versions_do_not_print_all() -> None:
    old = results(crystaldiskmark.read, sample("crystaldiskmark", "3.0.2-disk.txt"))
    assert "record_size" not in old[0].parameters and old[0].measured and old[0].measured.iops is None
    assert old[2].parameters["record_size"] == 512 * 1024 and old[6].parameters["queue_depth"] == 32
    assert old[0].target == "G (180.1 GB)" and all("cache" not in one.parameters for one in old)
    newer = results(crystaldiskmark.read, sample("crystaldiskmark", "5.2.0-layout.txt"))
    assert newer[0].parameters["queue_depth"] == 32 and newer[4].parameters["queue_depth"] == 1
    assert newer[0].parameters["cache"] == "direct"


def test_lines_of_a_forum_and_several_outputs() -> None:
    text = "\n".join(f"// {line}" if "CrystalDiskMark" in line else line for line in sample_lines())
    twice = in_a_terminal(text) + "\n" + text
    outputs = crystaldiskmark.read(twice, FILE)
    assert [len(output.results) for output in outputs] == [12, 12]
    assert outputs[0].file.version == "9.0.1" and outputs[0].file.date == "2025/11/02 9:08:07"


def sample_lines() -> list[str]:
    return sample("crystaldiskmark", "9.0.1-layout.txt").splitlines()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("6932.551 MB/s", "6932,551 MB/s", 9),
        ("[Read]", "", 9),
        ("T=16)", f"T={'9' * 30})", 11),
        ("81.305", "8" * 30, 12),
    ],
)
def test_other_rows_are_refused(old: str, new: str, line: int) -> None:
    text = sample("crystaldiskmark", "9.0.1-layout.txt")
    with pytest.raises(OutputError) as error:
        crystaldiskmark.read(text.replace(old, new, 1), FILE)
    assert error.value.line == line and error.value.hint


def test_an_output_without_rows_is_refused() -> None:
    text = sample("crystaldiskmark", "9.0.1-layout.txt")
    with pytest.raises(OutputError, match="no results"):
        crystaldiskmark.read(text[: text.index("[Read]")], FILE)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_damaged_outputs_are_read_or_refused(path: Path) -> None:
    check_damage(crystaldiskmark.read, path)
