"""Whole runs on block devices and small disks of the test: full, in use, taken away between two repeats."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from killing import GUARD
from loop_devices import loop_device, need_root, small_ext4
from run_tools import ASSAY, assay, check_whole, needs_engine, only_run, study

from assay.store import RunStore, list_runs

pytestmark = needs_engine


def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with small_ext4(tmp_path, 32 << 20) as (_device, point):
        file = study(tmp_path, more=f", path: {point}/target", size="[2MiB, 64MiB]", record="256KiB", cache="direct")
        for command, code in (("check", 2), ("run", 3)):
            done = assay(tmp_path, command, str(file), expect=code)
            assert "67.1 MB of test data at once do not fit" in done.stderr
            assert "free" in done.stderr and "file_size" in done.stderr
        assert {path.name for path in point.iterdir()} == {"lost+found"}
        assay(tmp_path, "run", str(file), "--set", "file_size=2MiB")
        assert {path.name for path in point.iterdir()} == {"lost+found"}


def test_results_disk_that_fills_up_stops_the_run_until_it_is_resumed(tmp_path: Path) -> None:
    need_root()
    runs = tmp_path / "assay-runs"
    runs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(runs)], check=True)
    try:
        file = study(tmp_path, record="[4KiB, 8KiB]", repeats=60, kind="file")
        done = assay(tmp_path, "run", str(file), expect=1)
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert "cannot be written" in line
        assert {path.name for path in tmp_path.iterdir()} == {"study.yaml", "assay-runs"}
        (summary,) = list_runs(runs)
        assert (summary.status, summary.finished < 120) == ("interrupted", True)
        subprocess.run(["mount", "-o", "remount,size=100m", str(runs)], check=True)
        assay(tmp_path, "run", "--resume")
        check_whole(tmp_path, phases=2)
    finally:
        subprocess.run(["umount", str(runs)], check=True)


def device_study(place: Path, device: str, runtime: str) -> str:
    extra = f"layout: shared\n    runtime: {runtime}"
    return str(study(place, kind="device", more=f", path: {device}", size="4MiB", extra=extra, cache="direct"))


@contextlib.contextmanager
def running_on_device(place: Path, device: str, runtime: str) -> Iterator[subprocess.Popen[str]]:
    """A run of six repeats, the first of them finished."""
    command = [ASSAY, "run", device_study(place, device, runtime), "--destroy"]
    with subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert any(line.startswith("[1/6]") for line in process.stderr)
        yield process
        process.stderr.read()


def test_device_is_held_for_the_whole_run(tmp_path: Path) -> None:
    with loop_device(tmp_path, 16 << 20) as device, running_on_device(tmp_path, device, "3s") as process:
        refused = assay(tmp_path, "run", str(tmp_path / "study.yaml"), "--destroy", expect=3)
        assert "in use" in refused.stderr
        # The first asks to stop after this repeat, the second at once; sent together they could merge.
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)


def test_a_device_is_measured_by_whatever_name(tmp_path: Path) -> None:
    # As the links of /dev/disk/by-id and /dev/VG do, it leads over another link to the device.
    link, other = tmp_path / "usb-Example_32GB_AB-0:0", tmp_path / "other"
    with loop_device(tmp_path, 16 << 20) as device:
        other.symlink_to(device)
        link.symlink_to("other")
        assay(tmp_path, "run", device_study(tmp_path, str(link), "100ms"), "--destroy")
    with RunStore.open(only_run(tmp_path)) as store:
        assert set(store.outcome_counts()) == {"ok"}
        assert [place.path for place in store.info().places] == [str(link)], "as it was written"
        assert {job.job["target"]["path"] for job in store.jobs()} == {device}


def test_device_is_looked_at_before_each_repeat(tmp_path: Path) -> None:
    with loop_device(tmp_path, 16 << 20) as device:
        with running_on_device(tmp_path, device, "1s") as process:
            # Whoever has it exclusively between two repeats, as mount(8) does, is left alone.
            fd = wait_for_exclusive(device)
        os.close(fd)
        assert process.returncode == 1
    with RunStore.open(only_run(tmp_path)) as store:
        counts = store.outcome_counts()
        assert counts["refused"] >= 1
        assert counts["ok"] >= 1
        assert any(job.reason == f"{device}: in use" for job in store.jobs())


def wait_for_exclusive(device: str) -> int:
    end = time.monotonic() + GUARD
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            return os.open(device, os.O_RDONLY | os.O_EXCL)
    raise AssertionError(f"{device} was never free")
