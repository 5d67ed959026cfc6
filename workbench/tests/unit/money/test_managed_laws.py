"""Laws of managed services that bound one thing by another, designs on volumes, and spot rows with an open share.

Figures of AWS are those of its guides: performance.html of Windows and ONTAP, performance-ssd.html of OpenZFS.
"""

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from assay.model.base import AssayError
from assay.model.money.managed import CountLaw, RateLaw
from assay.model.money.price import PriceRow
from assay.model.units import parse_size
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.catalog import catalog
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import load_template
from assay.money.cost.limits import Limits, design_limits
from assay.money.cost.sizing import CapacityDemand, Sizing
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise
from assay.rooms.advice.work.provisioned import provisioned_rates

MIB, MB, GIB, TIB = 2**20, 10**6, 2**30, 2**40


def limits(name: str, **values: Any) -> Limits:
    """Of a shipped design with these values."""
    return design_limits(load_template(name).build(values))


def month(name: str, **values: Any) -> Decimal:
    """Its price of a month in us-east-1, in USD."""
    return price_bill(make_bill(load_template(name).build(values)), load_book("aws-us-east-1")).month


def bought(name: str, capacity: str, **need: Any) -> dict[str, Any] | None:
    """What is provisioned for a need, of a design with that capacity."""
    template = load_template(name)
    values = {key: parameter.value for key, parameter in template.parameters.items()} | {"capacity": capacity}
    wanted = Need.model_validate({"need": "test", "capacity": capacity, "months": 12, **need})
    return provisioned_rates(template.build(values), ("iops", "throughput"), wanted)


@pytest.mark.parametrize(
    ("rate", "iops"),
    [(32, 2000), (64, 4000), (128, 6000), (256, 10_000), (512, 20_000), (1024, 40_000), (2048, 80_000),
     (4608, 150_000), (6144, 200_000), (9216, 300_000), (12288, 400_000)],
)  # fmt: skip
def test_windows_does_as_many_operations_as_its_server_of_the_table(rate: int, iops: int) -> None:
    found = limits("fsx-windows", capacity="48TiB", throughput=f"{rate}MiB/s", iops=400_000)
    assert found.sustained("read_iops") == found.sustained("write_iops") == iops
    assert found.sustained("read") == rate * MIB


@pytest.mark.parametrize(
    ("rate", "iops"), [(128, 6000), (256, 12_000), (512, 18_750), (1024, 40_000), (2048, 80_000), (4096, 160_000)]
)
def test_ontap_likewise(rate: int, iops: int) -> None:
    found = limits("fsx-ontap", capacity="10TiB", throughput=f"{rate}MiB/s", iops=160_000)
    assert found.sustained("read_iops") == iops
    assert found.sustained("read") == rate * MIB
    assert found.sustained("write") == min(rate * MIB, 1000 * MB)


@pytest.mark.parametrize(
    ("rate", "iops"), [(160, 6250), (640, 25_000), (1280, 50_000), (3840, 150_000), (10240, 400_000)]
)
def test_openzfs_does_39_operations_for_each_mib_bought(rate: int, iops: int) -> None:
    found = limits("fsx-openzfs", capacity="10TiB", throughput=f"{rate}MiB/s", iops=400_000)
    assert found.sustained("read_iops") == iops


def test_the_ssds_bound_what_a_large_server_could_do() -> None:
    # 1 TiB gives 750 MB/s, ONTAP's 768; 10 TiB more than the server.
    assert limits("fsx-windows", capacity="1TiB", throughput="2048MiB/s").sustained("read") == 750 * MIB
    assert limits("fsx-ontap", capacity="1TiB", throughput="2048MiB/s").sustained("read") == 768 * MIB
    assert limits("fsx-windows", capacity="10TiB", throughput="2048MiB/s").sustained("read") == 2048 * MIB


def test_windows_in_two_zones_writes_less_at_its_fastest() -> None:
    found = limits("fsx-windows-multi-az", capacity="48TiB", throughput="12288MiB/s", iops=400_000)
    assert (found.sustained("read"), found.sustained("write")) == (12288 * MIB, 9000 * MIB)
    assert (found.sustained("read_iops"), found.sustained("write_iops")) == (400_000, 262_500)


