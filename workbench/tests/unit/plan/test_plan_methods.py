from hypothesis import given
from hypothesis import strategies as st
from plan_tools import first_case, study

from assay.model.result.method import MethodChoice
from assay.model.study.names import CREATES, DATA, STDIO, WRITES
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.methods import choices_by_shape, direction_of, shape_of, undecided_shapes, with_methods


def choices(target, shape, **methods):
    return [
        MethodChoice(target=target, **shape._asdict(), direction=direction, method=method, reason=f"{direction} asked")
        for direction, method in methods.items()
    ]


def test_what_the_study_decides_is_not_asked():
    names = {"operations": ["create"], "files": 10, "file_size": 0, "cache": "keep", "queue_depth": 4}
    for decided in (
        {"w_queue_depth": 1},
        {"w_queue_depth": 1, "w_record_size": "1MiB", "w_file_size": "8MiB", "w_operations": ["read"]},
        {"w_queue_depth": 1, "w_record_size": "1MiB", "w_file_size": "8MiB", "w_cache": "keep"},
        {"w_queue_depth": 4, "w_method": "threads"},
        {"w_queue_depth": 4, "w_method": "io_uring"},
        {"workloads": {"names": names}},
    ):
        found, case = first_case(**decided)
        assert shape_of(case) is None, decided
        assert undecided_shapes(found, [case]) == {}


def test_long_direct_writes_are_asked_about_with_one_in_flight_too():
    long = {"w_queue_depth": 1, "w_record_size": "256KiB", "w_file_size": "8MiB", "w_cache": "direct"}
    found, case = first_case(w_operations=["write", "read"], **long)
    assert undecided_shapes(found, [case]) == {case.target: (shape_of(case),)}
    short = first_case(w_operations=["write", "read"], **long | {"w_record_size": "128KiB"})[1]
    assert shape_of(short) is None


def test_each_kind_of_case_is_asked_once_at_each_target():
    found = study(
        targets={
            "disk": {"kind": "file", "path": "/a"},
            "device": {"kind": "device", "path": "/dev/sdz"},
            "none": {"kind": "null"},
        },
        w_operations=["read"],
        w_queue_depth=[1, 4, 16],
        w_file_size=["1MiB", "2MiB"],
        w_lanes=1,
        w_layout="shared",
        w_cache="keep",
    )
    cases = expand(found).cases
    shapes = undecided_shapes(found, cases)
    assert set(shapes) == {"disk", "device"}
    assert [(shape.queue_depth, shape.direct) for shape in shapes["disk"]] == [(4, False), (16, False)]
    known = choices("disk", shapes["disk"][0], read="threads")
    left = undecided_shapes(found, cases, known)
    assert left == {"disk": shapes["disk"][1:], "device": shapes["device"]}


def test_a_job_says_how_each_phase_reaches_the_kernel():
    found, case = first_case(w_operations=["write", "read", "random_mix"], w_queue_depth=4)
    shape = shape_of(case)
    known = choices_by_shape(choices("disk", shape, read="io_uring", create="threads", overwrite="threads"))
    job = with_methods(plan_job(found, case, 1).job, case, known)
    methods = {str(phase.operation): phase.method and str(phase.method.method) for phase in job.phases}
    assert methods == {"write": "threads", "read": "io_uring", "random_mix": "threads"}
    assert job.phases[0].method.reason == "create asked"
    assert str(job.method) == "auto"


def test_what_is_not_measured_or_not_known_stays_open():
    found, case = first_case(w_operations=["read"], w_queue_depth=4)
    plain = plan_job(found, case, 1).job
    assert with_methods(plain, case, {}) == plain
    other = shape_of(case)._replace(queue_depth=8)
    assert with_methods(plain, case, choices_by_shape(choices("disk", other, read="threads"))) == plain
    job = with_methods(plain, case, choices_by_shape(choices("disk", shape_of(case), read="threads", create="threads")))
    assert [(str(phase.operation), phase.method is None) for phase in job.phases] == [
        ("prepare", True),
        ("read", False),
    ]


@given(st.sampled_from(sorted(set(DATA) - STDIO)))
def test_the_direction_is_that_of_the_writes(operation):
    expected = "create" if operation in CREATES else "overwrite" if operation in WRITES else "read"
    assert direction_of(operation) == expected
