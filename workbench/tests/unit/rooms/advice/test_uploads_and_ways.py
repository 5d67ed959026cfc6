"""What getting data in costs once, which way data leaves a cloud, and what reading is assumed to cost."""

from decimal import Decimal

import pytest
from advise_tools import NEEDS
from hypothesis import given
from hypothesis import strategies as st

from assay.model.money.amount import format_money
from assay.model.money.price import Bill
from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import first_upload, make_bill
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import load_template
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise
from assay.rooms.advice.work.traffic import distinct_write_share, monthly_traffic, uploaded_bytes, use_of

CENT, HOURS = Decimal("0.01"), Decimal(730)
TB = 10**12
IDLE = {"read": "0B", "written": "0B"}


def need_of(**changes: object) -> Need:
    return Need.model_validate({"need": "x", "access": "object", "capacity": "100TB", **changes})


def advised(books: str = "aws-us-east-1 gcp-us-central1", **changes: object) -> Advice:
    return advise(need_of(**changes), [load_book(name, NEEDS) for name in books.split()])


@pytest.mark.parametrize(
    ("design", "values", "book", "cost"),
    [
        # 1,000,000 requests, or 1 TB = 931.32 GiB
        ("s3", {"class": "s3-standard"}, "aws-us-east-1", "5.00"),
        ("s3-archive", {"class": "s3-deep-archive"}, "aws-us-east-1", "50.00"),
        # all are put, and 80 % are moved: 5.00 + 8.00
        ("s3-tiered", {"cold_class": "s3-standard-ia", "cold_share": "80%"}, "aws-us-east-1", "13.00"),
        ("gcs-archive", {}, "gcp-us-central1", "50.00"),
        ("azure-blob", {"class": "blob-hot"}, "azure-eastus", "5.00"),
        # 931.32 x 0.06
        ("efs-elastic", {}, "aws-us-east-1", "55.88"),
        # 931.32 x 95 % x 0.01
        ("efs-bursting", {"infrequent": "95%"}, "aws-us-east-1", "8.85"),
        ("efs-bursting", {}, "aws-us-east-1", "0.00"),
        ("fsx-lustre-intelligent-tiering", {}, "aws-us-east-1", "5.00"),
        ("fsx-lustre-persistent", {}, "aws-us-east-1", "0.00"),
        # a million write units: x 0.625; / 3600 unit-hours x 0.00065
        ("dynamodb-on-demand", {}, "aws-us-east-1", "0.62"),
        ("dynamodb-provisioned", {}, "aws-us-east-1", "0.18"),
        ("nfs-gp3", {}, "aws-us-east-1", "0.00"),
    ],
)
def test_a_first_upload_costs_what_the_service_charges_for_writes(design, values, book, cost):
    lines = first_upload(load_template(design).build(values), TB, Decimal(10**6))
    priced = price_bill(Bill(lines=lines), load_book(book))
    assert priced.committed_cost(1) == priced.committed_cost(60), "it is paid once"
    assert priced.committed_cost(60).quantize(CENT) == Decimal(cost)
    assert priced.month == 0, "it is no cost of a month"
    assert priced.present_value(60, Decimal("0.1")) == priced.committed_cost(60), "it is paid on the first day"


