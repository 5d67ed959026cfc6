"""Ceilings: the jobs that measure them, which results they apply to, and what is kept for `assay show`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from builders import (
    MEMORY_PLACE,
    MIB,
    NO_STORAGE_PLACE,
    make_analysis,
    make_case,
    make_ceiling,
    make_meta,
    make_place,
    make_sample,
)
from hypothesis import given
from hypothesis import strategies as st
from operations import ON_ONE_FILE
from plan_tools import backend, load, study, written
from run_tools import ENGINE, assay, needs_engine

from assay.analyse.ceilings import Ceilings, Pass, client_ceilings, measured_ceilings
from assay.model.result.brief_result import summarise
from assay.model.result.ceiling import HOST_WIDE, Ceiling, CeilingName, CeilingShare
from assay.model.result.result import CEILING_TOLERANCE, Estimate
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.case import Case, job_kind
from assay.model.study.names import DATA, METADATA, MIXES, READS
from assay.model.study.parameters import Parameters
from assay.plan import ceilings as plan
from assay.plan import device_ceilings as device
from assay.plan.client_ceilings import client_jobs
from assay.plan.expand import expand
from assay.store import RunStore

BEFORE = Pass(1.8e9, "before")
COMMON: dict[str, Any] = {
    "lanes": st.integers(1, 64),
    "queue_depth": st.integers(1, 256),
    "file_size": st.integers(0, 1 << 40),
    "cache": st.sampled_from(["direct", "keep", "drop"]),
    "verify": st.booleans(),
    "compressible": st.integers(0, 100),
    "duplicate": st.integers(0, 100),
    "read_percent": st.integers(0, 100),
}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any case, of data or of names."""
    fields = {name: draw(strategy) for name, strategy in COMMON.items()}
    if draw(st.booleans()):
        operations, fields["record_size"] = DATA, draw(st.integers(1, 1 << 30))
    else:
        operations, fields["files"] = METADATA, draw(st.integers(1, 10**6))
    chosen = draw(st.lists(st.sampled_from(operations), min_size=1, max_size=4))
    return make_case(operations=tuple(chosen), **{"record_size": None, "cache": "keep", **fields})


# The jobs.


@given(cases())
def test_every_operation_that_is_not_verified_has_a_kind_of_job(case: Case) -> None:
    for operation in case.operations:
        kind = job_kind(case.parameters, operation)
        checked = operation in READS and case.parameters.verify
        assert (kind is None) == (checked or operation == "file_mix")
        if kind is not None and not (operation in READS and operation not in MIXES):
            bigger = case.parameters.model_copy(update={"lanes": case.parameters.lanes + 1})
            assert job_kind(bigger, operation) != kind


def planned(data: dict[str, Any]) -> list[plan.CeilingJob]:
    found = load(data)
    assert found.study is not None, found.problems
    jobs, left_out = plan.engine_jobs(found.study, expand(found.study).cases)
    assert left_out == 0
    return jobs


