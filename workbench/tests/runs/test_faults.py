"""What a run makes of storage that fails or lies: the table of `fault_rows`, and faults of the target's own directory.

Whatever the fault is, the run ends without a traceback and in time, all else of it goes well, the fault stands in the
result as what it is, and what is left of the test data is said: it is compared with what the faulty file system really
stores. Rows with the same work share a run, in which the first repeat of each case meets its own fault.
"""

import errno
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest
from fault_rows import TABLE, Row, Tallies, Work
from faulty import HANG_GUARD, FaultyMount, Injected, faulty_mount, needs_faults, tree
from in_process import run_here
from run_tools import ASSAY, needs_engine, only_run

from assay.cli.studyfile import load_study_file
from assay.model.result.sample import JobRecord, Sample
from assay.store import RunStore

pytestmark = [needs_engine, needs_faults]

EXIT_BAD_REPEATS, EXIT_REFUSED = 1, 3


@dataclass(frozen=True)
class Ended:
    """A run that is over.

    Attributes:
        stored: Names below the target that the faulty file system still had, right after the run.
        injected: The faults that happened.
    """

    code: int
    stderr: str
    folder: Path
    stored: frozenset[str]
    injected: tuple[Injected, ...]


def write_study(folder: Path, mount: FaultyMount, works: Sequence[Work]) -> Path:
    """A study with a workload for each, `w0`, `w1`, ..., on the faulty target, and one on a healthy one."""
    lines = [
        "study: faults",
        "question: What comes of storage that fails?",
        f"targets: {{faulty: {{kind: file, path: {mount.path}/t}}, healthy: {{kind: file, path: {folder}/healthy}}}}",
        "repeats: 2",
        "ceilings: none",
        "workloads:",
    ]
    for number, work in enumerate([*works, Work()]):
        target = "faulty" if number < len(works) else "healthy"
        fields = (f"targets: [{target}]", f"operations: [{work.operations}]", *work.sizes, *work.more)
        lines += [f"  w{number}:", *(f"    {line}" for line in fields)]
    path = folder / "study.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(folder: Path, mount: FaultyMount, *arguments: str) -> Ended:
    done = run_here(folder, "run", *(arguments or ("study.yaml",)))
    assert "Traceback" not in done.stderr and done.returncode != 70, done.stderr
    stored = frozenset(name.removeprefix("t/") for name in tree(mount.backing) - {"t"})
    return Ended(done.returncode, done.stderr, folder, stored, tuple(mount.injected()))


def told_left(stderr: str) -> list[str]:
    """The lines that say what could not be removed at the end."""
    return [line for line in stderr.splitlines() if "could not be removed" in line and "] c0" not in line]


def check_left(ended: Ended, target: Path) -> None:
    """Each thing that is left is named, or what it lies in or what lies in it; nothing that is gone or foreign is."""
    lines = told_left(ended.stderr)
    told = [Path(line.split("could not be removed: ")[1].split(": ")[0]) for line in lines]
    assert not [line for line in lines if "not Assay's" in line], "all that is left is Assay's"
    assert not [path for path in told if path != target and str(path.relative_to(target)) not in ended.stored], lines
    for name in ended.stored:
        # A mark stays with the directory that it is in.
        path = target / name if not Path(name).name.startswith(".assay-") else (target / name).parent
        assert any(path in (one, *one.parents) or one in path.parents for one in told), (name, lines)


@dataclass(frozen=True)
class Batch:
    """All rows with the same work, in one run.

    Attributes:
        cases: Row -> the case whose first repeat meets its fault.
        again: The same study, run once more when the storage was well.
    """

    ended: Ended
    target: Path
    cases: dict[str, str]
    jobs: dict[tuple[str, int], JobRecord]
    samples: tuple[Sample, ...]
    incomplete: frozenset[tuple[str, str]]
    again: Ended


def run_batch(folder: Path, work: Work) -> Batch:
    rows = [row for row in TABLE if row.work == work]
    with faulty_mount(folder, *work.options) as mount:
        loaded = load_study_file(write_study(folder, mount, [work] * len(rows)))
        ids = {case.workload: case.id for case in loaded.cases}
        cases = {row.id: ids[f"w{number}"] for number, row in enumerate(rows)}
        for row in rows:
            mount.set(f"{row.rule} path t/{cases[row.id]}-r1{row.place}")
        ended = run(folder, mount)
        with RunStore.open(only_run(folder)) as store:
            jobs = {(job.case, job.repeat): job for job in store.jobs()}
            incomplete = {(one.case, one.operation) for one in store.results() if one.verdict == "incomplete"}
            samples = store.samples()
        mount.clear()
        again = run(folder, mount)
        return Batch(ended, mount.path / "t", cases, jobs, samples, frozenset(incomplete), again)


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Work, Batch]]:
    made: dict[Work, Batch] = {}

    class Batches(dict[Work, Batch]):
        def __missing__(self, work: Work) -> Batch:
            self[work] = run_batch(tmp_path_factory.mktemp("batch"), work)
            return self[work]

    made = Batches()
    yield made


