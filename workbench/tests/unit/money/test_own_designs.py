"""Own storage: its book, what capacity costs, how redundancy counts; and that no design has capacity for nothing."""

import datetime as dt
import itertools
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from assay.model.base import AssayError
from assay.model.money.catalog_entry import GIB
from assay.model.money.design import Design
from assay.model.money.price import PriceRow
from assay.model.money.use import Use
from assay.model.money.volumes import volume_limits
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.catalog import catalog
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import DESIGNS, Template, design_names, load_template
from assay.money.cost.limits import METRICS, design_limits
from assay.money.cost.sizing import is_sufficient
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise

OWN = [name for name in design_names() if load_template(name).build().provider == "own"]
ECB = Decimal("1.1411")
TOGETHER = {
    "layout": "the same disks, put together in another way",
    "copies": "the same disks, with more or less of the same data on them",
    "item": "how large an item is, the data say",
    "prefixes": "a bucket may have as many as one likes",
}
"""Parameters that change what can be held or done with the same things."""


def changes() -> Iterator[tuple[str, str, object]]:
    """Each other value of each parameter of each shipped design; of a count that scales the next one, too."""
    for name in design_names():
        for key, parameter in load_template(name).parameters.items():
            values = list(parameter.choices)
            if parameter.scale:
                values.append(parameter.value + 1)
            for value in values:
                if value != parameter.value:
                    yield name, key, value


def what_it_does(design: Design) -> tuple[object, ...]:
    limits = design_limits(design)
    rates = [(limits.sustained(metric), limits.burst(metric)) for metric in METRICS]
    return (limits.usable, *rates, design.durability)


def is_free(template: Template, key: str, value: object) -> bool | None:
    """Whether a value changes what a design holds or does for the same bill; None: with it nothing can be built."""
    before = template.build()
    try:
        after = template.build({key: value})
        differs = what_it_does(after) != what_it_does(before)
        return differs and make_bill(after) == make_bill(before)
    except AssayError:
        return None


@pytest.mark.parametrize(("name", "key", "value"), list(changes()))
def test_what_changes_capacity_or_rates_changes_the_bill_or_is_said_to_be_unpriced(
    name: str, key: str, value: object
) -> None:
    template = load_template(name)
    if is_free(template, key, value):
        said = template.build().unpriced
        assert key in said or key in TOGETHER, f"{name}: {key}={value} costs as much as {key} unchanged"


def test_most_choices_can_be_built_alone_and_free_capacity_is_found(tmp_path: Path) -> None:
    found = [is_free(load_template(name), key, value) for name, key, value in changes()]
    assert len(found) > 100 and sum(each is not None for each in found) > 0.8 * len(found)
    text = (DESIGNS / "own" / "aoe-rack.yaml").read_text()
    old = text.replace("disks: {value: 1TB,", "disks: {value: 1TB, choices: [1TB, 8TB],")
    (tmp_path / "rack.yaml").write_text(old.replace("  disks: the paper's price", "  watts: the paper's price"))
    rack = load_template(str(tmp_path / "rack.yaml"))
    assert is_free(rack, "disks", "8TB") and "disks" not in rack.build().unpriced
    assert is_free(rack, "servers", 4) is False


def test_the_disks_of_the_rack_are_said_to_be_unpriced_and_are_no_choice() -> None:
    template = load_template("aoe-rack")
    small, large = (template.build({"disks": size}) for size in ("1TB", "8TB"))
    assert make_bill(small) == make_bill(large) and design_limits(large).usable == 8 * design_limits(small).usable
    assert "larger" in small.unpriced["disks"] and template.parameters["disks"].choices == ()


@pytest.mark.parametrize("name", design_names())
def test_what_is_unpriced_is_a_parameter(name: str) -> None:
    template = load_template(name)
    assert set(template.build().unpriced) <= set(template.parameters)


@pytest.mark.parametrize(
    ("san", "price"), [("aoe-commodity-gb", 1), ("aoe-coraid-gb", 2), ("iscsi-gb", 3.5), ("fibre-channel-gb", 10)]
)
def test_storage_networks_cost_what_the_paper_says_for_each_gb(san: str, price: float) -> None:
    """AoE-2007, section 1: about 2 and 1 USD, 3.5 USD, and 10 USD at least; 2 TB for as little as 2,000 USD."""
    design = load_template("san-per-gb").build({"san": san})
    cost = price_bill(make_bill(design), load_book("own-hardware-2007"))
    assert design_limits(design).usable == 2 * 10**12
    assert float(cost.paid_after(1)) == 2000 * price


def rows(book: str) -> dict[tuple[str, str], PriceRow]:
    return {(row.dimension, row.item): row for row in load_book(book).rows}


