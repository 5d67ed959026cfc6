"""What becomes of an engine's lines: numbers that it counts, and those that others tell it."""

import json
from pathlib import Path
from typing import Any

import pytest
from paths import REPOSITORY

from assay.contract.messages import HelloEvent
from assay.contract.reader import GREATEST_NUMBER, BrokenLine, read_line


def hello_with(**changes: Any) -> str:
    """The line with which an engine begins, with other numbers of its place."""
    lines = [
        line
        for path in sorted(Path(REPOSITORY, "contract", "golden", "events").iterdir())
        for line in path.read_text().splitlines()
    ]
    found = next(event for event in map(json.loads, lines) if event["event"] == "hello" and event["backend"]["place"])
    found["backend"]["place"] |= changes
    return json.dumps(found)


@pytest.mark.parametrize(
    ("told", "kept"),
    [(GREATEST_NUMBER, GREATEST_NUMBER), (GREATEST_NUMBER + 1, None), (2**64 - 2**24, None), (None, None)],
)
def test_a_file_system_without_a_limit_may_tell_any_free_space(told: int | None, kept: int | None) -> None:
    """s3fs tells 2^40 - 1 blocks of 16 MiB."""
    event = read_line(hello_with(free_bytes=told))
    assert isinstance(event, HelloEvent) and event.backend.place is not None
    assert event.backend.place.free_bytes == kept


def test_no_engine_counts_beyond_what_is_kept() -> None:
    event = {"event": "ready", "at_ns": GREATEST_NUMBER + 1, "buffer_bytes": 1}
    found = read_line(json.dumps(event))
    assert isinstance(found, BrokenLine)
