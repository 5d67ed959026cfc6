"""What Assay has mounted on a host is unmounted and mounted again, with all that has the same source. Needs root."""

import subprocess
from pathlib import Path

import pytest
from mounts import needs_mounts

from assay.launch.cold.remount import Remounter
from assay.launch.mounts import read_mounts
from assay.launch.shell import LocalShell
from assay.model.base import AssayError
from assay.model.site.host import THIS_HOST, HostMount

pytestmark = needs_mounts
SHELL = LocalShell(THIS_HOST)


def mounted(place: Path, name: str, source: str) -> HostMount:
    """A file system that loses what it holds when it is unmounted: by that it is seen."""
    at = place / name
    at.mkdir()
    command = ("mount", "-t", "ramfs", source, str(at))
    subprocess.run(command, check=True)
    (at / "held").touch()
    return HostMount(str(at), source, command)


def held(place: Path) -> set[str]:
    return {path.parent.name for path in place.glob("*/held")}


def test_what_a_directory_lies_in_goes_and_comes_with_all_of_its_source(place: Path) -> None:
    made = [mounted(place, "a", "server:/x"), mounted(place, "b", "server:/x"), mounted(place, "c", "server:/y")]
    remounting = Remounter(None, {SHELL.host.name: made})
    remounting([f"{place}/a/assay"], [SHELL])
    assert held(place) == {"c"}, "two mounts of one source may share what is in memory"
    assert {mount.point for mount in read_mounts() if mount.point.startswith(f"{place}/")} == {one.at for one in made}


def test_what_is_mounted_by_nobody_we_know_is_left_alone(place: Path) -> None:
    one = mounted(place, "a", "server:/x")
    for made in ({}, {SHELL.host.name: [mounted(place, "ab", "server:/x")]}):
        with pytest.raises(AssayError, match=r"a/assay is not on a mount that Assay has made"):
            Remounter(None, made)([f"{one.at}/assay"], [SHELL])
    assert held(place) == {"a", "ab"}


def test_what_cannot_be_mounted_again_is_restored_later(place: Path) -> None:
    one = mounted(place, "a", "server:/x")
    broken = one._replace(command=("sh", "-c", f"[ -e {place}/server ] || exit 1; exec {' '.join(one.command)}"))
    remounting = Remounter(None, {SHELL.host.name: [broken]})
    with pytest.raises(AssayError, match="server:/x could not be mounted"):
        remounting([f"{one.at}/assay"], [SHELL])
    with pytest.raises(AssayError, match="could not be mounted"):
        remounting.restore()
    (place / "server").touch()
    remounting.restore()
    assert [mount.point for mount in read_mounts() if mount.point.startswith(f"{place}/")] == [one.at]
    remounting.restore()
    assert len([mount for mount in read_mounts() if mount.point == one.at]) == 1, "it is mounted once"
