"""What is found below a target: in made-up machines of every kind, in broken ones, and on this one."""

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_machine import machine

from assay.launch.device_mapper import mapped_device
from assay.launch.environment.reading import Files
from assay.launch.layers import (
    MAX_DEPTH,
    MAX_LAYERS,
    buffered_loop,
    device_of,
    layers_of_device,
    layers_of_path,
    layers_of_type,
)
from assay.model.result.layers import Layer, device_levels, is_in_memory, layer_chain, lowest_layers

VIRTUAL = "/sys/devices/virtual/block"
HARDWARE = "/sys/devices/pci0/block"


class Made:
    """Puts together what /proc and /sys of a machine say."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.mounts: list[str] = []

    def mount(self, point: str, kind: str, number: str = "0:50", source: str = "none", options: str = "rw") -> None:
        number_of = 20 + len(self.mounts)
        self.mounts.append(f"{number_of} 1 {number} / {point} rw - {kind} {source} {options}")

    def device(self, name: str, number: str, below: tuple[str, ...] = (), under: str = VIRTUAL, **files: str) -> None:
        """A device; a double underscore in a file's name stands for a slash."""
        folder = f"{under}/{name}"
        self.links |= {f"/sys/dev/block/{number}": folder, f"/sys/class/block/{name.split('/')[-1]}": folder}
        self.files |= {f"{folder}/dev": number}
        self.files |= {f"{folder}/{file.replace('__', '/')}": text for file, text in files.items()}
        self.links |= {f"{folder}/slaves/{one.split('/')[-1]}": one for one in below}

    def loop(self, name: str, number: str, backing: str, dio: str = "1") -> None:
        self.device(name, number, loop__backing_file=backing, loop__dio=dio)

    def disk(self, name: str = "sda", number: str = "8:0", **files: str) -> None:
        self.device(name, number, under=HARDWARE, **(files or {"device__vendor": "ACME", "device__model": "Disk 1"}))

    def made(self) -> Files:
        return machine(self.root, {**self.files, "/proc/self/mountinfo": "\n".join(self.mounts)}, self.links)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    """A machine with a disk, on which its root is, and a tmpfs."""
    found = Made(tmp_path)
    found.mount("/", "ext4", "8:0", "/dev/sda")
    found.disk()
    found.mount("/dev", "devtmpfs", "0:6", "devtmpfs")
    found.mount("/dev/shm", "tmpfs", "0:7", "tmpfs")
    yield found


DISK = "/dev/sda (ACME Disk 1)"


def test_a_file_system_on_a_disk(made: Made) -> None:
    found = layers_of_path("/srv/x", files=made.made())
    assert layer_chain(found) == f"ext4 on {DISK}"
    assert (device_of(found), buffered_loop(found), is_in_memory(found)) == ("/dev/sda", None, False)


def test_tmpfs_is_memory(made: Made) -> None:
    found = layers_of_path("/dev/shm/x", files=made.made())
    assert (layer_chain(found), device_of(found), is_in_memory(found)) == ("tmpfs (memory)", None, True)


def test_two_layers_of_loops_end_where_the_inner_file_is(made: Made) -> None:
    made.loop("loop1", "7:1", "/dev/shm/image", dio="0")
    made.mount("/mnt", "ext4", "7:1", "/dev/loop1")
    made.loop("loop2", "7:2", "/mnt/image")
    made.mount("/inner", "xfs", "7:2", "/dev/loop2")
    found = layers_of_path("/inner", files=made.made())
    assert layer_chain(found) == (
        "xfs on /dev/loop2 (a loop device with direct I/O, its file /mnt/image) on ext4 on /dev/loop1"
        " (a loop device without direct I/O, its file /dev/shm/image) on tmpfs (memory)"
    )
    assert (device_of(found), is_in_memory(found)) == ("/dev/loop2", True)
    assert buffered_loop(found) == "/dev/loop1, a loop device without direct I/O"
    assert [[layer.name for layer in level] for level in device_levels(found)] == [["/dev/loop2"], ["/dev/loop1"]]


