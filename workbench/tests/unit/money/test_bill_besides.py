"""What a bill has besides the data: backups, whole terms, moves to a colder class, watching what is used."""

from decimal import Decimal

import pytest
from advise_tools import NEEDS

from assay.model.money.advice import Advice, Option
from assay.model.money.need import Need
from assay.money.advice.advise import advise
from assay.money.books.books import load_book

CENT = Decimal("0.01")
GIB = Decimal(2**30)


def advised(design: str, books: str = "aws-us-east-1", **asked: object) -> Advice:
    """Advice on a need of which one design is the only candidate."""
    chosen = asked.pop("set", {})
    written = {"need": "x", "access": "file", "capacity": "40TB", "months": 1, **asked}
    need = Need.model_validate({**written, "candidates": [{"design": design, "set": chosen}]})
    return advise(need, [load_book(name, NEEDS) for name in books.split()])


def option(*args: object, **asked: object) -> Option:
    """The cheapest of it, whether it meets the need or not."""
    answer = advised(*args, **asked)
    found = [*answer.options, *answer.unproven, *(item.closest for item in answer.rejected if item.closest)]
    return min(found, key=lambda item: item.price.paid)


KEPT = Decimal(10) * 10**12 / GIB
"""GiB of 10 TB: 9,313.23; at 0.05 they cost 465.66."""


@pytest.mark.parametrize(
    ("design", "chosen"),
    [
        ("fsx-lustre-hdd", {}),
        ("fsx-lustre-persistent", {}),
        ("fsx-openzfs", {}),
        ("efs-bursting", {}),
        ("efs-one-zone", {}),
        ("nfs-gp3", {}),
    ],
)
def test_backups_are_paid_for(design, chosen):
    plain, kept = (option(design, set=chosen, snapshots=size) for size in ("0B", "10TB"))
    assert kept.price.month - plain.price.month == pytest.approx(KEPT * Decimal("0.05"))
    assert kept.price.lacks == plain.price.lacks == ()


def test_backups_turn_the_price_of_the_issue():
    """72,000 GiB x 0.025 = 1,800.00; 9,313.23 GiB of backups x 0.05 = 465.66."""
    found = option("fsx-lustre-hdd", set={"capacity": "72000GiB"}, snapshots="10TB")
    assert found.price.month.quantize(CENT) == Decimal("2265.66")


@pytest.mark.parametrize(
    ("design", "book", "item"),
    [
        ("fsx-ontap", "aws-us-east-1", "fsx-ontap-single-az-1"),
        ("fsx-lustre-scratch", "aws-us-east-1", "fsx-lustre-scratch-2"),
        ("fsx-lustre-hdd", "aws-eu-west-1", "fsx-lustre"),
        ("gcp-filestore-large", "gcp-us-central1", "filestore-basic-hdd-large"),
        ("nfs-dense", "aws-us-east-1", "nfs-dense"),
        ("own-nfs-server", "own-2026", "own-nfs-server"),
    ],
)
def test_what_has_no_backups_lacks_them(design, book, item):
    plain, kept = (option(design, book, snapshots=size) for size in ("0B", "10TB"))
    assert f"filesystem-backup {item}" in kept.price.lacks
    assert kept.price.paid == plain.price.paid


def test_versions_in_a_bucket_cost_as_much_as_the_rest():
    """50 TB in all, whichever part of them are older versions: 46,566.13 GiB, the first 51,200 at 0.023 = 1,071.02."""
    one = option("s3", access="object", capacity="40TB", snapshots="10TB", set={"class": "s3-standard"})
    other = option("s3", access="object", capacity="50TB", set={"class": "s3-standard"})
    assert one.price.month == other.price.month
    assert one.price.month.quantize(CENT) == Decimal("1071.02")
