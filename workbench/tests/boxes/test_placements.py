"""Whatever others mount, link, move or put around targets, runs and boxes, and whenever: nothing of theirs changes.

Each scenario is a program in a mount namespace of its own, so that nothing of it can stay. ASSAY_PLACEMENT_SEED says
with which seed they begin. A failure says the seed, the scenario in words, and everything that was done.
"""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import SUPPORT
from placement_box import plan_box
from placement_scenario import KINDS, MOMENTS, make_plan
from placement_world import differences, foreign_tree, manifest
from run_tools import ASSAY, SLOW, assay, needs_engine, study
from soak import times
from testbed_tools import need_box, written

SEED = int(os.environ.get("ASSAY_PLACEMENT_SEED", "20261122"))
PROGRAM = SUPPORT / "placement_program.py"
SECONDS = 900
TOGETHER = times(10, 5)
"""So many kinds of placements are made in one scenario of the small number."""
BOXES = 10
"""One of so many scenarios is a box."""

needs_namespace = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("mkfs.ext4"),
    reason="SKIPPED: placements need root, unshare and mkfs.ext4",
)


@contextlib.contextmanager
def ground() -> Iterator[Path]:
    """A directory on a disk; everything in it goes, but not what is mounted there."""
    folder = Path(tempfile.mkdtemp(prefix="assay-placements-", dir="/var/tmp"))
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)


def played(seed: int, what: str, *kinds: str) -> set[str]:
    """Play a scenario; returns which kinds of placements came about."""
    with ground() as folder:
        own = ["unshare", "--mount", "--propagation", "private"]
        words = [*own, sys.executable, str(PROGRAM), str(seed), str(folder), what, *kinds]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                output, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                # So that it ends what it has started.
                process.terminate()
                output, _ = process.communicate()
        assert process.returncode == 0, f"{' '.join(words[4:])}\n{output}"
    placed = next(line for line in output.splitlines() if line.startswith("placed:"))
    return set(placed.split()[1:])


def small_set() -> list[tuple[int, tuple[str, ...]]]:
    """Few scenarios that have each kind of placement together."""
    names = sorted(KINDS)
    parts = [names[first :: -(-len(names) // TOGETHER)] for first in range(-(-len(names) // TOGETHER))]
    return [(SEED + number, tuple(part)) for number, part in enumerate(parts)]


@needs_engine
@needs_namespace
@pytest.mark.parametrize(("seed", "kinds"), small_set())
def test_each_kind_of_placement(seed: int, kinds: tuple[str, ...]) -> None:
    assert played(seed, "run", *kinds)


@needs_namespace
def test_placements_around_a_box(tmp_path: Path) -> None:
    need_box(written(tmp_path, "name: victim\nhosts: {client1: {disks: [{size: 16MiB, mount: /data}]}}\n"))
    played(SEED, "box")


@needs_engine
@needs_namespace
@pytest.mark.skipif(times(True, False), reason="make soak plays 100 random scenarios")
def test_random_placements() -> None:
    count = 100
    wrong = []
    for seed in range(SEED, SEED + count):
        try:
            played(seed, "box" if seed % BOXES == 0 else "run")
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, f"{len(wrong)} of {count} scenarios:\n" + "\n\n".join(wrong[:5])


@needs_engine
def test_a_run_that_goes_on_in_another_directory_says_so(tmp_path: Path) -> None:
    file = str(study(tmp_path, **SLOW))
    with subprocess.Popen([ASSAY, "run", file], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert any(line.startswith("[1/12]") for line in process.stderr)
        process.kill()
    target = tmp_path / "target"
    target.rename(tmp_path / "elsewhere")
    done = assay(tmp_path, "run", "--resume")
    words = "is not the directory that this run claimed earlier: data in the earlier one is not removed"
    assert f"warning: {target}: {words}" in done.stderr
    assert (tmp_path / "elsewhere" / ".assay-target").is_file() and not target.exists()


def test_scenarios_have_every_kind_moment_and_way() -> None:
    plans = [make_plan(seed, []) for seed in range(1000)]
    placed = [placed for plan in plans for placed in plan.acts]
    assert {kind for kind, _, _ in placed} == set(KINDS)
    assert {moment for _, moment, _ in placed} == set(MOMENTS)
    assert {plan.kill for plan in plans} == {"", "workbench", "engine", "both"}
    assert {plan.remote for plan in plans} == {plan.rival for plan in plans} == {plan.old for plan in plans}
    assert make_plan(7, []) == make_plan(7, []) and plan_box(7) == plan_box(7)
    assert {kind for _, kinds in small_set() for kind in kinds} == set(KINDS)


def test_a_manifest_shows_every_change(tmp_path: Path) -> None:

    root = tmp_path / "tree"
    foreign_tree(random.Random(1), root)
    before = manifest(root)
    assert differences(before, manifest(root)) == []
    file = root / "data.txt"
    moment = file.stat().st_mtime_ns
    file.write_bytes(b"?" * file.stat().st_size)
    os.utime(file, ns=(moment, moment))
    assert differences(before, manifest(root)) == ["changed: 'data.txt/.': content"]
    os.link(root / "f0", root / "more")
    (root / "empty").rmdir()
    lines = differences(before, manifest(root))
    assert any(line.startswith("gone: 'empty") for line in lines) and "new: 'more/.'" in lines
    assert any(line.startswith("changed: 'f0/.': ") and "links" in line for line in lines)
