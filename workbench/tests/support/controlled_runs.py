"""Runs of which it is known how much of their results was the machine's doing."""

import math

import numpy as np
from noise import wandering

from assay.analyse.statistics.explained import RepeatSeries
from assay.model.result.machine import ControlReading

ROWS = 12


def simulated(
    seed: int, share: float, own: float = 0.0, rounds: int = 8, drift: float = 0.0, sign: float = 1.0
) -> tuple[list[ControlReading], list[RepeatSeries]]:
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
        ControlReading(
            at=place, rates={"works": math.exp(sign * 0.2 * (machine[place] + ramp[place])), "waits": 5000.0}
        )
        for place in range(0, length, 4)
    ]
    orders = [random.permutation(ROWS) for _ in range(rounds)]
    places = [
        [number * ROWS + int(np.flatnonzero(order == row)[0]) for number, order in enumerate(orders)]
        for row in range(ROWS)
    ]
    numbers = tuple(range(1, rounds + 1))
    return readings, [
        RepeatSeries(numbers, tuple(map(float, at)), tuple(float(logs[one]) for one in at)) for at in places
    ]
