"""Tables: every figure of real and of pasted ones comes back; what does not fit its roles is refused with its line."""

import csv
import json
import random
from decimal import Decimal
from pathlib import Path

import pytest
from paths import REPOSITORY
from table_samples import FILE, FOLDER, PAPERS, PASTED, columns, read, read_sample, roles_of, stated

from assay.model.base import AssayError
from assay.model.study.names import WORK
from assay.rooms.importers.work import table
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.results import ImportedResult, OutputError
from assay.rooms.importers.work.runs import make_run
from assay.rooms.importers.work.table_roles import UNITS as TABLE_UNITS
from assay.rooms.importers.work.table_roles import parse_roles
from assay.store import RunStore

PLAIN = columns("op: operation", "bs: {role: record_size, unit: KiB}", "rate: {role: throughput, unit: MB/s}")


def refused(text: str, roles: str = PLAIN) -> OutputError:
    with pytest.raises(OutputError) as error:
        read(text, roles)
    assert error.value.hint
    return error.value


def refused_roles(roles: str) -> AssayError:
    with pytest.raises(AssayError) as error:
        parse_roles(roles.encode(), "r.yaml")
    assert error.value.message.startswith("r.yaml:") and error.value.hint
    return error.value


def measured(result: ImportedResult) -> float:
    assert result.measured is not None
    return result.measured.throughput


PAPER_FIGURES = {
    "aoe": ("kb_per_s", 1024),
    "aws-eval": ("mb_s", 10**6),
    "beegfs": ("mb_s", 10**6),
    "beegfs-options": ("seq_read_gb_s seq_write_gb_s", 10**9),
    "bowtie2": ("er_total_mbit_s_printed", 125_000),
    "nfs-aws": ("children_kb_s", 1024),
    "nfs-aws-summary": ("iozone_total_kb_s", 1024),
    "render": ("throughput_gbit_s", 125_000_000),
}
"""Paper -> its columns of rates, and bytes per second of one unit."""


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_figures_of_papers_come_back(path: Path) -> None:
    names, factor = PAPER_FIGURES[path.stem]
    rows = list(csv.DictReader(path.read_text().splitlines()))
    printed = [row[name] for row in rows for name in names.split() if row[name]]
    results = [result for result in read_sample(path) if result.measured]
    found = [one.text for result in results for one in result.figures if one.name in names.split()]
    assert found == printed and found
    rates = [result.measured.throughput for result in results if result.measured]
    assert rates == [float(Decimal(text) * factor) for text in printed]
    assert all(result.operation in WORK for result in results)


PASTED_FIGURES = {
    "01-wiki-fio": [3250e6, 2890e6, 1745e6, 1210e6],
    "02-german": [112.4e6, 98.7e6, 231.9e6, 187.25e6],
    "03-spreadsheet-average": [rate * 2**20 for rate in (812.5, 2410, 5120.75, 954, 3001.2, 6222)],
    "04-merged-headings": [1210.2e6, 1745e6, 2890.4e6, 3250.1e6, 98.3e6, 372.8e6, 480.2e6, 530e6],
    "07-footnotes": [1850e6, 2210e6, 410e6, 455e6],
    "08-thousands": [1204331 * 8192, 611020 * 8192, 988400 * 8192, 402917 * 8192],
    "09-merged-rows": [1.1e9, 7.9e9, 1.3e9, 9.2e9, 0.9e9, 1.1e9, 1.0e9, 1.15e9],
    "11-units-in-cells": [1.2e9, 850e6, 980e6, 640e6],
    "14-german-thousands": [512340500, 488120000, 531001900, 501770200],
    "18-markdown-styles": [9.4e9 / 8, 9.1e9 / 8, 7.2e9 / 8, 6.8e9 / 8],
    "19-crystal": [3562.14e6, 3312.51e6, 2711.8e6, 2901.33e6, 601.22e6, 522.4e6, 58.35e6, 171.09e6],
}
"""Table -> bytes per second of its results, read from it by hand."""


