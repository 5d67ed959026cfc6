"""iozone's text: every figure of real outputs and of written ones comes back, and what is no such text is refused."""

import csv
import random
import re
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iozone_samples import FIGURES, FILE, FOLDER, SAMPLES, WIDTHS, read, table, text_of, throughput_log

from assay.model.base import AssayError
from assay.model.study.names import WORK
from assay.rooms.importers.work import iozone
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.results import ImportedResult, OutputError
from assay.rooms.importers.work.runs import make_run
from assay.store import RunStore

OPERATIONS = {
    "write": "write",
    "rewrite": "rewrite",
    "read": "read",
    "reread": "reread",
    "random_read": "random read",
    "random_write": "random write",
    "backward_read": "bkwd read",
    "record_rewrite": "record rewrite",
    "stride_read": "stride read",
    "fwrite": "fwrite",
    "refwrite": "frewrite",
    "fread": "fread",
    "refread": "freread",
}
"""Name of an operation in the table of the AoE paper -> iozone's column."""


def results_of(name: str) -> tuple[ImportedResult, ...]:
    return read(text_of(name)).results


def figure(result: ImportedResult, name: str) -> tuple[str, str]:
    return next((one.text, one.unit) for one in result.figures if one.name == name)


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        iozone.read(text, FILE)
    assert error.value.hint
    return error.value


def rates_of(text: str) -> list[tuple[str, str, str, str]]:
    """File size, record size, column and rate of each cell."""
    return [
        (figure(one, "kB")[0], figure(one, "reclen")[0], one.name, figure(one, one.name)[0])
        for one in read(text).results
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_printed_number_comes_back(name: str) -> None:
    text = text_of(name)
    others = ("kB", "reclen", "report")
    found = [one.text for result in results_of(name) for one in result.figures if one.name not in others]
    reports = [one.text for result in results_of(name) for one in result.figures if one.name == "report"]
    excel = [word for row in re.findall(r'^"[0-9]+"( .*)$', text, re.M) for word in row.split()]
    assert sorted(reports) == sorted(excel)
    rows = re.findall(r"^ {8,}[0-9]+ +[0-9]+ [ 0-9]+$", text, re.M)
    printed = [word for row in rows for word in row.split()[2:]]
    lines = [line for line in text.splitlines() if "Resolution" not in line]
    printed += re.findall(r"= *([0-9]+\.[0-9]+)", "\n".join(lines))
    shares = re.findall(r"CPU [uU]tilization: .*", "\n".join(lines))
    printed += [word for share in shares for word in re.findall(r"[0-9]+\.[0-9]+", share)]
    # Numbers as wide as their columns have no blank between them.
    assert sorted(found) == sorted(printed) or "".join(found) == "".join(printed)
    assert found and iozone.recognise(text)
    for result in results_of(name):
        assert all(not one.unit or one.unit in UNITS for one in result.figures)
        assert (result.operation in WORK) != bool(result.left_out)


def test_blanks_of_tests_left_out_are_not_the_columns_of_others() -> None:
    every = ("write", "rewrite", "random read", "random write", "record rewrite", "fread", "freread")
    for version in ("3.414", "3.489", "3.508"):
        results = results_of(f"{version}-holes")
        assert len(results) == 7 * 7 and [one.name for one in results[:7]] == list(every)
    for name in ("3.444-other-holes", "3.471-holes"):
        names = [one.name for one in results_of(name)[:6]]
        assert names == ["write", "rewrite", "bkwd read", "stride read", "fwrite", "frewrite"]


def test_numbers_that_fill_their_columns_are_told_apart() -> None:
    full = {column: "9" * width for column, width in WIDTHS.items()}
    assert [rate for *_, rate in rates_of(table({(64, 4): full}))] == list(full.values())
    wide = {**full, "freread": "1" * 10}
    assert "does not fit" in refused(table({(64, 4): wide})).message


def test_a_table_without_its_blanks_is_read_only_if_nothing_is_left_out() -> None:
    text = re.sub(r" +", " ", table({(64, 4): dict.fromkeys(WIDTHS, "12")}))
    assert len(read(text).results) == len(WIDTHS)
    less = re.sub(r" +", " ", table({(64, 4): {"write": "12", "read": "13"}}))
    assert "does not fit" in refused(less).message


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(2**20, 2**40), st.integers(1, 2**20)),
        st.dictionaries(st.sampled_from(list(WIDTHS)), st.integers(1, 10**7 - 1).map(str), min_size=1),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_as_a_table_comes_back(rows: dict[tuple[int, int], dict[str, str]]) -> None:
    expected = [
        (str(size), str(record), column, cells[column])
        for (size, record), cells in rows.items()
        for column in WIDTHS
        if column in cells
    ]
    assert rates_of(table(rows)) == expected


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 999), st.lists(st.decimals(0, 10**7, places=2), min_size=5, max_size=5))
def test_what_is_written_as_throughput_comes_back(processes: int, amounts: list[object]) -> None:
    figures = dict(zip(FIGURES, map(str, amounts), strict=True))
    log = throughput_log("iozone -t 8", "Wed May  4 12:38:24 2016", (512, 64), processes, [("readers", figures)])
    (result,) = read(log).results
    assert {one.name: one.text for one in result.figures} == figures
    assert result.parameters["streams"] == processes


