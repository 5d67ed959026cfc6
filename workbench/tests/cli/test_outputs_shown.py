"""What other tools wrote, where a run is asked for: shown, reported, compared and exported, and nothing is kept."""

import datetime as dt
import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from fio_samples import path_of
from in_process import run_here
from paths import GOLDEN
from run_tools import ASSAY
from stored_runs import noisy, store_run

import assay as api
from assay.run.find_run import find_shown_run, remove_temporary_runs

SAMPLES = GOLDEN / "imports"
NEED = GOLDEN / "needs" / "07-long-term.yaml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with outputs, and one of its own for temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "logs").mkdir()
    shutil.copy(path_of("3.0-randread-plus"), tmp_path / "logs" / "old.json")
    shutil.copy(path_of("3.42-randread-plus"), tmp_path / "new disk.json")
    return tmp_path


def shown(folder: Path, *words: object, code: int = 0) -> tuple[str, str]:
    done = run_here(folder, *words)
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    assert not (folder / "assay-runs").exists() and not list((folder / "tmp").iterdir())
    return done.stdout, done.stderr


def test_a_file_is_shown_under_its_name(folder: Path) -> None:
    out, err = shown(folder, "show", "logs/old.json")
    assert err == "logs/old.json: fio 3.0, JSON: 1 result\n"
    assert out.startswith("imported from fio 3.0, logs/old.json: Assay measured nothing of it\n")
    assert "assay show logs/old.json c0001" in out and "run   logs/old.json (complete" in out
    assert "assay show 'new disk.json' c0001" in shown(folder, "show", "new disk.json")[0]
    assert "read.iops" in shown(folder, "show", "logs/old.json", "c1")[0]


def test_its_report_and_table_are_named_after_it(folder: Path) -> None:
    assert shown(folder, "report", "logs/old.json")[0] == "old.json.html\n"
    page = (folder / "old.json.html").read_text()
    assert "from fio 3.0" in page and str(folder / "tmp") not in page
    assert shown(folder, "report", "logs/old.json", "-o", "x.html")[0] == "x.html\n"
    shown(folder, "export", "logs/old.json", "-f", "csv")
    assert "random_read" in (folder / "old.json.csv").read_text()


def test_two_files_are_compared(folder: Path) -> None:
    out, _ = shown(folder, "compare", "logs/old.json", "new disk.json")
    assert "before  logs/old.json (" in out and "after   new disk.json (" in out
    assert "both are run logs/old.json" in shown(folder, "compare", "logs/old.json", "logs/old.json", code=2)[1]


def test_as_evidence_it_lacks_a_design(folder: Path) -> None:
    _, err = shown(folder, "advise", NEED, "--evidence", "logs/old.json", code=2)
    assert "logs/old.json: nothing says of which design its results are" in err
    assert "`runs: [{run: logs/old.json, design: DESIGN}]`" in err
    assert "none.json: no such file" in shown(folder, "advise", NEED, "--evidence", "none.json", code=2)[1]


def test_a_folder_is_one_run(folder: Path) -> None:
    shutil.copy(path_of("3.33-read"), folder / "logs" / "read.json")
    (folder / "logs" / "readme.md").write_text("Nothing.\n")
    out, err = shown(folder, "show", "logs")
    assert "logs/old.json: fio 3.0" in err and "logs/read.json: fio 3.33" in err
    assert "not read: logs/readme.md: notes, and no output" in err and "2 of 2 repeats" in out


def test_what_cannot_be_read_says_how_to_go_on(folder: Path) -> None:
    shutil.copy(SAMPLES / "tables" / "papers" / "aoe.csv", folder)
    (folder / "half.json").write_text(Path(path_of("3.33-read")).read_text()[:900])
    (folder / "logs" / "half.json").write_text((folder / "half.json").read_text())
    _, err = shown(folder, "show", "aoe.csv", code=2)
    assert "nothing says what its columns are" in err and "assay import aoe.csv --write-roles aoe.roles.yaml" in err
    assert "error: half.json:" in shown(folder, "show", "half.json", code=2)[1]
    assert "error: logs/half.json:" in shown(folder, "show", "logs", code=2)[1]


def test_names_of_runs_and_studies_stay_what_they_are(tmp_path: Path) -> None:
    store_run(tmp_path / "assay-runs", "nightly", {("disk", "write"): noisy(300e6, 4, seed=1)})
    (tmp_path / "nightly").mkdir()
    (tmp_path / "study.yaml").write_text("study: nightly\n")
    for name in ("nightly", "study.yaml", "last"):
        assert "4 of 4 repeats" in run_here(tmp_path, "show", name).stdout
    assert "is not a run" in run_here(tmp_path, "show", "assay-runs").stderr
    shutil.copy(path_of("3.33-read"), tmp_path / "disk.json")
    assert "a file, not a run" in run_here(tmp_path, "run", "disk.json", "--resume", "--settle").stderr


def test_a_program_has_it_until_it_ends(folder: Path) -> None:
    path = folder / "logs" / "old.json"
    assert len(api.load(path).results) == 1
    made = find_shown_run(str(path), folder)
    assert made == find_shown_run(str(path), folder) and made.is_dir()
    remove_temporary_runs()
    assert not made.exists()