def test_a_loop_device_over_a_deleted_file_and_over_a_device(made: Made) -> None:
    made.loop("loop1", "7:1", "/dev/shm/image (deleted)")
    made.loop("loop2", "7:2", "/dev/sda", dio="")
    made.loop("loop3", "7:3", "")
    files = made.made()
    assert "its file /dev/shm/image, deleted,) on tmpfs (memory)" in layer_chain(layers_of_device("/dev/loop1", files))
    assert (
        layer_chain(layers_of_device("/dev/loop2", files)) == f"/dev/loop2 (a loop device, its file /dev/sda) on {DISK}"
    )
    assert lowest_layers(layers_of_device("/dev/loop3", files))[0].kind == "unknown"


def test_partitions_arrays_and_mapped_devices(made: Made) -> None:
    made.device("sda/sda1", "8:1", under=HARDWARE, partition="1")
    made.device("ram0", "1:0")
    slaves = (f"{HARDWARE}/sda/sda1", f"{VIRTUAL}/ram0")
    made.device("md0", "9:0", slaves, md__level="raid1")
    made.device("dm-0", "253:0", (f"{VIRTUAL}/md0",), dm__name="secret", dm__uuid="CRYPT-LUKS2-x")
    asked: list[str] = []

    def table(name: str) -> str:
        asked.append(name)
        return "0 2048 crypt aes 000 0 9:0 0\n"

    found = layers_of_device("/dev/dm-0", made.made(), table)
    array = f"/dev/md0 (raid1) on [/dev/ram0 (memory: a RAM disk); /dev/sda1 on {DISK}]"
    assert layer_chain(found) == f"/dev/dm-0 (mapped: crypt) on {array}"
    assert (asked, [layer.name for layer in lowest_layers(found)]) == (["secret"], ["/dev/ram0", "/dev/sda"])
    # A part goes to memory, so that below the array no level sees all of the data.
    assert [[layer.number for layer in level] for level in device_levels(found)] == [["253:0"], ["9:0"]]
    assert not is_in_memory(found)


def test_a_cached_logical_volume_by_its_parts(made: Made) -> None:
    made.device("dm-1", "253:1", (f"{HARDWARE}/sda",), dm__name="vg-lv_cdata", dm__uuid="LVM-abc-cdata")
    made.device("dm-2", "253:2", (f"{HARDWARE}/sda",), dm__name="vg-lv_corig", dm__uuid="LVM-abd")
    made.device("dm-0", "253:0", (f"{VIRTUAL}/dm-1", f"{VIRTUAL}/dm-2"), dm__name="vg-lv", dm__uuid="LVM-abe")
    assert layers_of_device("/dev/dm-0", made.made())[0].kind == "cache"


@pytest.mark.parametrize(
    ("uuid", "table", "kind", "compresses"),
    [
        ("LVM-a", "0 8 linear 8:0 0\n8 8 striped 2 128 8:0 0 8:16 0", "mapped", ""),
        ("LVM-a", "0 8 cache 253:1 253:2 253:3 512 0 default 0", "cache", ""),
        ("", "0 8 writecache s 8:0 8:16 4096 0", "cache", ""),
        ("", "0 8 zero", "nothing", ""),
        ("", "0 8 vdo V4 8:0 8 4096 32768 16380 deduplication on", "mapped", "does"),
        ("VDO-a", "", "mapped", "does"),
        ("LVM-a-vpool", "", "mapped", "does"),
        ("", "", "mapped", ""),
    ],
)
def test_what_a_mapping_is(uuid: str, table: str, kind: str, compresses: str) -> None:
    found = mapped_device(uuid, (), table)
    assert (found.kind, found.compresses) == (kind, compresses)


