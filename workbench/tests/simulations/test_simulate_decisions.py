"""The tool that simulates whole studies still runs, and knows right from wrong."""

import numpy as np
import pytest
from simulate_decisions import Counts, cells, table, wrong

from assay.model.result.decision import PointDecision, PointOutcome

CELLS = cells()


@pytest.mark.parametrize(
    "name",
    [
        "interval, one row, normal, n=5",
        "repeats one row, normal, 1.10",
        "repeats quickstart, drifting, 1.10 at a fifth",
        "A/B two-places, two-valued, 1.00",
        "runs 1:1, 5 known, 12 rows, one day a run, 1.00",
        "old, 75 rows, normal, 1.10 at a fifth, n=10",
    ],
)
def test_a_study_of_each_kind_runs_and_is_shown(name: str) -> None:
    found = CELLS[name](np.random.default_rng(1), 1)
    assert found["studies"] == 1
    assert any(line.startswith(f"| {name} | ") for line in table({name: CELLS[name]}, {name: {0: Counts(found)}}))


@pytest.mark.parametrize(
    ("outcome", "fields", "ratio", "kind"),
    [
        (PointOutcome.FASTER, {"winner": "memory", "at_least": 1.01}, 1.0, "faster"),
        (PointOutcome.FASTER, {"winner": "memory", "at_least": 1.01}, 1.1, ""),
        (PointOutcome.FASTER, {"winner": "memory", "at_least": 1.11}, 1.1, "bound"),
        (PointOutcome.FASTER, {"winner": "disk", "at_least": 1.01}, 1.1, "direction"),
        (PointOutcome.EQUAL, {"within": 0.04}, 1.1, "equal"),
        (PointOutcome.EQUAL, {"within": 0.04}, 1.03, ""),
        (PointOutcome.EQUAL, {"within": 0.02}, 1.03, "bound"),
        (PointOutcome.OPEN, {}, 1.1, ""),
    ],
)
def test_right_is_told_from_wrong(outcome: PointOutcome, fields: dict[str, float], ratio: float, kind: str) -> None:
    point = PointDecision.model_validate({"axes": {}, "outcome": outcome, "ratio": 1.0, **fields})
    assert wrong(point, ratio) == kind
