"""What is promised of the time, and what an instance costs that is taken for a year."""

from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.model.money.catalog import ObjectClass
from assay.model.money.managed import ManagedType
from assay.money.books.books import load_book
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import DESIGNS, design_names, load_template
from assay.rooms.advice.model.advice import RequirementCheck
from assay.rooms.advice.work.requirements import availability, servers_availability

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
        *((f"azure-files{kind}", {}, 99.99, "met") for kind in ("", "-zrs", "-v2")),
        ("azure-files-hdd", {}, 99.99, "failed"),  # hard disks, 99.9 %
        *(
            (name, {}, asked, said)
            for name in ("fsx-ontap", "fsx-ontap-2")
            for asked, said in ((99.9, "met"), (99.99, "failed"))
        ),
        ("fsx-openzfs", {"type": "fsx-openzfs-single-az-ha-2"}, 99.9, "met"),
        ("fsx-openzfs", {}, 99.9, "unproven"),  # one file server: its figure was not found
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


def promised(design: str, asked: float, **changes: Any) -> RequirementCheck:
    facts: Any = SimpleNamespace(
        need=SimpleNamespace(availability=asked),
        design=load_template(design).build(changes),
        variant=SimpleNamespace(template=design),
    )
    (check,) = availability(facts)
    assert isinstance(check, RequirementCheck)
    return check


@pytest.mark.parametrize("name", [each for each in design_names() if load_template(each).build().servers])
def test_servers_without_copies_promise_no_more_than_one_server(name: str) -> None:
    """Whatever they are called; an instance of AWS has 99.5 %, of the others 99.9 %."""
    design = load_template(name).build()
    one = 99.5 if design.provider == "aws" else 99.9
    count = sum(group.count for group in design.servers)
    check = promised(name, 99.95)
    if design.is_attached and design.availability is None:
        # What is promised of the instance is the client's; nothing is known of a volume alone.
        assert check.outcome == "unproven" and "no committed availability is known" in check.text
    elif design.copies == 1:
        assert check.outcome == "failed" and f"{100 * (one / 100) ** count:.6g} % is committed" in check.text
    else:
        # A lone server, such as a master, has no other that takes over.
        is_lone = any(group.count == 1 for group in design.servers)
        assert check.outcome == ("failed" if is_lone else "unproven") and "that is no promise" in check.text


def test_one_node_promises_what_one_server_does() -> None:
    checks = [
        promised("orangefs-volumes", 99.9, nodes=1),
        promised("nfs-volumes", 99.9),
        promised("orangefs", 99.9, nodes=1),
    ]
    assert {(check.outcome, check.text, check.source) for check in checks} == {
        ("failed", "99.5 % is committed; 99.9 % is needed", checks[1].source)
    }
    # A metadata server must run, too.
    assert promised("beegfs-volumes", 99.0, servers=1).text.startswith("99.0025 % is committed if 2 servers")
    assert promised("beegfs-volumes", 99.0, servers=1).outcome == "met"
    assert promised("beegfs-volumes", 99.0, servers=2).outcome == "failed"


def test_pairs_are_away_only_if_both_are() -> None:
    """(1 - 0.005^2)^n for n pairs, with the pair of metadata servers."""
    for servers, pairs in ((2, 2), (4, 3), (64, 33)):
        design = load_template("beegfs-mirrored").build({"servers": servers})
        assert servers_availability(design, 0.995) == pytest.approx((1 - 0.005**2) ** pairs)
    assert promised("beegfs-mirrored", 99.995, servers=4).outcome == "failed"


def test_a_code_runs_while_its_spare_parts_are_away(tmp_path: Path) -> None:
    text = (DESIGNS / "beegfs.yaml").read_text().replace("durability: scratch", "copies: 2+1\ndurability: scratch")
    (tmp_path / "code.yaml").write_text(text)
    design = load_template(str(tmp_path / "code.yaml")).build({"servers": 3})
    # Two or three of three run, and the metadata server, of which there is one.
    assert servers_availability(design, 0.9) == pytest.approx((0.9**3 + 3 * 0.9**2 * 0.1) * 0.9)


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