def tallies(samples: list[Sample]) -> Tallies:
    """What failed, per operation; operations that never began carry the error of the one that broke off."""
    found: Tallies = {}
    for sample in samples:
        if sample.status != "skipped" and sample.errors:
            found[sample.operation] = {tally.name or tally.kind: tally.count for tally in sample.errors}
    return found


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_a_fault_is_a_result(batches: dict[Work, Batch], row: Row) -> None:
    batch = batches[row.work]
    case = batch.cases[row.id]
    assert any(one.path.startswith(f"t/{case}-r1") for one in batch.ended.injected), "the fault never happened"
    job = batch.jobs[case, 1]
    assert job.status == row.status, job.reason
    assert re.search(row.says, job.reason) if row.says else not job.reason, job.reason
    assert tallies([one for one in batch.samples if (one.case, one.repeat) == (case, 1)]) == row.tallies
    assert {operation for one, operation in batch.incomplete if one == case} == set(row.incomplete)
    left = {name for name in batch.ended.stored if name.startswith(f"{case}-")}
    assert bool(left) == row.left, left


WORKS = list(dict.fromkeys(row.work for row in TABLE))


@pytest.mark.parametrize("work", WORKS, ids=lambda work: "-".join([work.operations, *work.more]).replace(" ", ""))
def test_the_rest_of_a_run_with_faults_goes_well(batches: dict[Work, Batch], work: Work) -> None:
    batch = batches[work]
    bad = any(row.status != "ok" for row in TABLE if row.work == work)
    assert batch.ended.code == (EXIT_BAD_REPEATS if bad else 0), batch.ended.stderr
    met = {(case, 1) for case in batch.cases.values()}
    others = {key: job.status for key, job in batch.jobs.items() if key not in met}
    assert len(others) == len(met) + 2 and set(others.values()) == {"ok"}, others
    assert all(one.ops > 0 and not one.errors for one in batch.samples if (one.case, one.repeat) not in met)
    check_left(batch.ended, batch.target)
    assert not (batch.ended.folder / "healthy").exists()
    # Once the storage is well, the next run removes what this one had to leave.
    assert (batch.again.code, batch.again.stored) == (0, frozenset()), batch.again.stderr
    assert not told_left(batch.again.stderr)


PLACE_CALLS = ("lookup", "getattr", "statfs", "opendir", "mkdir", "create", "write", "rename", "unlink")
"""What the target's own directory takes before anything is measured."""


@pytest.mark.parametrize(("call", "name"), list(zip(PLACE_CALLS, cycle(("eio", "enospc", "estale")), strict=False)))
def test_a_target_that_fails_from_the_beginning(tmp_path: Path, name: str, call: str) -> None:
    with faulty_mount(tmp_path) as mount:
        write_study(tmp_path, mount, [Work()])
        mount.set(f"{name} on {call}")
        ended = run(tmp_path, mount)
        assert ended.injected, "the fault never happened"
        errors = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
        assert ended.code == EXIT_REFUSED, ended.stderr
        assert len(errors) == 1 and os.strerror(getattr(errno, name.upper())) in errors[0], ended.stderr
        assert str(mount.path) in errors[0], errors
        if ended.stored:
            assert any(f"could not be removed: {mount.path}/" in line for line in told_left(ended.stderr)), ended
        assert not (tmp_path / "healthy").exists()
        mount.clear()
        again = run(tmp_path, mount)
        assert (again.code, again.stored) == (0, frozenset()), (again.stderr, again.stored)


@pytest.mark.parametrize("how", ["die", "unmount_lazily"])
def test_a_file_system_that_goes_away_during_a_run(tmp_path: Path, how: str) -> None:
    with faulty_mount(tmp_path) as mount:
        path = write_study(tmp_path, mount, [Work()])
        path.write_text(path.read_text() + "patience: 5s\n")
        mount.set("hang on write path t/c0001-r1/f*")
        pipe = subprocess.PIPE
        process = subprocess.Popen([ASSAY, "run", "study.yaml"], cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
        mount.wait_for(lambda: mount.waiting, "the write")
        getattr(mount, how)()
        if how == "unmount_lazily":
            mount.release()
        _, stderr = process.communicate(timeout=HANG_GUARD)
        assert "Traceback" not in stderr
        assert process.returncode == EXIT_BAD_REPEATS, stderr
        assert tree(mount.backing), "nothing that was there could be removed"
        assert any(f"could not be removed: {mount.path}/t: " in line for line in told_left(stderr)), stderr
        with RunStore.open(only_run(tmp_path)) as store:
            jobs = {(job.case, job.repeat): job.status for job in store.jobs()}
            assert store.entries(), "it is not forgotten"
        assert [jobs["c0002", repeat] for repeat in (1, 2)] == ["ok", "ok"]
        assert jobs["c0001", 1] != "ok" and jobs["c0001", 2] != "ok", jobs