def logs() -> list[tuple[str, list[dict[str, str]]]]:
    """The logs of a white paper on NFS with eight clients: name and rows."""
    rows = list(csv.DictReader((FOLDER / "eight-clients.csv").read_text().splitlines()))
    return [
        (f"{key[0]} {key[1]}", list(group))
        for key, group in groupby(rows, lambda row: (row["server_type"], row["log"]))
    ]


@pytest.mark.parametrize(("name", "rows"), logs())
def test_logs_of_eight_clients_give_every_figure_back(name: str, rows: list[dict[str, str]]) -> None:
    columns = ("children_kb_s", "min_kb_s", "max_kb_s", "avg_kb_s", "min_xfer_kb")
    tests = [(row["label_as_printed"], dict(zip(FIGURES, (row[one] for one in columns), strict=True))) for row in rows]
    first = rows[0]
    sizes = int(first["file_size_kb"]), int(first["record_kb"])
    output = read(throughput_log(first["command_line"], first["run_began"], sizes, int(first["processes"]), tests))
    assert output.file.version == "3.420" and output.file.date == first["run_began"], name
    assert output.file.command == first["command_line"] and len(output.results) == len(rows)
    for row, result in zip(rows, output.results, strict=True):
        assert result.name == row["label_as_printed"] and result.operation == row["operation"]
        assert [figure(result, one)[0] for one in FIGURES] == [row[one] for one in columns]
        parameters = result.parameters
        assert (parameters["file_size"], parameters["record_size"]) == (sizes[0] * 1024, sizes[1] * 1024)
        assert parameters["streams"] == 8 and "lanes" not in parameters and "hosts" not in parameters
        assert parameters.get("sync") == ("fsync" if "write" in row["operation"] else None)
        assert result.measured and result.measured.throughput == float(row["children_kb_s"]) * 1024
        assert not result.measured.has_counts


def test_matrices_with_absent_cells_come_back() -> None:
    cells = list(csv.DictReader((FOLDER / "aoe.csv").read_text().splitlines()))
    rows: dict[tuple[int, int], dict[str, str]] = {}
    for cell in cells:
        row = rows.setdefault((int(cell["file_kb"]), int(cell["record_kb"])), {})
        row[OPERATIONS[cell["operation"]]] = cell["kb_per_s"]
    expected = {(cell["file_kb"], cell["record_kb"], OPERATIONS[cell["operation"]], cell["kb_per_s"]) for cell in cells}
    assert set(rates_of(table(rows))) == expected and len(expected) == len(cells)


def test_options_become_parameters() -> None:
    write, _, read_, _, stride = results_of("3.508-direct-sync")
    assert write.parameters["cache"] == "direct" and write.parameters["sync"] == "o_sync"
    assert "sync" not in read_.parameters and stride.parameters["stride"] == 3
    assert write.parameters["lanes"] == write.parameters["hosts"] == write.parameters["queue_depth"] == 1
    plain = results_of("3.414-auto")[0]
    assert plain.parameters["sync"] == "none" and "cache" not in plain.parameters
    assert results_of("3.508-throughput")[0].parameters["sync"] == "fsync"
    assert results_of("3.508-mmap")[0].parameters["method"] == "mmap"


