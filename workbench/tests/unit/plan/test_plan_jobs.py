import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from operations import ON_ONE_FILE
from paths import REPOSITORY
from plan_tools import first_case, load, study, written
from soak import times

from assay.cli.studies.init import PRESETS
from assay.contract._generated import Capabilities, Job
from assay.model.study.names import ANY_ORDER, DATA, METADATA, OBJECTS, OPERATIONS, SET_OPERATIONS, STDIO
from assay.plan.capability_check import backends_by_kind, general_faults
from assay.plan.expand import expand
from assay.plan.jobs import SPEC_VERSION, data_seed, plan_job, plan_phases

ENGINE = Path(os.environ.get("ASSAY_ENGINE", REPOSITORY / "target/release/assay-engine"))
needs_engine = pytest.mark.skipif(
    not ENGINE.exists(), reason=f"NO ENGINE at {ENGINE}: build it with `cargo build --release`"
)


def test_a_job_says_what_the_case_says():
    found, case = first_case(
        w_operations=["write", "random_mix"],
        w_lanes=2,
        w_queue_depth=8,
        w_layout="shared",
        w_sync="fdatasync",
        w_rate="100/s",
        w_arrivals="poisson",
        w_time_limit="2s",
        w_read_percent=70,
        w_verify=True,
        w_compressible=30,
        w_duplicate=20,
        w_preallocate=True,
        output={"interval": "100ms", "keep_files": True},
    )
    planned = plan_job(found, case, 2)
    job = planned.job.model_dump(mode="json")
    phases = job.pop("phases")
    assert planned.id == "c0001-r2" and planned.memory_limit is None
    expected = {
        "spec_version": 2,
        "id": "c0001-r2",
        "seed": data_seed(1, "c0001", 2),
        "target": {"kind": "file", "root": "/tmp/assay-test", "directory": "c0001-r2", "shares": [], "run": None},
        "lanes": 2,
        "layout": "shared",
        "file_size_bytes": 2**20,
        "record_size_bytes": 4096,
        "queue_depth": 8,
        "method": "auto",
        "direct": True,
        "sync": "fdatasync",
        "preallocate": True,
        "data": {"compressible_percent": 30, "duplicate_percent": 20, "verify": True},
        "interval_ns": 10**8,
        "wait_for_go": False,
        "error_limit": 100,
        "keep_files": True,
    }
    assert {name: job[name] for name in expected} == expected
    assert [phase["operation"] for phase in phases] == ["write", "prepare", "random_mix"]
    assert [phase["measured"] for phase in phases] == [True, False, True]
    assert phases[2] == {
        "operation": "random_mix",
        "method": None,
        "measured": True,
        "cache_before": "keep",
        "runtime_ns": None,
        "time_limit_ns": 2 * 10**9,
        "rate_per_s": 100.0,
        "arrivals": "poisson",
        "mix": {"read": 70, "write": 30},
        "reorder": None,
        "wear_out": False,
        "access": None,
        "range_bytes": None,
        "stride_records": 17,
        "file_order": "sequential",
    }
    assert phases[1]["time_limit_ns"] is None and phases[1]["rate_per_s"] is None
    assert [phase["mix"] for phase in phases[:2]] == [None, None]


@pytest.mark.parametrize(
    ("operations", "changes", "phases"),
    [
        (["write", "read"], {}, ["write", "read"]),
        (["read", "reread"], {}, ["prepare", "read", "reread"]),
        (["rewrite"], {}, ["prepare", "rewrite"]),
        (
            ["write", "read", "write", "read"],
            {"w_time_limit": "1s"},
            ["write", "prepare", "read", "write", "prepare", "read"],
        ),
        (["write", "rewrite", "read"], {"w_runtime": "1s"}, ["write", "prepare", "rewrite", "read"]),
        (["write", "read"], {"w_rate": "10/s"}, ["write", "prepare", "read"]),
        (["fwrite", "fread"], {"w_cache": "keep"}, ["fwrite", "fread"]),
        (["random_mix", "write", "read"], {}, ["prepare", "random_mix", "write", "read"]),
    ],
)
def test_prepare_comes_before_what_may_not_find_its_data(operations, changes, phases):
    _found, case = first_case(w_operations=operations, **changes)
    assert [phase.operation for phase in plan_phases(case)] == phases


