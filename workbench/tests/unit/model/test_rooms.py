"""Rooms are found by their folders, and their commands and sections stand where they say."""

from pathlib import Path

import pytest

from assay.cli import main
from assay.model import room
from assay.report import build
from assay.report.document import Section

ROOM = """
from assay.model.room import Command, Room

ROOM = Room({"bring": Command("x", "Bring it.", after="list")}, {"json.tool:main": "answer"})
"""


def test_a_folder_with_a_room_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "made_up"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "room.py").write_text(ROOM)
    monkeypatch.setattr("assay.rooms.__path__", [str(tmp_path)])
    (found,) = room.rooms.__wrapped__()
    monkeypatch.setattr(main, "rooms", lambda: (found,))
    names = list(main._commands())
    assert names[names.index("list") + 1] == "bring" and set(main._CORE) < set(names)


def test_each_hook_has_one_room_and_each_room_has_what_it_registers() -> None:
    found = [name for each in room.rooms() for name in each.hooks]
    assert sorted(found) == sorted(room.HOOKS)
    for each in room.rooms():
        assert all(callable(room.load(reference)) for reference in (*each.hooks.values(), *each.sections))


def test_a_section_stands_behind_the_one_it_names_or_last() -> None:
    answer, method, more = (Section(name, name, ()) for name in ("answer", "method", "more"))
    assert build._behind([answer, method], "answer", more) == [answer, more, method]
    assert build._behind([answer, method], "nowhere", more) == [answer, method, more]
