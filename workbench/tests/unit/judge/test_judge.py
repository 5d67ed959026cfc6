"""Each of these rules fires on its bad evidence and keeps silent on good; and all rules together."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import MEMORY_PLACE, MIB, MS, make_sample
from judge_tools import (
    LOOP_PLACE,
    NFS_PLACE,
    NULL_PLACE,
    Rule,
    about_names,
    evidence,
    fires,
    lacks_test,
    silent_test,
)
from paths import REPOSITORY

from assay.judge import metadata, open_loop, rules
from assay.judge.judge import judge
from assay.model.result.evidence import Evidence
from assay.model.result.sample import ErrorTally
from assay.model.result.verdict import MEANINGS, PARTLY_CHECKED_MEANING, Finding, Verdict
from assay.model.study.parameters import Parameters

FULL = ErrorTally(
    kind="fault", name="ENOSPC", count=3, example="write /t/f0 at 1048576, 65536 bytes: No space (ENOSPC)"
)


def late(p999_ms: float, mean_us: float = 1, operation: str = "read", queue_depth: int = 1, **fields: Any) -> Evidence:
    """Open loop: delays of starts with that tail; each operation is with the storage for a microsecond."""
    delay = {"mean": mean_us * 1e3, "p99.9": p999_ms * MS}
    latency = {"mean": mean_us * 1e3 + 1000}
    parameters = {"cache": "direct", "queue_depth": queue_depth}
    return evidence(
        operation, parameters=parameters, start_delay=delay, latency=latency, ops=1000, target_per_s=1.0, **fields
    )


def paced(ops: int, seconds: int = 1, **changes: Any) -> Evidence:
    """So many operations in so many seconds, at each of which 1000 were due."""
    fields = {"target_per_s": 1000.0, "ops": ops, "elapsed_ns": seconds * 10**9, "iops": ops / seconds}
    return evidence(**{**fields, **changes})


KEEP, DROP = {"cache": "keep"}, {"cache": "drop"}
UNFLUSHED = {"cache": "keep", "sync": "none"}
DIRECT_UNFLUSHED = {"cache": "direct", "sync": "none"}

AGAIN = about_names(ops=5000)

FIRING: list[tuple[Rule, Verdict, str, Evidence]] = [
    (rules.incomplete, Verdict.INCOMPLETE, "ENOSPC", evidence("write", status="failed", errors=(FULL,))),
    (rules.incomplete, Verdict.INCOMPLETE, "65536 bytes", evidence("write", errors=(FULL,))),
    (rules.incomplete, Verdict.INCOMPLETE, "repeat 1 crashed", evidence(status="crashed")),
    (rules.incomplete, Verdict.INCOMPLETE, "skipped", evidence(status="skipped")),
    (rules.incomplete, Verdict.INCOMPLETE, "2 of 5 repeats missing", evidence(planned=5)),
    (rules.incomplete, Verdict.INCOMPLETE, "refused: no", evidence(planned=4, reasons=("repeat 4 refused: no",))),
    (rules.cached_read, Verdict.CACHED, "75 %", evidence(parameters=DROP, device_read_bytes=4 * MIB)),
    (rules.cached_read, Verdict.CACHED, "100 %", evidence(parameters=KEEP, device_read_bytes=0)),
    (rules.cached_read, Verdict.CACHED, "12 %", evidence(parameters=KEEP, device_read_bytes=14 * MIB)),
    (
        rules.cached_read,
        Verdict.CACHED,
        "twice the memory",
        evidence(parameters=KEEP, device_read_bytes=None, memory_bytes=9 * MIB),
    ),
    (rules.cached_read, Verdict.CACHED, "16.8 MB", evidence(parameters=DROP, device_read_bytes=0, place=NFS_PLACE)),
    (
        rules.cached_read,
        Verdict.CACHED,
        "9.44 MB",
        evidence(parameters={"cache": "limit", "memory_limit": 9 * MIB}, device_read_bytes=None, memory_bytes=1),
    ),
    (rules.direct_read, Verdict.CACHED, "25 %", evidence(device_read_bytes=4 * MIB)),
    (rules.direct_read, Verdict.CACHED, "49 %", evidence(device_read_bytes=int(0.49 * 16 * MIB))),
    (
        rules.direct_read,
        Verdict.CACHED,
        "in one repeat only 25 %",
        evidence(changes=[{}, {"device_read_bytes": 4 * MIB}]),
    ),
    (rules.cached_read, Verdict.CACHED, "; 25 % in the worst", evidence(parameters=KEEP, device_read_bytes=12 * MIB)),
    (
        rules.cached_read,
        Verdict.CACHED,
        "twice the memory",
        evidence(place=NFS_PLACE, parameters=DROP, device_read_bytes=0, changes=[{"cache_done": "dropped"}, {}]),
    ),
    (
        rules.unflushed_write,
        Verdict.CACHED,
        "only 89 % of them have certainly",
        evidence("write", parameters=UNFLUSHED, memory_bytes=11 * MIB, bytes=100 * MIB),
    ),
    (
        rules.unflushed_write,
        Verdict.CACHED,
        "2.1 MB were written without a flush; only 50 %",
        evidence("write", parameters=UNFLUSHED, memory_bytes=MIB, changes=[{"bytes": 2 * MIB}, {}]),
    ),
    (rules.unflushed_write, Verdict.CACHED, "only 0 %", evidence("write", parameters=UNFLUSHED, memory_bytes=None)),
    (
        rules.unflushed_write,
        Verdict.CACHED,
        "the 2.1 MB written with",
        evidence("write", parameters=DIRECT_UNFLUSHED, changes=[{"bytes": 2 * MIB}, {}]),
    ),
    (
        rules.unsustained,
        Verdict.UNSUSTAINED,
        "90 %",
        evidence(target_per_s=1000.0, iops=1000.0, changes=[{"iops": 900.0}, {}]),
    ),
    (
        rules.unsustained,
        Verdict.UNSUSTAINED,
        "95 %",
        evidence("file_mix", target_per_s=1000.0, iops=940.0, steady_iops=950.0, parameters={"files": 9}),
    ),
    (
        rules.unsustained,
        Verdict.UNSUSTAINED,
        "7 due operations never started",
        evidence(target_per_s=1000.0, iops=1000.0, changes=[{"unstarted_ops": 7}, {}]),
    ),
    (
        rules.unsustained,
        Verdict.UNSUSTAINED,
        "0 %",
        evidence(parameters={"arrivals": "poisson"}, target_per_s=1000.0, iops=0.0, ops=0, unstarted_ops=9),
    ),
    (rules.unflushed_write, Verdict.CACHED, "may still be in memory", evidence("write", parameters=UNFLUSHED)),
    (rules.unflushed_write, Verdict.CACHED, "flush", evidence("random_mix", parameters=UNFLUSHED, write_bytes=8 * MIB)),
    (rules.unflushed_write, Verdict.CACHED, "device's volatile cache", evidence("write", parameters=DIRECT_UNFLUSHED)),
    (
        rules.unflushed_write,
        Verdict.CACHED,
        "device's volatile cache",
        evidence("write", parameters=DIRECT_UNFLUSHED, memory_bytes=1),
    ),
    # What the loop device counts is what it delivered, not what its storage did.
    (rules.cached_read, Verdict.CACHED, "/dev/loop7", evidence(place=LOOP_PLACE)),
    (rules.cached_read, Verdict.CACHED, "/dev/loop7", evidence(place=LOOP_PLACE, device_read_bytes=0)),
    (
        rules.cached_read,
        Verdict.CACHED,
        "/dev/loop7",
        evidence(place=LOOP_PLACE, parameters={"cache": "evict"}, cache_done="evicted"),
    ),
    (
        rules.cached_read,
        Verdict.CACHED,
        "1.07 GB",
        evidence(place=LOOP_PLACE, parameters={"cache": "limit", "memory_limit": MIB}),
    ),
    (
        rules.unflushed_write,
        Verdict.CACHED,
        "may still be in memory",
        evidence("write", parameters=DIRECT_UNFLUSHED, place=LOOP_PLACE),
    ),
    (rules.unsustained, Verdict.UNSUSTAINED, "90 % of the requested 1,000 operations/s", paced(900)),
    (rules.unsustained, Verdict.UNSUSTAINED, "99 %", paced(989)),
    (rules.unsustained, Verdict.UNSUSTAINED, "49 %", paced(989, seconds=2)),
    (rules.unsustained, Verdict.UNSUSTAINED, "7 due operations never started", paced(1000, unstarted_ops=7)),
    # In 10,000 operations chance is 3 %.
    (rules.unsustained, Verdict.UNSUSTAINED, "96 %", paced(9590, 10, parameters={"arrivals": "poisson"})),
    # A phase that is all flush has the rate that it has.
    (rules.unsustained, Verdict.UNSUSTAINED, "50 %", paced(1000, flush_ns=10**9, iops=500.0)),
    (rules.unstable, Verdict.UNSTABLE, "the 95 % interval of 3 repeats is", evidence(speeds=(100e6, 130e6, 80e6))),
    (rules.unstable, Verdict.UNSTABLE, " operations/s", about_names(rates=(50e3, 30e3, 70e3))),
    (metadata.cached_names, Verdict.CACHED, "all of the operations", about_names(device_read_bytes=0)),
    # Each name five times, where the kernel does not tell what was fetched, or enough for all of them was.
    (metadata.cached_names, Verdict.CACHED, "80 % of the operations looked up a name again", AGAIN),
    (metadata.cached_names, Verdict.CACHED, "1,000 names, each 5 times", replace(AGAIN, place=LOOP_PLACE)),
    # 1000 operations, and at most 6400 / 64 names that were fetched.
    (metadata.cached_names, Verdict.CACHED, "90 %", about_names(device_read_bytes=6400)),
    (metadata.cached_names, Verdict.CACHED, "75 %", about_names("open", device_read_bytes=16_000)),
    # One directory of 1000 names is at least 8000 bytes.
    (metadata.cached_names, Verdict.CACHED, "50 %", about_names("readdir", device_read_bytes=32_000, ops=8)),
    (
        metadata.cached_names,
        Verdict.CACHED,
        "98 %",
        about_names(cache_done="dropped", device_read_bytes=64_000, ops=50_000),
    ),
    (metadata.unflushed_names, Verdict.CACHED, "1,000 changes", about_names("rename", parameters={"sync": "none"})),
    (open_loop.late_engine, Verdict.CLIENT_BOUND, "started 5 ms late", late(5)),
    (open_loop.late_engine, Verdict.CLIENT_BOUND, "1 ms at most", late(2, queue_depth=8, method="io_uring")),
]

SILENT: list[tuple[Rule, Evidence]] = [
    (rules.incomplete, evidence()),
    (
        rules.unsustained,
        evidence("file_mix", target_per_s=1000.0, iops=940.0, steady_iops=999.0, parameters={"files": 9}),
    ),
    (rules.incomplete, evidence(status="time_limit")),
    (rules.cached_read, evidence(parameters=DROP)),
    (rules.cached_read, evidence(parameters=KEEP)),
    (rules.cached_read, evidence(parameters=DROP, device_read_bytes=15 * MIB)),
    (rules.cached_read, evidence(device_read_bytes=0)),
    (rules.cached_read, evidence("write", parameters=KEEP, device_read_bytes=0)),
    (rules.cached_read, evidence(parameters=KEEP, device_read_bytes=None, memory_bytes=8 * MIB)),
    (rules.cached_read, evidence(parameters=KEEP, device_read_bytes=0, place=NULL_PLACE)),
    (rules.direct_read, evidence()),
    (rules.direct_read, evidence(device_read_bytes=8 * MIB)),
    (rules.cached_read, evidence(parameters=KEEP, bytes=10 * MIB, device_read_bytes=9 * MIB)),
    (rules.unflushed_write, evidence("write", parameters=UNFLUSHED, memory_bytes=MIB, bytes=10 * MIB)),
    (rules.unflushed_write, evidence("write", parameters=UNFLUSHED, memory_bytes=None, status="failed")),
    (rules.direct_read, evidence(parameters=KEEP, device_read_bytes=0)),
    (rules.direct_read, evidence(place=NULL_PLACE, device_read_bytes=0)),
    (rules.unflushed_write, evidence("write", parameters=KEEP)),
    (rules.unflushed_write, evidence("write", parameters={"cache": "direct", "sync": "o_dsync"})),
    (rules.unflushed_write, evidence("write", parameters=DIRECT_UNFLUSHED, place=NULL_PLACE)),
    (rules.unflushed_write, evidence("read", parameters=DIRECT_UNFLUSHED)),
    (rules.unflushed_write, evidence("write", place=LOOP_PLACE)),
    (rules.cached_read, evidence(place=LOOP_PLACE, memory_bytes=8 * MIB)),
    (rules.direct_read, evidence(place=LOOP_PLACE, device_read_bytes=0)),
    (rules.unflushed_write, evidence("read", parameters=UNFLUSHED)),
    (rules.unflushed_write, evidence("write", parameters=UNFLUSHED, memory_bytes=MIB)),
    (rules.unflushed_write, evidence("write", parameters=UNFLUSHED, place=NULL_PLACE)),
    (rules.unsustained, evidence()),
    (rules.unsustained, paced(990)),
    (rules.unsustained, paced(9610, 10, parameters={"arrivals": "poisson"})),
    # No operation is due while the file is flushed.
    (rules.unsustained, paced(990, seconds=2, flush_ns=10**9)),
    (rules.unsustained, paced(10, status="failed")),
    (rules.unstable, evidence(speeds=(100e6, 109e6, 92e6))),
    (rules.unstable, about_names(rates=(50e3, 52e3, 54e3))),
    (rules.cached_read, about_names(device_read_bytes=0)),
    (rules.direct_read, about_names(device_read_bytes=0)),
    (rules.unflushed_write, about_names("create", parameters={"sync": "none"})),
    (metadata.cached_names, about_names(device_read_bytes=0, place=NULL_PLACE)),
    (metadata.cached_names, about_names("create", device_read_bytes=0)),
    (metadata.cached_names, evidence(parameters={"cache": "keep"}, device_read_bytes=0)),
    (metadata.unflushed_names, about_names("create")),
    (metadata.unflushed_names, about_names("stat", parameters={"sync": "none"})),
    (metadata.unflushed_names, about_names("create", parameters={"sync": "none"}, place=NULL_PLACE)),
    (metadata.unflushed_names, evidence("write", parameters={"cache": "keep", "sync": "none"})),
    (open_loop.late_engine, evidence()),
    # Not late enough to matter; explained by a storage that was busy for 1000 x 1 us; a mean too uncertain to tell.
    (open_loop.late_engine, late(0.9)),
    (open_loop.late_engine, late(1.0, mean_us=10)),
    (open_loop.late_engine, late(5, mean_us=4000)),
    # Slots that may not have been used do not count.
    (open_loop.late_engine, late(1.002, queue_depth=8, method="sync", mean_us=10)),
]

UNANSWERED: list[tuple[Rule, str, Evidence]] = [
    (
        rules.cached_read,
        "storage under test is memory",
        evidence(parameters=KEEP, device_read_bytes=0, place=MEMORY_PLACE),
    ),
    (rules.cached_read, "does not report", evidence(parameters=DROP, device_read_bytes=None, cache_done="dropped")),
    (rules.cached_read, "unknown", evidence(parameters=KEEP, device_read_bytes=None, memory_bytes=None)),
    (rules.cached_read, "emptied", evidence(place=LOOP_PLACE, parameters=DROP, cache_done="dropped")),
    (rules.cached_read, "/dev/loop7", evidence(place=LOOP_PLACE, memory_bytes=None)),
    (
        rules.unflushed_write,
        "storage under test is memory",
        evidence("write", parameters=DIRECT_UNFLUSHED, place=MEMORY_PLACE),
    ),
    (rules.direct_read, "does not report", evidence(device_read_bytes=None)),
    (rules.direct_read, "does not report", evidence(device_read_bytes=0, place=NFS_PLACE)),
    (
        rules.unflushed_write,
        "storage under test is memory",
        evidence("write", parameters=UNFLUSHED, place=MEMORY_PLACE),
    ),
    (rules.unstable, "needs 3 repeats, has 2", evidence(speeds=(100e6, 105e6))),
    (metadata.cached_names, "may hold them all", about_names()),
    # Servers and programs may be asked again, and memory may be too small.
    (metadata.cached_names, "does not report", replace(AGAIN, place=NFS_PLACE)),
    (metadata.cached_names, "may hold them all", replace(AGAIN, memory_bytes=100_000)),
    # Each lane has files of its own, in one tree or in several.
    (metadata.cached_names, "may hold them all", about_names(ops=5000, parameters={"lanes": 5, "layout": "shared"})),
    (metadata.cached_names, "after they were emptied", about_names(cache_done="dropped")),
    (metadata.cached_names, "does not report", about_names(device_read_bytes=None)),
    (metadata.cached_names, "does not report", about_names(device_read_bytes=5, place=NFS_PLACE)),
    (metadata.cached_names, "does not report", about_names(device_read_bytes=0, cache_done="dropped")),
    (metadata.cached_names, "does not report", about_names(device_read_bytes=0, place=LOOP_PLACE)),
    (metadata.cached_names, "storage under test is memory", about_names(device_read_bytes=0, place=MEMORY_PLACE)),
    (
        metadata.unflushed_names,
        "storage under test is memory",
        about_names("create", parameters={"sync": "none"}, place=MEMORY_PLACE),
    ),
    (metadata.unflushed_names, "but not names", about_names("create", parameters={"sync": "o_sync"})),
]


@pytest.mark.parametrize(("rule", "verdict", "words", "bad"), FIRING)
def test_fires(rule: Rule, verdict: Verdict, words: str, bad: Evidence) -> None:
    fires(rule, verdict, words, bad)
    assert judge(bad)[0] is verdict


test_keeps_silent = silent_test(SILENT)
test_says_what_it_lacks = lacks_test(UNANSWERED)


@pytest.mark.parametrize(
    ("operations", "parameters", "said"),
    [
        (("write", "read"), {"cache": "keep", "record_size": 4096}, True),
        (("write", "rewrite", "read"), {"cache": "keep", "record_size": 65536}, True),
        # Laid out by `prepare`, in large writes; after the read; in large writes; not from memory as they left it.
        (("read",), {"cache": "keep", "record_size": 4096}, False),
        (("read", "write"), {"cache": "keep", "record_size": 4096}, False),
        (("write", "read"), {"cache": "keep", "record_size": MIB}, False),
        (("write", "read"), {"cache": "drop", "record_size": 4096}, False),
        (("write", "read"), {"cache": "keep", "record_size": 4096, "method": "mmap"}, False),
    ],
)
def test_a_cached_read_says_how_the_pages_came_there(
    operations: tuple[str, ...], parameters: dict[str, Any], said: bool
) -> None:
    read = evidence(parameters=parameters, device_read_bytes=0)
    finding = rules.cached_read(replace(read, case=read.case.model_copy(update={"operations": operations})))
    assert isinstance(finding, Finding)
    assert ("pages in memory are those that writes of" in finding.text) is said


def test_a_cached_read_is_found_also_where_what_a_remark_needs_was_not_told() -> None:
    read = evidence(parameters={"cache": "keep", "record_size": 4096}, device_read_bytes=0)
    told = {name: value for name, value in read.case.parameters.__dict__.items() if name not in ("method",)}
    case = read.case.model_copy(update={"operations": ("write", "read"), "parameters": Parameters.partial(**told)})
    finding = rules.cached_read(replace(read, case=case))
    assert isinstance(finding, Finding) and "pages in memory" not in finding.text


def test_every_rule_here_is_tested() -> None:
    here = {rule for rule in rules.RULES if rule.__module__ in (rules.__name__, metadata.__name__, open_loop.__name__)}
    assert {rule for rule, *_ in FIRING} == {rule for rule, *_ in SILENT} == here
    assert {rule for rule, *_ in UNANSWERED} <= here
    # Each of the others has a file of tests of its own, which says so of its module.
    others = {rule.__module__.rsplit(".", 1)[1] for rule in set(rules.RULES) - here}
    assert others == {
        path.stem.removeprefix("test_judge_") for path in Path(__file__).parent.glob("test_judge_*.py")
    } - {"any", "large", "words"}


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_every_rule_states_its_source(rule: Rule) -> None:
    assert any(line.strip().startswith("Source: ") for line in (rule.__doc__ or "").splitlines())


@pytest.mark.parametrize("operation", ["read", "write", "random_read", "random_mix", "fwrite"])
def test_good_evidence_is_ok_and_every_rule_can_be_evaluated(operation: str) -> None:
    assert judge(evidence(operation)) == (Verdict.OK, (), ())


def test_without_the_new_evidence_the_rules_that_need_it_say_so() -> None:
    poor = evidence(
        ceilings=(),
        course=None,
        block=None,
        cpus=0,
        cpu_wait_ns=None,
        host_stolen_ns=None,
        latency={},
        lane_balance=None,
        watch=None,
    )
    verdict, findings, not_evaluated = judge(poor)
    assert (verdict, findings) == (Verdict.OK, ())
    assert [each.rule for each in not_evaluated] == [
        "impossible",
        "later_passes",
        "no_steady_state",
        "throttled",
        "bursting",
        "contended",
        "engine_bound",
        "busy_client",
        "starved_client",
        "stopped_engine",
    ]


@pytest.mark.parametrize("operation", ["create", "rename", "unlink", "mkdir", "rmdir", "stat"])
def test_good_evidence_about_names_is_ok(operation: str) -> None:
    verdict, findings, _ = judge(about_names(operation))
    assert (verdict, findings) == (Verdict.OK, ())


def test_a_study_that_asks_for_a_width_gets_it_or_is_told() -> None:
    speeds = (100e6, 104e6, 108e6)
    reach = evidence(speeds=speeds).estimate.relative_reach  # type: ignore[union-attr]
    assert reach is not None and 0.05 < reach < 0.12
    assert rules.unstable(evidence(speeds=speeds)) is None
    assert rules.unstable(evidence(speeds=speeds, within=reach + 0.001)) is None
    found = fires(rules.unstable, Verdict.UNSTABLE, "% was requested", evidence(speeds=speeds, within=reach - 0.001))
    assert found.numbers["interval_reach"] == reach
    # As long as repeats are missing, the interval is not the last word; then `incomplete` speaks.
    assert rules.unstable(evidence(speeds=speeds, within=0.01, planned=4)) is None


def test_one_repeat_in_which_the_engine_stood_still_is_told() -> None:
    def stood(ms: float, mean_us: float = 1000) -> Evidence:
        delays = [{"mean": mean_us * 1e3, "p99.9": 0.5 * MS, "max": each * MS} for each in (0.6, ms, 0.7)]
        changes = [{"start_delay": delay, "latency": {"mean": delay["mean"] + 99_000}} for delay in delays]
        return evidence(changes=changes, ops=1000, target_per_s=1.0)

    found = fires(
        open_loop.late_engine, Verdict.CLIENT_BOUND, "in 1 of 3 repeats the engine or its machine", stood(300)
    )
    assert found.numbers["start_delay_max_ns"] == 300 * MS
    # Not so long, or no longer than the storage may have taken.
    assert open_loop.late_engine(stood(99.9)) is None
    assert open_loop.late_engine(stood(100)) is None
    assert open_loop.late_engine(stood(300, mean_us=1e6)) is None


def test_findings_come_worst_first() -> None:
    idle = {"read_bytes": 0, "reads": 0}
    both = evidence(parameters=KEEP, speeds=(100e6, 300e6, 50e6), device_read_bytes=0, block=idle, planned=4)
    verdict, findings, _ = judge(both)
    assert verdict is Verdict.INCOMPLETE
    assert [finding.verdict for finding in findings] == [Verdict.INCOMPLETE, Verdict.CACHED, Verdict.UNSTABLE]


def test_nothing_at_all_is_incomplete() -> None:
    verdict, findings, _ = judge(evidence(samples=(), planned=3, reasons=("repeat 1 crashed: killed",)))
    assert verdict is Verdict.INCOMPLETE
    assert "3 of 3 repeats missing (repeat 1 crashed: killed)" in findings[0].text


def test_one_cached_repeat_among_many_counts() -> None:
    samples = tuple(make_sample(repeat=number) for number in range(1, 11))
    samples = (*samples, make_sample(repeat=11, device_read_bytes=0))
    found = rules.cached_read(evidence(parameters=DROP, samples=samples))
    assert isinstance(found, Finding)
    assert found.numbers["memory_share"] == pytest.approx(1 / 11)
    assert found.numbers["worst_memory_share"] == 1.0


def test_every_verdict_has_a_sentence_of_its_own() -> None:
    assert list(MEANINGS) == list(Verdict)
    sentences = [meaning.sentence for meaning in (*MEANINGS.values(), PARTLY_CHECKED_MEANING)]
    assert len(set(sentences)) == len(sentences) and all(sentence.endswith(".") for sentence in sentences)


def test_each_section_of_the_method_that_source_cites_exists() -> None:
    headings = set(re.findall(r"^## (.+)$", (REPOSITORY / "docs" / "method.md").read_text(), re.MULTILINE))
    texts = [path.read_text() for path in (REPOSITORY / "workbench" / "src" / "assay").rglob("*.py")]
    cited = {name for text in texts for found in CITED.findall(text) for name in found.split(" and ")}
    assert "Caches" in cited and cited <= headings


CITED = re.compile(r"docs/method\.md, (\w+(?: and \w+)*)")
