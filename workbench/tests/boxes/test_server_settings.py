"""How servers are set is known to a run: file systems, what they were made with, RAID, schedulers, Samba, versions."""

import contextlib
from pathlib import Path

import pytest
from nfs_tools import box_of
from paths import REPOSITORY

from assay.launch.environment.remote import capture_hosts
from assay.launch.shell import make_shell
from assay.model.site.host import Host
from assay.rooms.testbed.work.site import box_hosts
from assay.run.fleet import Fleet
from assay.site.site import SiteState

HOSTS = """
  client1:
    mounts: [{source: "server2:/assay", at: /gl, type: glusterfs}]
  server1:
    disks:
      - {size: 512MiB, mount: /export, filesystem: xfs, make: "-i size=512", options: "noatime,nodiratime,largeio"}
      - {size: 512MiB, raid: {level: 10, disks: 4}, mount: /safe}
    servers: [{kind: samba, exports: [/export], users: [alice], options: {signing: mandatory, multichannel: "yes"}}]
  server2:
    disks: [{size: 512MiB, mount: /store, filesystem: ext3}]
    servers: [{kind: glusterfs, exports: [/store], options: {volume: distributed}}]
"""


def test_servers_say_how_they_are_set(root: Path, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        box = stack.enter_context(box_of(tmp_path, HOSTS))
        hosts = box_hosts(box)
        found = capture_hosts([make_shell(host) for host in hosts])
        again = capture_hosts([make_shell(host) for host in hosts])
    assert found == again, "what varies by itself would be called another environment"
    client, samba, gluster = (found[f"host {host.name}"] for host in hosts)
    assert client["mount /gl"].startswith("fuse.glusterfs server2:/assay ")
    assert {"noatime", "nodiratime", "largeio"} <= set(samba["mount /export"].split()[-1].split(","))
    assert samba["mount /export"].startswith("xfs loop ")
    assert "isize=512" in samba["made /export"] and "/dev/loop" not in samba["made /export"]
    assert samba["disks /export"].startswith("loop: scheduler ")
    assert samba["made /safe"].startswith("Data, RAID10") and samba["disks /safe"].count("loop: scheduler") == 4
    assert samba["smbd server signing"] == "required", "by the names of smb.conf(5)"
    assert samba["smbd server multi channel support"] == "Yes"
    assert len([name for name in samba if name.startswith("smbd ")]) >= 25
    assert samba["version smbd"].startswith("Version ")
    assert gluster["mount /store"].startswith("ext3 loop ") and "Inode size" in gluster["made /store"]
    assert "Type: Distribute" in gluster["gluster volumes"] and gluster["version glusterd"].startswith("glusterfs")


def test_servers_that_a_target_names_are_asked_too_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of an inventory, to which there is a way by ssh."""
    client, nas, other = (Host(name=name, address=f"10.0.0.{place}") for place, name in enumerate(("c", "nas", "o"), 1))
    asked: list[str] = []
    monkeypatch.setattr("assay.run.fleet.make_shell", lambda host: asked.append(host.name))
    monkeypatch.setattr("assay.run.fleet.capture_hosts", lambda _: {})
    Fleet((client,), (), SiteState((client,), other_hosts=(nas, other))).environment({"10.0.0.2"})
    assert asked == ["c", "nas"]


def test_file_systems_are_made_and_mounted_as_the_shipped_study_says(root: Path, tmp_path: Path) -> None:
    """The published lists of options, one by one: what the kernel says of them is what was written."""
    folder = REPOSITORY / "studies" / "backing-file-systems"
    hosts = (folder / "box.yaml").read_text().partition("hosts:\n")[2]
    with box_of(tmp_path, hosts) as box:
        (found,) = capture_hosts([make_shell(host) for host in box_hosts(box)]).values()
    assert found["mount /ext3"].startswith("ext3 ") and "Block size: 4096" in found["made /ext3"]
    made = found["made /metadata"]
    assert "isize=512" in made and "sunit=32 blks" in made.partition("log =internal")[2], "32 blocks of 4 KiB are 128k"
    assert "sunit=0 blks" in found["made /storage"].partition("log =internal")[2]
    told = {name: set(found[f"mount /{name}"].split()[-1].split(",")) for name in ("metadata", "storage")}
    assert {"noatime", "nodiratime"} <= told["metadata"]
    wanted = {"noatime", "nodiratime", "logbufs=8", "logbsize=256k", "largeio", "inode64", "swalloc"}
    assert {*wanted, "allocsize=131072k"} <= told["storage"]
