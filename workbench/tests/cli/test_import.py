"""`assay import`: a run like any other of what fio measured, which says so wherever it is shown."""

import json
import re
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fio_samples import FOLDER, SAMPLES, document_of, documents_of, path_of, text_of
from in_process import run_here
from paths import GOLDEN

from assay.rooms.importers.shown.figures import imported_run
from assay.store import RunStore
from assay.store.entries import ALL_FILES

ORIGIN = "imported from fio 3.33"
_FOLDERS: list[TemporaryDirectory[str]] = []


def assay(folder: Path, *words: object) -> CompletedProcess[str]:
    done = run_here(folder, *words)
    assert "Traceback" not in done.stderr and "bug" not in done.stderr, done.stderr
    return done


def imported(folder: Path, *names: str, options: tuple[str, ...] = ()) -> Path:
    """Import samples; returns the run's folder."""
    done = assay(folder, "import", *map(path_of, names), *options)
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "assay-runs").iterdir()
    assert run.name in done.stdout
    return run


@cache
def every_sample() -> Path:
    """A run of all samples."""
    _FOLDERS.append(TemporaryDirectory())
    return imported(Path(_FOLDERS[-1].name), *SAMPLES, options=("--order", "random"))


def refused(folder: Path, *words: object) -> str:
    """What a refused import prints; it writes nothing."""
    before = sorted(folder.rglob("*"))
    done = assay(folder, "import", *words)
    assert done.returncode == 2 and done.stdout == ""
    assert sorted(folder.rglob("*")) == before or not any((folder / "assay-runs").iterdir())
    return done.stderr


def test_every_command_says_where_it_comes_from(tmp_path: Path) -> None:
    run = imported(tmp_path, "3.33-read", "3.33-sections", options=("--study", "disk"))
    origin = f"{ORIGIN}, {path_of('3.33-read')} and 1 more"
    assert {path.name for path in run.iterdir()} <= set(ALL_FILES)
    assert origin in assay(tmp_path, "list").stdout
    shown = assay(tmp_path, "show", "last").stdout
    assert shown.startswith(f"{origin}: Assay measured nothing of it\n") and document_of("3.33-read")["time"] in shown
    assert assay(tmp_path, "show", "disk", "c1").stdout.startswith(origin)
    assert assay(tmp_path, "report", "last", "-o", "x.html").returncode == 0
    page = (tmp_path / "x.html").read_text()
    assert origin.removeprefix("imported ") in page and "Imported" in page
    assert "<dt>Measured" not in page and "Save the study below" not in page and "Seed" not in page
    value = json.loads(assay(tmp_path, "show", "last", "--json").stdout)
    assert [(one["tool"], one["version"], len(one["sha256"])) for one in value["imports"]] == [("fio", "3.33", 64)] * 2


def test_it_is_compared_like_any_other_run(tmp_path: Path) -> None:
    imported(tmp_path, "3.0-randread-plus", options=("--study", "old"))
    assert assay(tmp_path, "import", path_of("3.42-randread-plus"), "--study", "new").returncode == 0
    done = assay(tmp_path, "compare", "old", "new")
    assert done.returncode == 0, done.stderr
    assert "imported from fio 3.0" in done.stdout and "imported from fio 3.42" in done.stdout
    assert "random_read" in done.stdout
    assert assay(tmp_path, "compare", "old", "new", "-o", "c.html").returncode == 0
    assert "imported from fio 3.42" in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize("form", ["csv", "json", "openmetrics", "fio"])
def test_it_is_exported(tmp_path: Path, form: str) -> None:
    run = every_sample()
    done = assay(tmp_path, "export", run, "-f", form, "-o", "-")
    assert done.returncode == 0 and done.stdout, done.stderr
    assert "imported from fio 2.2.10, fio 2.21, fio 3.0 and 2 more" in done.stdout or form == "json"
    if form == "json":
        assert len({one["file"] for one in json.loads(done.stdout)["run"]["imports"]}) == len(SAMPLES)
    if form == "fio":
        (tmp_path / "own.json").write_text(done.stdout)
        assert "exported by Assay" in refused(tmp_path, "own.json")


def test_a_report_has_all_that_was_printed(tmp_path: Path) -> None:
    assert assay(tmp_path, "report", every_sample(), "-o", "x.html").returncode == 0
    page = (tmp_path / "x.html").read_text()
    for name in SAMPLES:
        for job in document_of(name)["jobs"]:
            for direction in ("read", "write", "trim", "mixed"):
                if float(job.get(direction, {}).get("iops", 0)):
                    assert f"{direction}.iops={job[direction]['iops']} 1/s" in page
                    assert f"{direction}.bw={job[direction]['bw']} KiB/s" in page


