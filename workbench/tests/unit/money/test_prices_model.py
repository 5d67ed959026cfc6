"""What always holds of prices, bills and costs; and what the printed figures say of hours and gigabytes."""

import copy
import itertools
import pickle
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from soak import times

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, TERM_MONTHS, exact_sum, parse_decimal, round_half_up
from assay.model.money.price import (
    DIMENSIONS,
    UNITS,
    Bill,
    BillItem,
    PriceBook,
    PriceRow,
    PriceTier,
    one_currency,
    units_of,
)
from assay.model.source import read_source
from assay.money.books.books import BOOKS, book_names, load_book
from assay.money.cost.cost import break_even_duty, break_even_months, expected_hours, price_bill

ZERO, ONE = Decimal(0), Decimal(1)

money = st.decimals(0, 1000, places=4)
quantity = st.decimals(0, 10**15, places=3)
pieces = st.integers(1, 1000).map(Decimal)
duty = st.decimals(0, 1, places=3)


def near(left: Decimal, right: Decimal) -> bool:
    """Equal but for the 60th digit, which a division may round."""
    return abs(EXACT.subtract(left, right)) <= Decimal("1e-40") * max(abs(left), abs(right), ONE)


@st.composite
def tiers(draw):
    """Two to five tiers, rising without gaps."""
    bounds = sorted(draw(st.sets(st.decimals("0.001", 10**6, places=3), min_size=1, max_size=4)))
    prices = draw(st.lists(money, min_size=len(bounds) + 1, max_size=len(bounds) + 1))
    return tuple(PriceTier(up_to=bound, price=price) for bound, price in itertools.zip_longest(bounds, prices))


@st.composite
def rows(draw, dimension=None, term="on-demand"):
    """A right row."""
    dimension = dimension or draw(st.sampled_from(sorted(DIMENSIONS)))
    values = {
        "dimension": dimension,
        "item": "x",
        "unit": draw(st.sampled_from(units_of(DIMENSIONS[dimension]))),
        "free": draw(st.one_of(st.just(ZERO), st.decimals(0, 5000, places=2))),
        "source": "drawn",
        "term": term,
    }
    if term in TERM_MONTHS:
        values |= {"payment": "partial-upfront", "upfront": draw(money)}
    if draw(st.booleans()):
        return PriceRow(**values, tiers=draw(tiers()))
    return PriceRow(**values, price=draw(money))


def book(*found, currency="USD", hours="730"):
    return PriceBook(
        book="b",
        provider="p",
        region="r",
        date="2026-01-01",
        currency=currency,
        hours_per_month=Decimal(hours),
        rows=found,
    )


def line(row, each=ONE, count=ONE, **changes):
    values = {"what": "x", "dimension": row.dimension, "item": row.item, "pieces": count, "each": each, "per": "month"}
    return BillItem(**values | changes)


@st.composite
def bills(draw):
    """A book of a few rows, and two bills on them."""
    dimensions = draw(st.lists(st.sampled_from(sorted(DIMENSIONS)), min_size=1, max_size=4, unique=True))
    found = [draw(rows(dimension)) for dimension in dimensions]

    def some():
        chosen = draw(st.lists(st.sampled_from(found), max_size=4))
        return Bill(
            lines=tuple(
                line(
                    row,
                    draw(quantity),
                    draw(pieces),
                    per=draw(st.sampled_from(["hour", "month", "once", "job"])),
                    stops_when_off=draw(st.booleans()),
                    years=Decimal(draw(st.integers(1, 10))),
                )
                for row in chosen
            )
        )

    return book(*found, hours=draw(st.sampled_from(["720", "729.6", "730", "744"]))), some(), some()


# One row.


@given(rows(), quantity, quantity, pieces)
def test_a_cost_is_monotone_in_the_quantity(row, first, second, count):
    less, more = sorted((first, second))
    assert ZERO <= row.cost(less, count) <= row.cost(more, count)
    assert row.cost(more, count) <= row.cost(more, count + 1)


@given(rows(), pieces)
def test_nothing_costs_nothing(row, count):
    assert row.cost(ZERO, count) == 0
    assert row.cost(row.free * UNITS[row.unit].factor, count) == 0


@given(rows(), quantity, pieces)
def test_pieces_are_paid_one_by_one(row, each, count):
    assert near(row.cost(each, count), EXACT.multiply(row.cost(each), count))


