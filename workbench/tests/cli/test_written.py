"""Every command that writes a file where the user says: nothing is lost that Assay did not write."""

import os
import shlex
import shutil
import socket
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer
from advise_tools import NEEDS
from in_process import run_here
from paths import GOLDEN
from run_tools import assay
from stored_runs import DAY, STARTED, noisy, store_run

from assay.cli.export import Format, TableName, mark_of
from assay.cli.main import app
from assay.cli.preflight import SCHEMA
from assay.report.formats.io500 import UNOFFICIAL
from assay.terminal.output import json_text
from assay.terminal.output_file import NETWORK_MARK

CSV = "dimension,item,unit,price\ninstance,small,hour,0.10\n"
GATE = "compare a b --fail-if-slower 50%"
IMPORT = "prices import table.csv --book o --provider a --region b --date 2026-11-01 --currency CHF --hours 730"
VDBENCH = "sd=s,lun=/x/f,size=1m\nwd=w,sd=s,xfersize=4k,rdpct=100\nrd=r,wd=w,iorate=max,elapsed=1,interval=1\n"
IO500 = "[global]\ndatadir = ./data\n[ior-easy]\n[ior-easy-write]\n"
PAGES = ("report a -o", "compare a b -o", "advise need.yaml -o")
PAPER = "paper build a -o"
"""A PDF, for the files of these tests have no suffix."""
FORMATS = ("json", "csv", "parquet", "xlsx", "openmetrics", "fio")
EXPORTS = (
    *(f"export a -f {name} -o" for name in FORMATS),
    *(f"export a -f csv --table {name} -o" for name in ("samples", "kinds", "ceilings")),
)
EDITED = (
    "init",
    IMPORT + " -o",
    "study from ior 'ior -w -t 1m -b 1m' -o",
    "study from elbencho 'elbencho -w -s 1m /x/f' -o",
    "study from warp 'warp get --host=h' -o",
    "study from mdtest 'mdtest -n 10 -d /x' -o",
    "study from io500 config.ini -o",
    "study from vdbench work.parm -o",
    "study from fio 'fio --name=a --size=1m' -o",
    "study from iozone 'iozone -i 0' -o",
    f"study from trace {GOLDEN / 'traces' / 'small.trace.gz'} -o",
    "deploy template nfs-aws-2016 -o",
)
REPLACED = (*PAGES, PAPER, *EXPORTS, f"{GATE} --junit")
"""Commands whose files are known by what is in them; the name of the file follows."""
LATE = (
    *("measure . -o", "measure . --save", "preflight --servers 127.0.0.1 -o", f"{IMPORT.replace('table', 'no')} -o"),
    *("trace import work.parm -o", "ab ./a ./b -o", "ab ./a ./b --fail-if-slower 50% --junit"),
)
"""Commands that refuse before they do anything."""
REFUSING = (*REPLACED, *EDITED, *LATE, "export a -f io500 -o", "export a -f csv --table costs -o")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs, a need, a table of prices and a configuration."""
    folder = tmp_path_factory.mktemp("written")
    # Three more than are compared: they tell how much days differ.
    for day, name in enumerate("cdeab"):
        speeds = {("disk", "read"): noisy(3e8, 4, seed=day)}
        store_run(folder / "assay-runs", name, speeds, created_at=STARTED + day * DAY)
    shutil.copy(NEEDS / "09-shared-objects.yaml", folder / "need.yaml")
    shutil.copy(NEEDS / "book.yaml", folder)
    (folder / "table.csv").write_text(CSV)
    (folder / "config.ini").write_text(IO500)
    (folder / "work.parm").write_text(VDBENCH)
    return folder


def words(command: str, path: object) -> list[str]:
    """A command with the file that it writes."""
    return [*shlex.split(command), str(path)]


@pytest.mark.parametrize("command", REFUSING)
def test_a_file_of_somebody_else_stays(source: Path, tmp_path: Path, command: str) -> None:
    mine, link = tmp_path / "page.html", tmp_path / "link"
    mine.write_text("mine")
    link.symlink_to(mine)
    for path in (mine, link):
        done = run_here(source, *words(command, path))
        error, hint = done.stderr.splitlines()[-2:]
        assert done.returncode == 2 and done.stdout == ""
        assert error.startswith(f"error: {path} ") and "exists already" in error
        assert hint.startswith("hint: use --force to replace it, or ")
    assert mine.read_text() == "mine" and link.is_symlink() and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("command", REFUSING)
def test_what_can_never_be_written_is_one_line_even_with_force(source: Path, tmp_path: Path, command: str) -> None:
    folder, closed, box = (tmp_path / name for name in ("folder", "closed", "box"))
    folder.mkdir()
    closed.write_text("mine")
    closed.chmod(0o444)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(box))
    known = {
        folder: "it is a folder",
        closed: "it is write-protected",
        box: "it is a socket",
        tmp_path / "no/page": f"there is no folder {tmp_path / 'no'}",
        tmp_path / ("x" * 300): "File name too long",
        closed / "page": "Not a directory",
    }
    for path, what in known.items():
        done = run_here(source, *words(command, path), "--force")
        assert (done.returncode, done.stdout) == (2, "")
        error, hint = done.stderr.splitlines()[-2:]
        assert error == f"error: cannot write {path}: {what}" and hint.startswith("hint: ")
    assert closed.read_text() == "mine" and len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("command", REPLACED)
def test_a_file_of_assay_is_replaced_and_keeps_its_mode(source: Path, tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    assay(source, *words(command, file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask()
    file.chmod(0o640)
    before = file.stat().st_ino
    assay(source, *words(command, file))
    assert file.stat().st_ino != before and stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def umask() -> int:
    """The mask of this process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("command", EDITED)
