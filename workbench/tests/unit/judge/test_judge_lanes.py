"""The rules about lanes that did not work together, and about clocks."""

from typing import Any

import pytest
from builders import MS
from judge_tools import Rule, about_names, coverage_test, evidence, fires, fires_test, odd_repeats, silent_test

from assay.judge import lanes
from assay.model.result.evidence import Evidence
from assay.model.result.verdict import Finding, Verdict

S = 10**9
LANES = {"cache": "direct", "lanes": 4}


def on_lanes(elapsed_ns: int = S, count: int = 4, **fields: Any) -> Evidence:
    return evidence(parameters={"cache": "direct", "lanes": count}, elapsed_ns=elapsed_ns, **fields)


FIRING: list[tuple[Rule, str, Evidence]] = [
    (lanes.skewed, "threads started 10.1 ms apart, 1 % of the elapsed time", on_lanes(skew_ns=10_100_000)),
    (lanes.skewed, "threads started 50.1 ms apart", on_lanes(100 * S, skew_ns=50_100_000)),
    (lanes.skewed, "the last thread ended 10 % of the elapsed time after", on_lanes(finish_spread_ns=101 * MS)),
    (
        lanes.skewed,
        "apart, 2 % of the elapsed time; the last thread",
        on_lanes(skew_ns=20 * MS, finish_spread_ns=S // 2),
    ),
    (lanes.uneven_lanes, "the slowest thread did 49 % of", on_lanes(lane_balance=0.49)),
    (lanes.uneven_lanes, "the slowest thread did 0 % of", on_lanes(lane_balance=0.0, count=2)),
    (lanes.clock_set, "was set forward by 0.1 s", evidence(wall_shift_ns=100 * MS)),
    (lanes.clock_set, "was set back by 2 s", evidence(wall_shift_ns=-2 * S)),
]

SILENT: list[tuple[Rule, Evidence]] = [
    (lanes.skewed, on_lanes(skew_ns=9_900_000, finish_spread_ns=99 * MS)),
    (lanes.skewed, on_lanes(100 * S, skew_ns=49_900_000)),
    (lanes.skewed, on_lanes(skew_ns=10 * MS, finish_spread_ns=100 * MS)),
    (lanes.skewed, on_lanes(5 * S, skew_ns=50 * MS)),
    (lanes.skewed, on_lanes(count=1, skew_ns=S, finish_spread_ns=S)),
    (lanes.skewed, on_lanes(0, skew_ns=S)),
    (lanes.uneven_lanes, on_lanes(lane_balance=0.5)),
    (lanes.uneven_lanes, on_lanes(lane_balance=None)),
    (lanes.uneven_lanes, on_lanes(count=1, lane_balance=0.0)),
    (lanes.clock_set, evidence(wall_shift_ns=99 * MS)),
    (lanes.clock_set, evidence(wall_shift_ns=-99 * MS)),
    (lanes.clock_set, evidence(status="failed", wall_shift_ns=S)),
]


test_fires = fires_test([(rule, Verdict.SKEWED, words, bad) for rule, words, bad in FIRING])
test_keeps_silent = silent_test(SILENT)
test_every_rule_here_is_tested = coverage_test(lanes, FIRING, SILENT)


@pytest.mark.parametrize(
    ("rule", "bad"),
    [
        (lanes.skewed, {"skew_ns": 30 * MS}),
        (lanes.skewed, {"skew_ns": 90 * MS, "elapsed_ns": 50 * S}),
        (lanes.skewed, {"finish_spread_ns": S // 2}),
        (lanes.uneven_lanes, {"lane_balance": 0.1}),
    ],
)
def test_the_median_repeat_decides(rule: Rule, bad: dict[str, Any]) -> None:
    fields = {"parameters": LANES, "elapsed_ns": S}
    assert not odd_repeats(rule, bad, 2, 5, **fields)
    assert odd_repeats(rule, bad, 3, 5, **fields)


def test_lanes_that_are_unknown_in_one_repeat_are_judged_by_the_others() -> None:
    found = evidence(parameters=LANES, changes=[{"lane_balance": None}, {"lane_balance": 0.2}, {"lane_balance": 0.3}])
    assert fires(lanes.uneven_lanes, Verdict.SKEWED, "25 %", found).numbers == {"slowest_lane_share": 0.25}


def test_one_step_of_the_clock_is_enough_and_the_greatest_is_told() -> None:
    steps = [{}, {"wall_shift_ns": S}, {}, {"wall_shift_ns": -3 * S}]
    assert fires(lanes.clock_set, Verdict.SKEWED, "back by 3 s", evidence(changes=steps)).numbers["clock_step_s"] == -3


def test_lanes_with_few_files_are_told_to_take_more() -> None:
    names = about_names(parameters={"cache": "keep", "lanes": 2}, skew_ns=S)
    for found, what in ((names, "more"), (on_lanes(skew_ns=S), "larger")):
        answer = lanes.skewed(found)
        assert isinstance(answer, Finding) and f"Use {what} files" in answer.remedy


def test_the_numbers_are_those_of_the_text() -> None:
    found = fires(lanes.skewed, Verdict.SKEWED, "20 ms", on_lanes(skew_ns=20 * MS, finish_spread_ns=150 * MS))
    assert found.numbers == {"start_skew_ns": 20 * MS, "start_skew_share": 0.02, "finish_spread_share": 0.15}
