"""Programs that a study measures as they are, from the study file to the report."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from run_tools import ASSAY, assay, needs_engine, only_run

from assay.store import RunStore

pytestmark = needs_engine

STUDY = """
study: programs
question: How long does packing take?
targets:
  disk: {{kind: file, path: {folder}/disk}}
  memory: {{kind: file, path: /dev/shm/{name}}}
commands:
  pack:
    prepare: [dd, if=/dev/zero, of=data, bs=1k, count=2000]
    inputs: {{words: words.txt}}
    run: {{shell: 'cat $inputs/data $inputs/words >all; gzip -c all >all.gz; echo "ratio: 1,234.5 of task $task"'}}
    check: [test, -s, all.gz]
    tasks: [a, b, c]
    lanes: [1, 2]
    cache: keep
    figures: {{ratio: {{pattern: 'ratio: ([0-9.,]+)', unit: "%"}}}}
  fail:
    run: [sh, -c, 'echo no licence >&2; exit $$code']
    environment: {{code: 4}}
    targets: [disk]
    cache: keep
repeats: 2
ceilings: none
prices:
  book: aws-eu-west-1
  hosts: {{m4.xlarge: 2}}
  designs: {{disk: {{design: nfs-volumes, set: {{capacity: 1TB}}}}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the study that is over."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "words.txt").write_text("hello\n")
    (folder / "study.yaml").write_text(STUDY.format(folder=folder, name=f"assay-programs-{os.getpid()}"))
    assert "6 cases" not in assay(folder, "check", "study.yaml").stderr
    assay(folder, "run", "study.yaml", expect=1)
    return folder


def test_every_task_of_every_repeat_is_kept(folder: Path) -> None:
    with RunStore.open(only_run(folder)) as store:
        labels = {case.id: case for case in store.cases()}
        samples = [sample for sample in store.samples() if labels[sample.case].workload == "pack"]
    assert len(samples) == 2 * 2 * 2
    for sample in samples:
        assert sorted(task.task for task in sample.tasks) == ["a", "b", "c"]
        assert {task.lane for task in sample.tasks} == set(range(labels[sample.case].parameters.lanes))
        for task in sample.tasks:
            assert task.figures == {"ratio": 1234.5} and task.exit_code == 0 and task.io is not None
            # cat reads and writes both files, gzip reads them again.
            both = 2000 * 1024 + 6
            assert 2 * both <= task.io.call_read_bytes < 2 * both + 1_000_000
            assert both <= task.io.call_write_bytes < both + 100_000


def test_nothing_is_left_at_the_targets(folder: Path) -> None:
    assert not (folder / "disk").exists() and not Path(f"/dev/shm/assay-programs-{os.getpid()}").exists()


def test_a_program_that_fails_is_said_in_its_own_words(folder: Path) -> None:
    with RunStore.open(only_run(folder)) as store:
        case = next(case.id for case in store.cases() if case.workload == "fail")
    shown = assay(folder, "show", only_run(folder), case).stdout
    assert "exit code 4: no licence" in shown and "incomplete" in shown


def test_the_terminal_and_the_report_have_the_commands(folder: Path) -> None:
    shown = assay(folder, "show", only_run(folder)).stdout
    assert "Wall clock: pack on disk (lanes 1): " in shown
    assert "tasks/s" in shown and "1,234" in shown and "Bound by" in shown
    assert "Command pack" in shown and "operations/s" not in shown
    report = folder / "report.html"
    assay(folder, "report", only_run(folder), "--output", report)
    text = report.read_text()
    assert ">Commands</h2>" in text and "A run" in text and "Wall clock" in text


def test_programs_read_the_results_as_json(folder: Path) -> None:
    found = json.loads(assay(folder, "show", only_run(folder), "c1", "--json").stdout)
    (row,) = found["rows"]
    assert [task["task"] for task in row["samples"][0]["tasks"]] == ["a", "b", "c"]
    assert row["samples"][0]["operation"] == "run"


def test_a_killed_run_leaves_no_program_and_goes_on(tmp_path: Path) -> None:
    text = (
        f"study: killed\ntargets: {{disk: {{kind: file, path: {tmp_path}/disk}}}}\nceilings: none\nrepeats: 2\n"
        f"commands: {{wait: {{run: {{shell: 'echo $$ >>{tmp_path}/pids; sleep 2'}}, cache: keep, tasks: 2, lanes: 2}}}}"
    )
    (tmp_path / "study.yaml").write_text(text)
    process = subprocess.Popen(
        [ASSAY, "run", "study.yaml"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (tmp_path / "pids").exists() and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assay(tmp_path, "run", "--resume", "last")
    with RunStore.open(only_run(tmp_path)) as store:
        assert store.outcome_counts() == {"ok": 2}
    for number in (tmp_path / "pids").read_text().split():
        assert not Path(f"/proc/{number}").exists()
    assert not (tmp_path / "disk").exists()
