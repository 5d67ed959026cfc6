"""Twenty needs: what Assay recommends is what each need's comment argues, and its prices are those of other arithmetic.

Tried are the designs that are argued about. A simulation shows that all designs have the same answers.

`second_opinion` computes from the rows of the same books, and knows nothing of Assay. Prices are equal to the cent:
both compute exactly, so that nothing but a different formula makes a difference.
"""

import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
import second_opinion
from advise_tools import NEEDS, best
from twenty_tools import NUMBERS, OTHERWISE, REASONS, among, given, standing, told

from assay.rooms.advice.model.advice import AdviceOption

SUPPORT = Path(second_opinion.__file__).parent
CENT = Decimal("0.01")
OTHERS = [(number, place) for number in NUMBERS for place in range(len(second_opinion.candidates(number)))]
STATED = re.compile(r"^# (Expected|Runner-up): (?P<design>[a-z0-9-]+)(, (?P<cost>[0-9,.]+) (USD|EUR) a month)?$", re.M)


def priced(number: str, found: second_opinion.Candidate) -> AdviceOption:
    """That candidate alone, as Assay prices it, whether it does or not."""
    term = {"term": found.term} if found.term else {}
    answer = given(number, candidates=[{"design": found.design, "set": found.settings}], **term)
    options = [*answer.options, *answer.unproven, *(item.closest for item in answer.rejected if item.closest)]
    return min(options, key=lambda item: item.price.paid)


def said(number: str) -> list[tuple[str, Decimal | None]]:
    """What the comment of the need states: the choice, then the runner-up."""
    text = next(NEEDS.glob(f"{number}-*.yaml")).read_text()
    return [
        (item["design"], Decimal(item["cost"].replace(",", "")) if item["cost"] else None)
        for item in STATED.finditer(text)
    ]


def test_there_are_twenty():
    assert [f"{number:02}" for number in range(1, 21)] == NUMBERS
    assert all(2 <= len(second_opinion.candidates(number)) - 1 <= 8 for number in NUMBERS)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_comment_argues_what_the_arithmetic_gives(number):
    """The comment's figures are of the day; beyond a hundredth the argument must be looked at again."""
    order = second_opinion.ranked(second_opinion.candidates(number))
    assert order[0] is not None and order[0].name == second_opinion.candidates(number)[0].name
    (choice, cost), (rival, rival_cost) = said(number)
    assert choice == order[0].design and abs(cost / order[0].cost - 1) < CENT
    others = [item for item in order if item.design != choice]
    assert (rival, bool(rival_cost)) == ((others[0].design, True) if others else ("none", False))
    if others:
        assert abs(rival_cost / others[0].cost - 1) < CENT


@pytest.mark.parametrize("number", NUMBERS)
def test_assay_recommends_it_at_that_price(number):
    expected, found = second_opinion.candidates(number)[0], best(among(number))
    assert (among(number).result, found.design) == ("recommended", expected.design)
    assert found.price.month.quantize(CENT) == expected.cost.quantize(CENT)
    same = priced(number, expected)
    told = expected.settings.keys() & found.set.keys()
    assert told and {key: found.set[key] for key in told} == {key: same.set[key] for key in told}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_runner_up_is_the_same(number):
    """The best of another design."""
    choice, *others = second_opinion.ranked(second_opinion.candidates(number))
    rival = next((item for item in others if item.design != choice.design), None)
    found = next((item for item in standing(among(number)) if item.design != choice.design), None)
    assert (found and found.design) == (rival and rival.design)
    if found and rival:
        assert found.price.month.quantize(CENT) == rival.cost.quantize(CENT)


@pytest.mark.parametrize(("number", "place"), OTHERS)
def test_each_candidate_has_the_same_price_and_fate(number, place):
    expected = second_opinion.candidates(number)[place]
    found = priced(number, expected)
    assert found.price.month.quantize(CENT) == expected.cost.quantize(CENT), expected.formula
    assert found.outcome == ("failed" if expected.fails else "unproven" if expected.unproven else "met"), found.checks


@pytest.mark.parametrize("number", NUMBERS)
def test_the_reason_is_said(number):
    text = told(among(number))
    for words in REASONS[number]:
        assert words in text


@pytest.mark.parametrize(("number", "changes", "design"), OTHERWISE)
def test_other_circumstances_ask_for_something_else(number, changes, design):
    """Each of these is argued in the comment of the need, or follows from the order of its arithmetic."""
    answer = among(number, design, **changes)
    assert (best(answer).design if answer.recommended else None) == design


def test_people_turn_tape_where_the_comment_says():
    """29.3 hours a month: (Deep Archive - tape without people) / wage."""
    tape, deep = second_opinion.candidates("13")[:2]
    without = sum(line.cost for line in tape.lines[:-1])
    hours = (deep.cost - without) / (tape.lines[-1].cost / 15)
    below, above = (
        among("13", admin_hours={"own": Decimal(str(round(hours + off, 1)))}) for off in (Decimal(-1), Decimal(1))
    )
    assert (best(below).design, best(above).design) == ("own-tape", "s3-archive")


def test_the_other_arithmetic_knows_nothing_of_assay():
    """It runs where Assay cannot be imported, and prints all needs."""
    code = "import sys; sys.modules['assay'] = None; import second_opinion; second_opinion.main([])"
    ran = subprocess.run([sys.executable, "-c", code], cwd=SUPPORT, capture_output=True, text=True, check=True)
    assert [line[:2] for line in ran.stdout.splitlines() if line[:1].isdigit()] == NUMBERS
