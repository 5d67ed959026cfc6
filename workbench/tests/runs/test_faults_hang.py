"""Storage that never answers: the repeat is `incomplete`, the run goes on, ends in its time, and says what is left.

Each row is a run of its own with a file system of its own, in which a kind of call hangs until the test is over. All
rows run at the same time: they wait most of it.
"""

import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from faulty import HANG_GUARD, FaultyMount, faulty_mount, needs_faults, tree
from run_tools import ASSAY, needs_engine, only_run
from soak import times

from assay.store import RunStore

pytestmark = [needs_engine, needs_faults]

PATIENCE = 5.0
"""Seconds after which storage on which nothing ends is given up, as the studies say."""

STUDY = """
study: hangs
question: What comes of storage that hangs?
targets:
  faulty: {{kind: file, path: {faulty}}}
  healthy: {{kind: file, path: {healthy}}}
workloads:
  work:
    operations: [{operations}]
    {sizes}
repeats: 2
ceilings: none
patience: {patience}s
"""
DATA = "file_size: 256KiB\n    record_size: 64KiB\n    cache: keep"
NAMES = "files: 20\n    file_size: 4KiB"
REASON = "storage does not answer"


@dataclass(frozen=True)
class Row:
    """What hangs.

    Attributes:
        before: It hangs before anything was measured, so that the run is refused.
        stopped: The user stops the run while it hangs.
    """

    rule: str
    before: bool = False
    stopped: bool = False
    operations: str = "write, read"
    sizes: str = DATA


FIRST = "path t/c0001-r1/f*"
ROWS = [
    *(Row(f"hang on {operation} {FIRST}") for operation in ("write", "read", "fsync", "unlink")),
    Row("hang on mkdir path t/c0001-r1"),
    Row("hang on getattr path t/c0001-r1"),
    *times(
        [],
        [
            *(Row(f"hang on {operation} {FIRST}") for operation in ("create", "open")),
            Row(f"hang on write {FIRST} after 2"),
            Row("hang on rmdir path t/c0001-r1"),
            Row("hang on readdir path t/c0001-r1"),
        ],
    ),
    Row("hang on readdir path t/c0001-r1/t0", operations="create, readdir, unlink", sizes=NAMES),
    Row("hang on unlink path t/c0001-r1/t0/* after 3", operations="create, readdir, unlink", sizes=NAMES),
    Row("hang on lookup path t", before=True),
    Row("hang on lookup,getattr path t after 3", before=True),
    Row("hang on statfs path t*", before=True),
    Row("hang on mkdir path .t.assay-new", before=True),
    Row("hang on readdir path t", before=True),
    *(Row(f"hang on {operation} {FIRST}", stopped=True) for operation in ("write", "unlink")),
]
MEASURED = [row for row in ROWS if not row.before and not row.stopped]
REFUSED = [row for row in ROWS if row.before]
STOPPED = [row for row in ROWS if row.stopped]


@dataclass(frozen=True)
class Ended:
    """A run that is over, although the storage still hangs."""

    code: int
    stderr: str
    folder: Path
    target: Path
    hung: bool
    stored: frozenset[str]


def start(folder: Path, mount: FaultyMount, row: Row) -> subprocess.Popen[str]:
    text = STUDY.format(
        faulty=mount.path / "t",
        healthy=folder / "healthy",
        operations=row.operations,
        sizes=row.sizes,
        patience=3600 if row.stopped else PATIENCE,
    )
    (folder / "study.yaml").write_text(text)
    mount.set(row.rule)
    pipe = subprocess.PIPE
    words = [ASSAY, "run", "study.yaml"]
    return subprocess.Popen(words, cwd=folder, stdout=pipe, stderr=pipe, text=True)


def stop(process: subprocess.Popen[str], mount: FaultyMount) -> None:
    """Ctrl-C once something hangs, and again after a second."""
    mount.wait_for(lambda: mount.waiting, "a call that hangs")
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    process.send_signal(signal.SIGINT)