@given(rows(), quantity, st.data())
def test_the_unit_of_a_price_makes_no_difference(row, each, data):
    """As with one price for each GB and one for each GiB, for 1000 and for a million requests."""
    other = data.draw(st.sampled_from(units_of(DIMENSIONS[row.dimension])))
    ratio = EXACT.divide(Decimal(UNITS[other].factor), Decimal(UNITS[row.unit].factor))

    def scaled(amount):
        return EXACT.multiply(amount, ratio)

    def shrunk(amount):
        return EXACT.divide(amount, ratio)

    stated = row.model_copy(
        update={
            "unit": other,
            "free": shrunk(row.free),
            "price": None if row.price is None else scaled(row.price),
            "tiers": tuple(
                PriceTier.model_construct(
                    up_to=None if tier.up_to is None else shrunk(tier.up_to), price=scaled(tier.price)
                )
                for tier in row.tiers
            ),
        }
    )
    assert near(stated.cost(each), row.cost(each))


@pytest.mark.parametrize(
    ("dimension", "unit", "price", "other", "same"),
    [
        ("transfer-out", "GB", "0.09", "GiB", "0.09663676416"),
        ("volume-capacity", "GiB-month", "0.08", "TiB-month", "81.92"),
        ("object-requests", "1000 requests", "0.005", "million requests", "5"),
        ("volume-throughput", "MiB/s-month", "0.04", "GiB/s-month", "40.96"),
    ],
)
def test_the_same_price_in_two_units(dimension, unit, price, other, same):
    first = PriceRow(dimension=dimension, item="x", unit=unit, price=price, source="s")
    second = PriceRow(dimension=dimension, item="x", unit=other, price=same, source="s")
    for each in (ONE, Decimal(10**12), Decimal(2**40), Decimal(123_456_789)):
        assert first.cost(each) == second.cost(each)
    assert first.cost(Decimal(UNITS[unit].factor)) == Decimal(price)


@given(rows().filter(lambda row: row.tiers), st.decimals(0, 10**7, places=3))
def test_tiers_have_no_gaps(row, units):
    """The total is the sum of the parts in each tier, and each unit belongs to exactly one."""
    bounds = [ZERO, *(tier.up_to for tier in row.tiers[:-1]), max(units, row.tiers[-2].up_to)]
    parts = [
        (max(ZERO, min(units, end) - start), tier.price)
        for (start, end), tier in zip(itertools.pairwise(bounds), row.tiers, strict=True)
    ]
    assert sum(part for part, _ in parts) == units
    each = EXACT.multiply(units + row.free, Decimal(UNITS[row.unit].factor))
    assert row.cost(each) == exact_sum(EXACT.multiply(part, price) for part, price in parts)


@given(rows().filter(lambda row: row.tiers), st.data())
def test_a_cost_does_not_jump_at_the_bound_of_a_tier(row, data):
    tier = data.draw(st.sampled_from(row.tiers[:-1]))
    after = row.tiers[row.tiers.index(tier) + 1]
    factor = Decimal(UNITS[row.unit].factor)
    step = Decimal("1e-12")

    def at(units):
        return row.cost(EXACT.multiply(EXACT.add(units, row.free), factor))

    bound = at(tier.up_to)
    assert near(EXACT.subtract(bound, at(EXACT.subtract(tier.up_to, step))), EXACT.multiply(step, tier.price))
    assert near(EXACT.subtract(at(EXACT.add(tier.up_to, step)), bound), EXACT.multiply(step, after.price))


@given(st.decimals(-1000, 1000, places=6), st.integers(0, 4))
def test_rounding_for_print_is_half_up(amount, digits):
    printed = round_half_up(abs(amount), digits)
    assert abs(printed - abs(amount)) <= Decimal(5).scaleb(-digits - 1)
    assert round_half_up(Decimal("2.345")) == Decimal("2.35") and round_half_up(Decimal("0.5"), 0) == 1


@pytest.mark.parametrize("what", ["", "price book"])
@pytest.mark.parametrize("text", [b"a: \xff", b"a: \0", b"a: 1\n---\nb: 2\n", b"a: !!set {}", b"[" * 50 + b"]" * 50])
def test_hints_on_files_that_are_no_studies_speak_of_none(what, text):
    (problem,) = read_source(text, what).problems
    assert "study" not in problem.message + problem.hint
    assert read_source(b"<<: 1", "price book").problems[0].hint == "write each key out"


@given(st.decimals(0, 10**15, places=12))
def test_a_written_number_is_read_to_its_last_digit(value):
    text = f"{value:f}"
    data = read_source(f"a: {text}".encode()).data["a"]
    assert parse_decimal(data) == parse_decimal(text) == value
    assert data == float(text) and f"{data}" == f"{float(text)}"
    assert parse_decimal(copy.deepcopy(data)) == parse_decimal(pickle.loads(pickle.dumps(data))) == value


