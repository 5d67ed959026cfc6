"""Golden event files: valid by the contract's schema, and what they say as samples."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import make_case
from jsonschema import Draft202012Validator
from paths import REPOSITORY

from assay.analyse import histograms
from assay.analyse.samples import samples_from_log, sort_events
from assay.contract.messages import IntervalEvent
from assay.contract.reader import BrokenLine, read_events, read_line
from assay.judge.judge import judge
from assay.model.result.course import Course
from assay.model.result.evidence import Evidence
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.sample import ErrorTally, Sample
from assay.model.result.verdict import Verdict

CONTRACT = REPOSITORY / "contract"
GOLDEN = sorted((CONTRACT / "golden" / "events").glob("*.ndjson"))


def lines(name: str) -> list[str]:
    return (CONTRACT / "golden" / "events" / f"{name}.ndjson").read_text().splitlines()


def samples(name: str) -> tuple[Sample, ...]:
    return samples_from_log("c0007", 2, sort_events(read_events(lines(name))))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_line_is_valid_and_read(path: Path) -> None:
    validator = Draft202012Validator(json.loads((CONTRACT / "event.schema.json").read_text()))
    for line in path.read_text().splitlines():
        assert not [error.message for error in validator.iter_errors(json.loads(line))]
        assert not isinstance(read_line(line), BrokenLine)


def test_there_are_golden_files() -> None:
    names = {"good-run", "no-space", "no-space-prepare", "no-space-preallocate", "crashed", "open-loop"}
    assert {path.stem for path in GOLDEN} >= {*names, "two-lanes-mixed", "evidence"}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_intervals_add_up_to_the_total(path: Path) -> None:
    events = list(read_events(path.read_text().splitlines()))
    for sample in samples_from_log("c0001", 1, sort_events(events)):
        if sample.status == "crashed":
            continue
        own = [event for event in events if isinstance(event, IntervalEvent) and event.phase == sample.phase]
        done = [of_kind for event in own for of_kind in event.operations]
        assert sum(of_kind.ops for of_kind in done) == sample.ops
        assert sum(of_kind.bytes for of_kind in done) == sample.bytes
        texts = [of_kind.latency for of_kind in done if of_kind.latency]
        if sample.histogram:
            merged = histograms.merge([histograms.decode(text) for text in texts])
            whole = histograms.decode(sample.histogram)
            assert merged.first == whole.first
            assert merged.counts.tolist() == whole.counts.tolist()


def test_a_good_run() -> None:
    write, read = samples("good-run")
    assert (write.case, write.repeat, write.phase, write.operation, write.status) == ("c0007", 2, 0, "write", "done")
    assert (write.ops, write.bytes, write.write_bytes, write.read_bytes) == (256, 16 << 20, 16 << 20, 0)
    assert write.throughput == pytest.approx(write.bytes * 1e9 / write.elapsed_ns)
    assert write.iops == pytest.approx(256e9 / write.elapsed_ns)
    assert write.started_at == pytest.approx(1_795_288_503.0012, abs=1e-6)
    assert write.method == "io_uring" and write.errors == ()
    assert (read.phase, read.operation, read.device_read_bytes) == (1, "read", 16 << 20)
    assert "page cache" in read.cache_done
    assert read.latency["min"] <= read.latency["p50"] <= read.latency["p99.99"] <= read.latency["max"]
    assert list(read.latency) == ["min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"]
    assert read.started_at > write.started_at
    assert read.steady is not None and read.first_finisher == pytest.approx(read.throughput)


def test_no_space_names_action_path_place_size_and_errno() -> None:
    write, read = samples("no-space")
    assert write.status == "failed" and write.ops == 32
    (tally,) = write.errors
    assert (tally.kind, tally.domain, tally.code) == ("fault", "os", 28)
    assert (tally.name, tally.count) == ("ENOSPC", 3)
    assert tally.example == (
        "write /var/tmp/assay-golden/golden-full.r1/f0 at 2097152, 65536 bytes: No space left on device (ENOSPC)"
    )
    assert (read.status, read.ops, read.throughput, read.first_finisher) == ("skipped", 0, 0.0, None)
    assert read.latency == {} and read.histogram is None
    assert read.errors == (tally.model_copy(update={"example": f"in write: {tally.example}"}),)
    assert (write.failed_operations, read.failed_operations) == (3, 0)


def test_no_space_to_reserve_is_told_whether_or_not_the_phase_end_counts_it() -> None:
    reserve = (
        "preallocate /var/tmp/assay-golden/golden-reserve.r1/f0 at 0, 16777216 bytes: No space left on device (ENOSPC)"
    )
    old = lines("no-space-preallocate")
    assert old[3].count('"errors":[]') == 1
    counted = '"errors":[{"kind":"fault","fault":{"domain":"os","code":28},"name":"ENOSPC","count":1}]'
    for told in (old, [*old[:3], old[3].replace('"errors":[]', counted), *old[4:]]):
        write, read = samples_from_log("c0007", 1, sort_events(read_events(told)))
        assert (write.status, read.status) == ("failed", "skipped")
        told = {"name": "ENOSPC", "domain": "os", "code": 28}
        assert write.errors == (ErrorTally(kind="fault", count=1, example=reserve, **told),)
        assert [tally.example for tally in read.errors] == [f"in write: {reserve}"]


def test_phases_skipped_after_a_failed_preparation_say_what_failed() -> None:
    found = samples("no-space-prepare")
    assert [(sample.operation, sample.status) for sample in found] == [("read", "skipped"), ("random_read", "skipped")]
    for sample in found:
        (tally,) = sample.errors
        assert (tally.name, tally.count, sample.failed_operations) == ("ENOSPC", 3, 0)
        assert tally.example == (
            "in prepare: write /var/tmp/assay-golden/golden-prepare.r1/f0 at 2097152, 65536 bytes: "
            "No space left on device (ENOSPC)"
        )


def test_a_failed_close_beside_failed_operations_is_not_lost() -> None:
    close = json.loads(lines("no-space")[3]) | {"lane": None, "action": "close", "length": 0}
    close["fault"] = {"domain": "os", "code": 5}
    whole = lines("no-space")
    write = samples_from_log("c0001", 1, sort_events(read_events([*whole[:7], json.dumps(close), *whole[7:]])))[0]
    assert {tally.name: tally.count for tally in write.errors} == {"EIO": 1, "ENOSPC": 3}
    assert "close /var/tmp/assay-golden/golden-full.r1/f0: Input/output error (EIO)" in str(write.errors)


@pytest.mark.parametrize("name", ["no-space-prepare", "no-space-preallocate"])
def test_the_finding_names_errno_size_and_path(name: str) -> None:
    for sample in samples(name):
        row_case = make_case(operations=(sample.operation,))
        evidence = Evidence(
            case=row_case,
            operation=sample.operation,
            samples=(sample,),
            usable=(),
            place=None,
            memory_bytes=None,
            estimate=None,
            planned=1,
        )
        verdict, (finding, *_), _ = judge(evidence)
        assert verdict is Verdict.INCOMPLETE
        for words in ("ENOSPC", " bytes", "/var/tmp/assay-golden/golden-", "repeat 2"):
            assert words in finding.text
        assert "Free space" in finding.remedy


def test_without_a_bye_the_rest_of_the_plan_has_crashed() -> None:
    write, read, random_read = samples("crashed")
    assert (write.status, read.status, random_read.status) == ("done", "crashed", "crashed")
    assert read.method == "sync" and random_read.method == ""
    assert (write.device_read_bytes, write.device_write_bytes) == (None, None)


def test_stopped_from_outside_is_not_a_crash() -> None:
    bye = '{"event":"bye","status":"stopped","reason":"told to","max_rss_bytes":1,"at_ns":1}'
    found = samples_from_log("c0001", 1, sort_events(read_events([*lines("crashed"), bye])))
    assert [sample.status for sample in found] == ["done", "stopped", "stopped"]


def test_silence_from_the_start_gives_no_samples() -> None:
    assert samples_from_log("c0001", 1, sort_events(read_events(lines("good-run")[1:]))) == ()
    assert samples_from_log("c0001", 1, sort_events([])) == ()


def test_open_loop_shows_the_whole_stall() -> None:
    (sample,) = samples("open-loop")
    assert sample.target_per_s == 1000.0 and sample.unstarted_ops == 0
    assert sample.latency["max"] == pytest.approx(1e9, rel=0.01)
    assert sample.histogram is not None
    histogram = histograms.decode(sample.histogram)
    late = 1 - next(percent for percent, value in histograms.curve(histogram) if value > 1_000_000) / 100
    assert late == pytest.approx(1111 / 3000, abs=0.1)


def as_names(line: str) -> str:
    """A golden line about reads as if it were about stat."""
    event = json.loads(line)
    if event.get("operation") == "read":
        event["operation"] = "stat"
    if event["event"] == "phase_end" and event["operation"] == "stat":
        event["operations"] = [event["operations"][0] | {"operation": "stat", "bytes": 0}]
        for window in ("first_finisher", "last_finisher", "steady"):
            event[window]["bytes"] = 0
    return json.dumps(event)


def test_metadata_operations_are_counted_and_timed() -> None:
    _, read = samples("good-run")
    _, stat = samples_from_log("c0007", 2, sort_events(read_events(map(as_names, lines("good-run")))))
    assert (stat.operation, stat.ops, stat.bytes, stat.read_bytes) == ("stat", read.ops, 0, 0)
    assert (stat.iops, stat.rate, stat.throughput) == (read.iops, read.iops, 0.0)
    assert (stat.latency, stat.histogram) == (read.latency, read.histogram)
    assert stat.is_counted and not stat.moves_data
    assert read.rate == read.throughput and read.moves_data and not read.is_counted
    record = read.throughput / read.iops
    assert read.first_finisher is not None and read.steady is not None
    assert stat.first_finisher_iops == pytest.approx(read.first_finisher / record)
    assert stat.steady_iops == pytest.approx(read.steady / record)


def test_contents_of_new_files_are_written_bytes() -> None:
    end = json.loads(as_names(lines("good-run")[-2])) | {"operation": "create"}
    end["operations"] = [end["operations"][0] | {"operation": "create", "ops": 10, "bytes": 4096}]
    found = samples_from_log("c0007", 2, sort_events(read_events([*lines("good-run")[:-2], json.dumps(end)])))
    assert (found[1].bytes, found[1].write_bytes, found[1].moves_data) == (4096, 4096, True)


def test_delays_of_starts_and_the_reason_of_the_method_are_kept() -> None:
    delay = json.loads(lines("open-loop")[-2])["operations"][0]["latency"]
    changed = [json.dumps(json.loads(line) | {"start_delay": delay}) for line in lines("open-loop")]
    (sample,) = samples_from_log("c0001", 1, sort_events(read_events(changed)))
    assert sample.start_delay["p99.9"] == delay["p999_ns"] and sample.start_delay["mean"] == delay["mean_ns"]
    assert sample.start_delay_histogram == delay["histogram"]
    (plain,) = samples("open-loop")
    assert (plain.start_delay, plain.start_delay_histogram) == ({}, None)
    assert {sample.method_reason for sample in samples("good-run")} != {""}


def test_mixed_operations_are_merged_and_preparation_is_no_sample() -> None:
    (sample,) = samples("two-lanes-mixed")
    assert (sample.phase, sample.operation, sample.ops) == (1, "random_mix", 2000)
    assert sample.read_bytes == 1401 * 4096 and sample.write_bytes == 599 * 4096
    assert sample.histogram is not None and histograms.decode(sample.histogram).total == 2000
    assert sample.skew_ns == 60_000 and sample.finish_spread_ns > 0
    end = json.loads(lines("two-lanes-mixed")[-2])
    reads, writes = (of_kind["latency"] for of_kind in end["operations"])
    mean = (reads["mean_ns"] * 1401 + writes["mean_ns"] * 599) / 2000
    assert sample.latency["mean"] == pytest.approx(mean)
    assert sample.latency["min"] == min(reads["min_ns"], writes["min_ns"])
    assert writes["p50_ns"] < sample.latency["p50"] < reads["p50_ns"]


def test_each_kind_of_a_mix_has_its_own_counts_and_latencies() -> None:
    (sample,) = samples("two-lanes-mixed")
    end = json.loads(lines("two-lanes-mixed")[-2])
    assert [(counts.kind, counts.ops, counts.bytes, counts.errors) for counts in sample.kinds] == [
        ("read", 1401, 1401 * 4096, 0),
        ("write", 599, 599 * 4096, 0),
    ]
    for counts, told in zip(sample.kinds, end["operations"], strict=True):
        assert counts.latency["p50"] == told["latency"]["p50_ns"] and counts.histogram == told["latency"]["histogram"]
        assert "p99.9" not in counts.reliable_latency and counts.first_byte == {}
    assert sample.is_mixed


def test_the_histogram_of_a_phase_of_one_kind_is_kept_once() -> None:
    write, _ = samples("good-run")
    (only,) = write.kinds
    assert (only.kind, only.ops, only.latency, only.histogram) == ("write", 256, write.latency, None)
    assert not write.is_mixed and write.histogram


def test_the_first_byte_of_a_kind_is_kept_apart() -> None:
    end = json.loads(lines("good-run")[-2])
    own = end["operations"][0]
    own["first_byte"] = own["latency"] | {"p50_ns": 7}
    found = samples_from_log("c0007", 1, sort_events(read_events([*lines("good-run")[:-2], json.dumps(end)])))[1]
    assert found.kinds[0].first_byte["p50"] == 7 and found.kinds[0].first_byte_histogram
    assert found.latency["p50"] == own["latency"]["p50_ns"]


def test_a_fault_of_another_domain_has_its_name_and_words() -> None:
    """Whose number it is decides what is counted together: 5 of the kernel is not 5 of a server."""
    whole = lines("no-space")
    fault = {"domain": "nfs", "code": 28}
    failure = json.loads(whole[3]) | {"fault": fault, "message": "the NFS server answered 28 NFS3ERR_NOSPC"}
    end = next(json.loads(line) for line in whole if '"phase_end"' in line)
    end["errors"].append({"kind": "fault", "fault": fault, "name": "NFS3ERR_NOSPC", "count": 2})
    told = [*whole[:7], json.dumps(failure), json.dumps(end), *whole[8:]]
    kernel, server = samples_from_log("c0001", 1, sort_events(read_events(told)))[0].errors
    assert (kernel.name, kernel.count, server.name, server.count) == ("ENOSPC", 3, "NFS3ERR_NOSPC", 2)
    assert server.example.endswith("65536 bytes: the NFS server answered 28 NFS3ERR_NOSPC")
    assert kernel.key != server.key


def changed(end: dict[str, Any], name: str = "evidence") -> Sample:
    """The last phase of a golden file with other fields in its end; `lanes` and `resources` are changed one by one."""
    whole = lines(name)
    event = json.loads(whole[-2])
    lanes = end.pop("lanes", [{}] * len(event["lanes"]))
    event["lanes"] = [lane | more for lane, more in zip(event["lanes"], lanes, strict=True)]
    event["resources"] |= end.pop("resources", {})
    return samples_from_log("c0001", 1, sort_events(read_events([*whole[:-2], json.dumps(event | end), whole[-1]])))[-1]


def counts(ops: int) -> dict[str, Any]:
    return {"operations": [{"operation": "read", "ops": ops, "bytes": 4096 * ops, "errors": 0}]}


def test_what_host_and_device_say_is_kept() -> None:
    (sample,) = samples("evidence")
    assert (sample.cpu_wait_ns, sample.cpus) == (31_508_841 + 32_693_342, 2)
    assert (sample.host_busy_ns, sample.host_idle_ns, sample.host_stolen_ns) == (260_000_000, 100_000_000, 20_000_000)
    assert sample.block == BlockDeviceUse(
        read_bytes=145_752_064,
        write_bytes=0,
        reads=2224,
        writes=0,
        read_ns=311_000_000,
        write_ns=0,
        busy_ns=176_000_000,
    )
    assert (sample.cached_bytes, sample.wall_shift_ns) == (0, 10)
    assert sample.lane_balance == 1093 / 1112
    assert sample.course is not None
    assert (sample.course.intervals, sample.course.interval_ns) == (9, 20_000_000)
    assert sample.course.mean == pytest.approx(sample.steady, rel=0.03)
    assert (sample.course.first_pass, sample.course.later_passes) == (None, None)


def test_when_the_engine_was_not_run_is_kept() -> None:
    stopped, short = samples("watched")
    assert stopped.watch is not None and stopped.watch.away_ns is not None
    assert stopped.watch.stalls == 1
    assert 90e6 < stopped.watch.away_ns <= stopped.watch.stalled_ns == stopped.watch.longest_ns < 110e6
    assert stopped.watch.lateness["p50"] < 1e6 < 90e6 < stopped.watch.lateness["max"]
    assert short.watch is None, "shorter than the distance of two points"
    assert all(sample.watch is None for sample in samples("good-run")), "an engine that does not tell"


def test_the_clock_may_be_set_either_way() -> None:
    assert changed({"wall_shift_ns": -2_000_000_000}).wall_shift_ns == -2_000_000_000
    assert changed({"wall_shift_ns": None}).wall_shift_ns == 0


@pytest.mark.parametrize("waits", [(None, 5), (5, None), (None, None)])
def test_waiting_that_one_lane_does_not_tell_is_unknown(waits: tuple[int | None, int | None]) -> None:
    assert changed({"lanes": [{"cpu_wait_ns": wait} for wait in waits]}).cpu_wait_ns is None
    assert changed({"lanes": [{"cpu_wait_ns": 2}, {"cpu_wait_ns": 3}]}).cpu_wait_ns == 5


@pytest.mark.parametrize(
    ("operations", "balance"),
    [((100, 100), 1.0), ((50, 150), 0.5), ((150, 50), 0.5), ((0, 10), 0.0), ((0, 0), None)],
)
def test_the_slowest_lane_is_held_against_the_median_one(operations: tuple[int, ...], balance: float | None) -> None:
    assert changed({"lanes": [counts(ops) for ops in operations]}).lane_balance == balance


def test_one_lane_has_nothing_to_be_held_against() -> None:
    assert [sample.lane_balance for sample in samples("good-run")] == [None, None]


def test_of_many_lanes_the_median_counts_and_of_any_operation() -> None:
    event = json.loads(lines("evidence")[-2])
    lane = event["lanes"][0]
    kinds = ("read", "write", "read")
    each = [
        {**lane, "operations": [{"operation": kinds[n % 3], "ops": 100 + n, "bytes": 0, "errors": 0}]}
        for n in range(16)
    ]
    each[7] = {**lane, **counts(10)}
    told = [*lines("evidence")[:-2], json.dumps(event | {"lanes": each})]
    assert samples_from_log("c0001", 1, sort_events(read_events(told)))[0].lane_balance == 10 / 107


def test_the_longest_flush_of_a_lane_is_kept() -> None:
    assert [sample.flush_ns for sample in samples("two-lanes-mixed")] == [1_600_000]
    assert changed({"lanes": [{"sync_ns": 7}, {"sync_ns": 3}]}).flush_ns == 7


def test_where_nothing_counts_nothing_is_known() -> None:
    sample = changed({"cached_bytes": None, "resources": {"host": None, "device": None}})
    assert (sample.block, sample.host_busy_ns, sample.host_idle_ns, sample.host_stolen_ns) == (None, None, None, None)
    assert sample.cached_bytes is None
    assert changed({"cached_bytes": 4096}).cached_bytes == 4096


def test_three_intervals_make_a_course_and_two_do_not() -> None:
    whole = lines("evidence")
    of_phase = [line for line in whole if '"interval"' in line and json.loads(line).get("phase") == 1]
    rest = [line for line in whole if line not in of_phase]
    for count in (2, 3):
        told = [*rest[:-2], *of_phase[1 : 1 + count], *rest[-2:]]
        (sample,) = samples_from_log("c0001", 1, sort_events(read_events(told)))
        assert (sample.course is not None) == (count == 3)


def test_passes_over_the_data_are_those_of_all_lanes() -> None:
    def course(mebibytes: int, layout: str) -> Course | None:
        whole = lines("evidence")
        hello = json.loads(whole[0])
        hello["job"] |= {"file_size_bytes": mebibytes << 20, "layout": layout}
        return samples_from_log("c0001", 1, sort_events(read_events([json.dumps(hello), *whole[1:]])))[0].course

    separate = course(32, "separate")
    assert separate is not None and separate.first_pass is not None and separate.later_passes is not None
    assert separate == course(64, "shared") != course(32, "shared")


@pytest.mark.parametrize(
    "path", [path for path in GOLDEN if path.stem not in ("evidence", "watched")], ids=lambda path: path.stem
)
def test_old_events_are_read_and_what_they_do_not_tell_is_unknown(path: Path) -> None:
    text = path.read_text()
    assert not [name for name in ("cpu_wait_ns", "cached_bytes", "wall_shift_ns", '"host"', '"device"') if name in text]
    found = samples_from_log("c0001", 1, sort_events(read_events(text.splitlines())))
    assert found
    for sample in found:
        assert (sample.cpu_wait_ns, sample.block, sample.cached_bytes, sample.wall_shift_ns) == (None, None, None, 0)
        assert (sample.host_busy_ns, sample.host_idle_ns, sample.host_stolen_ns) == (None, None, None)


def test_a_sample_comes_back_from_the_store_as_it_was() -> None:
    for path in GOLDEN:
        for sample in samples(path.stem):
            text = sample.model_dump_json(exclude_defaults=True)
            assert Sample.model_validate_json(text) == sample


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"event":"ready","at_ns":1,"buf', "not a whole JSON object"),
        ("thread 'main' panicked at src/main.rs:1", "not a whole JSON object"),
        ("[1, 2]", "unknown event"),
        ('{"event":"applause"}', "unknown event"),
        ('{"at_ns":1}', "unknown event"),
        ('{"event":"ready","at_ns":-1,"buffer_bytes":0}', "ready.at_ns"),
        ('{"event":"ready","at_ns":1}', "ready.buffer_bytes: Field required"),
        (b'{"event":"ready","at_ns":\xff}', "not a whole JSON object"),
    ],
)
def test_a_broken_line_is_an_answer_and_no_exception(line: str | bytes, reason: str) -> None:
    found = read_line(line, 12)
    assert isinstance(found, BrokenLine)
    assert found.number == 12 and reason in found.reason and "\n" not in found.reason


def numbers_in(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Where the numbers of an event are; not those of the job, which is compared as a whole."""
    if isinstance(value, bool) or path == ("job",):
        return []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    own = [path] if isinstance(value, int | float) else []
    return own + [found for name, item in inner for found in numbers_in(item, (*path, name))]