def finish(process: subprocess.Popen[str], mount: FaultyMount, folder: Path) -> Ended:
    """Wait for a run that must end by itself; one that does not is ended with its storage."""
    try:
        _, stderr = process.communicate(timeout=HANG_GUARD)
    except subprocess.TimeoutExpired:
        process.kill()
        mount.die()
        _, stderr = process.communicate()
        raise AssertionError(f"the run has not ended in {HANG_GUARD:.0f} s: {stderr}") from None
    names = frozenset(tree(mount.backing))
    return Ended(process.returncode, stderr, folder, mount.path / "t", mount.waiting > 0, names)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Row, Ended | BaseException]]:
    """All rows, run at the same time."""

    def one(row: Row, folder: Path) -> Ended | BaseException:
        try:
            with faulty_mount(folder) as mount:
                process = start(folder, mount, row)
                if row.stopped:
                    stop(process, mount)
                return finish(process, mount, folder)
        except AssertionError as error:
            return error

    # Not in the threads: pytest makes one folder for all of them, or one for each if they ask at the same time.
    folders = [tmp_path_factory.mktemp("hang") for _ in ROWS]
    with ThreadPoolExecutor(len(ROWS)) as pool:
        yield dict(zip(ROWS, pool.map(one, ROWS, folders), strict=True))


def of(ended: dict[Row, Ended | BaseException], row: Row) -> Ended:
    found = ended[row]
    if isinstance(found, BaseException):
        raise found
    assert "Traceback" not in found.stderr and found.code != 70, found.stderr
    return found


def check_left(found: Ended) -> None:
    """What is on the faulty storage is said to be there, or that it may be."""
    told = [
        line for line in found.stderr.splitlines() if "could not be removed" in line or "may still be there" in line
    ]
    if found.stored:
        assert any(f"{found.target}" in line for line in told), (found.stored, found.stderr)
    assert "is removed" not in found.stderr or not found.stored, found.stderr


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row.rule.replace(" ", "_"))
def test_a_repeat_that_hangs_is_incomplete_and_the_run_goes_on(
    ended: dict[Row, Ended | BaseException], row: Row
) -> None:
    found = of(ended, row)
    assert found.hung, "nothing hung"
    assert found.code == 1, found.stderr
    with RunStore.open(only_run(found.folder)) as store:
        jobs = {(job.case, job.repeat): job for job in store.jobs()}
        verdicts = {(one.case, one.verdict) for one in store.results()}
        status = store.info().status
    assert len(jobs) == 4 and status == "complete with errors"
    assert jobs["c0001", 1].status == "incomplete", jobs["c0001", 1].reason
    assert jobs["c0001", 1].reason.startswith(REASON), jobs["c0001", 1].reason
    second = jobs["c0001", 2]
    assert second.status == "ok" or (second.status == "incomplete" and REASON in second.reason), second
    assert [jobs["c0002", repeat].status for repeat in (1, 2)] == ["ok", "ok"]
    assert ("c0001", "incomplete") in verdicts and ("c0002", "incomplete") not in verdicts
    assert not (found.folder / "healthy").exists()
    check_left(found)


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.rule.replace(" ", "_"))
def test_a_target_that_hangs_before_anything_is_measured_is_refused(
    ended: dict[Row, Ended | BaseException], row: Row
) -> None:
    found = of(ended, row)
    assert found.hung, "nothing hung"
    assert found.code == 3, found.stderr
    errors = [line for line in found.stderr.splitlines() if line.startswith("error: ")]
    assert errors and REASON in errors[-1] and str(found.target) in errors[-1], found.stderr
    check_left(found)


@pytest.mark.parametrize("row", STOPPED, ids=lambda row: row.rule.replace(" ", "_"))
def test_ctrl_c_ends_a_run_while_storage_hangs(ended: dict[Row, Ended | BaseException], row: Row) -> None:
    found = of(ended, row)
    assert found.hung and found.code == 130, found.stderr
    assert "the test data is removed" not in found.stderr, found.stderr
    check_left(found)
    with RunStore.open(only_run(found.folder)) as store:
        assert store.info().status == "interrupted"
