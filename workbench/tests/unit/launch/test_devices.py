"""Before a device is overwritten it is said what is on it; parts of something larger are refused."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from device_images import IMAGES
from loop_devices import loop_device
from run_tools import assay, study

from assay.launch import devices, locks, signatures
from assay.launch.devices import device_summary, inspect_device
from assay.launch.signatures import PROGRAM, Signature, larger_whole, read_signatures
from assay.model.base import AssayError

SIZE = 128 << 20
LARGER = {"btrfs of two devices", "LVM2_member", "linux_raid_member"}
TABLE = bytes([0, 2, 0, 0, 0x83, 0, 0, 0, *(2048).to_bytes(4, "little"), *(4096).to_bytes(4, "little")])
"""An entry of a partition table of DOS: one partition of 2 MiB at 1 MiB."""


@pytest.fixture(autouse=True)
def _program() -> None:
    if not signatures._program():
        pytest.skip(f"{PROGRAM} is not installed")


def put(device: str, kind: str) -> None:
    offset, data = IMAGES[kind]
    with Path(device).open("r+b") as file:
        file.seek(offset)
        file.write(data)


def said(device: str, destroy: bool = False) -> str:
    return "; ".join(message for message, _ in inspect_device(device, destroy))


@pytest.mark.parametrize("kind", sorted(IMAGES))
def test_what_is_on_a_device_is_named(tmp_path: Path, kind: str) -> None:
    with loop_device(tmp_path, SIZE) as device:
        put(device, kind)
        (found,) = read_signatures(device)
        assert found.kind == kind.split()[0]
        assert len(found.uuid) in (36, 38)
        message = said(device)
        assert found.words in message
        if kind in LARGER:
            assert "is part of something larger" in message
            assert said(device, destroy=True) == message, "--destroy makes no difference"
            assert larger_whole(device)
        else:
            assert "all data on it would be overwritten: 134 MB, file " in message
            assert said(device, destroy=True) == ""
            assert larger_whole(device) == ""


@pytest.mark.parametrize(
    ("words", "kind"),
    [(("mkfs.ext4", "-q", "-L", "photos"), "ext4"), (("mkswap", "-q", "-L", "photos"), "swap")],
)
def test_label_and_uuid_are_said(tmp_path: Path, words: tuple[str, ...], kind: str) -> None:
    with loop_device(tmp_path, 16 << 20) as device:
        subprocess.run([*words, device], check=True)
        (found,) = read_signatures(device)
        assert (found.kind, found.label) == (kind, "photos")
        assert f'{kind} "photos" (UUID {found.uuid})' in said(device)
        assert device_summary(device).startswith(f"{device}: 16.8 MB, file {str(tmp_path)[:40]}")


def test_a_blank_device_is_said_to_be_blank(tmp_path: Path) -> None:
    with loop_device(tmp_path, SIZE) as device:
        assert read_signatures(device) == ()
        assert said(device).endswith("no known file system, table or other signature on it")
        (tmp_path / "link").symlink_to(device)
        assert device_summary(str(tmp_path / "link")).startswith(f"{tmp_path}/link ({device}): 134 MB")


def test_what_is_on_partitions_is_said_too(tmp_path: Path) -> None:
    with loop_device(tmp_path, SIZE) as device:
        with Path(device).open("r+b") as file:
            file.write(bytes(446) + TABLE + bytes(48) + b"\x55\xaa")
        if subprocess.run(["partx", "--add", device], capture_output=True, check=False).returncode:
            pytest.skip("partitions of loop devices are not found here")
        part = f"{device}p1"
        if not Path(part).exists():
            pytest.skip("no node is made for the partition")
        assert "partition table dos" in said(device)
        subprocess.run(["mkfs.ext4", "-q", "-L", "letters", part], check=True)
        assert f'; {Path(part).name}: ext4 "letters" (UUID ' in said(device)
        put(part, "LVM2_member")
        subprocess.run(["wipefs", "-q", "--all", "-t", "ext4", part], check=True)
        assert f"{device}: {Path(part).name}: is part of something larger: LVM2_member" in said(device, destroy=True)
        subprocess.run(["partx", "--delete", device], check=True)


def test_a_hostile_label_is_one_plain_line(tmp_path: Path) -> None:
    with loop_device(tmp_path, 16 << 20) as device:
        subprocess.run(["mkfs.ext4", "-q", device], check=True)
        with Path(device).open("r+b") as file:
            file.seek(1024 + 120)
            file.write(b"\x1b[2J\nerror: x\x07\x00")
        message = said(device)
        assert message.isprintable()
        assert "ext4" in message


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sleep 60", "did not end within 0 s"),
        ("echo broken >&2; exit 1", "broken"),
        ("echo '{\"signatures\": 7}'", "cannot be parsed"),
        ("echo '{\"signatures\": [7]}'", "cannot be parsed"),
        ("echo nonsense", "cannot be parsed"),
        ("yes '[' | head -c 1000000", "cannot be parsed"),
    ],
)
def test_a_device_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    program = tmp_path / PROGRAM
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    if "sleep" in script:
        monkeypatch.setattr(signatures, "SECONDS", 0.3)
    with loop_device(tmp_path, 16 << 20) as device:
        assert reason in said(device, destroy=True)


def test_without_the_program_it_is_said_that_nobody_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loop_device(tmp_path, 16 << 20) as device:
        monkeypatch.setattr(signatures, "_program", lambda: None)
        assert said(device).endswith("its content cannot be read: wipefs of util-linux is not installed")
        assert said(device, destroy=True) == ""
        with pytest.raises(AssayError):
            read_signatures(device)


def test_signatures_in_words() -> None:
    assert Signature("gpt").words == "partition table gpt"
    assert Signature("ext4", "a", "b").words == 'ext4 "a" (UUID b)'
    assert Signature("zfs_member", "", "5").words == "zfs_member (UUID 5)"


def test_a_link_that_comes_to_lead_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with loop_device(tmp_path, 16 << 20) as device, loop_device(tmp_path / "other", 16 << 20) as other:
        link = tmp_path / "link"
        link.symlink_to(device)
        held = locks.lock_device(str(link))
        try:
            assert said(str(link), destroy=True) == ""
            link.unlink()
            link.symlink_to(other)
            message = said(str(link), destroy=True)
            assert message == f"{link} ({other}): is no longer {Path(device).name}, the device that the run has locked"
        finally:
            locks.close_all(held)
        assert said(str(link), destroy=True) == "", "that was another run's"
        assert devices._DEVICE_FDS == {}


def test_a_run_says_what_it_overwrites_and_refuses_what_changed(tmp_path: Path) -> None:
    size = {"size": "4MiB", "extra": "layout: shared", "cache": "direct"}
    with loop_device(tmp_path, 16 << 20) as device:
        subprocess.run(["mkfs.ext4", "-q", "-L", "photos", device], check=True)
        before = Path(device).read_bytes()
        file = str(study(tmp_path, kind="device", more=f", path: {device}", **size))
        done = assay(tmp_path, "run", file, expect=3)
        assert 'ext4 "photos" (UUID ' in done.stderr
        assert "--destroy" in done.stderr
        assert Path(device).read_bytes() == before
        done = assay(tmp_path, "run", file, "--destroy")
        assert f"will be overwritten: {device}: 16.8 MB" in done.stderr
        assert 'ext4 "photos" (UUID ' in done.stderr
        shutil.rmtree(tmp_path / "assay-runs")
        put(device, "linux_raid_member")
        before = Path(device).read_bytes()
        done = assay(tmp_path, "run", file, "--destroy", expect=3)
        assert "is part of something larger: linux_raid_member" in done.stderr
        assert Path(device).read_bytes() == before
        assert not os.path.lexists(tmp_path / "assay-runs")
