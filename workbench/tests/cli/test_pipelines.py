"""The ready workflow files: valid, and each command in them exists with its options."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.cli.export import Format
from assay.cli.main import COMMANDS, LazyGroup

PIPELINES = Path(__file__).parents[3] / "docs" / "pipelines"
SCRIPTS = ("run", "script", "before_script", "after_script")


def scripts(value: Any) -> Iterator[str]:
    """The shell text of a workflow."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in SCRIPTS:
                yield from [item] if isinstance(item, str) else item
            else:
                yield from scripts(item)
    elif isinstance(value, list):
        for item in value:
            yield from scripts(item)


def commands(path: Path) -> list[list[str]]:
    """The words behind `assay` of each command in a workflow."""
    lines = [line for text in scripts(yaml.safe_load(path.read_text())) for line in text.splitlines()]
    words = [shlex.split(line.partition(" || ")[0]) for line in lines if line.strip().startswith("assay ")]
    return [one[1:] for one in words]


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_every_command_in_a_workflow_exists_with_its_options(name: str) -> None:
    found = commands(PIPELINES / name)
    assert {"compare", "export", "report", "run"} <= {words[0] for words in found} <= set(COMMANDS)
    for command, *words in found:
        known = LazyGroup().get_command(None, command)
        # Refuses options and values that there are not, and runs nothing.
        context = known.make_context(command, words)
        assert context.params


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_a_workflow_keeps_the_files_that_its_commands_write(name: str) -> None:
    text = (PIPELINES / name).read_text()
    written = {
        words[place + 1]
        for words in commands(PIPELINES / name)
        for place, word in enumerate(words)
        if word in ("--output", "--junit")
    }
    assert len(written) == 4
    kept = yaml.safe_load(text)
    uploads = " ".join(map(str, walk(kept, ("path", "paths", "junit", "metrics"))))
    assert all(file in uploads for file in written)


def walk(value: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """The values of some keys, however deep."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in keys:
                yield item
            yield from walk(item, keys)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item, keys)


def test_the_guide_names_every_metric_and_format() -> None:
    guide = (PIPELINES.parent / "guides" / "pipelines.md").read_text()
    from builders import make_analysis, make_ceiling

    from assay.report.formats.openmetrics import openmetrics_text

    text = openmetrics_text(make_analysis(ceilings=(make_ceiling("device read", 250e6),), finished_at=2.0))
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
    assert len(names) == 10 and all(f"`{name}`" in guide for name in names)
    assert all(f"--format {name}" in guide for name in (Format.OPENMETRICS, Format.FIO))
