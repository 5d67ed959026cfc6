"""What a command loads before it does anything: each only the packages that it needs, for people wait for it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paths import REPOSITORY
from run_tools import needs_engine, study
from stored_runs import store_run

from assay.cli.main import COMMANDS, LazyGroup
from assay.model.result.brief_result import BriefResult
from assay.store import RunStore
from assay.terminal.command_group import summary

PROGRAM = """
import json, os, sys

from assay.cli.main import main

def packages():
    loaded = [(name, module) for name, module in sys.modules.items() if name.split(".")[0] == "assay"]
    whole = [name for name, module in loaded if hasattr(module, "__path__") or name.startswith("assay.kinds.")]
    own = {name if name in whole else name.rpartition(".")[0] for name, module in loaded}
    return sorted(own | {name for name in json.loads(sys.argv[2]) if name in sys.modules})

def run(words):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = main(words)
        os.write(writing, json.dumps([code, packages()]).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as file:
        text = file.read()
    os.wait()
    return json.loads(text) if text else [None, []]

print(json.dumps([run(words) for words in json.loads(sys.argv[1])]))
"""
"""Does one command after another, each in a process of its own that has loaded no more than `assay` itself."""
SECONDS = 600
LARGE = (
    *("numpy", "pandas", "pyarrow", "xlsxwriter", "hdrh", "moto", "boto3"),
    *("scipy", "jsonschema", "jinja2", "requests", "ClusterShell", "asyncio", "ssl", "rich", "pygments"),
)
"""None of the quick commands needs one of these."""
SMALL = ("pydantic", "yaml", "sqlite3")
"""What takes long enough that help does without."""


def loaded(folder: Path, *commands: tuple[str, ...]) -> list[tuple[int, set[str]]]:
    """Exit code of each command, and what it has loaded: packages of Assay, and those of `LARGE` and `SMALL`."""
    words = [json.dumps(commands), json.dumps([*LARGE, *SMALL])]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    return [(code, set(names)) for code, names in json.loads(done.stdout)]


TYPED = {"assay", "assay.cli", "assay.terminal", "assay.model", "assay.rooms"} | {
    f"assay.rooms.{path.parent.name}"
    for path in (REPOSITORY / "workbench" / "src" / "assay" / "rooms").glob("*/room.py")
}
"""What every command needs to read its words: of each room, its `room.py`."""
NAMED = {"assay.store", "assay.run"}
"""Where names of files stand; whatever works there needs one of `SMALL`."""
READ = TYPED | {"assay.model.study", "assay.model.money", "assay.model.site", "assay.model.result", "pydantic"}
PLANNED = READ | {
    *("assay.cli.studies", "assay.cli.stages", "assay.contract", "assay.kinds", "assay.launch", "assay.plan"),
    *("assay.launch.environment", "assay.plan.layout", "assay.report", "assay.run", "yaml"),
    *("assay.run.costs", "assay.run.places"),
}
LISTED = TYPED | {"assay.report", "assay.store", "pydantic", "sqlite3"}
MAY_LOAD = {
    ("list",): LISTED,
    ("show", "last"): LISTED
    | {"assay.model.result", "assay.model.site", "assay.model.study", "assay.report.growth", "assay.run"},
    ("plan", "study.yaml"): PLANNED,
    ("check", "study.yaml"): PLANNED | {"assay.journal", "assay.site", "assay.store"},
}
"""Quick command -> the packages that it may load, of `LARGE` none."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a study and a finished run."""
    study(tmp_path)
    folder = store_run(tmp_path / "assay-runs", "20261123-000000-kept", {("disk", "write"): [1e8, 1.1e8, 1.2e8]})
    with RunStore.open(folder, write=True) as run:
        case = run.cases()[0]
        run.save_results([BriefResult(case.id, case.label, "write", "ok", 1.1e8, 1e8, 1.2e8, 1e3, 3, "")])
    return tmp_path


@needs_engine
def test_a_quick_command_loads_the_packages_that_it_needs(place: Path) -> None:
    for (words, may), (code, names) in zip(MAY_LOAD.items(), loaded(place, *MAY_LOAD), strict=True):
        kinds = {name for name in names if name.startswith("assay.kinds.")}
        assert (code, sorted(names - kinds - may)) == (0, []), words
        of_a_kind = {name for name in kinds if name.count(".") == 3}
        assert all(name.startswith("assay.kinds.file.") for name in of_a_kind), "only the kinds that the study names"


def words_of(command: Any, *words: str) -> Iterator[tuple[str, ...]]:
    """All that may be typed to reach a command, and those below it."""
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from words_of(inner, *words, name)


def test_help_loads_no_more_than_it_prints(tmp_path: Path) -> None:
    group = LazyGroup()
    every = [words for name in COMMANDS for words in words_of(group.get_command(None, name), name)]
    asked = [("--version",), ("--help",), *((*words, "--help") for words in every)]
    for words, (code, names) in zip(asked, loaded(tmp_path, *asked), strict=True):
        folder = COMMANDS[words[0]][0].rpartition(".")[0] if words[0] in COMMANDS else "assay.cli"
        assert (code, sorted(names - TYPED - NAMED - {folder})) == (0, []), words


def test_the_list_of_commands_says_what_their_help_says() -> None:
    group = LazyGroup()
    listed = {name: about for name, (_, about) in COMMANDS.items()}
    assert listed == {name: summary(group.get_command(None, name).help) for name in COMMANDS}


def test_what_is_never_loaded_has_its_right_name() -> None:
    from importlib.util import find_spec

    optional = {"pandas", "matplotlib", "pyarrow", "vl_convert", "boto3", "jsonschema", "jinja2", "requests", "moto"}
    assert [name for name in (*LARGE, *SMALL) if name not in optional and find_spec(name) is None] == []


def test_the_store_has_all_that_it_names() -> None:
    from assay import store

    assert [name for name in store.__all__ if getattr(store, name, None) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = store.nothing
