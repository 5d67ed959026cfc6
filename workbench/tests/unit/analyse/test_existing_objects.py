"""What an engine tells of objects that were there before: what is believed of it, and what becomes of it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from paths import REPOSITORY
from rank_tools import MS, Made, together

from assay.analyse.ranks import samples_from_ranks
from assay.analyse.samples import errors_of, sort_events
from assay.analyse.validate import InvalidEventsError, validate_events
from assay.contract._generated import Job
from assay.contract.bounds import ESTIMATE_FACTOR, MIN_TIMEOUT_SECONDS, output_bounds
from assay.contract.messages import ErrorSampleEvent, ReadyEvent
from assay.model.result.objects import ExistingObjects

JOBS = REPOSITORY / "contract" / "golden" / "jobs"
FOUND = {
    "listed": 500, "listed_bytes": 10**9, "objects": 100, "bytes": 10**7, "smallest_bytes": 0, "median_bytes": 1000,
    "largest_bytes": 10**6,
}  # fmt: skip


def job() -> Job:
    return Job.model_validate_json((JOBS / "s3-existing.json").read_text())


def ready(**changes: Any) -> ReadyEvent:
    told = {"event": "ready", "at_ns": 5, "buffer_bytes": 4096, "existing": {**FOUND, **changes}}
    return ReadyEvent.model_validate_json(json.dumps(told))


def test_what_adds_up_is_believed() -> None:
    assert validate_events([ready()], job()).existing == ExistingObjects(**FOUND)
    nothing = {**dict.fromkeys(FOUND, 0), "listed": 1, "objects": 1}
    assert validate_events([ready(**nothing)], job()).existing == ExistingObjects(**nothing)


@pytest.mark.parametrize(
    "changes",
    [
        *({"objects": 501}, {"objects": 101}, {"objects": 0}, {"listed": 99}, {"listed_bytes": 10**7 - 1}),
        *({"bytes": 10**8 + 1, "listed_bytes": 10**9}, {"bytes": 999}, {"smallest_bytes": 1001}),
        *({"median_bytes": 10**6 + 1}, {"smallest_bytes": 1000, "bytes": 10**6 - 1}),
    ],
)
def test_what_does_not_is_not(changes: dict[str, int]) -> None:
    with pytest.raises(InvalidEventsError):
        validate_events([ready(**changes)], job())


def test_only_jobs_that_read_what_is_there_can_have_it() -> None:
    made = Job.model_validate_json((JOBS / "null-objects.json").read_text())
    with pytest.raises(InvalidEventsError, match="existing objects"):
        validate_events([ready()], made)


def test_an_estimate_of_unknown_sizes_bounds_nothing() -> None:
    made = Job.model_validate_json((JOBS / "null-objects.json").read_text())
    assert output_bounds(made, 1.0).seconds == MIN_TIMEOUT_SECONDS + ESTIMATE_FACTOR
    assert output_bounds(job(), 1.0).seconds == output_bounds(job(), None).seconds > 10 * MIN_TIMEOUT_SECONDS


def test_a_failure_has_the_objects_key_and_no_number() -> None:
    failure = {
        "event": "error_sample", "phase": 0, "lane": 0, "action": "get", "object": "http://h/our-data/logs/a b",
        "number": 7, "offset": 0, "length": 9, "kind": "fault", "fault": {"domain": "s3", "code": 4},
        "message": "the object has another size than when it was listed",
    }  # fmt: skip
    (tally,) = errors_of(0, sort_events([ready(), ErrorSampleEvent.model_validate_json(json.dumps(failure))]))
    assert tally.example.startswith("get http://h/our-data/logs/a b at 0, 9 bytes: ")


def test_several_hosts_tell_what_all_of_them_have_seen() -> None:
    one = Made(lanes=((0, 50 * MS, 10),), start=10**12, offset=0, interval=10 * MS)
    ranks = together([one, replace(one, offset=5)])

    def merged(*found: ExistingObjects | None) -> ExistingObjects | None:
        told = [replace(rank, log=replace(rank.log, existing=seen)) for rank, seen in zip(ranks, found, strict=True)]
        (sample,) = samples_from_ranks("c0001", 1, told)
        return sample.existing

    same = ExistingObjects(**FOUND)
    assert merged(same, same) == same
    assert merged(same, ExistingObjects(**{**FOUND, "listed": 501})) is None
    assert merged(None, None) is None
