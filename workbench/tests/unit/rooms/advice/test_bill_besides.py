"""What a bill has besides the data: backups, whole terms, transitions to a colder class, watching what is used."""

from decimal import Decimal

import pytest
from advise_tools import NEEDS

from assay.model.base import AssayError
from assay.model.money.price import Bill, PriceBook
from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import load_template
from assay.money.cost.limits import design_limits
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise
from assay.rooms.advice.work.options import bill_difference
from assay.rooms.advice.work.outlook.reassess import Reassessment

CENT = Decimal("0.01")
GIB = Decimal(2**30)


def advised(design: str, books: str | PriceBook = "aws-us-east-1", **asked: object) -> Advice:
    """Advice on a need of which one design is the only candidate."""
    chosen = asked.pop("set", {})
    written = {"need": "x", "access": "file", "capacity": "40TB", "months": 1, **asked}
    need = Need.model_validate({**written, "candidates": [{"design": design, "set": chosen}]})
    return advise(need, [books] if isinstance(books, PriceBook) else [load_book(name, NEEDS) for name in books.split()])


def option(*args: object, **asked: object) -> AdviceOption:
    """The cheapest of it, whether it meets the need or not."""
    answer = advised(*args, **asked)
    found = [*answer.options, *answer.unproven, *(item.closest for item in answer.rejected if item.closest)]
    return min(found, key=lambda item: item.price.paid)


KEPT = Decimal(10) * 10**12 / GIB
"""GiB of 10 TB: 9,313.23; at 0.05 they cost 465.66."""


@pytest.mark.parametrize(
    ("design", "chosen"),
    [
        ("fsx-lustre-hdd", {}),
        ("fsx-lustre-persistent", {}),
        ("fsx-openzfs", {}),
        ("efs-bursting", {}),
        ("efs-one-zone", {}),
        ("fsx-ontap", {}),
        ("nfs-gp3", {}),
    ],
)
def test_backups_are_paid_for(design, chosen):
    plain, kept = (option(design, set=chosen, snapshots=size) for size in ("0B", "10TB"))
    assert kept.price.month - plain.price.month == pytest.approx(KEPT * Decimal("0.05"))
    assert kept.price.missing_prices == plain.price.missing_prices == ()


def test_backups_turn_the_price_of_the_issue():
    """72,000 GiB x 0.025 = 1,800.00; 9,313.23 GiB of backups x 0.05 = 465.66."""
    found = option("fsx-lustre-hdd", set={"capacity": "72000GiB"}, snapshots="10TB")
    assert found.price.month.quantize(CENT) == Decimal("2265.66")


@pytest.mark.parametrize(
    ("design", "book", "item"),
    [
        ("fsx-lustre-scratch", "aws-us-east-1", "fsx-lustre-scratch-2"),
        ("gcp-filestore-large", "gcp-us-central1", "filestore-basic-hdd-large"),
        ("nfs-dense", "aws-us-east-1", "nfs-dense"),
    ],
)
def test_what_has_no_backups_lacks_them(design, book, item):
    plain, kept = (option(design, book, snapshots=size) for size in ("0B", "10TB"))
    assert f"filesystem-backup {item}" in kept.price.missing_prices
    assert kept.price.paid == plain.price.paid


def test_versions_in_a_bucket_cost_as_much_as_the_rest():
    """50 TB in all, whichever part of them are older versions: 46,566.13 GiB, the first 51,200 at 0.023 = 1,071.02."""
    idle = {"access": "object", "monthly": {"read": "0B", "written": "0B"}, "set": {"class": "s3-standard"}}
    one, other = option("s3", capacity="40TB", snapshots="10TB", **idle), option("s3", capacity="50TB", **idle)
    # Only the data are uploaded at the beginning.
    kept, whole = (each.price.month - each.price.migration_cost for each in (one, other))
    assert kept == whole
    assert kept.quantize(CENT) == Decimal("1071.02")


def server(**row: object) -> PriceBook:
    """A server at 1.00 an hour, or on another term, and volumes at 0.10 a GB; a month has 730 hours."""
    machine = {"dimension": "instance", "item": "m5.4xlarge", "unit": "hour", "source": "test"}
    volume = {"dimension": "volume-capacity", "item": "gp3", "price": 0.1, "unit": "GB-month", "source": "test"}
    about = {"book": "terms", "provider": "aws", "region": "us-east-1", "date": "2026-11-01", "historic": True}
    rows = [machine | {"price": 1}, machine | row, volume]
    return PriceBook.model_validate({**about, "currency": "USD", "hours_per_month": 730, "about": "test", "rows": rows})


