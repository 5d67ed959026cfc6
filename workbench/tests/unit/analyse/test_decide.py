"""Answers follow from comparisons, verdicts bound them, and every sentence can be recomputed."""

import re
from statistics import median

import numpy as np
import pytest
from builders import make_row as row
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.compare import compare
from assay.analyse.decide import decide
from assay.model.result.decision import PointOutcome, TargetDecision
from assay.model.result.result import ResultRow
from assay.model.result.verdict import Finding, Verdict
from assay.report.claims import find_claims
from assay.report.summary.sentences import claim_sentence, headline

SEED = 5


def noisy(rate: float, count: int = 12, sigma: float = 0.02, seed: int = 0) -> list[float]:
    return [float(value) for value in rate * np.exp(np.random.default_rng(SEED + seed).normal(0, sigma, count))]


def decided(*rows: ResultRow) -> tuple[TargetDecision, ...]:
    return decide(rows, compare(rows))


def only(base: ResultRow, other: ResultRow) -> TargetDecision:
    (found,) = decided(base, other)
    return found


def test_a_clear_difference_is_decided_with_a_bound() -> None:
    found = only(row("disk", noisy(100e6)), row("memory", noisy(1000e6, seed=1)))
    (point,) = found.points
    assert found.winner == "memory" and point.outcome is PointOutcome.FASTER
    assert 5 < point.at_least < point.ratio < 11


def test_the_base_can_be_the_faster_one() -> None:
    (point,) = only(row("disk", noisy(1000e6)), row("memory", noisy(100e6, seed=1))).points
    assert point.winner == "disk" and 5 < point.at_least < point.ratio < 11


def test_what_differs_by_less_than_5_percent_for_sure_is_equal() -> None:
    (point,) = only(row("disk", noisy(100e6, 40, 0.005)), row("memory", noisy(100.1e6, 40, 0.005, 1))).points
    assert point.outcome is PointOutcome.EQUAL and point.within is not None and 0 < point.within <= 0.05


def test_noise_leaves_it_open() -> None:
    (point,) = only(row("disk", noisy(100e6, 5, 0.3)), row("memory", noisy(110e6, 5, 0.3, 1))).points
    assert point.outcome is PointOutcome.OPEN and "do not show" in point.why
    (point,) = only(row("disk", noisy(100e6, 3)), row("memory", noisy(900e6, 3, seed=1))).points
    assert point.outcome is PointOutcome.OPEN and point.why == "too few repeats"


def test_a_rate_that_the_study_sets_is_no_answer_unless_one_side_falls_short() -> None:
    def at(target: str, rate: float, seed: int, verdict: Verdict = Verdict.OK) -> ResultRow:
        made = row(target, noisy(rate, 12, 0.001, seed), verdict)
        parameters = made.case.parameters.model_copy(update={"rate": 200.0})
        return made.model_copy(update={"case": made.case.model_copy(update={"parameters": parameters})})

    (point,) = only(at("fast", 200, 1), at("slow", 200, 2)).points
    assert point.outcome is PointOutcome.BARRED and "the study sets the rate" in point.why
    (point,) = only(at("fast", 200, 1), at("slow", 100, 2, Verdict.UNSUSTAINED)).points
    assert (point.outcome, point.winner) == (PointOutcome.FASTER, "fast")


def test_what_was_decided_stays_so_whatever_others_show_later() -> None:
    """A point that is measured no more keeps its answer, however noisy later rounds of others are."""

    def pair(number: int, low: list[float], high: list[float]) -> list[ResultRow]:
        made = [row("disk", low), row("memory", high)]
        axes = {"record_size": number}
        return [one.model_copy(update={"case": one.case.model_copy(update={"axes": axes})}) for one in made]

    known = pair(1, noisy(100e6, 12, 0.02, 30), noisy(150e6, 12, 0.02, 31))
    low, high = noisy(100e6, 12, 0.02, 32), noisy(100e6, 12, 0.02, 33)
    early = pair(2, low, high)
    late = pair(2, [*low, *noisy(100e6, 18, 2, 4)], [*high, *noisy(100e6, 18, 2, 5)])
    before = compare([*known, *early], looks=5)[0]
    after = compare([*known, *late], looks=5)[0]
    assert before.separable and before == after
    assert compare([*known, *late])[0] != before


