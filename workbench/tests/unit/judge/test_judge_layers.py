"""Rules about what lies below a target: memory, unseen caches, compression, and no storage."""

from typing import Any

from builders import GIB, MEMORY_PLACE, MIB, make_place
from hypothesis import given
from hypothesis import strategies as st
from judge_tools import Rule, about_names, coverage_test, evidence, fires_test, lacks, make_block, silent_test

from assay.judge import cache, layers, rules
from assay.judge.judge import judge
from assay.model.result.evidence import Evidence
from assay.model.result.layers import Layer
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import Finding, Verdict


def place(*below: tuple[Any, ...] | Layer, **fields: Any) -> TargetPlace:
    """A place with layers below each other, given as kind, name, detail and whether they compress."""
    found = []
    for depth, one in enumerate(below):
        if isinstance(one, Layer):
            found.append(one)
            continue
        kind, name, *more = one
        detail, compresses = [*more, "", ""][:2]
        found.append(Layer(kind=kind, name=name, detail=detail, depth=depth, compresses=compresses))
    return make_place(layers=tuple(found), **fields)


EXT4, DISK = ("file system", "ext4"), ("disk", "/dev/sda")
LOOP = ("loop", "/dev/loop3", "a loop device with direct I/O, its file /i")
TMPFS = ("memory", "tmpfs", "memory")
ON_DISK = place(EXT4, DISK)
ON_MEMORY = place(EXT4, LOOP, TMPFS, memory_backed=True)
ZRAM = place(
    ("memory", "/dev/zram0", "memory, compressed", "does"),
    kind="device",
    path="/dev/zram0",
    device="/dev/zram0",
    memory_backed=True,
)
FUSE = place(("program", "fuse.sshfs", "served by a user-space program"), device=None, filesystem="fuse.sshfs")
SHARED = place(("shared", "virtiofs"), device=None)
ZFS = place(("cache", "zfs", "tank", "may"), device=None)
BCACHE = place(EXT4, ("cache", "/dev/bcache0"), DISK)
UNKNOWN = place(("file system", "newfs"), ("unknown", "source x"), device=None)
UNDER_DISK = place(EXT4, ("mapped", "/dev/dm-0"), ("unknown", "device 7:3"))
NFS = place(("network", "nfs4"), device=None, filesystem="nfs4")
BTRFS = place(("file system", "btrfs", "compress=zstd", "does"), DISK)
PLAIN_BTRFS = place(("file system", "btrfs", "", "may"), DISK)
VDO = place(EXT4, ("mapped", "/dev/dm-1", "mapped: vdo", "does"), DISK)
ZSTD_BELOW = place(EXT4, LOOP, ("file system", "btrfs", "compress=zstd", "does"), DISK)
HALF = Layer(kind="memory", name="/dev/ram0", depth=2), Layer(kind="disk", name="/dev/sda", depth=2)
MIRROR = place(EXT4, ("array", "/dev/md0"), *HALF)
BUFFERED = place(
    EXT4, LOOP, EXT4, DISK, stacked_on="/dev/loop3, a loop device without direct I/O", direct_bypasses_cache=False
)
NULL = place(("nothing", "null", "no storage"), kind="null", filesystem="null", device=None)
SCRIPT = place(("script", "null", "no storage"), kind="null", filesystem="null", device=None)
DM_ZERO = place(("nothing", "/dev/dm-0", "mapped: zero"), kind="device")

KEEP, DROP, DIRECT = {"cache": "keep"}, {"cache": "drop"}, {"cache": "direct"}
ZEROS = {"cache": "drop", "compressible": 80}

