"""`assay price` as people and programs run it."""

import csv
import io
import json
import os
import re
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from run_tools import assay

BOOK = """\
book: small
provider: own
region: here
date: {date}
currency: USD
hours_per_month: 730
rows:
  - {{dimension: instance, item: m5.4xlarge, price: 1, unit: hour, source: made up}}
  - {{dimension: instance, item: m5.4xlarge, price: 0.25, unit: hour, term: spot, interruptions: 5%, source: made up}}
  - {{dimension: instance, item: m5.4xlarge, price: 0, upfront: 4380, unit: hour, term: reserved-1y,
     payment: all-upfront, source: made up}}
  - {{dimension: instance, item: m5.8xlarge, price: 2, unit: hour, source: made up}}
  - {{dimension: volume-capacity, item: gp3, price: 0.1, unit: GB-month, source: a page of the book}}
  - {{dimension: filesystem-capacity, item: efs-standard, price: 0.3, unit: GB-month, source: made up}}
  - {{dimension: transfer-out, item: internet, unit: GB, tiers: [{{up_to: 100, price: 0}}, {{price: 0.09}}],
     source: made up}}
"""
LARGE = "nfs-volumes:instance=m5.8xlarge,capacity=9600GB"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text("historic: true\n" + BOOK.format(date="2026-11-01"))
    (tmp_path / "old.yaml").write_text(BOOK.format(date="2019-01-01"))
    os.mkfifo(tmp_path / "pipe.yaml")
    return tmp_path


def price(folder: Path, *words: str, book: str = "small.yaml", expect: int = 0) -> subprocess.CompletedProcess[str]:
    return assay(folder, "price", *words, *(["--book", book] if book else []), expect=expect)


def limits(text: str, metric: str) -> list[str]:
    """The cells of what a design can do at most in one respect: sustained, burst, how long, set by, unit price."""
    (line,) = (line for line in text.splitlines() if line.startswith(metric))
    return re.split(r"\s{2,}", line.strip())[1:]


def test_one_design_is_told_whole(folder: Path) -> None:
    done = price(
        folder, "nfs-volumes", "--months", "6", "--use", "job_hours=10", "--use", "job_bytes=1TB",
        "--use", "egress=1TB", "--use", "duty=50%", "--bill",
    )  # fmt: skip
    assert done.stderr == ""
    lines = {line[:8].strip(): line[8:] for line in done.stdout.splitlines() if line[:1].isalpha()}
    # 730 h / 2 at 1, 10,000 GB at 0.1, 900 GB at 0.09 after the free 100.
    assert lines["cost"].startswith("3.96 an hour, 1,446.00 a month, 17,352.00 a year, 52,056.00 in three years (USD)")
    assert lines["on"] == "50 % of the time, 365.0 hours of a month"
    assert lines["usage"] == "81.00 USD a month for transfer, requests and access"
    assert lines["paid"] == "8,676.00 USD after 6 months"
    assert lines["usable"].startswith("10 TB")
    assert "144.60 USD for each usable TB and month" in done.stdout
    assert limits(done.stdout, "GB/s of reading") == ["131 MB/s", "–", "gp3 volumes", "11,032.10"]
    assert limits(done.stdout, "1,000 read IOPS")[:3] == ["3,000 IOPS", "–", "gp3 volumes"]
    assert lines["job"] == "39.62 USD in 10.00 h; 39.62 USD for each TB"
    assert "0.1 USD per GB-month" in done.stdout and "a page of the book" in done.stdout
    assert "0 to 100, then 0.09 USD per GB" in done.stdout


def test_bursts_say_how_long_they_last(folder: Path) -> None:
    done = price(folder, "efs-bursting", "--set", "stored=1TiB")
    assert limits(done.stdout, "GB/s of writing")[:4] == ["52.4 MB/s", "105 MB/s", "12 h 14 min", "EFS"]