@pytest.mark.parametrize("text", ["1000000000000000.1", "1e999", "1e16", "0.0000000000001", "1e-999", 10**16, 1e16])
def test_what_is_out_of_bounds_is_refused_only_where_it_is_written(text):
    with pytest.raises(ValidationError, match=r"is (more than 10.15|finer than 10.-12)"):
        PriceTier(price=text)
    stored = line(instance(), Decimal(10**18)).model_dump_json()
    assert BillItem.model_validate_json(stored).each == 10**18


# Bills.


@settings(max_examples=times(50, 500))
@given(bills(), duty)
def test_the_cost_of_two_bills_is_the_sum_of_both(drawn, on):
    prices, first, second = drawn
    both = price_bill(first + second, prices, duty=on)
    alone = [price_bill(each, prices, duty=on) for each in (first, second)]
    assert near(both.month, exact_sum(each.month for each in alone))
    assert near(both.year, exact_sum(each.year for each in alone))
    assert near(both.three_years, exact_sum(each.three_years for each in alone))
    assert near(both.hour, exact_sum(each.hour for each in alone))
    assert near(both.job, exact_sum(each.job for each in alone))
    for months in (1, 12, 13, 36):
        assert near(both.paid_after(months), exact_sum(each.paid_after(months) for each in alone))


@settings(max_examples=times(50, 500))
@given(bills(), duty)
def test_an_empty_bill_costs_nothing_and_a_bill_nothing_less(drawn, on):
    prices, first, _ = drawn
    nothing = price_bill(Bill(), prices, duty=on)
    assert (nothing.hour, nothing.month, nothing.three_years, nothing.job, nothing.paid_after(36)) == (0, 0, 0, 0, 0)
    none = Bill(lines=tuple(each.model_copy(update={"each": ZERO}) for each in first.lines))
    assert price_bill(none, prices, duty=on).paid_after(36) == price_bill(none, prices, duty=on).job == 0
    cost = price_bill(first, prices, duty=on)
    assert min(cost.month, cost.job, cost.paid_after(1)) >= 0


@settings(max_examples=times(50, 500))
@given(bills(), duty, duty)
def test_a_month_is_monotone_in_the_duty_cycle(drawn, first, second):
    prices, bill, _ = drawn
    less, more = (price_bill(bill, prices, duty=on) for on in sorted((first, second)))
    assert less.month <= more.month and less.paid_after(7) <= more.paid_after(7)


def instance(price="0.1", **changes):
    return PriceRow(dimension="instance", item="x", unit="hour", price=price, source="s", **changes)


def month(row, on=ONE, term="on-demand", hours="730", currency="USD", stops=True, extra=()):
    """The cost of one instance, and of what comes besides."""
    prices = book(row, *(each for each, _ in extra), hours=hours, currency=currency)
    lines = [line(row, per="hour", stops_when_off=stops), *(line(each, amount) for each, amount in extra)]
    return price_bill(Bill(lines=tuple(lines)), prices, term, duty=on)


