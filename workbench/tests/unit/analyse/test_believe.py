"""What is believed of an engine, how several are kept apart in one text, and what a histogram may cost."""

import contextlib
import json
import resource
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from builders import make_case, make_sample
from hypothesis import given
from hypothesis import strategies as st
from run_tools import assay, needs_engine, only_run, study
from stream_tools import bases, bomb, histograms, through

from assay.analyse import histograms as hdr
from assay.analyse.rows import RowMaker
from assay.analyse.usable import usable
from assay.analyse.validate import CLOCK_NS, CLOCK_SHARE, InvalidEventsError, check_starts
from assay.contract._generated import Job
from assay.contract.bounds import ESTIMATE_FACTOR, MIN_TIMEOUT_SECONDS, STATED_TIME_FACTOR, output_bounds
from assay.contract.parts import HOST_LINE_START, HostPart, join_parts, split_parts
from assay.contract.reader import BrokenLine, read_line
from assay.judge.judge import judge
from assay.launch.engine import Outcome
from assay.model.base import AssayError
from assay.model.result.verdict import Verdict
from assay.run.read_events import read_repeat
from assay.store import RunStore


def good(name: str = "good-run") -> tuple[Job, list[dict[str, Any]]]:
    base = next(base for base in bases() if base.name == name)
    return base.job, [json.loads(line) for line in base.lines]


def reason(job: Job, events: list[dict[str, Any]], seconds: float = 3600.0) -> str:
    text = "\n".join([*map(json.dumps, events), ""])
    outcome, _ = read_repeat(
        "c0001", 1, job, Outcome("ok", "", 1.0, seconds, stop_requested=False, events=text), hosts=False
    )
    return outcome.reason.removeprefix("the engine sent invalid events: ")


def end(events: list[dict[str, Any]], phase: int = 0) -> dict[str, Any]:
    return next(event for event in events if event["event"] == "phase_end" and event["phase"] == phase)


def kind(event: dict[str, Any]) -> dict[str, Any]:
    """Its only kind of operation."""
    (only,) = event["operations"]
    return only  # type: ignore[no-any-return]


def fault(code: int, domain: str = "os") -> dict[str, Any]:
    return {"kind": "fault", "fault": {"domain": domain, "code": code}, "name": None, "count": 3}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"interval_ns": 0}, "its watch: 80 points, 0 ns apart"),
        ({"interval_ns": 50_000_000}, "its watch: 80 points, 50000000 ns apart"),
        ({"elapsed_ns": 2**62}, "its watch took longer than the whole job"),
        ({"stalls": 40}, "40 stalls of"),
        ({"stalls": 0}, "0 stalls of at most"),
        ({"stalled_ns": 10**9}, "1 stalls of 1000000000 ns together"),
        ({"longest_ns": 1}, "1 stalls of at most 1 ns make"),
        ({"longest_ns": 10**9}, "1 stalls of at most 1000000000 ns make"),
        ({"away_ns": 10**9}, "away for 1000000000 ns of"),
        ({"cpu_ns": 2**62}, "its watch took longer than the whole job"),
    ],
)
def test_a_watch_fits_into_its_time(change: dict[str, int], words: str) -> None:
    job, events = good("watched")
    assert reason(job, events) == ""
    end(events)["watch"].update(change)
    assert words in reason(job, events)


def test_the_lateness_of_a_watch_is_looked_at_too() -> None:
    job, events = good("watched")
    end(events)["watch"]["lateness"]["count"] += 1
    assert "the histogram does not contain the stated 81 values" in reason(job, events)


def test_an_engine_that_does_not_watch_is_believed() -> None:
    job, events = good("watched")
    for number in (0, 1):
        end(events, number).pop("watch")
    assert reason(job, events) == ""


def before(first: int, behind: int, ops: float = 0.5) -> dict[str, Any]:
    return {"from": first, "to": behind, "ops": ops, "bytes": 1.0}


