"""Twenty needs: what Assay recommends is what each need's comment argues, and its prices are those of other arithmetic.

`second_opinion` computes from the rows of the same books, and knows nothing of Assay. Prices are equal to the cent: both
compute exactly, so that nothing but a different formula makes a difference.
"""

import re
from decimal import Decimal
from functools import cache

import pytest
import second_opinion
import second_opinion_needs  # noqa: F401  (fills the table of needs)
from advise_tools import NEEDS, best, read_need

from assay.model.money.advice import Advice, Option
from assay.money.advice.advise import advise
from assay.money.advice.published import published
from assay.money.books.books import load_book

NUMBERS = sorted(second_opinion.ALL)
CENT = Decimal("0.01")
OTHERS = [(number, place) for number in NUMBERS for place in range(len(second_opinion.candidates(number)))]
STATED = re.compile(r"^# (Expected|Runner-up): (?P<design>[a-z0-9-]+)(, (?P<cost>[0-9,.]+) (USD|EUR) a month)?$", re.M)


@cache
def advised(number: str, **changes: object) -> Advice:
    """Assay's answer."""
    return given(number)


def given(number: str, **changes: object) -> Advice:
    """Its answer to the need with changes."""
    need = read_need(number, **changes)
    books = [load_book(name, NEEDS) for name in need.books or (need.book,)]
    return advise(need, books, published(), NEEDS)


def names(found: Option, settings: dict[str, object]) -> dict[str, object]:
    """Of the settings those that Assay names, as it names them."""
    return {key: found.set[key] for key in settings if key in found.set}


def priced(number: str, found: second_opinion.Candidate) -> Option:
    """That candidate alone, as Assay prices it, whether it does or not."""
    term = {"term": found.term} if found.term else {}
    answer = given(number, candidates=[{"design": found.design, "set": found.settings}], **term)
    options = [*answer.options, *answer.unproven, *(item.closest for item in answer.rejected if item.closest)]
    return min(options, key=lambda item: item.price.paid)


def standing(number: str) -> list[str]:
    """Designs of the options in the order of their price, each once."""
    order = sorted(advised(number).options, key=lambda item: item.price.paid)
    return list(dict.fromkeys(item.design for item in order))


def said(number: str) -> list[tuple[str, Decimal | None]]:
    """What the comment of the need states: the choice, then the runner-up."""
    text = next(NEEDS.glob(f"{number}-*.yaml")).read_text()
    return [(item["design"], Decimal(item["cost"].replace(",", "")) if item["cost"] else None) for item in STATED.finditer(text)]


def test_there_are_twenty():
    assert NUMBERS == [f"{number:02}" for number in range(1, 21)]
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
    expected, found = second_opinion.candidates(number)[0], best(advised(number))
    assert (advised(number).result, found.design) == ("recommended", expected.design)
    assert found.price.month.quantize(CENT) == expected.cost.quantize(CENT)
    same = priced(number, expected)
    assert names(found, expected.settings) == names(same, expected.settings)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_runner_up_is_the_same(number):
    rival = said(number)[1][0]
    assert (standing(number) + ["none"])[1] == rival


@pytest.mark.parametrize(("number", "place"), OTHERS)
def test_each_candidate_has_the_same_price_and_fate(number, place):
    expected = second_opinion.candidates(number)[place]
    found = priced(number, expected)
    assert found.price.month.quantize(CENT) == expected.cost.quantize(CENT), expected.formula
    assert found.outcome == ("failed" if expected.fails else "unproven" if expected.unproven else "met"), found.checks


REASONS = {
    "01": ("21.2 TiB", ),
}