def names_case(*operations, **changes):
    """The first case of a study of metadata operations."""
    data = written(w_operations=list(operations), w_files=100, **changes)
    for field in ("file_size", "record_size"):
        if f"w_{field}" not in changes:
            del data["workloads"]["w"][field]
    loaded = load(data)
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    assert not expansion.faults
    return loaded.study, expansion.cases[0]


@pytest.mark.parametrize(
    ("operations", "changes", "phases"),
    [
        ("create stat unlink", {}, "create stat unlink"),
        ("stat", {}, "-prepare stat"),
        ("stat unlink", {}, "-prepare stat unlink"),
        ("unlink stat rename", {}, "-prepare unlink -prepare stat rename"),
        ("create unlink create", {}, "create unlink create"),
        ("unlink create readdir", {}, "-prepare unlink create readdir"),
        ("rmdir", {}, "-mkdir rmdir"),
        ("mkdir rmdir rmdir", {}, "mkdir rmdir -mkdir rmdir"),
        ("mkdir stat rmdir", {}, "mkdir -prepare stat rmdir"),
        # A create that is cut short leaves files to make; one by a rate or beside a runtime does not.
        ("create stat", {"w_time_limit": "1s"}, "create -prepare stat"),
        ("create stat", {"w_runtime": "1s"}, "create stat"),
        ("create stat", {"w_rate": "10/s"}, "create stat"),
    ],
)
def test_names_that_an_operation_needs_are_made_first(operations, changes, phases):
    _found, case = names_case(*operations.split(), **changes)
    found = [phase.operation if phase.measured else f"-{phase.operation}" for phase in plan_phases(case)]
    assert found == phases.split()


def test_a_job_of_metadata_operations():
    found, case = names_case(
        *METADATA,
        w_file_size="4KiB",
        w_depth=2,
        w_width=3,
        w_runtime="1s",
        w_cpus="0-1,5",
        w_numa_node=0,
        w_cache="drop",
    )
    job = plan_job(found, case, 1).job
    assert (job.file_size_bytes, job.record_size_bytes, job.direct) == (4096, 4096, False)
    assert (job.tree.files, job.tree.depth, job.tree.width) == (100, 2, 3)
    tuning = job.tuning.model_dump(mode="json")
    assert (tuning["cpus"], tuning["numa_node"], tuning["sqpoll"]) == ([0, 1, 5], 0, False)
    timed = {str(phase.operation) for phase in job.phases if phase.runtime_ns}
    assert timed == {"stat", "open", "readdir"}
    assert {str(phase.cache_before) for phase in job.phases} == {"drop"}
    assert names_case("stat")[1].parameters.record_size is None


def test_a_job_of_empty_files_has_a_record_all_the_same():
    found, case = names_case("create", w_cache="limit", w_memory_limit="128MiB", w_time_limit="1s")
    job = plan_job(found, case, 1).job
    assert (job.file_size_bytes, job.record_size_bytes) == (0, 1)
    assert str(job.phases[0].cache_before) == "keep"


def test_a_time_limit_is_for_what_can_be_cut_short():
    found, case = names_case("create", "stat", "rename", "unlink", "mkdir", "rmdir", w_time_limit="1s")
    phases = plan_job(found, case, 1).job.phases
    limited = [str(phase.operation) for phase in phases if phase.time_limit_ns]
    assert limited == ["create", "stat", "mkdir"]


def test_tuning_goes_into_the_job():
    found, case = first_case(w_method="io_uring", w_sqpoll=True, w_iopoll=True, w_huge_pages=True)
    tuning = plan_job(found, case, 1).job.tuning
    assert (tuning.sqpoll, tuning.iopoll, tuning.huge_pages, tuning.cpus) == (True, True, True, [])


