"""What each step of a run that grows has brought, against its first step."""

import pytest
from builders import make_case, make_estimate, make_sample, rated_row

from assay.analyse.growth.stepwise import steps
from assay.model.result.result import ResultRow
from assay.model.result.verdict import Verdict


def row(hosts: int, rate: float, verdict: Verdict = Verdict.OK, operation: str = "read", **axes: object) -> ResultRow:
    case = make_case(f"c{hosts}", "store", (operation,), axes={**axes, "hosts": hosts})
    return rated_row(case, make_estimate(rate), [make_sample(case.id, repeat, rate) for repeat in (1, 2, 3)], verdict)


def test_two_steps_are_enough_and_the_first_is_the_measure() -> None:
    first, second = steps([row(2, 100e6), row(8, 300e6)], "hosts")
    assert (first.efficiency, second.efficiency) == (1.0, pytest.approx(0.75))
    assert second.words == "store, grid, read: 300 MB/s (270 to 330), efficiency 75 %"
    (names,) = steps([row(1, 5000.0, operation="stat")], "hosts")
    assert names.words == "store, grid, stat: 5,000 operations/s (4,500 to 5,500), efficiency 100 %"


def test_other_axes_are_kinds_of_work_of_their_own() -> None:
    rows = [row(hosts, hosts * size * 1e3, record_size=size) for size in (4096, 65536) for hosts in (1, 4)]
    assert [step.efficiency for step in steps(rows, "hosts")] == [1.0] * 4
    assert {step.label for step in steps(rows, "hosts")} == {
        "store, grid, read, record_size 4096",
        "store, grid, read, record_size 65536",
    }


def test_what_was_not_measured_with_the_fewest_has_no_efficiency() -> None:
    rows = [row(1, 100e6, record_size=4096), row(2, 200e6, record_size=4096), row(2, 50e6, record_size=65536)]
    assert [step.efficiency for step in steps(rows, "hosts")] == [1.0, 1.0, None]


@pytest.mark.parametrize("verdict", [Verdict.CACHED, Verdict.IMPOSSIBLE, Verdict.INCOMPLETE])
def test_what_says_nothing_of_the_store_has_neither_rate_nor_efficiency(verdict: Verdict) -> None:
    first, second = steps([row(1, 100e6), row(2, 900e6, verdict)], "hosts")
    assert second.rate is None and second.efficiency is None
    assert second.words == f"store, grid, read: no usable result ({verdict.value})"
    _, after = steps([row(1, 900e6, verdict), row(2, 100e6)], "hosts")
    assert after.rate == 100e6 and after.efficiency is None and first.efficiency == 1.0


def test_a_doubtful_verdict_is_told_beside_the_rate() -> None:
    (step,) = steps([row(1, 100e6, Verdict.SKEWED)], "hosts")
    assert step.words.endswith("efficiency 100 %; skewed")
