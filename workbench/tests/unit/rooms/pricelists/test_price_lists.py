"""Price lists in the providers' own forms: excerpts of real ones, and made ones where none was found."""

import datetime as dt
import json
from decimal import Decimal

import pytest
from offer_files import Price, Product, as_csv, instance
from paths import GOLDEN

from assay.model.base import AssayError
from assay.model.money.price import PriceBook
from assay.rooms.pricelists.commands.prices_fetch import read_lists
from assay.rooms.pricelists.work.aws import HOST, savings_table_url
from assay.rooms.pricelists.work.azure import AZURE_PAGES, list_url
from assay.rooms.pricelists.work.book_yaml import book_text
from assay.rooms.pricelists.work.gcp import GCP_PAGES, KEY
from assay.rooms.pricelists.work.pages import decode_page
from assay.rooms.pricelists.work.price_list import PriceListFile
from assay.rooms.pricelists.work.refresh import needed_urls, product_filter, provider_of, refresh

LISTS = GOLDEN / "price_lists"
DAY = dt.date(2026, 9, 1)


def book(provider, region, *rows, **more):
    """A book of old prices that are all wrong."""
    head = {"book": "old", "provider": provider, "region": region, "date": "2015-01-01", "currency": "USD"}
    written = [{"price": 999, "source": "x", **row} for row in rows]
    return PriceBook.model_validate({**head, "hours_per_month": 730, **more, "rows": written})


def renewed(old, *names, day=DAY):
    """What excerpts make of a book."""
    provider = provider_of(old)
    paths = [str(LISTS / old.provider / name) for name in names]
    return refresh(old, read_lists(provider, paths, old, product_filter(old), allow_missing=False, fetched_on=day), day)


def row(dimension, item, unit, **more):
    return {"dimension": dimension, "item": item, "unit": unit, **more}


def prices(found):
    """Item -> price, or tiers, or fee and price, of what was found."""
    return {
        each.new.key[:3] + ((each.new.payment,) if each.new.payment else ()): worth(each.new) for each in found.changes
    }


def worth(new):
    if new.tiers:
        return [(tier.price, tier.up_to) for tier in new.tiers]
    return (new.upfront, new.price) if new.upfront else new.price


def money(*numbers):
    return [(Decimal(price), None if end is None else Decimal(end)) for price, end in numbers]


def test_s3_of_2016_has_its_traffic_in_the_same_file():
    old = book(
        "aws",
        "us-east-1",
        row("object-capacity", "s3-standard", "GiB-month"),
        row("object-capacity", "s3-standard-ia", "GiB-month"),
        row("object-capacity", "s3-glacier-flexible", "GiB-month"),
        row("object-requests", "s3-standard/put", "1000 requests"),
        row("object-requests", "s3-standard/get", "10000 requests"),
        row("object-requests", "s3-standard-ia/get", "10000 requests"),
        row("object-retrieval", "s3-standard-ia", "GiB"),
        row("transfer-out", "internet", "GiB"),
        row("transfer-region", "eu-west-1", "GiB"),
        row("transfer-region", "us-west-2", "GB"),
        row("transfer-region", "ap-south-1", "GB"),
    )
    found = renewed(old, "AmazonS3-2016-01-07-us-east-1.json")
    assert {key[:2]: value for key, value in prices(found).items()} == {
        ("object-capacity", "s3-standard"): money(
            ("0.03", 1024),
            ("0.0295", 51200),
            ("0.029", 512000),
            ("0.0285", 1024000),
            ("0.028", 5120000),
            ("0.0275", None),
        ),
        ("object-capacity", "s3-standard-ia"): Decimal("0.0125"),
        ("object-capacity", "s3-glacier-flexible"): Decimal("0.007"),
        ("object-requests", "s3-standard/put"): Decimal("0.005"),
        ("object-requests", "s3-standard/get"): Decimal("0.004"),
        ("object-requests", "s3-standard-ia/get"): Decimal("0.01"),
        ("object-retrieval", "s3-standard-ia"): Decimal("0.01"),
        # The first GiB is free to an account, which a book does not count.
        ("transfer-out", "internet"): money(("0.09", 10240), ("0.085", 51200), ("0.07", 153600), ("0.05", None)),
        ("transfer-region", "eu-west-1"): Decimal("0.02"),
        ("transfer-region", "us-west-2"): Decimal("0.02"),
    }
    assert [(left.item, why) for left, why in found.skipped] == [("ap-south-1", "not in the file")]
    first = found.book.rows[0]
    assert (first.sku, first.url, first.read_on, str(first.date)) == ("WP9ANXZGBYYSGJEA", "", DAY, "2016-01-07")
    assert str(found.book.date) == "2015-01-01" and first.source.startswith("AWS price list of AmazonS3: ")


