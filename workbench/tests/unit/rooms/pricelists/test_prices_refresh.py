"""`assay prices refresh`: from small files in AWS's format to new prices, and what is refused."""

import gzip
import io
import json
import re
import threading
import tracemalloc
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from offer_files import PUBLISHED, Price, Product, as_csv, as_json, instance, plain
from run_tools import assay

from assay.model.base import AssayError
from assay.model.money.price import PriceBook, PriceTier, row_name
from assay.money.books.books import BOOKS, book_names, load_book
from assay.rooms.pricelists.work.aws import read_offers
from assay.rooms.pricelists.work.book_yaml import book_text
from assay.rooms.pricelists.work.price_list import PriceListFile
from assay.rooms.pricelists.work.providers import PROVIDERS
from assay.rooms.pricelists.work.refresh import needed_urls, product_filter, refresh

GB, HOURS = "GB-Mo", "Hrs"
OUTBOUND = {
    "transferType": "AWS Outbound",
    "toLocation": "External",
    "fromLocation": "US East (N. Virginia)",
    "fromRegionCode": "us-east-1",
}
EC2 = [
    instance(
        "m5.large",
        "0.0990000000",
        Price(HOURS, "0.0610000000", lease="1yr", paid="No Upfront", offering="standard"),
        Price(HOURS, "0.0700000000", lease="1yr", paid="No Upfront", offering="convertible"),
        Price("Quantity", "500", lease="1yr", paid="All Upfront", offering="standard"),
        Price(HOURS, "0.0000000000", lease="1yr", paid="All Upfront", offering="standard"),
    ),
    instance("m5.large", "0.1880000000", operatingSystem="Windows"),
    instance("m5.large", "0.1060000000", tenancy="Dedicated"),
    instance("m5.large", "9.9900000000", preInstalledSw="SQL Web"),
    instance("m5.large", "0.0000000000", capacitystatus="AllocatedCapacityReservation"),
    instance("m5.large", "0.1500000000", location="US West (Oregon)", regionCode="us-west-2", prefix="USW2-"),
    instance("m5.large", "0.1200000000", locationType="AWS Local Zone", prefix="USE1-BOS1-"),
    plain("EBS:VolumeUsage.gp3", Price(GB, "0.0800000000"), volumeApiName="gp3"),
    plain("USE1-BOS1-EBS:VolumeUsage.gp3", Price(GB, "0.096"), volumeApiName="gp3"),
    plain("EBS:VolumeP-IOPS.gp3", Price("IOPS-Mo", "0.006", "3000"), family="System Operation"),
    plain("EBS:VolumeP-Throughput.gp3", Price("GiBps-mo", "51.2"), family="Provisioned Throughput"),
    plain("EBS:VolumeP-IOPS.io2", Price("IOPS-Mo", "0.066"), family="System Operation"),
    plain("EBS:VolumeP-IOPS.io2.tier2", Price("IOPS-Mo", "0.0455"), family="System Operation"),
    plain("EBS:VolumeP-IOPS.io2.tier3", Price("IOPS-Mo", "0.03185"), family="System Operation"),
    plain("EBS:VolumeIOUsage", Price("IOs", "0.0000000600"), family="System Operation"),
    plain("NatGateway-Hours", Price(HOURS, "0.046"), family="NAT Gateway"),
    plain("RegionalNatGateway-Hours", Price(HOURS, "0.047"), family="NAT Gateway"),
    plain("NatGateway-Bytes", Price("GB", "0.048"), family="NAT Gateway"),
]
FILES = {
    "AmazonEC2": EC2,
    "AmazonS3": [
        plain(
            "TimedStorage-ByteHrs",
            Price(GB, "0.0210", "512000"),
            Price(GB, "0.0240", "0", "51200"),
            Price(GB, "0.0220", "51200", "512000"),
            volumeType="Standard",
        ),
        plain("TimedStorage-ByteHrs", Price(GB, "0.021"), volumeType="INTAAS3ObjectOverhead"),
        plain("Requests-Tier1", Price("Requests", "0.0000055"), family="API Request"),
        plain("Standard-Retrieval-Bytes", Price("GB", "0.012"), family="Fee", operation="RestoreObject"),
        plain("Standard-Retrieval-Bytes", Price("GB", "0.02"), family="Fee", operation="DeepArchiveRestoreObject"),
    ],
    "AmazonEFS": [
        plain("USE1-ETDataAccess-Bytes", Price("GB", "0.04"), accessType="Read", storageClass="General Purpose"),
        plain("USE1-ETDataAccess-Bytes", Price("GB", "0.07"), accessType="Write", storageClass="General Purpose"),
        plain("USE1-ProvisionedTP-MiBpsHrs", Price("MiBps-Mo", "6.6"), family="Provisioned Throughput"),
    ],
    "AmazonFSx": [
        plain("USE1-Storage.SSD.125", Price(GB, "0.15"), fileSystemType="Lustre"),
        plain("USE1-Storage.SSD.125", Price(GB, "0.99"), fileSystemType="OpenZFS"),
        plain("USE1-Storage", Price(GB, "0.141"), fileSystemType="Lustre"),
    ],
    "AmazonDynamoDB": [
        plain("TimedStorage-ByteHrs", Price(GB, "0", "0", "25"), Price(GB, "0.26", "25"), family="Database Storage"),
        plain("USE1-TimedStorage-ByteHrs", Price(GB, "0.27"), family="Database Storage"),
        plain("IA-TimedStorage-ByteHrs", Price(GB, "0.1"), family="Database Storage"),
        plain(
            "ReadCapacityUnit-Hrs",
            Price("ReadCapacityUnit-Hrs", "0", "0", "18600"),
            Price("ReadCapacityUnit-Hrs", "0.00014", "18600"),
        ),
        plain("WriteRequestUnits", Price("WriteRequestUnits", "0.0000006500")),
    ],
    "AWSDataTransfer": [
        Product(
            "Data Transfer",
            {"usagetype": "DataTransfer-Out-Bytes", **OUTBOUND},
            [
                Price("GB", "0.09", "0", "10240"),
                Price("GB", "0.086", "10240", "51200"),
                Price("GB", "0.07", "51200", "153600"),
                Price("GB", "0.05", "153600"),
            ],
        ),
        Product(
            "Data Transfer",
            {"usagetype": "DataTransfer-Out-Bytes", **OUTBOUND, "fromRegionCode": "eu-west-1"},
            [Price("GB", "0.5")],
        ),
        *(
            Product(
                "Data Transfer",
                {
                    "usagetype": f"USE1-{code}-AWS-Out-Bytes",
                    "transferType": "InterRegion Outbound",
                    "fromRegionCode": "us-east-1",
                    "toRegionCode": region,
                },
                [Price("GB", usd)],
            )
            for code, region, usd in (("USE2", "us-east-2", "0.011"), ("EU", "eu-west-1", "0.02"))
        ),
    ],
    "AmazonVPC": [
        plain("USE1-PublicIPv4:InUseAddress", Price(HOURS, "0.006"), family=""),
        plain("USE1-PublicIPv4:IdleAddress", Price(HOURS, "0.007"), family=""),
        plain("USE1-PublicIPv4:ContiguousBlock", Price(HOURS, "0.008"), family=""),
    ],
    "AWSDirectConnect": [
        *(
            plain(f"{place}-{kind}PortUsage:10G", Price(HOURS, usd), family="Direct Connect", location=place)
            for place, kind, usd in (("USE1-EqDC2", "", "2.3"), ("EqNY5", "", "2.3"), ("EqDC2", "HC", "2.48"))
        ),
        *(
            plain(f"{place}-PortUsage:1G", Price(HOURS, usd), family="Direct Connect", location=place)
            for place, usd in (("EqDC2", "0.3"), ("EqNY5", "0.285"))
        ),
    ],
}
FOUND = {
    ("volume-capacity", "gp3", "on-demand", ""): Decimal("0.08"),
    ("object-retrieval", "s3-deep-archive", "on-demand", ""): Decimal("0.02"),
    ("instance", "m5.large", "on-demand", ""): Decimal("0.099"),
    ("instance", "m5.large", "reserved-1y", "no-upfront"): Decimal("0.061"),
    ("instance", "m5.large", "reserved-1y", "all-upfront"): (Decimal(500), Decimal(0)),
    ("volume-iops", "gp3", "on-demand", ""): Decimal("0.006"),
    ("volume-throughput", "gp3", "on-demand", ""): Decimal("0.05"),
    ("volume-iops", "io2", "on-demand", ""): [("0.066", 32000), ("0.0455", 64000), ("0.03185", None)],
    ("volume-requests", "standard", "on-demand", ""): Decimal("0.06"),
    ("object-capacity", "s3-standard", "on-demand", ""): [("0.024", 51200), ("0.022", 512000), ("0.021", None)],
    ("object-requests", "s3-standard/put", "on-demand", ""): Decimal("0.0055"),
    ("object-retrieval", "s3-glacier-flexible", "on-demand", ""): Decimal("0.012"),
    ("filesystem-access", "efs-elastic-read", "on-demand", ""): Decimal("0.04"),
    ("filesystem-access", "efs-elastic-write", "on-demand", ""): Decimal("0.07"),
    ("filesystem-throughput", "efs-provisioned", "on-demand", ""): Decimal("6.6"),
    ("filesystem-capacity", "fsx-lustre-persistent-ssd-125", "on-demand", ""): Decimal("0.15"),
    ("filesystem-capacity", "fsx-lustre-scratch-2", "on-demand", ""): Decimal("0.141"),
    ("table-capacity", "dynamodb", "on-demand", ""): [("0", 25), ("0.26", None)],
    ("table-read", "dynamodb", "on-demand", ""): Decimal("0.00014"),
    ("table-requests", "dynamodb/write", "on-demand", ""): Decimal("0.65"),
    ("transfer-out", "internet", "on-demand", ""): [
        ("0", 100),
        ("0.09", 10240),
        ("0.086", 51200),
        ("0.07", 153600),
        ("0.05", None),
    ],
    ("transfer-region", "us-east-2", "on-demand", ""): Decimal("0.011"),
    ("transfer-region", "eu-west-1", "on-demand", ""): Decimal("0.02"),
    ("filesystem-capacity", "fsx-lustre-scratch-1", "on-demand", ""): Decimal("0.141"),
    ("port", "direct-connect-10g", "on-demand", ""): Decimal("2.3"),
    ("port", "direct-connect-hosted-10g", "on-demand", ""): Decimal("2.48"),
    ("gateway", "nat-gateway", "on-demand", ""): Decimal("0.046"),
    ("gateway-traffic", "nat-gateway", "on-demand", ""): Decimal("0.048"),
    ("address", "public-ipv4", "on-demand", ""): Decimal("0.006"),
    ("address", "public-ipv4-idle", "on-demand", ""): Decimal("0.007"),
}
"""What the files above say of the shipped book of us-east-1."""
AS = {"csv": as_csv, "json": as_json}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All files in both forms."""
    place = tmp_path_factory.mktemp("offers")
    for offer, products in FILES.items():
        for form, write in AS.items():
            (place / f"{offer}.{form}").write_text(write(offer, products))
    return place


def row_key(row):
    return row["dimension"], row["item"], row["term"], row["payment"] or ""


def money(row):
    if row.tiers:
        return [(str(tier.price.normalize()) if tier.price else "0", tier.up_to) for tier in row.tiers]
    return (row.upfront, row.price) if row.upfront else row.price


@pytest.mark.parametrize("form", ["csv", "json"])
def test_the_shipped_book_gets_the_prices_of_the_files(folder, tmp_path, form):
    sources = [word for offer in FILES for word in ("--from", str(folder / f"{offer}.{form}"))]
    result = assay(tmp_path, "prices", "refresh", "aws-us-east-1", *sources, "--json", expect=0)
    told = json.loads(result.stdout)
    before, after = load_book("aws-us-east-1"), load_book("aws-us-east-1.yaml", tmp_path)
    assert [row.key for row in after.rows] == [row.key for row in before.rows]
    for old, new in zip(before.rows, after.rows, strict=True):
        assert (new.unit, new.free, new.interruptions) == (old.unit, old.free, old.interruptions)
    left = {row_key(each["row"]) for each in told["not_found"]}
    assert {row.key: money(row) for row in after.rows if row.key not in left} == FOUND
    assert {row.key: money(row) for row in after.rows if row.key in left} == {
        row.key: money(row) for row in before.rows if row.key in left
    }
    assert len(told["changed"]) + len(told["unchanged"]) == len(FOUND)
    reasons = {row_key(each["row"])[:3]: each["why"] for each in told["not_found"]}
    assert reasons["instance", "m5.4xlarge", "spot"] == "the files have no spot prices"
    assert reasons["instance", "c5.xlarge", "on-demand"] == "not in the file"
    assert reasons["port", "direct-connect-1g", "on-demand"] == "the file has 2 different prices: 0.285, 0.3"
    assert reasons["transfer-region", "region", "on-demand"] == "the file has 2 different prices: 0.011, 0.02"


SMALL = {
    "book": "small",
    "provider": "aws",
    "region": "us-east-1",
    "date": "2026-01-01",
    "currency": "USD",
    "hours_per_month": 730,
    "rows": [{"dimension": "instance", "item": "m5.large", "price": 0.096, "unit": "hour", "source": "x"}],
}


def small(**row):
    """A book of one row."""
    return PriceBook.model_validate({**SMALL, "rows": [{**SMALL["rows"][0], **row}]})


def test_dates_and_sources_follow_the_files_and_changes_are_told(folder, tmp_path):
    row = SMALL["rows"][0]
    volume = {"dimension": "volume-capacity", "unit": "GiB-month", "source": "x"}
    rows = [
        {**row, "note": "doubtful: seen nowhere"},
        {**row, "item": "c5.xlarge", "date": "2026-02-01", "note": "doubtful too"},
        {**volume, "item": "gp3", "price": "0.0800", "note": "sized in GiB"},
        {**volume, "dimension": "object-capacity", "item": "s3-standard", "price": 0.02},
    ]
    (tmp_path / "small.yaml").write_text(book_text(PriceBook.model_validate({**SMALL, "rows": rows})))
    source = str(folder / "AmazonEC2.csv")
    words = ("prices", "refresh", "small.yaml", "--from", source, "--output", "new.yaml")
    result = assay(tmp_path, *words, expect=0)
    book = load_book("new.yaml", tmp_path)
    machine, other, disk, objects = book.rows
    assert (str(machine.date), machine.source) == (PUBLISHED[:10], f"AWS price list of AmazonEC2: {source}")
    assert (str(other.date), other.source, other.note) == ("2026-02-01", "x", "doubtful too")
    assert (str(disk.date), disk.note, machine.note) == (PUBLISHED[:10], "sized in GiB", "")
    assert (str(book.date), objects.date) == ("2026-01-01", None)
    assert re.search(r"instance m5\.large +0\.096 +0\.099 +hour +\+3\.1 %", result.stdout)
    assert "volume" not in result.stdout
    assert result.stdout.endswith("new.yaml: new prices: 1 (+3.1 %), as before: 1, not renewed: 2\n")
    assert result.stderr.splitlines()[1:] == [
        "not renewed: instance c5.xlarge: not in the file, still of 2026-02-01",
        "not renewed: object-capacity s3-standard: no file of AmazonS3 was read, still of 2026-01-01",
    ]


def read(text, book, name="f"):
    return read_offers(io.StringIO(text, newline=""), name, book.currency, product_filter(book))


@pytest.mark.parametrize("write", AS.values())
def test_a_row_keeps_what_it_is_sold_by(write):
    products = [plain("EBS:VolumeUsage.gp3", Price(GB, "0.08"))]
    for unit, price in (("GiB-month", "0.08"), ("GB-month", "0.08"), ("TiB-month", "81.92"), ("TB-month", "80")):
        book = small(dimension="volume-capacity", item="gp3", unit=unit)
        found = refresh(book, [read(write("AmazonEC2", products), book)])
        assert found.book.rows[0].price == Decimal(price)


@pytest.mark.parametrize("write", AS.values())
def test_a_tiered_row_becomes_flat_and_a_flat_one_tiered(write):
    tiers = [Price("GB", "0.09", "0", "10240"), Price("GB", "0.08", "10240")]
    transfer = Product("Data Transfer", {"usagetype": "DataTransfer-Out-Bytes", **OUTBOUND}, tiers)
    flat = small(dimension="transfer-out", item="internet", unit="TiB", price=1)
    found = refresh(flat, [read(write("AWSDataTransfer", [transfer]), flat)]).book.rows[0]
    assert found.tiers == (PriceTier(up_to=Decimal(10), price=Decimal("92.16")), PriceTier(price=Decimal("81.92")))
    transfer.prices = [Price("GB", "0.08")]
    found = refresh(flat, [read(write("AWSDataTransfer", [transfer]), flat)]).book.rows[0]
    assert (found.price, found.tiers) == (Decimal("81.92"), ())


@pytest.mark.parametrize("write", AS.values())
@pytest.mark.parametrize(
    ("prices", "why"),
    [
        ([Price("GB", "0.1", "0", "10"), Price("GB", "0.2", "20")], "the file's tiers do not join at 10"),
        ([Price("GB", "0.1", "0", "10")], "the file has no price for quantities without an upper limit"),
        ([Price("Hrs", "0.1")], "the file has it by Hrs, not by GB"),
        ([Price("GB", "0.1", currency="CNY")], "not in the file"),
    ],
)
def test_a_doubtful_price_is_left_as_it_was(write, prices, why):
    row = {"dimension": "transfer-out", "item": "internet", "unit": "GB", "price": 1, "source": "x"}
    book = PriceBook.model_validate({**SMALL, "rows": [row, {**row, "dimension": "transfer-zone", "item": "zone"}]})
    zone = {"usagetype": "DataTransfer-Regional-Bytes", **OUTBOUND, "transferType": "IntraRegion", "toLocation": ""}
    products = [
        Product("Data Transfer", {"usagetype": "DataTransfer-Out-Bytes", **OUTBOUND}, prices),
        Product("Data Transfer", zone, [Price("GB", "0.01")]),
    ]
    found = refresh(book, [read(write("AWSDataTransfer", products), book)])
    assert [(old.item, text) for old, text in found.skipped] == [("internet", why)]
    assert [row.price for row in found.book.rows] == [1, Decimal("0.01")]


def test_an_older_file_does_not_replace_newer_prices():
    book = small()
    old = read(as_csv("AmazonEC2", EC2, "2025-12-31T00:00:00Z"), book)
    why = "no row of small is updated from f: instance m5.large: the file is of 2025-12-31, older than the row"
    with pytest.raises(AssayError, match=why):
        refresh(book, [old])
    assert refresh(book, [read(as_csv("AmazonEC2", EC2, "2026-01-01T00:00:00Z"), book)]).changes


@pytest.mark.parametrize("write", AS.values())
def test_a_file_in_another_currency_says_so(write):
    book = small()
    product = instance("m5.large", "")
    product.prices = [Price(HOURS, "0.7", currency="CNY")]
    with pytest.raises(AssayError, match="f: prices in CNY; the book small is in USD"):
        refresh(book, [read(write("AmazonEC2", [product]), book)])
    other = instance("c5.large", "1")
    with pytest.raises(AssayError, match="no row of small is in f"):
        refresh(book, [read(write("AmazonEC2", [other]), book)])


RESERVED = {"term": "reserved-1y", "upfront": "494", "price": 0}


@pytest.mark.parametrize("write", AS.values())
@pytest.mark.parametrize(
    ("payment", "prices", "why"),
    [
        ("all-upfront", [(HOURS, "0")], "the file has no upfront fee for this row, which is paid all-upfront"),
        ("all-upfront", [(HOURS, "0"), ("Quantity", "0")], "the file has no upfront fee for this row"),
        (
            "partial-upfront",
            [(HOURS, "0.03")],
            "the file has no upfront fee for this row, which is paid partial-upfront",
        ),
        ("no-upfront", [(HOURS, "0.03"), ("Quantity", "7")], "the file has an upfront fee for this row"),
    ],
)
def test_a_reservation_without_its_fee_stays(write, payment, prices, why):
    reserved = {**SMALL["rows"][0], **RESERVED, "payment": payment}
    reserved["upfront"] = 0 if payment == "no-upfront" else 494
    book = PriceBook.model_validate({**SMALL, "rows": [SMALL["rows"][0], reserved]})
    paid = payment.replace("-", " ").title()
    terms = [Price(unit, usd, lease="1yr", paid=paid, offering="standard") for unit, usd in prices]
    found = refresh(book, [read(write("AmazonEC2", [instance("m5.large", "0.099", *terms)]), book)])
    ((row, reason),) = found.skipped
    assert row.payment == payment and reason.startswith(why)
    assert (found.book.rows[1].upfront, found.book.rows[1].price) == (row.upfront, 0)
    assert found.book.rows[0].price == Decimal("0.099")


def test_a_price_in_another_unit_is_rounded_to_what_a_book_holds():
    book = small(dimension="volume-throughput", item="gp3", unit="MB/s-month")
    products = [plain("EBS:VolumeP-Throughput.gp3", Price("GiBps-mo", "40.96"))]
    found = refresh(book, [read(as_csv("AmazonEC2", products), book)])
    assert found.book.rows[0].price == Decimal("0.038146972656")
    assert book_text(found.book)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_file_of_the_future_is_refused(tmp_path, form):
    (tmp_path / "small.yaml").write_text(book_text(small()))
    (tmp_path / "f").write_text(AS[form]("AmazonEC2", EC2, "2099-01-01T00:00:00Z"))
    result = assay(tmp_path, "prices", "refresh", "small.yaml", "--from", "f", "--output", "new.yaml", expect=2)
    assert "error: f: its publication date 2099-01-01 is in the future\n" in result.stderr
    assert not (tmp_path / "new.yaml").exists()


def test_a_book_of_the_future_is_not_written(folder, tmp_path):
    rows = [SMALL["rows"][0], {**SMALL["rows"][0], "item": "other", "date": "2099-01-01"}]
    (tmp_path / "small.yaml").write_text(book_text(PriceBook.model_validate({**SMALL, "rows": rows})))
    words = ("prices", "refresh", "small.yaml", "--from", str(folder / "AmazonEC2.csv"), "--output", "new.yaml")
    message = "error: the book cannot be written: rows[1].date: 2099-01-01 is in the future\n"
    assert message in assay(tmp_path, *words, expect=2).stderr and not (tmp_path / "new.yaml").exists()


def test_wherever_a_table_is_cut_it_is_said_or_the_rows_are_whole():
    """The file of an all-upfront reservation, cut after each character: never is the machine free."""
    reserved = {**RESERVED, "payment": "all-upfront"}
    book = PriceBook.model_validate({**SMALL, "rows": [SMALL["rows"][0], {**SMALL["rows"][0], **reserved}]})
    prices = [
        Price(unit, usd, lease="1yr", paid="All Upfront", offering="standard")
        for unit, usd in ((HOURS, "0.0000000000"), ("Quantity", "500"))
    ]
    text = as_csv("AmazonEC2", [instance("m5.large", "0.099", *prices)])
    for end in range(len(text)):
        try:
            found = refresh(book, [read(text[:end], book)]).book.rows
        except AssayError:
            continue
        assert text[end - 1] == "\n" and [row.upfront for row in found] == [0, 494]
    assert [row.upfront for row in refresh(book, [read(text, book)]).book.rows] == [0, 500]


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("aws-eu-west-1-2016", "error: aws-eu-west-1-2016 is historic: its prices are not refreshed"),
        ("other.yaml", "error: price lists of aws, azure, gcp are read; the book small is of acme"),
        ("spot.yaml", "error: none of the rows of small is in AWS's price list files"),
    ],
)
def test_books_that_have_no_files(tmp_path, ref, message):
    (tmp_path / "other.yaml").write_text(book_text(small().model_copy(update={"provider": "acme"})))
    (tmp_path / "spot.yaml").write_text(book_text(small(term="spot")))
    assert assay(tmp_path, "prices", "refresh", ref, expect=2).stderr.splitlines()[0] == message


def test_the_book_itself_and_the_package_are_never_written_into(folder, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(book_text(small()))
    before = path.read_bytes()
    words = ("prices", "refresh", "small.yaml", "--from", str(folder / "AmazonEC2.json"))
    assert "small.yaml exists already" in assay(tmp_path, *words, expect=2).stderr
    inside = str(BOOKS / "new.yaml")
    result = assay(tmp_path, *words, "--output", inside, "--force", expect=2)
    assert "among the books that come with Assay" in result.stderr and not (BOOKS / "new.yaml").exists()
    assert path.read_bytes() == before
    assay(tmp_path, *words, "--force", expect=0)
    assert load_book("small.yaml", tmp_path).rows[0].price == Decimal("0.099")


GOOD = {form: write("AmazonEC2", EC2) for form, write in AS.items()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an AWS price list file: no line names the columns, SKU first"),
        ("hello\nworld\n", "not an AWS price list file: no line names the columns, SKU first"),
        ("{}", "not an AWS price list file: it has no offer code or no publication date"),
        ('{"products": [1]}', "not an AWS price list file: a product has no attributes"),
        ('{"products": 1}', "not an AWS price list file: '1}' where JSON has `{`"),
        ('{"products": {"A": 1}}', "not an AWS price list file: a product has no attributes"),
        ('{"terms": {}}', "not an AWS price list file: the terms come before the products"),
        ('{"a" 1}', "not an AWS price list file: '1}' where JSON has `:`"),
        ("{" + '"a":' + "[" * 100_000, "not an AWS price list file: it is nested too deeply"),
        (GOOD["json"][: len(GOOD["json"]) // 2], "the file is truncated"),
        (GOOD["csv"][:-1], "f:28: the file is truncated"),
        (GOOD["csv"] + '"SKU1","T"\n', "f:29: the file is truncated"),
        (GOOD["csv"].replace("0.0990000000", "1e999"), "f:7: '1e999' is more than 10^15"),
        (GOOD["json"].replace("0.0990000000", "1e-99"), "'1e-99' is finer than 10^-12"),
        (GOOD["csv"].replace('"PricePerUnit"', '"Price"'), "not an AWS price list file: it has no column priceperunit"),
        (GOOD["csv"].replace("0.0990000000", "ten"), "f:7: 'ten' is not a price or quantity"),
        (GOOD["csv"].replace(PUBLISHED[:10], "yesterday"), "its publication date is 'yesterdayT10:00:00Z'"),
        (GOOD["csv"].replace("OfferCode", "Code"), "it has no offer code or no publication date"),
    ],
)
def test_what_is_no_price_list_file_gets_one_line(text, message):
    with pytest.raises(AssayError) as caught:
        read(text, small())
    assert message in caught.value.message and "\n" not in caught.value.message and caught.value.hint


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_where_the_pieces_end_makes_no_difference(monkeypatch, form, size):
    book = small()
    whole = read(GOOD[form], book)
    monkeypatch.setattr("assay.rooms.pricelists.work.stream.CHUNK", size)
    assert read(GOOD[form], book) == whole
    assert whole.prices and isinstance(whole, PriceListFile)


class Endless(io.TextIOBase):
    """A JSON file of many products, made while it is read."""

    def __init__(self, products):
        start, rest = GOOD["json"].split('"products": {', 1)
        noise = as_json("X", [instance("m5.large", "1", operatingSystem="Windows", more="x" * 500)])
        product = noise.split('"SKU0": ', 1)[1].split("\n  },", 1)[0].strip()
        self.parts = [start + '"products": {', *(f'"N{place}": {product},' for place in range(products)), rest]
        self.buffer, self.read_in_all = "", 0

    def read(self, size=-1):
        while self.parts and len(self.buffer) < size:
            self.buffer += self.parts.pop(0)
        piece, self.buffer = self.buffer[:size], self.buffer[size:]
        self.read_in_all += len(piece)
        return piece


def test_a_large_file_is_not_kept_in_memory():
    text, book = Endless(6_000), small()
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    found = read_offers(text, "f", "USD", product_filter(book))
    peak = tracemalloc.get_traced_memory()[1] - base
    tracemalloc.stop()
    assert text.read_in_all > 6_000_000
    assert peak < text.read_in_all / 4
    assert [each.price for each in found.prices if each.term == "OnDemand"] == [Decimal("0.099")]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = gzip.compress(GOOD["csv"].encode())
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/plain":
            body = GOOD["json"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + (self.path == "/short") * 100))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("path", ["packed", "plain"])
def test_files_come_over_the_network_too(address, tmp_path, path):
    (tmp_path / "small.yaml").write_text(book_text(small()))
    words = ("prices", "refresh", "small.yaml", "--output", "new.yaml", "--from", f"{address}/{path}")
    assay(tmp_path, *words, expect=0)
    row = load_book("new.yaml", tmp_path).rows[0]
    assert (row.price, row.source) == (Decimal("0.099"), f"AWS price list of AmazonEC2: {address}/{path}")


@pytest.mark.parametrize(
    ("source", "message", "code"),
    [
        ("{address}/missing", "{address}/missing: the server answers 404 Not Found", 2),
        ("{address}/short", "cannot read {address}/short: ", 1),
        ("http://127.0.0.1:1/index.csv", "cannot read http://127.0.0.1:1/index.csv: connection refused", 1),
        ("http://nowhere.invalid/index.csv", "cannot read http://nowhere.invalid/index.csv: ", 1),
        ("http:///index.csv", "cannot read http:///index.csv: ", 1),
        ("nowhere.csv", "cannot read nowhere.csv: no such file or directory", 1),
        (".", "cannot read .: is a directory", 1),
        ("binary", "binary: not UTF-8 text: ", 2),
        ("cut.gz", "cannot read cut.gz: compressed file ended before the end-of-stream marker was reached", 1),
    ],
)
def test_what_cannot_be_read_gets_one_line_and_nothing_is_written(address, tmp_path, source, message, code):
    (tmp_path / "small.yaml").write_text(book_text(small()))
    (tmp_path / "binary").write_bytes(b"\xff\xfe" * 100)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(GOOD["csv"].encode())[:-200])
    words = ("prices", "refresh", "small.yaml", "--output", "new.yaml", "--from", source.format(address=address))
    lines = assay(tmp_path, *words, expect=code).stderr.splitlines()
    assert lines[0].startswith("reading ") and lines[1].startswith("error: " + message.format(address=address))
    assert lines[2].startswith("hint: ") and len(lines) == 3
    assert not (tmp_path / "new.yaml").exists()


def test_the_present_files_are_asked_for_by_region_and_service():
    found = needed_urls(load_book("aws-eu-west-1"))
    assert "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/eu-west-1/index.csv" in found
    assert len(found) == len(set(found)) == 9


WITHOUT = (
    "people |power |rack |purchase |support |service-fee |migration ",
    "filesystem-requests |port (direct-connect-flat|expressroute|interconnect)-",
    "filesystem-(capacity file-cache|access files-)",
    # Names of usage types and SKUs that were found nowhere.
    "object-(capacity|requests|retrieval) gcs-[a-z]+-dual",
    "filesystem-[a-z]+ fsx-(windows|openzfs-single-az-1|openzfs-single-az-ha|lustre-(intelligent|metadata))",
    "filesystem-backup (efs|files-hdd-v2)|object-requests [a-z0-9-]+/(transition|restore)",
    "filesystem-capacity (managed-lustre|parallelstore|netapp-volumes)",
    # Made of more than cores and memory.
    "instance (z3|c[34]d?a?)-",
    "object-capacity [a-z0-9-]+/|transfer-out (internet|expressroute|interconnect)|transfer-(zone|region) ",
)
"""Rows of the present that no rule finds: they keep their prices until somebody looks."""


@pytest.mark.parametrize("name", [name for name in book_names() if not load_book(name).historic])
def test_every_row_of_the_present_books_has_a_rule_or_is_known_to_have_none(name):
    book = load_book(name)
    if book.provider not in PROVIDERS:
        return
    rule_for = PROVIDERS[book.provider].rule_for
    spot = book.provider == "aws"
    without = [row_name(row) for row in book.rows if not (spot and row.term == "spot") and rule_for(row) is None]
    assert [text for text in without if not re.match("|".join(WITHOUT), text)] == []
    assert len(without) < len(book.rows) / 2


@pytest.mark.parametrize("name", book_names())
def test_a_book_that_is_written_is_read_back_the_same(name, tmp_path):
    book = load_book(name)
    (tmp_path / "again.yaml").write_text(book_text(book))
    assert load_book("again.yaml", tmp_path) == book
