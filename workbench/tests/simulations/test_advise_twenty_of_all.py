"""The twenty needs with all designs of all their books: what is chosen is what is chosen among the argued ones."""

import pytest
from advise_tools import best
from twenty_tools import OTHERWISE, REASONS, WIDE, among, given, standing, told


@pytest.mark.parametrize("number", WIDE)
def test_all_designs_have_the_answer_of_those_that_are_argued_about(number):
    whole, few = given(number), among(number)
    assert (whole.result, whole.recommended) == ("recommended", few.recommended)
    assert best(whole).price == best(few).price
    ranks = [[(item.label, item.price.paid) for item in standing(answer)[:2]] for answer in (whole, few)]
    assert ranks[0] == ranks[1]
    assert all(words in told(whole) for words in REASONS[number])


@pytest.mark.parametrize(("number", "changes", "design"), [each for each in OTHERWISE if each[0] in WIDE])
def test_other_circumstances_ask_for_something_else(number, changes, design):
    answer = given(number, **changes)
    assert (best(answer).design if answer.recommended else None) == design
