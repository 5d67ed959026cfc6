"""The twenty needs with all designs of all their books: what is chosen is what is chosen among the argued ones."""

import pytest
from advise_tools import best
from twenty_tools import OTHERWISE, REASONS, WIDE, among, given, standing, told


@pytest.mark.parametrize("number", WIDE)
def test_all_designs_have_the_answer_of_those_that_are_argued_about(number):
    whole, few = given(number), among(number)
    assert (whole.result, whole.recommended) == ("recommended", few.recommended)
    assert best(whole).price == best(few).price
    # Two regions are not argued about: no need asks for them.
    kept = [[item for item in standing(answer) if item.durability != "multi-region"] for answer in (whole, few)]
    ranks = [[(item.label, item.price.paid) for item in items[:2]] for items in kept]
    assert ranks[0] == ranks[1]
    assert all(words in told(whole) for words in REASONS[number])


# One change of each need: all of them are asked for among the argued designs in the unit tests.
CHANGES = list({number: (number, *rest) for number, *rest in OTHERWISE if number in WIDE}.values())


@pytest.mark.parametrize(("number", "changes", "design"), CHANGES)
def test_other_circumstances_ask_for_something_else(number, changes, design):
    answer = given(number, **changes)
    assert (best(answer).design if answer.recommended else None) == design