@given(st.sampled_from(sorted(TERM_MONTHS)), money, money, duty, st.integers(1, 80))
def test_a_reservation_is_paid_whole_used_or_not(term, upfront, price, on, months):
    row = instance(price, term=term, payment="partial-upfront", upfront=upfront)
    cost = month(row, on, term)
    terms = -(-months // TERM_MONTHS[term])
    assert cost.paid_after(months) == terms * upfront + months * 730 * price
    assert cost.paid_after(months) == month(row, ONE, term).paid_after(months)
    assert near(EXACT.multiply(cost.month, Decimal(TERM_MONTHS[term])), cost.paid_after(TERM_MONTHS[term]))


def test_currencies_never_mix():
    dollars, euros = month(instance()), month(instance(), currency="EUR")
    for compare in (break_even_duty, break_even_months):
        with pytest.raises(AssayError, match="USD and EUR cannot be compared"):
            compare(dollars, euros)
    with pytest.raises(AssayError, match="EUR and USD cannot be compared"):
        one_currency([book(instance()), book(instance(), currency="EUR")])
    assert one_currency([book(instance()), book(instance("0.2"))]) == "USD"


@given(money, money, money, money)
def test_costs_meet_at_the_break_even_and_nowhere_else(first, second, fixed, other):
    storage = PriceRow(dimension="volume-capacity", item="v", unit="GB-month", price="1", source="s")
    amounts = [EXACT.multiply(amount, Decimal(10**9)) for amount in (fixed, other)]

    def at(on):
        pairs = zip((first, second), amounts, strict=True)
        return [month(instance(price), on, extra=[(storage, amount)]).month for price, amount in pairs]

    pairs = zip((first, second), amounts, strict=True)
    costs = [month(instance(price), extra=[(storage, amount)]) for price, amount in pairs]
    found = break_even_duty(*costs)
    ends = at(ZERO), at(ONE)
    if found.duty is None:
        cheaper = found.below
        assert found.above == cheaper and all(end[cheaper] <= end[1 - cheaper] for end in ends)
        return
    assert ZERO <= found.duty <= ONE and found.below != found.above
    assert near(found.hours, EXACT.multiply(found.duty, Decimal(730)))
    assert near(*at(found.duty))
    assert ends[0][found.below] <= ends[0][found.above] and ends[1][found.above] <= ends[1][found.below]


@settings(max_examples=times(50, 500))
@given(st.decimals("0.01", 1000, places=2), st.decimals(0, "0.99", places=2), st.decimals("1.01", 60, places=2))
def test_the_months_after_which_a_reservation_has_paid(hourly, share, saved_months):
    """The upfront is what the lower price saves in so many months."""
    upfront = 730 * hourly * (1 - share) * saved_months
    row = instance(hourly * share, term="reserved-3y", payment="partial-upfront", upfront=upfront)
    reserved, rented = month(row, term="reserved-3y"), month(instance(hourly))
    assert reserved.paid_after(1) > rented.paid_after(1)
    months = break_even_months(reserved, rented)
    assert (months is None) == (saved_months >= 36)
    if months is not None:
        assert reserved.paid_after(months) < rented.paid_after(months)
        assert all(reserved.paid_after(each) >= rented.paid_after(each) for each in range(1, months))


hours = st.decimals(0, 2000, places=2)
interrupted = st.decimals(0, Decimal("0.9"), places=3)


@settings(max_examples=times(60, 600))
@given(hours, hours, interrupted, interrupted)
def test_interruptions_only_lengthen_a_job(first, second, low, high):
    short, long = sorted((first, second))
    rare, often = sorted((low, high))
    month_hours = Decimal(730)
    assert expected_hours(short, rare, month_hours) >= short
    assert expected_hours(short, rare, month_hours) <= expected_hours(long, rare, month_hours)
    assert expected_hours(long, rare, month_hours) <= expected_hours(long, often, month_hours)
    assert expected_hours(long, ZERO, month_hours) == long


def test_a_job_that_is_always_interrupted_never_ends():
    with pytest.raises(AssayError, match="every instance"):
        expected_hours(ONE, ONE, Decimal(730))


# What the figures of the papers say.


MONTHS = {
    "c4.large": ("136.82", "1336.82"),
    "c4.xlarge": ("223.64", "1423.64"),
    "c4.2xlarge": ("398.02", "1598.02"),
    "c4.4xlarge": ("745.31", "1945.31"),
    "c4.8xlarge": ("1440.62", "2640.62"),
}
"""What the NFS paper prints for a month with 1 TB and with 25 TB of st1."""


def interval(figure: str, hourly: str, months: int, rest: str = "0") -> tuple[Decimal, Decimal]:
    """Hours of a month for which a total, rounded half up to the digits of `figure`, is what is printed."""
    half = Decimal(5).scaleb(Decimal(figure).as_tuple().exponent - 1)
    divisor = Decimal(hourly) * months
    low, high = ((Decimal(figure) + side * half - Decimal(rest)) / divisor for side in (-1, 1))
    return low.quantize(Decimal("1e-9"), ROUND_FLOOR), high.quantize(Decimal("1e-9"), ROUND_CEILING)


@pytest.mark.parametrize(
    ("name", "figure", "rest"),
    [("d2.8xlarge", "154442", "0"), ("c4.8xlarge", "51862.23", "1800"), ("c4.8xlarge", "95062.23", "45000")],
)
def test_the_hours_of_a_month_follow_from_the_printed_totals(name, figure, rest):
    """Three years of an instance, less 36 months of its 1 TB or 25 TB at 0.05 for each of 1000 GB."""
    known = load_book("aws-eu-west-1-2016")
    low, high = interval(figure, str(known.row("instance", name).price), 36, rest)
    assert low <= known.hours_per_month == Decimal("729.6") < high
    assert high - low < Decimal("0.01")
    assert not low <= 730 < high and not low <= 720 < high


@pytest.mark.parametrize("name", MONTHS)
def test_a_tb_of_the_nfs_paper_is_1000_gb(name):
    known = load_book("aws-eu-west-1-2016")
    price, machine = known.row("volume-capacity", "st1"), known.row("instance", name).price
    small, large = map(Decimal, MONTHS[name])
    assert large - small == 24 * price.cost(Decimal(1000) * 10**9)
    for terabyte in (Decimal(1024) * 10**9, Decimal(2**40)):
        assert large - small != round_half_up(24 * price.cost(terabyte))
    assert round_half_up(machine * known.hours_per_month + price.cost(Decimal(10**12))) == small


def test_the_fsx_bill_and_what_it_says_of_hours_and_gigabytes():
    known = load_book("aws-ap-southeast-1-2020")
    bill = {"fsx-lustre-scratch-2": ("336.667", "56.56"), "fsx-lustre-persistent-200": ("4233.025", "1435.00")}
    costs = []
    for item, (amount, figure) in bill.items():
        row = known.row("filesystem-capacity", item)
        costs.append(row.cost(Decimal(amount) * UNITS[row.unit].factor))
        assert round_half_up(costs[-1]) == Decimal(figure)
    assert round_half_up(exact_sum(costs)) == Decimal("1491.56")

    def running(hours_per_month, capacity):
        """Hours that a file system ran, and how far from whole; the amount is printed to a thousandth."""
        found = Decimal("336.667") * hours_per_month / capacity
        return abs(found - found.to_integral_value()), Decimal("0.0005") * hours_per_month / capacity

    away, slack = running(known.hours_per_month, Decimal(1200))
    assert away <= slack
    decimal_gb = Decimal(1200 * 2**30) / 10**9
    for month_hours, capacity in itertools.product((720, 730, 744), (Decimal(1200), decimal_gb)):
        if (month_hours, capacity) != (720, 1200):
            away, slack = running(Decimal(month_hours), capacity)
            assert away > 10 * slack


def test_the_egress_of_the_genomics_test():
    price = load_book("azure-australia-east-2020").row("transfer-out", "expressroute")
    sent = Decimal(8 * 3600) * 10**9 / 8
    assert price.cost(sent) == 180
    assert round_half_up(price.cost(sent * 10**9 / 2**30)) == Decimal("167.64")


def test_the_volumes_of_the_evaluation_of_2012():
    known = load_book("aws-us-east-1-2012")
    assert known.row("volume-capacity", "standard").cost(Decimal(100 * 2**30)) == 10
    assert known.row("volume-requests", "standard").cost(Decimal(10**6)) == Decimal("0.10")


def test_what_the_aoe_paper_bought():
    known = load_book("own-hardware-2007")
    cost = {item: known.row("purchase", item).cost(ONE) for item in ("aoe-server", "gigabit-switch", "gigabit-card")}
    assert 4 * cost["aoe-server"] == 6000
    assert 6 * cost["gigabit-card"] == Decimal("100.98")
    clients = 2000
    assert 6000 + clients + cost["gigabit-switch"] + 6 * cost["gigabit-card"] == Decimal("9999.98")
    assert known.row("purchase", "aoe-commodity-gb").cost(ONE, Decimal(2000)) == 2000


@pytest.mark.parametrize("name", book_names())
def test_every_shipped_book_says_how_it_came_about(name):
    shipped = load_book(name)
    assert shipped.book == name
    for words in ("hours", "base of gb" if name != "own-hardware-2007" else "10^9 bytes"):
        assert words in shipped.about.lower()
    assert all(row.source for row in shipped.rows)


def test_a_shipped_book_is_read_as_any_other_file_is():
    data = (BOOKS / "own-2026.yaml").read_bytes()
    quick, plain = (read_source(data, is_shipped=how) for how in (True, False))
    assert quick == plain and not plain.problems
    broken = b"a: [1\n"
    assert read_source(broken, is_shipped=True) == read_source(broken) and read_source(broken).problems


def test_units_of_a_table_can_be_reserved_and_are_on_demand_in_a_book_that_lacks_the_term() -> None:
    """100 write units: 47.45 a month; reserved for a year 150 USD once and 0.0128 an hour, 9.344 a month."""
    line = BillItem(
        what="x", dimension="table-write", item="dynamodb", pieces=Decimal(100), each=Decimal(1), per="hour"
    )
    bill, shipped = Bill(lines=(line,)), load_book("aws-us-east-1")
    reserved = price_bill(bill, shipped, "reserved-1y")
    assert (reserved.charges[0].once, reserved.charges[0].once_months) == (Decimal(150), 12)
    assert reserved.charges[0].fixed == Decimal("9.344")
    for cost in (price_bill(bill, shipped), price_bill(bill, shipped, "reserved-3y")):
        assert cost.month == Decimal("47.45")