def test_what_lies_in_the_pool_of_ontap_makes_it_no_faster() -> None:
    # 20 % of 10 TiB are SSD: 2 x 768 MB/s, and 3 x 2,048 operations.
    found = limits("fsx-ontap", capacity="10TiB", throughput="2048MiB/s", infrequent="80%")
    assert found.sustained("read") == 1536 * MIB
    assert found.sustained("read_iops") == 6144
    # 2,048 x 0.125 = 256.00; 8,192 x 0.0219 = 179.4048; 128 x 0.72 = 92.16; (10,000 - 6,144) x 0.017 = 65.552
    price = month("fsx-ontap", capacity="10TiB", throughput="128MiB/s", infrequent="80%", iops=10_000)
    assert price == Decimal("593.1168")


def test_one_tib_of_ontap_stays_on_ssd_whatever_the_share() -> None:
    # 1,024 x 0.125 = 128.00; 4,096 x 0.0219 = 89.7024; 128 x 0.72 = 92.16
    assert month("fsx-ontap", capacity="5TiB", throughput="128MiB/s", infrequent="99%") == Decimal("309.8624")
    found = limits("fsx-ontap", capacity="5TiB", throughput="1024MiB/s", infrequent="99%")
    assert found.sustained("read") == 768 * MIB


def test_the_throughput_of_home_directories_is_bought() -> None:
    # Both count against one sum: 800 MB/s = 762.9 MiB/s.
    both = {"access": "file", "read": "500MB/s", "write": "300MB/s"}
    assert bought("fsx-windows", "40TiB", **both) == {"throughput": "1GiB/s"}
    # 40,000 operations are those of 1,024 MB/s, and are bought.
    small = {"access": "file", "profile": {"record": "4KiB", "pattern": "random"}}
    assert bought("fsx-windows", "40TiB", **small, read_iops="40000/s") == {"throughput": "1GiB/s", "iops": 40_000}
    # 60,000 / 39.0625 = 1,536 MiB/s, the next on sale is 2,560.
    found = bought("fsx-openzfs", "40TiB", **small, read_iops="60000/s")
    assert found == {"throughput": "2560MiB/s", "iops": 60_000}
    # 1 TiB of SSD gives 750 MB/s, whatever is bought.
    assert bought("fsx-windows", "1TiB", **both) is None


def test_what_the_inversion_buys_is_enough_and_the_next_smaller_is_not() -> None:
    kind = catalog().managed("fsx-windows-single-az-ssd")
    assert kind.read_iops is not None and kind.throughput is not None
    for wanted in (1999, 2000, 2001, 19_999, 150_001, 400_000):
        rate = kind.read_iops.rate_for(wanted)
        assert rate is not None and kind.read_iops.bound(rate) >= wanted
        smaller = [each for each in kind.throughput.choices if each < rate]
        assert not smaller or kind.read_iops.bound(max(smaller)) < wanted
    assert kind.read_iops.rate_for(400_001) is None


RATE = {"base": 100.0, "per_tib": 50.0, "per_provisioned": 2.0, "max": 1000.0, "max_per_tib": 400.0}
COUNT = {"base": 100.0, "per_gib": 10.0, "per_provisioned": 2.0, "max": 1000.0, "max_per_rate": 0.5}


@pytest.mark.parametrize(
    ("changes", "wanted", "buys"),
    [
        ({}, 150, 0),
        ({}, 200, 0),
        ({}, 201, 0.5),
        ({}, 800, 300),
        ({}, 801, None),
        ({"max": 700.0}, 700, 250),
        ({"max": 700.0}, 701, None),
        ({"per_provisioned": 0.0}, 200, 0),
        ({"per_provisioned": 0.0}, 201, None),
        ({"min": 300.0}, 300, 0),
        ({"min": 300.0}, 301, 50.5),
    ],
)
def test_throughput_is_bought_beyond_what_two_tib_give(
    changes: dict[str, float], wanted: float, buys: float | None
) -> None:
    law = RateLaw.model_validate({**RATE, **changes})
    assert law.needed(2 * TIB, wanted) == buys
    assert buys is None or law.value(2 * TIB, buys) >= wanted


@pytest.mark.parametrize(
    ("changes", "wanted", "rate", "buys"),
    [
        ({}, 200, 2000, 0),
        ({}, 202, 2000, 1),
        ({}, 1000, 2000, 400),
        ({}, 1001, 4000, None),
        ({}, 300, 600, 50),
        ({}, 300, 599, None),
        ({}, 200, 399, None),
        ({"per_provisioned": 0.0}, 200, 2000, 0),
        ({"per_provisioned": 0.0}, 201, 2000, None),
    ],
)
def test_operations_are_bought_beyond_what_ten_gib_give(
    changes: dict[str, float], wanted: float, rate: int, buys: float | None
) -> None:
    law = CountLaw.model_validate({**COUNT, **changes})
    assert law.needed(10 * GIB, wanted, rate * MIB) == buys
    assert buys is None or law.value(10 * GIB, buys, rate * MIB) >= wanted