def test_ec2_of_2023_and_a_reservation_that_the_file_has_in_part():
    old = book(
        "aws",
        "us-east-2",
        row("volume-capacity", "gp3", "GiB-month"),
        row("instance", "m5.large", "hour", term="reserved-3y", payment="all-upfront", upfront=1),
        row("instance", "p3.8xlarge", "hour"),
    )
    found = renewed(old, "AmazonEC2-2023-03-22-us-east-2.json")
    assert prices(found) == {("volume-capacity", "gp3", "on-demand"): Decimal("0.08")}
    # The file has the convertible offer only, and p3 with Windows only.
    assert {left.item for left, _ in found.skipped} == {"m5.large", "p3.8xlarge"}


def test_ec2_of_ireland_as_a_table():
    reserved = {"term": "reserved-3y", "payment": "all-upfront", "upfront": 1}
    old = book(
        "aws",
        "eu-west-1",
        row("instance", "c3.large", "hour"),
        row("instance", "c1.medium", "hour", **reserved),
        row("instance", "c1.xlarge", "hour", **reserved),
        row("instance", "d2.8xlarge", "hour"),
        row("instance", "i3.16xlarge", "hour"),
        row("volume-capacity", "gp2", "GiB-month"),
        row("volume-capacity", "gp3", "GiB-month"),
        row("volume-iops", "gp3", "IOPS-month"),
        row("volume-throughput", "gp3", "MiB/s-month"),
        row("volume-capacity", "st1", "GiB-month"),
    )
    found = renewed(old, "AmazonEC2-eu-west-1.csv")
    got = {key[1:]: value for key, value in prices(found).items()}
    assert got["d2.8xlarge", "on-demand"] == Decimal("5.88")  # as the papers of 2016 have it
    assert got["c3.large", "on-demand"] == Decimal("0.12")
    assert got["c1.medium", "reserved-3y", "all-upfront"] == (Decimal(1680), Decimal(0))
    assert got["c1.xlarge", "reserved-3y", "all-upfront"] == (Decimal(6720), Decimal(0))
    assert got["i3.16xlarge", "on-demand"] == Decimal("5.504")
    volumes = {key[:2]: value for key, value in prices(found).items() if key[0].startswith("volume-")}
    assert volumes == {
        ("volume-capacity", "gp2"): Decimal("0.11"),
        ("volume-capacity", "gp3"): Decimal("0.088"),
        ("volume-iops", "gp3"): Decimal("0.0055"),
        ("volume-throughput", "gp3"): Decimal("0.044"),
        ("volume-capacity", "st1"): Decimal("0.05"),
    }


def test_efs_and_s3_of_ireland_as_tables():
    old = book(
        "aws",
        "eu-west-1",
        row("filesystem-capacity", "efs-standard", "GiB-month"),
        row("filesystem-capacity", "efs-ia", "GiB-month"),
        row("filesystem-capacity", "efs-one-zone", "GiB-month"),
        row("filesystem-capacity", "efs-one-zone-ia", "GiB-month"),
        row("object-capacity", "s3-one-zone-ia", "GiB-month"),
        row("object-retrieval", "s3-one-zone-ia", "GiB"),
    )
    found = renewed(old, "AmazonEFS-2017-07-21.csv", "AmazonS3-2018-04-04-eu-west-1.csv")
    assert {key[1]: value for key, value in prices(found).items() if key[0].endswith("capacity")} == {
        "efs-standard": Decimal("0.32"),
        "efs-ia": Decimal("0.025"),
        "efs-one-zone": Decimal("0.176"),
        "efs-one-zone-ia": Decimal("0.0133"),
        "s3-one-zone-ia": Decimal("0.009"),
    }
    assert not found.skipped


def test_deep_archive_has_a_file_of_its_own():
    """A part of an upload is priced as one to S3 standard, and is not what a PUT to the archive costs."""
    old = book(
        "aws",
        "us-east-1",
        row("object-capacity", "s3-deep-archive", "GiB-month"),
        row("object-requests", "s3-deep-archive/put", "1000 requests"),
    )
    found = renewed(old, "AmazonS3GlacierDeepArchive-2023-02-07-us-east-1.json")
    assert prices(found) == {("object-capacity", "s3-deep-archive", "on-demand"): Decimal("0.00099")}
    assert any("/AmazonS3GlacierDeepArchive/current/us-east-1/" in address for address in needed_urls(old))


def test_networks_of_ireland_and_virginia():
    """Regional gateways, provisioned rates and blocks of addresses stand beside what the rows mean."""
    ireland = book(
        "aws",
        "eu-west-1",
        row("gateway", "nat-gateway", "hour"),
        row("gateway-traffic", "nat-gateway", "GiB"),
        row("address", "public-ipv4", "hour"),
        row("address", "public-ipv4-idle", "hour"),
    )
    found = renewed(ireland, "AmazonEC2-2026-09-25-eu-west-1.json", "AmazonVPC-2026-07-24.json", day=None)
    assert {
        key[:2]: (each.new.price, each.new.sku) for key, each in zip(prices(found), found.changes, strict=True)
    } == {
        ("gateway", "nat-gateway"): (Decimal("0.048"), "KFNSSCHWD43WZK2R"),
        ("gateway-traffic", "nat-gateway"): (Decimal("0.048"), "DTH8595YVPFXV226"),
        ("address", "public-ipv4"): (Decimal("0.005"), "CNZ4XSXPRJXGA4ZF"),
        ("address", "public-ipv4-idle"): (Decimal("0.005"), "MHVKGXCT3GPZ4RVC"),
    }
    offers = [address.removesuffix("/current/eu-west-1/index.csv") for address in needed_urls(ireland)]
    assert [offer.rpartition("/")[2] for offer in offers] == ["AmazonEC2", "AmazonVPC"]
    virginia = book("aws", "us-east-1", row("address", "public-ipv4", "hour"))
    assert renewed(virginia, "AmazonVPC-2026-07-24.json", day=None).changes[0].new.sku == "4GQUNXTFWVSGPUZK"


