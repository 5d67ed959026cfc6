"""Jobs that are executed in legs: their files, and what is told of them, are as if they had been one job."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from group_tools import GUARD, members
from run_tools import needs_engine

from assay.contract._generated import Job
from assay.contract.parts import HostPart, join_parts, split_parts
from assay.launch.engine import Outcome
from assay.launch.group import run_group
from assay.plan.layout.legs import Leg, legs_of
from assay.run.legs import run_legs, with_remounts
from assay.run.read_events import read_repeat

pytestmark = needs_engine


def job(root: Path, *operations: str, **fields: Any) -> Job:
    base: dict[str, Any] = {
        "spec_version": 2,
        "id": "legs",
        "target": {"kind": "file", "root": str(root), "directory": "job"},
        "ranks": 2,
        "wait_for_go": True,
        "seed": 5,
        "lanes": 2,
        "file_size_bytes": 1 << 20,
        "record_size_bytes": 4096,
        "interval_ns": 10**9,
        "data": {"verify": True},
        "phases": [{"operation": name} for name in operations],
    }
    return Job.model_validate({**base, **fields})


def execute(leg: Leg) -> Outcome:
    """What `Fleet.run` does."""
    done = run_group(members(leg.job), GUARD)
    parts = (
        HostPart(one.host, one.status, one.reason, one.offset_ns, one.uncertainty_ns, one.events) for one in done.parts
    )
    return Outcome(done.status, done.reason, done.started_at, done.seconds, done.stop_requested, join_parts(parts))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".assay-target").write_text('{"version": 1}')
    return tmp_path


@pytest.mark.parametrize(
    ("operations", "fields"),
    [
        (("write", "rewrite", "random_read", "reread"), {}),
        (("write", "read"), {"layout": "shared"}),
        (
            ("create", "stat", "open"),
            {"tree": {"files": 20, "depth": 1, "width": 3}, "data": {}, "file_size_bytes": 512},
        ),
        (("write", "read"), {"tree": {"files": 5, "depth": 1, "width": 2}, "file_size_bytes": 8192}),
    ],
)
def test_what_comes_out_is_that_of_one_job(root: Path, operations: tuple[str, ...], fields: dict[str, Any]) -> None:
    whole, seen = job(root, *operations, **fields), list[list[str]]()
    outcome = run_legs(whole, execute, lambda: seen.append(sorted(one.name for one in root.iterdir())), lambda: 0)
    outcome, samples = read_repeat("c", 1, whole, outcome, hosts=True)
    assert outcome.status == "ok", outcome.reason
    assert [(sample.operation, sample.status) for sample in samples] == [(name, "done") for name in operations]
    once, expected = read_repeat("c", 1, whole, execute(Leg(0, whole)), hosts=True)
    assert once.status == "ok", once.reason
    facts = [(one.ops, one.bytes, one.verified_bytes, [share.host for share in one.hosts]) for one in samples]
    assert facts == [(one.ops, one.bytes, one.verified_bytes, [share.host for share in one.hosts]) for one in expected]
    assert ["job" in names for names in seen] == [False] + [True] * (len(seen) - 1)
    assert [one.name for one in root.iterdir()] == [".assay-target"], "the last leg removes the files"
    assert [bool(one.cache_done) for one in with_remounts(whole, samples)] == [True] * len(operations)


def test_a_leg_that_fails_is_the_last_and_so_is_one_after_which_the_user_stops(root: Path) -> None:
    whole, told = job(root, "write", "read", "reread"), list[int]()

    def spoiled(leg: Leg) -> Outcome:
        told.append(leg.first)
        if leg.first == 1:
            for file in (root / "job").iterdir():
                file.write_bytes(file.read_bytes().translate(bytes(reversed(range(256)))))
        return execute(leg)

    outcome = run_legs(whole, spoiled, lambda: None, lambda: 0)
    outcome, samples = read_repeat("c", 1, whole, outcome, hosts=True)
    assert told == [0, 1] and outcome.status == "errors", outcome.reason
    assert samples[0].status == "done" and samples[1].errors
    assert samples[2].status == "failed"
    asked = iter((0, 1))
    outcome = run_legs(job(root, "write", "read"), execute, lambda: None, lambda: next(asked))
    outcome, _ = read_repeat("c", 1, job(root, "write", "read"), outcome, hosts=True)
    assert (outcome.status, outcome.stop_requested) == ("stopped", True)


def test_an_engine_that_was_given_another_job_is_not_believed(root: Path) -> None:
    whole = job(root, "write", "read")

    def lying(number: int, leg: Leg) -> Outcome:
        outcome = execute(leg)
        if leg.first != legs_of(whole)[number].first:
            return outcome
        parts = split_parts(outcome.events)
        lines = [json.loads(line) for line in parts[1].events.splitlines()]
        lines[0]["job"]["seed"] = 6
        other = HostPart(**{**vars(parts[1]), "events": "".join(f"{json.dumps(line)}\n" for line in lines)})
        return Outcome(**{**vars(outcome), "events": join_parts([parts[0], other])})

    for number in (0, 1):
        outcome = run_legs(whole, partial(lying, number), lambda: None, lambda: 0)
        outcome, samples = read_repeat("c", 1, whole, outcome, hosts=True)
        assert outcome.status == "crashed" and samples == ()
        assert "the engine sent invalid events: h2" in outcome.reason