@pytest.mark.parametrize("name", PASTED_FIGURES)
def test_figures_of_pasted_tables_come_back(name: str) -> None:
    (path,) = (path for path in PASTED if path.stem == name)
    assert [measured(one) for one in read_sample(path) if one.measured] == pytest.approx(PASTED_FIGURES[name])


@pytest.mark.parametrize("path", PASTED, ids=lambda path: path.stem)
def test_pasted_tables_are_read(path: Path) -> None:
    results = read_sample(path)
    assert table.recognise(path.read_text()) and any(one.measured for one in results)
    for result in results:
        assert all(not one.unit or one.unit in UNITS for one in result.figures)
        assert (result.operation in WORK) != bool(result.left_out)


def of(name: str) -> tuple[ImportedResult, ...]:
    return read_sample(next(path for path in PASTED if path.stem == name))


def test_cells_become_parameters_and_counts() -> None:
    first, *_ = of("15-job-names")
    assert first.operation == "random_read" and first.parameters == {"record_size": 4096, "queue_depth": 1}
    assert [one.operation for one in of("19-crystal")[4:6]] == ["random_read", "random_write"]
    assert {one.parameters["record_size"] for one in of("05-wide-record-sizes")} == {4096, 65536, 262144, 2**20}
    assert of("05-wide-record-sizes")[0].parameters["file_size"] == 8 << 30
    log = of("20-dd-log")[0].measured
    assert log and not log.has_counts and log.elapsed_ns == 52_100_000_000
    exact = read("op,bs,rate,n\nread,4,1,7\n", PLAIN + "  n: ops\n")[0].measured
    assert exact and exact.has_counts and (exact.ops, exact.read_bytes, exact.write_bytes) == (7, 28672, 0)
    metadata = of("16-metadata")[0].measured
    assert metadata and metadata.iops == 15004.1 and metadata.throughput == 0
    latency = of("01-wiki-fio")[2].measured
    assert latency and latency.latency == {"mean": 75100.0} and latency.iops == 426_000
    assert read("op,bs,rate\nread,4,5.50\n", PLAIN)[0].figures[0].text == "5.50"


def test_footnotes_totals_and_missing_cells_are_left_out_with_the_reason() -> None:
    assert [one.left_out for one in of("07-footnotes")[4:]] == ["this row has no figures"] * 2
    assert of("07-footnotes")[0].options["mark of Speed (MB/s)"] == "*"
    assert "`Average`" in of("03-spreadsheet-average")[-1].left_out
    assert of("13-not-available")[2].left_out == "this row has no figures"
    wide = columns(
        "a: {role: throughput, unit: MB/s, operation: read}", "b: {role: throughput, unit: MB/s, operation: write}"
    )
    assert [one.left_out for one in read("a,b\n5,\n0,6\n", wide)] == ["", "it has no throughput", "its rate is 0", ""]
    iops = columns("op: operation", "n: iops")
    assert "no record_size" in read("op,n\nread,5\n", iops)[0].left_out


def test_rates_whose_operations_are_not_known_have_no_iops(tmp_path: Path) -> None:
    outputs = read_outputs(
        str(FOLDER / "papers/beegfs.csv"), stated(roles_of(FOLDER / "papers/beegfs.csv").read_text())
    )
    store = RunStore.open(make_run(outputs, tmp_path, "x", "assay import"))
    samples = store.samples()
    assert len(samples) == 26 and not any(sample.has("iops") or sample.has("ops") for sample in samples)
    assert samples[0].throughput == 1699e6


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("read,4,fast", "`fast` is not a number"),
        ("read,4,-5", "cannot be `-5`"),
        ("read,4,1e30", "cannot be `1e30`"),
        ("read,4,nan", "is not a number"),
        ("read,4,٣", "is not a number"),
        ("read,4,5*", "is not a number"),
        ("read,4,5 MB/s", "is not a number"),
        ("read,x,5", "`x` is not a number"),
        ("read,0.3,5", "not a whole number of bytes"),
        ("read,99999999,5", "out of range"),
        ("reed,4,5", "no operation"),
        (",4,5", "the cell is empty"),
        ("read,4", "2 cells in this row, and 3 headings"),
        ("read,4,5,6", "4 cells in this row"),
        ('"read,4,5', "not CSV"),
        ("write,4,3", "as in line 2"),
    ],
)
def test_damaged_rows_are_refused_with_their_line(row: str, words: str) -> None:
    error = refused(f"op,bs,rate\nwrite,4,1\n\n{row}\n")
    assert words in error.message and error.line == 4