def test_what_users_edit_is_replaced_only_by_force(source: Path, tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    assay(source, *words(command, file))
    new = file.read_bytes()
    assert "exists already" in assay(source, *words(command, file), expect=2).stderr
    file.write_text("mine")
    assay(source, *words(command, file), "--force")
    assert file.read_bytes() == new


TEXTS = [
    command
    for command in (*REPLACED, *EDITED)
    if "parquet" not in command and "xlsx" not in command and command != PAPER
]


@pytest.mark.parametrize("command", TEXTS)
def test_a_dash_prints_what_the_file_would_have(source: Path, tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    assay(source, *words(command, file))
    assert assay(source, *words(command, "-")).stdout == file.read_text(encoding="utf-8")
    assert not (source / "-").exists()


@pytest.mark.parametrize("command", ["compare a b --json -o", "advise need.yaml --json -o", f"{GATE} -o - --junit"])
def test_two_things_are_not_printed_at_once(source: Path, command: str) -> None:
    done = assay(source, *words(command, "-"), expect=2)
    assert "would both go to standard output" in done.stderr and done.stdout == ""


def test_a_failure_while_writing_leaves_the_old_file(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    assay(source, "report", "a", "-o", file)
    old = file.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "replace", full)
    done = assay(source, "report", "a", "-o", file, expect=2)
    assert f"error: cannot write {file}: No space left on device" in done.stderr
    assert file.read_bytes() == old and [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (NETWORK_MARK, json_text({"schema": SCHEMA, "network": {}})),
        (mark_of(Format.IO500, TableName.RESULTS), f"; {UNOFFICIAL}\n"),
    ],
)
def test_marks_of_what_takes_long_to_make(tmp_path: Path, mark: Callable[[Any], bool], text: str) -> None:
    (tmp_path / "file").write_text(text)
    with (tmp_path / "file").open("rb") as file:
        assert mark(file)


@pytest.mark.parametrize("old", ["--html", "--report", "--save"])
def test_older_names_of_the_option_still_hold(source: Path, tmp_path: Path, old: str) -> None:
    for command in ("compare a b", "advise need.yaml", "report a", "study from ior 'ior -w -t 1m -b 1m'"):
        path = tmp_path / f"{command[:5]}{old}"
        done = run_here(source, *words(command, old), path)
        assert done.returncode == 0 and path.exists()


def test_every_option_that_names_a_file_to_write_is_tried() -> None:
    for command, options in commands(typer.main.get_command(app)):
        for name in options & {"--output", "--save", "--junit"}:
            assert "--force" in options, command
            tried = any(each.startswith(command) and each.split()[-1] in (name, name[1:3]) for each in REFUSING)
            # `record` takes a command behind its options: tests/cli/test_traces_cli.py.
            assert tried or command in ("prices refresh", "record"), (command, name)


def commands(command: Any, above: str = "") -> list[tuple[str, set[str]]]:
    """All commands of the program with their options."""
    if hasattr(command, "list_commands"):
        below = partial(command.get_command, None)
        return [one for name in command.list_commands(None) for one in commands(below(name), f"{above} {name}".strip())]
    return [(above, {name for option in command.params for name in option.opts})]
