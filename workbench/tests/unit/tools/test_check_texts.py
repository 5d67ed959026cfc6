"""The check that nothing is decided by the words of a message."""

import sys

import pytest
from paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))
import check_texts


@pytest.mark.parametrize(
    "line",
    [
        'if "budget" in error.message: pass',
        'if "budget" not in str(error): pass',
        'if note.text.startswith("Slower"): pass',
        "if point.why == TOO_FEW: pass",
        'if "x" in error.message.lower(): pass',
        "if pattern.search(error.message): pass",
        'head = error.message.rpartition(": ")[2]',
    ],
)
def test_a_decision_by_words_is_found(line: str) -> None:
    assert check_texts.places(line) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "if error.code is Code.NEWER_RUN: pass",
        'if row.reason == "": pass',
        'print(f"{error.message}: again")',
        "words = note.text.split()",
        'if "x" in names: pass',
        "if error.message: pass",
    ],
)
def test_other_uses_of_a_text_are_not(line: str) -> None:
    assert check_texts.places(line) == []
