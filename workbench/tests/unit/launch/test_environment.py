"""What is captured of a machine: of this one, and of made-up ones that have what this one lacks."""

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from loop_devices import need_root, small_ext4
from made_machine import machine

from assay.contract._answers import Look
from assay.launch.environment import (
    capture_environment,
    describe_device,
    mount_of,
)
from assay.launch.environment.control_groups import describe_groups
from assay.launch.environment.cpu import describe_cpu
from assay.launch.environment.machine import describe_host, describe_memory, describe_settings
from assay.launch.environment.network import _query, describe_interfaces, describe_network
from assay.launch.environment.reading import Files
from assay.launch.environment.storage import describe_target
from assay.model.secret import redact

SECTIONS = {"host", "cloud", "kernel", "cpu", "memory", "control groups", "limits", "sysctl", "network"}
MOUNTS = """\
1 0 252:1 / / rw - ext4 /dev/vda1 rw
2 1 0:5 / /proc rw,nosuid - proc proc rw
3 1 0:6 / /srv/my\\040data rw - tmpfs first rw,size=1m
4 1 0:7 / /srv/my\\040data rw,noatime - tmpfs second rw,size=1k
5 1 0:8 / /srv/größe rw - cifs //me:x@host/a rw,username=me,password=word,vers=3.1.1
6 1 0:9 / /box rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,workdir=/d,index=off
7 1 0:10 / /net rw - fuse https://me:word@host/x rw
8 1 0:11 / /bare rw - tmpfs  rw
"""


def test_this_machine_is_described_without_a_gap(tmp_path: Path) -> None:
    found = capture_environment({"disk": (False, str(tmp_path / "new"))})
    interfaces = {name for name in found if name.startswith("network ")}
    assert set(found) - {"modules"} == SECTIONS | interfaces | {"target disk"}
    assert [name for section in found.values() for name, value in section.items() if not value.strip()] == []
    assert found["kernel"]["release"] == os.uname().release
    assert found["memory"]["total"].endswith(" KiB")
    assert found["cpu"]["threads"] == found["cpu"]["online"].split()[0] == str(os.cpu_count())
    assert found["target disk"]["path"] == str(tmp_path / "new")
    block_bytes, size = (int(found["target disk"][f"filesystem_{name}"]) for name in ("block_bytes", "bytes"))
    assert (block_bytes, size) == (os.statvfs(tmp_path).f_bsize, shutil.disk_usage(tmp_path).total)


def test_a_machine_that_tells_nothing_is_no_error(tmp_path: Path) -> None:
    found = capture_environment({"disk": (False, "/x"), "raw": (True, "/dev/nothing")}, Files(tmp_path))
    assert set(found) - {"modules"} == SECTIONS | {"target disk", "target raw"}
    silent = {name: found[name] for name in ("cloud", "sysctl", "network")}
    values = [value for section in silent.values() for value in section.values()]
    assert [value for value in values if not value.startswith("none")] == []
    assert found["control groups"]["version"] == "none: no control groups are mounted"
    assert found["memory"]["total"] == "unknown: /proc/meminfo cannot be read"
    assert found["target disk"]["mount"].startswith("unknown: ")
    assert found["target raw"]["device"].startswith("unknown: ")


def test_what_may_not_be_read_says_why(tmp_path: Path) -> None:
    files = machine(tmp_path, {"/proc/sys/vm/swappiness/file": "x"})
    assert describe_settings(files)["vm.swappiness"] == "unknown: /proc/sys/vm/swappiness: Is a directory"
    assert describe_settings(files)["vm.dirty_ratio"] == "none: not offered by this kernel"


