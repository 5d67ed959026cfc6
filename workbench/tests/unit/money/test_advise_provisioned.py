"""What is bought is expected in full, follows from the record, and a first quota excludes nothing."""

import math
from decimal import Decimal

import pytest
from advise_tools import advised, best
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.money.books.books import load_book
from assay.money.cost.designs import load_template
from assay.money.cost.sizing import COMPONENT_SHARE, usable_share
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.provisioned import provisioned_rates

KIB = 1024
US_EAST = "aws-us-east-1"


def ask(*books, **changes):
    need = Need.model_validate({"need": "x", "access": "file", "capacity": "10TB", **changes})
    return advised(need, tuple(load_book(book) for book in books or (US_EAST,)), ())


def table(**changes):
    return ask(access="table", capacity="100GB", **changes)


@settings(deadline=None, max_examples=40)
@given(
    record=st.integers(1, 400 * KIB),
    reads=st.integers(1, 100_000),
    writes=st.integers(1, 100_000),
    item=st.sampled_from(("record", "1KiB", "64KiB")),
)
def test_units_of_a_table_follow_from_the_record(record, reads, writes, item):
    """A write takes ceil(item / 1 KiB) units, a consistent read ceil(item / 4 KiB); a record may be several items."""
    values = {"item": f"{record}B" if item == "record" else item, "reads": 1, "writes": 1}
    need = Need.model_validate(
        {
            "need": "x",
            "access": "table",
            "capacity": "1GB",
            "profile": {"record": f"{record}B"},
            "read_iops": f"{reads}/s",
            "write_iops": f"{writes}/s",
        }
    )
    size = {"record": record, "1KiB": KIB, "64KiB": 64 * KIB}[item]
    items = math.ceil(record / size)
    units = provisioned_rates(load_template("dynamodb-provisioned").build(values), ("reads", "writes"), need)
    assert units == {
        "reads": reads * items * math.ceil(size / (4 * KIB)),
        "writes": writes * items * math.ceil(size / KIB),
    }


@pytest.mark.parametrize(
    ("record", "rate", "units", "month"),
    [
        # units x 730 h x 0.00065 + 17.03 of storage, 0.09 of one read unit, and 17.63 / 12 to move the data in
        ("2KiB", 10_000, 20_000, "9508.60"),
        ("1KiB", 39_000, 39_000, "18524.10"),
        ("4KiB", 15_000, 60_000, "28488.60"),
    ],
)
def test_a_table_is_priced_by_the_units_of_its_records(record, rate, units, month):
    found = best(table(write_iops=f"{rate}/s", profile={"record": record}))
    assert (found.design, found.set["writes"], found.set["item"]) == ("dynamodb-provisioned", units, record)
    assert found.price.month.quantize(Decimal("0.01")) == Decimal(month)


def test_a_first_quota_is_a_condition_and_no_wall():
    many = table(write_iops="45000/s", profile={"record": "1KiB"})
    chosen, on_demand = many.options
    assert (chosen.set["writes"], on_demand.design) == (45_000, "dynamodb-on-demand")
    for option in (chosen, on_demand):
        (text,) = [text for text in option.conditions if "first quota" in text]
        assert "45,000" in text and "40,000" in text and "AWS raises it on request (https://" in text
    few = table(write_iops="40000/s", profile={"record": "1KiB"})
    assert len(few.options) == 2, "all of the quota counts: nothing of it is a link"
    assert not [text for option in few.options for text in option.conditions if "quota" in text]


def test_a_bucket_beyond_its_first_quota_has_a_condition():
    wanted = {"access": "object", "read_iops": "50000/s"}
    for design, book, quota in (("gcs", "gcp-us-central1", "5,000"), ("azure-blob", "azure-eastus", "40,000")):
        option = best(ask(book, **wanted, candidates=[design]))
        assert any("above the first quota" in text and quota in text for text in option.conditions)


def layers(design, **values):
    return {layer.layer: usable_share(layer) for layer in load_template(design).limits(values).layers}


def test_all_of_a_provisioned_rate_is_expected_and_90_percent_of_a_link():
    assert layers("direct-volumes") == {"volume bandwidth of m5.4xlarge": COMPONENT_SHARE, "gp3 volumes": 1.0}
    assert set(layers("fsx-ontap").values()) == set(layers("efs-provisioned").values()) == {1.0}
    assert set(layers("fsx-lustre-persistent").values()) == set(layers("s3").values()) == {1.0}
    assert set(layers("own-nfs-flash").values()) == {COMPONENT_SHARE}


def test_all_that_a_service_gives_a_client_is_expected():
    """A client of elastic EFS has 1500 MiB/s, which are 1.57 GB/s."""
    elastic = {"clients": 1, "capacity": "1TB", "candidates": ["efs-elastic"]}
    assert [ask(read=rate, **elastic).result for rate in ("1.5GB/s", "1.6GB/s")] == ["recommended", "none"]


def test_a_need_of_what_was_bought_is_met():
    """536.9 MB/s are 512 MiB/s; at 90 % they were 483 MB/s, which failed 500 MB/s."""
    bought = [{"design": "fsx-ontap", "set": {"throughput": ["512MiB/s"]}}]
    found = best(ask(read="500MB/s", candidates=bought))
    assert "all of 537 MB/s" in str(found.checks) and "parallel file systems" not in str(found.checks)
    assert ask(read="540MB/s", candidates=bought).result == "none"


@pytest.mark.parametrize(
    ("book", "design"), [("azure-eastus", "direct-azure-disks"), ("gcp-us-central1", "direct-gcp-hyperdisk")]
)
def test_each_cloud_has_block_storage(book, design):
    wanted = {"access": "block", "capacity": "2TB", "profile": {"record": "8KiB", "pattern": "random"}}
    found = ask(book, **wanted, read_iops="20000/s")
    assert (found.result, best(found).design) == ("recommended", design)


def test_what_lacks_the_access_could_not_be_cheaper():
    """Azure Managed Lustre has no price; it is a file system."""
    azure = {"capacity": "1TB"}
    assert "azure-managed-lustre" in ask("azure-eastus", **azure).unpriced
    bucket = ask("azure-eastus", **azure, access="object")
    assert (bucket.unpriced, bucket.counts.unpriced) == ((), 0)
    counts = bucket.counts
    assert counts.enumerated == counts.infeasible + counts.met + counts.unproven + counts.failed
