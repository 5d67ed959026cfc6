"""What priced designs cost for what they give, against sums done by hand, and how fast it is."""

import itertools
from decimal import Decimal
from pathlib import Path

import pytest
from counted import calls_of
from hypothesis import given
from hypothesis import strategies as st
from soak import times

from assay.model.base import AssayError
from assay.model.money.price import PriceBook
from assay.model.money.use import DesignChoice, Use
from assay.money.books.books import load_book
from assay.money.cost.designs import load_template
from assay.money.cost.metrics import PricedOption, compare, price_design

HOURS = 730
DAY = "2026-11-01"


def row(item: str, price: str, **more: object) -> dict[str, object]:
    return {"dimension": "instance", "item": item, "price": price, "unit": "hour", "source": "made up", **more}


BOOK = PriceBook.model_validate(
    {
        "book": "made-up", "provider": "p", "region": "r", "date": DAY, "currency": "USD", "hours_per_month": HOURS,
        "rows": [
            row("m5.4xlarge", "1"),
            row("m5.4xlarge", "0.25", term="spot", interruptions="5%"),
            row("m5.4xlarge", "0.6", term="reserved-1y", payment="no-upfront"),
            row("m5.4xlarge", "0", term="reserved-1y", payment="all-upfront", upfront="4380"),
            row("m5.8xlarge", "2"),
            row("m5.8xlarge", "0.5", term="spot"),
            row("gp3", "0.1", dimension="volume-capacity", unit="GB-month"),
            row("standard", "0.05", dimension="snapshot-capacity", unit="GB-month"),
            row("internet", "0.09", dimension="transfer-out", unit="GB"),
            {**row("tiered", "0", dimension="transfer-out", unit="GB"), "price": None,
             "tiers": [{"up_to": 100, "price": "0"}, {"up_to": 1000, "price": "0.1"}, {"price": "0.05"}]},
            row("free", "0.1", dimension="transfer-out", unit="GB", free=100),
            row("m5.2xlarge", "0.15"),
            row("m5.2xlarge", "0", term="reserved-1y", payment="all-upfront", upfront="1000"),
            row("m5.12xlarge", "0.1"),
            row("m5.12xlarge", "0", term="reserved-1y", payment="all-upfront", upfront="880"),
            row("m5.24xlarge", "0.15"),
            row("m5.24xlarge", "0", term="reserved-1y", payment="all-upfront", upfront="1300"),
        ],
    }
)  # fmt: skip


def option(use: Use = Use(), book: PriceBook = BOOK, **more: object) -> PricedOption:  # noqa: B008
    keys = {key: more.pop(key) for key in ("term", "payment") if key in more}
    values = {"instance": "m5.4xlarge", "capacity": "10TB", "volumes": 1, **more}
    chosen = DesignChoice(design="nfs-volumes", set=values)
    return price_design(chosen, load_template("nfs-volumes").build(values), book, use=use, **keys)


MONTH = Decimal(HOURS + 1000)
"""1 an hour, and 10,000 GB at 0.1."""


def test_money_for_capacity_rate_and_operations() -> None:
    one = option()
    assert one.cost.month == MONTH
    assert one.usable_tb == 10
    assert one.per_tb_month == MONTH / 10
    assert one.limits.sustained("read") == 125 * 2**20
    assert float(one.per_month("read") or 0) == pytest.approx(float(MONTH) / 0.131072)
    assert one.per_month("read_iops") == pytest.approx(MONTH / 3)


def test_what_is_not_known_has_no_price() -> None:
    chosen = DesignChoice(design="direct-disks", set={})
    one = price_design(chosen, load_template("direct-disks").build(), load_book("aws-us-east-1"))
    assert one.per_month("read") is None
    assert one.per_month("read_iops") is None
    assert one.per_tb_month > 0


def test_use_is_part_of_the_month_and_named_apart() -> None:
    one = option(Use(egress=10**12, snapshots=10**12))
    assert one.cost.month == MONTH + 90 + 50
    assert one.by_use == 90 + 50


@given(st.decimals(min_value="0.01", max_value=1, places=2))
def test_only_servers_are_switched_off(duty: Decimal) -> None:
    one = option(Use(duty=duty))
    assert one.cost.month == HOURS * duty + 1000
    assert one.cost.hour * HOURS * duty == pytest.approx(one.cost.month)


def test_a_job_costs_its_hours_and_its_egress() -> None:
    job = option(Use(job_bytes=2 * 10**12, job_hours=Decimal(5), job_egress=10**12)).job
    assert job is not None and job.money is not None
    assert job.money == pytest.approx(5 * MONTH / HOURS + 90)
    assert (job.hours, job.expected, job.interruption_cost, job.by_rate) == (5, 5, 0, False)
    assert float(job.needed_rate or 0) == pytest.approx(2e12 / 5 / 3600)
    assert job.per_tb == pytest.approx(job.money / 2)