def test_several_designs_stand_side_by_side_and_meet(folder: Path) -> None:
    done = price(folder, "nfs-volumes", LARGE, "efs-bursting")
    rows = [line.strip() for line in done.stdout.splitlines() if "MB/s" in line]
    assert [row.split("  ")[-1].strip() for row in rows] == ["gp3 volumes", "gp3 volumes", "EFS"]
    meets = [line.strip() for line in done.stdout.splitlines() if "cheaper" in line]
    # 730 d + 1000 = 1460 d + 960 at d = 40 / 730.
    assert meets[0] == (
        "nfs-volumes instance=m5.8xlarge capacity=9600GB is cheaper than nfs-volumes if it runs less than 5.5 % of "
        "the month (40 hours), and more expensive if it runs more"
    )
    assert meets[1:] == [
        "nfs-volumes is always cheaper than efs-bursting, however much of the month it runs",
        "nfs-volumes instance=m5.8xlarge capacity=9600GB is always cheaper than efs-bursting, however much of the "
        "month it runs",
    ]


def test_what_switching_off_loses_is_said(folder: Path) -> None:
    words = ("--set", "instance=i4i.4xlarge", "--use", "duty=50%")
    assert "its data is lost each time it is switched off" in price(folder, "direct-disks", *words, book="").stdout
    assert "switched off" not in price(folder, "nfs-volumes", "--use", "duty=50%").stdout
    several = price(folder, "direct-disks", "beegfs:servers=1", "nfs-volumes:capacity=3750GB", book="").stdout
    assert "Data is lost when switched off: direct-disks, beegfs servers=1\n" in several


def test_what_all_designs_share_is_told_once(folder: Path) -> None:
    done = price(folder, "nfs-volumes", "--set", "volumes=1", "--vary", "capacity=960GB,980GB,1TB")
    assert "All are nfs-volumes with volumes=1\n" in done.stdout
    assert (
        "  capacity=960GB is always cheaper than capacity=980GB, capacity=1TB, however much of the month it runs\n"
        in done.stdout
    )
    assert done.stdout.count("volumes=1") == 1


def test_terms_of_one_design_meet(folder: Path) -> None:
    done = price(folder, "nfs-volumes")
    # 4380 of a year are 365 hours of a month at 1; paid back when 730 n > 4380, which is in the seventh month.
    assert (
        "on-demand is cheaper than reserved-1y, all-upfront if it runs less than 50 % of the month (365 hours), and "
        "more expensive if it runs more; reserved-1y, all-upfront has cost less in total from month 7 on"
    ) in done.stdout


def test_spot_says_what_interruptions_cost(folder: Path) -> None:
    done = price(folder, "nfs-volumes", "--term", "spot", "--use", "job_hours=100")
    assert "100.35 h expected for 100.00 h, since an interrupted job starts again; that costs 0.570 USD" in done.stdout


def test_vary_makes_a_design_of_each_combination(folder: Path) -> None:
    done = price(folder, "nfs-volumes", "--vary", "capacity=1TB,2TB,4TB", "--vary", "volumes=1,2", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["design"] for row in rows] == [
        f"nfs-volumes capacity={size}TB volumes={count}" for size in (1, 2, 4) for count in (1, 2)
    ]
    assert [Decimal(row["cost_per_month"]) for row in rows] == [830, 830, 930, 930, 1130, 1130]
    assert float(rows[1]["read_bytes_s"]) == 2 * float(rows[0]["read_bytes_s"])


def test_set_counts_for_the_designs_that_have_it(folder: Path) -> None:
    done = price(folder, "nfs-volumes", "efs-bursting", "--set", "stored=1TB", "--set", "volumes=2", "--json")
    designs = json.loads(done.stdout)["designs"]
    assert [one["set"] for one in designs] == [{"volumes": 2}, {"stored": "1TB"}]


def test_json_has_money_as_text_and_the_whole_bill(folder: Path) -> None:
    data = json.loads(price(folder, "nfs-volumes", LARGE, "--months", "12", "--json").stdout)
    first = data["designs"][0]
    assert first["cost"] == {
        "hour": "2.369863", "month": "1730", "year": "20760", "three_years": "62280", "by_use_month": "0",
    }  # fmt: skip
    assert first["paid"] == {"months": 12, "amount": "20760"}
    assert [(line["item"], line["price"], line["month"]) for line in first["bill"]] == [
        ("m5.4xlarge", "1", "730"),
        ("gp3", "0.1", "1000"),
    ]
    assert first["limits"]["read"]["limiting_layer"] == "gp3 volumes"
    assert first["usable_bytes"] == 10**13
    assert data["break_even"][0]["duty"] == "0.054795"


