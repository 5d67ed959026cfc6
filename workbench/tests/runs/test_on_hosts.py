"""A study of a box on machines that Terraform knows, really: over ssh, at the storage that they have mounted."""

import json
from pathlib import Path

import pytest
import yaml
from host_runs import two_hosts
from in_process import run_here
from run_tools import needs_engine

from assay.model.base import EXIT_OK
from assay.store import RunStore, list_runs

pytestmark = needs_engine
STUDY = """study: moved
question: Does a study of a box run on other hosts?
testbed: office
targets:
  store: {kind: file, path: /srv/none/assay, description: in a box}
workloads:
  w: {operations: [write, read], hosts: [1, 2], file_size: 256KiB, record_size: 64KiB, cache: keep}
repeats: 1
ceilings: none
network: none
"""


def test_a_study_of_a_box_runs_on_machines_of_terraform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with two_hosts(tmp_path, monkeypatch) as nodes:
        work, mounted = tmp_path / "work", tmp_path / "mounted"
        mounted.mkdir()
        place = {"private_ip": "127.0.0.1"}
        machines = [
            {
                "name": node.folder.name,
                **place,
                "ssh_port": node.port,
                "key_file": str(node.folder / "user"),
            }
            for node in nodes
        ]
        values = {"clients": machines, "mount_point": str(mounted), "mount": "127.0.0.1:/x", "mount_type": "nfs4"}
        outputs = {name: {"sensitive": False, "value": value} for name, value in values.items()}
        outputs["password"] = {"sensitive": True, "value": "geheim"}
        (work / "outputs.json").write_text(json.dumps(outputs))
        (work / "study.yaml").write_text(STUDY)
        done = run_here(work, "run", "study.yaml", "--on", "terraform:outputs.json", "--yes-on-root")
        assert done.returncode == EXIT_OK, done.stderr
        (stored,) = list_runs(work / "assay-runs")
        with RunStore.open(Path(stored.folder)) as store:
            info, kept = store.info(), yaml.safe_load(store.study_text())
        assert info.hosts == ("node1", "node2")
        assert kept["hosts"] == {"terraform": str(work / "outputs.json")}
        assert kept["targets"] == {"store": {"kind": "file", "path": f"{mounted}/assay"}}
        assert "testbed" not in kept
        assert not [*mounted.iterdir()]
        assert all(
            "geheim" not in file.read_text("utf-8", "replace")
            for file in Path(stored.folder).rglob("*")
            if file.is_file()
        )
