"""What Azure and Google Cloud rent: limits and bills against arithmetic by hand, and every design with its book."""

import datetime as dt
import itertools
from decimal import Decimal
from functools import cache

import pytest

from assay.model.base import AssayError
from assay.model.money.catalog import family_of
from assay.model.money.catalog_entry import GIB, TIB
from assay.model.money.managed import ManagedType
from assay.model.money.price import PriceBook
from assay.model.money.use import Use
from assay.model.money.volumes import volume_limits
from assay.money.books.books import book_names, load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.catalog import catalog
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import Template, design_names, load_template
from assay.money.cost.limits import design_limits

MIB = 2**20
TEMPLATES = {name: load_template(name) for name in design_names()}
OURS = sorted(name for name, template in TEMPLATES.items() if template.provider in ("azure", "gcp"))
SHIPPED = ("azure-eastus", "azure-eastus2", "azure-westeurope", "gcp-europe-west1", "gcp-us-central1")


@cache
def book_of(name: str) -> PriceBook:
    """Shipped price book, read once."""
    return load_book(name)


def month(name: str, values: dict[str, object] | None = None, use: Use = Use(), book: str = "") -> Decimal:  # noqa: B008
    """US dollars a month on demand in the book of the design."""
    design = load_template(name).build(values or {})
    return price_bill(make_bill(design, use), book_of(book or design.book or "")).month


def rates(name: str, **values: object) -> tuple[float | None, ...]:
    """Bytes and operations per second that the design keeps: of reading, of writing."""
    limits = design_limits(load_template(name).build(values))
    return tuple(limits.sustained(metric) for metric in ("read", "write", "read_iops", "write_iops"))


# --- Limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        # 100 MiB/s + 0.1 MiB/s x 10,240 GiB = 1,124 MiB/s; 3,000 + 10,240 IOPS
        ("azure-files", {"capacity": "10TiB"}, (1124 * MIB, 1124 * MIB, 13_240, 13_240)),
        # 96 TiB: 100 + 0.1 x 98,304 = 9,930.4 MiB/s; 3,000 + 98,304 = 101,304 IOPS
        ("azure-files", {"capacity": "96TiB"}, (9930.4 * MIB, 9930.4 * MIB, 101_304, 101_304)),
        # 100 TiB: 100 + 10,240 = 10,340 MiB/s; 3,000 + 102,400 IOPS are more than 102,400
        ("azure-files", {"capacity": "100TiB"}, (10_340 * MIB, 10_340 * MIB, 102_400, 102_400)),
        ("azure-files-zrs", {"capacity": "10TiB"}, (1124 * MIB, 1124 * MIB, 13_240, 13_240)),
        ("azure-files-v2", {"throughput": "500MiB/s", "iops": 10_000}, (500 * MIB, 500 * MIB, 10_000, 10_000)),
        # 7.5 GiB/s of writing of the whole account; reading is bound by 20,000 requests of 1 MiB, not by its 25 GiB/s
        ("azure-files-hdd", {}, (20_000 * MIB, 7680 * MIB, 20_000, 20_000)),
        # 10 TiB x 16, 64, 128 MiB/s; flexible: 128 MiB/s whatever the size
        ("azure-netapp-files", {"type": "azure-netapp-files-standard"}, (160 * MIB, 160 * MIB, None, None)),
        ("azure-netapp-files", {"type": "azure-netapp-files-premium"}, (640 * MIB, 640 * MIB, None, None)),
        ("azure-netapp-files", {"type": "azure-netapp-files-ultra"}, (1280 * MIB, 1280 * MIB, None, None)),
        # 120 TiB x 128 MiB/s are 15,360; the largest volume does 12,800
        (
            "azure-netapp-files",
            {"type": "azure-netapp-files-ultra", "capacity": "120TiB"},
            (12_800 * MIB, 12_800 * MIB, None, None),
        ),
        ("azure-netapp-files", {"type": "azure-netapp-files-flexible"}, (128 * MIB, 128 * MIB, None, None)),
        # 48 TiB x 125 MB/s = 6 GB/s
        ("azure-managed-lustre", {"capacity": "48TiB"}, (6e9, 6e9, None, None)),
        ("azure-blob", {}, (None, None, 40_000, 40_000)),
        ("azure-blob-archive", {}, (None, None, 40_000, 40_000)),
        # 5 TiB x 260 and 88 MiB/s; 9,200 and 2,600 IOPS for each TiB
        ("gcp-filestore", {"capacity": "5TiB"}, (1300 * MIB, 440 * MIB, 46_000, 13_000)),
        ("gcp-filestore", {"type": "filestore-basic-hdd"}, (100 * MIB, 100 * MIB, 600, 1000)),
        ("gcp-filestore", {"type": "filestore-basic-ssd"}, (1200 * MIB, 350 * MIB, 60_000, 25_000)),
        ("gcp-filestore-large", {"capacity": "20TiB"}, (5200 * MIB, 1760 * MIB, 184_000, 52_000)),
        ("gcp-filestore-large", {"type": "filestore-basic-hdd-large"}, (180 * MIB, 120 * MIB, 1000, 5000)),
        # 5 TiB x 120 and 100 MiB/s; 12,000 and 4,000 IOPS for each TiB
        ("gcp-filestore-regional", {"capacity": "5TiB"}, (600 * MIB, 500 * MIB, 60_000, 20_000)),
        ("gcp-filestore-regional-large", {"capacity": "10TiB"}, (1200 * MIB, 1000 * MIB, 120_000, 40_000)),
        # 72,000 GiB are 70.3125 TiB; x 125 MB/s
        # 70.3125 TiB x 125 MB/s, 725 reads and 700 writes
        ("gcp-managed-lustre", {}, (8_789_062_500, 8_789_062_500, 50_976.5625, 49_218.75)),
        # 12 TiB x 1.15 and 0.5 GiB/s; 30,000 and 10,000 IOPS for each TiB
        ("gcp-parallelstore", {}, (13.8 * GIB, 6 * GIB, 360_000, 120_000)),
        # 10 TiB x 64 and 128 KiB/s for each GiB
        ("gcp-netapp-volumes", {}, (640 * MIB, 640 * MIB, None, None)),
        ("gcp-netapp-volumes", {"type": "netapp-volumes-extreme"}, (1280 * MIB, 1280 * MIB, None, None)),
        ("gcs", {}, (None, None, 5000, 1000)),
        ("gcs-archive", {}, (None, None, 5000, 1000)),
    ],
)
def test_what_a_service_keeps(name: str, values: dict[str, object], expected: tuple[float | None, ...]) -> None:
    for found, wanted in zip(rates(name, **values), expected, strict=True):
        assert found == (None if wanted is None else pytest.approx(wanted, rel=1e-6))


