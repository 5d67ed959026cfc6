"""Whether it makes a difference to what is measured by which launcher engines were started."""

import math
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

import pytest
from launch_tools import HOSTS, LAUNCHERS, execute, fleet_of, timed
from nfs_tools import box_of, boxes_below

from assay.analyse.statistics.significance import t_quantile

ROUNDS = 6
LIKE = 0.05
"""More than other programs on a machine whose CPUs are all taken make of it: each launcher has processes of its own."""
SHARE = 1 - 0.001 / 2
"""Of six comparisons in all one would be called different by chance in six of 1,000 runs of this test."""


def apart(here: list[float], there: list[float]) -> float:
    """Least share by which rates of the same rounds differ, as far as is known; 0 if they may be equal."""
    differences = [math.log(b / a) for a, b in zip(here, there, strict=True)]
    half = t_quantile(SHARE, ROUNDS - 1) * stdev(differences) / math.sqrt(ROUNDS)
    return max(0.0, abs(fmean(differences)) - half)


def test_rates_agree_whatever_the_launcher(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    described = tmp_path_factory.mktemp("agree")
    rates: dict[str, list[list[float]]] = {launcher: [[], []] for launcher in LAUNCHERS}
    with boxes_below(described), box_of(described, HOSTS, "mpirun", "srun") as box:
        for number in range(ROUNDS):
            for launcher in (*LAUNCHERS[number % 3 :], *LAUNCHERS[: number % 3]):
                outcome, samples, _ = execute(fleet_of(box, launcher, tmp_path), timed())
                assert outcome.status == "ok", (launcher, outcome.reason)
                for phase, sample in zip(rates[launcher], samples, strict=True):
                    phase.append(sample.iops)
    print(
        {launcher: [f"{fmean(phase):.1f} ({stdev(phase):.1f})" for phase in rates[launcher]] for launcher in LAUNCHERS}
    )
    for one, other in combinations(LAUNCHERS, 2):
        for phase in (0, 1):
            assert apart(rates[one][phase], rates[other][phase]) < LIKE, (one, other, rates)
