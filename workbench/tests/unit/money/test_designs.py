"""Every shipped design: its file, every choice of its parameters, and what follows from it."""

import itertools
import random
from decimal import Decimal
from pathlib import Path

import pytest

from assay.model.base import AssayError
from assay.model.money.catalog import EfsType
from assay.model.money.design import DURABILITIES
from assay.model.money.price import Bill, PriceBook
from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.catalog import catalog
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import Template, design_names, load_template
from assay.money.cost.limits import design_limits

OF_AZURE = {"azure-files", "netapp-files", "blob", "managed-lustre"}
OF_GCP = {"filestore", "parallelstore", "managed-lustre", "netapp-volumes", "gcs"}
BOOKS = {
    "aws": ("aws-us-east-1", "aws-eu-west-1"), "azure": ("azure-eastus", "azure-westeurope"),
    "gcp": ("gcp-us-central1", "gcp-europe-west1"),
}  # fmt: skip

SAMPLE = 300
BRING_A_PRICE = {"array-leased-link", "own-flash-array", "own-tape-library"}
"""Designs with a part that no shipped book prices."""
SEED = 6

EXAMPLE_BOOK = """\
book: example
provider: own
region: example
date: 2026-11-01
currency: USD
hours_per_month: 730
rows:
  - {dimension: purchase, item: isilon-h500, price: 100000, unit: piece, source: made up for the test}
  - {dimension: purchase, item: all-flash-array, price: 200000, unit: piece, source: made up for the test}
  - {dimension: purchase, item: tape-library, price: 20000, unit: piece, source: made up for the test}
  - {dimension: rack, item: rack, price: 30, unit: U-month, source: made up for the test}
  - {dimension: power, item: electricity, price: 0.2, unit: kWh, source: made up for the test}
  - {dimension: port, item: direct-connect-10g, price: 2.25, unit: hour, source: made up for the test}
"""


def combinations(template: Template) -> list[dict[str, object]]:
    """All combinations of the choices, or a sample of a seed."""
    axes = {key: one.choices or (one.value,) for key, one in template.parameters.items()}
    if "copies" in axes and "nodes" in axes:
        axes["nodes"] = (16,)  # Each part of an erasure code is on a node of its own.
    every = [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]
    return every if len(every) <= SAMPLE else random.Random(SEED).sample(every, SAMPLE)


def test_each_kind_of_the_papers_and_of_the_cloud_has_a_design() -> None:
    kinds = {load_template(name).build().family for name in design_names()}
    of_aws = {"nfs", "beegfs", "orangefs", "efs", "fsx-lustre", "s3", "dynamodb", "aoe", "direct", "array"}
    of_aws |= {"fsx-openzfs", "fsx-ontap", "fsx-windows"}
    own = {"ceph", "minio", "tape", "san"}
    assert kinds >= of_aws | OF_AZURE | OF_GCP | own


@pytest.mark.parametrize("name", design_names())
def test_every_choice_gives_a_bill_limits_and_capacity_or_one_clear_error(name: str) -> None:
    template = load_template(name)
    assert template.name == name
    possible = 0
    every = combinations(template)
    for values in every:
        try:
            design = template.build(values)
            bill, limits = make_bill(design), design_limits(design)
        except AssayError as error:
            assert error.message and "\n" not in error.message and error.hint
            continue
        possible += 1
        assert bill.lines and limits.usable > 0 and limits.how_usable
        for metric in ("read", "write", "read_iops", "write_iops"):
            keeps, burst = limits.sustained(metric), limits.burst(metric)
            assert keeps is None or keeps > 0
            assert burst is None or (keeps is not None and burst[0] > keeps)
    assert possible >= len(every) * 0.6, "most choices can be built; a rule moves to colder classes only"


@pytest.mark.parametrize("name", design_names())
def test_every_design_says_what_it_is_and_where_that_comes_from(name: str) -> None:
    template = load_template(name)
    design = template.build()
    assert design.about and design.sources and design.failure_domain and design.durability in DURABILITIES
    assert all(parameter.about for parameter in template.parameters.values())
    for key, parameter in template.parameters.items():
        if parameter.partial:
            assert parameter.min <= parameter.value <= max(parameter.choices), key
        elif parameter.choices and isinstance(parameter.value, int):
            assert parameter.value in parameter.choices, key