def test_file_systems_by_zone():
    """Made: usage types and rates of Tokyo as public readers of the list quote them, in the form of the list."""
    made = [
        ("Storage.SAZ_2N:SSD", "GB-Mo", "0.150", "ONTAP"),
        ("ThroughputCapacity.SAZ_2N", "MiBps-Mo", "0.906", "ONTAP"),
        ("ProvisionedSSDIOPS.SAZ_2N", "IOPS-Mo", "0.0204", "ONTAP"),
        ("Storage.SAZ_2N:CPoolStd", "GB-Mo", "0.0238", "ONTAP"),
        ("Storage.MAZ:SSD", "GB-Mo", "0.300", "ONTAP"),
        ("Storage.MAZ:SSD", "GB-Mo", "0.216", "OpenZFS"),
        ("ThroughputCapacity.SAZ2", "MiBps-Mo", "0.35", "OpenZFS"),
        ("BackupUsage", "GB-Mo", "0.05", "OpenZFS"),
        ("BackupUsage", "GB-Mo", "0.06", "Lustre"),
    ]
    place = {"location": "Asia Pacific (Tokyo)", "locationType": "AWS Region", "regionCode": "ap-northeast-1"}
    products = [
        Product("Storage", {**place, "usagetype": f"APN1-{usage}", "fileSystemType": system}, [Price(unit, usd)])
        for usage, unit, usd, system in made
    ]
    old = book(
        "aws",
        "ap-northeast-1",
        row("filesystem-capacity", "fsx-ontap-single-az-1-ssd", "GiB-month"),
        row("filesystem-throughput", "fsx-ontap-single-az-1", "MiB/s-month"),
        row("filesystem-iops", "fsx-ontap-single-az-1", "IOPS-month"),
        row("filesystem-capacity", "fsx-ontap-capacity-pool-single-az-1", "GiB-month"),
        row("filesystem-capacity", "fsx-ontap-multi-az-1-ssd", "GiB-month"),
        row("filesystem-capacity", "fsx-openzfs-multi-az-1-ssd", "GiB-month"),
        row("filesystem-throughput", "fsx-openzfs-single-az-2", "MiB/s-month"),
        row("filesystem-backup", "fsx-openzfs", "GiB-month"),
        row("filesystem-backup", "fsx-lustre", "GiB-month"),
        row("filesystem-capacity", "fsx-ontap-multi-az-2-ssd", "GiB-month"),
    )
    found = refresh(old, [_offers(as_csv("AmazonFSx", products), old)])
    assert [worth(each.new) for each in found.changes] == [Decimal(usd) for _, _, usd, _ in made]
    assert [(each.item, why) for each, why in found.skipped] == [("fsx-ontap-multi-az-2-ssd", "not in the file")]


def savings(payment, term="savings-1y", item="c1.medium"):
    upfront = {} if payment == "no-upfront" else {"upfront": 1}
    return row("instance", item, "hour", term=term, payment=payment, **upfront)


def test_savings_plans_of_ireland():
    """The rate of an hour, 0.098, is paid at once: 0.098 x 8760 hours."""
    old = book("aws", "eu-west-1", savings("all-upfront"), savings("no-upfront"))
    found = renewed(old, "savings-plans-2020-02-20-eu-west-1.json")
    assert prices(found) == {("instance", "c1.medium", "savings-1y", "all-upfront"): (Decimal("858.48"), Decimal(0))}
    assert found.changes[0].new.sku == "HB5V2X8TXQUTDZBV"


