"""Managed services of AWS: their limits and bills against figures computed by hand, and the prices of every choice.

Prices are those of the shipped book of us-east-1, in USD a month; each sum stands beside its test.
"""

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from assay.model.base import AssayError
from assay.model.money.catalog import ManagedType
from assay.model.money.design import Design
from assay.model.money.price import PriceBook
from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.catalog import catalog
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import Template, design_names, load_template
from assay.money.cost.limits import Limits, design_limits

MIB, MB, TIB = 2**20, 10**6, 2**40
AWS = [name for name in design_names() if load_template(name).source.data.get("provider") == "aws"]
TYPES = [entry for entry in catalog().services() if isinstance(entry, ManagedType) and entry.provider == "aws"]
BOOKS = {name: load_book(name) for name in ("aws-us-east-1", "aws-eu-west-1")}


@pytest.fixture(scope="module")
def book() -> PriceBook:
    """Of us-east-1."""
    return BOOKS["aws-us-east-1"]


def built(name: str, **values: Any) -> tuple[Design, Limits]:
    """A shipped design with these values, and its limits."""
    design = load_template(name).build(values)
    return design, design_limits(design)


def month(design: Design, book: PriceBook, use: Use = Use()) -> Decimal:  # noqa: B008
    """Its price of a month."""
    return price_bill(make_bill(design, use), book).month


# FSx for OpenZFS: performance-ssd.html, and $0.09 a GB, $0.26 a MiB/s, $0.006 an IOPS above 3 for each GB.


def test_openzfs_costs_its_size_its_throughput_and_the_iops_above_those_included(book: PriceBook) -> None:
    design, limits = built("fsx-openzfs", capacity="10TiB", throughput="1280MiB/s", iops=40_000)
    # 10,240 GiB x 0.09 = 921.60; 1,280 x 0.26 = 332.80; (40,000 - 3 x 10,240 = 9,280) x 0.006 = 55.68
    assert month(design, book) == Decimal("1310.08")
    assert limits.sustained("read") == limits.sustained("write") == 1280 * MIB
    # 40,000 are bought; the server of 1,280 MB/s would do 50,000.
    assert limits.sustained("read_iops") == 40_000
    assert limits.burst("read") == (2560 * MIB, None)


def test_openzfs_with_a_second_server_costs_twice_its_throughput(book: PriceBook) -> None:
    one, two = (f"fsx-openzfs-single-az{ha}-1" for ha in ("", "-ha"))
    prices = [
        month(built("fsx-openzfs-small", type=each, capacity="1TiB", throughput="128MiB/s")[0], book)
        for each in (one, two)
    ]
    # 1,024 x 0.09 = 92.16; 128 x 0.26 = 33.28, and 128 x 0.52 = 66.56
    assert prices == [Decimal("125.44"), Decimal("158.72")]


def test_openzfs_in_two_zones_writes_less_than_it_reads_at_its_fastest(book: PriceBook) -> None:
    design, limits = built("fsx-openzfs-multi-az", capacity="10TiB", throughput="10240MiB/s")
    # 10,240 x 0.18 = 1,843.20; 10,240 x 0.87 = 8,908.80
    assert month(design, book) == Decimal("10752.00")
    assert (limits.sustained("read"), limits.sustained("write")) == (10240 * MIB, 7500 * MIB)
    assert (design.availability, design.durability) == (99.99, "region")


@pytest.mark.parametrize(("bought", "written"), [(2560, 1920), (3840, 2880), (5120, 3200), (10240, 3200)])
def test_tiered_openzfs_writes_three_quarters_and_has_no_price(bought: int, written: int, book: PriceBook) -> None:
    """performance-intelligent-tiering.html: 75 % up to 3,840 MBps, and 3,200 above."""
    service = {"kind": "managed", "type": "fsx-openzfs-intelligent-tiering", "capacity": "10TiB"}
    data = load_template("fsx-openzfs-multi-az").source.data
    design = Design.model_validate(
        {**{key: data[key] for key in ("design", "family", "access", "durability", "failure_domain")}}
        | {"service": {**service, "throughput": f"{bought}MiB/s"}}
    )
    assert design_limits(design).sustained("write") == written * MIB
    with pytest.raises(AssayError, match="no price of filesystem-capacity fsx-openzfs-intelligent-tiering/frequent"):
        month(design, book)


# FSx for NetApp ONTAP: $0.125 a GB of SSD, $0.0219 of the pool, $0.72 a MiB/s; twice that in two zones, but for 1.20.


def test_ontap_puts_what_is_seldom_read_in_the_pool(book: PriceBook) -> None:
    design, limits = built("fsx-ontap", capacity="10TiB", throughput="512MiB/s", infrequent="80%")
    # 2,048 x 0.125 = 256.00; 8,192 x 0.0219 = 179.4048; 512 x 0.72 = 368.64
    assert month(design, book) == Decimal("804.0448")
    assert limits.sustained("read") == limits.sustained("write") == 512 * MIB
    assert limits.usable == 10 * TIB