class TestFolders:
    def test_of_io500_each_result_counts_once(self, tmp_path: Path) -> None:
        results = tmp_path / "results" / "2026.11.30"
        results.mkdir(parents=True)
        shutil.copy(SAMPLES / "io500" / "result_summary.txt", results)
        shutil.copy(SAMPLES / "io500" / "result_summary.txt", results / "printed.txt")
        (results / "printed.txt").write_text("mpirun\n" + (results / "printed.txt").read_text())
        shutil.copy(SAMPLES / "ior" / "4.1.0-io500-random.txt", results / "ior-rnd4K-easy-read.txt")
        shutil.copy(SAMPLES / "mdtest" / "4.1.0-io500-write.txt", results / "mdtest-easy-write.txt")
        (results / "config.ini").write_text("[global]\ndatadir = ./data\n")
        done = run_here(tmp_path, "import", "results")
        assert done.returncode == 0, done.stderr
        value = json.loads(run_here(tmp_path, "show", "last", "--json").stdout)
        assert all(one["n"] == 1 for one in value["results"])
        # Of twelve phases with a counterpart, IOR's and mdtest's files have one each.
        assert len(value["results"]) == 12
        assert "ior-rnd4K-easy-read.txt has it with all its figures" in done.stderr
        assert "mdtest-easy-write: mdtest-easy-write.txt has it" in done.stderr
        assert "not read: results/2026.11.30/config.ini" in done.stderr

    def test_what_no_tool_wrote_is_named_up_to_ten(self, tmp_path: Path) -> None:
        for number in range(14):
            (tmp_path / f"{number:02}.txt").write_text("x\n")
        shutil.copy(path_of("3.33-read"), tmp_path / "zz.json")
        (tmp_path / ".hidden").write_text("x")
        done = run_here(tmp_path, "import", ".", "--out", "runs")
        assert done.returncode == 0 and done.stderr.count("not read: ") == 11
        assert "not read: 4 files more" in done.stderr and "hidden" not in done.stderr
        # Runs in a folder are not read as outputs.
        assert "runs/" not in run_here(tmp_path, "import", ".", "--out", "runs").stderr

    def test_damaged_outputs_stop_it(self, tmp_path: Path) -> None:
        (tmp_path / "logs").mkdir()
        text = Path(path_of("3.33-read")).read_text()
        for name, part in (("a", 900), ("b", None), ("c", 1200)):
            (tmp_path / "logs" / f"{name}.json").write_text(text[:part])
        done = run_here(tmp_path, "import", "logs")
        assert done.returncode == 2 and not (tmp_path / "assay-runs").exists()
        assert done.stderr.count("error: logs/") == 2 and "logs/c.json:" in done.stderr

    def test_without_an_output_it_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "logs").mkdir()
        assert "logs: no file that Assay can import" in run_here(tmp_path, "import", "logs").stderr
        shutil.copy(SAMPLES / "tables" / "papers" / "aoe.csv", tmp_path / "logs")
        assert "the first of 1: logs/aoe.csv: a table" in run_here(tmp_path, "import", "logs").stderr


def test_the_list_has_when_it_was_measured(tmp_path: Path) -> None:
    for number, name in enumerate(("fio/3.33-read.json", "iozone/3.414-auto.txt", "io500/result_summary.txt")):
        assert run_here(tmp_path, "import", SAMPLES / name, "--study", f"study{number}").returncode == 0
    document = json.loads((SAMPLES / "fio" / "3.33-read.json").read_text())
    listed = run_here(tmp_path, "list").stdout.splitlines()
    (fio,), (iozone,), (io500,) = ([line for line in listed if f"study{number}" in line] for number in range(3))
    moment = dt.datetime.fromtimestamp(document["timestamp"], dt.UTC)
    assert f"{moment:%Y-%m-%d %H:%M:%S}" in fio and "not stated" in io500
    assert "Sun Nov 29 12:34:08 2026" in iozone
    first, *_ = json.loads(run_here(tmp_path, "list", "--json").stdout)
    assert (first["study"], first["measured_at"]) == ("study0", document["timestamp_ms"] / 1000)


def test_what_iozone_times_apart_is_not_one_range(folder: Path) -> None:
    out, _ = shown(folder, "show", SAMPLES / "iozone" / "3.414-auto.txt")
    lines = [line.split(",")[0] for line in out.splitlines() if ", MB/s  " in line]
    assert lines[:4] == ["Sequential write", "Rewrite", "Sequential read", "Reread"]


def stop_here(*_: object) -> None:
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("show", "new disk.json"), "assay.rooms.importers.work.temporary.make_run"),
        (("import", "new disk.json"), "assay.rooms.importers.work.runs._finish"),
        (("import", "new disk.json"), "assay.store.run._insert_plan"),
    ],
)
def test_a_signal_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], place: str
) -> None:
    monkeypatch.setattr(place, stop_here)
    done = run_here(folder, *words)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.splitlines()[1:] == ["stopped by SIGTERM"] and not done.stdout
    assert not list((folder / "tmp").iterdir())
    assert not list((folder / "assay-runs").glob("*")) and not list((folder / "assay-runs").glob(".*"))
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_import_of_which_nothing_can_be_printed_is_not_kept(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        words = [ASSAY, "import", "new disk.json"]
        done = subprocess.run(words, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == ["error: standard output cannot be written: No space left on device"]
    assert not list((folder / "assay-runs").iterdir())
