"""What the answer says that its user must accept: steps, backups, deletion, what survives which failure."""

import pytest
from advise_tools import best

from assay.model.base import AssayError
from assay.money.books.books import load_book
from assay.money.cost.designs import load_template
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise


def advised(books: str, **asked: object) -> Advice:
    need = Need.model_validate({"need": "x", "access": "file", "months": 12, **asked})
    return advise(need, [load_book(name) for name in books.split()])


def test_what_is_sold_in_large_steps_says_what_the_next_one_costs():
    """72,000 GiB x 0.145 = 10,440; without steps nothing is said."""
    wanted = {"capacity": "100TB", "read": "8GB/s"}
    said = best(advised("gcp-us-central1", **wanted, candidates=["gcp-managed-lustre"])).conditions
    assert "it is sold in steps of 77.3 TB, each 10,440.00 USD a month on demand" in said
    said = best(advised("azure-eastus", **wanted, candidates=["azure-files-v2"])).conditions
    assert not [text for text in said if "steps" in text]


def test_storage_that_is_paid_for_a_part_of_the_time_must_be_deleted_in_between():
    wanted = {"capacity": "48TB", "read": "2GB/s", "data": "scratch", "candidates": ["azure-managed-lustre"]}
    text = "the price is for 25 % of the time: it must be deleted whenever it is not used"
    some = best(advised("azure-eastus", **wanted, duty="25%"))
    assert [said for said in some.conditions if said.startswith(text)]
    always = best(advised("azure-eastus", **wanted))
    assert not [said for said in always.conditions if "of the time" in said]
    assert some.price.month * 4 == always.price.month


def test_half_a_month_of_scratch_is_half_of_a_month():
    wanted = {"capacity": "48TB", "read": "2GB/s", "candidates": ["azure-managed-lustre"]}
    half = best(advised("azure-eastus", **wanted, data="scratch", months=0.5))
    whole = best(advised("azure-eastus", **wanted, data="scratch", months=1))
    assert half.price.month * 2 == whole.price.month
    for refused in ({}, {"data": "scratch", "duty": "50%"}):
        with pytest.raises((ValueError, AssayError), match="not a whole number"):
            Need.model_validate({"need": "x", "access": "file", "capacity": "1TB", "months": 0.5, **refused})


def test_backups_are_priced_or_said_to_have_no_price():
    wanted = {"capacity": "10TB", "read": "100MB/s"}
    said = best(advised("aws-us-east-1", **wanted, candidates=["efs-elastic"])).conditions
    assert [text for text in said if text.startswith("backups are not in the price: one of all 10 TB is ")]
    said = best(advised("gcp-us-central1", **wanted, candidates=["gcp-managed-lustre"])).conditions
    assert "backups are not in the price, and the catalogue has no price of them: ask the provider" in said
    kept = best(advised("gcp-us-central1", **wanted, candidates=["gcp-managed-lustre"], archive=True)).conditions
    assert not [text for text in kept if "backups" in text]


@pytest.mark.parametrize(
    ("name", "values", "survived"),
    [
        ("own-minio", {}, "one node of four, or four disks of a set; its failure domain: the site"),
        (
            "own-minio",
            {"copies": "14+2", "nodes": 16},
            "two nodes, or two disks of a set; its failure domain: the site",
        ),
        ("own-nfs-server", {}, "two disks of each group; its failure domain: the server"),
        ("own-nas", {"disks": 2}, "one of its two disks; its failure domain: the NAS"),
        ("own-ceph", {"copies": "12+4"}, "as many nodes as it has spare copies or parts of parity: "),
    ],
)
def test_own_redundancy_says_what_it_survives(name: str, values: dict[str, object], survived: str):
    text = load_template(name).build(values).failures_text
    assert text.startswith(f"all data survives the loss of {survived}")


def test_what_survives_a_region_is_not_said_to_be_in_one_zone():
    found = best(advised("azure-westeurope", access="object", capacity="120TB", durability="multi-region"))
    assert found.design == "azure-blob-grs"
    assert not [text for text in found.conditions if "one availability zone" in text]


def test_what_many_clients_share_is_measured_with_all_of_them():
    wanted = {"capacity": "80TB", "read": "1GB/s", "archive": True, "candidates": ["own-nfs-server"]}
    said = " ".join(best(advised("own-2026", **wanted, clients=150)).conditions)
    assert "measure with all 150 clients at once before you buy" in said
    assert "were not measured: measure before you buy" in " ".join(best(advised("own-2026", **wanted)).conditions)
