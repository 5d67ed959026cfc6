"""The guess at what the columns of a table are: always a whole roles file, and never imported as it is."""

import random
import re
from pathlib import Path

import pytest
from table_samples import FILE, PAPERS, PASTED, roles_of

from assay.model.base import AssayError
from assay.rooms.importers.work import table
from assay.rooms.importers.work.guess.roles import guess_roles
from assay.rooms.importers.work.guess.words import extras_of, operation_of, size_of, split_heading
from assay.rooms.importers.work.results import ImportOptions, OutputError, RolesNeeded
from assay.rooms.importers.work.table_roles import RolesFile, parse_roles
from assay.rooms.importers.work.table_text import read_table


@pytest.mark.parametrize("path", PASTED, ids=lambda path: path.stem)
def test_pasted_tables_are_guessed_as_a_reader_would(path: Path) -> None:
    guess = guess_roles(path.read_text())
    assert parse_roles(guess.text.encode(), "guess") == parse_roles(roles_of(path).read_bytes(), "wanted")
    assert all(f"# Not sure: {doubt}\n" in guess.text for doubt in guess.doubts)


def test_a_table_without_roles_is_not_read() -> None:
    with pytest.raises(RolesNeeded) as needed:
        table.read(PASTED[0].read_text(), FILE)
    assert "MB/s is taken as 10^6" in " ".join(needed.value.doubts)


def test_what_a_table_does_not_say_must_be_filled_in() -> None:
    guess = guess_roles("IO Size | Read | Write\n--|--|--\n4096 | 100 | 90\n")
    assert guess.text.count('unit: "?"') == 2 and "it has no unit" in " ".join(guess.doubts)
    with pytest.raises(AssayError, match="`\\?` is no unit"):
        parse_roles(guess.text.encode(), "guess")
    assert 'operation: "?"' in guess_roles("disk,MB/s\nsda,5\n").text


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_every_column_of_a_guess_has_a_role(path: Path) -> None:
    guess = guess_roles(path.read_text())
    text = guess.text.replace('unit: "?"', "unit: MB/s").replace('operation: "?"', "operation: read")
    assert set(parse_roles(text.encode(), "guess").columns) == set(read_table(path.read_text()).headings)


SUMS = {
    "wide": ("server,read MB/s,write MB/s,total MB/s\na,10,5,15\nb,20,6,26\n", 4),
    "wide IOPS": ("server,bs,read IOPS,write IOPS,overall IOPS\na,4k,10,5,15\nb,4k,20,6,26\n", 4),
    "beside an operation": ("server,operation,hosts,MB/s,total MB/s\na,read,2,5,10\nb,read,4,5,20\n", 2),
    "row of a target": ("host,operation,MB/s\na,read,10\nb,read,20\nTotal,,30\n", 2),
    "row of a number": ("threads,read MB/s\n1,10\n2,20\nTotal,30\n", 2),
    "row of a repeat": ("date,operation,MB/s\n2026-01-01,read,10\n2026-01-02,read,12\nMean,,11\nStd. dev.,,1\n", 2),
    "row of a remark": ("server,operation,MB/s,remark\na,read,10,x\nb,write,12,y\n,,22,Total\n", 2),
}


@pytest.mark.parametrize(("text", "count"), SUMS.values(), ids=SUMS)
def test_sums_make_no_results_by_the_guess(text: str, count: int) -> None:
    guess = guess_roles(text).text
    stated = ImportOptions(roles=RolesFile("guess", parse_roles(guess.encode(), "guess"), guess))
    (output,) = table.read(text, FILE, stated)
    assert sum(result.measured is not None for result in output.results) == count
    assert {result.operation for result in output.results if result.measured} <= {"read", "write"}


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("derived", "a column of the role derived has no `formula`"),
        ("{role: comment, values: {x: read}}", "a comment says nothing of a result, such as `read`"),
        ("{role: comment, blank: above}", "a column of the role comment has no key `blank`"),
        ("{role: ignored, values: {x: ignored}}", "a column of the role ignored has no key `values`"),
    ],
)
def test_what_a_column_without_a_meaning_cannot_have(column: str, words: str) -> None:
    with pytest.raises(AssayError, match="^roles:2: .*" + re.escape(words)):
        parse_roles(f"columns:\n  a: {column}\n".encode(), "roles")


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("BW (MB/s)", "MB/s"),
        ("bw_mib", "MiB/s"),
        ("kb_per_s", "KiB/s"),
        ("Durchsatz [kB/s]", "kB/s"),
        ("10 GbE Mbit/s", "Mbit/s"),
        ("Mbps", "Mbit/s"),
        ("MBps", "MB/s"),
        ("IOPS (k)", "kIOPS"),
        ("Requests/sec", "1/s"),
        ("lat avg [us]", "us"),
        ("p99 (µs)", "us"),
        ("wall_clock_min", "min"),
        ("Size (GB)", "GB"),
        ("file_kb", "KiB"),
        ("nodes", ""),
    ],
)
def test_units_of_headings(heading: str, unit: str) -> None:
    assert split_heading(heading).unit == unit


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("Seq. Read", "read"),
        ("zufällig schreiben", "random_write"),
        ("randrw", "random_mix"),
        ("re-read", "reread"),
        ("bkwd read", "backward_read"),
        ("File removal", "unlink"),
        ("PUT", "put"),
        ("threads", ""),
        ("formatted", ""),
        ("columns", ""),
    ],
)
def test_words_for_operations(text: str, operation: str) -> None:
    assert operation_of(text) == operation


def test_words_in_place_of_a_number_do_not_take_the_unit_of_the_heading_away() -> None:
    rows = "| target | seq write (MiB/s) |\n|---|---|\n| a | 2392 |\n| b | collapsed: see below |\n| c | 1034 |\n"
    assert "seq write (MiB/s): {role: throughput, unit: MiB/s" in guess_roles(rows).text


def test_words_for_sizes() -> None:
    assert [size_of(one) for one in ("4k", "1M", "64 KB", "128KiB", "4 GB", "mb", "x4k9")] == [
        *("4KiB", "1MiB", "64KiB", "128KiB", "4GB"),
        *("", ""),
    ]
    assert extras_of("4k-randread-qd32") == {"record_size": "4KiB", "queue_depth": 32}


def test_no_damage_raises_anything_else() -> None:
    chance = random.Random(43)
    for path in PASTED[::5]:
        text = path.read_text()
        for _ in range(20):
            at, length = chance.randrange(len(text)), chance.choice((1, 1, 5, 40, len(text)))
            damaged = text[:at] + "".join(chance.choices('0,;|"\n\t.-*', k=chance.randrange(4))) + text[at + length :]
            try:
                guess = guess_roles(damaged)
            except OutputError as error:
                assert error.hint
            else:
                assert "columns:" in guess.text