def test_a_table_of_savings_plans_has_the_columns_of_a_real_one():
    real = (LISTS / "aws/savings-plans-database-2026-04-22-ap-south-2.csv").read_text().splitlines()
    head = [line for line in real if not line.startswith("DZ")]
    names = head[-1].split(",")
    lines = []
    for paid, years, usd, usage in (
        ("No Upfront", 1, "0.0700000000", "EU-BoxUsage:m5.large"),
        ("Partial Upfront", 3, "0.0500000000", "EU-BoxUsage:m5.large"),
        ("No Upfront", 1, "0.0900000000", "EU-DedicatedUsage:m5.large"),
    ):
        made = {
            "SKU": "PLAN",
            "RateCode": "PLAN.RATE",
            "Unit": "Hrs",
            "DiscountedRate": usd,
            "Currency": "USD",
            "DiscountedSKU": "RATE",
            "DiscountedServiceCode": "AmazonEC2",
            "DiscountedUsageType": usage,
            "DiscountedOperation": "RunInstances",
            "PurchaseOption": paid,
            "LeaseContractLength": str(years),
            "LeaseContractLengthUnit": "year",
            "Product Family": "ComputeSavingsPlans",
            "DiscountedRegionCode": "eu-west-1",
            "DiscountedInstanceType": "m5.large",
        }
        lines.append(",".join(made.get(name, "") for name in names))
    old = book(
        "aws",
        "eu-west-1",
        savings("no-upfront", item="m5.large"),
        savings("partial-upfront", "savings-3y", "m5.large"),
    )
    text = "\n".join([*head, *lines]) + "\n"
    found = refresh(old, [_offers(text, old)], DAY)
    # Half of 0.05 x 26280 hours at once, the other half hour by hour.
    assert list(prices(found).values()) == [Decimal("0.07"), (Decimal(657), Decimal("0.025"))]
    with pytest.raises(AssayError, match="no row of old is in"):
        renewed(old, "savings-plans-database-2026-04-22-ap-south-2.csv")


def _offers(text, old):
    import io

    from assay.rooms.pricelists.work.aws import read_offers

    return read_offers(io.StringIO(text, newline=""), "f", old.currency, product_filter(old))


def test_the_plans_of_a_region_are_where_the_index_says():
    index = json.loads((LISTS / "aws/savings-plans-region-index-2026-04-22.json").read_text())
    where = savings_table_url(index, "eu-west-1", "f")
    assert where == f"{HOST}/savingsPlan/v1.0/aws/AWSDatabaseSavingsPlans/20260422194203/eu-west-1/index.csv"
    for wrong in (index, {}, [], {"regions": 1}, {"regions": [1]}):
        with pytest.raises(AssayError, match="f: it has no list of the region mars-1"):
            savings_table_url(wrong, "mars-1", "f")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"products": [1], "terms": {}}', "a product has no attributes"),
        ('{"products": [{"sku": "A"}], "terms": {}}', "a product has no attributes"),
        ('{"products": [{"sku": "A", "attributes": {}}], "terms": {"s": [{"rates": []}]}}', "without SKU is not among"),
        ('{"products": [{"sku": "A", "attributes": {}}], "terms": {"s": [{"sku": "A"}]}}', "the plan A has no rates"),
        (
            '{"products": [{"sku": "A", "attributes": {}}], "terms": {"s": [{"sku": "A", "rates": [{}]}]}}',
            "another form",
        ),
        ('{"products": [{"sku": "A", "attributes": {}}], "terms": {"s": [{"sku": "A", "rates": [', "is truncated"),
    ],
)
def test_a_wrong_file_of_savings_plans(text, message):
    with pytest.raises(AssayError) as caught:
        _offers(text, book("aws", "eu-west-1", savings("no-upfront")))
    assert message in caught.value.message and "\n" not in caught.value.message


def test_two_prices_are_told_apart_by_the_sku_that_the_row_has():
    products = [
        Product("Compute Instance", {**instance("m5.large", "1").attributes, "operation": name}, [Price("Hrs", usd)])
        for name, usd in (("A", "0.1"), ("B", "0.2"))
    ]
    old = book("aws", "us-east-1", row("instance", "m5.large", "hour"))
    with pytest.raises(AssayError, match=r"the file has 2 different prices: 0\.1, 0\.2"):
        refresh(old, [_offers(as_csv("AmazonEC2", products), old)])
    known = book("aws", "us-east-1", row("instance", "m5.large", "hour", sku="SKU1"))
    assert refresh(known, [_offers(as_csv("AmazonEC2", products), known)]).book.rows[0].price == Decimal("0.2")


PAGES = ("page-1-2022-04-19.json", "page-812-2022-04-20.json")


def test_pages_of_azure_of_2022():
    """All of Korea South and the Emirates that the excerpts have; a disk of 32767 GiB is sold whole."""
    old = book(
        "azure",
        "koreasouth",
        row("volume-capacity", "premium-ssd-p80", "GiB-month"),
        row("filesystem-capacity", "files-transaction-optimized-grs", "GiB-month"),
        row("filesystem-capacity", "files-hot-lrs", "GiB-month"),
    )
    found = renewed(old, *PAGES)
    assert prices(found) == {
        ("volume-capacity", "premium-ssd-p80", "on-demand"): (Decimal("3604.11") / 32767).quantize(Decimal("1e-12")),
        ("filesystem-capacity", "files-transaction-optimized-grs", "on-demand"): Decimal("0.11"),
    }
    assert found.book.rows[1].source.startswith("Azure's retail prices: Files v2, GRS Data Stored (")
    assert [(each.item, why) for each, why in found.skipped] == [("files-hot-lrs", "not in the file")]


