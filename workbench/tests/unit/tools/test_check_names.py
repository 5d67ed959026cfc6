"""Names with words that docs/style.md bans are found, in Python and in Rust."""

import sys
from collections.abc import Iterable

import pytest
from paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

import check_names


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("class NotTold: ...", ["NotTold"]),
        ("def f(asked: int) -> None: ...", ["asked"]),
        ("class A:\n    kept: int\n    kept_bytes: int", ["kept"]),
        ("def f() -> None:\n    told = 1", []),
        ("WHO = 1\nHANDLE = 2", ["WHO"]),
    ],
)
def test_python(text: str, wrong: list[str]) -> None:
    assert wrong_of(check_names.python_names(text)) == wrong


def test_rust_items_and_fields_but_no_tests() -> None:
    text = "struct Told {\n    heard: u32,\n    name: u32,\n}\npub fn ask() {}\n#[test]\nfn what_is_said() {}\n"
    assert wrong_of(check_names.rust_names(text)) == ["Told", "heard", "ask"]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("MOST_BYTES", True),
        ("_LEAST", True),
        ("TIMEOUT_S", True),
        ("least_size", True),
        ("MAX_WAIT_SECONDS", False),
        ("ALMOST_FULL", False),
        ("timeout_s", False),
        ("most_expensive", False),
    ],
)
def test_form(name: str, wrong: bool) -> None:
    assert bool(check_names.unusual(name)) == wrong


def wrong_of(names: Iterable[tuple[int, str]]) -> list[str]:
    anywhere, at_end = check_names.banned_words()
    found = [(check_names.words_of(name), name) for _, name in names]
    return [name for words, name in found if anywhere & {*words} or at_end & {*words[-1:]}]