@pytest.mark.parametrize(
    ("cache", "direct", "action"),
    [
        ("direct", True, "keep"),
        ("drop", False, "drop"),
        ("evict", False, "evict"),
        ("limit", False, "evict"),
        ("keep", False, "keep"),
    ],
)
def test_cache_policies(cache, direct, action):
    limit = "128MiB" if cache == "limit" else None
    found, case = first_case(w_operations=["read"], w_cache=cache, w_memory_limit=limit)
    planned = plan_job(found, case, 1)
    prepare, read = planned.job.phases
    assert (planned.job.direct, read.cache_before.value, prepare.cache_before.value) == (direct, action, "keep")
    assert planned.memory_limit == (128 << 20 if cache == "limit" else None)


def test_repeats_and_cases_have_seeds_of_their_own_and_the_study_decides_them():
    seeds = {data_seed(seed, case, repeat) for seed in (1, 2) for case in ("c0001", "c0002") for repeat in range(1, 6)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**53 for seed in seeds)
    assert data_seed(1, "c0001", 1) == data_seed(1, "c0001", 1)


def test_a_device_is_overwritten_only_if_the_user_said_so():
    found, case = first_case(targets={"d": {"kind": "device", "path": "/dev/sdx"}}, w_layout="shared")
    assert plan_job(found, case, 1).job.target.destroy is False
    assert plan_job(found, case, 1, destroy=True).job.target.destroy is True


TIMES = st.sampled_from(["0ns", "1ns", "10us", "8760h"])
LATENCIES = st.one_of(
    TIMES.map(lambda time: {"distribution": "fixed", "time": time}),
    TIMES.map(lambda mean: {"distribution": "exponential", "mean": mean}),
    TIMES.map(lambda least: {"distribution": "uniform", "min": least, "max": "8760h"}),
)
PLACES = {"at_op": st.sampled_from([0, 9, 2**63 - 1]), "lane": st.sampled_from([0, 1023])}


def scripts(**fields):
    """Lists of what the null target does at some operation."""
    place = {"at_op": PLACES["at_op"], **fields}
    return st.lists(st.fixed_dictionaries(place, optional={"lane": PLACES["lane"]}), max_size=3)