FIRING: list[tuple[Rule, Verdict, str, Evidence]] = [
    (layers.memory_below, Verdict.CACHED, "ext4 on /dev/loop3", evidence(place=ON_MEMORY)),
    (layers.memory_below, Verdict.CACHED, "on tmpfs (memory)", evidence("write", place=ON_MEMORY)),
    (layers.memory_below, Verdict.CACHED, "/dev/zram0", evidence(place=ZRAM)),
    (layers.memory_below, Verdict.CACHED, "tmpfs", about_names("create", place=ON_MEMORY)),
    (layers.memory_below, Verdict.UNVERIFIED, "a part", evidence(place=MIRROR)),
    (
        layers.unseen_cache,
        Verdict.UNVERIFIED,
        "how much that program caches",
        evidence(place=FUSE, device_read_bytes=0),
    ),
    (layers.unseen_cache, Verdict.UNVERIFIED, "fuse.sshfs", evidence("write", place=FUSE)),
    (layers.unseen_cache, Verdict.UNVERIFIED, "fuse.sshfs", about_names(place=FUSE)),
    (layers.unseen_cache, Verdict.UNVERIFIED, "fuse.sshfs", evidence("random_mix", place=FUSE)),
    (
        layers.unseen_cache,
        Verdict.UNVERIFIED,
        "how much that host caches",
        evidence("write", place=SHARED, memory_bytes=MIB),
    ),
    (layers.unseen_cache, Verdict.UNVERIFIED, "zfs (tank)", evidence(place=ZFS)),
    (layers.unseen_cache, Verdict.UNVERIFIED, "the cache or the storage behind it", evidence(place=BCACHE)),
    (
        layers.unseen_cache,
        Verdict.UNVERIFIED,
        "does not report what it is",
        evidence(place=UNKNOWN, device_read_bytes=0),
    ),
    (
        layers.unseen_cache,
        Verdict.UNVERIFIED,
        "does not report what it is",
        evidence("write", place=UNKNOWN, device_write_bytes=0),
    ),
    # What the kernel counts above it is no evidence.
    (layers.unseen_cache, Verdict.UNVERIFIED, "device 7:3", evidence("write", place=UNDER_DISK)),
    (layers.unseen_cache, Verdict.UNVERIFIED, "device 7:3", evidence(place=UNDER_DISK)),
    (
        layers.unseen_cache,
        Verdict.UNVERIFIED,
        "were read 4 times",
        evidence(place=BUFFERED, parameters=DROP, read_bytes=64 * MIB, cache_done="dropped"),
    ),
    (
        layers.compressed,
        Verdict.UNVERIFIED,
        "because btrfs (compress=zstd) compresses it: of bytes that are 80 % compressible the device moved 25 %",
        evidence(place=BTRFS, parameters=ZEROS, device_read_bytes=4 * MIB),
    ),
    (
        layers.compressed,
        Verdict.CACHED,
        "only 6.2 %",
        evidence(place=BTRFS, parameters=ZEROS, device_read_bytes=MIB),
    ),
    (
        layers.compressed,
        Verdict.UNVERIFIED,
        "may have compressed it",
        evidence(place=PLAIN_BTRFS, parameters=ZEROS, device_read_bytes=4 * MIB),
    ),
    (
        layers.compressed,
        Verdict.UNVERIFIED,
        "the device moved 25 %",
        evidence("write", place=BTRFS, parameters=ZEROS, block={"write_bytes": 4 * MIB}),
    ),
    (
        layers.compressed,
        Verdict.UNVERIFIED,
        "how much less is not counted",
        evidence("write", place=BTRFS, parameters=ZEROS, block=None),
    ),
    (
        layers.compressed,
        Verdict.UNVERIFIED,
        "vdo",
        evidence(place=VDO, parameters={"cache": "direct", "duplicate": 50}),
    ),
    (layers.compressed, Verdict.UNVERIFIED, "btrfs", evidence("write", place=ZSTD_BELOW, parameters=ZEROS)),
    (layers.no_storage, Verdict.CLIENT_BOUND, "the rate is that of the engine", evidence(place=NULL)),
    (layers.no_storage, Verdict.CLIENT_BOUND, "mapped: zero", evidence("write", place=DM_ZERO)),
]

SILENT: list[tuple[Rule, Evidence]] = [
    *((rule, evidence(place=ON_DISK)) for rule in (layers.memory_below, layers.unseen_cache, layers.compressed)),
    (layers.memory_below, evidence(place=MEMORY_PLACE)),
    (layers.memory_below, evidence(place=place(TMPFS, filesystem="tmpfs", memory_backed=True))),
    (layers.memory_below, evidence(place=place(("memory", "devtmpfs"), filesystem="devtmpfs", memory_backed=True))),
    (layers.unseen_cache, evidence(place=place(("file system", "ext4"), ("virtual disk", "/dev/vda")))),
    # A program that lets the kernel read its files (FUSE passthrough).
    (layers.unseen_cache, evidence(place=FUSE)),
    (layers.unseen_cache, evidence("write", place=FUSE, memory_bytes=8 * MIB)),
    (layers.unseen_cache, evidence(place=UNKNOWN)),
    (layers.unseen_cache, evidence("write", place=UNKNOWN)),
    (layers.unseen_cache, evidence(place=BUFFERED, parameters=DROP, cache_done="dropped")),
    (layers.unseen_cache, evidence("write", place=BUFFERED)),
    (layers.compressed, evidence(place=BTRFS, device_read_bytes=0)),
    (layers.compressed, evidence("write", place=BTRFS, block={"write_bytes": MIB})),
    (layers.compressed, evidence(place=BTRFS, parameters=ZEROS)),
    (layers.compressed, evidence("write", place=PLAIN_BTRFS, parameters=ZEROS, block=None)),
    (layers.compressed, evidence(place=ON_DISK, parameters=ZEROS, device_read_bytes=0)),
    (layers.no_storage, evidence(place=SCRIPT)),
    (layers.no_storage, evidence(place=ON_DISK)),
]