def test_a_reservation_of_azure_is_the_total_of_its_term():
    """17436 for a year: at once, or 17436 / 8760 = 1.990410958904 an hour. Never half, which Azure does not sell so."""
    year = {"term": "reserved-1y"}
    old = book(
        "azure",
        "australiaeast",
        row("instance", "Standard_M16s", "hour"),
        row("instance", "Standard_M16s", "hour", **year, payment="all-upfront", upfront=1),
        row("instance", "Standard_M16s", "hour", **year, payment="no-upfront"),
        row("instance", "Standard_M16s", "hour", term="reserved-3y", payment="all-upfront", upfront=1),
        row("instance", "Standard_M16s", "hour", term="spot"),
    )
    found = renewed(old, *PAGES)
    assert {key[2:]: value for key, value in prices(found).items()} == {
        ("on-demand",): Decimal("3.461"),
        ("reserved-1y", "all-upfront"): (Decimal(17436), Decimal(0)),
        ("reserved-1y", "no-upfront"): Decimal("1.990410958904"),
        ("reserved-3y", "all-upfront"): (Decimal(25447), Decimal(0)),
    }
    assert [each.term for each, _ in found.skipped] == ["spot"]


NEW = "items-2025-2026.json"


def test_prices_of_windows_of_tests_and_of_hosts_are_not_taken():
    old = book(
        "azure", "westeurope", row("instance", "Standard_L48s_v3", "hour"), row("instance", "Standard_E32_v4", "hour")
    )
    found = renewed(old, NEW)
    assert prices(found) == {("instance", "Standard_E32_v4", "on-demand"): Decimal("2.432")}
    spot = book("azure", "westeurope", row("instance", "Standard_D4ds_v5", "hour", term="spot"))
    assert list(prices(renewed(spot, NEW)).values()) == [Decimal("0.050266")]
    assert list(prices(renewed(spot, *PAGES)).values()) == [Decimal("0.094792")]


def test_of_two_entries_of_a_meter_the_later_holds_once_it_is_in_force():
    """1 year of E16pds v6: 4496 from October 2024 on, 6028 from April 2025 on."""
    reserved = {"term": "reserved-1y", "payment": "all-upfront", "upfront": 1}
    old = book("azure", "australiaeast", row("instance", "Standard_E16pds_v6", "hour", **reserved))
    assert list(prices(renewed(old, NEW)).values()) == [(Decimal(6028), Decimal(0))]
    assert list(prices(renewed(old, NEW, day=dt.date(2025, 3, 31))).values()) == [(Decimal(4496), Decimal(0))]


@pytest.mark.parametrize(
    ("region", "wanted", "expected"),
    [
        (
            "australiaeast",
            row("object-capacity", "blob-hot-gzrs", "GiB-month"),
            money(("0.045", 51200), ("0.0432", 512000), ("0.0414", None)),
        ),
        ("eastus", row("object-requests", "blob-cool/get", "1000 requests"), Decimal("0.001")),
        ("eastus", row("object-retrieval", "blob-cool-ra-grs", "GiB"), Decimal("0.01")),
        ("northcentralus", row("object-requests", "blob-cool-ragrs/put", "10000 requests"), Decimal("0.2")),
        ("northcentralus", row("filesystem-capacity", "netapp-files-flexible", "GiB-month"), Decimal("0.13213")),
        ("uaecentral", row("filesystem-capacity", "anf-standard", "GiB-month"), Decimal("0.18907")),
        ("uaenorth", row("filesystem-capacity", "files-provisioned-v2-ssd-zrs", "GiB-month"), Decimal("0.17885")),
        ("uaenorth", row("volume-capacity", "premium-ssd-p70-zrs", "GiB-month"), Decimal("0.18")),
        ("uksouth", row("volume-capacity", "standard-ssd-e10", "GiB-month"), Decimal("0.0825")),
    ],
)
def test_meters_of_azure_by_item(region, wanted, expected):
    """By the hour: 0.000181 x 730 hours; whole disks: 10.56 for 128 GiB."""
    found = renewed(book("azure", region, wanted), NEW)
    assert list(prices(found).values()) == [expected]
    new = found.book.rows[0]
    assert new.sku.startswith("DZH318Z") and new.read_on == DAY and str(found.book.date) == str(DAY)


def test_a_row_without_a_rule_is_found_by_its_sku():
    given = row("filesystem-access", "reads of cool data", "GB", sku="DZH318Z0BNZJ/0044")
    text = (LISTS / "azure" / NEW).read_text()
    entry = next(each for each in json.loads(text) if each["meterName"] == "Cool Data Retrieval")
    old = book("azure", entry["armRegionName"], {**given, "sku": entry["meterId"]})
    assert list(prices(renewed(old, NEW)).values()) == [Decimal("0.01")]
    other = book("azure", "westus", {**given, "sku": entry["meterId"]})
    with pytest.raises(AssayError, match="no row of old is in"):
        renewed(other, NEW)