def test_the_first_upload_turns_the_choice_to_a_class_with_cheap_requests():
    """976,562,500 requests: Archive x 0.05 / 1000 = 48,828.13; Standard x 0.005 / 1000 = 4,882.81.

    Archive: 93,132 GiB x 0.0012 x 12 = 1,341.10, 50,169.23 in all. Standard: (51,200 x 0.023 + 41,932 x 0.022) x 12
    = 25,201.32, 30,084.13 in all.
    """
    candidates = ["gcs-archive", {"design": "s3", "set": {"class": "s3-standard"}}]
    asked = {"monthly": IDLE, "profile": {"cold": True, "record": "100KiB"}, "candidates": candidates}
    answer = advised(durability="region", **asked)
    found = {item.design: item.price for item in answer.options}
    assert answer.recommended[0].startswith("s3 ")
    assert {name: str(price.paid.quantize(CENT)) for name, price in found.items()} == {
        "s3": "30084.13",
        "gcs-archive": "50169.23",
    }
    assert {name: str(price.migration_cost.quantize(CENT)) for name, price in found.items()} == {
        "s3": "4882.81",
        "gcs-archive": "48828.12",
    }
    (line,) = [line for line in found["s3"].lines if line.what.startswith("first upload")]
    assert (line.month * 12).quantize(CENT) == Decimal("4882.81")


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({}, 100),
        ({"data": "scratch"}, 0),
        ({"data": "scratch", "migration": {"from": "own", "link": "1Gb/s"}}, 100),
        # What is already in the same cloud is copied into the design by the same requests.
        ({"migration": {"from": "aws", "link": "1Gb/s"}}, 100),
        ({"migration": {"from": "own", "link": "1Gb/s", "size": "10TB"}}, 100),
        ({"migration": {"from": "own", "link": "1Gb/s", "size": "10TB"}, "monthly": {"written": "5TB"}}, 40),
        ({"migration": {"from": "own", "link": "1Gb/s", "size": "10TB"}, "write": "1GB/s"}, 10),
        ({"growth": "50%"}, 150),
        ({"growth_per_year": "100%", "months": 24}, 400),
        ({"growth_per_year": "100%", "months": 24, "monthly": {"written": "10TB"}}, 160),
        ({"growth_per_year": "100%", "months": 24, "monthly": {"written": "20TB"}}, 100),
    ],
)
def test_what_is_uploaded_is_what_no_writes_bring(changes, size):
    assert uploaded_bytes(need_of(**changes).after_growth, HOURS) == size * TB


@given(st.integers(1, 10**6), st.integers(0, 10**5), st.integers(1, 60), st.sampled_from(["0%", "20%", "100%"]))
def test_all_that_is_stored_has_been_written(capacity, written, months, growth):
    need = need_of(capacity=f"{capacity}GB", months=months, growth_per_year=growth, monthly={"written": f"{written}GB"})
    grown = need.after_growth
    uploaded = uploaded_bytes(grown, HOURS)
    # A byte may be lost by rounding.
    assert need.capacity - 1 <= uploaded <= grown.capacity
    assert uploaded + written * 10**9 * months >= grown.capacity - 1


def test_egress_goes_over_the_line_of_the_design():
    """100 TB = 93,132.26 GiB x 0.02 = 1,862.65; over the internet 7,329.46."""
    design, book = load_template("s3-leased-link").build(), load_book("aws-us-east-1")

    def cost(**use: object) -> Decimal:
        lines = make_bill(design, Use.model_validate(use)).lines
        return price_bill(Bill(lines=lines), book).month - price_bill(make_bill(design), book).month

    assert cost(egress="100TB").quantize(CENT) == Decimal("1862.65")
    assert cost(egress="100TB", egress_way="internet").quantize(CENT) == Decimal("7329.46")


@pytest.mark.parametrize(
    ("design", "changes", "egress", "way"),
    [
        ("s3", {}, 0, None),
        ("s3", {"monthly": {"read": "9TB", "egress": "3TB"}}, 3, None),
        ("s3", {"clients_at": "internet", "monthly": {"read": "9TB"}}, 9, None),
        ("s3", {"clients_at": "internet", "monthly": {"read": "9TB", "egress": "3TB"}}, 3, None),
        ("s3", {"clients_at": "leased-line", "monthly": {"read": "9TB"}}, 9, "direct-connect"),
        ("azure-blob", {"clients_at": "leased-line", "monthly": {"read": "9TB"}}, 9, "expressroute"),
        ("gcs", {"clients_at": "leased-line", "monthly": {"read": "9TB"}}, 9, "interconnect"),
        ("efs-bursting", {"clients_at": "internet", "monthly": {"read": "9TB"}}, 9, None),
        # A bucket with a line is read by a data centre; what a cloud writes to an own array leaves the cloud.
        ("s3-leased-link", {"monthly": {"read": "9TB", "written": "1TB"}}, 9, None),
        ("array-leased-link", {"monthly": {"read": "9TB", "written": "1TB"}}, 1, None),
        ("own-nfs-adjacent", {"monthly": {"read": "9TB", "written": "1TB"}}, 1, None),
        ("own-minio", {"monthly": {"read": "9TB"}}, 0, None),
        ("own-minio", {"clients_at": "internet", "monthly": {"read": "9TB", "egress": "9TB"}}, 0, None),
    ],
)
def test_what_leaves_a_cloud_follows_from_where_the_clients_are(design, changes, egress, way):
    built = load_template(design).build()
    provider = built.provider
    use = use_of(need_of(**changes), built, HOURS, provider=provider)
    assert (use.egress, use.egress_way) == (egress * TB, way)