def test_a_machine_with_disks_is_bound_by_the_narrower_of_network_path_and_disks() -> None:
    # E32bs_v5: 16,000 Mbit/s = 2 GB/s of network, less than its path to disks and 4 x 1000 MB/s of disks
    read, write, reads, writes = rates("nfs-azure-disks", throughput="1000MB/s", iops=16_000)
    assert (read, write) == (2e9, 2e9)
    # 4 x 250 MB/s of disks are less than 2 GB/s; 4 x 4,000 IOPS
    assert rates("nfs-azure-disks", throughput="250MB/s") == (1e9, 1e9, 16_000, 16_000)
    # 4 x 16,000 = 64,000 IOPS of the disks are less than the machine allows
    assert reads == writes == pytest.approx(64_000)
    # c3-standard-44: 4 x 250 MiB/s of the volumes
    assert rates("nfs-gcp-hyperdisk", throughput="250MiB/s")[:2] == (1000 * MIB, 1000 * MIB)


@pytest.mark.parametrize(
    ("name", "gib", "iops", "mib"),
    [
        # 6 IOPS and 0.28 MiB/s for each GiB, to 80,000 and 1,200 MiB/s
        ("pd-balanced", 1000, 6000, 280), ("pd-balanced", 20_000, 80_000, 1200),
        # 30 IOPS and 0.48 MiB/s for each GiB, to 100,000 and 1,200 MiB/s
        ("pd-ssd", 1000, 30_000, 480), ("pd-ssd", 10_000, 100_000, 1200),
    ],
)  # fmt: skip
def test_a_disk_grows_faster_with_its_size_up_to_a_bound(name: str, gib: int, iops: float, mib: float) -> None:
    limits = catalog().volume(name).limits(gib * GIB, None, None)
    assert limits.iops_baseline == pytest.approx(iops)
    assert limits.read_baseline == limits.write_baseline == pytest.approx(mib * MIB)