def entry(**changes):
    """An entry of Azure, in the form of the real ones."""
    real = json.loads((LISTS / "azure" / NEW).read_text())
    machine = next(each for each in real if each["armSkuName"] == "Standard_E32_v4" and each["type"] == "Consumption")
    return {**machine, **changes}


MACHINE = book("azure", "westeurope", row("instance", "Standard_E32_v4", "hour"))


def taken(old, *entries, day=DAY):
    """What made entries make of a book."""
    file = PriceListFile("f", date=day)
    AZURE_PAGES.collect_prices(entries, file, old.currency, product_filter(old))
    return refresh(old, [file], day)


def test_a_savings_plan_of_azure_is_in_the_entry_of_the_machine():
    """Made, in the documented form: no real one was found."""
    plans = [{"term": "1 Year", "retailPrice": "1.5", "unitPrice": "1.5"}, {"term": "3 Years", "retailPrice": "1.1"}]
    old = book(
        "azure",
        "westeurope",
        savings("no-upfront", item="Standard_E32_v4"),
        savings("no-upfront", "savings-3y", "Standard_E32_v4"),
    )
    assert list(prices(taken(old, entry(savingsPlan=plans))).values()) == [Decimal("1.5"), Decimal("1.1")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"retailPrice": "-1"}, "f, Virtual Machines Ev4 Series, E32 v4: '-1' is not a price or quantity"),
        ({"retailPrice": None}, "'None' is not a price or quantity"),
        ({"retailPrice": "1e20"}, "is more than 10^15"),
        ({"currencyCode": "EUR"}, "f: prices in EUR; the book old is in USD"),
        ({"effectiveStartDate": "2027-01-01T00:00:00Z"}, "no row of old is in f"),
        ({"effectiveEndDate": "2026-01-01T00:00:00Z"}, "no row of old is in f"),
        ({"unitOfMeasure": "1 Fortnight"}, "the file has it by 1 Fortnight, not by hour"),
        ({"armRegionName": "marsnorth"}, "no row of old is in f"),
    ],
)
def test_a_wrong_entry_of_azure(changes, message):
    with pytest.raises(AssayError) as caught:
        taken(MACHINE, entry(**changes))
    assert message in caught.value.message and "\n" not in caught.value.message


def test_an_entry_without_what_is_needed():
    broken = entry()
    del broken["skuName"]
    with pytest.raises(AssayError, match=r"f: not a page of Azure's retail prices: an entry has no skuName"):
        taken(MACHINE, broken)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "f: not a page of Azure's retail prices: line 1 is not JSON: expecting value"),
        (b"<html>", "line 1 is not JSON"),
        (b'{"Items": [', "f: the page is truncated"),
        (b'{"Items": [{}], "Count": 100}', "f: the page is truncated: 1 of 100 entries"),
        (b'{"Items": 1}', "it has no list of Items"),
        (b'{"Items": [1]}', "it has no list of Items"),
        (b"1", "it has no list of Items"),
        (b"\xff\xfe", "f: not UTF-8 text"),
        (b"[" * 200_000, "it is nested too deeply"),
    ],
)
def test_what_is_no_page_gets_one_line(data, message):
    with pytest.raises(AssayError) as caught:
        AZURE_PAGES.read_page(decode_page(data, "f", AZURE_PAGES.what), "f")
    assert message in caught.value.message and "\n" not in caught.value.message and caught.value.hint


def test_azure_is_asked_by_service_region_and_machine():
    machines = [row("instance", f"Standard_D{number}s_v5", "hour") for number in range(30)]
    old = book("azure", "eastus", *machines, row("object-capacity", "blob-hot", "GiB-month"), currency="EUR")
    asked = needed_urls(old)
    assert len(asked) == 4 and max(map(len, asked)) < 1500
    assert asked[-1] == list_url("armRegionName eq 'eastus' and serviceName eq 'Storage'", "EUR")
    assert "currencyCode='EUR'" in asked[0] and "%20" in asked[0] and " " not in asked[0]


def test_the_next_page_is_of_the_same_server():
    this = "https://prices.azure.com/api/retail/prices?$filter=x"
    link = "https://prices.azure.com:443/api/retail/prices?$skip=200"
    assert AZURE_PAGES.next_url(this, link) == link
    with pytest.raises(AssayError, match="the link to the next page leads to another server: https://example"):
        AZURE_PAGES.next_url(this, "https://example.org/")


DISKS = "skus-2024-11-08.json"


def test_skus_of_google():
    old = book(
        "gcp",
        "us-central1",
        row("volume-capacity", "pd-ssd", "GiB-month"),
        row("volume-capacity", "pd-standard", "GB-month"),
        row("volume-capacity", "pd-balanced-regional", "GiB-month"),
        row("volume-capacity", "hyperdisk-ml", "GiB-month"),
        row("volume-capacity", "hyperdisk-balanced-ha", "GiB-month"),
        row("volume-capacity", "hyperdisk-balanced", "GiB-month"),
    )
    found = renewed(old, DISKS)
    assert {key[1]: value for key, value in prices(found).items()} == {
        "pd-ssd": Decimal("0.17"),
        # The first 30 GiB are free to an account; 0.04 for 2^30 bytes is 0.037252902985 for 10^9.
        "pd-standard": Decimal("0.037252902985"),
        "pd-balanced-regional": Decimal("0.2"),
        "hyperdisk-ml": Decimal("0.08"),
        "hyperdisk-balanced-ha": Decimal("0.16"),
    }
    assert [each.item for each, _ in found.skipped] == ["hyperdisk-balanced"]
    assert found.book.rows[0].source == f"Google Cloud's SKUs: SSD backed PD Capacity ({LISTS / 'gcp' / DISKS})"