def test_lines_count_the_breaks_inside_of_cells() -> None:
    error = refused('op,bs,rate,note\nread,4,1,"two\nlines"\nwrite,4,x,\n', PLAIN + "  note: comment\n")
    assert error.line == 4 and "`x` is not a number" in error.message


def test_the_example_of_the_guide_is_a_roles_file() -> None:
    text = (REPOSITORY / "docs" / "guides" / "import.md").read_text()
    roles = parse_roles(text.split("```yaml\n")[1].split("```")[0].encode(), "guide")
    assert roles.columns["test"].values["4k rnd read"] == {"operation": "random_read", "record_size": 4096}


def test_a_table_of_very_many_columns_is_refused() -> None:
    assert "200,001 columns, more than 500" in refused("a|" * 200_000 + "a\n-|-\n").message


def test_other_separators_are_named_in_the_hint() -> None:
    text = "op;bs;rate\nread;4;1.234,5\n"
    assert "`1.234,5` is not a number" in refused(text).message
    assert 'decimal: ","' in refused("op;bs;rate\nread;4;1,5\n").hint
    assert 'thousands: ","' in refused("op;bs;rate\nread;4;1,500\n").hint
    german = f'decimal: ","\nthousands: "."\n{PLAIN}'
    assert measured(read(text, german)[0]) == 1234.5e6
    assert "not a number" in refused("op;bs;rate\nread;4;12.34,5\n", german).message
    blanks = f'thousands: " "\n{PLAIN}'
    assert measured(read("op;bs;rate\nread;4;1\u202f234 567\n", blanks)[0]) == 1234567e6


def test_columns_and_roles_must_fit() -> None:
    assert "`more` has no role" in refused("op,bs,rate,more\nread,4,1,2\n").message
    assert "no column `bs`" in refused("op,rate\nread,4\n").message
    assert "no column says which operation" in refused("n\n4\n", columns("n: {role: throughput, unit: MB/s}")).message
    assert "no column has a rate" in refused("n\nread\n", columns("n: operation")).message
    both = columns(
        "a: {role: throughput, unit: MB/s}", "b: {role: throughput, unit: MB/s}", head=["with: {operation: read}"]
    )
    assert "both throughput" in refused("a,b\n1,2\n", both).message
    lone = columns("a: {role: throughput, unit: MB/s, operation: read}", "t: {role: time, unit: s}")
    assert "not of which" in refused("a,t\n1,2\n", lone).message
    twice = columns("op: operation", "n: {role: throughput, unit: MB/s, operation: read}")
    assert "operation is write by column `op`" in refused("op,n\nwrite,2\n", twice).message
    units = columns(
        "op: operation", "bs: {role: record_size, unit: KiB}", "r: {role: throughput, unit: kB/s}", "n: iops"
    )
    assert "iops x record_size" in refused("op,bs,r,n\nread,4,40,10000\n", units).message
    assert "second table" in refused("| a | b |\n|-|-|\n| 1 | 2 |\n\n| a | b |\n|-|-|\n").message


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("{role: speed}", "no role"),
        ("{unit: MB/s}", "`role` is missing"),
        ("{role: throughput, unit: MBs}", "no unit of throughput"),
        ('{role: throughput, unit: "?"}', "`?` is no unit"),
        ("{role: record_size, unit: kB}", "no unit of record_size"),
        ("{role: lanes, unit: KiB}", "has no unit"),
        ("{role: throughput, unit: MB/s, blocksize: 4KiB}", "unknown key `blocksize`"),
        ("{role: throughput, unit: MB/s, record_size: 4k}", "unknown unit"),
        ("{role: target, record_size: 4KiB}", "has no key `record_size`"),
        ("{role: operation, values: {a: reed}}", "no operation"),
        ("{role: operation, values: {a: {speed: 1}}}", "unknown key `speed`"),
        ("{role: throughput, blank: above}", "has no key `blank`"),
        ("7", "is not a role"),
    ],
)
def test_roles_files_are_checked(column: str, words: str) -> None:
    assert words in refused_roles(columns(f"a: {column}")).message