@pytest.mark.parametrize("number", [2**63, -(2**63), -1e300, 1e300])
def test_a_number_that_no_engine_counts_to_breaks_its_line(number: float) -> None:
    for line in lines("evidence"):
        for *above, last in numbers_in(json.loads(line)):
            event = json.loads(line)
            place = event
            for name in above:
                place = place[name]
            # Free space is no number of the engine's: a file system tells it.
            if not isinstance(place, list) and last != "free_bytes":
                place[last] = number
                assert isinstance(read_line(json.dumps(event)), BrokenLine), (above, last)


def test_a_clock_may_be_set_back_by_what_can_be_counted() -> None:
    events = [json.loads(line) for line in lines("evidence")]
    (end, *_) = [event for event in events if "wall_shift_ns" in event]
    assert not isinstance(read_line(json.dumps({**end, "wall_shift_ns": -(2**63 - 1)})), BrokenLine)


def test_broken_lines_do_not_cost_the_run() -> None:
    whole = lines("good-run")
    events = list(read_events([*whole[:4], "garbage", "", whole[4][:50], *whole[4:]]))
    assert [event.number for event in events if isinstance(event, BrokenLine)] == [5, 7]
    assert samples_from_log("c0007", 2, sort_events(events)) == samples("good-run")


def test_unknown_fields_are_passed_over() -> None:
    event = json.loads(lines("good-run")[-1]) | {"mood": "fine"}
    assert not isinstance(read_line(json.dumps(event)), BrokenLine)