def test_a_machine_of_google_is_the_sum_of_cores_and_memory(monkeypatch):
    """A2: 12 x 0.031611 + 85 x 0.004237; spot N1: 4 x 0.0088 + 15 x 0.001128."""
    sizes = {"a2-highgpu-1g": (Decimal(12), Decimal(85)), "n1-standard-4": (Decimal(4), Decimal(15))}
    monkeypatch.setattr("assay.rooms.pricelists.work.gcp_items._size", sizes.get)
    old = book(
        "gcp",
        "us-central1",
        row("instance", "a2-highgpu-1g", "hour"),
        row("instance", "n1-standard-4", "hour", term="spot"),
        row("instance", "n1-standard-4", "hour", term="reserved-1y", payment="no-upfront"),
    )
    found = renewed(old, "page-2024-10-24.json", DISKS)
    assert {key[1]: value for key, value in prices(found).items()} == {
        "a2-highgpu-1g": Decimal("0.739477"),
        "n1-standard-4": Decimal("0.05212"),
    }
    assert found.changes[0].new.sku == "2922-40C5-B19F + 2390-DCAF-DA38"
    assert found.skipped[0][1] == "not in the file"


def test_prices_in_another_currency_are_not_taken(monkeypatch):
    monkeypatch.setattr("assay.rooms.pricelists.work.gcp_items._size", lambda name: (Decimal(2), Decimal(8)))
    old = book("gcp", "asia-southeast1", row("instance", "t2d-standard-2", "hour"))
    with pytest.raises(AssayError, match="prices in IDR; the book old is in USD"):
        renewed(old, "page-2024-10-24.json")
    rupiah = book("gcp", "asia-southeast1", row("instance", "t2d-standard-2", "hour"), currency="IDR")
    # 2 x 508.934997455 + 8 x 68.204999658
    assert list(prices(renewed(rupiah, "page-2024-10-24.json")).values()) == [Decimal("1563.509992174")]


def test_a_sku_of_traffic_has_tiers():
    old = book("gcp", "us-east1", row("transfer-out", "vpn to africa", "GiB", sku="02EE-77CE-ACCD"))
    found = renewed(old, "sku-2021-11-26.json")
    assert list(prices(found).values()) == [money(("0.12", 1024), ("0.11", 10240), ("0.08", None))]


def sku(description, service, unit, *rates, group="", usage="OnDemand", regions=("us-central1",)):
    """A SKU, in the form of the real ones: rates are (begin, nanos)."""
    tiers = [
        {"startUsageAmount": begin, "unitPrice": {"currencyCode": "USD", "units": "0", "nanos": nanos}}
        for begin, nanos in rates
    ]
    pricing = {"effectiveTime": "2026-08-01T00:00:00Z", "pricingExpression": {"usageUnit": unit, "tieredRates": tiers}}
    category = {"serviceDisplayName": service, "resourceFamily": "", "resourceGroup": group, "usageType": usage}
    number = f"{abs(hash(description)) % 10**8:08d}"
    return {
        "skuId": number,
        "description": description,
        "category": category,
        "serviceRegions": list(regions),
        "pricingInfo": [pricing],
    }


MADE = [
    sku("Standard Storage US Regional", "Cloud Storage", "GiBy.mo", (0, 0), (5, 20_000_000)),
    sku("Standard Storage US Multi-region", "Cloud Storage", "GiBy.mo", (0, 26_000_000)),
    sku("Nearline Storage Iowa", "Cloud Storage", "GiBy.mo", (0, 10_000_000)),
    sku("Nearline Storage Iowa (Early Delete)", "Cloud Storage", "GiBy.d", (0, 300_000)),
    sku("Nearline Data Retrieval", "Cloud Storage", "GiBy", (0, 10_000_000), regions=("global",)),
    sku("Regional Standard Class A Operations", "Cloud Storage", "count", (0, 0), (5000, 5000), regions=("global",)),
    sku("Hyperdisk Balanced Capacity in Iowa", "Compute Engine", "GiBy.mo", (0, 80_000_000)),
    sku("Hyperdisk Balanced Capacity Confidential Mode in Iowa", "Compute Engine", "GiBy.mo", (0, 90_000_000)),
    sku("Hyperdisk Balanced IOPS in Iowa", "Compute Engine", "mo", (0, 5_000_000)),
    sku("Storage PD Snapshot in Iowa", "Compute Engine", "GiBy.mo", (0, 50_000_000)),
    sku("Filestore Capacity Zonal Iowa", "Cloud Filestore", "GiBy.h", (0, 342_466)),
    sku("Commitment v1: N2 Cpu in Americas for 1 Year", "Compute Engine", "h", (0, 19_915_000), usage="Commit1Yr"),
    sku("Commitment v1: N2 Ram in Americas for 1 Year", "Compute Engine", "GiBy.h", (0, 2_669_000), usage="Commit1Yr"),
]


