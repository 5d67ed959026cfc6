"""Studies over SMB, AoE and GlusterFS that end well, fail or are killed, again and again: each time all is removed.

ASSAY_BOX_SEED says with which seed; each cycle prints how it ended, and what was there before it was looked at.
"""

import contextlib
import os
import random
import signal
import time
from pathlib import Path

from nfs_tools import Run
from run_tools import assay
from soak import times
from testbed_tools import GUARD, assert_nothing_left, left

CYCLES = times(3, 20)
SEED = int(os.environ.get("ASSAY_BOX_SEED", "20261125"))
DISKS = "[{size: 1GiB, device: d0}, {size: 1GiB, device: d1}, {size: 256MiB, mount: /store}]"
HOSTS = f"""
  client1:
    roles: [client]
    servers: [{{kind: aoe-client, source: "server1:d0", mount: /san}}]
    mounts: [{{source: "server1:/assay", at: /files, type: glusterfs}}]
  server[1-2]:
    disks: {DISKS}
    servers:
      - {{kind: vblade, devices: [d0, d1]}}
      - {{kind: glusterfs, exports: [/store], options: {{volume: distributed}}}}
      - {{kind: samba, exports: [/store], users: [alice]}}
"""
"""Has FUSE mounts, loop devices, a btrfs over frames, and daemons that fork."""
STUDY = """
study: killed
question: Is everything gone afterwards?
testbed: box.yaml
targets:
  smb: {kind: smb, servers: "server[1-2]", shares: store, directory: smb, timeout: 3s}
  san: {kind: file, path: /san/assay}
  files: {kind: file, path: /files/assay}
workloads:
  w:
    operations: [write, read]
    file_size: 4MiB
    record_size: 64KiB
    runtime: 2s
repeats: 1
ceilings: none
network: none
order: sequential
"""
WAYS = ("well", "SIGINT", "SIGTERM", "SIGKILL", "engine", "host", "server")


def _disturb(run: Run, way: str, chance: random.Random) -> None:
    """Do something to a run once it measures, or before; nothing if it is over already."""
    if way.startswith("SIG") and chance.random() < 0.5:
        time.sleep(chance.uniform(0, 8))
    else:
        try:
            box = run.box()
            engine = run.engine(box, "client1")
        except ValueError:
            return
        time.sleep(chance.uniform(0, 2))
        if way == "engine":
            with contextlib.suppress(ProcessLookupError):
                os.kill(engine, signal.SIGKILL)
        if way == "host":
            os.kill(box.host("client1").pid, signal.SIGKILL)
        if way == "server":
            os.kill(box.host("server2").pid, signal.SIGKILL)
    if way.startswith("SIG"):
        run.process.send_signal(getattr(signal, way))


def test_everything_is_removed_however_a_study_ends(root: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    counted: dict[str, int] = {}
    for cycle in range(CYCLES):
        way = WAYS[cycle % len(WAYS)]
        folder = tmp_path / f"cycle{cycle}"
        folder.mkdir()
        run = Run(folder, HOSTS, STUDY, quick=True)
        if way != "well":
            _disturb(run, way, chance)
        said, _ = run.process.communicate(timeout=GUARD)
        found = {what: len(items) for what, items in left(root).items()}
        print(f"cycle {cycle}: {way}, exit code {run.process.returncode}, then there were {found}")
        assert "Traceback" not in said, said
        # What is disturbed may be over before.
        assert way != "well" or run.process.returncode == 0, said
        if way != "SIGKILL":
            assert found == {}, (way, said)
        # The next look removes what a killed run has left.
        assay(folder, "testbed", "status")
        assert_nothing_left(root)
        counted[way] = counted.get(way, 0) + 1
    print(f"{sum(counted.values())} cycles, nothing left: {counted}")