THREE_THOUSAND = kind(end(good("open-loop")[1]))["latency"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e.insert(0, e[-1]), "it sent bye before hello"),
        (lambda e: e.append(e[-1]), "it sent bye twice"),
        (lambda e: e.insert(0, e.pop(2)), "it sent an event of phase 0 before its hello"),
        (lambda e: e.insert(2, e[0]), "it sent hello twice"),
        (lambda e: e.remove(end(e)), "it ended without an error, but phase 0 (write) never ended"),
        (lambda e: e.insert(3, e[2]), "phase 0 began twice, or after a later one"),
        (lambda e: e.append(end(e)), "it sent an event of phase 0 after its bye"),
        (lambda e: end(e).update(operation="read"), "phase 0 (write) ended as read"),
        (lambda e: end(e).update(status="failed"), "it ended without an error, but phase 0 (write) is failed"),
        (lambda e: end(e)["lanes"].append(end(e)["lanes"][0]), "a lane appears twice"),
        (lambda e: end(e)["lanes"][0].update(end_ns=0, start_ns=1), "lane 0 ends before it begins"),
        (lambda e: kind(end(e)).update(ops=10**6), "operations in total"),
        (lambda e: end(e)["first_finisher"].update(ops=257), "contains more than the phase"),
        (lambda e: kind(end(e))["latency"].update(count=257), "does not contain the stated 257 values"),
        (lambda e: kind(end(e))["latency"].update(p50_ns=2**40), "a percentile is greater than a higher one"),
        (lambda e: kind(end(e)).update(latency=None), "256 write operations without latencies"),
        (lambda e: kind(end(e)).update(first_byte=THREE_THOUSAND), "3000 times of first bytes of 256 write operations"),
        (lambda e: kind(end(e)).update(repeated=THREE_THOUSAND), "3000 latencies of repeated fetches of 256 write"),
        (lambda e: e[3].update(earlier=[before(0, 1)]), "in intervals that are not earlier"),
        (
            lambda e: e[3].update(index=9, start_ns=9 * e[3]["start_ns"], earlier=[before(3, 3)]),
            "interval 9 has wrong start or end times",
        ),
        (lambda e: end(e)["operations"].append(kind(end(e))), "write is counted twice"),
        (lambda e: kind(end(e)["lanes"][0]).update(operation="read"), "of all lanes"),
        (lambda e: kind(end(e)["lanes"][0]).update(errors=1), "of all lanes"),
        (lambda e: end(e)["errors"].append(fault(5)), "had 3 failures"),
        (lambda e: end(e)["errors"].append(fault(-5)), "there is no error number -5"),
        (lambda e: end(e)["errors"].append(fault(4096)), "there is no error number 4096"),
        (lambda e: end(e)["errors"].append(fault(99, "http")), "there is no error number 99 of http"),
        (lambda e: end(e)["errors"].append(fault(70, "nfs")), "had 3 failures"),
        (lambda e: e[3].update(start_ns=5), "interval 0 has wrong start or end times"),
        (lambda e: kind(e[3]).update(ops=10**9), "fewer latencies than write operations"),
        (lambda e: kind(e[3]).update(bytes=10**12), "write of all intervals"),
        (lambda e: e[2].update(at_ns=5), "its monotonic clock went backwards"),
        (lambda e: e[0]["job"].update(seed=77), "its hello repeats another job than it was sent: seed differ"),
    ],
)
def test_what_cannot_be_is_told(change: Any, words: str) -> None:
    job, events = good()
    change(events)
    assert words in reason(job, events) and bool(words) == bool(reason(job, events))


def test_what_takes_longer_than_it_was_waited_for_cannot_be() -> None:
    job, events = good()
    end(events)["last_finisher"]["end_ns"] = 10**13
    assert "took 1e+04 s, longer than the whole job" in reason(job, events)


def test_hosts_begin_each_phase_within_the_time_that_all_had() -> None:
    at, most = 1_700_000_000 * 10**9, int(10e9 * (1 + CLOCK_SHARE)) + CLOCK_NS
    check_starts([], 10.0)
    check_starts([{0: at}, {0: at, 1: at}, {0: at + most}], 10.0)
    check_starts([{0: at}, {0: at + 100 * most}], None)
    # Phases are looked at each by itself, and hosts in any order.
    check_starts([{0: at}, {1: at + 2 * most}], 10.0)
    for late in ([{0: at}, {0: at}, {0: at + most + 1}], [{0: at, 1: at + most + 1}, {0: at, 1: at}]):
        with pytest.raises(InvalidEventsError, match=r"began on one host 12\.5 s after it did on another"):
            check_starts(late, 10.0)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**40, float("inf"), float("nan")])
def test_a_number_that_cannot_be_kept_makes_its_line_no_event(number: float) -> None:
    _, events = good()
    kind(end(events))["latency"]["mean_ns"] = number
    end(events)["lanes"][0]["cpu_wait_ns"] = number
    assert isinstance(read_line(json.dumps(end(events))), BrokenLine)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30).map(lambda text: text.replace("\n", " "))
LINES = st.lists(TEXTS | TEXTS.map(lambda text: HOST_LINE_START + text), max_size=5).map(
    lambda told: "".join(f"{line}\n" for line in told)
)
PARTS = st.lists(
    st.builds(HostPart, TEXTS, st.just("ok"), TEXTS, st.integers(-9, 9), st.none() | st.integers(0, 9), LINES)
)


@given(PARTS)
def test_parts_come_back_whatever_engines_say(parts: list[HostPart]) -> None:
    assert split_parts(join_parts(parts)) == parts


@pytest.mark.parametrize("text", ["x\n", HOST_LINE_START + "\n", HOST_LINE_START + '"host":"a","lines":7}\n', "{}\n"])
def test_parts_that_are_none_are_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="host"):
        split_parts(text)


