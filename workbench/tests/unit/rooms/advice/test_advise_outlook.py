"""What would change an answer: each figure is what advice itself gives for that size, price or assumption."""

from decimal import Decimal
from itertools import pairwise

import pytest
from advise_tools import NEEDS, advised, read_need
from outlook_tools import KINDS, Looked, anew, at_size, compared_month, looked_at, near, scaled
from soak import times

from assay.model.money.amount import parse_share
from assay.money.books.books import load_book
from assay.rooms.advice.model.sensitivity import Assumption, CostCurves, RangeEnd
from assay.rooms.advice.work.outlook import reassess as again_module
from assay.rooms.advice.work.outlook.curves import FACTORS, HALVINGS, NeedSweep
from assay.rooms.advice.work.outlook.picture import change_texts, picture
from assay.rooms.advice.work.outlook.reassess import MAX_DESIGNS

ALL = ("01", "02", "05", "07", "08", "09", "12")
NAMES = times(ALL[1:], ALL)
"""The first costs as much as all others together."""
DISCOUNTED = {"discount": "5%", "tax": "19%", "months": 36}


@pytest.fixture(scope="module", params=NAMES)
def looked(request: pytest.FixtureRequest) -> Looked:
    return looked_at(request.param)


def curves_of(looked: Looked) -> list[CostCurves]:
    found = looked.picture
    return [curves for curves in (found.capacity, found.rate) if curves is not None]


def test_the_need_itself_costs_what_the_advice_says(looked: Looked) -> None:
    option = next(item for item in looked.advice.options if item.design == looked.best)
    assert near(looked.picture.month, compared_month(option, looked.advice.need))
    others = [item.price.month for item in looked.advice.options if item.design != looked.best]
    assert (looked.picture.gap is None) == (not others)
    for curves in curves_of(looked):
        for curve in curves.curves:
            (point,) = [point for point in curve.points if point.at == curves.need]
            first = next(item for item in looked.advice.options if item.design == curve.design)
            assert near(point.month, compared_month(first, looked.advice.need)) and point.option == first.label


def test_each_point_is_what_advice_says_of_that_design_at_that_size(looked: Looked) -> None:
    compared = 0
    for curves in curves_of(looked):
        assert [size / curves.need for size in curves.sizes] == pytest.approx([float(each) for each in FACTORS])
        for curve in curves.curves:
            assert {point.at for point in curve.points} >= set(curves.sizes)
            for point in curve.points:
                design, month = anew(looked, only=curve.design, **at_size(curves, point.at, looked.again.need))
                assert (design is None) == (point.month is None)
                assert near(point.month, month)
                compared += point.month is not None
    assert compared


def test_each_crossing_is_where_advice_changes_its_choice(looked: Looked) -> None:
    for curves in curves_of(looked):
        last = 0.0
        for crossing in curves.crossings:
            assert last <= crossing.below < crossing.at
            last = crossing.at
            before, _ = anew(looked, **at_size(curves, crossing.below, looked.again.need))
            after, month = anew(looked, **at_size(curves, crossing.at, looked.again.need))
            assert (before, after) == (crossing.before, crossing.after) and (before != after or crossing.over_budget)
            assert near(crossing.after_month, month)
            if crossing.before_month is not None and crossing.after_month is not None and before != after:
                assert ("less than" in crossing.text) == (crossing.after_month < crossing.before_month)
                assert ("the same" in crossing.text) == (crossing.after_month == crossing.before_month)
            # Five halvings of a factor of 2 or 2.5, rounded to three digits.
            assert crossing.at / crossing.below < 1.05


def test_between_crossings_the_cheapest_point_is_of_the_design_that_is_said(looked: Looked) -> None:
    for curves in curves_of(looked):
        for size in [*curves.sizes, *(crossing.at for crossing in curves.crossings)]:
            points = [(curve.design, point) for curve in curves.curves for point in curve.points if point.at == size]
            costs = {design: point.month for design, point in points}
            there = [month for month in costs.values() if month is not None]
            said = curves.crossings[0].before if curves.crossings else looked.best
            for crossing in curves.crossings:
                said = crossing.after if crossing.at <= size else said
            assert (said is None) == (not there)
            assert said is None or costs[said] == min(there)


