"""How hosts have mounted what holds a directory."""

import os
from pathlib import Path

from assay.launch import remote_mounts
from assay.launch.shell import LocalShell
from assay.model.site.host import Host


def test_mounts_are_told_host_by_host(tmp_path: Path) -> None:
    shells = [LocalShell(Host(name=name, kind="local")) for name in ("one", "two")]
    found = remote_mounts.mount_facts(shells, str(tmp_path))
    best = max(
        (line.split()[:4] for line in Path("/proc/self/mounts").read_text().splitlines()),
        key=lambda words: len(words[1]) if f"{tmp_path}/".startswith(words[1].rstrip("/") + "/") else -1,
    )
    assert set(found) == {"one", "two"} and found["one"].split()[1] == best[2]
    assert os.path.realpath(tmp_path)