def test_every_row_of_the_book_has_a_source_and_a_day() -> None:
    book = load_book("own-2026")
    assert not book.historic and book.currency == "USD"
    for row in book.rows:
        assert len(row.source) > 20 and row.date is not None and dt.date(2024, 1, 1) <= row.date
        assert row.note, f"{row.item}: nothing says what the price is of"


def test_euros_are_converted_at_the_rate_that_the_row_says() -> None:
    found = 0
    for row in load_book("own-2026").rows:
        euros = row.note.partition(" EUR")[0].rpartition(" ")[2].replace(",", "").strip()
        if "ECB rate of 1.1411 USD for 1 EUR of 2026-09-23" in row.note:
            assert row.price == Decimal(euros) * ECB, row.item
            found += 1
    assert found == 14


def test_parts_of_a_server_add_up() -> None:
    """The lists of parts that the notes give, in euros."""
    parts = {
        "storage-server-4u36": (4800, 749, 3000, 360, 900),
        "storage-server-4u36-100gbe": (4800, 749, 3000, 360, 1100),
        "ceph-server-4u36": (4800, 2891, 6000, 360, 900),
        "storage-server-2u12": (3800, 749, 3000, 360, 450),
        "storage-server-2u12-100gbe": (3800, 749, 3000, 360, 1100),
        "nvme-server-2u12": (4200, 2891, 4500, 360, 1100),
        "nvme-server-2u12-25gbe": (4200, 749, 3000, 360, 450),
        "nvme-server-1u4-25gbe": (4585, 749, 3000, 360, 450),
        "nvme-server-2u24": (3970, 9660, 18000, 360, 450, 1100),
        "metadata-server-1u": (4585, 749, 4500, 3200, 450),
        "server-1u": (4585, 749, 1500, 160, 450),
    }
    for item, euros in parts.items():
        row = rows("own-2026")["purchase", item]
        assert row.price == sum(euros) * ECB
        assert all(f"{each:,}" in row.note for each in euros)


@pytest.mark.parametrize("item", ["all-flash-array", "tape-library", "isilon-h500"])
def test_what_has_no_public_price_is_refused_by_its_name(item: str) -> None:
    with pytest.raises(AssayError, match=f"own-2026 has no price of purchase {item}"):
        load_book("own-2026").row("purchase", item)


def test_disks_are_bought_and_pay_for_capacity() -> None:
    book = load_book("own-2026")
    for groups in (1, 2, 3):
        design = load_template("own-nfs-server").build({"groups": groups})
        cost = price_bill(make_bill(design), book)
        # Ten disks of a group, two of parity: 8 x 24 TB.
        assert design_limits(design).usable == groups * 8 * 24 * 10**12
        bought = sum(charge.once for charge in cost.charges)
        server = Decimal("9538.4549") if groups == 1 else Decimal("11193.0499")
        assert bought == server + groups * 10 * Decimal("1079.99")


def test_a_month_of_own_storage_is_its_parts() -> None:
    """Purchase over five years, power with cooling, four units of rack."""
    design = load_template("own-nfs-server").build({"groups": 2, "admin_hours": 10})
    cost = price_bill(make_bill(design), load_book("own-2026"))
    bought = (Decimal("11193.0499") + 20 * Decimal("1079.99")) / 60
    power = Decimal("0.505") * 730 * Decimal("0.21703722") + Decimal("0.28") * 730 * Decimal("0.21703722")
    assert cost.month == pytest.approx(bought + power + 4 * Decimal("29.76") + 10 * Decimal("46.54"))


@pytest.mark.parametrize(("copies", "share", "writes"), [(3, 1 / 3, 1 / 3), ("4+2", 4 / 6, 4 / 6), ("1", 1.0, 1.0)])
def test_copies_and_codes_count_in_capacity_and_in_what_can_be_written(
    copies: object, share: float, writes: float
) -> None:
    if copies == "1":
        with pytest.raises(AssayError, match="is not a number of copies"):
            load_template("own-ceph").build({"copies": "1+"})
        return
    limits = design_limits(load_template("own-ceph").build({"nodes": 6, "disks": 24, "copies": copies}))
    # 15 % stay free.
    assert limits.usable == pytest.approx(6 * 24 * 24e12 * share * 0.85)
    # The disks bind before the four ports of each node.
    assert limits.sustained("read") == pytest.approx(6 * 24 * 285e6)
    assert limits.sustained("write") == pytest.approx(6 * 24 * 285e6 * writes)