def test_the_throughput_for_operations_is_the_least_whose_bound_lets_them_through() -> None:
    law = CountLaw.model_validate(COUNT)
    assert [law.rate_for(wanted) for wanted in (0, 300, 1000, 1001)] == [0, 600 * MIB, 2000 * MIB, None]
    assert CountLaw.model_validate({"base": 5.0}).rate_for(1e9) == 0


def test_words_say_the_bounds() -> None:
    law = RateLaw.model_validate({"per_provisioned": 1.0, "max_per_tib": "750MiB/s"})
    assert law.formula() == "the throughput provisioned, at most 750 MiB/s per TiB"
    count = CountLaw.model_validate({"per_provisioned": 1.0, "max_per_rate": 39.0625, "max": 400_000})
    assert count.formula() == "the IOPS provisioned, at most 400,000, at most 39.0625 per MiB/s provisioned"
    steps = CountLaw.model_validate({"per_provisioned": 1.0, "max_at": [["32MiB/s", 2000], ["64MiB/s", 4000]]})
    assert steps.formula() == "the IOPS provisioned, at most 2,000 with 32 MiB/s provisioned, to 4,000 with 64 MiB/s"
    assert (steps.bound(31 * MIB), steps.bound(50 * MIB), steps.bound(64 * MIB)) == (0, 2000, 4000)


def scratch_need(**changes: Any) -> Need:
    """For a month of scratch on one NFS server whose instance on spot has an open share of interruptions."""
    server = {"design": "nfs-volumes", "set": {"instance": "c6in.2xlarge", "volume": "gp3", "volumes": 1}}
    need = {"need": "test", "access": "file", "capacity": "1TB", "months": 1, "data": "scratch"}
    return Need.model_validate({**need, "clients": 4, "candidates": [server], **changes})


def spot_row(**changes: Any) -> PriceRow:
    """A row of an instance on spot."""
    row = {"dimension": "instance", "item": "c6in.2xlarge", "unit": "hour", "price": "0.1", "term": "spot"}
    return PriceRow.model_validate({**row, "source": "made up for the test", **changes})


def test_an_open_share_of_interruptions_is_for_spot_and_beside_no_other() -> None:
    assert spot_row(interruptions_above="20%").interruptions_above == Decimal("0.2")
    with pytest.raises(ValidationError, match="has both `interruptions` and `interruptions_above`"):
        spot_row(interruptions_above="20%", interruptions="5%")
    with pytest.raises(ValidationError, match="only spot prices have `interruptions_above`"):
        spot_row(interruptions_above="20%", term="on-demand")


def test_the_open_share_is_told_and_never_taken_for_a_known_one() -> None:
    book = load_book("aws-us-east-1")
    row = book.row("instance", "c6in.2xlarge", "spot")
    assert (row.interruptions, row.interruptions_above) == (None, Decimal("0.2"))
    advice = advise(scratch_need(term="spot"), book)
    told = [remark.text for option in advice.options for remark in option.remarks if remark.rule == "spot"]
    assert "more than 20 % of c6in.2xlarge on spot are interrupted in a month, with loss of their data" in told
    assert not any("how often is not stated" in text for text in told)
    unasked = advise(scratch_need(), book)
    assert unasked.options and all(option.price.term != "spot" for option in unasked.options)


@pytest.mark.parametrize("name", ["aws-us-east-1", "aws-eu-west-1"])
def test_no_note_of_the_books_states_a_share_that_its_row_does_not(name: str) -> None:
    spot = [row for row in load_book(name).rows if row.term == "spot"]
    assert any(row.interruptions_above is not None for row in spot)
    for row in spot:
        assert "more than" not in row.note
        if "interruption share" in row.note:
            assert (row.interruptions is None) != (row.interruptions_above is None), row.item


ON_VOLUMES = ("direct-volumes", "nfs-volumes", "nfs-gp3", "nfs-io2", "beegfs-volumes", "orangefs-volumes")


