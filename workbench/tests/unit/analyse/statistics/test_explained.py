"""What goes with the control is found, what only drifts or goes on by itself is not, and no share is too large."""

import pytest
from controlled_runs import simulated

from assay.analyse.statistics.explained import MIN_ROUNDS, RepeatSeries, explain


def test_a_control_and_results_that_stand_still_say_nothing() -> None:
    readings, results = simulated(1, share=0.5)
    still = [reading.model_copy(update={"rates": {"works": 1.0, "waits": 5000.0}}) for reading in readings]
    answer, _ = explain(still, results)
    assert answer is not None and (answer.share, answer.p) == (0.0, 1.0)
    flat = [one._replace(logs=(1.0,) * len(one.logs)) for one in results]
    assert explain(readings, flat) == (None, f"it needs {MIN_ROUNDS} repeats with different values")


@pytest.mark.parametrize(
    ("rounds", "controls", "why"),
    [(MIN_ROUNDS - 1, 99, "it needs 5 repeats"), (8, 6, "there were 6 controls in 8 rounds"), (8, 0, "it needs 5")],
)
def test_what_cannot_be_told_is_said(rounds: int, controls: int, why: str) -> None:
    readings, results = simulated(1, share=0.9, rounds=rounds)
    answer, words = explain(readings[:controls], results)
    assert answer is None and words.startswith(why)


def test_results_with_different_rounds_count_together() -> None:
    readings, results = simulated(3, share=0.9)
    short = [RepeatSeries(one.rounds[:6], one.times[:6], one.logs[:6], one.cpu_shares[:6]) for one in results]
    some = [*results[::2], *short[1::2]]
    answer, _ = explain(readings, some)
    assert answer is not None and answer.p <= 0.05 and answer.share > 0.2