def test_bytes_and_operations_follow_from_whole_records() -> None:
    first = results_of("3.414-auto")[0]
    assert first.measured and first.measured.ops == 2 and first.measured.write_bytes == 64 << 10
    ops = results_of("3.471-ops")[0]
    assert ops.measured and ops.measured.iops == float(figure(ops, "write")[0]) and figure(ops, "write")[1] == "ops/sec"
    assert ops.measured.throughput == ops.measured.iops * 4096
    children = results_of("3.508-throughput-ops")[0]
    moved = sum(float(one.text) for one in children.figures if one.name.endswith(".xfer"))
    assert children.measured and children.measured.ops == moved and children.parameters["lanes"] == 4


def test_several_counts_of_processes_are_several_results() -> None:
    lanes = [one.parameters["lanes"] for one in results_of("3.414-threads")]
    assert sorted(set(lanes)) == [1, 2, 3] and len(lanes) == 12


def test_what_has_no_counterpart_says_why() -> None:
    reasons = {
        "3.489-microseconds": "microseconds",
        "3.471-no-retest": "not repeated",
        "3.471-verify": "invalid",
        "3.471-pread": "no operation like pwrite",
        "3.489-throughput": "either reads or writes",
    }
    for name, words in reasons.items():
        assert any(words in one.left_out and one.figures for one in results_of(name)), name


def test_several_outputs_and_excerpts_are_read() -> None:
    both = iozone.read(text_of("3.414-auto") + text_of("3.508-throughput"), FILE)
    assert [one.file.version for one in both] == ["3.414", "3.508"] and both[1].file.line > 30
    excerpt = text_of("3.508-throughput")
    (result, *_) = read(excerpt[excerpt.index("\tChildren see") :]).results
    assert not result.operation and "records" in result.left_out
    lines = table({(64, 4): {"write": "5"}}).replace("\n", "\r\n")
    assert read(lines).results[0].parameters["file_size"] == 65536
    assert not iozone.recognise("kB reclen\n") and not iozone.recognise("")


@pytest.mark.parametrize(
    "after", ["```\n512000+0 records in\n", "- **-f** names the file\n", "4194304000 bytes (4.2 GB) copied, 17 s\n"]
)
def test_text_below_a_table_is_no_row(after: str) -> None:
    cells = {(64, 4): {"write": "5", "rewrite": "6"}}
    assert rates_of(table(cells) + after) == rates_of(table(cells))


def test_outputs_without_their_first_lines_keep_their_own_command() -> None:
    """People paste what stands from the sizes on: each command line is another output."""
    figures = dict.fromkeys(FIGURES, "1.00")
    log = throughput_log("iozone -t 8 -s 512k -r 64k", "today", (512, 64), 8, [("readers", figures)])
    lines = table({(64, 4): {"write": "5", "rewrite": "6"}})
    texts = [text[text.index("\tCommand line used") :] for text in (log, lines)]
    both = iozone.read("\n".join(texts), FILE)
    assert [one.file.command for one in both] == ["iozone -t 8 -s 512k -r 64k", "iozone -a"]
    assert [one.file.form for one in both] == ["throughput mode", "table of rates"]
    assert [len(one.results) for one in both] == [1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("      1.00", "     -1.00"), "cannot be -1.00"),
        (("     1.00", "      nan"), "cannot be nan"),
        (("     1.00", "      inf"), "cannot be inf"),
        (("     1.00", "   1e9.00"), "cannot be 1e9"),
        (("     1.00", "9" * 19 + ".00"), "cannot be 9999"),
        (("KB/sec \n", "GB/sec \n"), "unknown unit GB/sec"),
        (("\tMax throughput per process", "\tMost per process"), "has no max"),
        (("for  8 readers", "for 9999999 readers"), "no number of processes"),
        (("Min xfer", "Min throughput per process"), "printed twice"),
        (("a 512 Kbyte file", f"a {'9' * 18} Kbyte file"), "no size in KB"),
    ],
)
def test_damaged_throughput_is_refused(change: tuple[str, str], message: str) -> None:
    figures = dict.fromkeys(FIGURES, "1.00")
    log = throughput_log("iozone", "today", (512, 64), 8, [("readers", figures)])
    assert change[0] in log
    error = refused(log.replace(*change))
    assert message in error.message and error.line > 15