def test_the_store_has_every_figure_and_its_results_are_these() -> None:
    run = every_sample()
    with RunStore.open(run) as store:
        samples = {(sample.case, sample.repeat): sample for sample in store.samples()}
        assert store.current_status() == "complete with errors"
    outputs = imported_run(run).outputs
    assert list(dict.fromkeys(Path(output.file.file).stem for output in outputs)) == list(SAMPLES)
    for output in outputs:
        document = documents_of(Path(output.file.file).stem)[output.file.line]
        for job, result in zip(document["jobs"], output.results, strict=True):
            figures = {figure.name: figure.text for figure in result.figures}
            directions = [one for one in ("read", "write", "trim", "mixed") if f"{one}.bw" in figures]
            assert all(figures[f"{one}.bw"] == job[one]["bw"] for one in directions)
            if result.case:
                sample = samples.pop((result.case, result.repeat))
                used = [one for one in directions if figures[f"{one}.total_ios"] != "0" and one != "trim"]
                assert sample.ops == sum(int(figures[f"{one}.total_ios"]) for one in used)
                assert sample.iops == pytest.approx(sum(float(figures[f"{one}.iops"]) for one in used))
    assert not samples


def test_a_case_shows_every_figure_in_its_unit(tmp_path: Path) -> None:
    run = imported(tmp_path, "3.33-randrw-plus")
    shown = re.sub(r"  +", " ", assay(tmp_path, "show", run, "c1").stdout)
    part = document_of("3.33-randrw-plus")["jobs"][0]["read"]
    lines = {line.strip() for line in shown.splitlines()}
    assert f"read.bw_bytes {part['bw_bytes']} B/s" in lines and f"read.bw {part['bw']} KiB/s" in lines
    for time in ("slat_ns", "clat_ns", "lat_ns"):
        for name in ("min", "mean", "max"):
            assert f"read.{time}.{name} {part[time][name]} ns" in lines
    for percent, value in part["clat_ns"]["percentile"].items():
        assert f"read.clat_ns.percentile.{percent} {value} ns" in lines
    assert "rwmixread=70 bs=4k" in shown and f"{path_of('3.33-randrw-plus')}:8" in shown
    assert "as sent to `assay-engine run`" not in shown


def test_rules_that_need_what_fio_does_not_say_are_not_evaluated(tmp_path: Path) -> None:
    run = imported(tmp_path, "3.33-read")
    value = json.loads(assay(tmp_path, "show", run, "c1", "--json").stdout)
    reasons = {one["rule"]: one["reason"] for one in value["rows"][0]["not_evaluated"]}
    assert reasons["cached_read"] == "it is not known what was done about the page cache (cache)"
    assert "clock_set" in reasons and value["rows"][0]["is_partly_checked"]
    (sample,) = value["rows"][0]["samples"]
    assert {"started_at", "flush_ns", "cache_done"} <= set(sample["not_reported"])


def again(name: str, number: int) -> str:
    """A sample as if it had been measured again: a second later for each."""
    time = document_of(name)["timestamp"]
    return text_of(name).replace(time, str(int(time) + number))


