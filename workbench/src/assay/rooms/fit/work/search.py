"""The search for the highest rate at which a place holds a latency (docs/method.md, Requirements)."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.analyse.needs.decide import LATE_FACTOR
from assay.analyse.needs.latencies import RepeatLatencies
from assay.analyse.needs.outcome import NeedStatus
from assay.analyse.statistics.shares import Exceeding, effective_share
from assay.rooms.fit.model.bound import LatencyBound
from assay.rooms.fit.work.knee import Knee, fit_knee

FIRST_SHARE = 0.7
"""The first rate, as a share of the rate of a closed loop."""
DOWN = 1.5
"""Factor by which the rate is lowered while none is known to hold."""
UP = 1.25
"""Factor by which the rate is raised beyond the closed loop's, if that was held."""
FINEST = 0.01
"""Relative distance from the knee that repeats can show at most."""
COARSE_SHARE, ROUNDS_SHARE = 0.3, 0.55
"""Shares of the time after which bisection, and the rounds near the knee, end. The rest is for the final run."""
COARSE_REPEATS, FINAL_RATES, MAX_FINAL_REPEATS = 3, 3, 8
MIN_SECONDS, FINAL_SECONDS = 0.5, 2.5
"""Shortest repeat of a step, and of the final run."""
SURELY = 0.9
"""A rate that was held is above the knee by chance at most so little that this share of it is below."""
MAX_LATE_SHARE = 0.04
"""Repeats with more operations that waits for a CPU may have delayed are left out, unless a rate has no others."""
OPERATIONS_BEYOND = 10
"""So many operations are expected beyond the percentile in a repeat near the knee, if there is time for them."""

Measured = dict[float, list[RepeatLatencies]]
"""Operations per second -> latencies of each repeat, without its warm-up."""


class RatePlan(NamedTuple):
    """What is measured next.

    Attributes:
        rates: Operations per second.
        repeats: Repeats of each rate.
        warm_up_s: Seconds at the beginning of a repeat that do not count: its queue begins empty.
        seconds: Seconds of a repeat after that.
        is_final: It is the last one, whose run is kept.
    """

    rates: tuple[float, ...]
    repeats: int
    warm_up_s: float
    seconds: float
    is_final: bool = False


class FoundRate(NamedTuple):
    """The result of a search, in operations per second.

    Attributes:
        estimate: The highest rate that holds the bound; None if it is not known.
        low: Lower end of its 95 % interval; None if no rate is known to hold.
        high: Upper end of its 95 % interval; None if no rate is known to fail.
        fails_at: Lowest rate that was measured, if it fails; else None.
        wait_share: Share of the time in which operations waited for a CPU of this host at most; the median of the
            repeats.
        measured: All that was measured.
    """

    estimate: float | None
    low: float | None
    high: float | None
    fails_at: float | None
    wait_share: float
    measured: Measured