def test_a_line_ends_where_its_design_no_longer_meets_the_need() -> None:
    """A line has no end between two sizes of the chart that are a factor of two apart."""
    ends = 0
    for curves in curves_of(looked_at("09")) + curves_of(looked_at("12")):
        for curve in curves.curves:
            for low, high in pairwise(curve.points):
                if (low.month is None) != (high.month is None):
                    assert high.at / low.at < 1.05
                    ends += 1
    assert ends


def test_the_total_that_is_compared_is_that_of_the_choice_at_each_crossing() -> None:
    """BeeGFS on disks costs more than on volumes, but for the administration of its servers, of which it has fewer."""
    need = read_need("01", candidates=KINDS["01"][:3], budget=None)
    found = looked_at(need)
    for curves in curves_of(found):
        for crossing in curves.crossings:
            if crossing.before_month is not None and crossing.after_month is not None:
                assert crossing.after_month <= crossing.before_month
    assert found.picture.gap is not None and found.picture.gap >= 0
    assert found.picture.measure.startswith("USD a month with administration")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("24192", "from 3.09 TB up, b costs the same as a and is no slower (24,192.00 USD a month)"),
        ("24191.999", "from 3.09 TB up, b costs a fraction of a cent less than a (24,192.00 USD a month)"),
        ("24191.5", "from 3.09 TB up, b costs less than a (24,191.50 against 24,192.00 USD a month)"),
    ],
)
def test_where_two_cost_the_same_nothing_is_said_to_cost_less(now: str, said: str) -> None:
    again = looked_at("09").again
    sweep = NeedSweep(again, "capacity", (), lambda size: {"capacity": round(size)}, again.need.capacity)
    assert sweep.crossing_text(3e12, 3.09e12, "a", "b", Decimal(24192), Decimal(now)) == said


def test_there_are_crossings_of_each_kind() -> None:
    """So that the tests above have something to look at."""
    found = [crossing for name in ALL for curves in curves_of(looked_at(name)) for crossing in curves.crossings]
    assert any("costs less than" in crossing.text for crossing in found)
    assert any(crossing.before_month is None and "meets the need only up to" in crossing.text for crossing in found)
    assert any(crossing.after is None and "none of these designs" in crossing.text for crossing in found)


def ends(looked: Looked, name: str) -> tuple[Assumption | None, list[RangeEnd]]:
    each = next((each for each in looked.picture.tornado if each.name == name), None)
    return each, [] if each is None else [end for end in (each.low, each.high) if end is not None]


def as_answered(looked: Looked, end: RangeEnd, design: str | None, month: Decimal | None) -> None:
    """The end says what advice says: the choice, its cost, and by how much the best of the others is dearer."""
    assert end.choice == design
    if design == looked.best:
        assert near(end.month, month) and (end.gap is None or end.gap >= 0)
    elif end.month is not None and end.gap is not None and month is not None:
        assert near(end.month + end.gap, month) and end.gap <= 0


@pytest.mark.parametrize("name", times(["03", "07", "09"], ["01", "03", "07", "09"]))
def test_each_end_of_an_assumption_is_what_advice_says_then(name: str) -> None:
    looked = looked_at(name, budget=None)
    need, compared = looked.again.need, 0
    for assumption, key, parse in (
        ("months", "months", lambda text: int(text.split()[0])),
        ("share of time switched on", "duty", parse_share),
        ("growth of size and rates", "growth", parse_share),
        ("clients", "clients", lambda text: int(text.replace(",", ""))),
    ):
        each, there = ends(looked, assumption)
        for end in there:
            as_answered(looked, end, *anew(looked, **{key: parse(end.value.replace(" %", "%"))}))
            compared += 1
        assert each is not None or assumption in looked.picture.without_effect or getattr(need, key, None) is None
    assert compared


