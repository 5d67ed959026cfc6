"""The scripts for schedulers of docs/clusters, run as PBS and LSF run them, on two hosts that ssh reaches."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from host_runs import study, two_hosts
from paths import REPOSITORY
from run_tools import needs_engine, only_run
from soak import times

from assay.store import RunStore

pytestmark = needs_engine

CLUSTERS = REPOSITORY / "docs" / "clusters"


@pytest.mark.parametrize("scheduler", ["PBS", "LSF", *times([], ["OpenLava"])])
def test_a_job_measures_on_its_own_hosts_stage_by_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheduler: str
) -> None:
    work = tmp_path / "work"
    nodes = tmp_path / "nodes"
    nodes.write_text("node1\nnode1\nnode2\nnode2\n" if scheduler == "PBS" else "node1 2\nnode2 2\n")
    told = {
        "PBS": {"PBS_JOBID": "17.head", "PBS_NODEFILE": str(nodes), "PBS_O_WORKDIR": str(work), "PBS_QUEUE": "batch"},
        "LSF": {"LSB_JOBID": "17", "LSB_DJOB_HOSTFILE": str(nodes), "LSB_QUEUE": "normal"},
        "OpenLava": {"LSB_JOBID": "17", "LSB_HOSTS": "node1 node1 node2", "LSB_QUEUE": "normal"},
    }[scheduler]
    with two_hosts(tmp_path, monkeypatch) as servers:
        # A scheduler tells names; where they are, ssh knows.
        config = tmp_path / "ssh_config"
        places = (
            f"Host {name}\n  HostName 127.0.0.1\n  Port {server.port}\n  IdentityFile {server.folder}/user\n"
            for name, server in zip(("node1", "node2"), servers, strict=True)
        )
        config.write_text("".join(places) + config.read_text())
        study(work, "hosts: allocation\nstages: {efficiency: 1%}", hosts="[1, 2]")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        script = CLUSTERS / ("pbs.sh" if scheduler == "PBS" else "lsf.sh")
        where = tmp_path if scheduler == "PBS" else work
        done = subprocess.run(
            ["sh", script], cwd=where, env={**os.environ, **told, "PATH": path}, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert "accepted by the study's rule" in done.stderr
    with RunStore.open(only_run(work)) as store:
        info = store.info()
        assert info.status == "complete" and info.hosts == ("node1", "node2")
        assert [stage.value for stage in info.stages] == [1, 2]
        assert info.environment["allocation"]["job"] == told.get("PBS_JOBID", "17")
        assert info.environment["allocation"]["queue"] in ("batch", "normal")
        assert sorted(len(sample.hosts) for sample in store.samples())[-1] == 2