def test_a_book_of_old_prices_is_warned_of_loudly_and_only_on_standard_error(folder: Path) -> None:
    done = price(folder, "nfs-volumes", "--csv", book="old.yaml")
    assert done.stderr.startswith("WARNING: 2 of 2 prices from small are older than 90 days, the oldest of 2019-01-01")
    assert "WARNING" not in done.stdout
    assert price(folder, "nfs-volumes", "--csv").stderr == ""


@pytest.mark.parametrize(
    ("words", "code", "message", "hint"),
    [
        (("nfs-volumes", "--set", "instance=c5.large"), 3,
         "the price book small has no price of instance c5.large", "Or add a row to the book"),
        (("nfs-volumes", "--term", "reserved-3y"), 3,
         "the price book small has no price of instance m5.4xlarge, reserved-3y", "add a row"),
        (("nfs-volumes", "--set", "instance=m5.huge"), 2, "there is no instance type `m5.huge`", "did you mean"),
        (("nfs-volumes", "--set", "insance=m5.large"), 2, "design nfs-volumes has no parameter `insance`",
         "did you mean `instance`?"),
        (("nfs-volumes:size=1TB",), 2, "design nfs-volumes has no parameter `size`", "one of: capacity"),
        (("nfs-volumes", "efs-bursting", "--set", "size=1TB"), 2, "none of the designs has a parameter `size`",
         "one of"),
        (("nfs-volume",), 2, "there is no design `nfs-volume`", "did you mean `nfs-volumes`?"),
        ((), 2, "no design is named", "`assay price --list`"),
        (("nfs-volumes", "--set", "capacity"), 2, "--set: `capacity` is not key=value", "such as capacity=5TB"),
        (("nfs-volumes", "--set", "capacity=5"), 2, "design nfs-volumes: capacity=5: the unit is missing",
         "such as 10TB"),
        (("efs-bursting:stored=10",), 2, "design efs-bursting: stored=10: the unit is missing", "such as 10TB"),
        (("nfs-volumes", "--set", "capacity=5B"), 2, "design nfs-volumes capacity=5B: gp3 cannot be 5B large",
         "1GiB to 64TiB"),
        (("nfs-volumes", "--set", "capacity=10B", "--set", "volumes=4"), 2, "10B cannot be split evenly into 4 volumes",
         "is the unit missing?"),
        (("nfs-volumes", "--set", "capacity=1TB", "--vary", "capacity=2TB,3TB"), 2, "capacity is both set and varied",
         "leave one"),
        (("nfs-volumes", "--term", "forever"), 2, "--term: `forever` is unknown", "one of: on-demand"),
        (("nfs-volumes", "--payment", "no-upfront"), 2, "--payment belongs to reservations", "--term reserved-1y"),
        (("nfs-volumes", "--use", "duty=150%"), 2, "--use duty: `150%` is more than 100 %", "5%"),
        (("nfs-volumes", "--use", "egres=1TB"), 2, "--use: there is nothing called `egres`", "did you mean `egress`?"),
        (("nfs-volumes", "--use", "egress=-1TB"), 2, "--use egress: -1TB is negative", "0 or more"),
        (("nfs-volumes", "--use", "duty=0", "--use", "job_hours=1"), 2, "no job can run with a duty of 0",
         "duty=25%"),
        (("nfs-volumes", "--set", "volumes=3"), 2,
         "design nfs-volumes volumes=3: 10TB cannot be split evenly into 3 volumes",
         "multiple of their number, such as 9TB or 12TB"),
        (("nfs-volumes", "--set", "volumes=3", "--set", "layout=raid10"), 2, "3 disks cannot form raid10",
         "take 2 or 4 volumes"),
        (("direct-disks", "--set", "instance=d3.xlarge", "--set", "layout=raid10"), 2, "design direct-disks instance",
         "use layout lvm or raid0 or raid1 or raid5;"),
        (("nfs-volumes", "--set", "capacity=2TB", "--set", "iops=1000"), 2,
         "design nfs-volumes capacity=2TB iops=1000: gp3 of 2TB cannot have 1000 IOPS", "3000 to"),
        (("nfs-volumes", "--term", "reserved-1y", "--payment", "partial-upfront"), 3,
         "the price book small has no partial-upfront of instance m5.4xlarge, reserved-1y", "it has all-upfront; or"),
        (("nfs-volumes", "--set", "instance=m5.8xlarge", "--term", "spot"), 3,
         "the price book small has no price of instance m5.8xlarge, spot", "it has on-demand; or add a row"),
        (("s3", "--use", "puts=1e999"), 2, "--use puts: `1e999` is more than 10^15", "at most 10^15"),
        (("s3", "--use", "gets=1e100"), 2, "--use gets: `1e100` is more than 10^15", "at most 10^15"),
        (("s3", "--use", "job_hours=1e999"), 2, "--use job_hours: `1e999` is more than 10^15", "at most 10^15"),
        (("s3", "--use", "job_hours=1e7"), 2, "--use job_hours: `1e7` is more than a century", "1000000 hours or less"),
        (("s3", "--use", f"egress={'9' * 30}PB"), 2, "--use egress: the size is too large", "2PB"),
        (("s3", "--use", f"egress={'9' * 5000}"), 2, "--use egress: ", "sizes as"),
        (("nfs-volumes", "--use", "job_egress=1TB"), 2, "--use job_egress: the job has no size", "job_hours"),
        (("nfs-volumes", "--use", "job_hours=0"), 2, "--use job_hours: 0 is not the size of a job", "leave it out"),
        (("nfs-volumes", "--book", "small.yaml"), 2, "--book is given twice", "once"),
        (("/dev/zero",), 2, "/dev/zero: not a regular file", "give a file, or one of: aoe-rack"),
        ((".",), 2, ".: is a directory", "give a file, or one of: aoe-rack"),
        (("pipe.yaml",), 2, "pipe.yaml: not a regular file", "give a file"),
        (("nfs-volumes", "--months", "-1"), 2, "--months -1", "whole months"),
        (("nfs-volumes", "--json", "--csv"), 2, "--json and --csv exclude each other", "leave one out"),
        (("nfs-volumes", "--preset", "nfs-aws-2016"), 2, "a preset has its own designs", "leave all"),
    ],
)  # fmt: skip
def test_what_cannot_be_priced_is_one_line_and_nothing_else(
    folder: Path, words: tuple[str, ...], code: int, message: str, hint: str
) -> None:
    done = price(folder, *words, expect=code)
    assert done.stdout == ""
    error, said = done.stderr.splitlines()
    assert error.startswith("error: ") and message in error
    assert said.startswith("hint: ") and hint in said


