"""Own hardware is no larger than needed: disks of a server, disks of a RAID group, switches, memory; and its losses."""

import itertools
from contextlib import suppress

import pytest

from assay.model.base import AssayError
from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import DESIGNS, load_template
from assay.money.cost.limits import design_limits
from assay.money.cost.network_traffic import bought_switches, used_ports
from assay.money.cost.sizing import CapacityDemand, Sizing, is_sufficient
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise
from assay.rooms.advice.work.losses import yearly_loss

TB, MB = 10**12, 10**6
PARTIAL = [
    (name, key)
    for name in ("own-ceph", "own-ceph-flash", "own-minio", "own-nfs-server", "own-beegfs", "own-nfs-flash", "own-nas")
    for key, parameter in load_template(name).parameters.items()
    if parameter.partial
]


@pytest.mark.parametrize(("name", "key"), PARTIAL)
@pytest.mark.parametrize("capacity", [3 * TB, 40 * TB, 130 * TB, 700 * TB])
def test_what_need_not_be_full_has_the_fewest_that_suffice(name: str, key: str, capacity: int) -> None:
    template, demand = load_template(name), CapacityDemand(capacity, read=300 * MB)
    sizing, parameter = Sizing(template, demand), load_template(name).parameters[key]
    nodes = {"nodes": 16} if "nodes" in template.parameters else {}
    for choice in parameter.choices:
        full = {key: choice, **nodes}
        found = sizing.fewest(full)[key]
        if not is_sufficient(template.limits(full), demand):
            assert found == choice
            continue
        assert parameter.min <= found <= choice and found % parameter.step == 0
        assert is_sufficient(template.limits({**nodes, key: found}), demand)
        if found - parameter.step >= parameter.min:
            with suppress(AssayError):  # Three disks are no mirrored pairs.
                assert not is_sufficient(template.limits({**nodes, key: found - parameter.step}), demand)


def test_a_value_that_the_need_sets_stays() -> None:
    found = advise(ask("own-ceph", {"disks": [12], "nodes": [6]}, capacity="20TB"), (load_book("own-2026"),))
    assert {option.set["disks"] for option in found.options} == {12}


def test_disks_of_minio_are_whole_sets() -> None:
    """MinIO makes sets of 16 only if they divide the number of disks."""
    for capacity in ("50TB", "400TB", "3PB"):
        found = advise(ask("own-minio", {}, access="object", capacity=capacity), (load_book("own-2026"),))
        assert all(option.set["nodes"] * option.set["disks"] % 16 == 0 for option in found.options)


def ask(design: str, settings: dict[str, object], **changes: object) -> Need:
    need = {"need": "x", "access": "file", "data": "persistent", "months": 60, "book": "own-2026"}
    return Need.model_validate({**need, "candidates": [{"design": design, "set": settings}], **changes})


@pytest.mark.parametrize(
    ("nodes", "clients", "item", "count"),
    [
        (3, 0, "switch-25gbe-8", 2),  # 6 ports
        (4, 8, "switch-25gbe-8", 2),  # 16
        (4, 9, "switch-25gbe-16", 2),  # 17
        (8, 16, "switch-25gbe-16", 2),  # 32
        (8, 17, "switch-25gbe-48", 2),  # 33: a third switch would need links
    ],
)
def test_the_smallest_switches_that_suffice_are_bought(nodes: int, clients: int, item: str, count: int) -> None:
    design = load_template("own-ceph").build({"nodes": nodes, "disks": 12})
    found = bought_switches(design, clients)
    assert found is not None and (found[0].item, found[1]) == (item, count)
    lines = {line.what: line for line in make_bill(design, Use(client_ports=clients)).lines}
    assert lines[item].pieces == count and lines[f"power of {item}"].each == found[0].watts / 1000