@pytest.mark.parametrize("cell", ["-5", "nan", "1.5", "0x1", "٣", "5 5"])
def test_damaged_cells_are_refused(cell: str) -> None:
    assert refused(table({(64, 4): {"write": cell}})).line == 17


def test_damaged_tables_are_refused() -> None:
    good = table({(64, 4): {"write": "5", "read": "7"}})
    assert "other columns" in refused(good.replace("reclen   write rewrite", "reclen rewrite   write")).message
    assert "no size" in refused(good.replace(" " * 14 + "64", "9" * 18)).message
    assert "no results" in refused(table({})).message
    assert "no row" in refused(good.replace("              64", "             -64")).message


def test_errors_in_a_log_and_records_larger_than_files_are_refused() -> None:
    lines = text_of("3.489-auto").splitlines()
    first = next(number for number, line in enumerate(lines) if re.match(r" +64 +32 ", line))
    failed = "\n".join([*lines[: first + 1], "Error writing block 3, fd= 3", *lines[first + 1 :]])
    error = refused(failed)
    assert (error.line, "Error writing block 3" in error.message) == (first + 2, True)
    larger = "\n".join([*lines[:first], lines[first].replace(" 32 ", "128 ", 1), *lines[first + 1 :]])
    assert "a record of 128 kB in a file of 64 kB" in refused(larger).message


def test_texts_are_escaped() -> None:
    figures = dict.fromkeys(FIGURES, "1.00")
    log = throughput_log("iozone -f \x1b[31m password=x", "\x1b]0;", (512, 64), 8, [("read\x1bers", figures)])
    output = read(log)
    assert "\x1b" not in output.model_dump_json() and "\\u001b" not in output.model_dump_json()
    assert "password=x" not in output.file.command


def test_no_damage_raises_anything_else() -> None:
    chance = random.Random(43)
    for name in ("3.414-holes", "3.508-cpu-children"):
        text = text_of(name)
        for _ in range(60):
            at, length = chance.randrange(len(text)), chance.randrange(1, 40)
            damaged = text[:at] + "".join(chance.choices("0 .-\n\tkB=9", k=chance.randrange(4))) + text[at + length :]
            try:
                iozone.read(damaged, FILE)
            except OutputError as error:
                assert 1 <= error.line <= damaged.count("\n") + 1


def test_spreadsheets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "iozone.xls"
    path.write_bytes(b"\x09\x00\x04\x00\x07\x00\x10\x00\xff")
    with pytest.raises(AssayError, match="a spreadsheet"):
        read_outputs(str(path))


def test_a_run_is_made_of_results_without_counts(tmp_path: Path) -> None:
    outputs = read_outputs(str(FOLDER / "3.489-throughput.txt"))
    folder = make_run(outputs, tmp_path, "iozone", "assay import")
    samples = RunStore.open(folder).samples()
    assert {sample.operation for sample in samples} >= {"write", "re_fread", "stride_read"} - {"re_fread"}
    assert all(not sample.has("ops") and sample.throughput > 0 for sample in samples)


def test_the_spreadsheet_has_the_rates_that_are_printed() -> None:
    (sheet,) = read_outputs(str(FOLDER / "3.471-reports.xls"))
    printed = results_of("3.471-reports")
    kept = [{one.name: one for one in results} for results in (sheet.results, printed)]
    assert kept[0].keys() == kept[1].keys() and len(sheet.results) == len(printed) == 117
    texts = [
        {(one.name, *(figure.text for figure in one.figures[:3])): one.measured for one in results}
        for results in (sheet.results, printed)
    ]
    assert texts[0] == texts[1] and sheet.file.command.split()[1:4] == ["-a", "-n", "64k"]


def test_reports_alone_are_read() -> None:
    lines = text_of("3.471-reports").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith('"Writer report"'))
    results = read("\n".join(lines[start:])).results
    assert [one.name for one in results].count("write") == 9 and all(one.measured for one in results)


def test_spreadsheets_without_reports_say_what_to_give() -> None:
    with pytest.raises(AssayError, match="throughput mode") as error:
        read_outputs(str(FOLDER / "3.471-throughput.xls"))
    assert "what iozone printed" in error.value.hint