@pytest.mark.parametrize("name", design_names())
def test_every_design_has_a_price_in_its_book(name: str, tmp_path: Path) -> None:
    design = load_template(name).build()
    book = load_book(design.book or "aws-us-east-1")
    if name in BRING_A_PRICE:
        assert any("Give a book" in note or "give a book" in note for note in design.notes)
        own = tmp_path / "example.yaml"
        own.write_text(EXAMPLE_BOOK)
        known = {row.key for row in load_book(str(own)).rows}
        rows = (*load_book(str(own)).rows, *(row for row in load_book("own-2026").rows if row.key not in known))
        book = book.model_copy(update={"rows": rows})
        book = PriceBook.model_validate(book.model_dump())
    cost = price_bill(make_bill(design), book)
    assert cost.month > 0
    assert cost.year == pytest.approx(12 * cost.month)


@pytest.mark.parametrize("provider", BOOKS)
def test_the_instances_to_choose_from_have_prices_in_both_regions(provider: str) -> None:
    templates = [load_template(name) for name in design_names()]
    names = {
        value
        for template in templates
        for key, parameter in template.parameters.items()
        if key in ("instance", "metadata") and (template.provider or "aws") == provider
        for value in (*parameter.choices, parameter.value)
    }
    assert len(names) >= 5
    for book, name in itertools.product((load_book(name) for name in BOOKS[provider]), sorted(names)):
        assert (book.row("instance", name).price or 0) > 0


def test_copies_halve_capacity_and_what_can_be_written() -> None:
    plain, mirrored = (
        design_limits(load_template(name).build({"servers": 4})) for name in ("beegfs", "beegfs-mirrored")
    )
    assert mirrored.usable == plain.usable // 2
    assert mirrored.sustained("read") == plain.sustained("read")
    assert mirrored.sustained("write") == pytest.approx((plain.sustained("write") or 0) / 2)


def test_one_server_cannot_hold_two_copies() -> None:
    with pytest.raises(AssayError, match="1 servers cannot hold 2 copies"):
        design_limits(load_template("beegfs-mirrored").build({"servers": 1}))