@pytest.mark.parametrize("name", ON_VOLUMES)
def test_mirrors_of_volumes_halve_what_is_stored_and_written_and_are_tried(name: str) -> None:
    template = load_template(name)
    assert template.parameters["layout"].choices == ("raid0", "raid10")
    striped, mirrored = (limits(name, volumes=4, capacity="8TB", layout=layout) for layout in ("raid0", "raid10"))
    assert mirrored.usable == striped.usable // 2
    volumes = [next(each for each in found.layers if each.layer.endswith(" volumes")) for found in (striped, mirrored)]
    assert volumes[1].read == volumes[0].read
    assert volumes[1].write == (volumes[0].write or 0) / 2
    # The size that holds the data is the double.
    sizes = [
        Sizing(template, CapacityDemand(40 * 10**12)).size_for_capacity({"volumes": 4, "layout": layout})
        for layout in ("raid0", "raid10")
    ]
    least = [parse_size(size or "0B") for size in sizes]
    assert least[1] == 2 * least[0]
    with pytest.raises(AssayError, match="1 disks cannot form raid10"):
        limits(name, volumes=1, layout="raid10")


def test_a_need_of_volumes_that_is_to_outlive_them_has_an_answer() -> None:
    """400 TB on eight volumes without mirrors are lost with 1.6 % a year, above the 1 % that is suffered."""
    wanted = {"need": "kept", "access": "block", "capacity": "400TB", "clients": 1, "durability": "zone"}
    need = Need.model_validate({**wanted, "months": 12, "candidates": ["direct-volumes"]})
    advice = advise(need, load_book("aws-us-east-1"))
    best = advice.options[0]
    assert best.outcome == "met" and best.set["layout"] == "raid10"
    assert best.usable >= 400 * 10**12


@pytest.mark.parametrize("name", ON_VOLUMES)
def test_the_same_good_instances_are_tried_and_no_list_is_long(name: str) -> None:
    choices = load_template(name).parameters["instance"].choices
    assert {f"c6in.{size}xlarge" for size in (2, 4, 8, 16, 32)} <= set(choices)
    assert len(choices) == len(set(choices)) <= 8
    for book in ("aws-us-east-1", "aws-eu-west-1"):
        assert all((load_book(book).row("instance", choice).price or 0) > 0 for choice in choices)


def test_a_database_on_one_instance_is_not_refused_for_a_small_instance() -> None:
    """Four gp3 volumes of 11,200 IOPS have 44,800; c6in.8xlarge carries 100,000."""
    wanted = {"need": "database", "access": "block", "capacity": "4TB", "clients": 1, "durability": "zone"}
    rates = {"read_iops": "30000/s", "write_iops": "10000/s", "profile": {"record": "8KiB", "pattern": "random"}}
    need = Need.model_validate({**wanted, **rates, "months": 12, "candidates": ["direct-volumes"]})
    best = advise(need, load_book("aws-us-east-1")).options[0]
    assert best.outcome == "met"
    assert best.set["instance"].startswith("c6in")


def test_mirrors_pass_the_path_of_the_instance_to_its_volumes_twice() -> None:
    striped, mirrored = (
        next(
            each
            for each in limits("nfs-volumes", instance="c6in.2xlarge", volumes=8, layout=layout).layers
            if each.layer == "volume bandwidth of c6in.2xlarge"
        )
        for layout in ("raid0", "raid10")
    )
    # 781.25 MB/s and 25,000 operations.
    assert (striped.write, striped.write_iops) == (781.25 * MB, 25_000)
    assert (mirrored.read, mirrored.write) == (781.25 * MB, 390.625 * MB)
    assert (mirrored.read_iops, mirrored.write_iops) == (25_000, 12_500)
    assert mirrored.how.endswith("raid10 writes 2 bytes for each byte")


def test_a_service_of_which_less_is_stated_is_no_better_than_one_of_which_all_is() -> None:
    """Nobody states what the second generation writes; it must not win because a sum cannot be computed for it."""
    names = ("fsx-ontap-2-multi-az", "fsx-ontap-multi-az")
    wanted = {
        "need": "files",
        "access": "file",
        "capacity": "30TB",
        "read": "800MB/s",
        "write": "700MB/s",
        "months": 12,
    }
    found = advise(Need.model_validate({**wanted, "candidates": names}), load_book("aws-us-east-1"))
    chances = {item.design: item.chance for item in (*found.options, *found.unproven)}
    assert chances["fsx-ontap-2-multi-az"] < 1
    assert chances["fsx-ontap-multi-az"] >= chances["fsx-ontap-2-multi-az"]
    (first,) = found.recommended[:1]
    assert first.startswith("fsx-ontap-multi-az")