def test_disks_of_fixed_size_take_no_other() -> None:
    disk = catalog().volume("premium-ssd-p30")
    limits = volume_limits(disk, 1024 * GIB)
    assert (limits.iops_baseline, limits.read_baseline) == (5000, 200e6)
    with pytest.raises(AssayError, match="1000GiB"):
        volume_limits(disk, 1000 * GIB)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("azure-files", {"capacity": "50GiB"}, "azure-files-premium-lrs of 50GiB is not available"),
        ("azure-files", {"capacity": "200TiB"}, "is not available"),
        ("azure-files-v2", {"throughput": "20GiB/s"}, "cannot have 20GiB/s"),
        ("azure-files-v2", {"iops": 200_000}, "cannot have 200000 IOPS"),
        ("azure-netapp-files", {"capacity": "1536GiB"}, "is not available"),
        ("gcp-filestore", {"capacity": "1100GiB"}, "is not available"),
        ("gcp-filestore-large", {"capacity": "11TiB"}, "is not available"),
        ("gcp-managed-lustre", {"capacity": "10TiB"}, "is not available"),
        ("gcp-parallelstore", {"capacity": "8TiB"}, "is not available"),
        ("gcp-netapp-volumes", {"capacity": "1TiB"}, "is not available"),
    ],
)
def test_sizes_that_are_not_sold_are_refused(name: str, values: dict[str, object], message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        design_limits(load_template(name).build(values))
    assert caught.value.hint


# --- Bills ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("azure-files", {"capacity": "10TiB"}, "1638.40"),  # 10,240 GiB x 0.16
        ("azure-files-zrs", {"capacity": "10TiB"}, "2048.00"),  # x 0.20
        # 10,240 x 0.000137 x 730 + (500 - 100) x 0.000054 x 730 + (3,000 - 3,000) x ..: 1,024.1024 + 15.768
        ("azure-files-v2", {"throughput": "500MiB/s", "iops": 3000}, "1039.8704"),
        # and 7,000 IOPS x 0.000037 x 730 = 189.07
        ("azure-files-v2", {"throughput": "500MiB/s", "iops": 10_000}, "1228.9404"),
        ("azure-files-v2", {"throughput": "100MiB/s", "iops": 3000}, "1024.1024"),
        # 1.25 times each
        ("azure-files-v2-zrs", {"throughput": "500MiB/s", "iops": 10_000}, "1536.1755"),
        # 48 TiB = 49,152 GiB x 0.145
        ("azure-managed-lustre", {"capacity": "48TiB"}, "7127.04"),
        # 10,240 GiB x 0.000202, 0.000403, 0.000538, 0.000151 an hour x 730
        ("azure-netapp-files", {"type": "azure-netapp-files-standard"}, "1509.9904"),
        ("azure-netapp-files", {"type": "azure-netapp-files-premium"}, "3012.5056"),
        ("azure-netapp-files", {"type": "azure-netapp-files-ultra"}, "4021.6576"),
        ("azure-netapp-files", {"type": "azure-netapp-files-flexible"}, "1128.7552"),
        # 10^13 / 2^30 = 9,313.2257 GiB x 0.0208, 0.0152, 0.0036
        ("azure-blob", {"class": "blob-hot"}, "193.7151"),
        ("azure-blob", {"class": "blob-cool"}, "141.5610"),
        ("azure-blob", {"class": "blob-cold"}, "33.5276"),
        # 102,400 GiB: 51,200 x 0.0208 + 51,200 x 0.019968 = 1,064.96 + 1,022.3616
        ("azure-blob", {"stored": "100TiB"}, "2087.3216"),
        ("azure-blob-archive", {"stored": "100TB"}, "92.2009"),  # 93,132.2575 x 0.00099
        # 20 % of 9,313.2257 GiB x 0.0208 + 80 % x 0.0152
        ("azure-blob-lifecycle", {}, "151.9918"),
        # 5,120 GiB x 0.000342466 an hour x 730; Basic SSD x 0.000410959, HDD x 0.000219178
        ("gcp-filestore", {}, "1280.0009"),
        ("gcp-filestore", {"type": "filestore-basic-ssd"}, "1536.0004"),
        ("gcp-filestore", {"type": "filestore-basic-hdd"}, "819.1997"),
        ("gcp-filestore-large", {"capacity": "20TiB"}, "5120.0037"),  # 20,480 GiB x 0.000342466 x 730
        ("gcp-filestore-regional", {}, "2303.9987"),  # 5,120 x 0.000616438 x 730
        ("gcp-managed-lustre", {}, "10440"),  # 72,000 x 0.145
        ("gcp-parallelstore", {}, "1720.3216"),  # 12,288 x 0.000191781 x 730
        ("gcp-netapp-volumes", {"type": "netapp-volumes-standard"}, "2048.0030"),  # 10,240 x 0.000273973 x 730
        ("gcp-netapp-volumes", {"type": "netapp-volumes-premium"}, "3012.6103"),  # x 0.000403014 x 730
        ("gcp-netapp-volumes", {"type": "netapp-volumes-extreme"}, "4021.2465"),  # x 0.000537945 x 730
        ("gcs", {}, "186.2645"),  # 9,313.2257 GiB x 0.02
        ("gcs", {"class": "gcs-nearline"}, "93.1323"),
        ("gcs", {"class": "gcs-coldline"}, "37.2529"),
        ("gcs-archive", {"stored": "100TB"}, "111.7587"),  # 93,132.2575 x 0.0012
        ("gcs-lifecycle", {}, "111.7587"),  # 9,313.2257 x (20 % x 0.02 + 80 % x 0.01)
    ],
)
def test_a_month_costs_what_arithmetic_says(name: str, values: dict[str, object], expected: str) -> None:
    assert month(name, values) == pytest.approx(Decimal(expected), abs=Decimal("0.0002"))


