"""What a box file may say, and how it is refused."""

from pathlib import Path

import pytest
from testbed_tools import written

from assay.model.base import AssayError
from assay.model.site.nodes import expand_nodes
from assay.model.units import UnitError, format_link, format_loss, parse_link, parse_loss
from assay.rooms.testbed.work.box import load_box, preset_names

HOSTS = "name: small\nhosts:\n"


PRESETS = {
    "office": (1, 3, ("/export",)),
    "cluster-8": (8, 1, ("/export",)),
    "wan": (2, 2, ("/export",)),
    "scaleout-4": (4, 4, ("/export",)),
    "aoe-2": (1, 2, ("d0", "d1")),
    "samba": (2, 1, ("/export", "/data")),
    "gluster-4": (4, 4, ("/store",)),
    "moosefs": (2, 3, ("/store/chunks",)),
    "ceph": (2, 3, ("d0",)),
    "slurm-8": (8, 2, (), ("/export",)),
}
"""Name -> clients, servers, and what each of these offers."""


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    box = load_box(name, Path("/"))
    roles = [member.spec.all_roles for member in box.all_hosts()]
    offered = sorted(
        {tuple(one.name for one in spec.offers) for member in box.all_hosts() for spec in member.spec.servers}
    )
    assert box.name == name
    assert (roles.count(("client",)), roles.count(("server",)), *offered) == PRESETS[name]


def test_all_presets_are_known() -> None:
    assert set(preset_names()) == set(PRESETS)


def test_wan_is_what_it_says() -> None:
    wan = load_box("wan", Path("/")).wan
    assert wan is not None
    assert (wan.link, wan.one_way) == (100_000_000, 43_500_000)


def test_a_set_becomes_hosts_with_addresses_in_the_order_of_the_file(tmp_path: Path) -> None:
    box = written(tmp_path, f"{HOSTS}  server: {{}}\n  client[1-3]: {{link: 1 Gbit/s}}\n")
    assert [(one.name, one.address, one.number) for one in box.all_hosts()] == [
        ("server", "10.77.0.1", 1),
        ("client1", "10.77.0.2", 2),
        ("client2", "10.77.0.3", 3),
        ("client3", "10.77.0.4", 4),
    ]


def test_what_a_server_passes_on_and_mounts_is_seen_on_its_own_host(tmp_path: Path) -> None:
    front = "servers: [{kind: s3fs, source: 'b:photos', mount: /photos}], mounts: [{source: none, at: /m, type: tmpfs}]"
    back = "disks: [{size: 1GiB, mount: /export}], servers: [{kind: versitygw, buckets: [photos], data: /export}]"
    box = written(tmp_path, f"{HOSTS}  a: {{roles: [client], {front}}}\n  b: {{{back}}}\n")
    spec = box.hosts["a"]
    assert (spec.servers[0].upstream, spec.servers[0].upstream_name) == ("b", "photos")
    assert spec.mount_points == ("/m", "/photos")
    assert spec.exports == (), "other hosts do not see it"


@pytest.mark.parametrize(
    ("disk", "message"),
    [
        ("size: 1GiB, raid: {level: 5, disks: 3}, mount: /x", "level"),
        ("size: 1GiB, raid: {level: 10, disks: 3}, mount: /x", "level 10 needs 4 disks at least"),
        ("size: 1GiB, raid: {level: 1, disks: 1}, mount: /x", "level 1 needs 2 disks at least"),
        ("size: 1GiB, raid: {level: 0, disks: 17}, mount: /x", "17"),
        ("size: 1GiB, raid: {level: 0, disks: 2}, device: x", "several disks as one need `mount`"),
        ("size: 64MiB, raid: {level: 0, disks: 2}, mount: /x", "btrfs needs 128MiB on each disk"),
        ("size: 64MiB, filesystem: btrfs, mount: /x", "btrfs needs 128MiB on each disk"),
        ("size: 1GiB, mount: /x, read_iops: 0", "0"),
    ],
)
def test_several_disks_as_one_that_cannot_be(disk: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=message):
        written(tmp_path, f"{HOSTS}  a: {{disks: [{{{disk}}}]}}\n")