@pytest.mark.parametrize(
    ("book", "message"),
    [("", "--book: the name is empty"), ("/dev/zero", "/dev/zero: not a regular file"),
     ("pipe.yaml", "pipe.yaml: not a regular file"), (".", ".: is a directory")],
)  # fmt: skip
def test_what_is_no_book_is_refused(folder: Path, book: str, message: str) -> None:
    done = price(folder, "nfs-volumes", "--book", book, book="", expect=2)
    assert done.stderr.splitlines()[0] == f"error: {message}" and done.stdout == ""


@pytest.mark.parametrize(
    ("words", "notes"),
    [
        (("nfs-volumes", "--use", "puts=5"), ["--use puts has no effect: no part of this design is charged by it"]),
        (("nfs-volumes", "efs-bursting", "--use", "gets=5"),
         ["--use gets has no effect: none of these designs is charged by it"]),
        (("nfs-volumes", "efs-bursting", "--use", "egress=5GB", "--use", "puts=0"), []),
        (("nfs-volumes", "--use", "egress_way=internet"),
         ["--use egress_way has no effect without egress or job_egress"]),
    ],
)  # fmt: skip
def test_use_that_changes_nothing_is_noted(folder: Path, words: tuple[str, ...], notes: list[str]) -> None:
    done = price(folder, *words, "--json")
    assert done.stderr.splitlines() == [f"note: {text}" for text in notes]
    assert json.loads(done.stdout)["designs"]


def test_a_job_at_an_unknown_rate_is_noted(folder: Path) -> None:
    done = price(folder, "direct-disks", "--set", "instance=i4i.4xlarge", "--use", "job_bytes=1TB", book="")
    assert "note: direct-disks instance=i4i.4xlarge: the job has no price, because its rate is unknown" in done.stderr