class RateSearch:
    """Searches for the highest rate; what measures is given, and so is the clock."""

    def __init__(
        self,
        bound: LatencyBound,
        capacity_per_s: float,
        seconds: float,
        measure: Callable[[RatePlan], Mapping[float, Sequence[RepeatLatencies]]],
        clock: Callable[[], float],
    ) -> None:
        """Search at a place.

        Args:
            bound: What must hold.
            capacity_per_s: Operations per second of a closed loop, which no open loop exceeds for long.
            seconds: Time for all of it.
            measure: Measures rates.
            clock: Returns the seconds since the search began.
        """
        self.measured: Measured = {}
        self._bound, self._capacity, self._seconds = bound, capacity_per_s, seconds
        self._measure, self._clock = measure, clock
        self._limit_s = bound.limit_ns / 1e9
        self._min_rate = 3 / bound.allowed_share / (seconds / 60)

    def run(self) -> FoundRate:
        """Measure until the time is over, and return what was found."""
        while (plan := self._bisection()) is not None:
            self._add(plan)
        while (plan := self._round()) is not None:
            self._add(plan)
        final = self._final()
        self._add(final)
        return self._result(final)

    def _add(self, plan: RatePlan) -> None:
        for rate, repeats in self._measure(plan).items():
            calm = [each for each in repeats if late_share(each) <= MAX_LATE_SHARE]
            self.measured.setdefault(rate, []).extend(calm or repeats)

    def _bracket(self) -> tuple[float | None, float, bool]:
        """Return the highest rate that holds, the lowest that fails, and whether one between them is undecided.

        While none has failed, it is the closed loop's rate that fails.
        """
        answers = {rate: rate_status(repeats, self._bound) for rate, repeats in self.measured.items()}
        failing = [rate for rate, answer in answers.items() if answer is NeedStatus.NO]
        below = min(failing, default=math.inf)
        holds = max(
            (rate for rate, answer in answers.items() if answer is NeedStatus.YES and rate < below), default=None
        )
        top = self._top(holds)
        fails = min([*failing, top if top < math.inf else UP * (holds or 0.0)])
        is_open = any(
            answer is NeedStatus.UNDECIDED and (holds or 0.0) < rate < fails for rate, answer in answers.items()
        )
        return holds, fails, is_open

    def _top(self, holds: float | None) -> float:
        """Return the rate of the closed loop, which nothing exceeds for long; infinity if an open loop held it."""
        return self._capacity if (holds or 0.0) < 0.98 * self._capacity else math.inf

    def _bisection(self) -> RatePlan | None:
        """Return the next step of the bisection; None as soon as a rate is undecided, which is near the knee."""
        holds, fails, is_open = self._bracket()
        if not self.measured:
            rate, distance = max(self._min_rate, FIRST_SHARE * self._capacity), 0.25
        elif holds is None:
            lowest = min(self.measured)
            if lowest <= self._min_rate:
                return None
            rate, distance = max(self._min_rate, lowest / DOWN), 0.25
        elif is_open or fails / holds <= 1 + 2 * FINEST:
            return None
        else:
            rate, distance = math.sqrt(holds * fails), max(FINEST, (math.sqrt(fails / holds) - 1) / 2)
        warm_up = min(self._limit_s / distance, self._seconds / 80)
        enough = min(OPERATIONS_BEYOND / self._bound.allowed_share / rate, self._seconds / 60)
        plan = _plan((rate,), COARSE_REPEATS, warm_up, max(2 * warm_up, MIN_SECONDS, enough))
        is_late = self._clock() + plan_seconds(plan) > COARSE_SHARE * self._seconds
        return None if self.measured and is_late else plan

    def _aim(self) -> tuple[float, float, float]:
        """Return the likely knee, by which factor rates near it differ from it (its logarithm), and the knee's scale.

        The scale is the relative change of the rate that changes the share by a factor of e. A queue forgets its
        beginning within about a bound divided by the scale (docs/method.md).
        """
        knee = self._fit()
        holds, fails, _ = self._bracket()
        low = holds or min(self.measured) / DOWN
        if knee is None:
            return math.sqrt(low * fails), max(FINEST, math.log(fails / low) / 4), FINEST
        scale = min(max(1 / knee.slope, FINEST), 0.15)
        return min(max(knee.rate, low), fails), 0.7 * scale, scale

    def _round(self) -> RatePlan | None:
        """Return a repeat below and one above the likely knee; None if there is no time."""
        centre, reach, scale = self._aim()
        seconds = max(1.0, 3 * self._limit_s / max(2 * FINEST, scale), 5 / self._bound.allowed_share / centre)
        plan = _plan((centre * math.exp(-reach), centre * math.exp(reach)), 1, seconds / 3, seconds * 2 / 3)
        return plan if self._clock() + plan_seconds(plan) <= ROUNDS_SHARE * self._seconds else None

    def _final(self) -> RatePlan:
        """Return the final run, in which rates about the knee take turns for the rest of the time."""
        centre, reach, scale = self._aim()
        each = (self._seconds - self._clock()) / FINAL_RATES
        wanted = max(FINAL_SECONDS, 6 * self._limit_s / scale) + START_SECONDS
        repeats = max(2, min(MAX_FINAL_REPEATS, int(each / wanted)))
        seconds = max(MIN_SECONDS, each / repeats - START_SECONDS)
        warm_up = min(2 * self._limit_s / scale, seconds / 3)
        rates = tuple(centre * math.exp(reach * place) for place in (-1, 0, 1))
        return _plan(rates, repeats, warm_up, seconds - warm_up, is_final=True)

    def _fit(self, storage_only: bool = False) -> Knee | None:
        limit = self._bound.limit_ns
        shares = {
            rate: [storage_over(each, limit) if storage_only else each.over(limit) for each in repeats]
            for rate, repeats in self.measured.items()
        }
        return fit_knee(shares, self._bound.allowed_share, self._capacity)

    def _late_share(self) -> float:
        """Return the median share of a repeat's operations that waits for a CPU may have delayed."""
        everything = [each for repeats in self.measured.values() for each in repeats]
        return median(map(late_share, everything))

    def _result(self, final: RatePlan) -> FoundRate:
        holds, fails, _ = self._bracket()
        knee, storage = self._fit(), self._fit(storage_only=True)
        lowest = min(self.measured)
        fails_at = lowest if rate_status(self.measured[lowest], self._bound) is NeedStatus.NO else None
        low = holds if knee is None or knee.low is None else max(knee.low, SURELY * (holds or 0.0))
        if low is not None:
            # A queue that grows for so short a time is not seen if the rate is so little above the knee.
            grown_s = final.warm_up_s + final.seconds * (1 - self._bound.allowed_share)
            low /= 1 + self._limit_s / grown_s
        high = None if storage is None else storage.high
        late = self._late_share()
        if late > MAX_LATE_SHARE or (
            high is None and fails >= self._top(holds) and late > self._bound.allowed_share / 2
        ):
            # Without what waits for a CPU may have delayed, no rate is known to fail: the place may hold more.
            return FoundRate(None, low, None, fails_at, late / LATE_FACTOR, self.measured)
        # Waits take capacity: without them the place could do so much more.
        high = fails if high is None else high / (1 - late / LATE_FACTOR)
        high = min(high, self._top(holds) * (1 + FINEST))
        if low is None:
            return FoundRate(None, None, high, fails_at, late / LATE_FACTOR, self.measured)
        estimate = math.sqrt(low * high) if knee is None else min(max(knee.rate, low), high)
        return FoundRate(estimate, min(low, estimate), high, fails_at, late / LATE_FACTOR, self.measured)