HOME = {"capacity": "10TB", "set": {"instance": "m5.4xlarge", "volume": "gp3", "capacity": "10TB"}}
PARTLY = {"term": "reserved-1y", "payment": "partial-upfront", "upfront": 100, "price": "0.1"}
NOTHING = {"term": "reserved-3y", "payment": "no-upfront", "price": "0.2"}


@pytest.mark.parametrize(
    ("row", "months", "owed"),
    [
        # 100 + 12 months x 73.00 + 1 month of volumes, 1,000.00
        (PARTLY, 1, "1976"),
        # 2 x 100 + 24 x 73.00 + 13 x 1,000.00
        (PARTLY, 13, "14952"),
        # 36 x 146.00 + 12 x 1,000.00
        (NOTHING, 12, "17256"),
        # 36 x 146.00 + 36 x 1,000.00: whole terms, nothing more
        (NOTHING, 36, "41256"),
    ],
)
def test_a_commitment_is_owed_to_its_end(row, months, owed):
    found = option("nfs-volumes", server(**row), term=row["term"], months=months, **HOME)
    assert found.price.paid == Decimal(owed)


def test_a_month_is_not_worth_a_commitment():
    """On demand 730.00 + 1,000.00 = 1,730.00, reserved 1,976.00; of 12 months 20,760.00 and 12,976.00."""
    short, long = (option("nfs-volumes", server(**PARTLY), months=months, **HOME) for months in (1, 12))
    assert (short.price.term, short.price.paid) == ("on-demand", Decimal(1730))
    assert (long.price.term, long.price.paid) == ("reserved-1y", Decimal(12976))


def test_what_is_owed_later_is_worth_less():
    """Of one month: 100 + 73.00 x sum of 1.21^(-i/12), i = 1 to 12, + 1,000.00 x 1.21^(-1/12)."""
    found = option("nfs-volumes", server(**PARTLY), term="reserved-1y", discount="21%", months=1, **HOME)
    each = [1.21 ** (-month / 12) for month in range(1, 13)]
    assert float(found.price.present_value) == pytest.approx(100 + 73 * sum(each) + 1000 * each[0])


def test_what_is_paid_is_not_what_is_owed():
    """After one month 100 + 73.00 + 1,000.00 are paid, as `assay price` says."""
    bill = make_bill(load_template("nfs-volumes").build(HOME["set"]))
    cost = price_bill(bill, server(**PARTLY), "reserved-1y")
    assert (cost.paid_after(1), cost.committed_cost(1)) == (Decimal(1173), Decimal(1976))


def test_the_parts_of_a_price_are_all_that_is_owed():
    """Of 1,976.00 the server is 100 + 12 x 73.00 = 976.00: a fifth more of it are 195.20, and 2,171.20 in all."""
    book = server(**PARTLY)
    answer = advised("nfs-volumes", book, term="reserved-1y", months=1, budget="2100 USD/month", **HOME)
    (found,) = [item for item in answer.changes if item.text.startswith("if instance m5.4xlarge (reserved-1y) cost")]
    assert found.at == Decimal("1.2") and "2,171.20 USD a month" in found.text
    again = Reassessment(answer, book)
    parts = again.parts(again.base_answer["nfs-volumes"].variant)
    assert [paid for paid, _ in parts.values()] == [Decimal(976), Decimal(1000)]


def book_of(provider: str, *rows: tuple[str, str, object, str]) -> PriceBook:
    """Plain prices: dimension, item, price and unit."""
    about = {"book": f"plain-{provider}", "provider": provider, "region": "here", "date": "2026-11-01"}
    keys = ("dimension", "item", "price", "unit")
    named = [{**dict(zip(keys, row, strict=True)), "source": "test"} for row in rows]
    return PriceBook.model_validate(
        {**about, "historic": True, "currency": "USD", "hours_per_month": 730, "about": "test", "rows": named}
    )


def bought_or_rented(price: int, months: int) -> Advice:
    """Hardware for 60 months with ten disks of 100, and nothing besides; or 96,000 GiB x 0.01 = 960.00 a month."""
    machine = ("purchase", "storage-server-2u12", price - 1000, "piece")
    own = book_of("own", machine, ("purchase", "hdd-24TB", 100, "piece"), ("power", "electricity", 0, "kWh"))
    aws = book_of("aws", ("filesystem-capacity", "fsx-lustre-persistent-hdd-12", "0.01", "GiB-month"))
    chosen = [
        {"design": "own-nfs-server", "set": {"groups": 1, "disk": "24TB"}},
        {"design": "fsx-lustre-hdd", "set": {"type": "fsx-lustre-persistent-hdd-12", "capacity": "96000GiB"}},
    ]
    need = {"need": "x", "access": "file", "capacity": "90TB", "months": months, "candidates": chosen}
    return advise(Need.model_validate(need), [own, aws])