def google(old, *skus, day=DAY):
    file = PriceListFile("f", date=day)
    GCP_PAGES.collect_prices(skus, file, old.currency, product_filter(old))
    return refresh(old, [file], day)


def test_descriptions_of_google_as_its_readers_know_them(monkeypatch):
    """Made: the descriptions are known, but no real page of these services was found."""
    monkeypatch.setattr("assay.rooms.pricelists.work.gcp_items._size", lambda name: (Decimal(8), Decimal(32)))
    old = book(
        "gcp",
        "us-central1",
        row("object-capacity", "gcs-standard", "GiB-month"),
        row("object-capacity", "gcs-nearline", "GiB-month"),
        row("object-retrieval", "gcs-nearline", "GiB"),
        row("object-requests", "gcs-standard/put", "1000 requests"),
        row("volume-capacity", "hyperdisk-balanced", "GiB-month"),
        row("volume-iops", "hyperdisk-balanced", "IOPS-month"),
        row("snapshot-capacity", "standard", "GiB-month"),
        row("filesystem-capacity", "filestore-zonal", "GiB-month"),
        row("instance", "n2-standard-8", "hour", term="reserved-1y", payment="no-upfront"),
    )
    found = google(old, *MADE)
    assert [worth(each.new) for each in found.changes] == [
        Decimal("0.02"),
        Decimal("0.01"),
        Decimal("0.01"),
        Decimal("0.005"),
        Decimal("0.08"),
        Decimal("0.005"),
        Decimal("0.05"),
        Decimal("0.25000018"),
        Decimal("0.244728"),
    ]
    assert not found.skipped


@pytest.mark.parametrize("broken", [{}, {"skuId": "A"}, {**MADE[0], "pricingInfo": [{}]}, {**MADE[0], "category": 1}])
def test_a_wrong_sku_gets_one_line(broken):
    old = book("gcp", "us-central1", row("object-capacity", "gcs-standard", "GiB-month"))
    with pytest.raises(AssayError, match=r"f: not a page of Google Cloud's SKUs: .* has another form"):
        google(old, broken)


def test_a_price_of_google_holds_from_its_time_on():
    old = book("gcp", "us-central1", row("snapshot-capacity", "standard", "GiB-month"))
    made = sku("Storage PD Snapshot in Iowa", "Compute Engine", "GiBy.mo", (0, 60_000_000))
    later = {**made["pricingInfo"][0], "effectiveTime": "2026-12-01T00:00:00Z"}
    earlier = {**MADE[9]["pricingInfo"][0], "effectiveTime": "2020-12-01T00:00:00Z"}
    line = {**made, "pricingInfo": [earlier, later]}
    assert list(prices(google(old, line)).values()) == [Decimal("0.05")]
    assert list(prices(google(old, line, day=dt.date(2026, 12, 1))).values()) == [Decimal("0.06")]


def test_google_is_asked_page_by_page():
    old = book("gcp", "us-central1", row("object-capacity", "gcs-standard", "GiB-month"))
    (asked,) = needed_urls(old)
    assert asked == "https://cloudbilling.googleapis.com/v1/services/95FF-2EF5-5EA1/skus?pageSize=5000&currencyCode=USD"
    assert GCP_PAGES.next_url(asked + "&pageToken=a", "b=") == asked + "&pageToken=b%3D"


def test_without_a_key_google_is_not_asked(monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    old = book("gcp", "us-central1", row("object-capacity", "gcs-standard", "GiB-month"))
    with pytest.raises(AssayError, match=rf"needs an API key, but the environment variable {KEY} is not set"):
        read_lists(provider_of(old), needed_urls(old), old, product_filter(old), allow_missing=True, fetched_on=None)


@pytest.mark.parametrize("provider", ["azure", "gcp"])
def test_a_copy_of_a_page_does_not_say_of_when_it_is(provider):
    old = book(provider, "x", row("instance", "y", "hour"))
    with pytest.raises(AssayError, match=r"a\.json does not say when it was fetched"):
        read_lists(provider_of(old), ["a.json"], old, product_filter(old), allow_missing=False, fetched_on=None)


def test_a_renewed_book_of_each_provider_is_written_and_read_back():
    for found in (
        renewed(MACHINE, NEW),
        renewed(book("gcp", "us-central1", row("volume-capacity", "pd-ssd", "GiB-month")), DISKS),
    ):
        assert f"sku: {found.book.rows[0].sku}" in book_text(found.book) and f"read_on: {DAY}" in book_text(found.book)