@pytest.mark.parametrize("verdict", [Verdict.CACHED, Verdict.IMPOSSIBLE, Verdict.INCOMPLETE])
def test_a_number_that_is_none_answers_nothing(verdict: Verdict) -> None:
    found = only(row("disk", noisy(100e6)), row("memory", noisy(1000e6, seed=1), verdict))
    assert found.points[0].outcome is PointOutcome.BARRED and found.points[0].why == f"memory is {verdict}"
    assert not found.valid_points and found.winner == ""


@pytest.mark.parametrize("verdict", [Verdict.CLIENT_BOUND, Verdict.NETWORK_BOUND, Verdict.THROTTLED])
def test_what_held_the_faster_side_bounds_the_answer(verdict: Verdict) -> None:
    (point,) = only(row("disk", noisy(100e6)), row("memory", noisy(1000e6, seed=1), verdict)).points
    assert point.outcome is PointOutcome.FASTER and "may be faster still" in point.why
    (point,) = only(row("disk", noisy(100e6), verdict), row("memory", noisy(1000e6, seed=1))).points
    assert point.outcome is PointOutcome.OPEN and "disk is" in point.why


def test_an_unverified_number_answers_and_is_named() -> None:
    found = only(row("disk", noisy(100e6)), row("memory", noisy(1000e6, seed=1), Verdict.UNVERIFIED))
    assert (found.points[0].outcome, found.points[0].unverified) == (PointOutcome.FASTER, ("memory",))
    (claim,) = find_claims([found])
    assert all(
        "(memory is unverified)" in "".join(map(str, text)) for text in (headline([claim]), claim_sentence(claim))
    )
    same = noisy(100e6, 40, 0.005), noisy(100.1e6, 40, 0.005, 1)
    (point,) = only(row("disk", same[0], Verdict.UNVERIFIED), row("memory", same[1])).points
    assert (point.outcome, point.unverified) == (PointOutcome.EQUAL, ("disk",))


def test_an_unstable_result_answers_with_its_interval() -> None:
    (point,) = only(row("disk", noisy(100e6, 12, 0.2), Verdict.UNSTABLE), row("memory", noisy(2e9, seed=1))).points
    assert point.outcome is PointOutcome.FASTER and point.at_least > 4


TARGETS = ("disk", "memory", "ssd")
ROWS = st.lists(
    st.tuples(
        st.floats(1e6, 1e9), st.sampled_from([0.001, 0.05, 0.5]), st.integers(2, 14), st.sampled_from(list(Verdict))
    ),
    min_size=2,
    max_size=12,
)


