"""Times of RFC 3339 as nanoseconds."""

import pytest

from assay.model.rfc3339 import TimeReader

SECOND = 1_795_917_600 * 10**9
"""2026-11-29T02:00:00Z."""


@pytest.mark.parametrize(
    ("text", "after"),
    [("2026-11-29T02:00:00Z", 0), ("2026-11-29T03:00:00.5+01:00", 5 * 10**8), ("2026-11-29T02:00:00.000000001Z", 1)],
)
def test_offsets_and_decimals_count(text: str, after: int) -> None:
    assert TimeReader().nanoseconds(text) == SECOND + after


def test_other_texts_are_no_times_and_impossible_ones_are_errors() -> None:
    assert TimeReader().nanoseconds("1795917600") is None
    with pytest.raises(ValueError):
        TimeReader().nanoseconds("2026-13-29T02:00:00Z")
