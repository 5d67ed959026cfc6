"""Replays: what events of an engine become, and which cannot be true."""

from typing import Any

import pytest
from rank_tools import MS, Made, hello, latency

from assay.analyse.programs.replays import replay_results
from assay.analyse.samples import replay_fields
from assay.analyse.validate import InvalidEventsError, validate_events
from assay.contract._generated import Job
from assay.contract.messages import HelloEvent, ReplayEvent
from assay.model.result.replays import io_rate

PLACE = {"kind": "replay", "root": "/mnt", "directory": "j", "trace": "/t.gz"}


def begin(**target: object) -> tuple[HelloEvent, Job]:
    """The first event of a job with two copies, and the job."""
    event = hello(Made(lanes=((0, MS, 1), (0, MS, 1))))
    fields = {"target": {**PLACE, **target}, "phases": [{"operation": "replay"}], "tree": {"files": 1}}
    job = Job.model_validate({**event.job.model_dump(mode="json"), **fields})
    return event.model_copy(update={"job": job}), job


def replay(lane: int = 0, services: tuple[int, ...] = (MS, 3 * MS), late: int = 0, **fields: object) -> ReplayEvent:
    reads: dict[str, Any] = {
        "count": len(services),
        "failed": 0,
        "bytes": 4096 * len(services),
        "recorded_ns": 8 * MS,
        "replayed_ns": sum(services),
        "service": latency(services),
        "latency": latency([one + late for one in services]) if late else None,
    }
    known = {"operations": {"read": reads}, "differences": 0, "first_differences": [], "opened": 1, "tasks": 1}
    times = {"at_ns": 100, "elapsed_ns": 10 * MS, "recorded_ns": 20 * MS, "max_delay_ns": late}
    return ReplayEvent.model_validate({"event": "replay", "lane": lane, **known, **times, **fields})


def test_copies_are_sorted_by_lane_with_what_they_took() -> None:
    first, second = replay_results([replay(1), replay(0, late=2 * MS)], 40)
    assert (first.lane, first.started_ns, first.io_ns, first.recorded_io_ns, first.operations) == (
        0,
        60,
        4 * MS,
        8 * MS,
        2,
    )
    assert second.late_ns == 0 and second.kinds["read"].latency == {} and second.kinds["read"].service["max"] == 3 * MS
    # What started late has a latency that is longer by that.
    assert first.late_ns == 4 * MS and first.kinds["read"].latency["max"] == 5 * MS


def test_at_recorded_times_copies_are_compared_by_their_io() -> None:
    copies = replay_results([replay(0), replay(1, (MS, MS))], 0)
    # 3 ms of I/O each on average: 2 copies in 3 ms.
    assert io_rate(copies) == pytest.approx(2 / 0.003) and io_rate(()) is None
    for pace, rate in (("recorded", io_rate(copies)), ("fast", None)):
        log = validate_events([begin(pace=pace)[0]], begin(pace=pace)[1])
        fields = replay_fields(log, copies)
        assert fields.get("iops") == rate and fields["replays"] == copies
    assert replay_fields(log, ()) == {}


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([replay(2)], "the replay of lane 2 is not one of the job"),
        ([replay(), replay()], "the replay of lane 0 is not one of the job, or came twice"),
        ([replay(elapsed_ns=10**13)], "took 10,000 s, longer than the whole job"),
        ([replay(max_delay_ns=10**13)], "longer than the whole job"),
        ([replay(elapsed_ns=2 * MS)], "one longer than the whole replay"),
        ([replay(operations={"send": replay().operations["read"]})], "operations that no trace has"),
        (
            [replay(first_differences=[{"line": 1, "operation": "read", "file": "a", "message": "b"}])],
            "more differences",
        ),
    ],
)
def test_what_cannot_be_true_is_refused(events: list[object], message: str) -> None:
    first, job = begin()
    assert len(validate_events([first, replay(0), replay(1)], job, 1.0).replays) == 2
    with pytest.raises(InvalidEventsError, match=message):
        validate_events([first, *events], job, 1.0)


def test_counts_and_times_must_fit() -> None:
    first, job = begin()
    reads = replay().operations["read"]
    for changed in ({"count": 3}, {"failed": 3}, {"latency": latency([MS])}):
        event = replay(operations={"read": reads.model_copy(update=changed)})
        with pytest.raises(InvalidEventsError):
            validate_events([first, event], job)
