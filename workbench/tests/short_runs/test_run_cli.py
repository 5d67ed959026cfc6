"""The `assay` program with the real engine: whole runs, refusals, and streams that cannot be written."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from run_tools import ASSAY, assay, check_whole, needs_engine, only_run, study
from series_tools import read_series

from assay.store import RunStore, list_runs

pytestmark = needs_engine


def test_file_target_from_run_to_show(tmp_path: Path) -> None:
    done = assay(tmp_path, "run", str(study(tmp_path)))
    check_whole(tmp_path, phases=2)
    assert "2 cases x 3 repeats: about" in done.stderr
    assert "[6/6]" in done.stderr
    assert "assay report" in done.stderr
    assert "c0002" in done.stdout
    (listed,) = json.loads(assay(tmp_path, "list", "--json").stdout)
    assert (listed["status"], listed["planned"], listed["finished"], listed["cases"]) == ("complete", 6, 6, 2)
    assert listed["id"] in assay(tmp_path, "list").stdout
    shown = json.loads(assay(tmp_path, "show", "last", "--json").stdout)
    assert [(row["case"], row["operation"], row["n"]) for row in shown["results"]] == [
        (case, operation, 3) for case in ("c0001", "c0002") for operation in ("write", "read")
    ]
    assert shown["environment"]["kernel"]["release"] == os.uname().release
    assert shown["places"][0]["path"] == str(tmp_path / "target")
    assert set(shown["versions"]) >= {"assay", "assay-engine", "engine_sha256", "study_sha256", "python"}
    assert "verdicts" in assay(tmp_path, "show", "last").stdout
    one = json.loads(assay(tmp_path, "show", "last", "c0002", "--json").stdout)
    assert len(one["rows"]) == 2
    assert one["jobs"][0]["job"]["id"] == "c0002-r1"
    few = one["rows"][0]["samples"][0]
    assert few["ops"] < 20 and few["latency"].keys() == {"min", "mean", "max"} and few["latency"]["mean"] > 0
    qualities = [item["quality"] for item in one["rows"][0]["percentiles"]]
    assert qualities == ["no interval"] + ["too few operations"] * 4, "all repeats together have 24 operations"
    text = assay(tmp_path, "show", "last", "c0001").stdout
    assert "as sent to `assay-engine run`" in text
    done = assay(tmp_path, "show", "last", "c9999", expect=2)
    assert "has no case 'c9999'" in done.stderr


def test_null_target_and_json(tmp_path: Path) -> None:
    file = study(tmp_path, kind='"null"', more="", operations="write, random_read")
    done = assay(tmp_path, "run", str(file), "--json")
    found = json.loads(done.stdout)
    assert (found["status"], found["outcomes"], len(found["results"])) == ("complete", {"ok": 6}, 4)
    check_whole(tmp_path, phases=2)


def test_time_series_adds_up_to_the_samples(tmp_path: Path) -> None:
    assay(tmp_path, "run", str(study(tmp_path, extra="lanes: 2")))
    run = only_run(tmp_path)
    rows = read_series(run)
    with RunStore.open(run) as store:
        for sample in store.samples():
            key = (sample.case, sample.repeat, sample.phase)
            mine = [row for row in rows if (row["case"], row["repeat"], row["phase"]) == key]
            assert sum(row["read_bytes"] + row["write_bytes"] for row in mine) == sample.bytes
            assert sum(row["read_ops"] + row["write_ops"] for row in mine) == sample.ops
            assert {row["operation"] for row in mine} == {sample.operation}
            # Of fewer than 20 operations there is no median.
            counts = [(row["read_ops"] + row["write_ops"], row["p50_ns"]) for row in mine]
            assert all((half or 0) > 0 if ops >= 20 else half is None for ops, half in counts)


def test_scripted_errors_are_results(tmp_path: Path) -> None:
    file = study(tmp_path, kind='"null"', more=", errors: [{at_op: 3, errno: EIO}]", record="64KiB")
    done = assay(tmp_path, "run", str(file), expect=1)
    assert "complete with errors" in done.stderr
    assert "EIO" in assay(tmp_path, "show", "last", "c0001").stdout


def test_places_that_are_not_ours_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("x")
    (tmp_path / "link").symlink_to("full")
    before = {path for path in tmp_path.rglob("*") if path.name != "study.yaml"}
    for path, message in (
        (tmp_path / "full", "not empty and not made by Assay"),
        (tmp_path / "link", "is a symbolic link"),
        (tmp_path / "link" / "precious", "exists and is not a directory"),
        (tmp_path / "none" / "target", "does not exist"),
    ):
        done = assay(tmp_path, "run", str(study(tmp_path, more=f", path: {path}")), expect=3)
        assert message in done.stderr
        assert "hint: " in done.stderr
    done = assay(tmp_path, "run", str(study(tmp_path, more=f", path: {tmp_path}/full/../new")), expect=2)
    assert ".." in done.stderr
    assert {path for path in tmp_path.rglob("*") if path.name != "study.yaml"} == before


def test_memory_cap_is_made_and_removed(tmp_path: Path) -> None:
    groups = Path("/sys/fs/cgroup/memory")
    if os.geteuid() != 0 or not groups.exists():
        pytest.skip("needs root and a version 1 memory controller")
    file = study(tmp_path, cache="limit", extra="memory_limit: 128MiB", size="8MiB")
    assay(tmp_path, "run", str(file))
    name = only_run(tmp_path).name
    assert not list(groups.glob(f"assay-{name}*"))
    with RunStore.open(only_run(tmp_path)) as store:
        kinds = [entry.kind for entry in store.entries(only_open=False)]
    assert kinds.count("cgroup") == 6
    check_whole(tmp_path, phases=2)


def test_study_that_is_wrong_leaves_no_run(tmp_path: Path) -> None:
    assay(tmp_path, "run", str(study(tmp_path, record="2MiB")), expect=2)
    assert "no study is named" in assay(tmp_path, "run", expect=2).stderr
    assert not (tmp_path / "assay-runs").exists()


def test_doctor(tmp_path: Path) -> None:
    facts = json.loads(assay(tmp_path, "doctor", "--json").stdout)
    assert next(fact for fact in facts if fact["name"] == "assay-engine")["status"] == "ok"
    assert "remedy" in assay(tmp_path, "doctor").stdout


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, in which `assay` is the program; the exit code is that of the first one in a pipe."""
    text = f'assay() {{ {shlex.quote(ASSAY)} "$@"; }}; {command}; exit ${{PIPESTATUS[0]}}'
    return subprocess.run(["bash", "-c", text], cwd=folder, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize(
    "streams", [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "2>&1 | head -2", "2>&1 | true", "2>/dev/full"]
)
def test_run_is_not_lost_with_its_streams(tmp_path: Path, streams: str) -> None:
    study(tmp_path, repeats=1)
    done = shell(tmp_path, f"assay run study.yaml {streams}")
    assert done.returncode == 0, done
    assert "bug" not in done.stderr + done.stdout
    check_whole(tmp_path, phases=2)


def test_output_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    study(tmp_path, repeats=1)
    for command in ("run study.yaml", "run study.yaml --json", "list", "list --json", "show last", "doctor"):
        done = shell(tmp_path, f"assay {command} >/dev/full")
        assert done.returncode == 1, (command, done)
        last = done.stderr.splitlines()[-1]
        assert last == "error: standard output cannot be written: No space left on device", (command, done)
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
    assert [run.status for run in list_runs(tmp_path / "assay-runs")] == ["complete", "complete"]
    assert shell(tmp_path, "assay list | head -1").returncode == 0


def test_study_that_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "/dev/zero"):
        done = assay(tmp_path, "check", name, expect=2)
        assert f"cannot read the study {name}: not a regular file" in done.stderr
    assert "is a directory" in assay(tmp_path, "check", str(tmp_path), expect=2).stderr
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    assert "larger than 256 KiB" in assay(tmp_path, "check", "large", expect=2).stderr


def test_optional_workload_that_cannot_be_done_is_left_out_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = study(tmp_path, record="64KiB")
    more = "  capped: {operations: [read], file_size: 1MiB, record_size: 64KiB, cache: limit, "
    more += "memory_limit: 128MiB, optional: true}\n"
    file.write_text(file.read_text().replace("repeats:", f"{more}repeats:"))
    monkeypatch.setattr("assay.launch.machine_checks.memory_cap_fault", lambda: "no groups here")
    done = assay(tmp_path, "run", file)
    assert "note: 1 case of capped left out: no groups here" in done.stderr
    check_whole(tmp_path, phases=2)
    assert (
        "left out  1 case of capped (not supported on this machine): no groups here"
        in assay(tmp_path, "show", "last").stdout
    )
    shown = json.loads(assay(tmp_path, "show", "last", "--json").stdout)
    assert [item["workload"] for item in shown["left_out"]] == ["capped"]
    monkeypatch.setattr("assay.launch.machine_checks.memory_cap_fault", lambda: None)
    with RunStore.open(only_run(tmp_path)) as store:
        assert {case.workload for case in store.cases()} == {"grid"}
