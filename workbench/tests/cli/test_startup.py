"""What a command loads before it does anything: each command only what it needs, for people wait for it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from run_tools import needs_engine, study
from stored_runs import store_run

from assay.model.result.brief import Result
from assay.model.study.kinds import PARTS, kinds
from assay.store import RunStore

PROGRAM = """
import json, sys
from assay.cli.main import main

def classes(kind):
    for inner in kind.__subclasses__():
        yield inner
        yield from classes(inner)

code = main(sys.argv[2:])
names = sorted(sys.modules)
from pydantic import BaseModel
made = {f"{kind.__module__}.{kind.__qualname__}" for kind in classes(BaseModel)}
with open(sys.argv[1], "w") as file:
    json.dump({"code": code, "modules": names, "classes": sorted(made)}, file)
"""
SECONDS = 600
LARGE = (
    *("numpy", "scipy", "pandas", "pyarrow", "xlsxwriter", "hdrh"),
    *("moto", "boto3", "botocore", "jsonschema", "jinja2", "requests", "ClusterShell", "asyncio"),
    # With it typer writes help and errors; a command that does what it is told needs neither.
    *("rich.markdown", "markdown_it", "pygments", "typer.rich_utils"),
)
"""None of the quick commands needs one of these."""
FAR = (
    "assay.analyse",
    "assay.judge",
    "assay.site.box",
    "assay.report.html",
    "assay.report.build",
    "assay.store.series",
)
"""Parts of Assay that have nothing to do with studies and kept results as they are."""


@dataclass(frozen=True)
class Bound:
    """What a command may load.

    Attributes:
        modules: Of Assay itself, at most, without kinds of target. A new one that all commands need is no mistake:
            raise the number then.
        classes: Of pydantic, which are built when their module is loaded and are the dearest of all.
        never: Modules, with all below them, besides `LARGE`.
    """

    modules: int
    classes: int
    never: tuple[str, ...]


KINDS = tuple(f"assay.kinds.{kind}" for kind in kinds())
PARSERS = ("yaml", "assay.contract")
NO_RUN = (
    "sqlite3",
    "assay.model.money.price",
    "assay.money",
    "assay.store",
    "assay.run.targets",
    "assay.run.fleet",
    "assay.contract._generated",
    *FAR,
)
BOUNDS = {
    "--version": Bound(9, 1, ("rich", "sqlite3", "assay.store", "assay.plan", "assay.launch", *PARSERS, *FAR)),
    "check": Bound(87, 42, ("rich", *NO_RUN)),
    "plan": Bound(88, 41, ("rich", *NO_RUN)),
    "list": Bound(
        21,
        1,
        ("rich", "assay.model.result.result", "assay.store.run", "assay.plan", "assay.launch", *PARSERS, *FAR[:-1]),
    ),
    "show": Bound(77, 100, ("rich", "assay.plan", "assay.launch", "assay.model.study.study", *PARSERS, *FAR[:-1])),
}


def loaded(folder: Path, *words: object) -> dict[str, Any]:
    """What a process of its own has loaded when it has done a command."""
    told = folder / "loaded.json"
    command = [sys.executable, "-c", PROGRAM, str(told), *map(str, words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    found: dict[str, Any] = json.loads(told.read_text())
    assert found["code"] == 0, done.stderr
    return found


def below(modules: Sequence[str], parents: Sequence[str]) -> list[str]:
    """Those of the modules that are one of `parents` or in one."""
    return [name for name in modules if any(name == parent or name.startswith(f"{parent}.") for parent in parents)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a study and a finished run."""
    study(tmp_path)
    folder = store_run(tmp_path / "assay-runs", "20261123-000000-kept", {("disk", "write"): [1e8, 1.1e8, 1.2e8]})
    with RunStore.open(folder, write=True) as run:
        case = run.cases()[0]
        run.save_results([Result(case.id, case.label, "write", "ok", 1.1e8, 1e8, 1.2e8, 1e3, 3, "")])
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        pytest.param(("check", "study.yaml"), marks=needs_engine),
        ("plan", "study.yaml"),
        ("list",),
        ("show", "last"),
    ],
    ids=lambda words: words[0],
)
def test_a_quick_command_loads_little(place: Path, words: tuple[str, ...]) -> None:
    bound, found = BOUNDS[words[0]], loaded(place, *words)
    assert below(found["modules"], (*LARGE, *bound.never)) == []
    mine, classes = (_without_kinds(found[what]) for what in ("modules", "classes"))
    assert len(mine) <= bound.modules, mine
    assert len(classes) <= bound.classes, classes
    used = set(below(found["modules"], KINDS)) - {f"{kind}.study" for kind in KINDS} - set(KINDS)
    assert used <= {f"assay.kinds.file.{part}" for part in PARTS}, "of kinds that a study has not, only what is written"


def _without_kinds(names: Sequence[str]) -> list[str]:
    return [name for name in below(names, ["assay"]) if not below([name], KINDS)]


def test_what_is_never_loaded_has_its_right_name() -> None:
    from importlib.util import find_spec

    names = {name for bound in BOUNDS.values() for name in (*LARGE, *bound.never)}
    optional = {"pandas", "boto3", "botocore", "jsonschema", "jinja2", "requests", "shellingham", "moto"}
    assert [name for name in sorted(names - optional) if find_spec(name) is None] == []


def test_the_store_has_all_that_it_names() -> None:
    from assay import store

    assert [name for name in store.__all__ if getattr(store, name, None) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = store.nothing