def accepted(job: plan.CeilingJob) -> None:
    """The engine takes the job."""
    text = job.job.model_dump_json() + "\n"
    done = subprocess.run([ENGINE, "check", "-"], input=text, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, (done.stderr, text)
    assert job.phases and max(job.phases) < len(job.job.phases)


@needs_engine
@pytest.mark.parametrize("operations", [list(ON_ONE_FILE), list(METADATA)], ids=["data", "names"])
def test_engine_accepts_the_jobs_without_storage(operations: list[str]) -> None:
    data = written(w_operations=operations, w_lanes=[1, 3], w_record_size=["4KiB", "1MiB"], w_compressible=20)
    workload = data["workloads"]["w"]
    if operations[0] in METADATA:
        workload |= {"files": 100, "file_size": ["0B", "4KiB"]}
        del workload["record_size"]
    jobs = planned(data)
    assert len({job.kind for job in jobs}) == len(jobs)
    assert {job.job.lanes for job in jobs} == {1, 3}
    for job in [*jobs, *plan.copy_jobs(2)]:
        accepted(job)
        measured = {number for number, phase in enumerate(job.job.phases) if phase.measured}
        assert set(job.phases) == measured


@needs_engine
@pytest.mark.parametrize("direct", [True, False])
def test_engine_accepts_the_jobs_at_a_place(direct: bool) -> None:
    found = study()
    place = backend(
        direct=direct,
        direct_bypasses_cache=direct,
        place={"path": "/tmp/x", "filesystem": "ext4", "free_bytes": 1 << 40, "limits": []},
    )
    first = device.writing_job(found, "disk", place, destroy=False)
    assert isinstance(first, plan.CeilingJob)
    cases = expand(study(w_queue_depth=[1, 32], w_record_size=["4KiB", "1MiB"], w_cache="direct")).cases
    ways = (device.large_request_kinds(cases), device.small_request_kinds(cases, 2))
    rest = device.device_jobs(found, "disk", place, 128 * MIB, ways, 2, destroy=False)
    jobs = [first, *rest, device.page_cache_job(found, "disk", 128 * MIB, 2, destroy=False)]
    for job in jobs:
        accepted(job)
    names = {name for job in jobs for name in job.phases.values()}
    random = {"device random read", "device random write"}
    always = {"device read", "device write", "device rewrite", "page cache read"}
    assert names == always | (random if direct else set())
    # Only the last one removes the file.
    assert [job.job.keep_files for job in jobs] == [True] * (len(jobs) - 1) + [False]


@needs_engine
@pytest.mark.parametrize(
    ("operation", "name", "fields"),
    [
        ("write", "device write", {"w_cache": "direct"}),
        ("fwrite", "device write", {"w_cache": "keep"}),
        ("random_write", "device rewrite", {"w_cache": "direct", "w_lanes": 3, "w_layout": "shared"}),
        ("rewrite", "device rewrite", {"w_cache": "direct", "w_lanes": 2, "w_queue_depth": 8}),
        ("stride_read", "device read", {"w_cache": "drop", "w_lanes": 2}),
        ("random_read", "device random read", {"w_cache": "direct", "w_record_size": "4KiB"}),
    ],
)
def test_engine_accepts_the_job_that_measures_the_way_of_a_result(
    operation: str, name: Any, fields: dict[str, Any]
) -> None:
    shape = {"w_operations": [operation], "w_file_size": "96MiB", "w_record_size": "64KiB", **fields}
    found = study(**shape)
    (case,) = expand(found).cases
    job = device.remeasure_job(found, case, operation, name, 64 * MIB, destroy=False)
    assert job is not None
    accepted(job)
    files = job.job.lanes if case.parameters.layout == "separate" else 1
    assert job.job.file_size_bytes * files <= 64 * MIB
    assert set(job.phases.values()) == {name}
    assert device.remeasure_job(found, case, operation, name, 4096, destroy=False) is None or operation == "random_read"


SERVICES = {
    "s3": ({"kind": "s3", "bucket": "my-bench", "endpoint": "http://h:9"}, {"part_size": "5MiB", "range": "1KiB"}),
    "dynamodb": ({"kind": "dynamodb", "table": "my-bench", "endpoint": "http://h:9", "max_requests": 5}, {"batch": 7}),
}


@needs_engine
@pytest.mark.parametrize("kind", list(SERVICES))
def test_clients_are_measured_with_one_lane_at_a_service_of_the_engine(kind: str) -> None:
    target, more = SERVICES[kind]
    does = {
        "s3": ["put", "get", "head", "list", "copy", "delete", "multi_delete"],
        "dynamodb": ["put", "get", "update", "delete", "batch_put", "batch_get"],
    }
    data = written(w_operations=does[kind], w_lanes=[1, 3], w_object_size=["4KiB", "64KiB"], w_verify=False)
    workload = data["workloads"]["w"]
    del workload["record_size"], workload["file_size"]
    workload |= more
    data["targets"] = {"cloud": target, "again": target}
    found = load(data)
    assert found.study is not None, found.problems
    cases = expand(found.study).cases
    jobs, left_out = client_jobs(found.study, cases, 1000)
    assert plan.engine_jobs(found.study, cases) == ([], 0) and left_out == 0
    asked = {(case.target, job_kind(case.parameters, name)) for case in cases for name in case.operations}
    assert {(job.target, kind) for job in jobs for kind in job.kind_by_lanes.values()} == asked
    for job in jobs:
        assert job.job.lanes == 1 and sorted(job.kind_by_lanes) == [1, 3]
        assert "my-bench" not in job.job.model_dump_json() and "http" not in job.job.model_dump_json()
        accepted(job)
    assert len(client_jobs(found.study, cases, 3)[0]) == 3
    several = [
        case.model_copy(update={"parameters": case.parameters.model_copy(update={"hosts": 2})}) for case in cases
    ]
    assert client_jobs(found.study, several, 1000) == ([], 0)


def test_a_client_can_do_what_its_cpu_time_allows() -> None:
    passes = [make_sample(ops=ops, cpu_user_ns=3 * 10**7, cpu_system_ns=10**7, cpus=4) for ops in (400, 800, 900)]
    passes.append(make_sample(ops=10**6, cpu_user_ns=1, cpu_system_ns=0, cpus=4, status="failed"))
    found = client_ceilings("cloud", {1: "one", 3: "three", 16: "many"}, passes, "how", BEFORE)
    assert [(item.kind, item.value) for item in found] == [("one", 20_000), ("three", 60_000), ("many", 80_000)]
    (none,) = client_ceilings("cloud", {1: "one"}, [], "how", BEFORE, "stopped")
    assert (none.value, none.reason) == (None, "stopped")


def test_ways_are_those_that_keep_most_in_flight() -> None:
    cases = expand(study(w_queue_depth=[1, 4, 32], w_record_size=["4KiB", "1MiB"], w_cache="direct", w_lanes=2)).cases
    small, large = device.small_request_kinds(cases, 2), device.large_request_kinds(cases)
    assert [(way.lanes, way.depth) for way in small] == [(2, 64), (2, 32)]
    # The last two are the study's.
    assert [(way.lanes, way.depth) for way in large] == [(1, 16), (1, 1), (2, 32), (2, 4)]
    buffered = expand(study(w_queue_depth=32, w_record_size="1MiB", w_cache="keep")).cases
    assert len(device.large_request_kinds(buffered)) == 2
    assert device.DEEP_REQUESTS.words == "1 MiB, O_DIRECT, 16 in flight"


def test_kinds_beyond_the_most_are_counted() -> None:
    found = study(w_lanes={"from": 1, "to": 101, "step": 1}, w_operations=["read"])
    jobs, left_out = plan.engine_jobs(found, expand(found).cases)
    assert (len(jobs), left_out) == (plan.MAX_KINDS, 1)


def test_too_little_space_is_a_reason() -> None:
    place = backend(place={"path": "/tmp/x", "filesystem": "ext4", "free_bytes": 60 * MIB, "limits": []})
    found = device.writing_job(study(), "disk", place, destroy=False)
    assert isinstance(found, Ceiling)
    assert (found.value, found.reason) == (None, "less than 64 MiB are free")


# From passes to ceilings, from ceilings to what a result is close to.


def test_the_best_pass_is_the_ceiling_and_failed_ones_do_not_count() -> None:
    passes = [make_sample(throughput=rate, phase=phase) for phase, rate in enumerate((3e8, 5e8, 9e8))]
    passes[2] = passes[2].model_copy(update={"status": "failed"})
    (found,) = measured_ceilings("disk", dict.fromkeys(range(3), "device read"), passes, "how", BEFORE)
    assert (found.value, found.lowest, found.reason) == (5e8, 3e8, "")
    (missing,) = measured_ceilings(
        "disk", {0: "device read"}, passes[2:], "how", BEFORE, reason="the engine was killed"
    )
    assert (missing.value, missing.lowest, missing.reason) == (None, None, "the engine was killed")


@pytest.mark.parametrize(("name", "busy"), [("cache copy", True), ("engine", True), ("device read", False)])
def test_other_programs_take_time_from_a_try_and_not_from_what_a_cpu_does(name: CeilingName, busy: bool) -> None:
    """Two lanes of two CPUs that had a third of them copy three times as much when they have all."""
    sample = make_sample(throughput=1e9, iops=1e6, elapsed_ns=60_000_000, cpu_user_ns=40_000_000, cpus=2)
    (found,) = measured_ceilings("", {0: name}, [sample], "how", BEFORE, lanes=2)
    assert found.value == pytest.approx((1e6 if name == "engine" else 1e9) * (3 if busy else 1))
    (idle,) = measured_ceilings("", {0: name}, [sample.model_copy(update={"cpu_user_ns": 0})], "how", BEFORE, lanes=2)
    assert idle.value == (1e6 if name == "engine" else 1e9), "where CPU time is not known, the rate is what counts"


def test_a_copy_from_the_cache_that_is_slower_than_one_from_memory_holds_nothing() -> None:
    memory = make_ceiling("memory copy", 8e9, target=HOST_WIDE)
    names = []
    for value in (9e9, 8e8):
        known = Ceilings((memory, make_ceiling("cache copy", value, target=HOST_WIDE)))
        rate = Estimate(median=1e9, low=None, high=None, n=1, spread=None)
        case = make_case(operations=("read",), cache="keep")
        found = known.bindings(case, "read", MEMORY_PLACE.model_copy(update={"target": "disk"}), rate, rate)
        names.append({item.name for item in found})
    assert "cache copy" in names[0] and "cache copy" not in names[1]


ALL = tuple(
    make_ceiling(name, 1e9, target=HOST_WIDE if name in ("memory copy", "cache copy") else "disk")
    for name in (
        *("memory copy", "cache copy", "page cache read", "device read", "device write", "device rewrite"),
        *(
            "device random read",
            "device random write",
            "stated read",
            "stated write",
            "stated read IOPS",
            "stated write IOPS",
            "link",
        ),
    )
)


def names_of(operation: str, place: TargetPlace | None = None, **parameters: Any) -> set[str]:
    case = make_case(operations=(operation,), **parameters)
    rate = Estimate(median=1e8, low=None, high=None, n=1, spread=None)
    found = Ceilings(ALL).bindings(case, operation, place or make_place(), rate, rate)
    return {binding.name for binding in found}


STATED_READ, STATED_WRITE = {"stated read", "stated read IOPS", "link"}, {"stated write", "stated write IOPS", "link"}
COPIES, LARGE = {"memory copy", "cache copy"}, {"file_size": 64 * MIB}


@pytest.mark.parametrize(
    ("operation", "parameters", "expected"),
    [
        ("read", {}, STATED_READ | {"device read"}),
        ("random_read", {"record_size": 4096}, STATED_READ | {"device read", "device random read"}),
        ("random_read", {"record_size": MIB}, STATED_READ | {"device read"}),
        ("write", {}, STATED_WRITE | {"device write"}),
        ("write", {"preallocate": True}, STATED_WRITE | {"device rewrite"}),
        ("rewrite", {}, STATED_WRITE | {"device rewrite"}),
        ("random_write", {"record_size": 4096}, STATED_WRITE | {"device rewrite", "device random write"}),
        ("random_mix", {}, STATED_READ | STATED_WRITE),
        ("read", {"cache": "drop"}, STATED_READ | {"cache copy", "page cache read", "device read"}),
        ("read", {"cache": "drop", **LARGE}, STATED_READ | COPIES | {"page cache read", "device read"}),
        ("read", {"cache": "keep", **LARGE}, STATED_READ | COPIES | {"page cache read"}),
        ("write", {"cache": "keep", "sync": "none", **LARGE}, STATED_WRITE | COPIES),
        ("write", {"cache": "keep", "sync": "fsync", **LARGE}, STATED_WRITE | COPIES | {"device write"}),
        ("stat", {}, set()),
    ],
)
def test_which_ceilings_apply(operation: str, parameters: dict[str, Any], expected: set[str]) -> None:
    assert names_of(operation, **{"cache": "direct", **parameters}) == expected


def test_of_a_mix_reads_are_held_against_reads_and_writes_against_writes() -> None:
    rate = Estimate(median=1e8, low=None, high=None, n=1, spread=None)
    case = make_case(operations=("random_mix",), cache="direct", read_percent=70)
    found = {item.name: item.share for item in Ceilings(ALL).bindings(case, "random_mix", make_place(), rate, rate)}
    shares = {"stated read": 0.07, "stated read IOPS": 0.07, "stated write": 0.03, "stated write IOPS": 0.03}
    assert {name: found[name] for name in shares} == pytest.approx(shares)
    assert names_of("random_mix", read_percent=100) == STATED_READ
    assert names_of("random_mix", read_percent=0) == STATED_WRITE


def test_no_device_holds_what_is_in_memory_and_nothing_the_null_target() -> None:
    memory = MEMORY_PLACE.model_copy(update={"target": "disk"})
    assert names_of("read", memory, **LARGE) == STATED_READ | COPIES | {"page cache read"}
    assert names_of("read", NO_STORAGE_PLACE) == STATED_READ


def test_engine_ceiling_is_that_of_the_same_kind_of_job() -> None:
    case = make_case(lanes=2)
    kinds = (job_kind(case.parameters, "read") or "", job_kind(Parameters(file_size=1, record_size=1), "read") or "")
    pairs = zip((4e3, 9e9), kinds, strict=True)
    known = [make_ceiling("engine", value, target=HOST_WIDE, kind=kind) for value, kind in pairs]
    rate = Estimate(median=1e3, low=None, high=None, n=1, spread=None)
    (found,) = Ceilings(known).bindings(case, "read", make_place(), None, rate)
    assert (found.name, found.unit, found.share) == ("engine", "operations/s", 0.25)


ROW = make_analysis().rows[1]


def finding(verdict: Verdict, **numbers: float) -> Finding:
    return Finding(verdict=verdict, rule=verdict.value, text="seen", remedy="do this", numbers=numbers)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5, unique=True), st.data())