@pytest.mark.parametrize(
    ("layout", "disks", "message"),
    [("raid10", "i4i.4xlarge", "1 disks cannot form raid10"), ("raid10", "d3.xlarge", "3 disks"),
     ("raid6", "d3.xlarge", "3 disks cannot form raid6"), ("raid5", "i3en.3xlarge", "1 disks")],
)  # fmt: skip
def test_too_few_disks_for_a_layout_are_refused(layout: str, disks: str, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        design_limits(load_template("direct-disks").build({"instance": disks, "layout": layout}))


def test_direct_disks_are_not_bound_by_the_network() -> None:
    volumes = {"instance": "m5.4xlarge", "capacity": "10TB", "volumes": 8}
    direct = design_limits(load_template("direct-volumes").build(volumes))
    served = design_limits(load_template("nfs-volumes").build(volumes))
    assert not any(layer.layer.startswith("network") for layer in direct.layers)
    assert any(layer.layer.startswith("network") for layer in served.layers)
    assert direct.usable == served.usable


def test_an_array_is_bound_by_its_link_until_there_are_enough_lines() -> None:
    template = load_template("array-leased-link")
    one, four = (design_limits(template.build({"links": count})) for count in (1, 4))
    binding = one.binding_layer("read")
    assert binding is not None and binding.layer == "leased link"
    assert one.sustained("read") == 1.25e9
    assert four.sustained("read") == 5e9
    assert one.usable == 178 * 10**12


def test_own_hardware_is_paid_once_and_spread_over_its_years() -> None:
    design = load_template("aoe-rack").build({"servers": 2, "years": 4})
    cost = price_bill(make_bill(design), load_book("own-hardware-2007"))
    whole = 2 * 1500 + 1899 + 2 * Decimal("16.83")
    assert cost.paid_after(1) == cost.paid_after(48) == whole
    assert cost.month == pytest.approx(whole / 48)
    limits = design_limits(design)
    assert (limits.sustained("read"), limits.sustained("write")) == (250e6, 125e6)
    assert limits.usable == 10**12


@pytest.mark.parametrize(("years", "months"), [("0.25", 3), (2.5, 30), (50, 600)])
def test_hardware_is_used_for_whole_months(years: object, months: int) -> None:
    cost = price_bill(make_bill(load_template("aoe-rack").build({"years": years})), load_book("own-hardware-2007"))
    assert {charge.once_months for charge in cost.charges if charge.once} == {months}


@pytest.mark.parametrize("years", [0.05, 2.99, 0, -1, 51, "1e999999", "abc", True])
def test_other_years_of_hardware_are_refused(years: object) -> None:
    with pytest.raises(AssayError, match="years") as caught:
        load_template("aoe-rack").build({"years": years})
    assert caught.value.hint


def test_a_line_of_other_years_is_refused() -> None:
    bill = make_bill(load_template("aoe-rack").build())
    lines = tuple(line.model_copy(update={"years": Decimal("0.05")}) for line in bill.lines)
    with pytest.raises(AssayError, match=r"0\.05 years is not a whole number of months"):
        price_bill(Bill(lines=lines), load_book("own-hardware-2007"))


@pytest.mark.parametrize("capacity", ["10TB", "7TB", "12TiB"])
def test_the_hint_of_a_layout_leads_to_a_design(capacity: str) -> None:
    template = load_template("nfs-volumes")
    with pytest.raises(AssayError) as caught:
        design_limits(template.build({"volumes": 3, "layout": "raid10", "capacity": capacity}))
    counts = [int(word) for word in caught.value.hint.split() if word.isdigit()]
    assert counts
    for count in counts:
        design = template.build({"volumes": count, "layout": "raid10", "capacity": capacity})
        assert design_limits(design).usable > 0 and make_bill(design).lines


def test_the_hint_of_a_capacity_leads_to_a_design() -> None:
    template = load_template("nfs-volumes")
    with pytest.raises(AssayError, match="8TB cannot be split evenly into 3 volumes") as caught:
        make_bill(template.build({"volumes": 3, "capacity": "8TB"}))
    assert caught.value.hint.endswith("such as 6TB or 9TB")


def test_rarely_used_bytes_of_efs_have_the_price_of_their_zones() -> None:
    book = load_book("aws-us-east-1")
    for name, items in (
        ("efs-bursting", {"efs-standard", "efs-ia"}),
        ("efs-one-zone", {"efs-one-zone", "efs-one-zone-ia"}),
    ):
        bill = make_bill(load_template(name).build({"infrequent": "50%"}))
        assert {line.item for line in bill.lines} == items
        assert price_bill(bill, book).month > 0


def test_services_are_billed_by_use() -> None:
    use = Use(
        puts=Decimal(10**6), gets=Decimal(10**7), retrieved=2**40, written=2**40, table_reads=Decimal(10**9),
        table_writes=Decimal(10**8), egress=2 * 2**40,
    )  # fmt: skip
    book = load_book("aws-us-east-1")
    expected = {
        "s3": Decimal(1000) * Decimal("0.005") + Decimal(10**4) * Decimal("0.0004"),
        "efs-elastic": 1024 * (Decimal("0.03") + Decimal("0.06")),
        "dynamodb-on-demand": 1000 * Decimal("0.125") + 100 * Decimal("0.625"),
    }
    egress = (2048 - 100) * Decimal("0.09")
    for name, used in expected.items():
        design = load_template(name).build()
        without, with_use = price_bill(make_bill(design), book).month, price_bill(make_bill(design, use), book).month
        assert with_use - without == used + egress, name


def test_the_papers_node_types_are_in_the_catalogue() -> None:
    for name, values in (
        ("beegfs", {"instance": "c3.8xlarge", "servers": 8, "metadata": "c3.large"}),
        ("orangefs", {"instance": "m1.medium", "nodes": 64}),
        ("nfs-instance-store", {"instance": "d2.8xlarge"}),
    ):
        assert design_limits(load_template(name).build(values)).usable > 0
    kind = catalog().filesystem("efs-bursting-2020")
    assert isinstance(kind, EfsType) and kind.read_factor == 1


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "1: the file is empty", "give the path of a design"),
        ("design: x\nhost: $x\n", " `$x` is used, but not a parameter", "add `x` to `parameters`"),
    ],
)
def test_a_file_that_cannot_be_a_design_has_a_hint_for_designs(
    text: str, message: str, hint: str, tmp_path: Path
) -> None:
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(AssayError) as refused:
        load_template("own.yaml", tmp_path)
    assert (refused.value.message, refused.value.hint) == (f"own.yaml:{message}", hint)
