"""Storage that never answers: the repeat is `incomplete`, the run goes on, ends in its time, and says what is left.

Each row is a run of its own with a file system of its own, in which a kind of call hangs until the test is over. All
rows run at the same time: they wait most of it.
"""

import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from faulty import FaultyMount, faulty_mount, needs_faults, tree
from run_tools import ASSAY, needs_engine, only_run

from assay.launch.conversation import Grace
from assay.launch.placing import MARGIN_SECONDS
from assay.store import RunStore

pytestmark = [needs_engine, needs_faults]

PATIENCE = 5.0
"""Seconds after which storage on which nothing ends is given up, as the studies say."""
WAIT = PATIENCE + MARGIN_SECONDS + Grace().stalled + Grace().terminate + Grace().kill
"""Longest time in which a run waits for storage once, until it gives up and so do those that it asked."""
WAITS = 8
"""A run with two repeats there asks it: to look twice, claim, try out; to clean up before or after each, to release."""

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
        measured: Operations of the first repeat that had ended by then.
    """

    rule: str
    before: bool = False
    operations: str = "write, read"
    sizes: str = DATA


FIRST = "path t/c0001-r1/f*"
ROWS = [
    *(Row(f"hang on {operation} {FIRST}") for operation in ("write", "read", "fsync", "create", "open", "unlink")),
    Row(f"hang on write {FIRST} after 2"),
    Row("hang on mkdir path t/c0001-r1"),
    Row("hang on rmdir path t/c0001-r1"),
    Row("hang on getattr path t/c0001-r1"),
    Row("hang on readdir path t/c0001-r1"),
    Row("hang on readdir path t/c0001-r1/t0", operations="create, readdir, unlink", sizes=NAMES),
    Row("hang on unlink path t/c0001-r1/t0/* after 3", operations="create, readdir, unlink", sizes=NAMES),
    Row("hang on lookup path t", before=True),
    Row("hang on lookup,getattr path t after 3", before=True),
    Row("hang on statfs path t*", before=True),
    Row("hang on mkdir path .t.assay-new", before=True),
    Row("hang on readdir path t", before=True),
]


@dataclass(frozen=True)
class Ended:
    """A run that is over, although the storage still hangs."""

    code: int
    stderr: str
    seconds: float
    folder: Path
    target: Path
    hung: bool
    stored: frozenset[str]


def start(folder: Path, mount: FaultyMount, row: Row, patience: float) -> subprocess.Popen[str]:
    text = STUDY.format(
        faulty=mount.path / "t",
        healthy=folder / "healthy",
        operations=row.operations,
        sizes=row.sizes,
        patience=patience,
    )
    (folder / "study.yaml").write_text(text)
    mount.set(row.rule)
    pipe = subprocess.PIPE
    words = [ASSAY, "run", "study.yaml"]
    return subprocess.Popen(words, cwd=folder, stdout=pipe, stderr=pipe, text=True)


def finish(process: subprocess.Popen[str], mount: FaultyMount, folder: Path, limit: float) -> Ended:
    """Wait for a run that must end by itself; one that does not is ended with its storage."""
    begin = time.monotonic()
    try:
        _, stderr = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        mount.die()
        _, stderr = process.communicate()
        raise AssertionError(f"the run has not ended in {limit:.0f} s: {stderr}") from None
    seconds = time.monotonic() - begin
    names = frozenset(tree(mount.backing))
    return Ended(process.returncode, stderr, seconds, folder, mount.path / "t", mount.waiting > 0, names)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Row, Ended | BaseException]]:
    """All rows, run at the same time."""

    def one(row: Row) -> Ended | BaseException:
        folder = tmp_path_factory.mktemp("hang")
        try:
            with faulty_mount(folder) as mount:
                return finish(start(folder, mount, row, PATIENCE), mount, folder, WAITS * WAIT)
        except AssertionError as error:
            return error

    with ThreadPoolExecutor(len(ROWS)) as pool:
        yield dict(zip(ROWS, pool.map(one, ROWS), strict=True))


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


@pytest.mark.parametrize("row", [row for row in ROWS if not row.before], ids=lambda row: row.rule.replace(" ", "_"))
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


@pytest.mark.parametrize("row", [row for row in ROWS if row.before], ids=lambda row: row.rule.replace(" ", "_"))
def test_a_target_that_hangs_before_anything_is_measured_is_refused(
    ended: dict[Row, Ended | BaseException], row: Row
) -> None:
    found = of(ended, row)
    assert found.hung, "nothing hung"
    assert found.code == 3, found.stderr
    errors = [line for line in found.stderr.splitlines() if line.startswith("error: ")]
    assert errors and REASON in errors[-1] and str(found.target) in errors[-1], found.stderr
    check_left(found)


@pytest.mark.parametrize("operation", ["write", "unlink"])
def test_ctrl_c_ends_a_run_while_storage_hangs(tmp_path: Path, operation: str) -> None:
    with ExitStack() as stack:
        mount = stack.enter_context(faulty_mount(tmp_path))
        process = start(tmp_path, mount, Row(f"hang on {operation} {FIRST}"), 3600)
        mount.wait_for(lambda: mount.waiting, "a call that hangs")
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        mount.wait_for(lambda: process.poll() is not None or time.monotonic() > begin + 1, "a second")
        process.send_signal(signal.SIGINT)
        limit = Grace().terminate + Grace().kill + WAITS * WAIT
        found = finish(process, mount, tmp_path, limit)
        assert found.hung and found.code == 130, found.stderr
        assert "the test data is removed" not in found.stderr, found.stderr
        check_left(found)
        with RunStore.open(only_run(tmp_path)) as store:
            assert store.info().status == "interrupted"