NULLS = st.fixed_dictionaries(
    {"kind": st.just("null")},
    optional={
        "latency": LATENCIES,
        "stalls": scripts(duration=TIMES),
        "errors": scripts(errno=st.sampled_from(["EIO", 4095])),
        "changes": scripts(latency=LATENCIES),
        "vary_percent": st.sampled_from([0, 1, 99]),
        "clock_step": TIMES,
    },
)
TARGETS = NULLS | st.sampled_from(
    [{"kind": "file", "path": "/tmp/assay-test"}, {"kind": "device", "path": "/dev/sdx"}, {"kind": "null"}]
)
FILES = st.integers(20, 62).map(lambda power: 2**power) | st.integers(1, 2**63 - 1)
RECORDS = st.integers(9, 30).map(lambda power: 2**power) | st.integers(1, 2**30)
COMMON = {
    "lanes": st.integers(1, 1024) | st.just(1),
    "layout": st.sampled_from(["separate", "shared"]),
    "queue_depth": st.integers(1, 4096) | st.just(1),
    "method": st.sampled_from(["auto", "io_uring", "sync", "mmap"]),
    "sqpoll": st.booleans(),
    "iopoll": st.booleans(),
    "huge_pages": st.booleans(),
    "cpus": st.sampled_from(["0", "0-3,6", "1023"]),
    "numa_node": st.integers(0, 1023),
    "cache": st.sampled_from(["direct", "drop", "evict", "limit", "keep"]),
    "memory_limit": st.just("128MiB"),
    "sync": st.sampled_from(["none", "fsync", "fdatasync", "o_sync", "o_dsync"]),
    "preallocate": st.booleans(),
    "rate": st.sampled_from(["0.001/s", "5/s", "1000000000/s"]),
    "arrivals": st.sampled_from(["constant", "poisson"]),
    "runtime": st.sampled_from(["1ns", "5s", "8760h"]),
    "time_limit": st.sampled_from(["1ns", "5s", "8760h"]),
    "read_percent": st.integers(0, 100),
    "stride": st.integers(1, 2**20),
    "verify": st.booleans(),
    "compressible": st.integers(0, 100),
    "duplicate": st.integers(0, 100),
}
WORKLOADS = st.fixed_dictionaries(
    {
        "operations": st.lists(st.sampled_from(sorted(set(ON_ONE_FILE) - STDIO)), min_size=1, max_size=30)
        | st.lists(st.sampled_from(DATA), min_size=1, max_size=4),
        "file_size": FILES,
        "record_size": RECORDS,
    },
    optional=COMMON,
)
NAMES = st.fixed_dictionaries(
    {
        "operations": st.lists(st.sampled_from(METADATA), min_size=1, max_size=12),
        "files": st.integers(1, 10**9) | st.integers(1, 100),
    },
    optional={
        **{field: values for field, values in COMMON.items() if field not in ("read_percent", "stride")},
        "file_size": st.integers(0, 2**31) | st.integers(0, 2**16),
        "depth": st.integers(0, 16) | st.integers(0, 2),
        "width": st.integers(1, 10_000) | st.integers(1, 8),
        "cache": st.sampled_from(["drop", "limit", "keep", "direct"]),
        "preallocate": st.just(False),
    },
)
_SIZES = [{"4KiB": 60, "1MiB": 40}, "4KiB..1MiB", "uniform 1KiB..1GiB"]
SETS = st.fixed_dictionaries(
    {
        "operations": st.lists(st.sampled_from(SET_OPERATIONS), min_size=1, max_size=12)
        | st.lists(st.sampled_from(DATA), min_size=1, max_size=2),
        "record_size": RECORDS,
    },
    optional={
        **COMMON,
        "depth": st.integers(0, 16) | st.integers(0, 2),
        "width": st.integers(1, 10_000) | st.integers(1, 8),
        "scale": st.sampled_from([0.001, 0.5, 1, 3, 1e9]),
        "file_order": st.sampled_from(["sequential", "random"]),
        "cache": st.sampled_from(["drop", "limit", "keep", "direct"]),
        "method": st.sampled_from(["auto", "sync"]),
        "preallocate": st.just(False),
        "queue_depth": st.just(1) | st.just(1) | st.just(2),
        "mix": st.sampled_from(["read:100", "read:50,write:10,create:15,stat:10,unlink:15", "get:100"]),
    },
).flatmap(
    lambda work: st.tuples(
        st.sampled_from([{"files": 1}, {"files": 5000}, {"total_files": 1030}, {"total_files": 10**9}]),
        FILES.map(lambda size: {"file_size": size}) | st.sampled_from([{"file_sizes": sizes} for sizes in _SIZES]),
    ).map(lambda both: {**work, **both[0], **both[1]})
)
SHARES = {"kind": "file", "path": "/tmp/assay-test", "shares": ["/tmp/assay-2", "/tmp/assay-3"]}
OBJECT_WORK = st.fixed_dictionaries(
    {
        "operations": st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=6),
        "object_size": st.sampled_from([1, "4KiB", "1GiB", "1B..3KiB", "4KiB..64MiB", {"4KiB": 70, "9MiB": 30}]),
    },
    optional={
        "objects": st.integers(1, 10**9) | st.integers(1, 2000),
        "part_size": st.sampled_from(["5MiB", "64MiB", "5GiB"]),
        "range": st.sampled_from(["1B", "1KiB", "1GiB"]),
        "batch": st.sampled_from([1, 25, 100, 1000]),
        "access": st.sampled_from(["uniform", "zipfian", "zipfian 10", "hotspot 99/0.001"]),
        "mix": st.sampled_from(
            [{"get": 100}, {"get": 45, "put": 15, "head": 30, "delete": 10}, {"put": 100}, {"update": 50, "get": 50}]
        ),
        **{
            name: COMMON[name]
            for name in (
                *("lanes", "queue_depth", "huge_pages", "cpus", "numa_node", "rate", "arrivals", "runtime"),
                *("time_limit", "verify", "compressible", "duplicate"),
            )
        },
    },
)
BUCKETS = st.fixed_dictionaries(
    {"kind": st.just("s3"), "bucket": st.sampled_from(["my-bench", "my.bench"])},
    optional={
        "endpoint": st.sampled_from(["http://127.0.0.1:9000", ["https://one", "https://[fe80::1]:1"]]),
        "region": st.sampled_from(["eu-central-1", "cn-north-1"]),
        "keys": st.sampled_from(["flat", "random", {"prefixes": 1_000_000}]),
        "checksum": st.sampled_from(["md5", "crc64nvme"]),
        "storage_class": st.just("STANDARD_IA"),
        "anonymous": st.booleans(),
        "if_none_match": st.booleans(),
        "ca_file": st.just("/etc/ca.pem"),
        "timeout": st.sampled_from(["100ms", "1h"]),
    },
)
THERE = st.fixed_dictionaries(
    {"kind": st.just("s3"), "bucket": st.just("my-bench"), "existing": st.sampled_from(["", "a b/", "ü" * 512])},
    optional={"checksum": st.just("md5"), "anonymous": st.booleans()},
)
THERE_WORK = st.fixed_dictionaries(
    {"operations": st.lists(st.sampled_from(["get", "head", "list", "object_mix"]), min_size=1, max_size=5)},
    optional={
        "objects": st.sampled_from([1, 100, 9765, 9766, 10_000_000]),
        "range": st.sampled_from(["1B", "5MiB"]),
        "mix": st.sampled_from([{"get": 100}, {"get": 45, "head": 55}]),
        "access": st.sampled_from(["uniform", "zipfian 1.2"]),
        **{name: COMMON[name] for name in ("lanes", "queue_depth", "rate", "runtime", "time_limit")},
    },
)
ITEM_WORK = st.fixed_dictionaries(
    {
        "operations": st.lists(
            st.sampled_from(
                ["put", "get", "update", "delete", "batch_put", "batch_get", "query", "scan", "object_mix"]
            ),
            min_size=1,
            max_size=4,
        ),
        "object_size": st.sampled_from(["256B", "1KiB", "400KiB", "256B..64KiB", {"4KiB": 70, "300KiB": 30}]),
    },
    optional={
        "objects": st.integers(1, 2000),
        "batch": st.sampled_from([1, 25, 100]),
        "access": st.sampled_from(["uniform", "zipfian", "hotspot 80/20"]),
        "mix": st.sampled_from([{"get": 100}, {"update": 50, "get": 50}]),
        "queue_depth": st.sampled_from([1, 8, 64]),
        "lanes": st.sampled_from([1, 8]),
        "runtime": st.just("1s"),
        "verify": st.booleans(),
    },
)
TABLES = st.fixed_dictionaries(
    {"kind": st.just("dynamodb"), "table": st.sampled_from(["my-bench", "my.bench_2"])},
    optional={
        "endpoint": st.sampled_from(["http://127.0.0.1:9000", ["https://one", "https://[fe80::1]:1"]]),
        "sort_key": st.just("sk"),
        "capacity": st.sampled_from(["on_demand", {"read": 1, "write": 10**9}]),
        "consistent": st.booleans(),
        "max_requests": st.sampled_from([1, 10**6]),
        "max_capacity_units": st.sampled_from([1, 10**6]),
        "timeout": st.sampled_from(["100ms", "1h"]),
    },
).flatmap(
    lambda table: st.sampled_from([table, {**table, "partition_items": 1000}] if "sort_key" in table else [table])
)
OUTPUT = st.fixed_dictionaries({}, optional={"interval": st.sampled_from(["10ms", "1h"]), "keep_files": st.booleans()})