HAS = "{} {} has cost less in total than {}, rented{}; it is needed for {} months"


@pytest.mark.parametrize(
    ("price", "months", "first", "until", "left"),
    [
        # 50 x 960 = 48,000; in month 61 96,000 against 58,560
        (48_000, 36, "from month 50 on", ", until the hardware must be bought again after month 60", 24),
        # 60 x 960 = 57,600; in month 61 115,200 against 58,560
        (57_600, 60, "after month 60 only", ": then the hardware must be bought again", 0),
        # 25 x 960 = 24,000; in month 61 48,000 against 58,560, in month 121 72,000 against 116,160
        (24_000, 61, "from month 25 on", "", 59),
    ],
)
def test_what_is_bought_is_bought_anew(price, months, first, until, left):
    answer = bought_or_rented(price, months)
    own, rented = (
        next(item.label for item in answer.options if item.price.is_purchased is bought) for bought in (True, False)
    )
    told = {item.rule: item.text for item in answer.reasons}
    assert told["break_even"] == HAS.format(first, own, rented, until, months)
    whole = f"the hardware of {own} is paid in full; it could be used for {left} months more"
    assert told.get("paid_whole") == (whole if left else None)


def test_what_is_bought_may_never_pay():
    """100,000 for each 60 months, which cost 57,600 rented."""
    (text,) = [item.text for item in bought_or_rented(100_000, 36).reasons if item.rule == "break_even"]
    assert "never costs less in total" in text


def colder(design: str, book: str | PriceBook, **asked: object) -> AdviceOption:
    """A bucket of 100 TB with 80 % in a colder class, to which 10 TB are written in a month, in objects of 1 MB."""
    written = {"access": "object", "capacity": "100TB", "active": "20%", "profile": {"record": "1MB"}, **asked}
    return advised(design, book, **{"monthly": {"read": "0B", "written": "10TB"}, **written}).options[0]


@pytest.mark.parametrize(
    ("design", "book", "stays", "chosen", "moves", "first"),
    [
        # 10 million objects x 80 % x 0.01 / 1000; once 100 million x 80 % x 0.01 / 1000
        (
            "s3-tiered",
            "aws-us-east-1",
            "s3-standard",
            {"hot_class": "s3-standard", "cold_class": "s3-standard-ia"},
            "80",
            "800",
        ),
        # 8 million x 0.02 / 1000
        (
            "s3-tiered",
            "aws-us-east-1",
            "s3-standard",
            {"hot_class": "s3-standard", "cold_class": "s3-glacier-instant"},
            "160",
            "1600",
        ),
        # 8 million x 0.05 / 1000: a class A request of the archive class
        (
            "gcs-lifecycle",
            "gcp-us-central1",
            "gcs-standard",
            {"cold": "gcs-archive"},
            "400",
            "4000",
        ),
        # 8 million x 0.1 / 10,000: a write operation of the cool tier
        ("azure-blob-lifecycle", "azure-westeurope", "blob-hot", {"hot": "blob-hot", "cold": "blob-cool"}, "80", "800"),
    ],
)
def test_moves_to_a_colder_class_are_requests(design, book, stays, chosen, moves, first):
    chosen = {**chosen, "cold_share": "80%"}
    found = colder(design, book, set=chosen)
    assert not found.price.missing_prices
    price = {(row.dimension, row.item): row for row in load_book(book, NEEDS).rows}
    put = price["object-requests", f"{stays}/put"].cost(Decimal(10_000_000))
    idle = colder(design, book, set=chosen, monthly={"read": "0B", "written": "0B"})
    assert found.price.month - idle.price.month - put == Decimal(moves)
    assert found.price.migration_cost == idle.price.migration_cost == 10 * put + Decimal(first)


def test_the_bills_that_cost_more_are_compared_by_what_is_sold():
    """What 50 million objects of 20 kB save by a colder class, their requests cost several times.

    1 TB = 931.32 GiB x (0.02 - 0.01) are 9.31 less; 50 million PUTs, and those of each month, at 0.01 for 1000
    instead of 0.005 are 250 more for each.
    """
    small = {"access": "object", "capacity": "1TB", "profile": {"record": "20kB"}}
    found = advised("gcs", "gcp-us-central1", **small, monthly={"read": "0B", "written": "1TB"})
    (text,) = [item.text for item in found.reasons if item.about == "colder"]
    assert text == "gcs class=gcs-nearline stored=1TB: capacity 9.31 USD less, requests 500.00 USD more"
    large = advised("gcs", "gcp-us-central1", **{**small, "profile": {"record": "1GB"}}, monthly={"read": "4TB"})
    (text,) = [item.text for item in large.reasons if item.about == "colder"]
    assert "retrieval" in text and "requests" not in text
    other = [line for line in large.reasons if "of the price is for" in line.text]
    assert not other, "the parts of the price have a line of their own"