@pytest.mark.parametrize(
    ("name", "changes"), [*times([], [("01", {})]), ("07", {}), ("08", {}), ("09", DISCOUNTED), ("12", DISCOUNTED)]
)
def test_each_end_of_a_price_is_what_advice_says_at_that_price(name: str, changes: dict[str, object]) -> None:
    looked = looked_at(name, budget=None, **changes)
    (book,) = looked.books
    prices = [each for each in looked.picture.tornado if each.name.startswith("price of ")]
    assert prices
    for each in prices:
        word, _, kind = each.name.removeprefix("price of ").removesuffix(")").partition(" (")
        dimension, item = next(
            (row.dimension, row.item)
            for row in looked.advice.rows
            if (row.item == word and kind in ("", row.dimension))
            or (word, row.dimension) in {("egress", "transfer-out"), ("rack space", "rack")}
        )
        assert each.low is not None and each.high is not None
        for end, step in ((each.low, Decimal("0.8")), (each.high, Decimal("1.2"))):
            as_answered(looked, end, *anew(looked, [scaled(book, step, dimension, item)]))


@pytest.mark.parametrize("name", times(["08", "09"], ["01", "08", "09"]))
def test_each_end_of_what_is_moved_or_used_is_what_advice_says_then(name: str) -> None:
    monthly = {"read": "30TB", "written": "2TB", "egress": "4TB"}
    people = {"aws": 10}
    looked = looked_at(
        name, budget=None, monthly=monthly, growth_per_year="20%", active="40%", admin_hours=people, tax="10%"
    )
    need, compared = looked.again.need, 0
    for each in looked.picture.tornado:
        for end, step in ((each.low, Decimal("0.8")), (each.high, Decimal("1.2"))):
            changes = {
                "reads a month": {"monthly": need.monthly.model_copy(update={"read": int(30 * 10**12 * step)})},
                "writes a month": {"monthly": need.monthly.model_copy(update={"written": int(2 * 10**12 * step)})},
                "egress a month": {"monthly": need.monthly.model_copy(update={"egress": int(4 * 10**12 * step)})},
                "data in use each month": {"active": need.active and need.active * step},
                "growth a year": {"growth_per_year": need.growth_per_year * step},
                "hours of administration a month": {"admin_hours": {"aws": 10 * step}},
                "tax": {"tax": need.tax * step},
            }.get(each.name)
            if end is not None and changes is not None:
                as_answered(looked, end, *anew(looked, **changes))
                compared += 1
    assert compared >= 4


def test_the_exchange_rate_moves_the_books_in_that_currency_alone() -> None:
    exchange = {"EUR": "1.10", "date": "2026-11-02", "source": "test"}
    asked = {"budget": None, "book": None, "books": ["a", "b"], "currency": "USD", "candidates": KINDS["01"][:1]}
    need = read_need("01", exchange=exchange, **asked)
    dollars = load_book("book.yaml", NEEDS)
    euros = dollars.model_copy(update={"book": "made-up-too", "currency": "EUR"})
    euros = scaled(euros, Decimal("0.95"), "volume-capacity", "st1")
    books = (dollars, euros)
    looked = looked_at(need, books)
    each, there = ends(looked, "USD for one EUR")
    assert each is not None and each.changes_choice and [end.value for end in there] == ["0.88", "1.32"]
    for end in there:
        other = {**exchange, "EUR": end.value}
        changed = read_need("01", exchange=other, **asked)
        design, month = anew(looked, exchange=changed.exchange)
        as_answered(looked, end, design, month)
    assert {end.choice for end in there} == {"orangefs-volumes@made-up", "orangefs-volumes@made-up-too"}


def test_of_two_books_of_one_provider_the_cheaper_one_is_found_in_either_order() -> None:
    need = read_need("01", budget=None, book=None, books=["a", "b"], candidates=KINDS["01"][:2])
    dear = load_book("book.yaml", NEEDS)
    cheap = scaled(dear.model_copy(update={"book": "cheaper"}), Decimal("0.5"), "volume-capacity", "st1")
    first, second = (looked_at(need, books) for books in ((dear, cheap), (cheap, dear)))
    assert first.best == second.best == "orangefs-volumes@cheaper"
    assert first.advice.counts == second.advice.counts and near(first.picture.gap, second.picture.gap)