@functools.cache
def _general():
    text = subprocess.run([ENGINE, "capabilities"], check=True, capture_output=True, text=True).stdout
    return backends_by_kind(Capabilities.model_validate(json.loads(text)).backends)


def _planned(target, workload, output, seed, backends):
    """The first job of a study, if the workbench accepts it."""
    workload = dict(workload)
    # Most random choices would break these rules; take the contradictions out so that enough jobs are left.
    if "runtime" in workload:
        workload.pop("time_limit", None)
    if workload.get("cache") != "limit":
        workload.pop("memory_limit", None)
    if workload.get("method") != "io_uring":
        workload.pop("sqpoll", None)
    if workload.get("method") != "io_uring" or workload.get("cache", "keep") != "direct":
        workload.pop("iopoll", None)
    if workload.get("method") in ("sync", "mmap"):
        workload.pop("queue_depth", None)
    if target["kind"] == "device":
        workload |= {"layout": "shared", "preallocate": False}
    data = {"study": "s", "question": "q", "targets": {"t": target}, "workloads": {"w": workload}}
    loaded = load(data | {"output": output, "seed": seed})
    if loaded.study is None:
        return None
    expansion = expand(loaded.study)
    if expansion.faults or general_faults(loaded.study, expansion.cases, backends):
        return None
    return plan_job(loaded.study, expansion.cases[0], 3, destroy=True).job


