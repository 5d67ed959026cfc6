"""`assay price` compares designs that hold as much as each other, sizes them if asked, and says what has no price."""

import csv
import io
import json
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from run_tools import assay

BOOK = """\
book: small
provider: own
region: here
date: 2026-11-01
historic: true
currency: USD
hours_per_month: 730
rows:
  - {dimension: instance, item: m5.4xlarge, price: 1, unit: hour, source: made up}
  - {dimension: volume-capacity, item: gp3, price: 0.1, unit: GB-month, source: made up}
  - {dimension: filesystem-capacity, item: efs-standard, price: 0.3, unit: GB-month, source: made up}
  - {dimension: filesystem-capacity, item: fsx-lustre-persistent-ssd-125, price: 0.2, unit: GB-month, source: made up}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(BOOK)
    (tmp_path / "dated.yaml").write_text(
        BOOK.replace("made up}", "made up, date: 2026-02-03}", 1).replace("made up}", "made up, date: 2026-09-08}", 1)
    )
    return tmp_path


def price(folder: Path, *words: str, book: str = "small.yaml", expect: int = 0) -> subprocess.CompletedProcess[str]:
    return assay(folder, "price", *words, *(["--book", book] if book else []), expect=expect)


def data(folder: Path, *words: str, **more: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(price(folder, *words, "--json", **more).stdout)
    return found


def test_designs_of_60_40_and_10_tb_are_not_compared_as_if_they_were_one(folder: Path) -> None:
    words = ("nfs-volumes:capacity=60TB", "efs-bursting:stored=40TB", "nfs-volumes:capacity=10TB")
    text = price(folder, *words).stdout
    assert "cheaper" not in text and "Break-even points" not in text
    (line,) = (line for line in text.splitlines() if "cannot be compared" in line)
    # 730 + 6,000 for 60 TB, 12,000 for 40 TB, 730 + 1,000 for 10 TB: 112.17, 300 and 173 for each TB.
    assert line == (
        "They hold 10 TB to 60 TB, so their prices cannot be compared; size them with --capacity 60TB. "
        "For each usable TB nfs-volumes capacity=60TB costs least."
    )
    found = data(folder, *words)
    assert found["break_even"] == [] and found["not_compared"] == line.removesuffix(".")


@pytest.mark.parametrize(("size", "compared"), [("9500GB", True), ("9499GB", False), ("10TB", True)])
def test_five_percent_apart_is_alike(folder: Path, size: str, compared: bool) -> None:
    found = data(folder, "nfs-volumes", f"efs-bursting:stored={size}")
    assert bool(found["break_even"]) == compared == (found["not_compared"] is None)


def test_a_hint_that_is_followed_leads_to_a_comparison(folder: Path) -> None:
    words = ("nfs-volumes:capacity=10TB", "efs-bursting:stored=123457MB")
    said = str(data(folder, *words)["not_compared"])
    size = said.partition("--capacity ")[2].partition(".")[0]
    assert size == "10TB"
    assert data(folder, "nfs-volumes", "efs-bursting", "--capacity", size)["break_even"]


def test_capacity_sizes_each_design_to_it(folder: Path) -> None:
    found = data(folder, "nfs-volumes", "efs-bursting", "nfs-volumes:volumes=4", "--capacity", "40TB")
    designs = found["designs"]
    assert isinstance(designs, list)
    assert [one["usable_bytes"] for one in designs] == [40 * 10**12] * 3
    # 730 hours at 1 and 40,000 GB at 0.1 or 0.3.
    assert [Decimal(one["cost"]["month"]) for one in designs] == [4730, 12000, 4730]
    assert [one["set"] for one in designs] == [
        {"capacity": "40TB"},
        {"stored": "40TB"},
        {"volumes": 4, "capacity": "40TB"},
    ]
    assert found["not_compared"] is None and len(found["break_even"]) == 3  # type: ignore[arg-type]
    text = price(folder, "nfs-volumes", "efs-bursting", "--capacity", "40TB").stdout
    assert (
        "nfs-volumes capacity=40TB is always cheaper than efs-bursting stored=40TB, however much of the month it runs"
        in text
    )
    assert (
        "Each is the smallest available with that capacity and its other values; capacity beyond it is in the price."
        in text
    )


def test_what_is_sold_in_steps_holds_the_next_one(folder: Path) -> None:
    (one,) = data(folder, "fsx-lustre-persistent", "--capacity", "40TB")["designs"]  # type: ignore[misc]
    # Steps of 2,400 GiB: 16 of them are 41.2 TB, 15 are 38.7.
    assert one["set"] == {"capacity": f"{16 * 2400}GiB"} and one["usable_bytes"] == 16 * 2400 * 2**30


@pytest.mark.parametrize(
    ("name", "wanted", "key", "count"),
    [
        # 8 x 24 TB of a group; a node's 24 x 24 TB x 0.85 / 3 are 163.2 TB; cartridges of 18 TB, each twice.
        ("own-nfs-server", "192TB", "groups", 1),
        ("own-nfs-server", "193TB", "groups", 2),
        ("own-ceph", "1PB", "nodes", 7),
        ("own-ceph:copies=4+2", "1TB", "nodes", 6),
        ("own-minio", "1TB", "nodes", 4),
        ("own-tape", "1PB", "cartridges", 112),
        ("own-beegfs:groups=1", "500TB", "servers", 3),
        ("san-per-gb", "2TB", "gigabytes", 2000),
    ],
)
def test_own_storage_is_counted(folder: Path, name: str, wanted: str, key: str, count: int) -> None:
    (one,) = data(folder, name, "--capacity", wanted, book="")["designs"]  # type: ignore[misc]
    assert one["set"][key] == count


def test_own_and_rented_are_compared_each_by_its_book(folder: Path) -> None:
    found = data(folder, "own-nfs-server", "nfs-gp3", "s3", "--capacity", "180TB", book="")
    books = [one["book"]["book"] for one in found["designs"]]  # type: ignore[attr-defined]
    assert books == ["own-2026", "aws-us-east-1", "aws-us-east-1"]
    assert [one["provider"] == "own" for one in found["designs"]] == [True, False, False]  # type: ignore[attr-defined]
    pairs = {(pair["first"].split()[0], pair["second"].split()[0]) for pair in found["break_even"]}  # type: ignore[attr-defined]
    assert pairs == {("own-nfs-server", "nfs-gp3"), ("own-nfs-server", "s3"), ("nfs-gp3", "s3")}


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            ("nfs-volumes:capacity=5TB", "--capacity", "40TB"),
            "capacity is set, but --capacity sets it, too",
            "leave one",
        ),
        (("nfs-volumes", "--vary", "capacity=1TB,2TB", "--capacity", "40TB"), "capacity is set", "leave one"),
        (("direct-disks", "--capacity", "40TB"), "it has no free parameter for its capacity", "leave"),
        (("own-ceph:nodes=4", "--capacity", "40TB"), "it has no free parameter for its capacity", "leave"),
        (("own-nfs-server", "--capacity", "1PB"), "design own-nfs-server cannot hold 1PB",
         "with the maximum of groups, 3, it holds 576 TB"),
        (("nfs-volumes:volumes=1", "--capacity", "1PB"),
         "design nfs-volumes volumes=1 cannot hold 1PB", "take another type, instance or number"),
        (("nfs-volumes", "--capacity", "much"), "--capacity: `much` is not a size", "write sizes"),
        (("nfs-volumes", "--capacity", "0TB"), "--capacity: 0 bytes is not a capacity", "40TB"),
        (("nfs-volumes", "--capacity", "-1TB"), "--capacity: ", ""),
        (("--preset", "nfs-aws-2016", "--capacity", "1TB"), "a preset has its own designs", "leave all"),
    ],
)  # fmt: skip
def test_what_cannot_be_sized_is_one_line(folder: Path, words: tuple[str, ...], message: str, hint: str) -> None:
    done = price(folder, *words, book="", expect=2)
    assert done.stdout == ""
    error, said = done.stderr.splitlines()
    assert error.startswith("error: ") and message in error
    assert said.startswith("hint: ") and hint in said


def test_a_value_that_the_price_does_not_follow_is_said(folder: Path) -> None:
    text = price(folder, "aoe-rack:disks=8TB", book="").stdout
    assert "unpriced  disks: the paper's price of a server" in text
    assert "unpriced" not in price(folder, "aoe-rack:disks=1TB,servers=4", book="").stdout
    several = price(folder, "aoe-rack", "aoe-rack:disks=8TB", book="").stdout
    assert "The price of aoe-rack disks=8TB does not depend on disks: the paper's price" in several
    (one,) = data(folder, "aoe-rack:disks=8TB", book="")["designs"]  # type: ignore[misc]
    assert list(one["unpriced"]) == ["disks"]
    (row,) = csv.DictReader(io.StringIO(price(folder, "aoe-rack:disks=8TB", "--csv", book="").stdout))
    assert row["unpriced"] == "disks"


def test_what_one_accepts_is_said(folder: Path) -> None:
    alone = price(folder, "own-tape", book="").stdout
    assert "accept  Data is read after somebody has fetched its cartridge" in alone
    both = price(folder, "own-tape", "s3", "--capacity", "1PB", book="").stdout
    assert "Conditions of these designs:" in both and "  own-tape: Data is read after" in both


def test_the_days_of_the_prices_that_were_used_are_said(folder: Path) -> None:
    lines = price(folder, "nfs-volumes", book="dated.yaml").stdout.splitlines()
    assert "prices  small of 2026-02-03 to 2026-09-08, 730 hours a month, on-demand" in lines
    both = price(folder, "nfs-volumes", "efs-bursting", book="dated.yaml").stdout
    assert both.startswith("Prices in USD: small of 2026-02-03 to 2026-11-01, 730 hours a month, on-demand\n")


def test_the_list_says_whose_prices_a_design_has(folder: Path) -> None:
    found = json.loads(assay(folder, "price", "--list", "--json").stdout)["designs"]
    assert {one["design"]: one["provider"] for one in found}["own-ceph"] == "own"
