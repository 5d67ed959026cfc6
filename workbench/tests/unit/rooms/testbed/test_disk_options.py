"""How disks of a box are laid out and mounted, and what no file of a box may ask of mkfs and mount."""

from pathlib import Path

import pytest
from testbed_tools import written

from assay.model.base import AssayError
from assay.rooms.testbed.work.layout import disk_script

DISK = "name: x\nhosts:\n  h: {disks: [{size: 1GiB, mount: /data, %s}]}"
OSS = "noatime,nodiratime,logbufs=8,logbsize=256k,largeio,inode64,swalloc,allocsize=131072k"


def test_options_reach_mount_beside_those_of_the_box(tmp_path: Path) -> None:
    for text, stated in (
        (
            f"filesystem: xfs, make: -i size=512 -l version=2, options: '{OSS}'",
            f"mount -t xfs -o {OSS} /dev/x '/data'",
        ),
        ("filesystem: ext3, options: noatime", "mount -t ext3 -o noatime /dev/x '/data'"),
        ("options: noatime", "mount -t ext4 -o noinit_itable,noatime /dev/x '/data'"),
        ("options: 'errors=x;id'", "mount -t ext4 -o 'noinit_itable,errors=x;id' /dev/x '/data'"),
        ("filesystem: xfs", "mount -t xfs -o defaults /dev/x '/data'"),
    ):
        (disk,) = written(tmp_path, DISK % text).hosts["h"].disks
        assert stated in disk_script(disk, ["/dev/x"], "", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("filesystem: xfs, make: -p proto", "-p is not allowed as an option of mkfs.xfs"),
        ("filesystem: xfs, make: '-d file=1,name=x'", "file is not allowed as an option of mkfs.xfs"),
        ("filesystem: xfs, make: '-l logdev=x'", "logdev is not allowed as an option of mkfs.xfs"),
        ("make: -d x", "-d is not allowed as an option of mkfs.ext4"),
        ("make: -J device=x", "-J is not allowed as an option of mkfs.ext4"),
        ("make: -b /etc/shadow", "is not a list of options of mkfs"),
        ("make: x", "is not a list of options of mkfs"),
        ("make: -b 4096 /dev/sda", "is not a list of options of mkfs"),
        ("options: 'noatime,bind'", "is not a list of mount options"),
        ("options: 'journal_dev=0x100'", "journal_dev=0x100 uses something"),
        ("options: 'a b'", "is not a list of mount options"),
    ],
)
def test_what_names_other_files_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        written(tmp_path, DISK % text)


def test_a_bare_device_has_no_such_options(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="only a single disk with a file system"):
        written(tmp_path, "name: x\nhosts:\n  h: {disks: [{size: 1GiB, device: d, options: noatime}]}")