DISK = "disks: [{size: 1GiB, mount: /export}]"
FRONT = "servers: [{kind: s3fs, source: 'b:photos', mount: /photos}]"
TAB = "{kind: x, tables: [tab]}"


@pytest.mark.parametrize(
    "mount",
    [
        *("source: /dev/sda1, type: nfs4", "source: /etc, type: nfs4", "source: ///etc, type: cifs"),
        *("source: ../x, type: nfs", "source: s, type: ext4", "source: s, type: overlay", "source: s, type: fuse.sh"),
        *("bind", "rbind", "ro,Bind", "move", "remount,rw", "loop", "make-shared", "X-mount.mkdir", "-o", "a,,b"),
        *("log-file=/etc/passwd", "credentials=/root/x"),
        "source: none, type: fuse.ceph, options: 'ceph.mon-host=s,ceph.log-file=x'",
        "source: 's:/', type: moosefs, options: mfscfgfile=x",
    ],
)
def test_a_box_mounts_nothing_of_the_machine(mount: str, tmp_path: Path) -> None:
    """The file of a box may come from somebody else."""
    written_so = mount if mount.startswith("source") else f"source: 'server1:/x', type: nfs4, options: '{mount}'"
    with pytest.raises(AssayError, match=r"is not|is no option") as caught:
        written(tmp_path, f"{HOSTS}  a: {{mounts: [{{{written_so}, at: /m}}]}}\n")
    assert "box.yaml:3: hosts.a.mounts[0]" in caught.value.message


