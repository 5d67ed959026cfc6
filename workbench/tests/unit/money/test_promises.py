"""What is promised of the time, and what an instance costs that is taken for a year."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from assay.model.money.catalog import ObjectClass
from assay.model.money.managed import ManagedType
from assay.money.books.books import load_book
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import design_names, load_template
from assay.rooms.advice.model.advice import RequirementCheck
from assay.rooms.advice.work.requirements import availability

EAST = load_book("aws-us-east-1")


@pytest.mark.parametrize(
    ("design", "changes", "asked", "outcome"),
    [
        ("s3", {}, 99.9, "met"),
        ("s3", {}, 99.99, "failed"),  # what S3 is designed for, but not promised
        ("s3", {"class": "s3-standard-ia"}, 99.9, "failed"),
        ("s3-tiered", {}, 99.9, "failed"),  # as its worse class
        ("s3-tiered", {}, 99, "met"),
        ("gcs", {}, 99.99, "failed"),  # typical, but not promised
        ("gcs-archive", {}, 99, "met"),
        ("azure-blob", {"class": "blob-cold"}, 99, "unproven"),
        ("azure-blob-lifecycle", {}, 99, "met"),
        ("azure-netapp-files", {}, 99.99, "met"),
        ("gcp-filestore-regional", {}, 99.99, "met"),
        ("gcp-filestore", {}, 99.99, "failed"),
        ("gcp-managed-lustre", {}, 99, "unproven"),
        ("fsx-lustre-persistent", {}, 99, "unproven"),
        ("dynamodb-on-demand", {}, 99.99, "met"),
    ],
)
def test_a_promise_is_what_the_agreement_of_the_service_says(
    design: str, changes: dict[str, str], asked: float, outcome: str
) -> None:
    built = load_template(design).build(changes)
    facts: Any = SimpleNamespace(
        need=SimpleNamespace(availability=asked), design=built, variant=SimpleNamespace(template=design)
    )
    (said,) = availability(facts)
    assert isinstance(said, RequirementCheck)
    assert said.outcome == outcome and said.source
    assert (said.share is None) == (outcome == "unproven")


def test_nothing_is_promised_beyond_what_it_is_designed_for() -> None:
    classes = [
        each for each in catalog().services() if isinstance(each, ObjectClass) and each.sla_availability is not None
    ]
    assert len(classes) > 10
    for kind in classes:
        assert kind.sla_source and (kind.sla_availability or 0) <= kind.availability


def test_each_promise_says_who_made_it() -> None:
    kinds = [each for each in catalog().services() if isinstance(each, ManagedType) and each.provider != "aws"]
    promised = [each for each in kinds if each.availability is not None]
    assert promised and all(each.availability_source for each in promised)
    built = [load_template(name).build() for name in design_names()]
    assert all(each.availability_source for each in built if each.availability is not None)


@pytest.mark.parametrize(
    "name", ["c6in.8xlarge", "c5n.9xlarge", "m5.8xlarge", "i4i.16xlarge", "i3en.24xlarge", "d3en.12xlarge"]
)
def test_a_year_costs_less_than_the_same_hours_on_demand(name: str) -> None:
    rows = [row for row in EAST.rows if row.item == name and row.dimension == "instance"]
    (asked,) = [row.price for row in rows if row.term == "on-demand"]
    (year,) = [row.price for row in rows if (row.term, row.payment) == ("reserved-1y", "no-upfront")]
    assert asked is not None and year is not None
    assert Decimal("0.6") < year / asked < Decimal("0.7")