@pytest.mark.parametrize(
    ("name", "values", "least"),
    [
        ("own-ceph", {"nodes": 5, "copies": "4+2"}, 6),
        ("own-ceph", {"nodes": 2, "copies": 3}, 3),
        ("own-minio", {"nodes": 3}, 4),
        ("aoe-rack", {"servers": 1}, 2),
    ],
)
def test_parts_lie_on_enough_nodes_to_lose_one(name: str, values: dict[str, object], least: int) -> None:
    with pytest.raises(AssayError, match="so that one of them can fail") as caught:
        design_limits(load_template(name).build(values))
    assert caught.value.hint.startswith(f"take at least {least},")
    key = next(iter(values))
    assert design_limits(load_template(name).build({**values, key: least})).usable > 0


@pytest.mark.parametrize("written", ["4+", "+2", "0+2", "4+0", "4-2", "many", "4+2+1"])
def test_what_is_no_code_is_refused(written: str) -> None:
    with pytest.raises(AssayError, match="is not a number of copies") as caught:
        load_template("own-ceph").build({"copies": written})
    assert "4+2" in caught.value.hint


def test_counts_may_be_products_of_whole_numbers_only() -> None:
    design = load_template("own-ceph").build({"nodes": 7, "disks": 36})
    assert {piece.item: piece.count for piece in design.hardware}["hdd-24TB"] == 7 * 36
    for nodes in ("seven", True, None, 2.5):
        with pytest.raises(AssayError, match="count"):
            load_template("own-ceph").build({"nodes": nodes})


def test_the_server_follows_from_the_disks_in_it() -> None:
    """Twelve disks fit a small server, with half the ports and height; a table of ranges says so."""
    for count in (1, 12, 13, 36):
        server = load_template("own-ceph").build({"disks": count}).hardware[0]
        expected = ["storage-server-2u12", 2, 2] if count <= 12 else ["ceph-server-4u36", 4, 4]
        assert [server.item, server.ports, server.rack_units] == expected
    for count in (37, True):
        with pytest.raises(AssayError, match="disks cannot be") as caught:
            load_template("own-ceph").build({"disks": count})
        assert caught.value.hint == "use one of: 1-12, 13-36"


def test_every_size_of_a_disk_or_drive_has_a_price_and_its_own_rate() -> None:
    book = rows("own-2026")
    for name in OWN:
        template = load_template(name)
        for key, kind in (("disk", "hdd"), ("drive", "nvme")):
            parameter = template.parameters.get(key)
            for size in parameter.choices if parameter is not None else ():
                assert ("purchase", f"{kind}-{size}") in book
                (piece,) = [each for each in template.build({key: size}).hardware if each.item == f"{kind}-{size}"]
                assert piece.read and piece.write and piece.write <= piece.read and piece.source


def test_disks_are_bought_for_the_rate_and_not_for_bytes_that_nobody_asked_for() -> None:
    """10 and 8 GB/s of 200 TB on BeeGFS: 90 disks of 12 TB do it; those of 24 TB cost three times as much for it."""
    rates = {"read": "10GB/s", "write": "8GB/s"}
    cheapest = advise(scratch(**rates), (load_book("own-2026"),))
    (best,) = [each for each in cheapest.options if each.label == cheapest.recommended[0]]
    assert best.set["disk"] == "12TB"
    targets, group = best.set["servers"] * best.set["groups"], best.set["group"]

    def share(group: int) -> float:
        """Of reading and writing at once; of writes two disks of each target hold parity."""
        return (10_000 / 243 + 8_000 / 243 * group / (group - 2)) / (targets * group)

    assert share(group) <= 0.9 < share(group - 1)


@pytest.mark.parametrize("capacity", ["20TB", "200TB", "1PB"])
@pytest.mark.parametrize("rates", [{}, {"read": "3GB/s"}, {"read": "10GB/s", "write": "8GB/s"}])
def test_advice_buys_the_cheapest_of_all_combinations(capacity: str, rates: dict[str, str]) -> None:
    """Each number of disks, size and network, with the fewest servers of full targets that suffice, one by one."""
    need, book = scratch(capacity=capacity, **rates), load_book("own-2026")
    answer = advise(need, (book,))
    (best,) = [each for each in answer.options if each.label == answer.recommended[0]]
    template, costs = load_template("own-beegfs"), []
    for groups, disk, gigabits in itertools.product((1, 2, 3), ("12TB", "22TB", "24TB"), (25, 100)):
        values = {"groups": groups, "disk": disk, "gigabits": gigabits}
        fits = (count for count in range(1, 100) if is_sufficient(template.limits({**values, "servers": count}), need))
        least = next(fits)
        for servers, group in itertools.product((least, least + 1, least + least % 2), range(4, 13)):
            values |= {"servers": servers, "group": group}
            if is_sufficient(template.limits(values), need):
                costs.append(price_bill(make_bill(template.build(values), Use(client_ports=0)), book).month)
    # Advice tries one and three targets of a server, not two.
    assert min(costs) <= best.price.month * (1 + Decimal("1e-9")) and best.price.month <= min(costs) * Decimal("1.01")