@pytest.mark.parametrize(
    "mount",
    [
        *("source: 'server1:/export', type: nfs4, options: 'vers=4.2,binding=1'", "source: '[fd00::1]:/x', type: nfs"),
        *("source: //server1/share, type: cifs, options: 'ro,vers=3.1.1'", "source: none, type: tmpfs"),
        "source: none, type: fuse.ceph, options: 'ceph.mon-host=server1,ceph.client-oc=false'",
        "source: 'server1:/', type: moosefs",
    ],
)
def test_a_box_mounts_what_servers_serve(mount: str, tmp_path: Path) -> None:
    (member,) = written(tmp_path, f"{HOSTS}  a: {{mounts: [{{{mount}, at: /m}}]}}\n").all_hosts()
    assert member.spec.mounts[0].at == "/m"


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        (f"{HOSTS}  a: {{lnik: 1 Gbit/s}}\n", 3, "unknown key `lnik`", "did you mean `link`?"),
        (f"{HOSTS}  a: {{link: 1 GB/s}}\n", 3, "unknown unit `GB`", "in bits"),
        (f"{HOSTS}  a: {{link: 10}}\n", 3, "is not the speed of a link", "in bits"),
        (f"{HOSTS}  a: {{}}\n  b[1-2]: {{}}\n  b2: {{}}\n", 5, "host b2 is also in `b[1-2]`", "once"),
        (f"{HOSTS}  a[1-: {{}}\n", 3, "not a set of hosts", "client[1-8]"),
        (f"{HOSTS}  a[1-999999]: {{}}\n", 3, "has 999999 hosts", "1 to 1024"),
        (f"{HOSTS}  a[1-5000]: {{}}\n", 3, "has 5000 hosts", "1 to 1024"),
        (f"{HOSTS}  a[1-254]: {{}}\n", 2, "254 hosts, but room for 200", "fewer"),
        (f"{HOSTS}  Big: {{}}\n", 3, "`Big` cannot be the name of a host", "small letters"),
        (f"{HOSTS}  a: {{disks: [{{size: 1GiB, mount: /usr/x}}]}}\n", 3, "/usr is the system's", "/export"),
        (f"{HOSTS}  a: {{disks: [{{size: 1GiB, mount: /x/../y}}]}}\n", 3, "`..` part", "/export"),
        (f"{HOSTS}  a: {{disks: [{{mount: /x}}]}}\n", 3, "`size` is missing", "docs/guides/testbed.md"),
        (f"{HOSTS}  a: {{disks: [{{size: 1k, mount: /x}}]}}\n", 3, "unknown unit `k`", "KiB"),
        (f"{HOSTS}  a: {{servers: [{{kind: nfs-ganesha, exports: [/x]}}]}}\n", 3, "/x is on no disk", "disks:"),
        (f"{HOSTS}  a:\n    {DISK}\n    servers: [{{kind: nfs-ganesha, exports: [/exports]}}]\n", 5, "on no disk", ""),
        (f"{HOSTS}  a: {{{FRONT}}}\n", 3, "no server has b:photos", "add a server that has it"),
        (f"{HOSTS}  a: {{{FRONT}}}\n  b: {{{FRONT}}}\n", 3, "no server has b:photos", "add a server that has it"),
        (f"{HOSTS}  a: {{{FRONT.replace('/photos', '/etc/x')}}}\n", 3, "/etc is the system's", "/export"),
        (f"{HOSTS}  a: {{{FRONT.replace('b:photos', '-o:x')}}}\n", 3, "is not what a host serves", "server1:my-bucket"),
        (f"{HOSTS}  a: {{disks: [{{size: 1GiB, mount: /photos}}], {FRONT}}}\n", 3, "mounted at /photos", "its own"),
        (f"{HOSTS}  a: {{disks: [{{size: 1GiB}}]}}\n", 3, "a disk has either `mount` or `device`", "device: data"),
        (f"{HOSTS}  a: {{disks: [{{size: 1GiB, mount: /x, device: d}}]}}\n", 3, "either `mount` or `device`", ""),
        (
            f"{HOSTS}  a: {{disks: [{{size: 1GiB, device: d}}, {{size: 1GiB, device: d}}]}}\n",
            3,
            "called d",
            "its own name",
        ),
        (f"{HOSTS}  a: {{}}\nusers: [alice]\n", 4, "users need a directory for their homes", "`shared: /shared`"),
        (f"{HOSTS}  a: {{}}\nshared: /shared\nusers: [Al]\n", 5, "`Al` is not a name of a user", "alice"),
        (f"{HOSTS}  a: {{}}\nshared: /shared\nusers: [al, al]\n", 5, "al comes twice", "once"),
        (f"{HOSTS}  a: {{}}\nshared: /home\n", 4, "/home is the system's", "/export"),
        (f"{HOSTS}  a: {{{DISK}}}\nshared: /export\n", 4, "a has something else at /export", "its own directory"),
        (f"{HOSTS}  a: {{servers: [{{kind: x, devices: [d]}}]}}\n", 3, "d is not a device of this host", "device: d"),
        (f"{HOSTS}  a: {{servers: [{{kind: x, buckets: [B]}}]}}\n", 3, "`B` is not a name of a bucket", "3 to 63"),
        (f"{HOSTS}  a: {{servers: [{{kind: x, tables: [t1, t1]}}]}}\n", 3, "`t1` is not a name of a table", "3 to 255"),
        (f"{HOSTS}  a: {{servers: [{{kind: x, tables: [tab, tab]}}]}}\n", 3, "tab comes twice", "once"),
        (f"{HOSTS}  a: {{servers: [{{kind: x, tables: [tab], data: /d}}]}}\n", 3, "/d is on no disk", "mount: /d"),
        (
            f"{HOSTS}  a: {{servers: [{{kind: x, tables: [tab]}}, {{kind: x, tables: [tab]}}]}}\n",
            3,
            "runs twice",
            "everything that it offers",
        ),
        (
            f"{HOSTS}  a: {{mounts: [{{source: -x, at: /m, type: nfs4}}]}}\n",
            3,
            "is not something that a server exports",
            "server1:",
        ),
        (f"{HOSTS}  a: {{mounts: [{{source: x, at: /mnt, type: nfs4}}]}}\n", 3, "/mnt is the system's", "/export"),
        (f"{HOSTS}  a: {{mounts: [{{source: x, at: /m, type: a b}}]}}\n", 3, "not what a host can mount", "cifs"),
        (
            f"{HOSTS}  a: {{mounts: [{{source: x, at: /m, type: nfs4, user: me@a}}]}}\n",
            3,
            "no server has the user me@a",
            "",
        ),
        (
            f"{HOSTS}  a:\n    {DISK}\n    mounts: [{{source: x, at: /export, type: nfs4}}]\n",
            5,
            "are mounted at /export",
            "",
        ),
        (f"{HOSTS}  a: {{site: x}}\n  b: {{site: y}}\n", 2, "no `wan` joins them", "add `wan"),
        (f"{HOSTS}  a: {{}}\nwan: {{rtt: 1ms}}\n", 4, "needs two sites", "`site`"),
        (f"{HOSTS}  a: {{}}\nnetwork: {{delay: 1ms, rtt: 2ms}}\n", 4, "both stated", "keep one"),
        (f"{HOSTS}  a: {{}}\nnetwork: {{subnet: 8.8.8.0/24}}\n", 4, "not a private network", "10.77.0.0/24"),
        (f"{HOSTS}  a: {{}}\nnetwork: {{loss: 99%}}\n", 4, "out of range", "50%"),
        (f"{HOSTS}  a: {{}}\nnetwork: {{mtu: 100}}\n", 4, "out of range", "576"),
        ("hosts: {a: {}}\n", 1, "`name` is missing", "add it"),
        ("name: x\nhosts: {}\n", 2, "empty", "at least one"),
        ("name: x\nhosts: [a]\n", 2, "not a mapping", "key: value"),
        ("- a\n", 1, "not a mapping", "docs/guides/testbed.md"),
        ("name: x\n\thosts: 1\n", 2, "tab", "spaces"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, line: int, message: str, hint: str) -> None:
    with pytest.raises(AssayError) as caught:
        written(tmp_path, text)
    assert caught.value.message.startswith(f"{tmp_path}/box.yaml:{line}: ")
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_an_unknown_server_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="no kind of server is called `nfs`"):
        written(tmp_path, f"{HOSTS}  a:\n    {DISK}\n    servers: [{{kind: nfs, exports: [/export]}}]\n")


