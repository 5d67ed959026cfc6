"""Caches of servers in a box are dropped before each phase: what was written is read from the disk again.

The link of the client is slow, so that a phase is long enough to be counted.
"""

from pathlib import Path

from nfs_tools import Run
from testbed_tools import left

from assay.model.result.sample import Sample

HOSTS = """
  client1: {link: 200 Mbit/s}
  server1: {disks: [{size: 256MiB, mount: /export}], servers: [{kind: nfs-ganesha, exports: [/export]}]}
"""
STUDY = """
study: caches
question: What does the server have in memory?
testbed: box.yaml
targets:
  nfs: {kind: nfs, servers: server1, export: /export}
workloads:
  w:
    operations: [write, read]
    file_size: 64MiB
    record_size: 1MiB
    server_cache: [keep, drop]
repeats: 1
ceilings: none
network: none
order: sequential
"""


def disk_reads(sample: Sample) -> float:
    """Bytes per second that the disk of the server was read."""
    return sum(disk.read for use in sample.uses if use.host == "server1" for disk in use.own_disks)


def test_what_was_dropped_is_read_from_the_disk(root: Path, tmp_path: Path) -> None:
    # Other tests drop the caches of this machine, and with them those of the box: then it is tried again.
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = Run(folder, HOSTS, STUDY, quick=True)
        run.ends(0)
        kept, dropped = (sample for sample in run.samples() if sample.operation == "read")
        assert kept.uses and dropped.uses
        if disk_reads(kept) < 0.01 * kept.throughput:
            break
    assert disk_reads(kept) < 0.01 * kept.throughput, "it was in memory"
    assert disk_reads(dropped) > 5 * disk_reads(kept) + 1e6, (disk_reads(kept), disk_reads(dropped))
    assert left(root) == {}
