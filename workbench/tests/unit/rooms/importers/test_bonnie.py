"""bonnie++: every figure of a line of values or a table comes back, and what each test is."""

import re
from pathlib import Path

import pytest
from tool_samples import FILE, check_damage, in_a_terminal, only_reader, paths_of, results, sample, texts

from assay.rooms.importers.work.disks import bonnie
from assay.rooms.importers.work.results import OutputError

SAMPLES = paths_of("bonnie")
VALUES = re.compile(r"^1\.9[0-9],.*$", re.M)
OLD_VALUES = (
    "box,4G,54321,99,123456,20,45678,10,50000,97,201234,19,400.1,1,16,12345,60,+++++,+++,20123,75,11876,58,+++++,+++,"
    "9876,41"
)
OLD_TABLE = """Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
box              4G 54321  99 123456  20 45678  10 50000  97 201234  19 400.1   1
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16 12345  60 +++++ +++ 20123  75 11876  58 +++++ +++  9876  41
"""
"""The layout of 1.03 (bonnie++.cpp, bon_io.cpp)."""


def values_of(line: str) -> list[str]:
    """Rates and shares of a line of values of 1.9x, and its latencies without their units."""
    words = line.split(",")
    start = 9 if words[0] >= "1.98" else 7
    cells = words[start : start + 12] + words[start + 17 : start + 29]
    latencies = [re.sub("[a-z]+", "", word) for word in words[start + 29 :] if word]
    return sorted([one for one in cells if re.fullmatch(r"[0-9.]+", one)] + latencies)


@pytest.mark.parametrize("path", [path for path in SAMPLES if "quiet.txt" not in path.name], ids=lambda path: path.name)
def test_every_value_comes_back(path: Path) -> None:
    lines = VALUES.findall(path.read_text())
    outputs = bonnie.read(path.read_text(), FILE)
    assert len(outputs) == len(lines) > 0
    for line, output in zip(lines, outputs, strict=True):
        assert texts(list(output.results)) == values_of(line)
        assert (output.file.version, output.file.host) == (line.split(",")[1], line.split(",")[2])
    assert only_reader(path) == "bonnie++'s table or line of values"


def test_tests_become_operations() -> None:
    found = {one.name: one for one in results(bonnie.read, sample("bonnie", "2.00-fast.txt"))}
    assert {name: one.operation for name, one in found.items() if one.operation} == {
        "put_block": "write",
        "rewrite": "rewrite",
        "get_block": "read",
        "seeks": "random_read",
        "seq_create": "create",
        "seq_del": "unlink",
        "ran_create": "create",
    }
    block = found["put_block"]
    assert block.measured and block.measured.throughput == 304226 * 1024 and block.measured.iops == 304226 / 8
    assert block.measured.latency == {"max": 28_048_000.0} and block.parameters["file_size"] == 800 << 20
    seeks = found["seeks"]
    assert seeks.measured and seeks.measured.iops == 10503 and seeks.parameters["lanes"] == 5
    assert found["seq_create"].workload != found["ran_create"].workload
    assert found["seq_create"].parameters["files"] == 16 * 1024 and "+++++" in found["seq_stat"].left_out


def test_bytes_one_at_a_time() -> None:
    found = {one.name: one for one in results(bonnie.read, sample("bonnie", "2.00-text.txt"))}
    putc = found["putc"]
    assert putc.operation == "write" and putc.parameters["record_size"] == 1 and putc.workload == "write byte by byte"


def test_old_versions_in_both_forms() -> None:
    line = {one.name: one for one in results(bonnie.read, OLD_VALUES)}
    table = {one.name: one for one in results(bonnie.read, OLD_TABLE)}
    for name, one in line.items():
        assert [figure.text for figure in one.figures] == [figure.text for figure in table[name].figures]
        assert one.measured == table[name].measured and one.operation == table[name].operation
    assert line["putc"].operation == "fwrite" and line["getc"].operation == "fread"
    assert line["put_block"].measured and line["put_block"].measured.throughput == 123456 * 1024
    assert table["put_block"].parameters["file_size"] == 4 << 30
    # With the line of values below it, the table says nothing more.
    assert len(results(bonnie.read, OLD_TABLE + OLD_VALUES)) == len(line)


def test_tables_of_version_2_have_wrong_rates_of_files() -> None:
    found = {one.name: one for one in results(bonnie.read, sample("bonnie", "2.00-quiet.txt"))}
    assert "number of files" in found["seq_create"].left_out and found["putc"].figures[0].text == "597"
    # 304226 K/sec are printed as 297m.
    table = sample("bonnie", "2.00-fast.txt").partition("1.98,")[0]
    fast = {one.name: one for one in results(bonnie.read, table)}
    assert (fast["put_block"].figures[0].text, fast["put_block"].figures[0].unit) == ("297", "M/sec")
    assert "putc" not in fast and fast["seeks"].figures[0].text == "10503"
    assert [figure.text for figure in fast["get_block"].figures] == ["960", "25", "20656"]


def test_files_that_are_not_empty_are_read_by_stat() -> None:
    line = OLD_VALUES.replace(",16,12345,60,+++++,+++", ",16:4096:1024/2,12345,60,999,50")
    stat = next(one for one in results(bonnie.read, line) if one.name == "seq_stat")
    assert "reads the files" in stat.left_out
    assert "file_size" not in next(one for one in results(bonnie.read, line) if one.name == "seq_create").parameters


def test_terminals_and_refusals() -> None:
    assert len(bonnie.read(in_a_terminal(sample("bonnie", "2.00-three.csv")), FILE)) == 3
    line = VALUES.findall(sample("bonnie", "1.96-perfkit.csv"))[0]
    for bad in (line[:60], line + ",1,2", line.replace("72853", "7e9x")):
        with pytest.raises(OutputError) as error:
            bonnie.read(bad, FILE)
        assert error.value.line == 1 and error.value.hint


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_damaged_outputs_are_read_or_refused(path: Path) -> None:
    check_damage(bonnie.read, path)


def test_the_command_line_says_the_folder() -> None:
    """Runs on several disks of one machine are no repeats of each other; the line of 1.03 has no version."""
    tests = ",".join(["9000,1"] * 6)
    line = f"ubuntu,8G,{tests},16,{tests}"
    title = "Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-"
    text = f"root@u:~# bonnie++ -d /sda1 -f -u u\n{title}\n{line}\nroot@u:~#bonnie++ -f -d /sdb1 -x 2\n{line}\n{line}\n"
    outputs = bonnie.read(f"{text}$ ls\n$ bonnie++ -f\n{line}\n", FILE)
    assert [output.results[0].target for output in outputs] == ["/sda1", "/sdb1", "/sdb1", bonnie.NAME]
    assert [output.file.version for output in outputs] == ["1.03e", "", "", ""]