@given(ROWS, st.integers(2, 3))
def test_every_sentence_follows_from_the_comparisons(made: list[tuple[float, float, int, Verdict]], count: int) -> None:
    rows = [
        row(TARGETS[place % count], noisy(rate, repeats, sigma, place), verdict, 4096 << place // count)
        for place, (rate, sigma, repeats, verdict) in enumerate(made)
    ]
    comparisons = compare(rows)
    for claim in find_claims(decide(rows, comparisons)):
        mine = [pair for pair in comparisons if (pair.base, pair.other) == (claim.base, claim.other)]
        assert len(mine) == len(claim.points)
        text = "".join(part if isinstance(part, str) else part.text for part in claim_sentence(claim))
        for target in (claim.base, claim.other):
            faster = [
                (pair.simultaneous_low, pair.ratio)
                if target == pair.other
                else (1 / pair.simultaneous_high, 1 / pair.ratio)  # type: ignore[operator]
                for pair, point in zip(mine, claim.points, strict=True)
                if point.winner == target
            ]
            assert (f"{target} is faster than" in text) == bool(faster)
            if faster:
                assert min(low for low, _ in faster) > 1  # type: ignore[type-var]
                typical, least = r"([\d.,]+)×", r"at least (?:([\d.,]+)×|more than 1×)"
                words = re.search(
                    rf"{target} is faster than \w+(?: at [^;:]*)?: (?:typically )?{typical}, {least}", text
                )
                assert words is not None, text
                bound = float((words[2] or "1").replace(",", ""))
                assert bound <= min(low for low, _ in faster) * (1 + 1e-9)  # type: ignore[type-var,operator]
                assert float(words[1].replace(",", "")) == pytest.approx(median(ratio for _, ratio in faster), rel=0.06)
        significant = [pair for pair in mine if pair.separable]
        assert len(claim.points_won_by(claim.base)) + len(claim.points_won_by(claim.other)) <= len(significant)


def check_bounded(held: Finding, most: float | None, outcome: PointOutcome) -> None:
    """A slower side that was held ends so; what it may have lost is taken off the bound."""
    disk, memory = row("disk", noisy(100e6)), row("memory", noisy(1000e6, seed=1))
    free = only(disk, memory).points[0]
    slow = disk.model_copy(update={"verdict": held.verdict, "findings": (held,)})
    (point,) = only(slow, memory).points
    assert point.outcome is outcome
    if outcome is PointOutcome.FASTER:
        assert most is not None and point.at_least == pytest.approx(free.at_least / most)


@pytest.mark.parametrize(
    ("most", "outcome"), [(2.0, PointOutcome.FASTER), (20.0, PointOutcome.OPEN), (None, PointOutcome.OPEN)]
)
def test_what_a_side_lost_to_others_on_its_device_is_bounded(most: float | None, outcome: PointOutcome) -> None:
    numbers = {} if most is None else {"max_slowdown": most}
    shared = Finding(verdict=Verdict.CONTENDED, rule="contended", text="", remedy="", numbers=numbers)
    check_bounded(shared, most, outcome)


@pytest.mark.parametrize(
    ("alike", "further_down", "outcome"),
    [
        ((Verdict.CLIENT_BOUND,), 1.0, PointOutcome.FASTER),
        ((Verdict.CLIENT_BOUND,), 0.0, PointOutcome.OPEN),
        ((), 1.0, PointOutcome.OPEN),
    ],
)
def test_others_on_a_disk_further_down_hold_neither_of_two_sides_that_take_turns(
    alike: tuple[Verdict, ...], further_down: float, outcome: PointOutcome
) -> None:
    numbers = {"max_slowdown": 20.0, "further_down": further_down}
    shared = Finding(verdict=Verdict.CONTENDED, rule="contended", text="", remedy="", numbers=numbers)
    disk, memory = row("disk", noisy(100e6)), row("memory", noisy(1000e6, seed=1))
    rows = disk.model_copy(update={"verdict": Verdict.CONTENDED, "findings": (shared,)}), memory
    ((point,),) = (decision.points for decision in decide(rows, compare(rows), alike=alike))
    assert point.outcome is outcome


@pytest.mark.parametrize(("lost", "outcome"), [(0.3, PointOutcome.FASTER), (0.95, PointOutcome.OPEN)])
@pytest.mark.parametrize("rule", ["starved_client", "stopped_engine"])
def test_what_a_side_lost_to_others_on_its_cpus_is_bounded(rule: str, lost: float, outcome: PointOutcome) -> None:
    numbers = {"cpu_wait_share": lost, "stolen_share": 0.0, "away_share": lost}
    starved = Finding(verdict=Verdict.CLIENT_BOUND, rule=rule, text="", remedy="", numbers=numbers)
    check_bounded(starved, 1 / (1 - lost), outcome)


def test_each_command_is_a_kind_of_work_of_its_own() -> None:
    two = [
        TargetDecision(workload=name, operation="run", base="disk", other="memory", points=())
        for name in ("align", "sort")
    ]
    assert [claim.label for claim in find_claims(two)] == ["Command align", "Command sort"]
