"""EFS: which bytes its rate follows from, what of a provisioned rate is paid for, and what its classes cost.

Rates: docs.aws.amazon.com/efs/latest/ug/performance.html, 50 MiB/s for each TiB in the Standard class. Prices are those
of the shipped book of us-east-1, in USD a month; each sum stands beside its test.
"""

from decimal import Decimal
from typing import Any

import pytest

from assay.model.money.design import Design
from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import load_template
from assay.money.cost.limits import Limits, design_limits

MIB, GIB, TIB = 2**20, 2**30, 2**40
CENT = Decimal("0.01")


def built(name: str, **values: Any) -> tuple[Design, Limits]:
    """A shipped design with these values, and its limits."""
    design = load_template(name).build(values)
    return design, design_limits(design)


def month(design: Design, use: Use = Use()) -> Decimal:  # noqa: B008
    """Its price of a month."""
    return price_bill(make_bill(design, use), load_book("aws-us-east-1")).month


@pytest.mark.parametrize("name", ["efs-bursting", "efs-one-zone"])
def test_only_bytes_of_the_standard_class_give_a_rate(name: str) -> None:
    """5 TB are 4.547 TiB: 227.4 MiB/s, which are 238 MB/s; with all 100 TB it would be 4.77 GB/s."""
    _, limits = built(name, stored="100TB", infrequent="95%")
    assert limits.sustained("write") == pytest.approx(50 * MIB * 5e12 / TIB)
    assert limits.sustained("read") == pytest.approx(3 * 50 * MIB * 5e12 / TIB)
    burst = limits.burst("write")
    assert burst is not None and burst[0] == pytest.approx(100 * MIB * 5e12 / TIB)
    assert limits.usable == 10**14


def test_data_that_is_all_infrequent_leaves_the_least_rate() -> None:
    _, limits = built("efs-bursting", stored="100TB", infrequent="100%")
    assert limits.sustained("write") == MIB


def test_one_zone_has_lower_limits_than_a_region() -> None:
    for name, read, write in (("efs-bursting", 5, 3), ("efs-one-zone", 3, 1)):
        _, limits = built(name, stored="500TB")
        assert (limits.sustained("read"), limits.sustained("write")) == (read * GIB, write * GIB)


def test_the_rest_of_provisioned_efs_gives_no_rate_either() -> None:
    """With all 100 TB, 4.4 GiB/s would be more than what is bought; with the 5 TB of the Standard class it is not."""
    _, limits = built("efs-provisioned", stored="100TB", infrequent="95%", throughput="1GiB/s")
    assert limits.sustained("write") == GIB
    _, limits = built("efs-provisioned", stored="100TB", infrequent="50%", throughput="1GiB/s")
    assert limits.sustained("write") == pytest.approx(50 * MIB * 5e13 / TIB)


@pytest.mark.parametrize(
    ("infrequent", "expected"),
    [
        # 10,240 GiB x 0.30; 1,024 MiB/s - 10 x 50 = 524, x 6
        ("0%", "6216.00"),
        # 5,120 x 0.30 + 5,120 x 0.025; 1,024 - 5 x 50 = 774, x 6
        ("50%", "6308.00"),
    ],
)
def test_what_the_standard_class_would_give_is_not_paid_for(infrequent: str, expected: str) -> None:
    design, _ = built("efs-provisioned", stored="10TiB", throughput="1GiB/s", infrequent=infrequent)
    assert month(design) == Decimal(expected)
    # Nothing is paid for a rate that the bytes stored give, and never less than nothing.
    design, _ = built("efs-provisioned", stored="10TiB", throughput="128MiB/s", infrequent=infrequent)
    assert not [line for line in make_bill(design).lines if line.dimension == "filesystem-throughput"]


def test_provisioned_rates_cost_more_while_the_data_is_still_small() -> None:
    """Half of 10 TiB: 5,120 x 0.30; 1,024 - 5 x 50 = 774, x 6."""
    design, _ = built("efs-provisioned", stored="10TiB", throughput="1GiB/s")
    assert month(design, Use(filled=Decimal("0.5"))) == Decimal("6180.00")


def test_infrequent_access_is_cheaper_with_elastic_throughput() -> None:
    """10 TB are 9,313.23 GiB: a fifth x 0.30 = 558.79; the rest x 0.016 = 119.21, not x 0.025 = 186.26."""
    design, _ = built("efs-elastic", stored="10TB", infrequent="80%")
    prices = {line.item: price.month(Decimal(1)) for line, price in _charges(design)}
    assert {item: price.quantize(CENT) for item, price in prices.items()} == {
        "efs-standard": Decimal("558.79"),
        "efs-elastic-ia": Decimal("119.21"),
    }


def _charges(design: Design) -> list[tuple[Any, Any]]:
    cost = price_bill(make_bill(design), load_book("aws-us-east-1"))
    return [(charge.line, charge) for charge in cost.charges]
