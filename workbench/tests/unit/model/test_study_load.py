import itertools
import json
import re
from functools import cache

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import GOLDEN, REPOSITORY
from plan_tools import load, study, written
from soak import times

from assay.model.site.cpus import cpu_numbers
from assay.model.study.hosts import Hosts
from assay.model.study.names import (
    ALL_NAMES,
    CREATES,
    DATA,
    DELETES,
    IMPORTED,
    LOOKUPS,
    METADATA,
    NEED_OBJECTS,
    OBJECT_READS,
    OBJECTS,
    OP_KINDS,
    OPERATIONS,
    PROGRAMS,
    READS,
    STDIO,
    VISIBILITY,
    WORK,
    WRITES,
    group_of,
    is_counted,
    is_metadata,
)
from assay.model.study.study import VALUE_KINDS, Study, Workload, study_schema
from assay.plan.load import load_study

PRESETS = sorted((REPOSITORY / "workbench/src/assay/presets").glob("*.yaml"))
BAD = sorted((GOLDEN / "bad_studies").glob("*.yaml"))


def test_a_study_is_read_into_what_it_means():
    found = study(
        w_record_size={"from": "4KiB", "to": "1MiB", "factor": 4},
        w_queue_depth=[1, 8],
        w_rate="1000/s",
        w_runtime="5s",
        repeats=5,
    )
    work = found.workloads["w"]
    assert work.record_size.values() == (4096, 16384, 65536, 262144, 1048576)
    assert work.queue_depth.values() == (1, 8)
    assert work.rate.values() == (1000.0,)
    assert work.runtime.values() == (5 * 10**9,)
    assert work.swept_fields == ("record_size", "queue_depth")
    assert (found.name, found.repeats, found.order, found.seed, found.hosts) == ("test", 5, "random", 1, Hosts())


def test_a_list_of_one_is_an_axis_and_a_single_value_is_not():
    assert study(w_lanes=[2]).workloads["w"].swept_fields == ("lanes",)
    assert study(w_lanes=2).workloads["w"].swept_fields == ()


def test_axes_keep_the_order_in_which_they_were_written():
    assert study(w_queue_depth=[1, 2], w_lanes=[1, 2]).workloads["w"].swept_fields == ("queue_depth", "lanes")


@given(st.integers(1, 100), st.integers(0, 2000), st.integers(1, 50))
def test_a_range_by_step_counts_what_it_lists(start, width, step):
    axis = study(w_lanes={"from": 1, "to": 1, "step": 1}, w_stride={"from": start, "to": start + width, "step": step})
    span = axis.workloads["w"].stride
    assert span.count() == len(span.values())
    assert span.values() == tuple(range(start, start + width + 1, step))


@given(st.integers(1, 1000), st.integers(0, 10**6), st.integers(2, 10))
def test_a_range_by_factor_counts_what_it_lists(start, width, factor):
    span = (
        study(w_file_size={"from": start, "to": start + width, "factor": factor}, w_record_size=1)
        .workloads["w"]
        .file_size
    )
    values = span.values()
    assert span.count() == len(values) and values[0] == start
    assert all(after == before * factor for before, after in itertools.pairwise(values))
    assert values[-1] <= start + width < values[-1] * factor


def test_a_range_of_rates_reaches_its_end():
    span = study(w_rate={"from": "0.1/s", "to": "1/s", "step": "0.1/s"}).workloads["w"].rate
    assert span.count() == len(span.values()) == 10


def test_defaults_are_shared_and_can_be_overridden():
    found = study(defaults={"sync": "none", "lanes": 4}, w_lanes=2).workloads["w"]
    assert (found.sync.values(), found.lanes.values()) == (("none",), (2,))


def test_a_fault_in_defaults_is_told_once_with_its_line():
    data = written(defaults={"lanes": 0})
    data["workloads"]["v"] = data["workloads"]["w"]
    (problem,) = load(data).problems
    assert problem.message.startswith("defaults.lanes:")
    assert '"lanes": 0' in json.dumps(data, indent=1).splitlines()[problem.line - 1]


