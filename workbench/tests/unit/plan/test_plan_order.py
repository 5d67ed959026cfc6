from hypothesis import given
from hypothesis import strategies as st

from assay.plan.order import order_jobs

CASES = st.integers(1, 60).map(lambda count: [f"c{number:04d}" for number in range(1, count + 1)])


@given(CASES, st.integers(1, 5), st.sampled_from(["random", "sequential"]), st.integers(0, 2**53))
def test_each_round_has_every_case_exactly_once(cases, repeats, order, seed):
    jobs = order_jobs(cases, repeats, order, seed)
    assert len(jobs) == len(cases) * repeats
    for repeat in range(1, repeats + 1):
        block = jobs[(repeat - 1) * len(cases) : repeat * len(cases)]
        assert {number for _case, number in block} == {repeat}
        assert sorted(case for case, _number in block) == cases


def test_the_seed_decides_and_rounds_differ():
    cases = [f"c{number:04d}" for number in range(1, 31)]
    jobs = order_jobs(cases, 2, "random", 1)
    assert jobs == order_jobs(cases, 2, "random", 1)
    assert jobs != order_jobs(cases, 2, "random", 2)
    first, second = [case for case, _ in jobs[:30]], [case for case, _ in jobs[30:]]
    assert first != second and first != cases


def test_sequential_keeps_plan_order():
    assert order_jobs(["c0001", "c0002"], 2, "sequential", 9) == (
        ("c0001", 1),
        ("c0002", 1),
        ("c0001", 2),
        ("c0002", 2),
    )


def test_every_case_comes_first_about_equally_often():
    cases = [f"c{number:04d}" for number in range(1, 6)]
    firsts = [order_jobs(cases, 1, "random", seed)[0][0] for seed in range(1000)]
    # Binomial with mean 200 and standard deviation 12.6: five of them on either side.
    assert all(137 < firsts.count(case) < 263 for case in cases)


def test_the_order_is_the_same_for_ever():
    jobs = order_jobs(["c0001", "c0002", "c0003", "c0004"], 1, "random", 1)
    assert [case for case, _repeat in jobs] == ["c0004", "c0002", "c0003", "c0001"]