def test_the_same_work_in_several_files_is_repeated(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(again("3.33-read", number))
    assert assay(tmp_path, "import", "0.json", "1.json", "2.json").returncode == 0
    (row,) = json.loads(assay(tmp_path, "show", "last", "--json").stdout)["results"]
    assert row["n"] == 3 and row["case"] == "c0001"


def test_a_file_that_is_given_twice_is_no_repeat(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(text_of("3.33-read"))
    assert "error: b.json: the same as a.json, byte by byte" in refused(tmp_path, "a.json", "b.json")
    assert "the same as a.json" in refused(tmp_path, "a.json", "a.json")


def test_the_same_job_with_other_options_is_another_point(tmp_path: Path) -> None:
    for size in ("4k", "64k"):
        document = json.loads(text_of("3.33-read"))
        document["jobs"][0]["job options"]["bs"] = size
        document["jobs"][0]["read"]["total_ios"] = (16 << 20) // (int(size[:-1]) * 1024)
        (tmp_path / f"{size}.json").write_text(json.dumps(document))
    assert assay(tmp_path, "import", "4k.json", "64k.json").returncode == 0
    shown = assay(tmp_path, "show", "last").stdout
    assert "record_size=4KiB" in shown and "record_size=64KiB" in shown


def test_what_is_recognised_and_left_out_is_said(tmp_path: Path) -> None:
    files = [path_of(name) for name in ("3.33-read", "3.33-trim", "2.2.10-randread")]
    done = assay(tmp_path, "import", *files)
    lines = done.stderr.splitlines()
    assert lines[0] == f"{files[0]}: fio 3.33, JSON: 1 result"
    assert lines[1] == f"{files[1]}: fio 3.33, JSON: 0 results, 1 left out"
    assert f"left out: {files[1]}:8: t: rw=randtrim trims" in done.stderr
    assert "state it with `assay import --order ORDER`" in done.stderr
    shown = assay(tmp_path, "show", "last").stdout
    assert "left out" in shown and "trims" in shown


def test_a_failed_job_is_no_result(tmp_path: Path) -> None:
    imported(tmp_path, "3.33-full-device")
    shown = assay(tmp_path, "show", "last").stdout
    assert "complete with errors" in shown and "error 28, No space left on device" in shown and "incomplete" in shown


def test_text_and_terse_output_are_imported(tmp_path: Path) -> None:
    text, terse = (FOLDER / f"{name}.txt" for name in ("2.2.10-groups", "3.33-terse-status-interval"))
    stated = "state it with `assay import --order ORDER`"
    assert stated in refused(tmp_path, terse)
    later = FOLDER / "3.33-terse-status-interval-stonewall.txt"
    assert f"{stated}; w: no operation was done\n" in refused(tmp_path, later)
    done = assay(tmp_path, "import", text, terse, "--order", "random", "--study", "old")
    assert f"{text}: fio 2.2.10, text: 2 results\n" in done.stderr
    assert f"{terse}: fio 3.33, terse output (version 3): 2 results" in done.stderr
    shown = assay(tmp_path, "show", "old").stdout
    assert "text of fio 2.2.10" in shown and "fio / w " in shown and "fio / n (2 of 2)" in shown
    case = re.sub(r"  +", " ", assay(tmp_path, "show", "old", "c1").stdout)
    assert "\nwrite.io_bytes 24576 KB (2^10 B)\n" in case and "bs=64K-64K/64K-64K/64K-64K" in case
    assert assay(tmp_path, "report", "old", "-o", "x.html").returncode == 0
    (tmp_path / "short.txt").write_text(text.read_text()[:900])
    assert re.search(r"error: short\.txt:\d+: job w: ", refused(tmp_path, text, "short.txt"))


def test_bad_files_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "short.json").write_text(text_of("3.33-read")[:3000])
    (tmp_path / "notes.txt").write_text("hello\n")
    error = refused(tmp_path, path_of("3.33-read"), "short.json", "notes.txt", "none.json")
    assert re.search(r"error: short\.json:\d+: not JSON: ", error)
    assert "error: notes.txt: not a format that Assay can import\n" in error and "fio, iozone, IOR" in error
    assert "error: none.json: no such file or directory" in error
    assert "no result that a run could hold" in refused(tmp_path, path_of("3.33-trim"))
    assert "--order nonsense: no order" in refused(tmp_path, path_of("3.33-read"), "--order", "nonsense")


def test_hostile_names_are_shown_and_not_interpreted(tmp_path: Path) -> None:
    document = json.loads(text_of("3.33-read"))
    document["jobs"][0] |= {"jobname": "<script>\x1b[31m"}
    document["jobs"][0]["job options"] |= {"directory": "=cmd|' /C calc'!A0", "x": "</script>"}
    document["fio version"] = "fio-\x1b]0;x\x07<b>"
    (tmp_path / "a.json").write_text(json.dumps(document))
    done = assay(tmp_path, "import", "a.json")
    assert done.returncode == 0 and "\x1b" not in done.stderr + done.stdout
    for words in (("list",), ("show", "last"), ("show", "last", "c1")):
        assert "\x1b" not in assay(tmp_path, *words).stdout
    assert assay(tmp_path, "report", "last", "-o", "x.html").returncode == 0
    page = (tmp_path / "x.html").read_text()
    assert "<script>\\x1b" not in page and "&lt;script&gt;" in page and "<b>" not in page.split("<main", 1)[-1][:20]
    assert "'=cmd" in assay(tmp_path, "export", "last", "-f", "csv", "-o", "-").stdout


def test_a_rate_in_bytes_alone_is_shown_without_operations(tmp_path: Path) -> None:
    """IO500 does not say how large the transfers of its easy phases were."""
    assert assay(tmp_path, "import", GOLDEN / "imports" / "io500" / "result_summary.txt").returncode == 0
    rows = json.loads(assay(tmp_path, "show", "last", "--json").stdout)["results"]
    rates = {row["label"]: row["operations_per_s"] for row in rows}
    assert rates["IO500 / ior-easy-write"] is None and rates["IO500 / ior-hard-write"] > 10_000
    assert "1.6 GB/s  not reported" in assay(tmp_path, "show", "last", "c1").stdout
    for words in (
        ("report", "last", "-o", "x.html"),
        ("export", "last", "-f", "csv", "-o", "-"),
        ("compare", "last", "last"),
    ):
        assert assay(tmp_path, *words).returncode in (0, 2)


def test_it_is_not_run_again(tmp_path: Path) -> None:
    run = imported(tmp_path, "3.33-read")
    done = assay(tmp_path, "run", run, "--resume")
    assert done.returncode == 3 and "imported from fio 3.33" in done.stderr


def test_a_damaged_folder_is_one_line(tmp_path: Path) -> None:
    run = imported(tmp_path, "3.33-read")
    (run / "imported.json").write_text("{}")
    done = assay(tmp_path, "show", run, "c1")
    assert done.returncode == 2 and "imported.json is not that of an imported run" in done.stderr
    (run / "imported.json").unlink()
    assert "imported.json: cannot be read" in assay(tmp_path, "report", run, "-o", "x.html").stderr


OPTIONS: dict[str, tuple[str, ...]] = {
    "rw": ("read", "write", "randread", "randwrite", "randrw", "rw"),
    "bs": ("4k", "64k", "1m", "4k-8k"),
    "iodepth": ("1", "32", "x"),
    "size": ("1m", "50%", "16m"),
    "numjobs": ("1", "4"),
    "direct": ("0", "1"),
    "fsync": ("0", "1"),
    "runtime": ("1",),
    "rate_iops": ("100",),
    "cpus_allowed": ("0-1",),
    "ioengine": ("psync", "io_uring"),
    "filename": ("/dev/a", "/dev/b:/dev/c"),
}


def test_any_options_can_be_missing(tmp_path: Path) -> None:
    """Pages, answers and notes need no parameter that an output does not state."""
    import random

    choice = random.Random(43)
    (job,) = json.loads(text_of("3.33-rw"))["jobs"]
    jobs: list[dict[str, Any]] = []
    for number in range(60):
        options = {name: choice.choice(values) for name, values in OPTIONS.items() if choice.random() < 0.6}
        jobs.append(
            json.loads(json.dumps(job)) | {"jobname": f"j{number % 7}", "groupid": number, "job options": options}
        )
        unused = {"read": "write", "write": "read"}.get(options.get("rw", "read").removeprefix("rand"))
        if unused:
            jobs[-1][unused] |= {"total_ios": 0, "io_bytes": 0}
        for direction in ("read", "write"):
            jobs[-1][direction]["bw_bytes"] *= choice.choice((1, 2, 50))
    (tmp_path / "a.json").write_text(json.dumps({"fio version": "fio-3.33", "jobs": jobs}))
    assert assay(tmp_path, "import", "a.json").returncode == 0
    for words in (("show", "last"), ("report", "last", "-o", "x.html"), ("export", "last", "-f", "fio", "-o", "-")):
        assert assay(tmp_path, *words).returncode == 0


def test_an_import_that_was_cut_short_is_imported_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `kill -9` in the middle: the folder stays, with the results so far."""
    real, stored = RunStore.finish_repeat, []

    def killed(store: RunStore, *words: Any) -> None:
        if stored:
            raise KeyboardInterrupt
        stored.append(words)
        real(store, *words)

    monkeypatch.setattr(RunStore, "finish_repeat", killed)
    monkeypatch.setattr(RunStore, "discard", RunStore.close)
    assay(tmp_path, "import", path_of("3.33-jobs"))
    monkeypatch.undo()
    shown = assay(tmp_path, "show", "last").stdout
    assert "The import was cut short: 1 of 2 results are missing." in shown and "--resume" not in shown


def test_a_table_is_imported_once_its_roles_are_confirmed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("disk,test,MB/s\nsda,read,150\nsda,write,140\n")
    first = assay(tmp_path, "import", "t.csv")
    assert first.returncode == 2 and not (tmp_path / "assay-runs").exists()
    assert first.stdout.startswith("# A guess") and "disk: {role: target}" in first.stdout
    assert "not sure: MB/s is taken as 10^6" in first.stderr
    assert "assay import t.csv --roles t.roles.yaml" in first.stderr
    written = assay(tmp_path, "import", "t.csv", "--write-roles", "t.roles.yaml")
    assert written.returncode == 2 and written.stdout == "" and (tmp_path / "t.roles.yaml").read_text() == first.stdout
    assert "--force" in assay(tmp_path, "import", "t.csv", "--write-roles", "t.roles.yaml").stderr
    done = assay(tmp_path, "import", "t.csv", "--roles", "t.roles.yaml")
    assert done.returncode == 0 and "t.csv: a table, CSV, roles from t.roles.yaml: 2 results" in done.stderr
    assert "150 MB/s" in assay(tmp_path, "show", "last", "c1").stdout
    shown = assay(tmp_path, "show", "last").stdout
    assert "imported from a table, t.csv" in shown and "sda" in shown
    assert assay(tmp_path, "report", "last", "-o", "x.html").returncode == 0
    (tmp_path / "t.roles.yaml").write_text("columns: {disk: target}\n")
    assert "t.csv:1: the column `test` has no role" in refused(tmp_path, "t.csv", "--roles", "t.roles.yaml")