def test_no_histogram_costs_more_than_one_can_have() -> None:
    large = bomb(256 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for text in (large, *histograms()):
        with contextlib.suppress(AssayError):
            hdr.decode(text)
    with pytest.raises(AssayError, match="larger than any histogram"):
        hdr.decode(large)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10


def test_bounds_follow_from_the_job() -> None:
    job, _ = good()
    small = output_bounds(job, 1.0)
    assert small.seconds == MIN_TIMEOUT_SECONDS + ESTIMATE_FACTOR
    assert small.line_bytes < 8 << 20
    timed = job.model_copy(update={"phases": [job.phases[0].model_copy(update={"runtime_ns": 10**12})]})
    assert output_bounds(timed, 0.0).seconds == MIN_TIMEOUT_SECONDS + STATED_TIME_FACTOR * 1000
    assert output_bounds(job.model_copy(update={"lanes": 1024}), 1.0).line_bytes > small.line_bytes
    assert (
        small.bytes_after(0)
        < small.bytes_after(100)
        < small.bytes_after(10**9)
        == small.bytes_after(10**12)
        == small.max_bytes
    )


def test_reads_of_what_was_not_written_are_not_rated() -> None:
    whole = make_sample()
    lacking = make_sample(repeat=2, failed_writes=3)
    assert usable([whole, lacking]) == (whole,)
    (row,) = RowMaker(_run(), judge).rows(make_case(), [whole, lacking], [])
    assert row.verdict is Verdict.INCOMPLETE
    assert "repeat 2 done: 3 writes of the data it reads had failed before" in row.findings[0].text
    assert row.findings[0].numbers["failed_writes_before"] == 3


def _run() -> Any:
    from builders import make_run

    return make_run(repeats=2)


def test_idle_repeats_are_not_rated() -> None:
    idle = make_sample(ops=0, bytes=0, read_bytes=0, iops=0.0)
    assert idle.is_idle and usable([idle]) == ()
    (row,) = RowMaker(_run(), judge).rows(make_case(), [idle], [])
    assert row.verdict is Verdict.INCOMPLETE and "no operation was done" in row.findings[0].text
    assert not make_sample(ops=0, unstarted_ops=5, target_per_s=9.0).is_idle


FAILING = ", errors: [{at_op: 3, errno: 28}]"


@needs_engine
def test_a_read_after_failed_writes_is_incomplete(tmp_path: Path) -> None:
    file = study(tmp_path, kind='"null"', more=FAILING, record="64KiB", repeats=1, operations="write, read")
    text = file.read_text()
    file.write_text(text)
    assay(tmp_path, "run", str(file), expect=1)
    with RunStore.open(only_run(tmp_path)) as store:
        samples = {sample.operation: sample for sample in store.samples()}
        verdicts = {result.operation: (result.verdict, result.finding) for result in store.results()}
    assert samples["write"].failed_operations == 1 and samples["read"].failed_writes == 1
    assert verdicts["read"][0] == "incomplete" and "had failed before" in verdicts["read"][1]


SPOILT = {
    "json_set(document, '$.histogram', 'AAAA')": "the latencies of repeat 2 are left out",
    "json_set(document, '$.latency.mean', NULL)": "its stored data cannot be read",
    "json_set(document, '$.status', 'odd')": "its stored data cannot be read",
    "'[1'": "its stored data cannot be read",
}


@needs_engine
def test_a_stored_run_with_a_repeat_that_cannot_be_read_opens(tmp_path: Path) -> None:
    file = study(tmp_path, record="64KiB", repeats=3)
    assay(tmp_path, "run", str(file))
    run = only_run(tmp_path)
    # A run is named after its study and the second it starts in.
    file.write_text(file.read_text().replace("study: tiny", "study: other"))
    assay(tmp_path, "run", str(file), "--out", "others")
    (other,) = (tmp_path / "others").glob("2*")
    for spoil, words in SPOILT.items():
        with contextlib.closing(sqlite3.connect(run / "run.sqlite")) as database, database:
            database.execute(f"UPDATE samples SET document = {spoil} WHERE repeat = 2 AND phase = 1")
        for command in (
            ("show", "last"),
            ("report", "last"),
            ("export", "last", "--format", "json", "--force"),
            ("list",),
        ):
            assay(tmp_path, *command)
        assay(tmp_path, "compare", str(run), str(other))
        assert words in (run / "report.html").read_text()


@needs_engine
def test_stored_events_that_cannot_be_read_do_not_keep_a_run_from_its_end(tmp_path: Path) -> None:
    import zlib

    assay(tmp_path, "run", str(study(tmp_path, record="64KiB", repeats=2)))
    run = only_run(tmp_path)
    base = next(base for base in bases() if base.name == "good-run")
    spoiled = "\n".join(line.replace("HISTFAAA", "HISTGAAA") for line in base.lines)
    with contextlib.closing(sqlite3.connect(run / "run.sqlite")) as database, database:
        database.execute("UPDATE attempts SET events = ? WHERE repeat = 1", (zlib.compress(spoiled.encode()),))
        database.execute("UPDATE run SET status = 'interrupted'")
    done = assay(tmp_path, "run", "--resume", run.name)
    assert "warning: c0001, repeat 1: its intervals are left out: " in done.stderr
    assert (run / "intervals.csv.gz").is_file()
    assert through(base, spoiled, report=False)[0].status == "crashed"