def test_a_month_of_machine_and_disks() -> None:
    # Azure: 2.384 x 730 + 9,313.2257 GiB x 0.00011 x 730 + 4 x 1,000 IOPS x 0.000007 x 730
    # + 4 x (500 - 125) MB/s x 0.000055 x 730 = 1,740.32 + 747.8520 + 20.44 + 60.225
    assert month("nfs-azure-disks") == pytest.approx(Decimal("2568.8370"), abs=Decimal("0.001"))
    # Google Cloud: 2.217688 x 730 + 9,313.2257 x 0.08 + 4 x 1,000 x 0.005 + 4 x (500 - 140) MiB/s x 0.04
    # = 1,618.9122 + 745.0581 + 20 + 57.6
    assert month("nfs-gcp-hyperdisk") == pytest.approx(Decimal("2441.5703"), abs=Decimal("0.001"))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        # 10^6 puts at 0.05 for 10,000 = 5; 10^7 gets at 0.0004 for 1,000 = 4; reading hot costs nothing by the byte
        ("azure-blob", {"class": "blob-hot"}, "9"),
        # puts at 0.1 = 10; gets at 0.001 = 10; 1,024 GiB x 0.01 = 10.24
        ("azure-blob", {"class": "blob-cool"}, "30.24"),
        # puts at 0.18 = 18; gets at 0.01 = 100; 1,024 x 0.03 = 30.72
        ("azure-blob", {"class": "blob-cold"}, "148.72"),
        # puts at 0.1 = 10; gets at 0.5 = 5,000; 1,024 x 0.02 = 20.48
        ("azure-blob-archive", {}, "5030.48"),
        ("gcs", {}, "9"),  # 10^6 x 0.05 / 10,000 + 10^7 x 0.0004 / 1,000
        # puts at 0.05 for 1,000 = 50; gets at 0.05 for 1,000 = 500; 1,024 x 0.05 = 51.20
        ("gcs-archive", {}, "601.20"),
    ],
)
def test_requests_and_reading_of_a_bucket_cost_by_class(name: str, values: dict[str, object], expected: str) -> None:
    use = Use(puts=Decimal(10**6), gets=Decimal(10**7), retrieved=TIB)
    assert month(name, values, use) - month(name, values) == Decimal(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 2,000 GB: the first 100 free, then 1,900 x 0.087
        ("azure-blob", "165.30"),
        # 2,000 GB are 1,862.6452 GiB: 1,024 x 0.12 + 838.6452 x 0.11
        ("gcs", "215.1310"),
    ],
)
def test_what_leaves_the_provider_costs_in_steps(name: str, expected: str) -> None:
    out = month(name, use=Use(egress=2 * 10**12)) - month(name)
    assert out == pytest.approx(Decimal(expected), abs=Decimal("0.0001"))


def test_commitments_and_spot_machines_of_google_cloud_cost_less_the_longer_they_bind() -> None:
    bill = make_bill(load_template("nfs-gcp-hyperdisk").build())
    for name in ("gcp-us-central1", "gcp-europe-west1"):
        book = book_of(name)
        of_machine = {
            term: book.row("instance", "c3-standard-44", term).price
            for term in ("on-demand", "reserved-1y", "reserved-3y", "spot")
        }
        dearest_first = sorted(of_machine.values(), key=lambda price: -(price or 0))
        assert list(of_machine.values())[:3] == dearest_first[:3] and of_machine["spot"] < of_machine["on-demand"]
    assert price_bill(bill, book_of("gcp-us-central1"), "reserved-3y").month < month("nfs-gcp-hyperdisk")