@pytest.mark.parametrize(
    ("way", "month", "job", "money"),
    [("tiered", 0, 150, "5"), ("tiered", 60, 50, "1"), ("tiered", 100, 50, "5"), ("tiered", 990, 20, "1.5"),
     ("tiered", 5000, 20, "1"), ("free", 60, 50, "1"), ("free", 500, 50, "5"), ("internet", 500, 50, "4.5")],
)  # fmt: skip
def test_what_is_free_is_given_once_to_the_month_and_its_job(way: str, month: int, job: int, money: str) -> None:
    """The job costs what the month with it costs more than the month alone."""

    def egress(gigabytes: int) -> Decimal:
        return option(Use(egress=gigabytes * 10**9, egress_way=way)).cost.month

    use = Use(egress=month * 10**9, job_egress=job * 10**9, egress_way=way, job_hours=Decimal(1))
    one = option(use)
    assert one.cost.job == Decimal(money) == egress(month + job) - egress(month)
    assert one.job is not None and one.job.money == pytest.approx(one.cost.hour + Decimal(money))
    assert len({row.key for row in one.cost.rows}) == len(one.cost.rows)
    assert all(row in BOOK.rows for row in one.cost.rows if month)


@pytest.mark.parametrize(
    ("size", "hours", "exceeds"),
    [(10**12, 10, ()), (10**12, 1, ("read", "write")), (2 * 10**13, 1000, ("capacity",)),
     (10**15, 1, ("read", "write", "capacity"))],
)  # fmt: skip
def test_a_job_that_the_design_cannot_do_is_marked(size: int, hours: int, exceeds: tuple[str, ...]) -> None:
    """131 MB/s and 10 TB."""
    job = option(Use(job_bytes=size, job_hours=Decimal(hours))).job
    assert job is not None and job.exceeded == exceeds


def test_a_job_that_is_interrupted_for_ever_has_no_price() -> None:
    rows = [{**each.model_dump(), "interruptions": "99.99%" if each.term == "spot" else None} for each in BOOK.rows]
    book = PriceBook.model_validate({**BOOK.model_dump(exclude={"rows"}), "rows": rows})
    assert option(Use(job_hours=Decimal(10)), book, term="spot").job is not None
    for hours in (1000, 10**6):
        with pytest.raises(
            AssayError, match=r"design nfs-volumes .*: the expected time of this job on spot is more than 1,000 times"
        ):
            option(Use(job_hours=Decimal(hours)), book, term="spot")


def test_a_job_without_hours_takes_its_bytes_at_the_rate_that_is_kept() -> None:
    job = option(Use(job_bytes=10**12)).job
    assert job is not None and job.by_rate
    assert float(job.hours) == pytest.approx(1e12 / (125 * 2**20) / 3600)
    assert option().job is None


def test_interruptions_make_a_job_on_spot_longer() -> None:
    """5 % of a month of 730 hours, 100 hours: (exp(r t) - 1) / r with r = -ln 0.95 / 730."""
    one = option(Use(job_hours=Decimal(100)), term="spot")
    job = one.job
    assert job is not None and job.expected is not None and job.money is not None
    assert one.interruption_chance == Decimal("0.05")
    assert float(job.expected) == pytest.approx(100.353, abs=0.001)
    assert job.interruption_cost == pytest.approx((job.expected - 100) * one.cost.hour)
    assert job.money == pytest.approx(job.expected * one.cost.hour)


def test_more_servers_are_interrupted_more_often() -> None:
    template = load_template("beegfs-volumes")
    values = {"instance": "m5.4xlarge", "metadata": "m5.4xlarge", "servers": 4}
    chosen = DesignChoice(design="beegfs-volumes", set=values)
    one = price_design(chosen, template.build(values), BOOK, "spot", use=Use(job_hours=Decimal(10)))
    assert one.interruption_chance == 1 - Decimal("0.95") ** 5


def test_a_job_on_spot_has_no_price_where_nobody_knows_the_interruptions() -> None:
    job = option(Use(job_hours=Decimal(10)), term="spot", instance="m5.8xlarge").job
    assert job is not None
    assert (job.expected, job.money, job.interruption_cost) == (None, None, None)


def test_all_terms_that_the_book_has_are_compared() -> None:
    one = option()
    assert {term.name: term.cost.month for term in one.terms} == {
        "on-demand": HOURS + 1000,
        "reserved-1y, no-upfront": Decimal("0.6") * HOURS + 1000,
        "reserved-1y, all-upfront": Decimal(4380) / 12 + 1000,
        "spot": Decimal("0.25") * HOURS + 1000,
    }
    chosen = DesignChoice(design="efs-bursting", set={})
    assert price_design(chosen, load_template("efs-bursting").build(), load_book("aws-us-east-1")).terms == ()


