"""A place with a queue, on a virtual clock: open loop of Poisson arrivals, first come first served."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from assay.analyse.needs.latencies import RepeatLatencies
from assay.rooms.fit.model.bound import LatencyBound
from assay.rooms.fit.work.search import START_SECONDS, FoundRate, RatePlan, RateSearch

Array = npt.NDArray[np.float64]
Service = Callable[[np.random.Generator, int], Array]
"""Generator of random numbers and number of operations -> service times in seconds."""


def fixed(seconds: float) -> Service:
    return lambda _, count: np.full(count, seconds)


def lognormal(mean: float, sigma: float) -> Service:
    return lambda random, count: random.lognormal(math.log(mean) - sigma**2 / 2, sigma, count)


class VirtualQueue:
    """Operations take turns at servers with one queue each: with fixed service times that is one queue for all."""

    def __init__(self, servers: int, service: Service, seed: int, late_share: float = 0.0) -> None:
        """Make a queue; `late_share` is the share of operations that waits for a CPU may have delayed."""
        self._servers, self._service, self._random = servers, service, np.random.default_rng(seed)
        self._late_share, self._seconds = late_share, 0.0

    def latencies(self, rate: float, seconds: float) -> tuple[Array, Array, int]:
        """When operations ended, their latencies, and how many were due and had not begun at the end."""
        due = np.sort(self._random.uniform(0, seconds, self._random.poisson(rate * seconds)))
        service = self._service(self._random, len(due))
        end = np.empty_like(due)
        for server in range(self._servers):
            mine = slice(server, None, self._servers)
            busy = np.cumsum(service[mine])
            end[mine] = busy + np.maximum.accumulate(due[mine] - busy + service[mine])
        begun = end - service < seconds
        return end[begun], (end - due)[begun], int(len(due) - begun.sum())

    def search(self, bound: LatencyBound, capacity_per_s: float, seconds: float) -> FoundRate:
        """Search for the highest rate that holds a bound."""
        limit_s = bound.limit_ns / 1e9

        def measure(plan: RatePlan) -> dict[float, list[RepeatLatencies]]:
            return {rate: [self._repeat(rate, plan, limit_s) for _ in range(plan.repeats)] for rate in plan.rates}

        return RateSearch(bound, capacity_per_s, seconds, measure, lambda: self._seconds).run()

    def _repeat(self, rate: float, plan: RatePlan, limit_s: float) -> RepeatLatencies:
        whole = plan.warm_up_s + plan.seconds
        self._seconds += whole + START_SECONDS
        end, latency, unstarted = self.latencies(rate, whole)
        steady = latency[end >= plan.warm_up_s]
        # Whether the bound holds is all that the search reads, so two latencies suffice.
        over = int((steady >= limit_s).sum())
        values = np.array([1, round(limit_s * 1e9)])
        counts = np.array([len(steady) - over, over])
        missed = max(0, unstarted - math.ceil(rate * limit_s))
        return RepeatLatencies(values, counts, missed, client_late_ops=self._late_share * len(steady))
