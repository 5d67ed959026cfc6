"""A run in stages on several hosts: hosts of later stages are not touched before, and join then."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_runs import study
from run_tools import assay, needs_engine, only_run
from testbed_tools import assert_nothing_left, need_box, written

from assay.rooms.testbed.work.find import running_boxes
from assay.store import RunStore

pytestmark = needs_engine

BOX = """name: staged
hosts:
  client[1-3]: {}
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a study is run in a box of three hosts, of which nothing is left in the end."""
    folder, work = tmp_path / f"stage-boxes-{os.getpid()}", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    monkeypatch.setenv("ASSAY_BOXES", str(folder))
    (work / "box.yaml").write_text(BOX)
    need_box(written(tmp_path, BOX))
    yield work
    for box in running_boxes():
        box.down()
    assert_nothing_left(folder)


def test_hosts_join_stage_by_stage(work: Path) -> None:
    names = ["client1", "client2", "client3"]
    planned = assay(work, "plan", study(work, "testbed: box.yaml")).stdout
    assert "Stages, with `assay run --stage`" in planned and "hosts: up to 3 at the same time" in planned
    for number in (1, 2, 3):
        words = ["study.yaml"] if number == 1 else ["--resume", "last"]
        done = assay(work, "run", *words, "--stage")
        assert f"stage {number} of 3, hosts {number}:" in done.stdout
        assert "the environment has changed since the run began" not in done.stderr
        with RunStore.open(only_run(work)) as store:
            info = store.info()
            assert list(info.hosts) == names[:number]
            assert [stage.value for stage in info.stages] == list(range(1, number + 1))
            assert len(store.jobs()) == number and {job.status for job in store.jobs()} == {"ok"}
            used = {share.host for sample in store.samples() for share in sample.hosts}
            # A result of one host has no shares.
            assert used <= set(names[:number])
            assert info.status == ("complete" if number == 3 else "interrupted")
            sections = " ".join(info.environment)
            assert number < 2 or "client" in sections