def test_designs_meet_where_both_cost_the_same() -> None:
    """2 an hour and little to keep against 1 an hour and 4 TB more to keep: 400 / 730 of the time."""
    fast, slow = option(instance="m5.8xlarge"), option(capacity="14TB")
    (pair,) = compare([fast, slow])
    assert float(pair.break_even_duty.duty or 0) == pytest.approx(400 / HOURS)
    assert (pair.break_even_duty.below, pair.break_even_duty.above) == (0, 1)
    at = Use(duty=pair.break_even_duty.duty or Decimal(0))
    there = [option(at, instance="m5.8xlarge").cost.month, option(at, capacity="14TB").cost.month]
    assert there[0] == pytest.approx(there[1])


@pytest.mark.parametrize(
    ("instance", "months", "stays"),
    # A year costs 4380, 1000, 880 and 1300, against 730, 109.5, 73 and 109.5 a month.
    [("m5.4xlarge", 7, 7), ("m5.2xlarge", 10, 28), ("m5.12xlarge", None, None), ("m5.24xlarge", 12, None)],
)
def test_what_is_paid_again_is_not_called_cheaper_for_good(
    instance: str, months: int | None, stays: int | None
) -> None:
    one = option(instance=instance)
    pair = next(pair for pair in one.term_pairs if "all-upfront" in pair.second)
    assert (pair.break_even_months, pair.stays_cheaper_from) == (months, stays)
    rented, reserved = (term.cost for term in one.terms if term.name in (pair.first, pair.second))
    less = [month for month in range(1, 1000) if reserved.paid_after(month) < rented.paid_after(month)]
    assert months == (less[0] if less else None)
    # By month 1022 even the last of them is cheaper for good, which is later than anybody plans.
    dearer = [month for month in range(1, 1000) if month not in less]
    assert (dearer[-1] + 1 == stays) if stays else dearer[-1] > 240


def test_many_designs_are_compared_with_the_cheapest() -> None:
    options = [option(capacity=f"{size}TB") for size in (5, 1, 2, 3, 4, 6)]
    found = compare(options)
    assert [pair.first for pair in found] == [options[1].label] * 5
    assert all(pair.break_even_duty.duty is None for pair in found)


def test_the_same_design_twice_costs_the_same() -> None:
    (pair,) = compare([option(), option()])
    assert pair.is_equal and pair.break_even_months is None


def test_currencies_are_never_compared() -> None:
    euro = BOOK.model_copy(update={"currency": "EUR", "book": "euro"})
    with pytest.raises(AssayError, match="EUR and USD"):
        compare([option(), option(book=euro)])


def test_thousands_of_designs_are_built_and_priced_in_few_calls_each() -> None:
    book = load_book("aws-us-east-1")
    values = {
        "nfs-gp3": {"capacity": [f"{size}TB" for size in range(4, times(6, 48), 2)]},
        "beegfs-volumes": {"servers": list(range(2, times(4, 50))), "volumes": [4, 8]},
        "efs-provisioned": {"stored": [f"{size}TB" for size in range(1, times(20, 300))]},
        "s3": {"stored": [f"{size}TB" for size in range(1, times(20, 300))]},
        "nfs-volumes": {"capacity": [f"{size}TB" for size in range(8, times(14, 60), 2)], "volume": ["gp3", "st1"]},
    }
    priced = 0

    def price_all() -> None:
        nonlocal priced
        for name, axes in values.items():
            template = load_template(name)
            choices = {key: axes.get(key, each.choices or [each.value]) for key, each in template.parameters.items()}
            for point in itertools.product(*choices.values()):
                chosen = dict(zip(choices, point, strict=True))
                try:
                    one = price_design(DesignChoice(design=name, set=chosen), template.build(chosen), book)
                except AssayError:
                    continue
                assert one.per_tb_month > 0
                priced += 1

    calls = calls_of(price_all)
    assert priced >= times(500, 10_000)
    # 10,000 of them take 3 s where 2.3 million calls take a second.
    assert calls / priced < 1500


def test_a_design_of_ones_own_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "design: mine\nfamily: nfs\naccess: [file]\ndurability: zone\nfailure_domain: one server\n"
        "parameters: {size: {value: 1TB}}\n"
        "servers:\n  - {role: storage, instance: m5.4xlarge, volumes: {type: gp3, capacity: $size}}\n"
    )
    chosen = DesignChoice(design=str(path), set={"size": "2TB"})
    assert price_design(chosen, load_template(str(path)).build(chosen.set), BOOK).cost.month == HOURS + 200