def test_a_line_is_named_where_it_is_not_in_the_price():
    only = {"candidates": [{"design": "s3", "set": {"class": "s3-standard"}}, "s3-leased-link"]}
    answer = advised("aws-us-east-1", clients_at="leased-line", monthly={"read": "1TB", "written": "0B"}, **only)
    plain, line = (next(item for item in answer.options if item.design == name) for name in ("s3", "s3-leased-link"))
    assert "but not the line" in str(plain.conditions) and "but not the line" not in str(line.conditions)
    assert {item.item for item in plain.price.lines if item.dimension == "transfer-out"} == {"direct-connect"}


def test_what_nobody_says_is_read_is_read_once_a_month():
    """10 TB in Archive cost 11.18 a month, and 465.66 to read; nobody said that they are cold."""
    asked = {"capacity": "10TB", "candidates": ["gcs-archive", "gcs"]}
    for changes, read in (({}, 10), ({"active": "100%"}, 10), ({"active": "20%"}, 2), ({"profile": {"cold": True}}, 0)):
        assert monthly_traffic(need_of(**asked, **changes), "read", HOURS).size_bytes == read * TB
    assert monthly_traffic(need_of(profile={"read_share": 0}), "read", HOURS).size_bytes == 0
    plain, cold = advised(**asked), advised(profile={"cold": True, "record": "10MiB"}, **asked)
    assert [answer.recommended[0].split()[0] for answer in (plain, cold)] == ["gcs", "gcs-archive"]
    (text,) = [item.text for item in plain.reasons if item.about == "reading"]
    assert text.startswith("10 TB read a month are assumed, all data once: state `monthly.read`; reading all data once")
    (text,) = [item.text for item in cold.reasons if item.about == "reading"]
    # 9,313.23 GiB x 0.05 = 465.66, and 953,675 requests x 0.05 / 1000 = 47.68.
    assert text == "nothing is assumed to be read: state `monthly.read`; reading all data once costs 513.35 USD"
    told = advised(monthly=IDLE, **asked)
    assert not [item for item in told.reasons if item.about == "reading"]


def test_what_is_written_again_and_again_does_not_get_cold():
    """1 GB/s are 2,628 TB a month, of which 50 TB at most are distinct if 10 % of 500 TB are in use."""
    asked = {"access": "file", "capacity": "500TB", "active": "10%"}
    assert distinct_write_share(need_of(**asked), 2000 * TB) == Decimal(50) / 2000
    assert distinct_write_share(need_of(**asked), 20 * TB) == 1
    assert distinct_write_share(need_of(access="file", capacity="500TB"), 2628 * TB) == 1
    only = {"candidates": [{"design": "efs-one-zone", "set": {"infrequent": "90%"}}]}
    (found,) = advised("aws-us-east-1", write="1GB/s", **asked, **only).options
    moved = next(line for line in found.price.lines if line.what == "bytes moved to infrequent access")
    # 45 TB = 41,909.52 GiB x 0.01
    assert moved.month.quantize(CENT) == Decimal("419.10")


def test_a_rate_that_is_given_up_is_not_paid_for():
    """What dropping the rate would cost is what the same need without the rate costs."""
    wanted = {"capacity": "10TB", "access": "file", "candidates": ["efs-elastic"], "durability": "region"}
    answer = advised("aws-us-east-1", read="10TB/s", **wanted)
    (item,) = [item for item in answer.relaxed if item.requirement == "read"]
    (free, *_) = advised("aws-us-east-1", **wanted).options
    assert f"for {format_money(free.price.month, 'USD')} a month" in item.text