def test_a_bill_that_is_more_throughout_is_not_split():
    one, two = (option("fsx-windows-hdd", capacity=size).price for size in ("40TB", "80TB"))
    assert bill_difference(one, two) == bill_difference(one, one) == ""


LOGS = {
    "access": "object",
    "capacity": "10TB",
    "monthly": {"read": "0B", "written": "0B"},
    "profile": {"record": "50MB"},
    "where": {"providers": ["aws"]},
}


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        # 4 TB = 3,725.29 GiB x 0.004 + 6 TB = 5,587.94 GiB x 0.00099 are 20.44 a month; all in Deep Archive 9.22.
        ({"active": "40%", "recovery": "24h"}, "s3-tiered hot_class=s3-glacier-instant cold_class=s3-deep-archive"),
        ({"active": "100%", "recovery": "24h"}, "s3 class=s3-glacier-instant"),
        # A backup states no share that is in use.
        ({"recovery": "24h"}, "s3-archive class=s3-deep-archive"),
        # Nothing may be waited for.
        ({"active": "40%"}, "s3 class=s3-glacier-instant"),
        ({"active": "40%", "profile": {"record": "50MB", "cold": True}}, "s3-archive class=s3-deep-archive"),
        # 10 TB a month of the 4 TB in use: to restore them each time is no use, and Glacier Instant asks 0.03 a GiB.
        (
            {
                "active": "40%",
                "profile": {"record": "50MB", "cold": True},
                "monthly": {"read": "10TB", "written": "0B"},
            },
            "s3-tiered hot_class=s3-standard cold_class=s3-deep-archive",
        ),
    ],
)
def test_what_is_in_use_is_not_restored_first(asked, label):
    found = advise(Need.model_validate({"need": "logs", **LOGS, **asked}), [load_book("aws-us-east-1")])
    assert found.choice.label.startswith(label)


def test_tape_holds_nothing_that_is_in_use():
    for active, fails in (("40%", True), ("0%", False)):
        asked = LOGS | {"access": "file", "where": {}, "active": active, "recovery": "24h", "candidates": ["own-tape"]}
        found = advise(Need.model_validate({"need": "logs", **asked}), [load_book("own-2026")])
        checks = [check.rule for item in found.rejected for check in item.failed_checks]
        assert ("tape_waits" in checks) == fails


@pytest.mark.parametrize("hot", ["s3-standard-ia", "s3-glacier-instant"])
def test_a_rule_moves_to_colder_classes_only(hot):
    with pytest.raises(AssayError, match=f"no rule moves objects from {hot} to s3-standard-ia"):
        design_limits(load_template("s3-tiered").build({"hot_class": hot, "cold_class": "s3-standard-ia"}))


def test_moves_without_a_price_are_lacking():
    """A book that has no price of them."""
    whole = load_book("aws-eu-west-1").model_dump(exclude_defaults=True)
    rows = [row for row in whole["rows"] if row["item"] != "s3-standard-ia/transition"]
    without = PriceBook.model_validate({**whole, "rows": rows})
    found = colder(
        "s3-tiered", without, set={"hot_class": "s3-standard", "cold_class": "s3-standard-ia", "cold_share": "80%"}
    )
    assert found.price.missing_prices == ("object-requests s3-standard-ia/transition",)


def test_moves_to_infrequent_access_are_paid_by_the_byte():
    """EFS: 5 TB = 4,656.61 GiB written x 95 % x 0.01 = 44.24; of 500 TB once 442,378.40 GiB x 0.01 = 4,423.78."""
    rare = {"capacity": "500TB", "active": "5%", "set": {"infrequent": "95%"}}
    answers = [advised("efs-bursting", monthly={"read": "0B", "written": size}, **rare) for size in ("5TB", "0B")]
    found, idle = (answer.options[0].price for answer in answers)
    assert (found.month - idle.month).quantize(CENT) == Decimal("44.24")
    assert found.migration_cost.quantize(CENT) == idle.migration_cost.quantize(CENT) == Decimal("4423.78")
    (text,) = [item.text for item in answers[0].reasons if item.rule == "first_upload"]
    assert text == "4,423.78 USD of it is the one-time cost of writing 500 TB that must be stored first"


