"""One directory by NFS and by SMB, edited from two sites: what the other side sees of a change, and when."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nfs_tools import SECOND, at_phase, box_of, boxes_below, execute, job, target
from testbed_tools import said

from assay.rooms.testbed.work.running import RunningBox

NFS = "kind: nfs-ganesha, exports: [/export]"
SMB = "{kind: samba, exports: [/export], users: [alice]}"
DISK = "disks: [{size: 128MiB, mount: /export}]"
HOSTS = f"""
  here: {{site: near}}
  there: {{site: far}}
  fresh: {{site: near, {DISK}, servers: [{{{NFS}, options: {{attributes: 0}}}}, {SMB}]}}
  keeps: {{site: near, {DISK}, servers: [{{{NFS}, options: {{attributes: 2}}}}, {SMB}]}}
wan: {{rtt: 10ms}}
"""
"""Servers without a cache of attributes, and with one of 2 s. NFS is used from the near site, SMB from the far one."""
RECORD = 64 << 10
WHOLE = 128 * RECORD


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBox]:
    folder = tmp_path_factory.mktemp("both")
    with boxes_below(folder), box_of(folder, HOSTS, "smbd", "smbclient", "nfs-ls", "nfs-cat") as running:
        yield running


def by_smb(box: RunningBox, server: str, command: str) -> str:
    """What smbclient says, which has nothing in a cache: each time it is started anew."""
    (samba,) = (one for one in box.host(server).servers if one.kind == "samba")
    return said(box, "there", "smbclient", f"//{server}/export", "-A", samba.credentials["alice"], "-c", command)


def by_nfs(box: RunningBox, server: str, name: str) -> str:
    """A file's contents."""
    return said(box, "here", "nfs-cat", f"nfs://{server}/export/{name}?version=3")


def sizes_by_nfs(box: RunningBox, server: str, folder: str = "") -> dict[str, int]:
    """Name -> size of what is listed."""
    lines = said(box, "here", "nfs-ls", f"nfs://{server}/export{folder}?version=3").splitlines()
    return {fields[-1]: int(fields[-2]) for line in lines if len(fields := line.split()) >= 4}


def sizes_by_smb(box: RunningBox, server: str, folder: str = "") -> dict[str, int]:
    """Likewise."""
    found = re.findall(r"^ {2}(\S+) +[A-Z]* +(\d+) ", by_smb(box, server, f"ls {folder}/*"), re.MULTILINE)
    return {name: int(size) for name, size in found}


def edit(box: RunningBox, server: str, folder: Path, text: str) -> None:
    """Put a document by SMB, which is closed then."""
    (folder / "text").write_text(text)
    by_smb(box, server, f"put {folder / 'text'} document")


def looks(seen: Callable[[], bool]) -> tuple[int, float]:
    """How many looks did not see it, and after how many seconds one did."""
    begun, missed = time.monotonic(), 0
    while not seen():
        missed += 1
        assert missed < 1000, "it is never seen"
        time.sleep(0.05)
    return missed, time.monotonic() - begun


def test_what_smb_has_closed_is_seen_by_nfs_when_its_server_asks_again(box: RunningBox, tmp_path: Path) -> None:
    """At once where the NFS server keeps no attributes; else it shows the old end of the file until they expire."""
    missed = {}
    for server in ("fresh", "keeps"):
        edit(box, server, tmp_path, "one")
        assert by_nfs(box, server, "document") == "one", "new names are seen at once"
        edit(box, server, tmp_path, "one and two")
        missed[server], seconds = looks(lambda: by_nfs(box, server, "document") == "one and two")  # noqa: B023
        print(f"{server}: {missed[server]} stale looks, seen after {seconds:.2f} s")
        assert sizes_by_nfs(box, server)["document"] == 11
    assert missed["fresh"] == 0 < missed["keeps"]


def test_what_smb_removes_is_gone_for_nfs_at_once(box: RunningBox, tmp_path: Path) -> None:
    edit(box, "fresh", tmp_path, "one")
    assert "document" in sizes_by_nfs(box, "fresh")
    by_smb(box, "fresh", "del document")
    assert "document" not in sizes_by_nfs(box, "fresh")


def writing(server: str, box: RunningBox, kind: str) -> dict[str, Any]:
    """A target in the same directory by either protocol."""
    if kind == "nfs":
        return target(box.host(server).address, root="by-nfs")
    (samba,) = (one for one in box.host(server).servers if one.kind == "samba")
    own = {"kind": "smb", "root": "by-smb", "directory": "job", "timeout_ns": 10 * SECOND, "shares": ["export"]}
    return {**own, "servers": [box.host(server).address], "credentials": samba.credentials["alice"]}


@pytest.mark.parametrize(("kind", "host"), [("nfs", "here"), ("smb", "there")])
def test_what_is_written_is_seen_by_the_other_side_before_it_is_flushed_or_closed(
    box: RunningBox, kind: str, host: str
) -> None:
    """Where neither server keeps anything back; when all is closed, sizes agree on both sides."""
    seen: list[int] = []
    listed = sizes_by_smb if kind == "nfs" else sizes_by_nfs

    def look() -> None:
        seen.append(max(listed(box, "fresh", f"/by-{kind}/job").values(), default=0))

    phases = [{"operation": "write", "rate_per_s": 40.0}]
    one = job(
        target=writing("fresh", box, kind),
        file_size_bytes=WHOLE,
        record_size_bytes=RECORD,
        phases=phases,
        keep_files=True,
    )
    done, (sample,) = execute(box, [host], one, on_event=at_phase("write", 1.0, look))
    assert done.status == "ok", (done.reason, sample.errors)
    assert seen and 0 < seen[0] < WHOLE, "it was being written"
    assert max(listed(box, "fresh", f"/by-{kind}/job").values()) == WHOLE
