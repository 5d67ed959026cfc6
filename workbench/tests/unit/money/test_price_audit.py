"""Which mistakes are found in printed figures, and that none is claimed where there is none."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.money.papers.audit import (
    MISTAKES,
    NONE,
    Mistakes,
    PrintedFigure,
    digits_of,
    explaining_mistakes,
    format_digits,
    mistakes_text,
)

KNOWS = frozenset({"read", "binary", "last"})


def cost(hour: str, writes: list[int], reads: list[int]):
    """Money for a GB/s, computed with any of `KNOWS`."""

    def compute(mistakes: Mistakes) -> Decimal:
        rates = reads if "read" in mistakes else writes
        rate = rates[-1] if "last" in mistakes else max(rates)
        return Decimal(hour) / (Decimal(rate) / (1024 if "binary" in mistakes else 1000))

    return compute


def checked(hour: str, printed: str, writes: list[int], reads: list[int]) -> PrintedFigure:
    return PrintedFigure(printed, cost(hour, writes, reads), KNOWS)


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_each_mistake_alone_is_found(name: str) -> None:
    """A computation that knows all of them, each with a factor of its own."""
    names = sorted(MISTAKES.keys() - {"cut"})

    def compute(mistakes: Mistakes) -> Decimal:
        value = Decimal("10.00999")
        for place, known in enumerate(names):
            value *= Decimal(1) + (place + 1) * Decimal("0.0137") * (known in mistakes)
        return value

    made = frozenset({name})
    printed = format_digits(compute(made - {"cut"}), 3, cut=name == "cut")
    assert explaining_mistakes([PrintedFigure(printed, compute, frozenset(names))])[0] == made


def test_two_mistakes_together_are_found_and_only_the_simplest_explanation_is_told() -> None:
    writes, reads = [1000, 900], [3000, 2000]
    one = checked("7", format_digits(cost("7", writes, reads)(frozenset({"read", "last"})), 3), writes, reads)
    assert explaining_mistakes([one]) == [frozenset({"read", "last"})]
    alone = checked("7", format_digits(cost("7", writes, reads)(frozenset({"read"})), 3), writes, reads)
    assert explaining_mistakes([alone]) == [frozenset({"read"})]


def test_a_mistake_must_explain_all_figures() -> None:
    right = format_digits(cost("7", [1000], [3000])(NONE), 2)
    swapped = format_digits(cost("8", [1000], [3000])(frozenset({"read"})), 2)
    assert explaining_mistakes([checked("8", swapped, [1000], [3000])]) == [frozenset({"read"})]
    assert explaining_mistakes([checked("7", right, [1000], [3000]), checked("8", swapped, [1000], [3000])]) == []


def test_three_mistakes_or_another_figure_are_not_explained() -> None:
    writes, reads = [1000, 900], [3000, 2000]
    three = format_digits(cost("7", writes, reads)(KNOWS), 4)
    assert explaining_mistakes([checked("7", three, writes, reads)]) == []
    assert explaining_mistakes([checked("7", "123.45", writes, reads)]) == []


def test_no_two_months_together() -> None:
    hours = {"month-720": 720, "month-730": 730, "month-744": 744}

    def compute(mistakes: Mistakes) -> Decimal:
        return sum((Decimal(value) for name, value in hours.items() if name in mistakes), Decimal("729.6"))

    assert explaining_mistakes([PrintedFigure("2179.60", compute, frozenset(hours))]) == []


@given(st.decimals(min_value=0, max_value=10**6, places=6), st.integers(0, 4))
def test_what_is_right_is_never_explained(value: Decimal, digits: int) -> None:
    text = format_digits(value, digits)
    assert digits_of(text) == digits
    assert explaining_mistakes([PrintedFigure(text, lambda _: value, NONE)]) == []


@given(st.decimals(min_value=0, max_value=10**6, places=6), st.integers(0, 4))
def test_what_is_cut_off_is_right_or_found(value: Decimal, digits: int) -> None:
    cut = format_digits(value, digits, cut=True)
    assert 0 <= value - Decimal(cut) < Decimal(1).scaleb(-digits)
    same = cut == format_digits(value, digits)
    assert explaining_mistakes([PrintedFigure(cut, lambda _: value, NONE)]) == ([] if same else [frozenset({"cut"})])


def test_words_name_the_mistakes_in_one_order() -> None:
    assert (
        mistakes_text({"binary", "read"})
        == mistakes_text({"read", "binary"})
        == "read instead of write, and 1024 for 1000"
    )
