"""What goes with the control is found, what only drifts or goes on by itself is not, and no share is too large."""

import math

import numpy as np
import pytest
from noise import wandering

from assay.analyse.statistics.explained import LEAST_ROUNDS, Series, explain
from assay.model.result.machine import Reading

ROWS = 12


def simulated(
    seed: int, share: float, own: float = 0.0, rounds: int = 8, drift: float = 0.0, sign: float = 1.0
) -> tuple[list[Reading], list[Series]]:
    """A run of `ROWS` results, one repeat a second, and a control every fourth of them.

    Of each result's variance `share` is the machine's. States of the storage last for as long as `own` says, those of
    the machine for about a round; both drift by `drift` standard deviations over the run.
    """
    random = np.random.default_rng(seed)
    length = ROWS * rounds
    # Each state of the machine and of the storage lasts for a while.
    machine, storage = wandering(random, length, 0.9), wandering(random, length, own)
    ramp = drift * np.linspace(0, 1, length)
    logs = 0.1 * (math.sqrt(share) * machine + math.sqrt(1 - share) * storage + ramp)
    readings = [
        Reading(at=place, rates={"works": math.exp(sign * 0.2 * (machine[place] + ramp[place])), "waits": 5000.0})
        for place in range(0, length, 4)
    ]
    orders = [random.permutation(ROWS) for _ in range(rounds)]
    places = [
        [number * ROWS + int(np.flatnonzero(order == row)[0]) for number, order in enumerate(orders)]
        for row in range(ROWS)
    ]
    numbers = tuple(range(1, rounds + 1))
    return readings, [Series(numbers, tuple(map(float, at)), tuple(float(logs[one]) for one in at)) for at in places]


def test_a_control_and_results_that_stand_still_say_nothing() -> None:
    readings, results = simulated(1, share=0.5)
    still = [reading.model_copy(update={"rates": {"works": 1.0, "waits": 5000.0}}) for reading in readings]
    answer, _ = explain(still, results)
    assert answer is not None and (answer.share, answer.p) == (0.0, 1.0)
    flat = [one._replace(logs=(1.0,) * len(one.logs)) for one in results]
    assert explain(readings, flat) == (None, f"it takes {LEAST_ROUNDS} repeats that are not all the same")


@pytest.mark.parametrize(
    ("rounds", "controls", "why"),
    [(LEAST_ROUNDS - 1, 99, "it takes 5 repeats"), (8, 6, "there were 6 controls in 8 rounds"), (8, 0, "it takes 5")],
)
def test_what_cannot_be_told_is_said(rounds: int, controls: int, why: str) -> None:
    readings, results = simulated(1, share=0.9, rounds=rounds)
    answer, words = explain(readings[:controls], results)
    assert answer is None and words.startswith(why)


def test_results_with_different_rounds_count_together() -> None:
    readings, results = simulated(3, share=0.9)
    short = [Series(one.rounds[:6], one.times[:6], one.logs[:6], one.got[:6]) for one in results]
    some = [*results[::2], *short[1::2]]
    answer, _ = explain(readings, some)
    assert answer is not None and answer.p <= 0.05 and answer.share > 0.2