@pytest.mark.parametrize(
    ("path", "meant"),
    [("/a/b", "/a/b"), ("b", "/here/b"), ("./b/", "/here/b"), (".//b", "/here/b"), ("/a//b/", "/a/b"), ("//a", "/a")],
)
def test_paths_are_absolute_and_plain(path, meant):
    found = load(written(targets={"disk": {"kind": "file", "path": path}}), "/here").study
    assert found is not None
    assert found.targets["disk"].path == meant


@pytest.mark.parametrize(
    "path",
    ["/a/../b", "../b", "/a/./b", "./b/..", ".", "./", "~/b", "~", "/", "//", "", "/a\nb", "/a\0b", 5, None, ["/a"]],
)
def test_doubtful_paths_are_refused(path):
    (problem,) = load(written(targets={"disk": {"kind": "file", "path": path}})).problems
    assert problem.message.startswith("targets.disk.path: ")


def test_a_script_for_the_null_target():
    null = {
        "kind": "null",
        "latency": {"distribution": "uniform", "min": "1us", "max": "2us"},
        "stalls": [{"at_op": 1000, "duration": "1s", "lane": 0}],
        "errors": [{"at_op": 5, "errno": "EIO"}, {"at_op": 6, "errno": 28}],
    }
    target = study(targets={"n": null}).targets["n"]
    assert (target.latency.min, target.latency.max) == (1000, 2000)
    assert (target.stalls[0].duration, target.stalls[0].lane) == (10**9, 0)
    assert [(item.errno, item.lane) for item in target.errors] == [(5, None), (28, None)]


def test_stated_ceilings_are_bytes_and_operations_per_second():
    stated = {"read": "500MB/s", "write": "1.5 GiB/s", "read_iops": "98000/s", "write_iops": "0.5/s", "link": "10Gb/s"}
    for target in ({"kind": "file", "path": "/a"}, {"kind": "device", "path": "/dev/sdx"}, {"kind": "null"}):
        found = study(targets={"t": {**target, "ceilings": stated}}, w_layout="shared").targets["t"].ceilings
        assert (found.read, found.write, found.link) == (5e8, 1.5 * 2**30, 1.25e9)
        assert (found.read_iops, found.write_iops) == (98000.0, 0.5)
        nothing = study(targets={"t": target}, w_layout="shared").targets["t"].ceilings
        assert set(nothing.model_dump().values()) == {None}


def test_ceilings_are_measured_unless_the_study_says_no():
    assert study().ceilings == "measure"
    assert study(ceilings="none").ceilings == "none"


@pytest.mark.parametrize("word", ["yes", "on", "True", "1:30", "010", "2024-01-01", "0x10", "1_000", "inf", ".5"])
def test_yaml_words_that_surprise_elsewhere_are_text_here(word):
    loaded = load_study(f"study: a\nquestion: {word}\ntargets: 1\nworkloads: 1\n".encode())
    assert not [problem for problem in loaded.problems if problem.line == 2]


def test_all_problems_come_at_once_in_the_order_of_the_file():
    data = written(w_file_size="1KB", w_lanes=0, w_cache="warm", repeats=0, seed="x")
    found = load(data).problems
    assert len(found) == 5
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)


def test_aliases_may_be_used_in_moderation():
    text = json.dumps(written()).replace('"1MiB"', '&r "4KiB"').replace('"record_size": "4KiB"', '"record_size": *r')
    assert load(text).study is not None


@settings(max_examples=times(50, 2000))
@given(st.binary(max_size=200))
def test_no_bytes_bring_the_reader_down(data):
    loaded = load_study(data)
    assert loaded.study is None and loaded.problems
    assert all("\n" not in problem.message + problem.hint for problem in loaded.problems)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=times(50, 3000))
@given(st.sampled_from([*VALUE_KINDS, "operations", "targets", "where", "exclude", "zip", "optional"]), JSON)
def test_no_value_of_a_field_brings_the_reader_down(field, value):
    for problem in load(written(**{f"w_{field}": value})).problems:
        assert problem.message and problem.hint
        assert "\n" not in problem.message + problem.hint