# --- Every design and every book --------------------------------------------------------------------------------------


def choices(template: Template) -> list[dict[str, object]]:
    """All combinations of the choices of the parameters; a rule moves objects to a class further on in its list."""
    axes = {key: one.choices or (one.value,) for key, one in template.parameters.items()}
    hot, cold = (list(axes.get(key, ())) for key in ("hot", "cold"))
    points = [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]
    return [each for each in points if not hot or hot.index(each["hot"]) <= cold.index(each["cold"])]


def test_there_are_designs_of_both_providers() -> None:
    assert len(OURS) >= 20
    assert set(SHIPPED) <= set(book_names())


@pytest.mark.parametrize("name", OURS)
def test_every_choice_can_be_built_and_priced_with_its_book(name: str) -> None:
    template = TEMPLATES[name]
    for values in choices(template):
        design = template.build(values)
        assert design_limits(design).usable > 0, values
        cost = price_bill(make_bill(design), book_of(design.book or ""))
        assert cost.month > 0 and cost.currency == "USD", values


@pytest.mark.parametrize("name", SHIPPED)
def test_every_row_says_where_it_is_from_and_when_it_was_read(name: str) -> None:
    book = book_of(name)
    assert book.currency == "USD" and book.hours_per_month == 730 and "730" in book.about
    assert book.date == min(row.date or book.date for row in book.rows)
    for row in book.rows:
        what = f"{row.dimension} {row.item} {row.term}"
        assert row.source and row.date is not None and row.read_on is not None, what
        assert dt.date(2024, 1, 1) <= row.date <= row.read_on, what


@pytest.mark.parametrize("provider", ["azure", "gcp"])
def test_what_the_catalogue_has_of_a_provider_is_dated_and_consistent(provider: str) -> None:
    mine = [kind for kind in catalog().services() if isinstance(kind, ManagedType) and kind.provider == provider]
    assert len(mine) >= 10
    for kind in mine:
        assert kind.source.startswith("https://") and kind.date.year >= 2023, kind.name
        assert kind.size_for(kind.min_size) == kind.min_size, kind.name
        assert kind.max_size is not None and kind.size_for(kind.max_size) == kind.max_size, kind.name
        assert _rises(kind), kind.name


def _rises(kind: ManagedType) -> bool:
    """More capacity never makes it slower."""
    most = kind.max_size or kind.min_size
    rates = (law for law in (kind.read, kind.write) if law is not None)
    counts = (law for law in (kind.read_iops, kind.write_iops) if law is not None)
    return all(law.value(kind.min_size, 0) <= law.value(most, 0) for law in rates) and all(
        law.value(kind.min_size, 0, 0) <= law.value(most, 0, 0) for law in counts
    )


@pytest.mark.parametrize(
    ("name", "days", "least"),
    [("blob-hot", 0, 0), ("blob-cool", 30, 128 * 1024), ("blob-cold", 90, 128 * 1024),
     ("blob-archive", 180, 128 * 1024),
     ("gcs-standard", 0, 0), ("gcs-nearline", 30, 0), ("gcs-coldline", 90, 0), ("gcs-archive", 365, 0)],
)  # fmt: skip
def test_cold_classes_are_charged_for_their_least_days_and_sizes(name: str, days: int, least: int) -> None:
    kind = catalog().object_class(name)
    assert (kind.min_days, kind.min_object_size) == (days, least)
    assert kind.retrieval_free == (days == 0)


def test_only_the_archive_of_azure_has_to_be_restored() -> None:
    # 15 hours at standard priority
    assert catalog().object_class("blob-archive").retrieval_seconds == 15 * 3600
    for name in ("blob-hot", "blob-cool", "blob-cold", "gcs-standard", "gcs-nearline", "gcs-coldline", "gcs-archive"):
        assert not catalog().object_class(name).retrieval_seconds, name


@pytest.mark.parametrize(
    ("name", "family"),
    [("Standard_L8s_v3", "Lsv3"), ("Standard_E112ibs_v5", "Eibsv5"), ("n2-standard-8", "n2"), ("i4i.large", "i4i")],
)  # fmt: skip
def test_an_instance_belongs_to_a_family(name: str, family: str) -> None:
    assert family_of(name) == family
