"""Text of others in everything that Assay prints and writes: it is shown, and obeyed by nobody."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import unicodedata
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from builders import make_analysis
from hypothesis import given
from hypothesis import strategies as st
from in_process import run_here
from run_tools import ASSAY
from stored_runs import DAY, STARTED, noisy, store_run

from assay.model.escape import csv_cell, escape_json, escape_lines
from assay.report.export_csv import csv_text
from assay.report.export_xlsx import write_xlsx
from assay.report.tables import FlatColumn, FlatTable
from assay.run.analysis import load_analysis
from assay.store import RunStore

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202elive\u2066\u200b\x7f\x08\r<script>alert(1)</script>\nok: forged line"
SPREADSHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
WRITE = ("disk", "write")


def obeyed(text: str) -> set[str]:
    """Characters that a terminal obeys; colours that Assay draws itself are not among them."""
    return {letter for letter in text if letter not in "\n\t" and unicodedata.category(letter) in ("Cc", "Cf", "Cs")}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose every text is hostile, as another person could hand them over."""
    folder = tmp_path_factory.mktemp("hostile")
    for number in range(4):
        hostile_run(folder, number)
    return folder


def hostile_run(folder: Path, number: int) -> None:
    environment = {"kernel": {"release": f"{EVIL}{number}", f"name {EVIL}": "x"}, f"section {EVIL}": {"a": EVIL}}
    changes = {"created_at": STARTED + number * DAY, "environment": environment, "study": "nightly"}
    run = store_run(folder / "assay-runs", f"run-{number}", {WRITE: noisy(3e8, 4, seed=number)}, **changes)
    with RunStore.open(run, write=True) as store:
        details = json.loads(store._db.execute("SELECT details FROM run").fetchone()[0])
        for place in details["places"]:
            place |= {"path": f"/x/{EVIL}", "filesystem": EVIL, "device": EVIL, "limits": [EVIL]}
        details["versions"][f"tool {EVIL}"] = EVIL
        store._db.execute(
            "UPDATE run SET question = ?, description = ?, command = ?, details = ?",
            (f"=cmd|'/c calc'!A1 {EVIL}", EVIL, EVIL, json.dumps(details)),
        )
        store._db.execute("UPDATE attempts SET reason = ?, status = 'errors' WHERE repeat = 1", (EVIL,))
        store._db.execute("UPDATE outcomes SET status = 'errors' WHERE repeat = 1")
        store._db.execute("UPDATE cases SET label = label || ?", (EVIL,))
        store._db.execute("INSERT INTO settled VALUES ('c0001', ?, 1)", (EVIL,))


COMMANDS = (
    ("list",),
    ("show", "run-0"),
    ("show", "run-0", "c0001"),
    ("env", "run-0"),
    ("env", "--diff", "run-0", "run-1"),
    ("compare", "run-0", "run-1"),
    ("history", "nightly"),
    ("predict", "run-0", "--hosts", "8", "--capacity", "1GB"),
    ("export", "run-0", "-f", "csv", "-o", "-"),
    ("export", "run-0", "-f", "csv", "-o", "-", "--table", "samples"),
    ("show", f"no-{EVIL}"),
    ("check", f"no-{EVIL}"),
    ("run", "run-0", "--resume", "--out", f"no-{EVIL}"),
    (f"no-{EVIL}",),
    ("show", f"--no-{EVIL}"),
)
JSON_COMMANDS = (
    ("list", "--json"),
    ("show", "run-0", "--json"),
    ("show", "run-0", "c0001", "--json"),
    ("env", "run-0", "--json"),
    ("env", "--diff", "run-0", "run-1", "--json"),
    ("compare", "run-0", "run-1", "--json"),
    ("history", "nightly", "--json"),
    ("predict", "run-0", "--hosts", "8", "--capacity", "1GB", "--json"),
    ("export", "run-0", "-f", "json", "-o", "-"),
)


def printed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = run_here(folder, *words)
    assert done.returncode != 70, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words)[:24].encode("ascii", "replace").decode())