@settings(max_examples=times(50, 1000))
@given(st.sampled_from([*Study.model_json_schema()["properties"], "defaults"]), JSON)
def test_no_value_at_the_root_brings_the_reader_down(field, value):
    for problem in load(written(**{field: value})).problems:
        assert problem.message and problem.hint
        assert "\n" not in problem.message + problem.hint


def test_deep_nesting_is_refused():
    for text in ("[" * 5000, "a: " + "[" * 60 + "]" * 60):
        assert load(text).problems


def test_a_large_file_is_refused_at_once():
    (problem,) = load_study(b"#" * 10**7).problems
    assert "bytes" in problem.message


@cache
def published_schema():
    return jsonschema.Draft202012Validator(study_schema())


@pytest.mark.parametrize("preset", PRESETS, ids=lambda path: path.stem)
def test_presets_are_right_and_fit_the_published_schema(preset):
    loaded = load_study(preset.read_bytes())
    assert not loaded.problems
    published_schema().validate(loaded.source.data)


@pytest.mark.parametrize("name", ["quickstart", "metadata"])
def test_the_studies_are_the_presets(name):
    preset = REPOSITORY / f"workbench/src/assay/presets/{name}.yaml"
    assert (REPOSITORY / f"studies/{name}/study.yaml").read_bytes() == preset.read_bytes()


SHAPES_ONLY_CHECKED_LATER = re.compile(
    "alias|billion_c|control|binary|yaml_|expression_|path_|record_|zip_[ln]|duplicate|same_path|target_in|unknown_target$|"
    "two_times|limit|stdio|direct_un|device_with|long_range|range_back|latency_back|too_many_[br]|value_twice|fraction|laughs|"
    "zero_size|ceilings_zero|reorder_on|metadata|mmap|missing_f|files_with|cpus_[bt]|sqpoll|iopoll|"
    "prices_lookup|total_|stages_cost|objects_(?!mix_unknown|size_weight)|s3_(?!with_c)|set_(?!one_size)"
)


@pytest.mark.parametrize(
    "bad", [path for path in BAD if not SHAPES_ONLY_CHECKED_LATER.search(path.stem)], ids=lambda p: p.stem
)
def test_the_published_schema_refuses_bad_shapes_too(bad):
    assert any(published_schema().iter_errors(load_study(bad.read_bytes()).source.data))


def test_the_schema_describes_every_field():
    schema = study_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in ("Workload", "Defaults", "FileTarget", "Output"):
        for field, item in schema["$defs"][name]["properties"].items():
            assert item.get("description") or field in ("kind", "distribution"), (name, field)


def test_workload_fields_are_those_of_a_case():
    assert set(VALUE_KINDS) == set(Workload.model_fields) - {
        "operations",
        "targets",
        "where",
        "exclude",
        "zip",
        "optional",
        "command",
        "replay",
    }


def test_a_workload_may_be_optional_as_a_whole():
    assert study().workloads["w"].optional is False
    assert study(w_optional=True).workloads["w"].optional is True
    assert study(defaults={"optional": True}).workloads["w"].optional is True
    for written_so in ([True, False], "yes", None, 1):
        (problem,) = load(written(w_optional=written_so)).problems
        assert problem.message.startswith("workloads.w.optional: ")


def test_operations_are_those_of_the_contract():
    from assay.contract._generated import Operation, OpKind

    assert set(WORK) - set(IMPORTED) == set(Operation) - {"prepare"}
    assert set(OP_KINDS) == set(OpKind)
    assert {*OPERATIONS, *PROGRAMS, *IMPORTED} == set(WORK)
    assert len(OPERATIONS + PROGRAMS + IMPORTED) == len(DATA + METADATA + OBJECTS + PROGRAMS + IMPORTED) == len(WORK)
    assert (CREATES | STDIO).issubset(OPERATIONS)
    assert set(OPERATIONS) == READS | WRITES | set(METADATA) | set(OBJECTS)
    assert not (READS | WRITES).intersection(METADATA + OBJECTS)
    assert set(OBJECTS) > DELETES | NEED_OBJECTS | OBJECT_READS
    assert (LOOKUPS | ALL_NAMES).issubset(METADATA) and not LOOKUPS & ALL_NAMES
    assert sorted(READS & WRITES) == ["file_mix", "random_mix", "sequential_mix"]


