"""Computes what a run costs while it goes on, and whether it stays within its budget."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.model.base import PrintLine
from assay.model.money.amount import EXACT, format_money
from assay.model.money.priced_designs import FrozenPrices
from assay.model.steady_clock import steady_time
from assay.model.units import about_duration
from assay.money.cost.stored_prices import hour_of_all_running
from assay.plan.estimate import StudyEstimate
from assay.run.costs.budget import Budget, cost_of_time
from assay.store import Attempt, RunStore

now = steady_time
"""Return the present moment, in seconds since 1970."""


@dataclass
class Meter:
    """Computes what a run has cost so far, and whether its next part still fits into the budget.

    Attributes:
        hourly_cost: Cost of an hour of all designs together.
        earlier_s: Seconds of earlier sessions of the run.
        begun: When this session began.
        now: Returns the present moment.
        stop_reason: Why the run must stop; empty while it need not.
    """

    budget: Budget
    hourly_cost: Decimal
    earlier_s: float
    begun: float
    now: Callable[[], float]
    stop_reason: str = ""

    def affords(self, seconds: float) -> bool:
        """Whether this many more seconds stay within the budget."""
        return EXACT.add(self._spent()[1], cost_of_time(seconds, self.hourly_cost)) <= self.budget.amount

    def allows_repeat(self, seconds: float) -> bool:
        """Whether the next repeat stays within the budget; if not, `stopped` states why.

        Args:
            seconds: Its length, with the wait before it.
        """
        if self.stop_reason:
            return False
        so_far, spent = self._spent()
        more = cost_of_time(seconds, self.hourly_cost)
        if EXACT.add(spent, more) <= self.budget.amount:
            return True
        name = self.budget.currency
        self.stop_reason = (
            f"budget of {self.budget}: {format_money(spent, name)} is spent in {about_duration(so_far)}; "
            f"the next repeat would take {about_duration(seconds)} and {format_money(more, name)}"
        )
        return False

    def is_used_up(self) -> bool:
        """Whether the whole budget is spent since a repeat takes longer than estimated; then `stopped` states so."""
        so_far, spent = self._spent()
        if spent <= self.budget.amount:
            return False
        self.stop_reason = self.stop_reason or (
            f"budget of {self.budget}: it is used up after {about_duration(so_far)}; "
            "the last repeat took longer than estimated"
        )
        return True

    def _spent(self) -> tuple[float, Decimal]:
        """Return the seconds so far and their cost."""
        so_far = self.earlier_s + max(0.0, self.now() - self.begun)
        return so_far, cost_of_time(so_far, self.hourly_cost)


def store_budget(store: RunStore, budget: Budget | None, is_new: bool, print_line: PrintLine) -> None:
    """Store the budget that the user gave with this session, or say that an earlier one still holds."""
    if budget is not None and is_new:
        store.store_budget(budget.as_option)
    elif budget is not None:
        print_line(f"the budget of {budget} still applies; --budget sets another")


def make_meter(
    budget: Budget | None, prices: FrozenPrices | None, store: RunStore, estimate: StudyEstimate
) -> Meter | None:
    """Return the meter of a session of a run; None without a budget."""
    if budget is None or prices is None:
        return None
    seconds = {case.case: case.seconds for case in estimate.cases}
    before = spent_seconds(store.sessions(), store.attempts(), seconds, store.last_alive())
    return Meter(budget, hour_of_all_running(prices), before, now(), now)


def spent_seconds(
    starts: Sequence[float], attempts: Sequence[Attempt], estimates: Mapping[str, float], alive: Sequence[float] = ()
) -> float:
    """Return the seconds of all sessions of a run, each from its start to its last sign of life.

    Args:
        starts: When each session began, in order.
        attempts: All attempts of the run.
        estimates: Case id -> estimated seconds of a repeat, for attempts without a known end in sessions without a sign
            of life.
        alive: When sessions were last known to be alive.
    """
    total = 0.0
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else float("inf")
        ends = [moment for moment in alive if start <= moment < end]
        open_estimates = {} if ends else estimates
        ends += [
            attempt.started_at + (open_estimates.get(attempt.case, 0.0) if attempt.seconds is None else attempt.seconds)
            for attempt in attempts
            if start <= attempt.started_at < end
        ]
        total += min(max(ends, default=start), end) - start
    return total
