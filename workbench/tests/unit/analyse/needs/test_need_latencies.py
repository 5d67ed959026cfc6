"""Whether a percentile is below a limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analyse import histograms
from assay.analyse.needs.latencies import RepeatLatencies, decide_percentile, repeat_latencies
from assay.analyse.needs.outcome import NeedStatus, worst_status

MS = 1_000_000


def repeats(*groups: dict[int, int], wait: float = 0.0, late: float = 0.0) -> list[RepeatLatencies]:
    """Repeats of latencies in ms, each with how many operations had it."""
    made = []
    for group in groups:
        values = sorted(group)
        counts = np.array([group[value] for value in values])
        made.append(RepeatLatencies(np.array([value * MS for value in values]), counts, 0, wait, late))
    return made


def test_fast_slow_and_in_between() -> None:
    fast = decide_percentile(repeats(*[{2: 999, 5: 1}] * 6), 0.01, 10 * MS)
    slow = decide_percentile(repeats(*[{2: 500, 12: 500}] * 6), 0.01, 10 * MS)
    between = decide_percentile(repeats(*[{2: 990, 12: 10}] * 6), 0.01, 10 * MS)
    assert [each.status for each in (fast, slow, between)] == [NeedStatus.YES, NeedStatus.NO, NeedStatus.UNDECIDED]
    assert (fast.value, slow.value) == (2 * MS, 12 * MS)


def test_a_slow_place_is_known_after_few_operations_and_a_fast_one_is_not() -> None:
    assert decide_percentile(repeats(*[{20: 5}] * 4), 0.01, 10 * MS).status is NeedStatus.NO
    few = decide_percentile(repeats(*[{1: 5}] * 4), 0.01, 10 * MS)
    assert few.status is NeedStatus.UNDECIDED and few.high is None and few.why


@settings(max_examples=20)
@given(
    st.lists(st.dictionaries(st.integers(1, 40), st.integers(1, 400), min_size=1), min_size=2, max_size=6),
    st.integers(1, 41),
    st.sampled_from([0.5, 0.05, 0.01]),
)
def test_a_greater_limit_never_turns_yes_into_no(groups: list[dict[int, int]], limit: int, allowed: float) -> None:
    made = repeats(*groups)
    lower, higher = (decide_percentile(made, allowed, each * MS).status for each in (limit, limit + 5))
    assert not (lower is NeedStatus.YES and higher is NeedStatus.NO)


@given(st.dictionaries(st.integers(1, 40), st.integers(1, 50), min_size=1), st.floats(0, 1e10), st.integers(1, 40))
def test_waits_take_off_no_more_than_they_can(group: dict[int, int], wait: float, limit: int) -> None:
    (one,) = repeats(group, wait=wait)
    raw, least = one.over(limit * MS).over, one.over_without_waits(limit * MS).over
    assert 0 <= least <= raw
    excess = sorted(
        value * MS - limit * MS + 1 for value, count in group.items() for _ in range(count) if value >= limit
    )
    assert sum(excess[: raw - least]) <= wait
    if least:
        assert sum(excess[: raw - least + 1]) > wait


def test_waits_for_a_cpu_leave_a_slow_answer_open() -> None:
    assert decide_percentile(repeats(*[{2: 900, 12: 100}] * 6), 0.01, 10 * MS).status is NeedStatus.NO
    waited = decide_percentile(repeats(*[{2: 900, 12: 100}] * 6, wait=100 * 3.0 * MS), 0.01, 10 * MS)
    late = decide_percentile(repeats(*[{2: 900, 12: 100}] * 6, late=95), 0.01, 10 * MS)
    assert waited.status is late.status is NeedStatus.UNDECIDED
    # Few operations leave it open only where their interval does.
    few = decide_percentile(repeats(*[{2: 20, 12: 20}] * 6, wait=1000 * 12.0 * MS), 0.01, 10 * MS)
    assert few.low is not None and few.low > 10 * MS and "waited for a CPU" in few.why


def test_operations_that_never_started_are_slow() -> None:
    text = histograms.of_counts({1 * MS: 1000}, 10 * MS, 3)
    assert decide_percentile([repeat_latencies(text)] * 6, 0.01, 10 * MS).status is NeedStatus.YES
    assert decide_percentile([repeat_latencies(text, unstarted=200)] * 6, 0.01, 10 * MS).status is NeedStatus.NO


@pytest.mark.parametrize(
    ("answers", "expected"),
    [("yyy", "yes"), ("yuy", "undecided"), ("yun", "no"), ("n", "no"), ("", "undecided")],
)
def test_all_requirements_count(answers: str, expected: str) -> None:
    words = {"y": NeedStatus.YES, "n": NeedStatus.NO, "u": NeedStatus.UNDECIDED}
    assert worst_status([words[each] for each in answers]) == expected


def test_exit_codes() -> None:
    assert [each.exit_code for each in (NeedStatus.YES, NeedStatus.NO, NeedStatus.UNDECIDED)] == [0, 1, 3]
