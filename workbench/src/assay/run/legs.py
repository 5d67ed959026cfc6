"""Executes a job in legs, between which file systems are mounted anew, and makes one of what engines say of each."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from assay.contract._generated import Job
from assay.contract.messages import ByeEvent, Event, HelloEvent, ReadyEvent
from assay.contract.parts import HostPart, join_parts, split_parts
from assay.contract.reader import lines_of, read_line
from assay.launch.cold.remounted import DONE
from assay.launch.engine import Outcome
from assay.model.result.sample import Sample
from assay.plan.jobs import rank_job
from assay.plan.layout.legs import Leg, legs_of


def run_legs(
    job: Job, execute: Callable[[Leg], Outcome], remount: Callable[[], None], stop: Callable[[], int]
) -> Outcome:
    """Execute a job of several hosts leg by leg; one that does not end well is the last.

    Args:
        job: The whole of it.
        execute: What executes one leg.
        remount: Called before each leg, while no engine is at work.
        stop: As of `run_job`.

    Returns:
        What came of it, as if it had been one job.

    Raises:
        Exception: Whatever `execute` or `remount` raise.
    """
    begun, legs, done = time.monotonic(), legs_of(job), list[Outcome]()
    for leg in legs:
        if stop():
            break
        remount()
        done.append(execute(leg))
        if done[-1].status != "ok":
            break
    seconds = time.monotonic() - begun
    if not done:
        return Outcome("stopped", "stopped", time.time(), seconds, stop_requested=True)
    whole = len(done) == len(legs)
    events = joined(job, legs, [outcome.events for outcome in done], whole or done[-1].status != "ok")
    last = replace(done[-1], started_at=done[0].started_at, seconds=seconds, events=events)
    return last if whole or last.status != "ok" else replace(last, status="stopped", reason="", stop_requested=True)


def joined(job: Job, legs: Sequence[Leg], texts: Sequence[str], ended: bool) -> str:
    """The events of all hosts, as engines would have told them of the whole job.

    Args:
        job: The whole of it.
        legs: Its legs.
        texts: Of each leg that was executed, what was said.
        ended: The last of them is the end of the job: no leg is missing without a failure.
    """
    of_hosts = zip(*(split_parts(text) for text in texts), strict=True)
    parts = (_joined(rank, job, legs, parts, ended) for rank, parts in enumerate(of_hosts))
    return join_parts(parts)


def _joined(rank: int, job: Job, legs: Sequence[Leg], parts: Sequence[HostPart], ended: bool) -> HostPart:
    whole = rank_job(job, rank)
    kept = [
        line
        for number, (leg, part) in enumerate(zip(legs, parts, strict=False))
        for line in _of_leg(leg, part.events, whole, rank, ended and number == len(parts) - 1)
    ]
    clocks = [(part.offset_ns, part.uncertainty_ns) for part in parts]
    known = [uncertainty for _, uncertainty in clocks if uncertainty is not None]
    # Clocks were compared anew for each leg; by how much the answers differ is uncertain for all of them.
    apart = max(offset for offset, _ in clocks) - min(offset for offset, _ in clocks)
    uncertainty = max(known) + apart if len(known) == len(parts) else None
    return replace(
        parts[-1], offset_ns=clocks[0][0], uncertainty_ns=uncertainty, events="".join(f"{x}\n" for x in kept)
    )


def _of_leg(leg: Leg, events: str, whole: Job, rank: int, last: bool) -> Iterator[str]:
    """The lines of one leg that are of the whole job; a greeting to another job than the leg's stays as it is."""
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
            case _ if is_before(leg, event):
                continue
            case _:
                yield line


def is_before(leg: Leg, event: object) -> bool:
    """Whether an event is of a phase that an earlier leg did, and this one only goes through."""
    phase = getattr(event, "phase", None)
    return isinstance(phase, int) and phase < leg.first


def only_of(leg: Leg, hear: Callable[[str, Event], None]) -> Callable[[str, Event], None]:
    """What takes the events of a leg, and passes those of the whole job on."""

    def heard(host: str, event: Event) -> None:
        if not is_before(leg, event):
            hear(host, event)

    return heard


def noted(job: Job, samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """The samples of a job in legs, with what was done before the first phase of each."""
    starts = {leg.first for leg in legs_of(job)}
    done = {"cache_done": DONE}
    return tuple(one.model_copy(update=done) if one.phase in starts else one for one in samples)
