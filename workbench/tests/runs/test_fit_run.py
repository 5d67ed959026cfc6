"""`assay fit` and `assay find` with the real engine, at places that are fast and slow."""

import json
from pathlib import Path

from faulty import faulty_mount, needs_faults
from in_process import run_here
from run_tools import needs_engine

from assay.kinds.uri import parse_uri
from assay.rooms.fit.commands.runner import Runner
from assay.rooms.fit.model.bound import parse_latency_bound
from assay.rooms.fit.work.find import Finder
from assay.rooms.fit.work.load import RateLoad
from assay.rooms.fit.work.place import place_of_target
from assay.rooms.fit.work.search import RatePlan
from assay.store import list_runs

pytestmark = needs_engine

OWN = """
profile: log
about: a log
question: Is it fast enough for a log?
sources: [{title: A, url: https://a.example, read: 2026-12-01, statement: so}]
requires: [{operation: write, kind: sync, measure: p90, below: 200ms}]
files: {operations: [write], files: 60, file_size: 2300B, record_size: 2300B, sync: fdatasync, cache: keep}
repeats: 4
"""


@needs_faults
def test_a_place_whose_flushes_are_slow_is_refused_and_the_same_without_them_is_not(tmp_path: Path) -> None:
    profile = tmp_path / "log.yaml"
    with faulty_mount(tmp_path) as mount:
        for delay, answer, code in ((0, "yes", 0), (400, "no", 1)):
            if delay:
                mount.set(f"latency on fsync delay {delay}")
                profile.write_text(OWN.replace("files: 60", "files: 4"))
            else:
                profile.write_text(OWN)
            done = run_here(tmp_path, "fit", profile, mount.path, "--json")
            assert done.returncode == code, done.stderr
            found = json.loads(done.stdout)
            (need,) = found["requirements"]
            assert (found["answer"], need["unit"], need["below"]) == (answer, "ns", 200_000_000)
            assert need["source"]["url"] == "https://a.example"
        assert list(mount.backing.iterdir()) == []
    assert [run.status for run in list_runs(tmp_path / "assay-runs")] == ["complete"] * 2


def test_a_rate_below_the_knee_holds_and_one_above_fails(tmp_path: Path) -> None:
    """Operations of 20 ms, 16 at once, are 800/s at most."""
    target = {**parse_uri("null:", False), "latency": {"distribution": "fixed", "time": "20ms"}}
    place, bound = place_of_target("null:", "script", target), parse_latency_bound("p50<100ms")
    run = Runner(tmp_path, False, False).run
    load, outcomes = RateLoad("random_read", 4096, 16, cache="keep"), {}
    finder = Finder(place, load, bound, run, lambda text: run(text, tmp_path), tmp_path, outcomes.__setitem__)
    found = finder.measure(RatePlan((200.0, 1600.0), 3, 0.4, 0.8))
    below, above = (
        sum(each.over(bound.limit_ns).over for each in found[rate]) / sum(each.ops for each in found[rate])
        for rate in (200.0, 1600.0)
    )
    assert below < 0.5 < above
    # A busy machine may leave either rate undecided.
    assert outcomes[200.0].status != "no" and outcomes[1600.0].status != "yes"
    # Of 1.2 s the first third is a warm-up, which does not count.
    assert 0 < sum(each.counts.sum() for each in found[200.0]) < 3 * 200
