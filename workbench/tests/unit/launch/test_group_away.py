"""A host is not blamed for the time in which the controller itself was not run."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from assay.launch import group


@dataclass
class Silent:
    """An engine of which nothing is heard."""

    host: str = "h"
    failed: bool = False
    has_ended: bool = False
    waits_at: Any = None
    forgiven: list[float] = field(default_factory=list)
    pinged: list[float] = field(default_factory=list)

    def exclude_pause(self, seconds: float) -> None:
        self.forgiven.append(seconds)

    def ping(self, now: float) -> None:
        self.pinged.append(now)


def test_only_time_in_which_somebody_listened_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(group.time, "monotonic", lambda: clock[0])
    engine = Silent()
    together = group._Group([engine], lambda: None)  # type: ignore[list-item]
    for moment in (100.1, 100.9, 130.9, 131.0):
        clock[0] = moment
        together.turn()
    assert engine.forgiven == [30.0]
    assert engine.pinged == [100.1, 100.9, 130.9, 131.0]
