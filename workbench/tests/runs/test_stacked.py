"""Loop devices without direct I/O, at a place or below it."""

from pathlib import Path

import pytest
from plan_tools import backend, study

from assay.cli import targets


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """A made-up /sys/class/block: loop0 and loop1 with a partition each, dm-0 on loop0p1, dm-1 on dm-0, vda."""
    devices = tmp_path / "devices"
    for name, dio in (("loop0", "0"), ("loop1", "1")):
        (devices / name / "loop").mkdir(parents=True)
        (devices / name / "loop" / "dio").write_text(f"{dio}\n")
        (devices / name / f"{name}p1").mkdir()
        (devices / name / f"{name}p1" / "partition").write_text("1\n")
    for name in ("vda", "dm-0/slaves/loop0p1", "dm-1/slaves/dm-0", "dm-2/slaves/loop1"):
        (devices / name).mkdir(parents=True)
    known = tmp_path / "block"
    known.mkdir()
    for folder in (*devices.iterdir(), *devices.glob("loop?/loop?p1")):
        (known / folder.name).symlink_to(folder)
    return known


@pytest.mark.parametrize("name", ["loop0", "loop0p1", "dm-0", "dm-1"])
def test_a_loop_device_without_direct_io_is_found_below(sysfs: Path, name: str) -> None:
    assert targets._cached_below(f"/dev/{name}", sysfs) == "/dev/loop0, a loop device without direct I/O"


@pytest.mark.parametrize("name", ["loop1", "loop1p1", "dm-2", "vda", "gone"])
def test_other_devices_are_as_they_say(sysfs: Path, name: str) -> None:
    assert targets._cached_below(f"/dev/{name}", sysfs) is None


def test_a_place_on_such_a_device_does_not_bypass_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    found = study(targets={"disk": {"kind": "device", "path": "/dev/loop0"}}, w_layout="shared")
    for below, bypasses in (("/dev/loop0, a loop device without direct I/O", False), (None, True)):
        monkeypatch.setattr(targets, "_cached_below", lambda device, below=below: below)
        (place,) = targets.make_places(found, {"disk": backend("device")}, {})
        assert (place.stacked_on, place.direct_bypasses_cache) == (below, bypasses)