def test_binding_is_the_closest_but_a_cached_result_is_not_held_by_what_it_went_around(
    shares: list[float], data: st.DataObject
) -> None:
    items = tuple(
        CeilingShare(name="device read", unit="bytes/s", value=1.0, measured=share, share=share, how="")
        for share in sorted(shares, reverse=True)
    )
    row = ROW.model_copy(update={"ceilings": items})
    assert row.limiting_ceiling is not None and row.limiting_ceiling.share == max(shares)
    cached = row.model_copy(update={"verdict": Verdict.CACHED, "findings": (finding(Verdict.CACHED),)})
    below = [share for share in shares if share <= CEILING_TOLERANCE]
    assert cached.limiting_ceiling is not None and cached.limiting_ceiling.share == max(below or shares)
    above = sorted((share for share in shares if share > CEILING_TOLERANCE), reverse=True)
    assert [item.share for item in cached.exceeded_ceilings] == (above if below else above[1:])
    broken = data.draw(st.sampled_from(shares))
    found = (finding(Verdict.IMPOSSIBLE, share=broken), finding(Verdict.CACHED))
    impossible = row.model_copy(update={"verdict": Verdict.IMPOSSIBLE, "findings": found})
    assert impossible.limiting_ceiling is not None and impossible.limiting_ceiling.share == broken


