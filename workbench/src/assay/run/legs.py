"""Executes a job in legs, between which file systems are remounted, and joins their events into those of one job."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from assay.contract._generated import Job
from assay.contract.messages import ByeEvent, Event, HelloEvent, ReadyEvent
from assay.contract.parts import HostPart, join_parts, split_parts
from assay.contract.reader import lines_of, read_line
from assay.launch.cold.remount import REMOUNTED
from assay.launch.engine import Outcome
from assay.model.result.sample import Sample
from assay.plan.jobs import rank_job
from assay.plan.layout.legs import Leg, legs_of


def run_legs(
    job: Job, execute: Callable[[Leg], Outcome], remount: Callable[[], None], stop: Callable[[], int]
) -> Outcome:
    """Execute a job of several hosts leg by leg; a leg that does not end well is the last.

    Args:
        job: The whole job.
        execute: Executes one leg.
        remount: Called before each leg, while no engine is at work.
        stop: As for `run_job`.

    Returns:
        The outcome, as if it had been one job.

    Raises:
        Exception: Any that `execute` or `remount` raises.
    """
    begun, legs, outcomes = time.monotonic(), legs_of(job), list[Outcome]()
    for leg in legs:
        if stop():
            break
        remount()
        outcomes.append(execute(leg))
        if outcomes[-1].status != "ok":
            break
    seconds = time.monotonic() - begun
    if not outcomes:
        return Outcome("stopped", "stopped", time.time(), seconds, stop_requested=True)
    is_complete = len(outcomes) == len(legs)
    events = join_legs(job, legs, [outcome.events for outcome in outcomes], is_complete or outcomes[-1].status != "ok")
    last = replace(outcomes[-1], started_at=outcomes[0].started_at, seconds=seconds, events=events)
    return (
        last if is_complete or last.status != "ok" else replace(last, status="stopped", reason="", stop_requested=True)
    )


def join_legs(job: Job, legs: Sequence[Leg], texts: Sequence[str], ended: bool) -> str:
    """Return the events of all hosts, as engines would have reported them for the whole job.

    Args:
        job: The whole job.
        legs: Its legs.
        texts: The engines' output in each leg that was executed.
        ended: The last of them is the end of the job: a leg is missing only after a failure.
    """
    of_hosts = zip(*(split_parts(text) for text in texts), strict=True)
    parts = (_joined(rank, job, legs, parts, ended) for rank, parts in enumerate(of_hosts))
    return join_parts(parts)


def _joined(rank: int, job: Job, legs: Sequence[Leg], parts: Sequence[HostPart], ended: bool) -> HostPart:
    whole = rank_job(job, rank)
    lines = [
        line
        for number, (leg, part) in enumerate(zip(legs, parts, strict=False))
        for line in _leg_lines(leg, part.events, whole, rank, ended and number == len(parts) - 1)
    ]
    clocks = [(part.offset_ns, part.uncertainty_ns) for part in parts]
    uncertainties = [uncertainty for _, uncertainty in clocks if uncertainty is not None]
    # Clocks were compared anew for each leg, so the spread of the offsets adds to the uncertainty of all legs.
    spread = max(offset for offset, _ in clocks) - min(offset for offset, _ in clocks)
    uncertainty = max(uncertainties) + spread if len(uncertainties) == len(parts) else None
    return replace(
        parts[-1], offset_ns=clocks[0][0], uncertainty_ns=uncertainty, events="".join(f"{x}\n" for x in lines)
    )


def _leg_lines(leg: Leg, events: str, whole: Job, rank: int, last: bool) -> Iterator[str]:
    """Yield the lines of one leg that belong to the whole job; a `hello` to another job than the leg's is kept."""
    for line in lines_of(events):
        event = read_line(line) if line.strip() else None
        match event:
            case HelloEvent() if event.job == rank_job(leg.job, rank):
                if not leg.first:
                    yield json.dumps({**json.loads(line), "job": whole.model_dump(mode="json")})
            case ReadyEvent() if leg.first:
                continue
            case ByeEvent() if not last:
                continue
            case _ if is_before_leg(leg, event):
                continue
            case _:
                yield line


def is_before_leg(leg: Leg, event: object) -> bool:
    """Whether an event belongs to a phase that an earlier leg did, and which this leg only passes through."""
    phase = getattr(event, "phase", None)
    return isinstance(phase, int) and phase < leg.first


def leg_filter(leg: Leg, on_event: Callable[[str, Event], None]) -> Callable[[str, Event], None]:
    """Return a callback that passes on the events of a leg that belong to the whole job."""

    def forward(host: str, event: Event) -> None:
        if not is_before_leg(leg, event):
            on_event(host, event)

    return forward


def with_remounts(job: Job, samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the samples of a job in legs, with what was done to caches before the first phase of each leg."""
    starts = {leg.first for leg in legs_of(job)}
    changes = {"cache_done": REMOUNTED}
    return tuple(one.model_copy(update=changes) if one.phase in starts else one for one in samples)
