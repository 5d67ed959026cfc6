"""What would change an answer for which thousands of variants were tried."""

import pytest
from advise_tools import advised, book_of, read_need
from outlook_tools import KINDS, looked_at

from assay.rooms.advice.work.outlook.picture import picture
from assay.rooms.advice.work.published_evidence import published_evidence


@pytest.mark.parametrize("name", KINDS)
def test_the_picture_of_all_designs_is_that_of_the_best_of_them(name: str) -> None:
    """So that tests may look at these few."""
    need = read_need(name)
    book = book_of(need)
    whole = picture(advised(need, (book,), published_evidence()), book, published_evidence())
    assert whole == looked_at(name).picture