START_SECONDS = 0.35
"""Time of a repeat beside its phase."""


def plan_seconds(plan: RatePlan) -> float:
    """Return about how long a plan takes."""
    return len(plan.rates) * plan.repeats * (plan.warm_up_s + plan.seconds + START_SECONDS)


def _plan(rates: Sequence[float], repeats: int, warm_up: float, seconds: float, is_final: bool = False) -> RatePlan:
    """Return a plan whose rates have four digits, so that they are written in a study as they are measured."""
    rounded = tuple(sorted({float(f"{rate:.4g}") for rate in rates}))
    return RatePlan(rounded, repeats, warm_up, seconds, is_final)


def late_share(repeat: RepeatLatencies) -> float:
    """Return the share of a repeat's operations that waits for a CPU of this host may have delayed."""
    return repeat.client_late_ops / max(1, repeat.ops)


def storage_over(repeat: RepeatLatencies, limit_ns: int) -> Exceeding:
    """Return how many operations took longer even without any wait for a CPU of this host.

    One wait delays an operation by no more than the longest; `RateSearch` counts apart that waits take capacity.
    """
    least = repeat.over_without_waits(limit_ns)
    if repeat.client_longest_ns is None:
        return least
    return max(least, repeat.over(limit_ns + round(repeat.client_longest_ns)))


def rate_status(repeats: Sequence[RepeatLatencies], bound: LatencyBound) -> NeedStatus:
    """Return whether the bound holds in repeats of a rate; what waits for a CPU delayed proves no failure."""
    allowed = bound.allowed_share
    if effective_share([each.over(bound.limit_ns) for each in repeats]).is_below(allowed):
        return NeedStatus.YES
    if effective_share([storage_over(each, bound.limit_ns) for each in repeats]).is_above(allowed):
        return NeedStatus.NO
    return NeedStatus.UNDECIDED