def test_first_generation_ontap_has_192_tib_of_ssd_at_most_and_any_pool() -> None:
    """limits.html: at most 192 TiB of SSD; the capacity pool is virtually without a limit."""
    _, limits = built("fsx-ontap", capacity="1024TiB", throughput="2048MiB/s", infrequent="90%")
    assert limits.usable == 1024 * TIB
    with pytest.raises(AssayError, match="at most 192TiB outside its class for rarely read data"):
        built("fsx-ontap", capacity="256TiB", throughput="2048MiB/s")


def test_ontap_in_two_zones(book: PriceBook) -> None:
    design, _ = built("fsx-ontap-multi-az", capacity="10TiB", throughput="256MiB/s", iops=40_720)
    # 10,240 x 0.25 = 2,560; 256 x 1.20 = 307.20; (40,720 - 30,720) x 0.034 = 340
    assert month(design, book) == Decimal("3207.20")


def test_ontap_of_the_second_generation(book: PriceBook) -> None:
    design, limits = built("fsx-ontap-2-multi-az", capacity="24TiB", throughput="1536MiB/s")
    # 24,576 x 0.25 = 6,144; 1,536 x 2.50 = 3,840
    assert month(design, book) == 9984
    assert limits.sustained("read") == 1536 * MIB
    assert limits.sustained("write") is None, "no source states it"


# FSx for Windows File Server: WindowsGuide, performance.html.


def test_windows_on_ssd_in_one_zone_and_in_two(book: PriceBook) -> None:
    values = {"capacity": "5TiB", "throughput": "128MiB/s"}
    # 5,120 x 0.13 = 665.60 + 128 x 2.20 = 281.60; 5,120 x 0.23 = 1,177.60 + 128 x 4.50 = 576.00
    assert month(built("fsx-windows", **values)[0], book) == Decimal("947.20")
    assert month(built("fsx-windows-multi-az", **values)[0], book) == Decimal("1753.60")


def test_windows_on_hard_disks_as_the_example_of_aws_has_it(book: PriceBook) -> None:
    """2 TiB keep 24 MBps and burst to 160; a bucket of 1 TiB for each TiB lasts 2^20 MiB / (80 - 12) MiB/s."""
    design, limits = built("fsx-windows-hdd", capacity="2TiB")
    assert limits.sustained("read") == limits.sustained("write") == 24 * MIB
    assert limits.burst("read") == (160 * MIB, pytest.approx(2**20 / 68, rel=1e-4))
    assert limits.sustained("read_iops") == 24
    # 2,048 x 0.013 = 26.624; 512 x 2.20 = 1,126.40
    assert month(design, book) == Decimal("1153.024")


def test_no_server_of_hard_disks_is_faster_than_what_was_bought() -> None:
    # 64 x 12 = 768
    assert built("fsx-windows-hdd", capacity="64TiB")[1].sustained("read") == 512 * MIB
    assert built("fsx-windows-hdd", capacity="64TiB", throughput="1024MiB/s")[1].sustained("read") == 768 * MIB


# FSx for Lustre with EFA, and tiered.


def test_lustre_with_efa_is_as_large_as_its_servers(book: PriceBook) -> None:
    design, limits = built("fsx-lustre-efa", type="fsx-lustre-efa-1000", capacity="9600GiB")
    # 9,600 / 1,024 x 1,000 MB/s; 9,600 x 0.60
    assert limits.sustained("read") == 9375 * MB
    assert month(design, book) == 5760
    with pytest.raises(AssayError, match=r"fsx-lustre-efa-1000 of 2400GiB is not available"):
        built("fsx-lustre-efa", type="fsx-lustre-efa-1000", capacity="2400GiB")


def test_tiered_lustre_pays_for_tiers_throughput_and_requests(book: PriceBook) -> None:
    design, limits = built("fsx-lustre-intelligent-tiering", stored="100TiB", infrequent="70%")
    # 30,720 x 0.023 = 706.56; 71,680 x 0.0125 = 896.00; 4,000 MB/s x 0.52 = 2,080; watching 102,400 x 0.0006 = 61.44
    assert month(design, book) == Decimal("3744.00")
    # 1,000,000 reads at 0.0004 a thousand are 0.40; 100,000 writes at 0.005 are 0.50
    use = Use(gets=Decimal(10**6), puts=Decimal(10**5))
    assert month(design, book, use) == Decimal("3744.90")
    assert limits.sustained("read") == 4000 * MB
    with pytest.raises(AssayError, match="cannot have"):
        built("fsx-lustre-intelligent-tiering", throughput="5000MB/s")


def test_file_cache_grows_with_its_size(book: PriceBook) -> None:
    design, limits = built("file-cache", capacity="4800GiB")
    # 4,800 x 1.33; 4,800 / 1,024 x 1,000 MB/s
    assert month(design, book) == 6384
    assert limits.sustained("read") == Decimal("4687.5") * MB
    assert design.durability == "scratch"


# Buckets.