def test_small_switches_have_all_ports_and_cost_less() -> None:
    book = load_book("own-2026")
    for name, clients in itertools.product(
        ("own-ceph", "own-beegfs", "own-minio", "own-beegfs-flash"), range(0, 60, 7)
    ):
        design = load_template(name).build()
        found = bought_switches(design, clients)
        assert found is not None and found[0].switch is not None
        piece, count = found
        assert piece.switch is not None and count * piece.switch.ports >= used_ports(design) + clients
        large = next(each for each in design.hardware if each.switch is not None)
        assert (book.row("purchase", piece.item).price or 0) * count <= (
            (book.row("purchase", large.item).price or 0) * max(large.count, -(-clients // 30) + 2)
        )


def test_an_office_gets_a_nas_of_eight_bays_without_rack_space() -> None:
    """132 TB of eight disks of 22 TB in RAID 6: (1,799.99 + 8 x 795.99) / 60 and 100 W."""
    need = ask("own-nas", {}, capacity="125TB", read="900MB/s", write="200MB/s", protocol="smb")
    found = advise(need, (load_book("own-2026"),))
    (best,) = [each for each in found.options if each.label == found.recommended[0]]
    assert best.set == {"disks": 8, "disk": "22TB"}
    watts = (28 + 8 * 9) / 1000 * 730 * 0.21703722
    assert float(best.price.month) == pytest.approx((1799.99 + 8 * 795.99) / 60 + watts)


def test_parity_of_a_group_takes_capacity_and_writes() -> None:
    limits = design_limits(load_template("own-nfs-server").build({"groups": 2, "group": 6, "disk": "12TB"}))
    assert limits.usable == 2 * 4 * 12 * TB
    assert (limits.sustained("read"), limits.sustained("write")) == (2 * 6 * 243e6, pytest.approx(2 * 4 * 243e6))
    with pytest.raises(AssayError, match="2 of hdd-12TB cannot hold 2 of parity and data"):
        load_template("own-nfs-server").build({"group": 2, "disk": "12TB"})


def test_servers_of_many_disks_cost_what_their_software_needs() -> None:
    """Ceph has the memory of its own list, others 128 GB."""
    book = load_book("own-2026")
    ceph, others = (book.row("purchase", item).price for item in ("ceph-server-4u36", "storage-server-4u36"))
    assert others is not None and ceph is not None and others < ceph
    for name, item in (("own-ceph", "ceph-server-4u36"), ("own-minio", "storage-server-4u36")):
        assert load_template(name).build({"disks": 36}).hardware[0].item == item


def test_one_drive_of_tape_says_what_it_costs_in_availability() -> None:
    one, two = (load_template("own-tape").build({"drives": count}) for count in (1, 2))
    assert any("one drive is repaired" in text for text in one.conditions)
    assert not any("one drive is repaired" in text for text in two.conditions)
    cost = price_bill(make_bill(one), load_book("own-2026"))
    assert float(cost.month) == pytest.approx(
        40 * 93.5 / 120 + (7699 + 770 + 3519) / 60 + 0.385 * 730 * 0.21703722 + 2 * 29.76
    )


@pytest.mark.parametrize(
    ("name", "values", "rate"),
    [
        # One mirrored pair: 2 p x p T, with T = 12 TB / 200 MB/s.
        ("own-nas", {"disks": 2, "disk": "12TB"}, 2 * 0.0157 * 0.0157 * 60_000 / 31_536_000),
        # Three groups of ten, two of parity each.
        (
            "own-nfs-server",
            {"groups": 3, "group": 10, "disk": "12TB"},
            3 * 10 * 9 * 8 * 0.0157**3 * (60_000 / 31_536_000) ** 2,
        ),
        # No parity: any of 24 drives.
        ("own-beegfs-flash", {"servers": 2, "drives": 12, "layout": "raid0"}, 24 * 0.0157),
    ],
)
def test_the_chance_to_lose_disks_follows_from_groups_and_the_time_to_rebuild(
    name: str, values: dict[str, object], rate: float
) -> None:
    loss = yearly_loss(load_template(name).build(values))
    assert loss is not None and loss.chance == pytest.approx(rate, rel=0.25 if rate > 0.1 else 1e-6)
    assert loss.chance < rate and "if they fail independently" in loss.text


def test_more_parity_loses_less_and_more_disks_lose_more() -> None:
    template = load_template("own-minio")
    chances = [
        yearly_loss(template.build({"nodes": nodes, "disks": 36, "copies": copies}))
        for nodes, copies in ((16, "12+4"), (16, "14+2"), (64, "14+2"))
    ]
    assert all(each is not None for each in chances)
    assert sorted(chances, key=lambda each: each.chance if each else 0) == chances


def test_a_chance_of_loss_that_the_need_bears_is_met() -> None:
    need = ask("own-minio", {}, access="object", capacity="30PB", durability="host", max_loss="5%")
    found = advise(need, (load_book("own-2026"),))
    (best,) = [each for each in found.options if each.label == found.recommended[0]]
    assert best.set["copies"] == "14+2" and any("chance of data loss 0." in each.text for each in found.reasons)


def test_tables_have_ranges(tmp_path) -> None:
    text = (DESIGNS / "own" / "own-ceph.yaml").read_text()
    (tmp_path / "own.yaml").write_text(text.replace("1-12: storage-server-2u12, 13-36:", "12: small, 1-36:"))
    template = load_template(str(tmp_path / "own.yaml"))
    items = [template.build({"disks": count}).hardware[0].item for count in (1, 12, 36)]
    assert items == ["ceph-server-4u36", "small", "ceph-server-4u36"]
