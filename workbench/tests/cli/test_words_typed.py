"""Words that are mistyped: what was probably meant is named."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from in_process import run_here
from run_tools import assay

from assay.cli.main import COMMANDS


def test_a_mistyped_command_names_the_one_that_was_meant(tmp_path: Path) -> None:
    said = assay(tmp_path, "repot", "last", expect=2)
    assert "No such command 'repot'; did you mean `report`?" in said.stderr


def test_nothing_is_suggested_for_what_is_like_no_command(tmp_path: Path) -> None:
    said = assay(tmp_path, "zzzzzz", expect=2)
    assert "No such command 'zzzzzz'." in said.stderr and "mean" not in said.stderr


LONG = [name for name in COMMANDS if len(name) > 4 and not name.startswith("price")]
"""Those that differ from every other one by more than a letter."""


@given(st.sampled_from(LONG), st.data())
def test_a_letter_typed_twice_does_not_hide_what_was_meant(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name) - 1))
    word = name[:place] + name[place] + name[place:]
    assert f"did you mean `{name}`?" in run_here(Path.cwd(), word).stderr