def test_sorted_by_size_and_what_turns_the_choice_is_marked(looked: Looked) -> None:
    found = looked.picture
    assert [each.size for each in found.tornado] == sorted((each.size for each in found.tornado), reverse=True)
    within = looked.again.budget is None or found.month <= looked.again.budget
    for each in found.tornado:
        there = [end for end in (each.low, each.high) if end is not None]
        turned = any(end.choice != looked.best for end in there)
        assert each.changes_choice == turned or not within
        assert each.size > 0 or each.changes_choice
    assert not {each.name for each in found.tornado} & set(found.without_effect)


def test_a_budget_that_is_passed_is_a_crossing() -> None:
    looked = looked_at("01")
    budget = looked.advice.need.budget
    (crossing,) = [each for each in looked.picture.capacity.crossings if each.over_budget]
    assert crossing.text.endswith("is above the budget")
    below, _ = anew(looked, budget=budget, **at_size(looked.picture.capacity, crossing.below, looked.again.need))
    above, _ = anew(looked, budget=budget, **at_size(looked.picture.capacity, crossing.at, looked.again.need))
    assert below is not None and above is None


def test_what_the_budget_excludes_stays_on_the_curves_and_is_not_chosen() -> None:
    looked = looked_at("01", budget="1700 USD/month", candidates=KINDS["01"][:2])
    assert looked.again.budget == 1700
    twice = [curve.points[4] for curve in looked.picture.capacity.curves if curve.design == looked.best]
    assert twice[0].month is not None and twice[0].month > 1700
    each, (low, high) = ends(looked, "price of st1")
    assert each is not None and each.changes_choice
    assert (low.choice, high.choice) == (looked.best, None) and high.month is not None and high.month > 1700


def test_few_designs_are_sized_and_none_for_what_changes_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    need = read_need("01", candidates=KINDS["01"])
    book = load_book("book.yaml", NEEDS)
    advice = advised(need, (book,), ())
    calls: list[str] = []
    asked = again_module.build_variants
    monkeypatch.setattr(again_module, "build_variants", lambda *args: calls.append(args[5]) or asked(*args))
    found = picture(advice, book, (), NEEDS)
    assert found is not None and len(found.designs) == MAX_DESIGNS
    curves = [found.capacity, *([found.rate] if found.rate is not None else [])]
    pairs = [pair for each in curves for curve in each.curves for pair in pairwise(curve.points)]
    limits = sum((low.month is None) != (high.month is None) for low, high in pairs)
    crossings = len(found.capacity.crossings) + len(found.rate.crossings if found.rate is not None else ())
    # The need, six other sizes on each of two axes, and growth; each halving of a crossing once for each design, and
    # each halving of a limit for its design alone.
    sizes = 1 + 2 * (len(FACTORS) - 1) + 1
    assert len(calls) <= MAX_DESIGNS * (sizes + HALVINGS * crossings) + HALVINGS * limits
    calls.clear()
    again = again_module.Reassessment(advice, book, (), NEEDS)
    assert again.base_answer and len(calls) == MAX_DESIGNS
    again.rechecked(need.model_copy(update={"clients": 20}))
    again.rebilled(need.model_copy(update={"months": 10}))
    again.repriced(Decimal("1.2"), lambda row: row[1] == "instance")
    assert len(calls) == MAX_DESIGNS


def test_words_say_each_crossing_and_the_largest_assumptions(looked: Looked) -> None:
    lines = list(change_texts(looked.picture))
    for curves in curves_of(looked):
        for crossing in curves.crossings:
            assert any(crossing.text in line for line in lines)
    for each in looked.picture.tornado[:3]:
        assert any(line.startswith(f"{each.name} (") for line in lines)


def test_nothing_has_no_picture() -> None:
    need = read_need("01", budget="1 USD/month", candidates=KINDS["01"])
    advice = advised(need, (load_book("book.yaml", NEEDS),), ())
    assert advice.result == "none" and picture(advice, load_book("book.yaml", NEEDS), (), NEEDS) is None