def test_watching_what_is_used_is_paid_for():
    """FSx Intelligent-Tiering of 500 TB = 465,661.29 GiB.

    23,283.06 GiB x 0.023 + 442,378.22 GiB x 0.0125 = 6,065.24; watching 465,661.29 GiB x 0.0006 = 279.40;
    4,000 MB/s x 0.52 = 2,080.00. Once 476,837,159 requests of 1 MiB x 0.005 / 1000 = 2,384.19.
    """
    chosen = {"throughput": "4000MB/s", "infrequent": "95%", "stored": "500TB"}
    idle = {"read": "0B", "written": "0B"}
    found = option("fsx-lustre-intelligent-tiering", capacity="500TB", active="5%", set=chosen, monthly=idle)
    assert (found.price.month - found.price.migration_cost).quantize(CENT) == Decimal("8424.64")
    assert found.price.migration_cost.quantize(CENT) == Decimal("2384.19")
    assert not found.price.missing_prices


def test_the_lines_of_a_bill_are_all_of_its_price() -> None:
    # Of 6 months on a reservation of 12 without upfront the whole term is owed; each line says its part of that.
    need = Need.model_validate(
        {
            "need": "x",
            "access": "file",
            "capacity": "5TB",
            "months": 6,
            "term": "reserved-1y",
            "candidates": ["nfs-gcp-hyperdisk"],
        }
    )
    advice = advise(need, load_book("gcp-us-central1"))
    price = (*advice.options, *advice.unproven)[0].price
    assert (price.term, price.payment) == ("reserved-1y", "no-upfront")
    assert abs(sum(line.month for line in price.lines) - price.month) < Decimal("0.000001")


def test_an_archive_must_be_restored_before_it_is_read():
    """A million objects: 1,000 x 0.05 and 1,000 x 0.10 to restore, besides 1,000 x 0.0004 to read them."""
    for name, each in (("s3-glacier-flexible", "0.05"), ("s3-deep-archive", "0.1")):
        design = load_template("s3-archive").build({"class": name})
        lines = {line.item: line for line in make_bill(design, Use(gets=Decimal(10**6))).lines}
        book = load_book("aws-us-east-1")
        cost = price_bill(Bill(lines=(lines[f"{name}/restore"], lines[f"{name}/get"])), book)
        assert cost.month == 1000 * (Decimal(each) + Decimal("0.0004"))


def test_what_names_an_archived_object_is_kept_at_the_standard_price():
    """1 TiB in objects of 1 MiB: 32 KiB each with the data, 8 KiB each at 0.023: 1,056 and 8 GiB (S3 user guide)."""
    design = load_template("s3-archive").build({"class": "s3-deep-archive", "stored": "1TiB"})
    lines = {line.item: line.each for line in make_bill(design, Use(object_size=2**20)).lines}
    assert lines == {"s3-deep-archive": 1056 * GIB, "s3-standard": 8 * GIB}


@pytest.mark.parametrize(
    ("design", "asked", "text"),
    [
        # 10 TB are 9,313.23 GiB x 0.05
        (
            "fsx-windows-hdd",
            {},
            "backups are not in the price: one of all 10 TB is 465.66 USD a month at 0.05 USD/GiB-month",
        ),
        (
            "nfs-gp3",
            {"tax": "10%"},
            "snapshots are not in the price: one of all 10 TB is 512.23 USD a month",
        ),
        ("fsx-windows-hdd", {"snapshots": "1TB"}, ""),
        ("fsx-windows-hdd", {"archive": True}, ""),
        ("fsx-windows-hdd", {"data": "scratch"}, ""),
        ("s3", {"access": "object"}, ""),
    ],
)
def test_backups_that_nobody_asked_for_are_said_to_be_missing(design, asked, text):
    found = option(design, capacity="10TB", **asked)
    assert [each for each in found.conditions if "not in the price: one of all" in each] == ([text] if text else [])


def test_own_hardware_keeps_its_snapshots_itself():
    """Two groups of 192 TB hold 100 TB and as much of snapshots, which is no copy elsewhere; one is too small."""
    only = {"set": {"groups": [1, 2]}, "capacity": "100TB"}
    plain, kept = (option("own-nfs-server", "own-2026", snapshots=size, **only) for size in ("0B", "100TB"))
    assert (plain.set["groups"], kept.set["groups"]) == (1, 2) and not kept.price.missing_prices
    (check,) = [check for check in kept.checks if check.requirement == "capacity"]
    assert "200 TB are needed, 100 TB of it for snapshots" in check.text
    assert "100 TB of snapshots are kept on the same hardware" in str(kept.conditions)
