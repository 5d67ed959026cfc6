"""In which order two sides are measured: balanced, random, and the same each time."""

from collections import Counter
from itertools import pairwise

from builders import make_case
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times

from assay.plan.blocks import Pair, block_order, pairs_of

SEEDS = st.integers(0, 2**53 - 1)


def pairs(count: int) -> list[Pair]:
    return [(f"c{number:04}", f"c{number + count:04}") for number in range(1, count + 1)]


def firsts(order: tuple[tuple[str, int], ...], made: list[Pair]) -> dict[int, dict[Pair, int]]:
    """Round -> pair -> which of its two sides was measured first; the two follow each other at once."""
    found: dict[int, dict[Pair, int]] = {}
    sides = {case: (pair, side) for pair in made for side, case in enumerate(pair)}
    for (first, here), (second, there) in zip(order[::2], order[1::2], strict=True):
        pair, side = sides[first]
        assert here == there and sides[second] == (pair, 1 - side)
        assert found.setdefault(here, {}).setdefault(pair, side) == side
    return found


@settings(max_examples=times(60, 1000), deadline=None)
@given(st.integers(1, 12), st.integers(1, 15), SEEDS)
def test_each_round_has_every_case_once_and_the_two_of_a_pair_beside_each_other(
    count: int, rounds: int, seed: int
) -> None:
    made = pairs(count)
    order = block_order(made, rounds, seed)
    assert order == block_order(made, rounds, seed)
    assert [repeat for _, repeat in order] == sorted(repeat for _, repeat in order)
    assert Counter(order) == Counter(
        (case, number) for pair in made for case in pair for number in range(1, rounds + 1)
    )
    assert {number: set(found) for number, found in firsts(order, made).items()} == {
        number: set(made) for number in range(1, rounds + 1)
    }


@settings(max_examples=times(60, 1000), deadline=None)
@given(st.integers(1, 12), st.integers(2, 16), SEEDS)
def test_neither_side_is_first_more_often(count: int, rounds: int, seed: int) -> None:
    """After any number of rounds a pair was begun with either side as often, but for one; likewise within a round."""
    made = pairs(count)
    found = firsts(block_order(made, rounds, seed), made)
    for pair in made:
        begun = 0
        for number in range(1, rounds + 1):
            begun += 1 if found[number][pair] == 0 else -1
            assert abs(begun) <= 1
        couples = [(found[number][pair], found[number + 1][pair]) for number in range(1, rounds, 2)]
        assert all(one != other for one, other in couples)
    for of_round in found.values():
        assert abs(2 * sum(of_round.values()) - count) <= 1


def test_a_steady_drift_falls_out_of_the_difference() -> None:
    """Each repeat is a hundredth slower than the one before: over couples of rounds both sides lose the same."""
    made = pairs(1)
    order = block_order(made, 40, seed=7)
    places: dict[int, list[int]] = {0: [], 1: []}
    for place, (case, _) in enumerate(order):
        places[made[0].index(case)].append(place)
    assert sum(places[0]) == sum(places[1])


def test_what_is_first_is_random_over_seeds_and_rounds() -> None:
    made = pairs(1)
    begun = Counter(firsts(block_order(made, 1, seed), made)[1][made[0]] for seed in range(200))
    assert 70 <= begun[0] <= 130
    found = firsts(block_order(made, 400, seed=1), made)
    odd = [found[number][made[0]] for number in range(1, 400, 2)]
    assert 70 <= sum(odd) <= 130
    # Neither always the same, nor in turns, which something that recurs could follow.
    assert 60 <= sum(one != other for one, other in pairwise(odd)) <= 140


def test_other_seeds_give_other_orders() -> None:
    made = pairs(8)
    assert len({block_order(made, 3, seed) for seed in range(50)}) == 50


def test_pairs_are_the_same_work_on_both_sides() -> None:
    a, b = (make_case(f"c000{number}", target) for number, target in enumerate("AB", start=1))
    alone = make_case("c0003", "A", axes={"record_size": 8192}, record_size=8192)
    other = make_case("c0004", "C")
    assert pairs_of([a, b, alone, other], "A", "B") == (("c0001", "c0002"),)
    assert pairs_of([a, alone], "A", "B") == ()
