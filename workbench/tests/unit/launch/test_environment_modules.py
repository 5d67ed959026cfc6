"""Environment modules are kept with a run, and another one loaded is a difference that matters."""

from pathlib import Path

import pytest

from assay.analyse.environments.diff import environment_diff
from assay.launch.environment import capture_environment
from assay.launch.environment.machine import describe_host
from assay.launch.environment.modules import describe_modules
from assay.launch.environment.reading import Files

VARIABLES = ("LOADEDMODULES", "MODULEPATH", "MODULESHOME", "LMOD_CMD", "LMOD_VERSION")


def test_without_modules_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert describe_modules({}) == {}
    assert "modules" not in capture_environment({})


def test_what_is_loaded_is_kept_in_order_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADEDMODULES", "gcc/12.2:openmpi/4.1.4:assay/1.0")
    monkeypatch.setenv("MODULEPATH", "/opt/apps/modulefiles:/usr/share/modules")
    monkeypatch.delenv("LMOD_VERSION", raising=False)
    monkeypatch.delenv("LMOD_CMD", raising=False)
    assert capture_environment({})["modules"] == {
        "loaded": "gcc/12.2, openmpi/4.1.4, assay/1.0",
        "program": "Environment Modules",
        "path": "/opt/apps/modulefiles:/usr/share/modules",
    }
    assert describe_modules({"LMOD_VERSION": "8.6.19", "MODULEPATH": "/x"})["program"] == "Lmod 8.6.19"
    assert describe_modules({"MODULEPATH": "/x"})["loaded"] == "none"


def test_another_module_is_a_difference_that_matters() -> None:
    before, after = ({"modules": describe_modules({"LOADEDMODULES": name})} for name in ("openmpi/4", "openmpi/5"))
    (found,) = environment_diff(before, after)
    assert (found.section, found.name, found.matters) == ("modules", "loaded", True)


def test_an_image_of_apptainer_is_seen(tmp_path: Path) -> None:
    (tmp_path / ".singularity.d").mkdir()
    assert "apptainer (/.singularity.d)" in describe_host(Files(tmp_path))["container"]
