"""Buckets with a copy in another region: their bill against arithmetic by hand, and which needs they serve."""

from decimal import Decimal

import pytest

from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import first_upload, make_bill
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import load_template
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise

TB = 10**12
GIB = Decimal(TB) / 2**30
"""GiB of a TB: 931.32."""
BOOKS = ("aws-us-east-1", "azure-eastus", "gcp-us-central1")
WRITES = 1_000_000


def advised(**changes: object) -> Advice:
    need = {"need": "x", "access": "object", "capacity": "1TB", "durability": "multi-region", **changes}
    return advise(Need.model_validate(need), [load_book(name) for name in BOOKS])


@pytest.mark.parametrize(
    ("design", "values", "book", "stored", "put", "copied"),
    [
        # capacity here and there, both requests for each object, and 0.02 for each GiB between the regions
        ("s3-replicated", {}, "aws-us-east-1", "0.046", "10", "18.63"),
        ("s3-replicated", {"copy": "s3-standard-ia"}, "aws-us-east-1", "0.0355", "15", "18.63"),
        ("gcs-dual-region", {}, "gcp-us-central1", "0.044", "10", "18.63"),
        # Azure's transfers are sold by 10^9 bytes.
        ("azure-blob-grs", {}, "azure-eastus", "0.0458", "11", "20"),
    ],
)
def test_the_bill_has_both_regions_and_the_way_between(design, values, book, stored, put, copied):
    built = load_template(design).build({"stored": "1TB", **values})
    found = price_bill(make_bill(built, Use(written=TB, puts=WRITES)), load_book(book)).month
    assert found == pytest.approx(GIB * Decimal(stored) + Decimal(put) + Decimal(copied), abs=Decimal("0.01"))
    once = {line.dimension: line.each for line in first_upload(built, TB, Decimal(WRITES))}
    assert once["transfer-region"] == TB


def test_a_region_is_survived_by_copies_in_another_only():
    designs = {"s3-replicated", "gcs-dual-region", "azure-blob-grs"}
    found = advised()
    assert {option.design for option in (*found.options, *found.unproven)} == designs
    assert not {label.split()[0] for label in advised(durability="region").recommended} & designs


def test_an_offline_copy_is_for_needs_with_time_to_restore_it():
    at_once, later = (advised(candidates=["s3-replicated"], **more) for more in ({}, {"recovery": "48h"}))
    assert "deep-archive" not in at_once.recommended[0] and "copy=s3-deep-archive" in later.recommended[0]