def test_row_without_ceilings_has_no_binding() -> None:
    assert ROW.ceilings == () and ROW.limiting_ceiling is None and ROW.exceeded_ceilings == ()


# Kept with the results, for `assay show`.


def stored(root: Path) -> Path:
    """A finished run with a ceiling, as `assay run` leaves it."""
    found = make_analysis(ceilings=(make_ceiling("device read", 400e6),))
    meta = make_meta(id="r1", repeats=3)
    order = [(case.id, repeat) for case in found.cases for repeat in (1, 2, 3)]
    with RunStore.create(root, meta, found.cases, (), order, "study: s\n") as store:
        store.describe(ceilings=found.run.ceilings)
        store.save_results(map(summarise, found.rows))
        store.set_status("complete")
        return store.folder


def test_show_has_the_closest_ceiling_of_each_result(tmp_path: Path) -> None:
    folder = stored(tmp_path)
    text = assay(tmp_path, "show", folder).stdout
    assert "ceilings  disk: device read 400 MB/s" in text
    read = next(line for line in text.splitlines() if "c0001" in line and " read " in line)
    assert "device read" in read and " 51 %" in read
    assert "none known" in next(line for line in text.splitlines() if "c0001" in line and " write " in line)
    shown = json.loads(assay(tmp_path, "show", folder, "--json").stdout)
    results = {(item["case"], item["operation"]): item for item in shown["results"]}
    assert results["c0001", "read"]["ceiling"] == "device read"
    assert results["c0001", "read"]["share_of_ceiling"] == pytest.approx(0.51, abs=0.005)
    assert results["c0001", "write"]["ceiling"] is None and results["c0001", "write"]["share_of_ceiling"] is None
