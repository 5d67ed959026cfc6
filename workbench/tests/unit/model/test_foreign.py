"""What comes from outside is shown, and cannot steer a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.escape import escape_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, ümläuts and 漢字", "plain words, ümläuts and 漢字"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("one\ntwo\r\nthree\tfour", "one two  three four"),
        ("file\u202etxt.exe", "file\\u202etxt.exe"),
        ("lone \ud800 half", "lone \\ud800 half"),
        ("", ""),
    ],
)
def test_what_a_terminal_obeys_is_spelled_out(text: str, shown: str) -> None:
    """Escapes, control characters and direction marks are seen, everything else stays."""
    assert escape_line(text) == shown


def test_a_long_text_is_cut() -> None:
    """The end says that there was more."""
    assert escape_line("x" * 500) == "x" * 500
    assert escape_line("x" * 501) == "x" * 497 + "..."
    assert escape_line("\x1b" * 100_000, 50).endswith("...")
    assert len(escape_line("\x1b" * 100_000, 50)) == 50


@given(st.text(st.characters()))
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    """One line, all of it printable; and what is plain already stays as it is."""
    shown = escape_line(text)
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & {unicodedata.category(letter) for letter in shown}
    assert len(shown.splitlines()) <= 1
    assert escape_line(shown) == shown