def test_heads_of_roles_files_are_checked() -> None:
    assert "is the decimal sign, too" in refused_roles("decimal: ','\nthousands: ','\ncolumns: {}\n").message
    assert "with.operation: `?`" in refused_roles('with: {operation: "?"}\ncolumns: {}\n').message
    assert "unknown key `wiht`" in refused_roles("wiht: {operation: read}\ncolumns: {}\n").message
    assert "with" in refused_roles("wiht: {operation: read}\ncolumns: {}\n").hint
    assert "`columns` is missing" in refused_roles("rows: results\n").message


def test_units_are_those_of_the_table_of_units() -> None:
    for quantity, units in TABLE_UNITS.items():
        assert all(UNITS[unit].quantity == quantity and UNITS[unit].source for unit in units)
    assert (
        convert("1", "Gbit/s") == 125 * 10**6 and convert("1", "GiB/s") == 2**30 and convert("1", "min") == 60 * 10**9
    )


@pytest.mark.parametrize(
    "text", ["", "hello\n", "a,b\nc,d\n", '{"jobs": [1, 2]}\n', "3;fio-3.33;j;0;0\n", "1,2\n3,4\n", "<a>,1\n2,3\n"]
)
def test_other_texts_are_no_tables(text: str) -> None:
    assert not table.recognise(text)


def test_outputs_of_tools_are_theirs() -> None:
    for folder, pattern in (("fio", "3.*-r*.json"), ("iozone", "3.50*.txt")):
        for path in (FOLDER.parent / folder).glob(pattern):
            assert folder in {one.file.tool for one in read_outputs(str(path), stated(PLAIN))}, path


def test_spreadsheets_are_refused_with_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for inside in (b"xl/workbook.xml", b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"):
        path.write_bytes(b"PK\x03\x04" + inside)
        with pytest.raises(AssayError, match="a spreadsheet") as error:
            read_outputs(str(path))
        assert "CSV" in error.value.hint


def test_texts_are_escaped_and_passwords_are_not_stored() -> None:
    roles = columns(
        '"a\\\\x1bb": target', "n: {role: throughput, unit: MB/s}", "c: comment", head=["with: {operation: read}"]
    )
    (result,) = read("a\x1bb,n,c\nx\x1b[31m,1,password=secret\n", roles)
    assert "\\u001b" not in json.dumps(result.model_dump()) and "secret" not in str(result)


def test_no_damage_raises_anything_else() -> None:
    chance = random.Random(43)
    for path in (*PASTED[::4], PAPERS[1]):
        text, options = path.read_text(), stated(roles_of(path).read_text())
        for _ in range(25):
            at, length = chance.randrange(len(text)), chance.choice((1, 1, 5, 40, len(text)))
            damaged = text[:at] + "".join(chance.choices('0,;|"\n\t.-*', k=chance.randrange(4))) + text[at + length :]
            try:
                table.recognise(damaged)
                table.read(damaged, FILE, options)
            except OutputError as error:
                assert 1 <= error.line <= damaged.count("\n") + 1 and error.hint
