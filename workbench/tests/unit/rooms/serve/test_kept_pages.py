"""Pages that are kept: never more than there is room for, each made once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rooms.serve.work.page_cache import PageCache


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 60)), max_size=60), st.integers(0, 100))
def test_the_right_page_is_given_and_the_room_is_kept(asked: list[tuple[int, int]], most: int) -> None:
    kept = PageCache(most)
    for key, size in asked:
        assert kept.get((key, size), lambda key=key, size=size: bytes([key]) * size) == bytes([key]) * size
        held = sum(map(len, kept._pages.values()))
        assert held == kept._size <= most


def test_the_page_that_was_asked_for_last_stays() -> None:
    kept, made = PageCache(20), []

    def ask(key: str) -> None:
        kept.get(key, lambda: (made.append(key), b"x" * 10)[1])

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)
    assert made == ["a", "b", "c", "b"]


def test_who_asks_for_the_same_at_once_waits_for_the_one_that_makes_it() -> None:
    kept, begun, made = PageCache(100), threading.Barrier(4), []

    def ask() -> bytes:
        begun.wait()
        return kept.get("page", lambda: (made.append(1), b"page")[1])

    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(ask) for _ in range(4)]
    assert [one.result() for one in found] == [b"page"] * 4
    assert made == [1]


def test_a_page_that_cannot_be_made_is_tried_again() -> None:
    kept = PageCache(100)

    def fail() -> bytes:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            kept.get("page", fail)
    assert kept.get("page", lambda: b"now") == b"now"
