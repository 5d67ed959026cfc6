"""A host with a file system over disks of several servers, behind ATA over Ethernet, as a server of a box."""

import contextlib
from pathlib import Path

from nfs_tools import box_of, boxes_below
from testbed_tools import assert_soon, said

DISKS = "[{size: 1GiB, device: d0}, {size: 1GiB, device: d1}]"
SAN = f"""
  client1: {{roles: [client], servers: [{{kind: aoe-client, source: "server1:d0", mount: /san}}]}}
  server[1-2]: {{disks: {DISKS}, servers: [{{kind: vblade, devices: [d0, d1]}}]}}
"""


def test_it_goes_with_nothing_left_though_nobody_unmounts_it(tmp_path: Path) -> None:
    """Its file system, loop devices and processes go with the host."""
    with boxes_below(tmp_path), box_of(tmp_path, SAN, network="{mtu: 9000}") as box:
        said(box, "client1", "sh", "-c", "head -c 30000000 /dev/urandom > /san/x")
        assert "Data, RAID0:" in said(box, "client1", "btrfs", "filesystem", "df", "/san"), "stripes over mirrors"
    # The kernel detaches a loop device when the last that used it has ended; other boxes have such disks, too.
    assert_soon(lambda: not _loops_of_san(), lambda: f"still attached: {_loops_of_san()}")


def _loops_of_san() -> list[str]:
    files = []
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            files.append(path.read_text().strip())
    return [file for file in files if file.endswith(("e1.0", "e2.1"))]
