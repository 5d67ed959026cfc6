"""`assay paper`: from runs or a description to a file, and what is wrong in a description."""

import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace

import pytest
from in_process import run_here
from paths import GOLDEN
from run_tools import assay
from stored_runs import DAY, STARTED, noisy, store_run

from assay.model import extras
from assay.rooms.paper import command
from assay.terminal.output_file import SEARCHED_BYTES, anywhere

DESCRIPTION = """\
title: "Disk & memory"
authors: [Ada]
abstract: Writes are {{ ratio(rate(a, memory, grid, write), rate(a, disk, grid, write)) }} as fast.
runs: {a: one, b: two}
parts:
  - text: |
      # Why
      It is {{ rate(a, disk, grid, write) }}.
  - results
  - text: >-
      Reads: {{ ratio(rate(a, memory, grid, read), rate(a, disk, grid, read)) }}.
  - limits
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    speeds = {("disk", "write"): noisy(3e8, 5), ("memory", "write"): noisy(9e8, 5, seed=3)}
    more = {("disk", "read"): noisy(5e8, 5), ("memory", "read"): noisy(5.05e8, 5, 0.1, seed=9)}
    store_run(folder / "assay-runs", "one", speeds | more)
    store_run(folder / "assay-runs", "two", speeds, created_at=STARTED + DAY)
    return folder


def test_a_run_becomes_a_pdf_that_is_the_same_each_time(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / name for name in ("a.pdf", "b.PDF")]
    for file, zone in zip(files, ("UTC", "Asia/Tokyo"), strict=True):
        monkeypatch.setenv("TZ", zone)
        assert assay(runs, "paper", "one", "-o", file).stdout == f"{file}\n"
    first, second = (file.read_bytes() for file in files)
    assert first == second and first.startswith(b"%PDF-1.7") and b"2026-11-21" in first


def test_it_is_named_after_the_run_or_the_description(runs: Path, tmp_path: Path) -> None:
    runs_folder = runs / "assay-runs"
    (tmp_path / "mine.yaml").write_text(DESCRIPTION)
    assert assay(tmp_path, "paper", "one", "--out", runs_folder).stdout == "one.pdf\n"
    assert assay(tmp_path, "paper", "mine.yaml", "--out", runs_folder).stdout == "mine.pdf\n"


def test_the_description_to_start_from_holds(runs: Path, tmp_path: Path) -> None:
    file = tmp_path / "PAPER.yaml"
    file.write_text(assay(runs, "paper", "new", "one", "two").stdout)
    assert assay(runs, "paper", "check", file).stdout == f"ok: {file}\n"
    assert "one result is 30" in assay(runs, "paper", file, "-o", "-").stdout


def test_parts_stand_in_the_order_of_the_description(runs: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(DESCRIPTION)
    done = run_here(runs, "paper", file, "-o", "-")
    assert done.returncode == 0
    assert done.stderr == (
        f"warning: {file}:11: {{{{ ratio(rate(a, memory, grid, read), rate(a, disk, grid, read)) }}}}: it is undecided "
        "whether they differ: the repeats do not show which one is faster\n"
    )
    heads = [line for line in done.stdout.splitlines() if line.startswith("#")]
    assert heads[:5] == ["# Disk & memory".replace("&", "\\&"), "## Abstract", "## Why", "## Results", "### Write"]
    assert "Writes are 2.9× as fast." in done.stdout and "It is 303 MB/s." in done.stdout
    checked = run_here(runs, "paper", "check", file)
    assert checked.returncode == 1 and checked.stdout == done.stderr.removeprefix("warning: ")


@pytest.mark.parametrize(
    ("change", "error", "hint"),
    [
        (("- results", "- resuls"), "9: parts[1]: there is no part `resuls`", "did you mean `results`?"),
        (
            ("rate(a, disk, grid, write) }}.\n  - r", "rate(a, disc, grid, write) }}.\n  - r"),
            "8: `rate(a, disc",
            "`disk`",
        ),
        (("fast.", "{{"), "3: `{{` has no `}}`", "close the reference"),
        (("- limits", "- results"), "12: parts[3]: part `results` stands there twice", "leave one out"),
        (("title:", "colour: red\ntitle:"), "1: unknown key `colour`", "one of: title, authors"),
        (("{a: one,", '{"a b": one,'), "4: runs.a b: `a b` is no name for a run", "use letters"),
        (("- limits", "- [a]"), "12: parts[3]: this is no part", "name one of abstract, results"),
        (("- limits", "- {limit: a}"), "12: parts[3]: there is no part `limit`", "did you mean `limits`"),
        (("- limits", "- {limits: {titel: a}}"), "12: parts[3].limits: unknown key `titel`", "title"),
        (("- limits", "- {limits: {runs: [c]}}"), "12: part `limits`: the paper has no run `c`", "one of: a, b"),
        (('"Disk & memory"', '" "'), "1: title: it is empty", "write a title"),
        (("a: one", "a: none"), "p.yaml:4: runs.a: there is no run or study 'none'", "did you mean"),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else None,
)
def test_what_is_wrong_in_a_description_has_its_line(
    runs: Path, tmp_path: Path, change: tuple[str, str], error: str, hint: str
) -> None:
    file = tmp_path / "p.yaml"
    assert DESCRIPTION.count(change[0]) == 1
    file.write_text(DESCRIPTION.replace(*change))
    for words in (("check", file), (file, "-o", tmp_path / "p.pdf")):
        done = run_here(runs, "paper", *words)
        assert done.returncode == 2 and error in done.stderr.splitlines()[0] and hint in done.stderr
        assert not (tmp_path / "p.pdf").exists() and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("sentence", "kind", "code"),
    [
        ("The disk writes at 900 MB/s.", "wrong number: `900 MB/s`: ", 1),
        ("The disk is faster than memory for writes.", "contradicted: `faster`: ", 1),
        ("The disk costs 5 USD a month.", "not supported: `5 USD`: ", 0),
        ("The disk writes at 300 MB/s.", "", 0),
    ],
)
def test_a_remark_on_a_sentence_ends_with_1_and_a_note_with_0(
    runs: Path, tmp_path: Path, sentence: str, kind: str, code: int
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"title: t\nruns: {{a: one}}\nparts:\n  - text: |\n      # Why\n      {sentence}\n")
    done = run_here(runs, "paper", "check", file)
    assert done.returncode == code
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(f"{file}:6: ")]
    assert [line.removeprefix(f"{file}:6: ").startswith(kind) for line in said] == [True] * bool(kind)


def test_without_typst_one_line_names_the_extra_and_other_forms_are_written(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda package: package != "typst")
    done = run_here(runs, "paper", "one", "-o", tmp_path / "a.pdf")
    assert done.returncode == 3 and done.stderr.splitlines() == [
        "error: the PDF of a paper needs the Python package typst, which is not installed",
        "hint: pip install 'assay[paper]'",
    ]
    refused = run_here(runs, "paper", "one", "-o", tmp_path / "a.docx")
    assert refused.returncode == 3 and "the DOCX of a paper needs the Python package typst" in refused.stderr
    for form in ("md", "html", "xlsx"):
        assay(runs, "paper", "one", "-o", tmp_path / f"a.{form}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md", "a.xlsx"]


def test_a_description_stands_alone(runs: Path, tmp_path: Path) -> None:
    done = assay(runs, "paper", "mine.yaml", "one", "-o", tmp_path / "a.pdf", expect=2)
    assert done.stderr.startswith("error: mine.yaml is a description, which names its runs itself\n")


def test_an_unknown_form_is_refused(runs: Path, tmp_path: Path) -> None:
    done = assay(runs, "paper", "one", "-o", tmp_path / "a.odt", expect=2)
    assert done.stderr.splitlines()[1] == "hint: one of: .pdf, .docx, .html, .md, .xlsx"


def test_a_mark_is_found_wherever_it_is(tmp_path: Path) -> None:
    for before in (0, SEARCHED_BYTES - 3, SEARCHED_BYTES, 3 * SEARCHED_BYTES + 1):
        (tmp_path / "file").write_bytes(b"x" * before + b"Made by Assay" + b"x" * 200_000)
        with (tmp_path / "file").open("rb") as file:
            assert anywhere(b"Made by Assay", file)
    (tmp_path / "file").write_bytes(b"Made by Assa" * 20_000)
    with (tmp_path / "file").open("rb") as file:
        assert not anywhere(b"Made by Assay", file)


@pytest.mark.parametrize("form", ["docx", "xlsx", "html", "md"])
def test_a_form_is_the_same_each_time_and_replaces_only_its_own_kind(
    runs: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"a.{form}"
    assert assay(runs, "paper", "one", "-o", file).stdout == f"{file}\n"
    first = file.read_bytes()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assay(runs, "paper", "one", "-o", file)
    assert file.read_bytes() == first
    file.write_text("mine")
    assert "was not written by Assay" in assay(runs, "paper", "one", "-o", file, expect=2).stderr
    assert file.read_text() == "mine"


def watched(
    runs: Path, monkeypatch: pytest.MonkeyPatch, turns: list[Callable[[], object]], *words: object
) -> CompletedProcess[str]:
    """`assay paper --watch`; each time that it waits, the next of the turns is taken, then Ctrl-C is typed."""
    left = iter(turns)

    def sleep(_: float) -> None:
        turn = next(left, None)
        if turn is None:
            raise KeyboardInterrupt
        turn()

    monkeypatch.setattr(command, "time", SimpleNamespace(sleep=sleep))
    return run_here(runs, "paper", *words, "--watch")


def test_a_watched_paper_is_made_at_each_change_and_ends_with_ctrl_c(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper, file = tmp_path / "p.yaml", tmp_path / "p.md"
    paper.write_text(DESCRIPTION)
    turns = [
        lambda: None,
        lambda: paper.write_text(DESCRIPTION.replace("Disk &", "Disks and")),
        lambda: paper.write_text(DESCRIPTION.replace("- limits", "- limit")),
        lambda: paper.write_text(DESCRIPTION),
    ]
    done = watched(runs, monkeypatch, turns, paper, "-o", file)
    first, second, wrong, last = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    for line in (first, second, last):
        words = rf"\d\d:\d\d:\d\d {re.escape(str(file))}: \d+ kB in \d+\.\d s; 1 doubtful: assay paper check .*p.yaml"
        assert re.fullmatch(words, line)
    assert wrong.startswith(f"error: {paper}:12: parts[3]: there is no part `limit` (hint: did you mean `limits`?")
    assert "# Disk \\& memory" in file.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.md", "p.yaml"]


def test_a_file_of_another_tool_is_read_again_when_it_changes(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, file = tmp_path / "read.json", tmp_path / "p.md"
    text = (GOLDEN / "imports" / "fio" / "3.33-read.json").read_text()
    log.write_text(text)
    pages: list[str] = []
    turns = [
        lambda: pages.append(file.read_text()),
        lambda: log.write_text(text.replace('"fio-3.33"', '"fio-3.36"')),
    ]
    done = watched(runs, monkeypatch, turns, log, "-o", file)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert "measured with fio 3.33." in pages[0] and "measured with fio 3.36." in file.read_text()


def test_ctrl_c_in_a_build_leaves_the_file_as_it_was(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "a.md"
    assay(runs, "paper", "one", "-o", file)
    before = file.read_bytes()
    monkeypatch.setattr(Path, "replace", interrupted)
    done = watched(runs, monkeypatch, [], "one", "-o", file)
    assert done.returncode == 0 and file.read_bytes() == before and list(tmp_path.iterdir()) == [file]


def test_what_is_watched_is_not_printed(runs: Path) -> None:
    done = run_here(runs, "paper", "one", "-o", "-", "--watch")
    assert done.returncode == 2 and done.stderr.startswith("error: --watch writes a file again and again\n")