def check_accepted(job):
    """The engine takes the job, and its text says all of it."""
    text = job.model_dump_json()
    assert Job.model_validate_json(text) == job
    checked = subprocess.run([ENGINE, "check", "-"], input=text + "\n", capture_output=True, text=True, check=False)
    assert checked.returncode == 0, (checked.stderr + checked.stdout, text)


@needs_engine
@settings(max_examples=times(50, 5000))
@given(TARGETS | st.just(SHARES), WORKLOADS | NAMES | SETS, OUTPUT, st.integers(0, 2**53 - 1))
def test_the_engine_never_refuses_what_the_workbench_accepts(target, workload, output, seed):
    job = _planned(target, workload, output, seed, _general())
    on = {True: "a set", False: "names"}[bool(workload.get("record_size"))] if job and job.tree else "data"
    event(f"sent, {on}" if job else "refused by the workbench")
    if job is not None:
        check_accepted(job)


@pytest.mark.parametrize(
    ("lanes", "layout", "good"), [(132, "separate", True), (133, "separate", False), (133, "shared", True)]
)
def test_directories_of_all_lanes_count_together(lanes, layout, good):
    tree = {"operations": ["create"], "files": 7519, "width": 7519, "depth": 1, "file_size": 0, "cache": "keep"}
    faults = expand(study(workloads={"names": {**tree, "lanes": lanes, "layout": layout}})).faults
    assert [f"in each of {lanes} trees" in fault.message for fault in faults] == ([] if good else [True])


@needs_engine
@settings(max_examples=times(50, 5000))
@given(
    st.tuples(BUCKETS | TABLES | st.just({"kind": "null"}), OBJECT_WORK)
    | st.tuples(TABLES, ITEM_WORK)
    | st.tuples(THERE, THERE_WORK),
    OUTPUT,
    st.integers(0, 2**53 - 1),
)
def test_the_engine_never_refuses_objects_that_the_workbench_accepts(both, output, seed):
    target, workload = both
    operations = set(workload["operations"])
    workload = {
        field: value
        for field, value in workload.items()
        if not (field == "range" and "get" not in operations)
        and not (field == "mix" and "object_mix" not in operations)
        and not (field == "batch" and not operations & {"batch_put", "batch_get"})
        and not (field == "access" and not operations & ANY_ORDER)
    }
    job = _planned(target, workload, output, seed, _general())
    event(f"sent to {target['kind']}" if job else "refused by the workbench")
    if job is not None:
        check_accepted(job)


@needs_engine
@pytest.mark.parametrize("preset", PRESETS)
def test_the_engine_accepts_every_job_of_the_presets(preset):
    loaded = load((REPOSITORY / f"workbench/src/assay/presets/{preset}.yaml").read_text())
    expansion = expand(loaded.study)
    assert not expansion.faults
    for case in expansion.cases:
        check_accepted(plan_job(loaded.study, case, 1).job)


@needs_engine
def test_workbench_and_engine_speak_the_same_version():
    text = subprocess.run([ENGINE, "capabilities"], check=True, capture_output=True, text=True).stdout
    assert json.loads(text)["spec_version"] == SPEC_VERSION


def test_thirteen_has_all_of_iozones_operations():
    loaded = load((REPOSITORY / "workbench/src/assay/presets/thirteen.yaml").read_text())
    named = [name for workload in loaded.study.workloads.values() for name in workload.operations]
    assert sorted(named) == sorted(OPERATIONS[:13]) and set(named) >= STDIO


if not ENGINE.exists():
    print(f"tests that need the engine are skipped: {ENGINE} is not there", file=sys.stderr)
