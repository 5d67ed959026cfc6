"""Replications in a box: what the replica has after each fault, that no byte is lost, and that nothing is left."""

import functools
import signal
import time
from pathlib import Path

import pytest
from nfs_tools import Run, boxes_below
from run_tools import only_run
from soak import times
from testbed_tools import assert_soon, left

from assay.rooms.testbed.work.find import remove_dead_boxes
from assay.site.installed import find_program
from assay.store import RunStore

KILLS = times(1, 10)
HOSTS = """
  here: {disks: [{size: 256MiB, mount: /data}]}
  there: {disks: [{size: 256MiB, mount: /data}]}
"""
STUDY = """
study: replicated
question: What does the replica have?
testbed: box.yaml
targets: {{sites: {{kind: file, path: /data/assay}}}}
replication:
  r:
    source: here
    replica: there
    scenario: [{scenarios}]
    files: 24
    file_size: 256KiB
    new: 12
    updated: 4
    deleted: 3
    write_every: 50ms
    runtime: {runtime}
    detect: 1s
    timeout: 1s
    {more}
repeats: 1
ceilings: none
network: none
order: sequential
"""


def start(folder: Path, scenarios: str, runtime: str = "1500ms", more: str = "") -> Run:
    if find_program("rsync") is None:
        pytest.skip("not installed: rsync")
    return Run(folder, HOSTS, STUDY.format(scenarios=scenarios, runtime=runtime, more=more), quick=True)


@functools.cache
def figures(folder: Path) -> dict[str, dict[str, float]]:
    """Scenario -> the numbers of its repeat, of one run with all scenarios; nothing of it is left."""
    with boxes_below(folder) as root:
        run = start(folder, "update, cut, kill, full, changing, failover", more="trigger: every 400ms")
        run.ends(0)
        assert left(root) == {}
        assert {status for status, _ in run.outcomes().values()} == {"ok"}, run.outcomes()
        with RunStore.open(only_run(folder)) as store:
            names = {case.id: case.workload.removeprefix("r-") for case in store.cases()}
            return {names[sample.case]: task.figures for sample in store.samples() for task in sample.tasks}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    return figures(tmp_path_factory.mktemp("replicated"))


def test_an_update_has_the_bytes_and_files_that_were_changed(numbers: dict[str, dict[str, float]]) -> None:
    found = numbers["update"]
    assert [found[f"initial {name}"] for name in ("new", "updated", "deleted", "unchanged", "errors")] == [
        24,
        0,
        0,
        0,
        0,
    ]
    assert [found[f"update {name}"] for name in ("new", "updated", "deleted", "unchanged", "errors")] == [
        12,
        4,
        3,
        17,
        0,
    ]
    assert found["initial data"] == 24 << 18
    assert found["update data"] == 16 << 18
    # Of updated files rsync sends what has changed.
    assert 12 << 18 < found["update sent"] < 16 << 18
    assert 24 << 18 < found["initial sent"] < 1.1 * (24 << 18)
    assert found["initial duration"] < found["update start"] - found["initial start"] + found["update duration"]


def test_every_scenario_ends_with_equal_trees_and_a_replica_that_refused_writes(
    numbers: dict[str, dict[str, float]],
) -> None:
    assert set(numbers) == {"update", "cut", "kill", "full", "changing", "failover"}
    for found in numbers.values():
        assert found["different files"] == 0
        assert found["different attributes"] == 0
        assert found["write refused"] == 1


@pytest.mark.parametrize(
    ("scenario", "failed", "again"),
    [("cut", "cut", "resumed"), ("kill", "killed", "restarted"), ("full", "full", "repeated")],
)
def test_after_a_fault_no_file_is_torn_and_the_rest_follows(
    numbers: dict[str, dict[str, float]], scenario: str, failed: str, again: str
) -> None:
    found = numbers[scenario]
    assert found[f"{failed} errors"] == 1
    assert found[f"{again} errors"] == 0
    assert found["torn files"] == 0
    assert found["changes"] == 19
    assert 0 < found["changes there"] < 19
    came = [found[f"{sync} {name}"] for sync in (failed, again) for name in ("new", "updated", "deleted")]
    assert sum(came) == 19
    assert found[f"{failed} new"] + found[f"{again} new"] == 12


def test_a_file_that_changes_meanwhile_is_whole_after_the_next_sync(numbers: dict[str, dict[str, float]]) -> None:
    assert numbers["changing"]["changed meanwhile"] > 0
    assert numbers["changing"]["final errors"] == 0


def test_a_failover_has_a_recovery_point_and_loses_nothing_that_was_written(
    numbers: dict[str, dict[str, float]],
) -> None:
    found = numbers["failover"]
    assert found["recovery time"] >= found["detection"] + found["promotion"] > 0
    assert 0 < found["lag median"] <= found["lag longest"]
    assert (found["writes lost"] > 0) == (found["recovery point"] > 0)
    assert found["refused syncs"] == 1
    # The four files that both sides changed; the source's versions, its new file and its lost writes are set aside.
    assert found["conflicts"] == 4
    assert found["files set aside"] >= 5 + found["writes lost"]
    assert found["syncs"] >= 1


@pytest.mark.parametrize("number", range(KILLS))
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_nothing_is_left_of_a_run_that_is_killed(root: Path, tmp_path: Path, way: signal.Signals, number: int) -> None:
    run = start(tmp_path, "failover, steady", runtime="1m", more="trigger: every 200ms")
    box = run.box()
    run.engine(box, "here")
    time.sleep(0.3 + 0.7 * number)
    run.process.send_signal(way)
    run.process.communicate()
    # The next run removes what a killed one left.
    remove_dead_boxes()
    assert_soon(lambda: left(root) == {}, lambda: str(left(root)))
