"""Turns the events of engines into samples; the only place where a repeat becomes `crashed` for invalid events."""

from collections.abc import Callable
from dataclasses import replace

from assay.analyse.ranks import Rank, samples_from_ranks
from assay.analyse.samples import samples_from_log
from assay.analyse.validate import InvalidEventsError, check_starts, failed_task, missing_result, validate_events
from assay.contract._generated import Job
from assay.contract.parts import split_parts
from assay.contract.reader import lines_of, read_events
from assay.launch.engine import Outcome
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.result.sample import Sample
from assay.plan.jobs import rank_job

Read = Callable[[str, int, Job, str, float | None], tuple[Sample, ...]]


def read_repeat(case: str, repeat: int, job: Job, outcome: Outcome, hosts: bool) -> tuple[Outcome, tuple[Sample, ...]]:
    """Return the outcome of a repeat in the light of its samples, and the samples; never raises.

    Invalid or unreadable events make a repeat `crashed`, without samples. A repeat that ended well although a phase did
    nothing, or although a figure cannot be read, gets the status `errors`.

    Args:
        case: Id of the case.
        repeat: From 1.
        job: As it was sent; on several hosts, the job of the first.
        outcome: How it went according to its engines.
        hosts: Its events are from several engines.
    """
    read: Read = samples_of_hosts if hosts else samples_of_engine
    try:
        samples = read(case, repeat, job, outcome.events, outcome.seconds)
    except Exception as error:  # any error: the input is not ours, and the run goes on
        if outcome.status in ("crashed", "incomplete"):
            return outcome, ()
        return replace(outcome, status="crashed", reason=why_unreadable(error)), ()
    if outcome.status == "errors" and (reason := failed_task(samples)):
        return replace(outcome, reason=reason), samples
    if outcome.status == "ok" and (reason := missing_result(samples)):
        return replace(outcome, status="errors", reason=reason), samples
    return outcome, samples


def why_unreadable(error: Exception) -> str:
    """Return one line for an error that was raised while events were read."""
    if isinstance(error, InvalidEventsError):
        return f"the engine sent invalid events: {escape_line(str(error))}"
    message = error.message if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
    return f"the engine's events cannot be read: {escape_line(message)}"


def samples_of_engine(case: str, repeat: int, job: Job, events: str, seconds: float | None) -> tuple[Sample, ...]:
    """Return the samples of a repeat with one engine.

    Args:
        case: Id of the case.
        repeat: From 1.
        job: As it was sent.
        events: The engine's output, NDJSON.
        seconds: How long it took; None if unknown.

    Raises:
        InvalidEventsError: The events are invalid.
        AssayError: They cannot be read.
    """
    return samples_from_log(case, repeat, validate_events(read_events(lines_of(events)), job, seconds))


def samples_of_hosts(case: str, repeat: int, job: Job, events: str, seconds: float | None) -> tuple[Sample, ...]:
    """Return the samples of a repeat on several hosts, whose events `Fleet.run` has joined.

    Arguments are those of `samples_of_engine`.

    Raises:
        ValueError: The text is not one that `Fleet.run` makes; other errors as for `samples_of_engine`.
    """
    ranks = []
    for number, part in enumerate(split_parts(events)):
        try:
            log = validate_events(read_events(lines_of(part.events)), rank_job(job, number), seconds)
        except InvalidEventsError as error:
            raise InvalidEventsError(f"{part.host}: {error}") from error
        if part.uncertainty_ns is None and log.starts:
            raise InvalidEventsError(f"{part.host}: it started before the start signal")
        ranks.append(Rank(part.host, part.offset_ns, part.uncertainty_ns, log))
    numbers = range(len(job.phases))
    started = [{number: rank.started(number) for number in numbers} for rank in ranks]
    check_starts([{number: at for number, at in starts.items() if at is not None} for starts in started], seconds)
    return samples_from_ranks(case, repeat, ranks)
