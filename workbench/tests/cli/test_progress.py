"""Time left and the plain lines of a run."""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import make_case, make_meta

from assay.cli.progress import LineProgress, repeat_line
from assay.contract.messages import IntervalEvent
from assay.launch.cgroup import MemoryController
from assay.launch.engine import Outcome
from assay.model.result.sample import Sample
from assay.run.executor import _Cap, _ProgressReporter, silence_limit
from assay.run.listener import HostInterval, Stretch, TimeLeft
from assay.store import RunStore

CASE = make_case(file_size=1, record_size=1)


def sample(throughput: float) -> Sample:
    return Sample(
        case="c0001", repeat=1, phase=0, operation="read", status="done", started_at=0, ops=1, throughput=throughput
    )


def test_time_left_starts_at_the_estimate_and_learns_from_what_was_measured() -> None:
    left = TimeLeft(100.0, count=100)
    assert left.seconds() == 100.0
    for _ in range(50):
        left.end_repeat(1.0, 2.0)
    # Half is done and took twice as long: close to 100 s remain, less what the estimate still counts for.
    assert left.seconds() == pytest.approx(50 * (1 + 50 * 0.1 / (10 + 50)) + 50 * 0.9)
    for _ in range(50):
        left.end_repeat(1.0, 2.0)
    assert left.seconds() == 0.0


def test_time_left_of_a_short_study_learns_what_each_repeat_takes_to_start_and_end() -> None:
    left = TimeLeft(9 * 0.83, count=9)
    for _ in range(2):
        left.end_repeat(0.83, 4.7)
    assert left.seconds() == pytest.approx(7 * 4.7, rel=0.06)
    # Repeats that are not asked for any more take theirs with them.
    left.drop_repeats(3 * 0.83, 3)
    assert left.seconds() == pytest.approx(4 * 4.7, rel=0.06)


def test_a_long_repeat_at_half_the_speed_tells_little_of_what_short_ones_take_to_start() -> None:
    left = TimeLeft(60.0 + 100 * 0.2, count=101)
    left.end_repeat(60.0, 120.0)
    # The storage is slower than assumed: in proportion, but for some tenths of a second.
    assert 20 * 1.8 < left.seconds() < 20 * 1.9 + 100 * 0.2


def test_repeats_that_start_faster_than_estimated_never_leave_less_than_nothing() -> None:
    left = TimeLeft(3.2 + 9 * 0.1, count=10)
    left.end_repeat(3.2, 0.2)
    assert left.seconds() == 0.0


def test_time_left_runs_down_within_a_repeat_but_never_below_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("assay.run.listener.time.monotonic", lambda: now)
    left = TimeLeft(30.0)
    left.begin_repeat(10.0)
    now += 4.0
    assert left.seconds() == 26.0
    now += 100.0
    assert left.seconds() == 20.0


def test_small_studies_get_a_line_per_repeat(capsys: pytest.CaptureFixture[str]) -> None:
    lines = LineProgress(5, 2, TimeLeft(0.0))
    for repeat in (1, 2, 3):
        lines.finish(CASE, repeat, "ok", "", 1.0, [sample(2e6)])
    assert capsys.readouterr().err.splitlines() == [
        "[3/5] c0001 repeat 1 ok in 1.0 s: read 2 MB/s; 0.0 s left",
        "[4/5] c0001 repeat 2 ok in 1.0 s: read 2 MB/s; 0.0 s left",
        "[5/5] c0001 repeat 3 ok in 1.0 s: read 2 MB/s",
    ]


def test_metadata_is_told_in_operations() -> None:
    case = CASE.model_copy(update={"operations": ("stat",)})
    stat = Sample(case="c0001", repeat=1, phase=0, operation="stat", status="done", started_at=0, ops=9, iops=12345.6)
    assert repeat_line(case, 1, "ok", "", 1.0, [stat]).endswith("stat 12,346 ops/s")


def test_large_studies_get_few_lines_but_every_new_reason(capsys: pytest.CaptureFixture[str]) -> None:
    lines = LineProgress(10_000, 0, TimeLeft(0.0))
    for repeat in range(1, 10_001):
        reason = "out of space" if repeat in (5000, 5001) else ""
        lines.finish(CASE, repeat, "errors" if reason else "ok", reason, 0.0, [])
    printed = capsys.readouterr().err.splitlines()
    assert len(printed) < 20
    assert next(line for line in printed if "out of space" in line).startswith("[5000/10000]")
    assert printed[-1].startswith("[10000/10000]")


def test_a_repeat_without_a_measurement_says_so() -> None:
    text = repeat_line(CASE, 2, "crashed", "killed", 0.5, [])
    assert text == "c0001 repeat 2 crashed (killed) in 0.5 s: nothing measured"


def test_silence_limit_follows_interval_and_estimate() -> None:
    assert silence_limit(10**9, 1.0) == 120.0
    assert silence_limit(60 * 10**9, 1.0) == 660.0
    assert silence_limit(10**9, 3600.0) == 36_000.0


@pytest.mark.parametrize("version", [1, 2])
def test_engine_killed_for_its_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    hierarchy = MemoryController(version, tmp_path, "limit")
    monkeypatch.setattr("assay.launch.cgroup.find_controller", lambda: hierarchy)
    (tmp_path / "cgroup.subtree_control").write_text("")
    meta = make_meta()
    with RunStore.create(tmp_path / "runs", meta, (CASE,), (), [("c0001", 1)], "") as store:
        cap = _Cap(store, 64 << 20)
        group = cap.group.path
        killed = Outcome("crashed", "the engine was killed by SIGKILL", 0.0, 1.0, False)
        assert cap.explain(killed) == killed
        counts = group / ("memory.events" if version == 2 else "memory.oom_control")
        counts.write_text("under_oom 0\noom_kill 0\n")
        assert cap.explain(killed) == killed
        counts.write_text("under_oom 0\noom_kill 1\n")
        assert cap.explain(killed).reason == "the engine was killed by SIGKILL: out of its memory_limit of 64MiB"
        fine = replace(killed, status="ok", reason="")
        assert cap.explain(fine) == fine


def test_what_an_engine_tells_of_an_interval_is_told_where_it_was_done() -> None:
    told: list[HostInterval] = []

    class Told(LineProgress):
        def interval(self, host_interval: HostInterval) -> None:
            told.append(host_interval)

    teller = _ProgressReporter(Told(1, 0, TimeLeft(0.0)), lambda _operation, _bytes, _ops: None, lambda _event: None)
    done = {"operation": "read", "ops": 4, "bytes": 4000, "errors": 0, "latency": "text"}
    earlier = [{"from": 1, "to": 3, "ops": 0.5, "bytes": 500.0}]
    event = {"event": "interval", "phase": 0, "index": 5, "start_ns": 500, "end_ns": 600, "operations": [done]}
    teller.on_event("a", IntervalEvent.model_validate({**event, "earlier": earlier}))
    assert told == [
        HostInterval("a", Stretch(500, 600, 3000.0, 3.0), False, ("text",), (Stretch(100, 300, 1000.0, 1.0),))
    ]
    teller.on_event("a", IntervalEvent.model_validate({**event, "end_ns": 500}))
    assert len(told) == 1, "an interval of no length has no rate"
