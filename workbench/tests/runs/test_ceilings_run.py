"""Ceilings of whole runs with the real engine: passes before and after, and a run that is stopped and resumed."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from killing import GUARD
from run_tools import ASSAY, assay, check_whole, needs_engine, only_run, study

from assay.model.result.ceiling import Ceiling
from assay.run.analysis import judged_rows, with_raised_ceilings
from assay.run.ceilings.meter import PASSES_BEFORE
from assay.store import RunStore

pytestmark = needs_engine


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on a disk."""
    folder = Path(f"/var/tmp/assay-test-passes-{os.getpid()}")
    yield folder
    assert not folder.exists()


def measured(folder: Path) -> dict[str, Ceiling]:
    with RunStore.open(only_run(folder)) as store:
        return {item.name: item for item in store.info().ceilings if item.name.startswith("device")}


def whens(item: Ceiling) -> list[str]:
    return [one.when for one in item.passes if one.when != "again"]


def make(folder: Path, disk: Path, **changes: object) -> Path:
    operations = "write, rewrite, read, random_read, random_write"
    fields = {"operations": operations, "cache": "direct", "size": "4MiB", "record": "[4KiB, 1MiB]", "repeats": 2}
    return study(folder, more=f", path: {disk}", ceilings="measure", **{**fields, **changes})


def test_no_result_is_above_a_device_that_is_measured_before_and_after(tmp_path: Path, disk: Path) -> None:
    make(tmp_path, disk)
    assert "for ceilings" in assay(tmp_path, "plan", "study.yaml").stdout
    assay(tmp_path, "run", "study.yaml")
    check_whole(tmp_path, phases=5)
    found = measured(tmp_path)
    assert {"device write", "device rewrite", "device read"} <= set(found)
    for item in found.values():
        assert whens(item) == ["before"] * PASSES_BEFORE + ["after"], item
        assert item.low is not None and item.lowest is not None and item.value is not None
        assert item.lowest <= item.value
    with RunStore.open(only_run(tmp_path)) as store:
        shares = [held.share for row in judged_rows(store) for held in row.ceilings if held.name.startswith("device")]
        # What is kept is what every later analysis finds.
        assert with_raised_ceilings(store, store.info()).ceilings == store.info().ceilings
    assert shares and max(shares) <= 1


def test_a_run_that_is_stopped_keeps_its_passes_and_adds_to_them(tmp_path: Path, disk: Path) -> None:
    make(tmp_path, disk, extra="runtime: 100ms", repeats=4)
    command = [ASSAY, "run", "study.yaml"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[1/"):
            break
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=GUARD)
    assert process.returncode == 130
    before = measured(tmp_path)
    assert all(whens(item) == ["before"] * PASSES_BEFORE for item in before.values())
    assay(tmp_path, "run", "study.yaml", "--resume")
    check_whole(tmp_path, phases=5)
    for name, item in measured(tmp_path).items():
        assert whens(item)[:PASSES_BEFORE] == ["before"] * PASSES_BEFORE and whens(item)[-1] == "after"
        assert item.passes[:PASSES_BEFORE] == before[name].passes
