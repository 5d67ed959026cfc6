"""What a run may still spend at services that charge for requests: limits of a target hold for the whole run."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pydantic import BaseModel

from assay.contract._generated import Job
from assay.contract.messages import IntervalEvent, PhaseEndEvent
from assay.contract.parts import split_parts
from assay.contract.reader import lines_of, read_events
from assay.model.base import AssayError

LIMITS = ("max_requests", "max_capacity_units")
"""Fields of a job's target that limit what the job spends."""


class ServiceCharge(NamedTuple):
    """What was spent.

    Attributes:
        requests: Requests that were sent.
        units: Capacity units that the service has reported.
    """

    requests: int = 0
    units: float = 0.0

    def __add__(self, other: object) -> "ServiceCharge":
        """Return the sum of both."""
        assert isinstance(other, ServiceCharge)
        return ServiceCharge(self.requests + other.requests, self.units + other.units)


def charge_of_repeat(events: str, hosts: bool) -> ServiceCharge:
    """Return what a repeat has spent, according to its engines.

    If a phase did not end, its operations count as requests, and its units are unknown and count as 0.

    Args:
        events: NDJSON of one engine, or of several as the fleet joins them.
        hosts: They are from several engines.
    """
    texts = [part.events for part in split_parts(events)] if hosts else [events]
    total = ServiceCharge()
    for text in texts:
        try:
            total += _spent_by_engine(read_events(lines_of(text)))
        except AssayError:
            continue
    return total


def _spent_by_engine(events: Iterable[object]) -> ServiceCharge:
    ended: dict[int, ServiceCharge] = {}
    under_way: dict[int, int] = {}
    for event in events:
        if isinstance(event, IntervalEvent):
            operations = sum(counts.ops + counts.errors for counts in event.operations)
            under_way[event.phase] = under_way.get(event.phase, 0) + operations
        elif isinstance(event, PhaseEndEvent):
            usage = event.service
            units = (usage.read_units or 0.0) + (usage.write_units or 0.0) if usage else 0.0
            ended[event.phase] = ServiceCharge(sum(host.requests for host in event.connections or ()), units)
    unfinished = (ServiceCharge(count) for phase, count in under_way.items() if phase not in ended)
    return sum([*ended.values(), *unfinished], ServiceCharge())


class ChargeTracker:
    """Adds up what was spent at each target."""

    def __init__(self, repeats: Iterable[tuple[str, ServiceCharge]] = ()) -> None:
        """Start with what repeats have spent: pairs of target and amount."""
        self._spent: dict[str, ServiceCharge] = {}
        for target, spent in repeats:
            self.add(target, spent)

    def add(self, target: str, spent: ServiceCharge) -> None:
        """Add what a repeat has spent."""
        self._spent[target] = self._spent.get(target, ServiceCharge()) + spent

    def remaining(self, target: str, limits: Mapping[str, int | None]) -> dict[str, int]:
        """Return what is left of each limit that is set; never below 0."""
        spent = self._spent.get(target, ServiceCharge())
        used = {"max_requests": spent.requests, "max_capacity_units": spent.units}
        return {name: max(0, int(most - used[name])) for name, most in limits.items() if most is not None}

    def exhausted_limit(self, target: str, job_target: BaseModel, engines: int) -> str:
        """Return which limit of a target is too low for this many engines, in words; empty if none is."""
        for name, left in self.remaining(target, limits_of(job_target)).items():
            if left < engines:
                most = getattr(job_target, name)
                return f"{name} of target {target}, {most:,}: it is used up, and a run keeps its limits"
        return ""

    def limited_job(self, job: Job, target: str) -> Job:
        """Return the job with what is left of the limits of its target; engines that share the job share that."""
        left = self.remaining(target, limits_of(job.target))
        if not left:
            return job
        shares = {name: max(1, amount // (job.ranks or 1)) for name, amount in left.items()}
        return job.model_copy(update={"target": job.target.model_copy(update=shares)})


def limits_of(job_target: BaseModel) -> dict[str, int | None]:
    """Return the limits of a job's target; None where one is possible but not set."""
    return {name: getattr(job_target, name) for name in LIMITS if name in type(job_target).model_fields}
