"""Values of a run's database that nobody has measured."""

import math
import zlib

import pytest

from assay.store import values
from assay.store.values import amount_of, count_of, decompressed_events, moment_of, text_of


@pytest.mark.parametrize("odd", [None, True, "1", b"1", -1, math.nan, math.inf, -math.inf, 2**63 - 1, 1e308])
def test_numbers_are_held_against_what_they_count(odd: object) -> None:
    for read in (moment_of, count_of, amount_of) if odd != 2**63 - 1 else (moment_of, count_of):
        with pytest.raises(ValueError, match="is no"):
            read(odd)


def test_sound_values_are_taken() -> None:
    assert (moment_of(1.8e9), count_of(7), amount_of(3), text_of("x")) == (1.8e9, 7, 3.0, "x")
    with pytest.raises(ValueError, match="is not a text"):
        text_of(1)


def test_events_that_unpack_to_far_more_than_events_do_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"event":"interval"}\n' * 1000
    assert decompressed_events(zlib.compress(text.encode())) == text
    monkeypatch.setattr(values, "MIN_EVENT_BYTES", 1000)
    with pytest.raises(ValueError, match="its events are more than"):
        decompressed_events(zlib.compress(b" " * 1_000_000))
