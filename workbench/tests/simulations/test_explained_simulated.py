"""What goes with the control is found, and what only drifts or goes on by itself is not, over many seeds."""

import math
from itertools import product

import numpy as np
import pytest
from controlled_runs import simulated

from assay.analyse.statistics.explained import RepeatSeries, explain
from assay.model.result.machine import ControlReading, ExplainedVariance

RUNS = 24


def found(seed: int, **world: float) -> ExplainedVariance:
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


def neighbour(seed: int, share: float, rounds: int = 8) -> tuple[list[ControlReading], list[RepeatSeries]]:
    """A neighbour that comes and goes from repeat to repeat: no control sees it at the right moment."""
    random = np.random.default_rng(seed)
    readings, results = simulated(seed, share=0.0, rounds=rounds)
    found = []
    for one in results:
        got = -np.abs(random.standard_normal(rounds))
        logs = math.sqrt(share) * got / 0.6 + math.sqrt(1 - share) * random.standard_normal(rounds)
        found.append(one._replace(logs=tuple(map(float, 0.1 * logs)), cpu_shares=tuple(map(float, got))))
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
    some = [one._replace(cpu_shares=()) if place % 2 else one for place, one in enumerate(neighbour(1, share=0.9)[1])]
    answer, _ = explain(neighbour(1, share=0.9)[0], some)
    assert answer is not None and 0.2 < answer.share < 0.8, "half of the results do not tell"