def test_random_bytes_take_the_nodes_that_their_operations_take() -> None:
    """4 GB/s in records of 8 KiB are 488,281 writes a second; 32 cores do 51,852 of them, 90 % of it expected."""
    random = {"access": "block", "profile": {"pattern": "random", "record": "8KiB"}, "data": "persistent"}
    need = scratch(**random, capacity="20TB", write="4GB/s", candidates=["own-ceph-flash"])
    answer = advise(need, (load_book("own-2026"),))
    (best,) = [each for each in answer.options if each.label == answer.recommended[0]]
    cores = next(cores for most, cores in ((6, 16), (12, 32), (24, 48)) if best.set["drives"] <= most)
    assert best.set["nodes"] == -(-488_281 // (0.9 * 77_778 * cores / 48))


def scratch(**asked: object) -> Need:
    need = {"need": "x", "access": "file", "capacity": "200TB", "data": "scratch", "months": 60, "book": "own-2026"}
    return Need.model_validate({**need, "candidates": ["own-beegfs"], **asked})


def test_a_design_file_that_was_changed_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    text = (DESIGNS / "own" / "own-ceph.yaml").read_text()
    for name in ("first", "second"):
        file.write_text(text.replace("design: own-ceph", f"design: {name}"))
        assert load_template(str(file)).name == name


def test_a_card_for_each_disk_lifts_the_rack_to_the_rate_of_its_disks() -> None:
    """AoE-2007, section 7: more cards, one for each disk; two buses of 100 MB/s bind then."""
    one, two = (design_limits(load_template("aoe-rack").build({"cards": count})) for count in (1, 2))
    assert [limits.binding_layer("read").layer for limits in (one, two)] == ["gigabit-card", "aoe-server"]  # type: ignore[union-attr]
    assert [limits.sustained("read") for limits in (one, two)] == [250e6, 400e6]
    assert [limits.sustained("write") for limits in (one, two)] == [125e6, 200e6]


def test_chassis_scale_to_what_the_paper_says() -> None:
    """PowerScale-2020, section 9.2: 63 chassis of 4 nodes, up to 5 GB/s each."""
    parameter = load_template("array-leased-link").parameters["chassis"]
    assert parameter.scale and parameter.max == 63 and 4 * 63 == 252
    values = {"chassis": 63, "links": 1, "link_rate": "10Tb/s"}
    limits = design_limits(load_template("array-leased-link").build(values))
    assert limits.sustained("read") == 63 * 5e9


def test_a_gateway_is_a_limit_only_if_stated() -> None:
    template = load_template("array-leased-link")
    assert "gateway" not in {layer.layer for layer in design_limits(template.build()).layers}
    bound = design_limits(template.build({"links": 2, "gateway": "10Gb/s"})).binding_layer("read")
    assert bound is not None and (bound.layer, bound.read) == ("gateway", 1.25e9)


def test_tape_keeps_every_cartridge_twice() -> None:
    limits = design_limits(load_template("own-tape").build({"cartridges": 40, "cartridge": "30TB", "drives": 2}))
    assert limits.usable == 40 * 30 * 10**12 // 2
    assert (limits.sustained("read"), limits.sustained("write")) == (800e6, 400e6)


@pytest.mark.parametrize("name", OWN)
def test_own_designs_say_whose_they_are_and_what_is_not_in_the_price(name: str) -> None:
    template = load_template(name)
    design = template.build()
    assert design.book in ("own-2026", "own-hardware-2007") or name == "array-leased-link"
    book = load_book(design.book) if design.book else None
    missing = []
    for line in make_bill(design).lines:
        try:
            assert book is not None
            book.row(line.dimension, line.item)
        except (AssayError, AssertionError):
            missing.append(line.item)
    if missing:
        assert any("book" in note.lower() for note in design.notes), f"{missing}: nothing says to bring a price"


def test_provisioned_iops_of_2012_follow_the_paper() -> None:
    """AWS-2012, section IX.A: 100 to 1000 IOPS, at most 10 for each GB."""
    kind = catalog().volume("io1-2012")
    assert [kind.limits(size * GIB, iops, None).iops_baseline for size, iops in ((10, 100), (100, 1000))] == [100, 1000]
    for size, iops in ((10, 101), (100, 1001), (50, 501), (100, 99)):
        with pytest.raises(AssayError, match="cannot have"):
            volume_limits(kind, size * GIB, iops, None)


def test_machines_of_the_paper_have_the_network_that_it_states() -> None:
    """PowerScale-2020, sections 2.3.1 and 5.3.1: 8 Gb/s and 2120 Mb/s."""
    rates = [catalog().instance(name).network_baseline for name in ("Standard_D16s_v3-2020", "m5a.4xlarge-2020")]
    assert rates == [1e9, 265e6]