test_fires = fires_test(FIRING)
test_keeps_silent = silent_test(SILENT)
test_every_rule_here_is_tested = coverage_test(layers, FIRING, SILENT)


def test_of_a_mounted_export_the_servers_caches_are_not_known() -> None:
    lacks(layers.unseen_cache, "how much the servers answer from memory", evidence(place=NFS))
    assert judge(evidence(place=NFS))[0] is Verdict.OK


def test_old_runs_have_no_layers_and_get_nothing_from_these_rules() -> None:
    for one in (evidence(), evidence("write"), evidence(place=make_place(filesystem="fuse", device=None))):
        assert [rule(one) for rule in rules.RULES if rule.__module__ == layers.__name__] == [None] * 4
    old = make_place().model_dump()
    del old["layers"]
    assert TargetPlace.model_validate(old) == make_place()


def test_what_was_compressed_is_not_called_cached() -> None:
    """The rules that trust the device's counts leave such data to the one that knows of compression."""
    for cached, parameters in ((rules.cached_read, ZEROS), (rules.direct_read, {**ZEROS, "cache": "direct"})):
        fetched = evidence(place=BTRFS, parameters=parameters, device_read_bytes=4 * MIB, block={"read_bytes": 4 * MIB})
        lacks(cached, "compressed", fetched)
        assert judge(fetched)[0] is Verdict.UNVERIFIED
        # The same counts of data that cannot be compressed are those of a cache.
        random = evidence(place=BTRFS, parameters={**parameters, "compressible": 0}, device_read_bytes=4 * MIB)
        assert judge(random)[0] is Verdict.CACHED
    lacks(cache.above_device, "compressible", evidence(place=ZFS, parameters=ZEROS, device_read_bytes=0))


def test_a_program_is_not_taken_for_a_device() -> None:
    """With O_DIRECT nothing is counted, and the size of a cgroup says nothing of a program outside it."""
    limited = {"cache": "limit", "memory_limit": MIB}
    for parameters in (DIRECT, DROP, limited):
        found = judge(evidence(place=FUSE, parameters=parameters, device_read_bytes=0, cache_done="done"))
        assert Verdict.UNVERIFIED in {finding.verdict for finding in found[1]}


def test_unverified_is_told_after_every_blame() -> None:
    bad = evidence(place=FUSE, device_read_bytes=0, speeds=(100e6, 200e6, 300e6))
    assert judge(bad)[0] is Verdict.UNSTABLE
    assert [str(verdict) for verdict in Verdict][-2:] == ["unverified", "ok"]


@given(
    compressible=st.integers(0, 100),
    duplicate=st.integers(0, 100),
    share=st.floats(0, 1),
    where=st.sampled_from([BTRFS, PLAIN_BTRFS]),
)
def test_reads_of_compressed_data_are_cached_only_if_no_compression_explains_them(
    compressible: int, duplicate: int, share: float, where: TargetPlace
) -> None:
    parameters = {"cache": "drop", "compressible": compressible, "duplicate": duplicate}
    told = evidence(place=where, parameters=parameters, device_read_bytes=int(share * 16 * MIB))
    found = {
        finding.verdict for rule in (layers.compressed, rules.cached_read) if isinstance(finding := rule(told), Finding)
    }
    least = (1 - compressible / 100) * (1 - duplicate / 100)
    moved = int(share * 16 * MIB) / (16 * MIB)
    expected = Verdict.CACHED if moved < 0.9 * least else Verdict.UNVERIFIED if moved < 0.9 else None
    assert found == ({expected} if expected else set())


def test_a_device_that_moved_more_than_there_is_has_moved_all() -> None:
    told = evidence("write", place=BTRFS, parameters=ZEROS)
    samples = tuple(sample.model_copy(update={"block": make_block(sample, write_bytes=GIB)}) for sample in told.samples)
    assert layers.compressed(evidence("write", place=BTRFS, parameters=ZEROS, samples=samples)) is None
