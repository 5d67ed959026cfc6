"""Answers of `assay fit` in words and as JSON."""

from collections.abc import Sequence
from typing import Any

from assay.analyse.needs.outcome import NeedOutcome
from assay.model.result.run import TargetPlace
from assay.model.units import about_count, about_latency, about_number, about_size
from assay.rooms.fit.model.profile import Profile, ProfileJob, Requirement
from assay.rooms.fit.work.answer import FitAnswer
from assay.store import RunStore

UNITS = {"throughput": "bytes/s", "rate": "1/s", "busy": "share"}
"""Measure -> unit of its numbers in JSON; latencies are in ns."""
OPERATION_WORDS = {"sequential_mix": "reads and writes", "random_mix": "reads and writes"}
KIND_WORDS = {"sync": "flushes", "read": "reads", "write": "writes"}


def number_text(need: Requirement, value: float) -> str:
    """Return a number in the unit of a requirement's measure."""
    if need.is_latency:
        return about_latency(value)
    if need.measure == "busy":
        return f"{about_number(100 * value)} %"
    return f"{about_size(value)}/s" if need.measure == "throughput" else f"{about_count(value)}/s"


def need_text(need: Requirement) -> str:
    """Return what is required: `p99 of write below 10 ms`."""
    kind = KIND_WORDS.get(need.kind, need.kind)
    what = kind or OPERATION_WORDS.get(need.operation, need.operation)
    named = {"busy": "accelerators busy", "mean": f"mean latency of {what}"}.get(need.measure)
    if named is None:
        named = f"{need.measure} of {what}"
    return f"{named} {'below' if need.is_latency else 'at least'} {number_text(need, need.limit.value)}"


def outcome_text(need: Requirement, outcome: NeedOutcome) -> str:
    """Return what was measured of a requirement, with its interval."""
    if outcome.value is None:
        return "not measured"
    ends = [None if end is None else number_text(need, end) for end in (outcome.low, outcome.high)]
    if ends[0] is None and ends[1] is None:
        return f"measured {number_text(need, outcome.value)}"
    between = f"{ends[0]} to {ends[1]}" if None not in ends else f"from {ends[0]} on" if ends[0] else f"up to {ends[1]}"
    return f"measured {number_text(need, outcome.value)} (95 %: {between})"


def answer_lines(found: FitAnswer, place: str) -> list[str]:
    """Return the answer: a line, then one for each requirement, then the sources."""
    profile = found.profile
    emulated = f" ({found.accelerators} of them)" if found.accelerators > 1 else ""
    lines = [f"{place}: {profile.question}{emulated} {found.answer}"]
    for need, outcome in found.outcomes:
        why = f": {outcome.why}" if outcome.why else ""
        lines.append(f"  {outcome.status}: {need_text(need)}; {outcome_text(need, outcome)}{why}")
    for job in profile.jobs:
        times = [
            f"{need.operation} {about_latency(seconds * 1e9)}"
            for need, outcome in found.outcomes
            if (seconds := _job_seconds(job, need, outcome)) is not None
        ]
        lines += [f"  time of {job.what}: {', '.join(times)}"] if times else []
    return lines


def _job_seconds(job: ProfileJob, need: Requirement, outcome: NeedOutcome) -> float | None:
    """Return how long a job takes at the measured throughput; None if none was measured."""
    return job.bytes / outcome.value if need.measure == "throughput" and outcome.value else None


def ground_lines(profile: Profile, amount: str) -> list[str]:
    """Return on what an answer is grounded: sources, method, what was reduced, what it does not cover."""
    lines = [f"source: {each.title} ({each.url}): {each.statement}" for each in profile.sources]
    if profile.method:
        lines.append(f"method: {profile.method}")
    if amount:
        lines.append(f"reduced: {amount}; a cache of the device or a server may hold so little")
    return [*lines, *(f"not covered: {text}" for text in profile.not_covered)]


def memory_lines(places: Sequence[TargetPlace]) -> list[str]:
    """Return a warning if the place is in memory, where no flush makes anything stable; else nothing."""
    found = any(place.memory_backed and not place.started_server for place in places)
    return ["warning: the place is in memory: what is flushed there is lost at a restart"] if found else []


def answer_json(found: FitAnswer, place: str, store: RunStore, amount: str) -> dict[str, Any]:
    """Return the answer for programs; latencies in ns, throughput in bytes/s, `busy` as a share.

    Args:
        found: The answer.
        place: What the user called the place.
        store: The run.
        amount: How the data was reduced.
    """
    return {
        "answer": str(found.answer),
        "profile": found.profile.profile,
        "question": found.profile.question,
        "place": place,
        "run": store.folder.name,
        "folder": str(store.folder),
        "warnings": memory_lines(store.info().places),
        "repeats": found.repeats,
        "accelerators": found.accelerators,
        "requirements": [_requirement_json(found.profile, *each) for each in found.outcomes],
        "jobs": [
            {"what": job.what, "bytes": job.bytes, "operation": need.operation, "seconds": seconds}
            for job in found.profile.jobs
            for need, outcome in found.outcomes
            if (seconds := _job_seconds(job, need, outcome)) is not None
        ],
        "reduced": amount,
        "method": found.profile.method,
        "not_covered": list(found.profile.not_covered),
    }


def _requirement_json(profile: Profile, need: Requirement, outcome: NeedOutcome) -> dict[str, Any]:
    source = profile.sources[need.source - 1]
    return {
        "answer": str(outcome.status),
        "operation": need.operation,
        "kind": need.kind,
        "measure": need.measure,
        "unit": UNITS.get(need.measure, "ns"),
        "below": need.below,
        "at_least": need.at_least,
        "value": outcome.value,
        "low": outcome.low,
        "high": outcome.high,
        "why": outcome.why,
        "source": source.model_dump(),
    }
