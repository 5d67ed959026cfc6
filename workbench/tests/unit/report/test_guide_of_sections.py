"""The guide of the report has each of its sections."""

import ast
from pathlib import Path

import pytest
from paths import REPOSITORY

from assay.model.room import rooms
from assay.report import build
from assay.report.sections import other_run

GUIDE = (REPOSITORY / "docs" / "guides" / "report.md").read_text().splitlines()
NAMED = {name for line in GUIDE if line.startswith("| ") for name in line.split(" | ")[0][2:].split(", ")}
HEADINGS = "\n".join(line.lower() for line in GUIDE if line.startswith("## "))
ROOMS = [reference.partition(":")[0] for room in rooms() for reference in room.sections]
FILES = [str(module.__file__) for module in (*build.SECTIONS, other_run)]


def titles(file: str) -> set[str]:
    """Titles of the sections that a module makes."""
    calls = [node for node in ast.walk(ast.parse(Path(file).read_text())) if isinstance(node, ast.Call)]
    made = [call for call in calls if getattr(call.func, "id", "") == "Section"]
    return {call.args[1].value for call in made if isinstance(call.args[1], ast.Constant)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: Path(file).stem)
def test_a_section_is_in_the_guide(file: str) -> None:
    found = titles(file)
    assert found, f"{file} makes no section with a constant title"
    assert [title for title in found if title not in NAMED and title.lower() not in HEADINGS] == []


def test_no_room_adds_a_section_without_a_word_in_the_guide() -> None:
    assert [name for name in ROOMS if name.split(".")[2] not in "\n".join(GUIDE)] == []
