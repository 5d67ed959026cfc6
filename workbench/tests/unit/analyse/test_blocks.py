"""Two sides in turns: which rows are decided, and how often that is right, over simulated runs of a known truth."""

import numpy as np
import pytest
from builders import make_case, row_of

from assay.analyse.blocks import decided_cases, decisions, side_state
from assay.model.result.decision import PointDecision
from assay.model.result.result import ResultRow
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.blocks import LOOK_ROUNDS, Blocks, looks_within

TRUE = 500e6
BLOCKS = Blocks(base="A", other="B", seconds=300)
SEED = 20261125


def row(number: int, target: str, rates: list[float], verdict: Verdict = Verdict.OK) -> ResultRow:
    return row_of(make_case(f"{target}{number}", target, axes={"record_size": 4096 * (number + 1)}), rates, verdict)


def test_a_pair_needs_no_more_rounds_once_every_row_of_it_is_decided() -> None:
    random = np.random.default_rng(SEED)

    def noisy(level: float, sigma: float) -> list[float]:
        return [float(value) for value in TRUE * level * np.exp(sigma * random.standard_normal(20))]

    rows = [row(0, "A", noisy(1, 0.01)), row(0, "B", noisy(0.8, 0.01))]
    rows += [row(1, "A", noisy(1, 0.01)), row(1, "B", noisy(1, 0.01))]
    rows += [row(2, "A", noisy(1, 0.3)), row(2, "B", noisy(1, 0.3))]
    cases = [one.case for one in rows]
    found = decided_cases(cases, rows, BLOCKS)
    assert found == {
        "A0": "decided: B is slower",
        "B0": "decided: B is slower",
        "A1": "decided: B is equal",
        "B1": "decided: B is equal",
    }
    assert decided_cases(cases[:1], rows, BLOCKS) == {"A0": "decided: B is slower"}


def test_numbers_that_are_not_the_storages_own_are_not_repeated_for() -> None:
    noisy, other = ([TRUE * factor for factor in factors] for factors in ((0.5, 1.0, 2.0, 1.5), (1.9, 0.6, 0.7, 1.2)))
    rows = [row(0, "A", noisy, Verdict.CACHED), row(0, "B", other)]
    assert set(decided_cases([one.case for one in rows], rows, BLOCKS)) == {"A0", "B0"}
    # Nor where operations failed: more repeats do not make it whole.
    rows = [row(0, "A", noisy, Verdict.INCOMPLETE), row(0, "B", other)]
    assert set(decided_cases([one.case for one in rows], rows, BLOCKS)) == {"A0", "B0"}
    rows = [row(0, "A", []), row(0, "B", noisy)]
    assert set(decided_cases([one.case for one in rows], rows, BLOCKS)) == {"A0", "B0"}


def test_what_would_decide_an_open_row_is_about_what_does() -> None:
    random = np.random.default_rng(SEED)
    values = TRUE * np.exp(0.05 * random.standard_normal((2, 400)))

    def point(count: int) -> PointDecision:
        rows = [row(0, "A", values[0, :count].tolist()), row(0, "B", values[1, :count].tolist())]
        (found,) = decisions(rows, BLOCKS)
        return found.points[0]

    assert side_state(point(20), "B") == "open"
    wanted = point(20).needs
    assert wanted is not None and 20 < wanted <= 400
    assert side_state(point(min(400, 2 * wanted)), "B") != "open"
    few = point(1)
    assert few.needs == LOOK_ROUNDS[0] and side_state(few, "B") == "open"


@pytest.mark.parametrize(
    ("verdict", "engines", "known"),
    [
        (Verdict.CONTENDED, False, "open"),
        (Verdict.CONTENDED, True, "slower"),
        (Verdict.CLIENT_BOUND, False, "slower"),
        (Verdict.THROTTLED, False, "slower"),
        (Verdict.CACHED, True, "no result"),
    ],
)
def test_verdicts_bound_places_but_not_engines(verdict: Verdict, engines: bool, known: str) -> None:
    """What holds an engine back is the engine, a limit on a place is a part of it, and both have the same client."""
    random = np.random.default_rng(SEED)
    rates = [(TRUE * level * np.exp(0.01 * random.standard_normal(20))).tolist() for level in (1, 0.8)]
    held = Finding(verdict=verdict, rule="", text="", remedy="", numbers={})
    slow = row(0, "B", rates[1], verdict).model_copy(update={"findings": (held,)})
    (found,) = decisions([row(0, "A", rates[0]), slow], BLOCKS.model_copy(update={"engines": engines}))
    assert side_state(found.points[0], "B") == known


def test_looks_are_as_many_as_there_may_be_time_for() -> None:
    assert looks_within(300, 0.5) == LOOK_ROUNDS
    assert looks_within(300, 40) == (5, 8, 13, 20)
    assert looks_within(1, 1e6) == LOOK_ROUNDS[:1]
    assert (BLOCKS.min_rounds, BLOCKS.max_rounds) == (5, 120)