def test_a_bucket_with_a_class_for_what_is_not_in_use(book: PriceBook) -> None:
    design, _ = built("s3-tiered", stored="100TiB", cold_class="s3-standard-ia", cold_share="80%")
    # 20,480 x 0.023 = 471.04; 81,920 x 0.0125 = 1,024
    assert month(design, book) == Decimal("1495.04")
    # 2,048 GiB are read, a tenth of them of the cold class: 204.8 x 0.01
    use = Use(retrieved=2 * TIB, cold_reads=Decimal("0.1"))
    assert month(design, book, use) == Decimal("1495.04") + Decimal("2.048")


def test_express_pays_for_requests_and_bytes_read(book: PriceBook) -> None:
    design, _ = built("s3-express", stored="10TiB")
    # 10,240 x 0.11 = 1,126.40; 10^6 x 0.00113 / 1,000 = 1.13; 10^7 x 0.00003 / 1,000 = 0.30; 1,024 x 0.0006 = 0.6144
    use = Use(puts=Decimal(10**6), gets=Decimal(10**7), retrieved=TIB)
    assert month(design, book, use) == Decimal("1128.4444")


def test_an_archive_charges_forty_kib_for_each_object(book: PriceBook) -> None:
    design, _ = built("s3-archive", stored="100TiB", **{"class": "s3-deep-archive"})
    # 102,400 x 0.00099 = 101.376; objects of 1 MiB are charged as 1,056 / 1,024 of that, and 8 KiB of each as standard:
    # 800 GiB x 0.023 = 18.40
    assert month(design, book) == Decimal("101.376")
    assert month(design, book, Use(object_size=MIB)) == Decimal("101.376") * 1056 / 1024 + Decimal("18.40")


@pytest.mark.parametrize(
    ("name", "seconds", "days", "overhead"),
    [("s3-standard-ia", None, 30, 0), ("s3-one-zone-ia", None, 30, 0), ("s3-glacier-instant", None, 90, 0),
     ("s3-glacier-flexible", 5 * 3600, 90, 40 * 1024), ("s3-deep-archive", 12 * 3600, 180, 40 * 1024)],
)  # fmt: skip
def test_classes_state_when_they_are_read_and_what_they_charge_at_least(
    name: str, seconds: int | None, days: int, overhead: int
) -> None:
    kind = catalog().object_class(name)
    assert (kind.retrieval_seconds, kind.min_days, kind.overhead) == (seconds, days, overhead)
    assert not kind.retrieval_free


def test_hard_disks_inside_instances_bound_what_the_network_would_carry(book: PriceBook) -> None:
    # 75 Gbit/s are 9.375 GB/s; 24 disks of 13,980 GB; 2 x 6.30864 + 0.1728 an hour, for 730 hours
    design, limits = built("beegfs-dense", servers=2)
    assert limits.sustained("read") == 2 * 6.2e9
    assert limits.usable == 2 * 24 * 13_980 * 10**9
    assert month(design, book) == (2 * Decimal("6.30864") + Decimal("0.1728")) * 730


# All of them.


def choices(template: Template) -> Iterator[dict[str, Any]]:
    """The design's own values, and with each of them every choice of one parameter."""
    yield {}
    for key, parameter in template.parameters.items():
        for choice in parameter.choices:
            yield {key: choice}


@pytest.mark.parametrize(("region", "name"), list(itertools.product(BOOKS, AWS)))
def test_every_choice_has_a_price(region: str, name: str) -> None:
    prices, template = BOOKS[region], load_template(name)
    missing: set[str] = set()
    priced = 0
    for values in choices(template):
        try:
            design = template.build(values)
            bill, _ = make_bill(design), design_limits(design)
        except AssayError as error:
            assert "price" not in error.message
            continue
        try:
            # The first 25 GB of a table are free.
            assert price_bill(bill, prices).month > 0 or name == "dynamodb-on-demand"
        except AssayError as error:
            missing.add(error.message)
        else:
            priced += 1
    assert not missing
    assert priced or missing
    assert all("has no price of" in each for each in missing)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_every_type_has_its_source_and_is_never_faster_than_its_most(kind: ManagedType) -> None:
    assert kind.source and kind.date and kind.durability and kind.label
    size = kind.size_for(kind.min_size) or kind.min_size
    for law in (kind.read, kind.write):
        if law is not None:
            assert law.value(size, 10.0**15) <= (law.max or float("inf"))
    if kind.availability is not None:
        assert kind.zones > 1 or "a second file server" in kind.durability


@pytest.mark.parametrize("region", BOOKS)
def test_each_row_has_its_date_and_the_book_that_of_the_oldest(region: str) -> None:
    known = BOOKS[region]
    assert all(row.date is not None for row in known.rows)
    assert known.date == min(row.date for row in known.rows if row.date)


@pytest.mark.parametrize("region", BOOKS)
def test_spot_prices_that_are_computed_are_those_of_the_stated_saving(region: str) -> None:
    known = BOOKS[region]
    found = [(row, match) for row in known.rows if (match := re.search(r"^computed: .* saving of (\d+) %", row.note))]
    assert len(found) > 20
    for row, match in found:
        assert row.term == "spot" and row.price is not None
        asked = known.row("instance", row.item).price or Decimal(0)
        assert abs(row.price - asked * (100 - int(match[1])) / 100) <= Decimal("0.00001")