@pytest.mark.parametrize(
    ("name", "files", "kind", "compresses"),
    [
        ("zram3", {}, "memory", "does"),
        ("ram1", {}, "memory", ""),
        ("sdb", {"device__vendor": "Linux", "device__model": "scsi_debug"}, "memory", ""),
        ("nullb0", {}, "nothing", ""),
        ("nbd0", {}, "program", ""),
        ("ublkb0", {}, "program", ""),
        ("zd16", {}, "cache", "may"),
        ("bcache0", {}, "cache", ""),
        ("etherd!e1.0", {}, "network disk", ""),
        ("rbd0", {}, "network disk", ""),
        ("nvme1n1", {"device__transport": "tcp", "device__model": "Far"}, "network disk", ""),
        ("nvme2n1", {"device__transport": "pcie", "device__model": "Near"}, "disk", ""),
        ("nvme3n1", {"device__model": "Amazon Elastic Block Store"}, "virtual disk", ""),
        ("sdc", {"device__vendor": "QEMU", "device__model": "QEMU HARDDISK"}, "virtual disk", ""),
        ("vdb", {"device__vendor": "0x1af4"}, "virtual disk", ""),
        ("loop9", {}, "unknown", ""),
        ("odd0", {}, "unknown", ""),
    ],
)
def test_what_a_device_is(made: Made, name: str, files: dict[str, str], kind: str, compresses: str) -> None:
    made.device(name, "99:0", **files)
    made.mount("/data", "ext4", "99:0", f"/dev/{name}")
    found = layers_of_path("/data/x", files=made.made())
    assert (found[1].kind, found[1].compresses) == (kind, compresses)
    assert found[1].name == f"/dev/{name.replace('!', '/')}"


def test_an_iscsi_disk_is_across_a_network(made: Made) -> None:
    made.device("sdz", "65:144", under="/sys/devices/platform/host3/session1/target3/block", device__model="LUN")
    assert layers_of_device("/dev/sdz", made.made())[0].kind == "network disk"


@pytest.mark.parametrize(
    ("kind", "source", "expected"),
    [
        ("fuse", "assay-faultfs", "fuse (a user-space program serves assay-faultfs)"),
        ("fuse.sshfs", "me@host:/x", "fuse.sshfs (served by a user-space program)"),
        ("nfs4", "store:/export", "nfs4 (servers: store:/export)"),
        ("cifs", "//user:word@store/x", "cifs (servers: //...@store/x)"),
        ("9p", "share", "9p (a directory of this virtual machine's host)"),
        ("zfs", "tank/data", "zfs (tank/data; has its own cache in memory)"),
        ("newfs", "what", "newfs on source what (the kernel shows no device below)"),
        ("newfs", "/mnt/hung/x", "newfs on source /mnt/hung/x (the kernel shows no device below)"),
    ],
)
def test_file_systems_without_a_device(made: Made, kind: str, source: str, expected: str) -> None:
    made.mount("/data", kind, source=source)
    found = layers_of_path("/data/x", files=made.made())
    assert (layer_chain(found), device_of(found)) == (expected, None)


def test_fuseblk_answers_itself_although_it_has_a_device(made: Made) -> None:
    made.mount("/data", "fuseblk", "8:0", "/dev/sda")
    found = layers_of_path("/data/x", files=made.made())
    assert layer_chain(found) == f"fuseblk (served by a user-space program) on {DISK}"
    assert device_of(found) is None


def test_an_overlay_is_where_its_upper_directory_is(made: Made) -> None:
    made.mount("/a", "overlay", "0:60", "overlay", "rw,lowerdir=/l,upperdir=/dev/shm/my\\040upper,workdir=/w")
    made.mount("/b", "overlay", "0:61", "overlay", "rw,lowerdir=/l,upperdir=/up,workdir=/w")
    made.mount("/c", "overlay", "0:62", "overlay", "ro,lowerdir=/l:/m")
    made.mount("/d", "overlay", "0:63", "overlay", "rw,lowerdir=/l,upperdir=/d/up,workdir=/w")
    files = made.made()
    memory, disk, reading, itself = (layers_of_path(f"/{name}/x", files=files) for name in "abcd")
    assert is_in_memory(memory)
    assert layer_chain(memory) == "overlay (upper directory /dev/shm/my upper) on tmpfs (memory)"
    assert (layer_chain(disk), device_of(disk)) == (f"overlay (upper directory /up) on ext4 on {DISK}", "/dev/sda")
    assert lowest_layers(reading)[0].kind == lowest_layers(itself)[0].kind == "unknown"