def test_a_job_that_cannot_be_done_is_said(folder: Path) -> None:
    job = ("--use", "job_bytes=1PB", "--use", "job_hours=1")
    keeps = "that exceeds its sustained rate: 131 MB/s of reading, 131 MB/s of writing"
    holds = "its 1 PB are more than the 10 TB for data"
    alone = [line.strip() for line in price(folder, "nfs-volumes", *job).stdout.splitlines()]
    assert keeps in alone and holds in alone
    several = price(folder, "nfs-volumes", LARGE, *job).stdout
    assert f"The job exceeds nfs-volumes: {keeps}\nThe job exceeds nfs-volumes: {holds}\n" in several
    data = json.loads(price(folder, "nfs-volumes", *job, "--json").stdout)
    assert data["designs"][0]["job"]["exceeds"] == ["read", "write", "capacity"]
    (row,) = csv.DictReader(io.StringIO(price(folder, "nfs-volumes", *job, "--csv").stdout))
    assert row["job_exceeds"] == "read write capacity"
    possible = ("--use", "job_bytes=1TB", "--use", "job_hours=10")
    assert "more than" not in price(folder, "nfs-volumes", *possible).stdout


def test_a_reservation_that_is_dearer_once_more_is_said_to_be(folder: Path) -> None:
    """1000 a year against 109.5 a month: less in all after 10 months, for good from the 28th on."""
    text = (
        (folder / "small.yaml")
        .read_text()
        .replace("price: 1,", "price: 0.15,")
        .replace("upfront: 4380", "upfront: 1000")
    )
    (folder / "again.yaml").write_text(text)
    words = (
        "reserved-1y, all-upfront, which costs more at first, has cost less in total after month 10 for the first "
        "time, and permanently from month 28 on; in between not always, because its upfront payment recurs"
    )
    assert words in price(folder, "nfs-volumes", book="again.yaml").stdout
    (pair,) = json.loads(price(folder, "nfs-volumes", "--json", book="again.yaml").stdout)["designs"][0][
        "terms_break_even"
    ]
    assert (pair["months"], pair["stays_from_month"], pair["cheaper_from_then"]) == (10, 28, None)
    (folder / "again.yaml").write_text(text.replace("upfront: 1000", "upfront: 1300"))
    done = price(folder, "nfs-volumes", book="again.yaml")
    assert "after month 12 for the first time, but not permanently within 20 years" in done.stdout


def test_the_book_of_a_design_is_searched_beside_it(folder: Path) -> None:
    (folder / "far").mkdir()
    euro = (folder / "small.yaml").read_text().replace("currency: USD", "currency: EUR")
    (folder / "far" / "small.yaml").write_text(euro)
    design = (
        "design: mine\nbook: {}\nfamily: nfs\naccess: [file]\ndurability: zone\nfailure_domain: one server\n"
        "servers:\n  - {{role: storage, instance: m5.4xlarge, volumes: {{type: gp3, capacity: 1TB}}}}\n"
    )
    for name, currency in (("small.yaml", "EUR"), ("old.yaml", "USD")):
        (folder / "far" / f"of-{name}").write_text(design.format(name))
        data = json.loads(price(folder, f"far/of-{name}", "--json", book="").stdout)
        assert data["designs"][0]["currency"] == currency


def test_books_of_two_currencies_are_not_compared(folder: Path) -> None:
    euro = (folder / "small.yaml").read_text().replace("currency: USD", "currency: EUR")
    (folder / "euro.yaml").write_text(euro)
    for name in ("small", "euro"):
        (folder / f"of-{name}.yaml").write_text(
            f"design: of-{name}\nbook: {folder}/{name}.yaml\nfamily: nfs\naccess: [file]\ndurability: zone\n"
            "failure_domain: one server\n"
            "servers:\n  - {role: storage, instance: m5.4xlarge, volumes: {type: gp3, capacity: 1TB}}\n"
        )
    done = price(folder, "of-small.yaml", "of-euro.yaml", book="", expect=2)
    assert "prices in EUR and USD cannot be compared" in done.stderr


def test_list_names_all_designs_with_their_parameters(folder: Path) -> None:
    data = json.loads(price(folder, "--list", "--json", book="").stdout)
    names = {one["design"]: one for one in data["designs"]}
    assert names["beegfs"]["parameters"]["servers"]["value"] == 4
    assert {one["preset"] for one in data["presets"]} >= {
        "nfs-aws-2016",
        "beegfs-2016",
        "powerscale-2020",
        "aws-eval-2012",
    }
    text = price(folder, "--list", book="").stdout
    assert all(name in text for name in names)