@pytest.mark.parametrize("ref", ["ofice", "./none.yaml", "none.yaml"])
def test_a_box_that_is_not_there(tmp_path: Path, ref: str) -> None:
    with pytest.raises(AssayError) as caught:
        load_box(ref, tmp_path)
    assert ref in caught.value.message
    assert "office" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("1 Gbit/s", 10**9),
        ("1Gb/s", 10**9),
        ("100 Mbit/s", 10**8),
        ("2.5 Gbit / s", 2_500_000_000),
        ("9600bit/s", 9600),
    ],
)
def test_links_are_in_bits(text: str, speed: int) -> None:
    assert parse_link(text) == speed
    assert parse_link(format_link(speed)) == speed


@pytest.mark.parametrize("text", ["1 GB/s", "1 Gbit", "-1 Gbit/s", "", 5, None, "1 GBit/s"])
def test_what_is_no_link(text: object) -> None:
    with pytest.raises(UnitError):
        parse_link(text)


@pytest.mark.parametrize(("text", "loss"), [("0.01%", 100), ("1%", 10_000), ("3ppm", 3), (0, 0), ("0%", 0)])
def test_losses(text: object, loss: int) -> None:
    assert parse_loss(text) == loss
    assert parse_loss(format_loss(loss)) == loss


@pytest.mark.parametrize("text", ["0.00001%", 0.01, "1", "-1%", True, None])
def test_what_is_no_loss(text: object) -> None:
    with pytest.raises(UnitError):
        parse_loss(text)


def test_node_sets() -> None:
    assert expand_nodes("n[08-10],m1") == ("n08", "n09", "n10", "m1")
    for wrong in ("", "a b", "@all", "n[3-1]", "n[", "a&b"):
        with pytest.raises(UnitError):
            expand_nodes(wrong)


def test_a_box_that_there_is_not_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="there is no box `cluster-4`") as refused:
        load_box("cluster-4", tmp_path)
    assert refused.value.hint == f"name a file, or one of: {', '.join(preset_names())}"