def test_btrfs_says_how_it_compresses_and_has_several_devices(made: Made) -> None:
    made.device("ram0", "1:0")
    made.mount("/plain", "btrfs", "0:70", "/dev/sda", "rw,space_cache=v2,subvol=/")
    made.mount("/zstd", "btrfs", "0:71", "/dev/sda", "rw,compress-force=zstd:3,subvol=/")
    made.links |= {f"/sys/fs/btrfs/u-u/devices/{name}": f"/sys/class/block/{name}" for name in ("sda", "ram0")}
    files = made.made()
    plain, zstd = (layers_of_path(f"/{name}", files=files) for name in ("plain", "zstd"))
    assert (plain[0].compresses, zstd[0].compresses) == ("may", "does")
    both = f"[{DISK}; /dev/ram0 (memory: a RAM disk)]"
    assert layer_chain(zstd) == f"btrfs (compress-force=zstd:3) on {both}"
    assert not is_in_memory(zstd)


def test_the_mount_with_the_known_number_counts(made: Made) -> None:
    """A later mount at a directory above hides one below; the number of the file system tells."""
    made.mount("/data/deep", "tmpfs", "0:80", "tmpfs")
    made.mount("/data", "ext4", "8:0", "/dev/sda")
    files = made.made()
    assert layers_of_path("/data/deep/x", "8:0", files)[0].name == "ext4"
    assert layers_of_path("/data/deep/x", "0:80", files)[0].name == "tmpfs"
    assert layers_of_path("/data/deep/x", "0:99", files)[0].name == "tmpfs"


def test_what_lies_on_itself_ends(made: Made) -> None:
    made.loop("loop1", "7:1", "/mnt/image")
    made.mount("/mnt", "ext4", "7:1", "/dev/loop1")
    made.device("dm-0", "253:0", (f"{VIRTUAL}/dm-1",), dm__uuid="")
    made.device("dm-1", "253:1", (f"{VIRTUAL}/dm-0",), dm__uuid="")
    files = made.made()
    for found in (layers_of_path("/mnt", files=files), layers_of_device("/dev/dm-0", files)):
        assert found[-1].kind == "unknown" and "below itself" in found[-1].detail


def test_a_tower_of_loops_is_followed_so_far_and_no_further(made: Made) -> None:
    for number in range(MAX_DEPTH):
        made.loop(f"loop{number}", f"7:{number}", f"/m{number + 1}/image")
        made.mount(f"/m{number}", "ext4", f"7:{number}")
    found = layers_of_path("/m0", files=made.made())
    assert len(found) == MAX_DEPTH + 1
    assert (found[-1].kind, found[-1].detail) == ("unknown", "more layers than Assay follows")


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path)
    (found,) = layers_of_path("/x", files=files)
    assert found.kind == layers_of_device("/dev/nothing", files)[0].kind == "unknown"


def test_of_other_hosts_the_type_of_the_file_system_is_known() -> None:
    assert [layer.kind for layer in layers_of_type("fuse.glusterfs")] == ["program"]
    assert [layer.kind for layer in layers_of_type("tmpfs")] == ["memory"]
    assert layers_of_type("ext4") == layers_of_type("unknown") == ()


def test_this_machine() -> None:
    found = layers_of_path(os.path.realpath("."))
    assert found and all(isinstance(layer, Layer) for layer in found)
    assert layer_chain(layers_of_path("/dev/shm")) == "tmpfs (memory)"


