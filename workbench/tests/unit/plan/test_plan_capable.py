import pytest
from plan_tools import backend, load, study, written

from assay.plan.capability_check import capability_faults, general_faults, unsupported
from assay.plan.expand import expand


def faults(backend_changes, **changes):
    found = study(**changes)
    return general_faults(found, expand(found).cases, {"file": backend(**backend_changes)})


def test_what_the_backend_can_do_is_no_fault():
    assert not faults({}, w_record_size=["4KiB", "8KiB"])


@pytest.mark.parametrize(
    ("able", "changes", "field"),
    [
        ({"operations": ["write"]}, {}, "operations"),
        ({"layouts": ["shared"]}, {}, "layout"),
        ({"methods": ["sync"]}, {"w_method": "io_uring"}, "method"),
        ({}, {"w_method": "mmap", "w_cache": "keep"}, "method"),
        ({"sync": ["none"]}, {}, "sync"),
        ({"cache": ["keep"]}, {"w_cache": "drop"}, "cache"),
        ({"cache": ["keep"]}, {"w_cache": "limit", "w_memory_limit": "128MiB"}, "cache"),
        ({"direct": False}, {}, "cache"),
        ({"preallocate": False}, {"w_preallocate": True}, "preallocate"),
        ({"verify": False}, {"w_verify": True}, "verify"),
        ({}, {"w_record_size": 1000}, "record_size"),
        ({}, {"w_file_size": "1MB"}, "file_size"),
    ],
)
def test_what_it_cannot_do_names_the_field(able, changes, field):
    (fault,) = faults(able, **changes)
    assert fault.path == ("workloads", "w", field)
    assert fault.hint


@pytest.mark.parametrize(
    ("able", "changes"),
    [
        ({"methods": []}, {"w_method": "auto"}),
        ({"cache": []}, {"w_cache": "keep"}),
        ({"direct": False}, {"w_cache": "keep"}),
        ({}, {"w_record_size": 1000, "w_cache": "keep"}),
        ({"direct_alignment_bytes": 1}, {"w_record_size": 1000, "w_file_size": 10**6}),
    ],
)
def test_what_is_not_asked_for_is_not_needed(able, changes):
    assert not faults(able, **changes)


def test_metadata_operations_that_a_place_lacks_are_named():
    data = written(w_operations=["create", "stat"], w_files=10)
    del data["workloads"]["w"]["record_size"]
    found = load(data).study
    (fault,) = general_faults(found, expand(found).cases, {"file": backend(operations=["write", "create"])})
    assert "cannot do stat" in fault.message
    assert not general_faults(found, expand(found).cases, {"file": backend(operations=["create", "stat"])})


def test_each_fault_comes_once_with_the_number_of_cases():
    (fault,) = faults({"sync": ["none"]}, w_lanes=[1, 2, 3])
    assert fault.message.endswith("(3 cases)")


def test_an_answer_for_the_place_goes_before_that_for_the_kind():
    found = study()
    (case,) = expand(found).cases
    place = {"path": "/tmp", "filesystem": "tmpfs", "free_bytes": 1, "limits": []}
    answers = {"file": backend(), "disk": backend(direct=False, place=place)}
    (fault,) = capability_faults([case], answers)
    assert "tmpfs" in fault.message
    assert len(unsupported(case, answers["disk"])) == 1 and not unsupported(case, answers["file"])


def test_a_fault_of_a_default_is_shown_at_the_workload():
    loaded = load(written())
    (fault,) = general_faults(loaded.study, expand(loaded.study).cases, {"file": backend(direct=False)})
    assert loaded.source.problem(fault).line == loaded.source.keys["workloads", "w"][0]


@pytest.mark.parametrize("name", ["nfs", "file", "null"])
def test_the_name_of_a_target_says_nothing_of_its_kind(name):
    data = written(w_operations=["write"])
    data["targets"] = {name: {"kind": "file", "path": "/var/tmp/x"}}
    found = load(data).study
    kinds = {
        "file": backend(operations=["read"], kind="file"),
        "nfs": backend(kind="nfs"),
        "null": backend(kind="null"),
    }
    (fault,) = general_faults(found, expand(found).cases, kinds)
    assert "a file target cannot do write" in fault.message
    assert not general_faults(
        found, expand(found).cases, {"file": backend(), name: backend(operations=[])} | {"file": backend()}
    )