def test_what_engines_can_do_is_placed_in_the_table_of_operations():
    """One that is not would be taken for another: a name for data, a get for a write."""
    capabilities = json.loads((REPOSITORY / "contract" / "capabilities.json").read_text())
    known = {name for backend in capabilities["backends"] for name in backend["operations"]}
    assert known <= {"prepare", *WORK}
    for operation, work in WORK.items():
        assert group_of(operation) == group_of(f"{operation} (2)") == work.group
        assert is_metadata(operation) == (work.group == "names")
        moves = work.reads or work.writes
        counted = work.group == "names" or operation in VISIBILITY or not moves
        assert is_counted(operation) == (counted and operation != "transfer")
        assert (operation in READS, operation in WRITES) == (
            (work.reads, work.writes) if work.group == "data" else (False, False)
        )
    for name, (group, moves) in OP_KINDS.items():
        own = [work for operation, work in WORK.items() if operation == name]
        assert all(work.group == group and work.reads + work.writes == bool(moves) for work in own), name


def names(**changes):
    """A study whose only workload makes files; changes as in `written`."""
    data = written(w_operations=["create"], w_files=10, **changes)
    for field in ("file_size", "record_size"):
        if f"w_{field}" not in changes:
            del data["workloads"]["w"][field]
    return load(data)


def test_metadata_operations_have_defaults_of_their_own():
    found = names().study.workloads["w"]
    assert found.group == "names"
    assert [found.axis(field).values() for field in ("file_size", "record_size", "cache")] == [(0,), (None,), ("keep",)]
    assert names(w_cache="drop").study.workloads["w"].cache.values() == ("drop",)
    assert study().workloads["w"].group == "data"


def test_defaults_of_the_other_kind_are_left_out():
    defaults = {"record_size": "8KiB", "files": 5, "width": 3, "lanes": 2}
    found = names(defaults=defaults).study.workloads["w"]
    assert (found.record_size.values(), found.files.values(), found.width.values()) == ((None,), (10,), (3,))
    data = written(defaults=defaults)
    del data["workloads"]["w"]["record_size"]
    found = load(data).study.workloads["w"]
    assert (found.record_size.values(), found.files.values(), found.width.values()) == ((8192,), (None,), (1,))
    assert found.lanes.values() == (2,)


@pytest.mark.parametrize("text", ["0", "0-3", "1,0", "0-1,7,9-10", 3])
def test_lists_of_cpus(text):
    assert study(w_cpus=text).workloads["w"].cpus.values() == (str(text),)
    assert cpu_numbers("0-1,7,9-10") == (0, 1, 7, 9, 10)


@pytest.mark.parametrize(
    "text", ["", "a", "1-", "-1", -1, "0,,1", "0-2-3", "1 2", True, 1.5, "0,0", "3-2", 1024, ["x"]]
)
def test_doubtful_lists_of_cpus_are_refused(text):
    (problem,) = load(written(w_cpus=text)).problems
    assert problem.message.startswith("workloads.w.cpus")


def test_guide_and_reference_name_every_field():
    guide = (REPOSITORY / "docs/guides/write-a-study.md").read_text()
    reference = (REPOSITORY / "docs/reference/parameters.md").read_text()
    replication = (REPOSITORY / "docs" / "guides" / "replication.md").read_text()
    schema = study_schema()
    fields = set(schema["properties"])
    for definition in schema["$defs"].values():
        fields |= set(definition["properties"])
    missing = sorted(field for field in fields if f"`{field}`" not in guide + reference + replication)
    assert not missing
    assert not [name for name in OPERATIONS if f"`{name}`" not in guide]
