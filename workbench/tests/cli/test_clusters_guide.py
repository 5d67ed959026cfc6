"""The guide to clusters: its files are right, and what it has people type does what it says."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from in_process import run_here
from paths import REPOSITORY

from assay.money.cost.designs import load_template
from assay.plan.load import load_study

GUIDE = (REPOSITORY / "docs" / "guides" / "clusters.md").read_text()
CLUSTERS = REPOSITORY / "docs" / "clusters"
TYPED = [line for line in re.findall(r"^    (assay .*)$", GUIDE, re.M) if "--slurm" not in line]
MODULECMD = next(Path("/usr/lib").glob("*/modulecmd.tcl"), None) if Path("/usr/lib").is_dir() else None
LMOD = Path("/usr/share/lmod/lmod/libexec/lmod")


def test_all_files_are_named_in_the_guide_and_are_there() -> None:
    linked = set(re.findall(r"\.\./clusters/([\w./-]+)\)", GUIDE))
    for name in linked:
        assert (CLUSTERS / name).exists(), name
    for file in CLUSTERS.iterdir():
        assert f"docs/clusters/{file.name}" in GUIDE or file.name in linked, file.name


@pytest.mark.parametrize("line", TYPED)
def test_what_is_typed_here_works(line: str) -> None:
    done = run_here(REPOSITORY, *shlex.split(line)[1:])
    assert done.returncode == 0, done.stderr
    if "plan" in line:
        assert "at the same time" in done.stdout and "Stages, with `assay run --stage`" in done.stdout
    if "parallelcluster-study" in line:
        assert "USD" in done.stdout and "hosts: up to 16 at the same time" in done.stdout


def test_there_is_something_to_type() -> None:
    assert len(TYPED) >= 3


@pytest.mark.parametrize("name", ["study.yaml", "parallelcluster-study.yaml"])
def test_the_studies_are_right(name: str) -> None:
    loaded = load_study((CLUSTERS / name).read_bytes())
    assert not loaded.problems, loaded.problems
    assert loaded.study is not None and loaded.study.hosts.is_allocated


def test_the_cluster_is_the_one_that_is_priced() -> None:
    cluster = yaml.safe_load((CLUSTERS / "parallelcluster.yaml").read_text())
    design = load_template(str(CLUSTERS / "parallelcluster-design.yaml")).build({})
    (queue,) = cluster["Scheduling"]["SlurmQueues"]
    (nodes,) = queue["ComputeResources"]
    servers = {server.role: server.instance for server in design.servers}
    assert servers["client"] == nodes["Instances"][0]["InstanceType"]
    assert servers["management"] == cluster["HeadNode"]["InstanceType"]
    (storage,) = cluster["SharedStorage"]
    assert storage["StorageType"] == "FsxLustre"
    settings = storage["FsxLustreSettings"]
    assert design.service is not None
    assert settings["StorageCapacity"] << 30 == design.service.capacity
    assert design.service.type == f"fsx-lustre-{settings['DeploymentType'].lower().replace('_', '-')}"
    study = load_study((CLUSTERS / "parallelcluster-study.yaml").read_bytes()).study
    assert study is not None
    assert study.targets["fsx"].path.startswith(f"{storage['MountDir']}/")
    assert max(study.workloads["own-files"].axis("hosts").values()) == nodes["MaxCount"]


def test_the_limit_that_is_asked_for_is_enough() -> None:
    wanted = int(re.search(r"--desired-value (\d+)", GUIDE)[1])  # type: ignore[index]
    assert wanted >= 128 * 16 + 4


@pytest.mark.parametrize("name", ["pbs.sh", "lsf.sh", "slurm.sh", "parallelcluster-install.sh"])
def test_scripts_are_plain_shell(name: str) -> None:
    done = subprocess.run(["sh", "-n", CLUSTERS / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def prefix(folder: Path) -> Path:
    """An Assay that only says its name, where the modulefiles look for it."""
    program = folder / "assay" / "1.0" / "bin" / "assay"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho assay from its module\n")
    program.chmod(0o755)
    return folder


def loaded(command: list[str], folder: Path) -> str:
    """What the shell finds when the module was loaded by a module program that writes shell commands."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "MODULEPATH": str(CLUSTERS / "modulefiles"),
        "ASSAY_PREFIX": str(prefix(folder / "apps")),
        "PYTHONPATH": "/somewhere/else",
        "LMOD_SYSTEM_DEFAULT_MODULES": "",
    }
    script = f'eval "$({shlex.join(command)} load assay)"; assay; echo "${{PYTHONPATH-gone}} $LOADEDMODULES"'
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(MODULECMD is None, reason="no Environment Modules: apt-get install environment-modules")
def test_the_modulefile_for_environment_modules(tmp_path: Path) -> None:
    tcl = shutil.which("tclsh") or "tclsh"
    assert loaded([tcl, str(MODULECMD), "bash"], tmp_path) == "assay from its module\ngone assay/1.0\n"


@pytest.mark.skipif(not LMOD.exists(), reason="no Lmod, which Debian does not install beside Environment Modules")
def test_the_modulefile_for_lmod(tmp_path: Path) -> None:
    assert loaded([str(LMOD), "bash"], tmp_path) == "assay from its module\ngone assay/1.0\n"


def test_the_scripts_run_the_study_in_the_directory_they_were_submitted_from(tmp_path: Path) -> None:
    """With a program that says how it was called in place of Assay."""
    stand_in = tmp_path / "bin" / "assay"
    stand_in.parent.mkdir()
    stand_in.write_text('#!/bin/sh\necho "$PWD: $*"\n')
    stand_in.chmod(0o755)
    (tmp_path / "work").mkdir()
    path = f"{stand_in.parent}:{os.environ['PATH']}"
    for name, more in (("pbs.sh", {"PBS_O_WORKDIR": str(tmp_path / "work")}), ("lsf.sh", {}), ("slurm.sh", {})):
        where = tmp_path if more else tmp_path / "work"
        environment = {"PATH": path, "HOME": str(tmp_path), **more}
        done = subprocess.run(["sh", CLUSTERS / name], cwd=where, env=environment, capture_output=True, text=True)
        assert done.stdout == f"{tmp_path / 'work'}: run study.yaml --stage\n", (name, done.stderr)
