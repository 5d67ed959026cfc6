"""`assay ab` of two directories on disks of their own, one of which the kernel holds to nine tenths."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loop_devices import need_root, small_ext4
from run_tools import ASSAY, needs_engine
from soak import times

pytestmark = needs_engine

BLKIO = Path("/sys/fs/cgroup/blkio")
"""Limits of devices for a group of processes, of cgroup v1."""
RATES = (40_000_000, 36_000_000)
"""Bytes per second of A and B."""
STUDY = """
study: limited
question: Is it slower?
targets: {t: {kind: file, path: /nowhere/at/all}}
workloads:
  reads: {operations: [read], file_size: 16MiB, record_size: 64KiB, runtime: 300ms}
ceilings: none
"""


@contextlib.contextmanager
def limits(rates: dict[str, int]) -> Iterator[Path]:
    """A group whose processes read and write so many bytes per second of each device."""
    if not (BLKIO / "blkio.throttle.read_bps_device").exists():
        pytest.skip("there is no blkio control group")
    group = BLKIO / f"assay-test-{os.getpid()}"
    group.mkdir()
    try:
        for device, rate in rates.items():
            number = Path(f"/sys/class/block/{Path(device).name}/dev").read_text().strip()
            for way in ("read", "write"):
                (group / f"blkio.throttle.{way}_bps_device").write_text(f"{number} {rate}")
        yield group
    finally:
        group.rmdir()


def measured(folder: Path, group: Path, sides: tuple[Path, Path]) -> tuple[int, float, bool]:
    """Exit code of the gate, the difference, and whether it is called one."""
    words = [*map(str, sides), "--study", "study.yaml", "--fail-if-slower", "5%", "--time", "3m", "--json"]
    inside = 'echo $$ > "$0" && exec "$@"'
    command = ["sh", "-c", inside, str(group / "cgroup.procs"), ASSAY, "ab", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    (row,) = json.loads(done.stdout)["rows"]

    return done.returncode, row["difference"], row["significant"]


def test_a_disk_that_is_held_to_nine_tenths_is_found(tmp_path: Path) -> None:
    need_root()
    (tmp_path / "study.yaml").write_text(STUDY)
    with contextlib.ExitStack() as stack:
        disks = []
        for name in "ab":
            (tmp_path / name).mkdir()
            disks.append(stack.enter_context(small_ext4(tmp_path / name, 64 << 20, direct=True)))
        (one, here), (other, there) = disks
        group = stack.enter_context(limits(dict(zip((one, other), RATES, strict=True))))
        tries = times(1, 20)
        found = [measured(tmp_path, group, (here, there)) for _ in range(tries)]
    assert sum(code == 1 and called and difference < 0 for code, difference, called in found) >= tries - tries // 20, (
        found
    )
