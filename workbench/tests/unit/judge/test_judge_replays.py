"""The rule about replays that fall behind their pace."""

import pytest
from judge_tools import MS, evidence

from assay.judge.replays import late_replay
from assay.model.result.evidence import Evidence
from assay.model.result.replays import ReplayedKind, ReplayResult
from assay.model.result.verdict import Finding, Verdict


def replayed(pace: str | None, *copies: tuple[float, float]) -> Evidence:
    """Repeats of a trace of 100 ms; of each copy the milliseconds that it took, and those of its operations."""
    replays = tuple(
        ReplayResult(
            lane=lane,
            started_ns=0,
            elapsed_ns=round(elapsed * MS),
            recorded_ns=100 * MS,
            tasks=1,
            kinds={"read": ReplayedKind(count=1, replayed_ns=round(spent * MS))},
        )
        for lane, (elapsed, spent) in enumerate(copies)
    )
    return evidence("replay", parameters={"pace": pace}, replays=replays)


@pytest.mark.parametrize(
    ("pace", "copies", "verdict"),
    [
        ("recorded", [(104.9, 90)], None),
        ("recorded", [(150, 25)], Verdict.UNSUSTAINED),
        ("recorded", [(150, 24)], Verdict.CLIENT_BOUND),
        ("2", [(52, 40)], None),
        ("2", [(60, 40)], Verdict.UNSUSTAINED),
        # The copy that ends last decides.
        ("recorded", [(101, 90), (160, 20)], Verdict.CLIENT_BOUND),
        ("fast", [(900, 900)], None),
        (None, [(900, 900)], None),
        ("recorded", [], None),
    ],
)
def test_a_replay_behind_its_pace_is_the_storages_or_the_machines(
    pace: str | None, copies: list[tuple[float, float]], verdict: Verdict | None
) -> None:
    found = late_replay(replayed(pace, *copies))
    assert (found.verdict if isinstance(found, Finding) else found) == verdict
    if isinstance(found, Finding):
        assert found.rule == "late_replay" and found.remedy