def test_no_command_prints_what_a_terminal_obeys(runs: Path, words: tuple[str, ...]) -> None:
    done = printed(runs, *words)
    assert obeyed(done.stdout + done.stderr) == set()
    assert not [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ok: forged")]


@pytest.mark.parametrize("words", JSON_COMMANDS, ids=" ".join)
def test_json_says_the_same_and_steers_nothing(runs: Path, words: tuple[str, ...]) -> None:
    done = printed(runs, *words)
    assert obeyed(done.stdout) == set()
    found = json.dumps(json.loads(done.stdout))
    assert words[0] in ("list", "history", "predict") or json.dumps(EVIL)[1:-1] in found


def test_on_a_terminal_only_our_own_colours_are_left(runs: Path) -> None:
    text = on_terminal(runs, "show", "run-0") + on_terminal(runs, "show", f"--no-{EVIL}")
    assert "\x1b[1m" in text
    rest = re.sub(r"\x1b\[[0-9;]*m", "", text.replace("\r\n", "\n"))
    assert obeyed(rest) == set()
    assert "\x1b[31m" not in on_terminal(runs, "env", "run-0")


def on_terminal(folder: Path, *words: str) -> str:
    """What the program prints on a terminal."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    with subprocess.Popen(
        [ASSAY, *words], cwd=folder, stdin=slave, stdout=slave, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        parts = []
        try:
            while part := os.read(master, 65536):
                parts.append(part)
        except OSError:
            # EIO: the last writer has left.
            pass
        finally:
            os.close(master)
        assert process.wait(60) != 70
    return b"".join(parts).decode()


def test_the_report_shows_hostile_text_and_runs_nothing(runs: Path) -> None:
    printed(runs, "report", "run-0", "--output", "r.html")
    page = (runs / "r.html").read_text()
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert obeyed(outside) == set()
    assert "<script>alert" not in page
    assert "\\x1b[2J" in page


def test_a_workbook_has_no_formula_of_text(runs: Path, tmp_path: Path) -> None:
    write_xlsx(load_analysis("run-0", runs / "assay-runs"), tmp_path / "r.xlsx")
    with zipfile.ZipFile(tmp_path / "r.xlsx") as book:
        sheets = [ElementTree.fromstring(book.read(name)) for name in book.namelist() if "worksheets/sheet" in name]
        texts = book.read("xl/sharedStrings.xml").decode()
        links = [name for name in book.namelist() if "worksheets/_rels" in name]
        relations = "".join(book.read(name).decode() for name in links)
    assert not [cell for sheet in sheets for cell in sheet.iter(f"{SPREADSHEET}f")]
    assert "hyperlink" not in relations
    assert "=cmd|" in texts
    assert obeyed(texts.replace("\r", "")) == set()
    assert not re.search("_x00[01][0-9A-F]_", texts)


FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", '=HYPERLINK("http://x")', "=", "-x")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_table_is_a_formula(text: str, tmp_path: Path) -> None:
    table = FlatTable("t", (FlatColumn("a", "text", "A"), FlatColumn("n", "number", "N")), ({"a": text, "n": -1.5},))
    _, row = csv.reader(io.StringIO(csv_text(table)))
    assert row[0].startswith("'")
    assert row[1] == "-1.5"


@pytest.mark.parametrize("text", ["-1", "+1.5", "-1e9", "-.5", "a=b", "plain", "", "1-2"])
def test_numbers_and_plain_words_stay(text: str) -> None:
    assert csv_cell(text) == text


def test_text_of_results_that_looks_like_a_formula_is_text_in_a_workbook(tmp_path: Path) -> None:
    analysis = make_analysis()
    rows = tuple(
        row.model_copy(update={"case": row.case.model_copy(update={"workload": "=1+1"})}) for row in analysis.rows
    )
    write_xlsx(analysis.model_copy(update={"rows": rows}), tmp_path / "r.xlsx")
    with zipfile.ZipFile(tmp_path / "r.xlsx") as book:
        text = b"".join(book.read(name) for name in book.namelist() if "worksheets/sheet" in name).decode()
        assert "=1+1" in book.read("xl/sharedStrings.xml").decode()
    assert "<f>" not in text


@given(st.text(st.characters()))
def test_lines_keep_their_ends_and_nothing_that_steers(text: str) -> None:
    shown = escape_lines(text)
    assert obeyed(shown) == set()
    assert shown.count("\n") == text.count("\n")
    assert escape_lines(shown) == shown


@given(st.dictionaries(st.text(), st.text(st.characters())))
def test_json_stays_the_same_value(value: dict[str, str]) -> None:
    text = escape_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(text) == value
    assert obeyed(text) == set()