def test_processors_by_socket_core_and_thread(tmp_path: Path) -> None:
    cpu = "/sys/devices/system/cpu"
    files = {
        "/proc/cpuinfo": "processor: 0\nmodel name\t: Fast  CPU\nflags: fpu hypervisor\n\nmodel name: other",
        f"{cpu}/online": "0-3,8-11",
        f"{cpu}/intel_pstate/no_turbo": "1",
        f"{cpu}/vulnerabilities/meltdown": "Not affected",
        f"{cpu}/vulnerabilities/spectre_v2": "Mitigation: Retpolines; IBPB",
        f"{cpu}/vulnerabilities/mds": "Vulnerable: no microcode",
    }
    for number in (*range(4), *range(8, 12)):
        files[f"{cpu}/cpu{number}/topology/physical_package_id"] = str(number % 4 // 2)
        files[f"{cpu}/cpu{number}/topology/core_id"] = str(number % 2)
    for policy, governor, cpus in (("policy0", "performance", "0 1 2 3"), ("policy8", "powersave", "8 9 11")):
        files[f"{cpu}/cpufreq/{policy}/scaling_governor"] = governor
        files[f"{cpu}/cpufreq/{policy}/affected_cpus"] = cpus
        files[f"{cpu}/cpufreq/{policy}/scaling_max_freq"] = "3400500"
    made = machine(tmp_path, files)
    found = describe_cpu(made)
    assert (found["model"], found["sockets"], found["cores"], found["threads"]) == ("Fast CPU", "2", "4", "8")
    assert found["online"] == "8 (0-3,8-11)"
    assert found["governor"] == "performance (CPUs 0-3); powersave (CPUs 8-9,11)"
    assert (found["maximum_mhz"], found["boost"]) == ("3400.5", "no")
    assert (found["mitigations"], found["vulnerable_to"]) == ("spectre_v2 (Retpolines; IBPB)", "mds")
    assert describe_host(made)["hypervisor"].startswith("yes")


def test_memory_of_each_node_and_huge_pages(tmp_path: Path) -> None:
    node, huge = "/sys/devices/system/node", "/sys/kernel/mm"
    files = {f"{node}/node{n}/meminfo": f"Node {n} MemTotal:  {n + 1}000 kB\nNode {n} MemFree: 1 kB" for n in (0, 10)}
    files |= {f"{node}/node{n}/cpulist": f"{n}-{n + 3}" for n in (0, 10)}
    files |= {f"{huge}/hugepages/hugepages-2048kB/nr_hugepages": "64"}
    files |= {f"{huge}/transparent_hugepage/enabled": "always [madvise] never", "/proc/meminfo": "MemTotal: 12000 kB"}
    found = describe_memory(machine(tmp_path, files))
    assert (found["numa_nodes"], found["total"]) == ("2", "12000 KiB")
    assert (found["numa_node0"], found["numa_node10"]) == ("1000 KiB, CPUs 0-3", "11000 KiB, CPUs 10-13")
    assert (found["huge_pages_2048KiB"], found["transparent_huge_pages"]) == ("64", "madvise")


def test_namespaces_and_marks_hint_at_a_container(tmp_path: Path) -> None:
    names = {"/proc/self/ns/pid": "pid:[4026532999]", "/proc/self/ns/user": "user:[4026531837]"}
    found = describe_host(machine(tmp_path, {"/run/systemd/container": "lxc"}, names))
    assert found["container"] == "lxc; own namespaces: pid"
    assert describe_host(Files(tmp_path / "other"))["container"] == "none found"


def test_mount_of_prefers_the_longest_mount_point(tmp_path: Path) -> None:
    files = machine(tmp_path, {"/proc/self/mountinfo": MOUNTS})
    assert mount_of("/srv/my data/x/y", files) == {
        "number": "0:7",
        "mount_point": "/srv/my data",
        "filesystem": "tmpfs",
        "source": "second",
        "options": "rw,noatime,size=1k",
    }
    assert mount_of("/proc/self", files)["mount_point"] == "/proc"
    assert mount_of("/procession", files)["mount_point"] == "/"
    assert mount_of("/srv/größe/x", files)["mount_point"] == "/srv/größe"
    assert (mount_of("/bare/x", files)["number"], mount_of("/bare/x", files)["source"]) == ("0:11", "none")
    section = capture_environment({"disk": (False, "/procession")}, files)["target disk"]
    assert (section["mount_point"], section["filesystem"], section["source"]) == ("/", "ext4", "/dev/vda1")


def test_mount_options_are_kept_without_credentials_and_folders_of_containers(tmp_path: Path) -> None:
    files = machine(tmp_path, {"/proc/self/mountinfo": MOUNTS})
    assert mount_of("/srv/größe", files)["options"] == "rw,username=me,password=(redacted),vers=3.1.1"
    assert mount_of("/net", files)["source"] == "https://...@host/x"
    assert mount_of("/box", files)["options"] == "rw,index=off"


def test_without_a_mount_that_fits_it_says_so(tmp_path: Path) -> None:
    files = machine(tmp_path, {"/proc/self/mountinfo": MOUNTS.partition("\n")[2]})
    with pytest.raises(LookupError):
        mount_of(str(tmp_path), files)
    section = capture_environment({"disk": (False, str(tmp_path))}, files)["target disk"]
    assert section["mount"] == f"unknown: {tmp_path}: no mount found"


def test_kernel_command_line_is_kept_without_credentials() -> None:
    line = 'quiet root=/dev/vda1 luks.key=abc api_token="a b" Password=x nfs=http://me:word@host/x console=ttyS0'
    assert redact(line) == (
        "quiet root=/dev/vda1 luks.key=(redacted) api_token=(redacted) Password=(redacted)"
        " nfs=http://...@host/x console=ttyS0"
    )


def stack(root: Path) -> Files:
    """A logical volume (252:0) on a mirror of a partition of each of two disks."""
    block = "/sys/devices/block"
    files = {
        f"{block}/dm-0/size": "2048",
        f"{block}/dm-0/dm/name": "vg-data",
        f"{block}/dm-0/dm/uuid": "LVM-abc",
        f"{block}/dm-0/queue/read_ahead_kb": "256",
        f"{block}/md0/md/level": "raid1",
        f"{block}/md0/md/chunk_size": "65536",
        f"{block}/md0/md/array_state": "clean",
    }
    links = {
        "/sys/dev/block/252:0": f"{block}/dm-0",
        "/sys/dev/block/259:1": f"{block}/nvme0n1/nvme0n1p1",
        f"{block}/dm-0/slaves/md0": f"{block}/md0",
    }
    for number in (0, 1):
        disk = f"{block}/nvme{number}n1"
        files[f"{disk}/nvme{number}n1p1/partition"] = "1"
        files[f"{disk}/nvme{number}n1p1/size"] = "1024"
        files[f"{disk}/queue/scheduler"] = "[none] mq-deadline"
        files[f"{disk}/queue/nomerges"] = "2"
        files[f"{disk}/device/model"] = "Quick SSD  "
        files[f"{disk}/device/firmware_rev"] = "F1"
        files[f"{disk}/device/device/current_link_speed"] = "8.0 GT/s PCIe"
        files[f"{disk}/device/device/current_link_width"] = "4"
        links[f"{block}/md0/slaves/nvme{number}n1p1"] = f"{disk}/nvme{number}n1p1"
    return machine(root, files, links)


def test_devices_below_a_stacked_one_are_found_at_any_depth(tmp_path: Path) -> None:
    files = stack(tmp_path)
    found = describe_device("252:0", files)
    assert (found["device"], found["model"], found["bytes"]) == ("/dev/dm-0", "vg-data", str(1 << 20))
    assert (found["stacked"], found["read_ahead_kib"]) == ("mapped (LVM) on md0", "256")
    assert [name for name in found if name.startswith("below")] == ["below md0", "below nvme0n1", "below nvme1n1"]
    assert found["below nvme1n1"].startswith("model Quick SSD F1; scheduler none, merges none")
    partition = describe_device("259:1", files)
    assert (partition["device"], partition["bytes"]) == ("/dev/nvme0n1p1", str(1 << 19))
    assert (partition["model"], partition["pcie_link"]) == ("Quick SSD F1", "8.0 GT/s PCIe x4")
    assert (partition["merges"], partition["stacked"]) == ("none", "no")


def test_device_of_a_real_loop_device(tmp_path: Path) -> None:
    assert describe_device("0:99999")["device"].startswith("none")
    with small_ext4(tmp_path, 16 << 20) as (device, point):
        found = capture_environment({"disk": (False, str(point)), "raw": (True, device)})
        assert found["target disk"]["device"] == found["target raw"]["device"] == device
        assert found["target disk"]["stacked"] == f"loop device of {tmp_path}/image, direct I/O off"
        assert found["target raw"]["bytes"] == str(16 << 20)


V2 = "30 1 0:26 {root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
V1 = "31 1 0:27 {root} /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio"


def test_the_least_limit_of_all_groups_above_counts(tmp_path: Path) -> None:
    base = "/sys/fs/cgroup"
    files = {
        "/proc/self/mountinfo": V2.format(root="/"),
        "/proc/self/cgroup": "0::/a.slice/b",
        f"{base}/cgroup.controllers": "cpuset cpu io memory",
        f"{base}/cpuset.cpus.effective": "0-7",
        f"{base}/a.slice/memory.max": "1048576",
        f"{base}/a.slice/b/memory.max": "2097152",
        f"{base}/a.slice/b/memory.high": "max",
        f"{base}/a.slice/cpu.max": "400000 100000",
        f"{base}/a.slice/b/cpu.max": "max 100000",
        f"{base}/a.slice/b/cpu.weight": "50",
        f"{base}/a.slice/io.max": "8:0 rbps=1000 wbps=max riops=max wiops=20\n8:16 rbps=max wbps=max",
    }
    found = describe_groups(machine(tmp_path, files))
    assert found == {
        "version": "2",
        "groups": "/a.slice/b",
        "memory": "1048576 bytes (/a.slice)",
        "memory_high": "no limit",
        "memory_and_swap": "none: not in version 2",
        "swap": "no limit",
        "cpu_quota": "4 CPUs, 400000 of every 100000 us (/a.slice)",
        "cpu_weight": "50",
        "cpus": "0-7",
        "memory_nodes": "none: no group has cpuset.mems.effective",
        "io_limits": "8:0 rbps=1000 wiops=20 (/a.slice)",
        "io_weight": "default",
    }


def test_both_versions_at_once_inside_a_container(tmp_path: Path) -> None:
    base = "/sys/fs/cgroup"
    files = {
        "/proc/self/mountinfo": V2.format(root="/box") + "\n" + V1.format(root="/box"),
        "/proc/self/cgroup": "4:blkio:/box/inner\n1:name=systemd:/box\n0::/boxed",
        f"{base}/cgroup.controllers": "memory",
        f"{base}/boxed/memory.max": "4096",
        f"{base}/blkio/inner/blkio.throttle.write_bps_device": "8:0 5000",
        f"{base}/blkio/blkio.throttle.read_iops_device": "8:0 7",
    }
    found = describe_groups(machine(tmp_path, files))
    assert found["version"] == "1 and 2 (io in 1)"
    assert found["io_limits"] == "8:0 wbps=5000 (/inner); 8:0 riops=7 (/)"
    assert (found["memory"], found["cpu_quota"]) == ("4096 bytes (/boxed)", "none: no such controller")


def test_limits_of_real_groups_are_seen_by_their_processes() -> None:
    need_root()
    memory, cpu = (Path("/sys/fs/cgroup") / name for name in ("memory", "cpu"))
    if not (memory / "memory.limit_in_bytes").exists() or not (cpu / "cpu.cfs_quota_us").exists():
        pytest.skip("needs the memory and cpu controllers of version 1")
    groups = [folder / f"assay-test-{os.getpid()}" for folder in (memory, cpu)]
    code = (
        "import json; from assay.launch.environment.control_groups import *; "
        "print(json.dumps(describe_groups(Files())))"
    )
    enter = "; ".join(f"echo $$ > {group}/cgroup.procs" for group in groups)
    try:
        for group in groups:
            group.mkdir()
        (groups[0] / "memory.limit_in_bytes").write_text(str(256 << 20))
        (groups[1] / "cpu.cfs_quota_us").write_text("50000")
        words = ["sh", "-c", f'{enter}; exec "$0" -c "$1"', sys.executable, code]
        found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    finally:
        for group in groups:
            group.rmdir()
    assert found["memory"] == f"{256 << 20} bytes (/{groups[0].name})"
    assert found["cpu_quota"] == f"0.5 CPUs, 50000 of every 100000 us (/{groups[1].name})"


def test_interfaces_that_are_down_and_virtual_ports_are_left_out(tmp_path: Path) -> None:
    net = "/sys/class/net"
    flags = {"lo": "0x9", "eth10": "0x1003", "eth2": "0x1003", "off0": "0x1002", "veth1": "0x1003", "veth2": "0x1003"}
    files = {f"{net}/{name}/flags": value for name, value in flags.items()}
    files |= {f"{net}/{name}/master/x": "" for name in ("veth1", "veth2", "eth2")}
    files |= {f"{net}/eth2/device/x": "", f"{net}/eth2/speed": "25000", f"{net}/eth2/mtu": "9000"}
    files |= {f"{net}/eth10/queues/{name}/x": "" for name in ("rx-0", "rx-1", "tx-0")} | {f"{net}/eth10/speed": "-1"}
    made = machine(tmp_path, files)
    left_out = "left out: 2 virtual ports of bridges or bonds"
    assert describe_network(made) == {"interfaces": f"eth2, eth10; {left_out}"}
    found = describe_interfaces(made)
    assert list(found) == ["network eth2", "network eth10"]
    assert (found["network eth2"]["speed"], found["network eth2"]["mtu"]) == ("25000 Mbit/s", "9000")
    assert found["network eth10"]["speed"] == "unknown: the driver does not report it"
    assert found["network eth10"]["queues"] == "2 receive, 1 transmit"


def test_offloads_of_a_real_interface_are_what_they_were_set_to() -> None:
    need_root()
    if not shutil.which("ip"):
        pytest.skip("no ip: apt-get install iproute2")
    name, peer = f"asy{os.getpid()}"[:15], f"asz{os.getpid()}"[:15]
    if subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", peer], check=False).returncode:
        pytest.skip("no veth interfaces here")
    try:
        subprocess.run(["ip", "link", "set", name, "up", "mtu", "4321"], check=True)
        before = describe_interfaces(Files())[f"network {name}"]
        _query(name, struct.pack("II", 0x24, 0))  # ETHTOOL_SGSO: generic segmentation off
        after = describe_interfaces(Files())[f"network {name}"]
    finally:
        subprocess.run(["ip", "link", "del", name], check=True)
    assert (before["mtu"], before["generic_segmentation"], after["generic_segmentation"]) == ("4321", "on", "off")
    assert before["driver"].startswith("veth")
    assert {key for key in before if before[key] != after[key]} == {"generic_segmentation"}


@pytest.mark.parametrize("lost", [False, True])
def test_a_btrfs_names_all_of_its_devices_and_how_it_uses_them(tmp_path: Path, lost: bool) -> None:
    fs = "/sys/fs/btrfs/6b6af6e7"
    files = {
        "/proc/self/mountinfo": "1 0 0:39 / / rw - ext4 /dev/vda1 rw\n2 1 252:1 / /data rw - btrfs /dev/sda rw\n",
        f"{fs}/devices/sda/dev": "252:1",
        f"{fs}/allocation/data/raid1/total_bytes": "1",
        f"{fs}/allocation/data/flags": "1",
        f"{fs}/allocation/metadata/raid1c3/total_bytes": "1",
        f"{fs}/devinfo/1/missing": "0",
        f"{fs}/devinfo/2/missing": str(int(lost)),
        "/sys/fs/btrfs/other/devices/sdz/dev": "252:9",
        "/sys/dev/block/252:1/dev": "252:1",
    }
    if not lost:
        files[f"{fs}/devices/sdb/dev"] = "252:2"
    look = Look.model_construct(real_path="/data/x", space=None)
    found = describe_target(False, "/data/x", machine(tmp_path, files), look)
    assert found["filesystem_devices"] == ("/dev/sda" if lost else "/dev/sda, /dev/sdb")
    assert found["missing_devices"] == str(int(lost))
    assert (found["data_profile"], found["metadata_profile"]) == ("raid1", "raid1c3")
    assert ("other device sdb" in found, "other device sda" in found) == (not lost, False)
