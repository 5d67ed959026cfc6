"""NFS and SMB over links of a stated speed: it fills them, and the verdict names the link that was full, and no other.

Only figures of one run are compared: what the operations reached, and what iperf3 got on the same links before them.
ASSAY_LINK says how fast the links are, in Mbit/s; two quiet cores carry 1000.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nfs_tools import Run, boxes_below
from soak import times

from assay.model.result.brief_result import BriefResult
from assay.model.result.verdict import Verdict
from assay.store import RunStore

MBIT = int(os.environ.get("ASSAY_LINK", "1000"))
CLIENTS = 4
MIN_SHARE = 0.93
"""Share of what iperf3 got."""
TRIES = 3
"""Other work on the machine slows the operations and the measurement of the links differently."""
HOSTS = f"""
  client[1-{CLIENTS}]: {{{{link: {{link}} Mbit/s}}}}
  server1:
    link: {{link}} Mbit/s
    disks: [{{{{size: 2GiB, mount: /export}}}}]
    servers: [{{served}}]
"""
KINDS = {
    "nfs": (
        "{kind: nfs-ganesha, exports: [/export]}",
        "{kind: nfs, servers: server1, export: /export, timeout: 20s}",
    ),
    "smb": (
        "{kind: samba, exports: [/export], users: [alice]}",
        "{kind: smb, servers: server1, shares: export, timeout: 20s}",
    ),
}
"""Kind -> the server of the box, and the target of the study."""
STUDY = f"""
study: links
question: Is the link full?
testbed: box.yaml
targets:
  store: {{target}}
workloads:
  w:
    operations: [write, read]
    hosts: [1, {CLIENTS}]
    file_size: {{size}}
    record_size: {{record}}
    queue_depth: 4
    sync: o_dsync      # made stable while more is on its way: a COMMIT at the end would be time without any
repeats: {{repeats}}
ceilings: none
order: sequential
"""


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    # In memory, where it is: the links are to be what binds, not the disk below the export.
    memory = Path("/dev/shm")
    enough = memory.is_dir() and shutil.disk_usage(memory).free > 4 * 2**30
    parent = Path(tempfile.mkdtemp(dir=memory)) if enough else tmp_path_factory.mktemp("links")
    with boxes_below(parent) as folder:
        yield folder
    shutil.rmtree(parent)


def results(folder: Path, kind: str, mbit: int, size: str, record: str) -> dict[tuple[int, str], BriefResult]:
    """(hosts, operation) -> result of a run over such links."""
    folder.mkdir()
    served, target = KINDS[kind]
    study = STUDY.format(target=target, size=size, record=record, repeats=times(2, 3))
    run = Run(folder, HOSTS.format(link=mbit, served=served), study)
    run.ends(0)
    (stored,) = (folder / "assay-runs").iterdir()
    with RunStore.open(stored) as store:
        hosts = {case.id: case.parameters.hosts for case in store.cases()}
        found = {(hosts[result.case], result.operation): result for result in store.results()}
    for (count, operation), result in found.items():
        rate = (result.throughput or 0) * 8e-6
        print(
            f"{kind}, {mbit} Mbit/s, {count} hosts, {operation}: {rate:.0f} Mbit/s, {result.ceiling} {result.share}",
            end=" ",
        )
        print(result.verdict, result.further_verdicts, result.finding)
    return found


def verdicts(result: BriefResult) -> set[str]:
    return {result.verdict, *result.further_verdicts.split(", ")}


def faults(found: dict[tuple[int, str], BriefResult]) -> list[str]:
    """What is not as it should be where links are full."""
    bad = []
    for (count, operation), result in found.items():
        link = "client link" if count == 1 else "server link"
        if result.ceiling != link or (result.share or 0) < MIN_SHARE or Verdict.NETWORK_BOUND not in verdicts(result):
            bad.append(f"{count} hosts, {operation}: {result.share} of {result.ceiling}, {verdicts(result)}")
    return bad


@pytest.mark.parametrize("kind", KINDS)
def test_links_are_filled_and_the_full_one_is_named(root: Path, tmp_path: Path, kind: str) -> None:
    """The client's with one client, the server's with four: at least 93 % of what iperf3 got there in the same run."""
    bad: list[str] = []
    for number in range(TRIES):
        found = results(tmp_path / f"run{number}", kind, MBIT, times("64MiB", "128MiB"), "1MiB")
        assert sorted(found) == [(1, "read"), (1, "write"), (CLIENTS, "read"), (CLIENTS, "write")]
        bad = faults(found)
        if not bad:
            return
        print(f"try {number + 1}: {bad}")
    pytest.fail("; ".join(bad))


@pytest.mark.parametrize("kind", KINDS)
def test_faster_links_are_not_blamed(root: Path, tmp_path: Path, kind: str) -> None:
    """Ten times as fast, and records of 16 KiB: what they cost the processors binds long before the link does."""
    for key, result in results(tmp_path / "run", kind, 10 * MBIT, "32MiB", "16KiB").items():
        assert Verdict.NETWORK_BOUND not in verdicts(result), (key, result)
        assert result.ceiling.endswith("link") and (result.share or 1) < 0.9, (key, result)