NAMES = ("sda", "dm-0", "dm-1", "loop0", "loop1", "md0", "zram0", "odd", "sda1")
TEXT = st.sampled_from(
    ["", "0", "1", "/", "/a", "/b/image", "/dev/sda", "/dev/loop0", "/a/x (deleted)", "raid5", "LVM-x-cdata", "\x1b]0;"]
) | st.text(max_size=8)
FILES = ("partition", "loop/backing_file", "loop/dio", "dm/uuid", "dm/name", "md/level", "device/model", "dev")
KINDS = ("ext4", "tmpfs", "overlay", "btrfs", "fuse", "fuseblk", "zfs", "ecryptfs", "nfs", "bcachefs", "none")


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, str | bytes], dict[str, str], list[str]]:
    """Files, links and lines of mountinfo that make little sense."""
    block = "/sys/devices/virtual/block"
    files: dict[str, str | bytes] = {}
    links: dict[str, str] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        for file in draw(st.lists(st.sampled_from(FILES), unique=True)):
            files[f"{block}/{name}/{file}"] = draw(TEXT | st.binary(max_size=8))
        for below in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3)):
            links[f"{block}/{name}/slaves/{below}"] = f"{block}/{below}"
        links[f"/sys/class/block/{name}"] = f"{block}/{draw(st.sampled_from((name, name, 'gone')))}"
    for number in range(draw(st.integers(0, 6))):
        links[f"/sys/dev/block/9:{number}"] = f"{block}/{draw(st.sampled_from(NAMES))}"
    points = st.sampled_from(["/", "/a", "/b", "/a/b", "/dev"])
    options = st.sampled_from(["rw", "rw,upperdir=/a", "rw,upperdir=x", "upperdir=", "compress=zstd"])
    sources = st.sampled_from(["none", "/dev/sda", "/dev/loop0:/dev/dm-0", "/a", "a:b"])
    mounts = []
    for _ in range(draw(st.integers(0, 5))):
        number = draw(st.sampled_from(["9:0", "9:1", "9:2", "9:3", "0:1", "x", ""]))
        line = f"1 1 {number} / {draw(points)} rw - {draw(st.sampled_from(KINDS))} {draw(sources)} {draw(options)}"
        mounts.append(draw(st.sampled_from([line, line, line, line[:20]])))
    return files, links, mounts


@given(trees(), st.sampled_from(["/", "/a/x", "/b", "/dev/sda"]))
def test_whatever_the_kernel_says_the_walk_ends(tmp_path_factory: Any, tree: Any, path: str) -> None:
    root = tmp_path_factory.mktemp("tree")
    files, links, mounts = tree
    for name, content in files.items():
        place = root / name.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode(errors="replace"))
    for name, target in links.items():
        place = root / name.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            place.symlink_to(root / target.lstrip("/"))
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text("\n".join(mounts))
    for found in (layers_of_path(path, files=Files(root)), layers_of_device(path, Files(root), lambda name: name)):
        assert 0 < len(found) <= MAX_DEPTH * MAX_LAYERS
        assert found[0].depth == 0 and found[-1] in lowest_layers(found)
        assert all(0 < lower.depth <= upper.depth + 1 for upper, lower in itertools.pairwise(found))
        assert all(layer.kind in ENDS for layer in lowest_layers(found))
        assert layer_chain(found).isprintable()


ENDS = {"disk", "virtual disk", "network disk", "memory", "program", "shared", "network", "nothing", "unknown", "cache"}


def test_symlinks_that_lead_nowhere_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block/9:0").symlink_to("9:0")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text("1 1 9:0 / / rw - ext4 /dev/x rw\n")
    assert lowest_layers(layers_of_path("/", files=Files(tmp_path)))[0].kind == "unknown"


def test_levels_are_what_all_data_passes(made: Made) -> None:
    for number, name in enumerate(("sdb", "sdc"), start=1):
        made.device(name, f"8:{16 * number}", under=HARDWARE, device__model="Disk")
        made.mount(f"/disk{number}", "ext4", f"8:{16 * number}", f"/dev/{name}")
        made.loop(f"loop{number}", f"7:{number}", f"/disk{number}/image")
    made.device("md0", "9:0", (f"{VIRTUAL}/loop1", f"{VIRTUAL}/loop2"), md__level="raid0")
    found = device_levels(layers_of_device("/dev/md0", made.made()))
    assert [[layer.number for layer in level] for level in found] == [["9:0"], ["7:1", "7:2"], ["8:16", "8:32"]]


def test_there_are_no_levels_below_what_answers_itself(made: Made) -> None:
    made.mount("/data", "fuseblk", "8:0", "/dev/sda")
    assert device_levels(layers_of_path("/data/x", files=made.made())) == ()
