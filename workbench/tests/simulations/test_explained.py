"""What goes with the control is found, and what only drifts or goes on by itself is not, over many seeds."""

import math
from itertools import product

import numpy as np
import pytest
from noise import wandering

from assay.analyse.statistics.explained import Series, explain
from assay.model.result.machine import Explained, Reading

ROWS = 12


RUNS = 24


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


def found(seed: int, **world: float) -> Explained:
    answer, why = explain(*simulated(seed, **world))  # type: ignore[arg-type]
    assert answer is not None and not why
    return answer


def test_a_machine_that_moves_the_results_is_found() -> None:
    answers = [found(seed, share=0.8) for seed in range(RUNS)]
    assert sum(answer.p <= 0.01 for answer in answers) >= 0.9 * RUNS
    assert 0.4 < np.mean([answer.share for answer in answers]) <= 0.8
    assert sum(answer.low > 0.8 for answer in answers) <= 0.1 * RUNS
    assert all(answer.slopes["works"] > 0 and answer.slopes["waits"] == 0 for answer in answers)


@pytest.mark.parametrize(("own", "drift"), list(product([0.0, 0.8, 0.97], [0.0, 5.0])))
def test_what_only_happens_at_the_same_time_is_not(own: float, drift: float) -> None:
    answers = [found(seed, share=0.0, own=own, drift=drift) for seed in range(RUNS)]
    assert sum(answer.p <= 0.01 for answer in answers) <= 2
    assert np.mean([answer.share for answer in answers]) < 0.15


def test_what_goes_the_other_way_is_not_the_machines() -> None:
    answers = [found(seed, share=0.9, sign=-1.0) for seed in range(RUNS)]
    assert sum(answer.share for answer in answers) < 0.1 * RUNS
    assert not any(answer.p <= 0.01 for answer in answers)


def neighbour(seed: int, share: float, rounds: int = 8) -> tuple[list[Reading], list[Series]]:
    """A neighbour that comes and goes from repeat to repeat: no control sees it at the right moment."""
    random = np.random.default_rng(seed)
    readings, results = simulated(seed, share=0.0, rounds=rounds)
    found = []
    for one in results:
        got = -np.abs(random.standard_normal(rounds))
        logs = math.sqrt(share) * got / 0.6 + math.sqrt(1 - share) * random.standard_normal(rounds)
        found.append(one._replace(logs=tuple(map(float, 0.1 * logs)), got=tuple(map(float, got))))
    return readings, found


def test_what_repeats_got_of_the_cpus_counts_beside_the_control() -> None:
    answers = [explain(*neighbour(seed, share=0.7))[0] for seed in range(RUNS)]
    sure = [answer for answer in answers if answer is not None and answer.p <= 0.01]
    assert len(sure) >= 0.9 * RUNS
    assert 0.5 < np.mean([answer.share for answer in sure]) < 0.85
    assert sum(answer.low > 0.7 for answer in sure) <= 0.1 * RUNS
    assert all(answer.slopes["got"] > 0 for answer in sure)
    readings, results = neighbour(1, share=0.9)
    answer, _ = explain(readings, results)
    assert answer is not None


def test_what_repeats_got_by_chance_explains_nothing() -> None:
    answers = [explain(*neighbour(seed, share=0.0))[0] for seed in range(RUNS)]
    assert sum(answer is not None and answer.p <= 0.01 for answer in answers) <= 2
    some = [one._replace(got=()) if place % 2 else one for place, one in enumerate(neighbour(1, share=0.9)[1])]
    answer, _ = explain(neighbour(1, share=0.9)[0], some)
    assert answer is not None and 0.2 < answer.share < 0.8, "half of the results do not tell"
