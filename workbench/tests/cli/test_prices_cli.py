"""`assay prices list`, `show`, `check` and `import` through the real command."""

import datetime as dt
import json
import re
from decimal import Decimal

import pytest
from paths import GOLDEN, REPOSITORY, expected_messages
from run_tools import assay

from assay.model.money.price import DIMENSIONS, UNITS
from assay.money.books.books import book_names, load_book

BAD = GOLDEN / "bad_books"
NAMES = sorted(path.name for path in BAD.glob("*.yaml"))
GUIDE = REPOSITORY / "docs/guides/prices.md"
HEAD = ("--book", "ours", "--provider", "acme", "--region", "bern", "--date", "2026-11-01")
OPTIONS = (*HEAD, "--currency", "CHF", "--hours", "730")


def test_every_bad_book_is_expected():
    assert len(NAMES) >= 40
    assert sorted(expected_messages(BAD)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_book_gets_one_clear_line_per_problem(name):
    result = assay(BAD, "prices", "check", name, expect=2)
    assert not result.stdout
    lines = result.stderr.splitlines()
    assert all(re.fullmatch(rf"{re.escape(name)}:[1-9][0-9]*: error: \S.*", line) for line in lines[::2])
    assert all(re.fullmatch(r"  hint: \S.*", line) for line in lines[1::2])
    assert len(lines) == (6 if name == "several_at_once.yaml" else 2)
    assert result.stderr == expected_messages(BAD)[name]


def test_other_commands_refuse_a_bad_book_with_the_same_line():
    result = assay(BAD, "prices", "show", "tiers_overlap.yaml", expect=2)
    first = expected_messages(BAD)["tiers_overlap.yaml"].splitlines()[0]
    assert result.stderr.splitlines()[0] == "error: " + first.replace(": error: ", ": ")


def book(folder, name="own.yaml", **changes):
    """A book of one row, `days` old."""
    values = {"days": 0, "more": "", **changes}
    path = folder / name
    date = dt.date.today() - dt.timedelta(days=values["days"])
    path.write_text(
        f"book: own\nprovider: acme\nregion: bern\ndate: {date}\ncurrency: USD\n"
        f"hours_per_month: 730\n{values['more']}rows:\n"
        "  - {dimension: instance, item: small, price: 0.1, unit: hour, source: offer 17}\n"
    )
    return path


def test_a_good_book_is_said_to_be_good(tmp_path):
    book(tmp_path, days=90)
    result = assay(tmp_path, "prices", "check", "own.yaml", expect=0)
    assert re.fullmatch(r"ok: own\.yaml: 1 rows in USD of \S+, 90 days old\n", result.stdout)
    assert not result.stderr


def test_a_stale_book_is_warned_of_loudly_and_fails_only_on_request(tmp_path):
    book(tmp_path, days=91)
    result = assay(tmp_path, "prices", "check", "own.yaml", expect=0)
    assert result.stdout.startswith("ok: ")
    assert re.match(r"WARNING: 1 of 1 prices from own are older than 90 days", result.stderr)
    assay(tmp_path, "prices", "check", "own.yaml", "--max-age", "91", expect=0)
    assert result.stderr.endswith("; renew its rows and dates\n")
    result = assay(tmp_path, "prices", "check", "own.yaml", "--max-age", "90", expect=1)
    assert result.stdout.startswith("too old: own.yaml: 1 rows in USD of ")
    assert "error: own.yaml: 1 of 1 prices are older than 90 days\n" in result.stderr


def test_a_book_of_the_past_on_purpose_is_not_warned_of(tmp_path):
    book(tmp_path, days=5000, more="historic: true\n")
    result = assay(tmp_path, "prices", "check", "own.yaml", "--max-age", "30", expect=0)
    assert "historic" in result.stdout and not result.stderr


def test_all_files_are_checked_even_if_the_first_is_bad(tmp_path):
    book(tmp_path, "good.yaml")
    (tmp_path / "bad.yaml").write_text("book: x\n")
    result = assay(tmp_path, "prices", "check", "bad.yaml", "good.yaml", "aws-us-east-1-2012", expect=2)
    assert [line.split(":")[1] for line in result.stdout.splitlines()] == [" good.yaml", " aws-us-east-1-2012"]


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_a_book_that_cannot_be_read(tmp_path, name):
    book(tmp_path)
    result = assay(tmp_path, "prices", "check", name, "own.yaml", expect=2)
    assert result.stdout.startswith("ok: own.yaml: ")
    assert re.fullmatch(r"error: cannot read the price book \S+: .+\nhint: .+\n", result.stderr)


def test_list_has_every_shipped_book_with_its_age():
    found = json.loads(assay(BAD, "prices", "list", "--json", expect=0).stdout)
    assert [fact["book"] for fact in found] == book_names()
    for fact in found:
        shipped = load_book(fact["book"])
        assert (fact["rows"], fact["currency"], fact["date"]) == (len(shipped.rows), "USD", str(shipped.date))
        assert fact["age_days"] == (dt.date.today() - shipped.date).days
        assert fact["stale_rows"] == len(shipped.stale_rows(dt.date.today()))
    text = assay(BAD, "prices", "list", expect=0).stdout
    assert len(re.findall("historic", text)) == sum(fact["historic"] for fact in found)
    assert len(re.findall("STALE", text)) == sum(fact["stale_rows"] > 0 for fact in found)


def test_show_prints_each_price_with_unit_term_source_and_date():
    result = assay(BAD, "prices", "show", "aws-eu-west-1-2016", expect=0)
    for words in (
        "729.6 hours",
        "d2.8xlarge",
        "reserved-3y, all-upfront",
        "53704 upfront + 0",
        "2016-10-01",
        "BeeGFS-2016",
    ):
        assert words in result.stdout
    assert not result.stderr


def test_show_takes_a_dimension_and_a_pattern():
    arguments = ("prices", "show", "aws-us-east-1", "--json")
    found = json.loads(assay(BAD, *arguments, "--dimension", "volume-iops", "--item", "IO?", expect=0).stdout)
    assert [(row["dimension"], row["item"]) for row in found["prices"]] == [
        ("volume-iops", "io1"),
        ("volume-iops", "io2"),
    ]
    assert found["prices"][1]["tiers"][0] == {"up_to": "32000", "price": "0.065"}
    assert assay(BAD, *arguments, "--item", "nothing", expect=2).stderr.startswith(
        "error: aws-us-east-1 has no such price"
    )
    assert "did you mean `port`" in assay(BAD, *arguments, "--dimension", "ports", expect=2).stderr


TABLE = """dimension,item,unit,price,up_to,term,payment,upfront,source,note
instance,small,hour,0.10,,,,,,
instance,small,hour,0.02,,reserved-1y,partial-upfront,300,offer 17,"kept, with a comma"
transfer-out,internet,GB,0,100,,,,offer 18,
transfer-out,internet,GB,0.123456789012,10240,,,,,
transfer-out,internet,GB,0.05,,,,,,
power,electricity,kWh,0.0000001,,,,,,
"""


def test_a_table_becomes_a_book(tmp_path):
    (tmp_path / "t.csv").write_text("\ufeff" + TABLE.replace("\n", "\r\n"))
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=0)
    assert result.stdout == "ours.yaml: 4 rows in CHF of 2026-11-01\n"
    found = load_book("ours.yaml", tmp_path)
    assert (found.provider, found.region, found.currency, found.hours_per_month) == ("acme", "bern", "CHF", 730)
    small, reserved, transfer, power = found.rows
    assert (small.price, small.source) == (Decimal("0.10"), "imported from t.csv")
    assert (reserved.upfront, reserved.payment, reserved.note) == (300, "partial-upfront", "kept, with a comma")
    assert [tier.up_to for tier in transfer.tiers] == [100, 10240, None]
    assert transfer.tiers[1].price == Decimal("0.123456789012")
    assert power.price == Decimal("0.0000001")
    assay(tmp_path, "prices", "check", "ours.yaml", expect=0)


def test_import_replaces_nothing_unless_told(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "ours.yaml").write_text("precious")
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=2)
    assert "exists already" in result.stderr and (tmp_path / "ours.yaml").read_text() == "precious"
    assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, "--output", "other.yaml", expect=0)
    assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, "--force", expect=0)
    assert load_book("ours.yaml", tmp_path) == load_book("other.yaml", tmp_path)


def test_bad_lines_of_a_table_are_named_and_nothing_is_written(tmp_path):
    (tmp_path / "t.csv").write_text(
        "dimension,item,unit,price,up_to,note\n"
        "instance,small,hour,-1,,\n"
        'instance,large,hour,1,,"a note of\ntwo lines"\n'
        "instance,huge,GB,1,,\n"
        "transfer-out,internet,GB,0.1,100,\n"
        "transfer-out,internet,GB,0.2,50,\n"
        "transfer-out,internet,GB,0.3,,\n"
        "instances,tiny,hour,,,\n"
    )
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=2)
    lines = result.stderr.splitlines()
    assert [line.split(":")[1] for line in lines[::2]] == ["2", "5", "7", "9"]
    assert lines[0] == "t.csv:2: error: price: -1 is negative"
    assert lines[4].startswith("t.csv:7: error: the tier up to 50 overlaps")
    assert not list(tmp_path.glob("*.yaml"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "1: error: the table has no prices"),
        ("dimension,item,unit,price\n", "1: error: the table has no prices"),
        ("dimension,item,unit\n", "1: error: there is no column price"),
        ("dimension,item,unit,prize\n", "1: error: unknown column `prize`"),
        ("dimension;item;unit;price\n", "1: error: unknown column `dimension;item;unit;price`"),
        ("item,item,unit,price\n", "1: error: the column `item` comes twice"),
        ("dimension,item,unit,price\ninstance,a,hour,1,2\n", "2: error: 5 cells, but 4 columns"),
        ("dimension,item,unit,price\ninstance,a,hour\n", "2: error: the price is missing"),
        ('dimension,item,unit,price\n"instance\n', "2: error: not a table: unexpected end of data"),
        (
            "dimension,item,unit,price\ninstance,a,hour,1\n\ninstance,a,hour,2\n",
            "4: error: a second price of instance a",
        ),
        (
            "dimension,item,unit,price,currency\ninstance,a,hour,1,USD\n",
            "2: error: a is priced in USD, the book in CHF",
        ),
    ],
)
def test_a_wrong_table_gets_one_line(tmp_path, text, line):
    (tmp_path / "t.csv").write_text(text)
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=2)
    assert result.stderr.splitlines()[0] == f"t.csv:{line}"


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("GB,1,,USD,5,offer 18,,", "currency: `USD`, but the first tier of i (line 2) has none"),
        ("GiB,1,,,5,offer 18,,", "unit: `GiB`, but the first tier of i (line 2) has `GB`"),
        ("GB,1,,,6,offer 18,,", "free: `6`, but the first tier of i (line 2) has `5`"),
        ("GB,1,,,,offer 19,,", "source: `offer 19`, but the first tier of i (line 2) has `offer 18`"),
        ("GB,1,,,,,2026-10-01,", "date: `2026-10-01`, but the first tier of i (line 2) has none"),
        ("GB,1,,,,,,doubtful", "note: `doubtful`, but the first tier of i (line 2) has none"),
    ],
)
def test_a_further_tier_says_nothing_else_than_the_first(tmp_path, second, message):
    head = "dimension,item,unit,price,up_to,currency,free,source,date,note\n"
    first = "transfer-out,i,GB,0,100,,5,offer 18,,\n"
    (tmp_path / "t.csv").write_text(f"{head}{first}transfer-out,i,{second}\n")
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=2)
    assert result.stderr.splitlines()[0] == f"t.csv:3: error: {message}"
    assert len(result.stderr.splitlines()) == 2 and not list(tmp_path.glob("*.yaml"))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("1,2099-01-01,", "date: 2099-01-01 is in the future"),
        ("1e999,,", "price: `1e999` is more than 10^15"),
        ("1e-999,,", "price: `1e-999` is finer than 10^-12"),
        ("1,,\x1b[2J\x1b[31m", "note: unprintable character U+001B"),
    ],
)
def test_import_writes_no_book_that_check_refuses(tmp_path, cells, message):
    (tmp_path / "t.csv").write_text(f"dimension,item,unit,price,date,note\ninstance,a,hour,{cells}\n")
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=2)
    assert result.stderr.splitlines()[0] == f"t.csv:2: error: {message}"
    assert not list(tmp_path.glob("*.yaml"))


def test_a_table_of_too_many_rows_says_how_many_fit(tmp_path):
    lines = [f"instance,machine-{number:05d},hour,0.1,offer 17" for number in range(4000)]
    head = "dimension,item,unit,price,source"
    (tmp_path / "t.csv").write_text("\n".join([head, *lines]) + "\n")
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=2)
    said = re.match(r"error: 4000 rows are too many for a price book of at most 262144 bytes: (\d+) of", result.stderr)
    fit = int(said[1])
    (tmp_path / "t.csv").write_text("\n".join([head, *lines[: fit + 1]]) + "\n")
    assert f" {fit} of them fit" in assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=2).stderr
    (tmp_path / "t.csv").write_text("\n".join([head, *lines[:fit]]) + "\n")
    assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, expect=0)
    assert 262144 - 100 < (tmp_path / "ours.yaml").stat().st_size <= 262144


def test_a_price_is_read_to_its_last_digit(tmp_path):
    path = book(tmp_path)
    path.write_text(path.read_text().replace("price: 0.1", "price: 123456789012.123456789012"))
    assert load_book("own.yaml", tmp_path).rows[0].price == Decimal("123456789012.123456789012")


def test_about_may_be_folded_into_lines(tmp_path):
    book(tmp_path, more="about: >\n  One line\n  of two.\n\n  A paragraph.\n")
    assert load_book("own.yaml", tmp_path).about == "One line of two.\nA paragraph.\n"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--date", "2099-01-01", "error: --date: 2099-01-01 is in the future"),
        ("--hours", "8760", "error: --hours: 8760 hours is not the length of a month"),
        ("--currency", "francs", "error: --currency: `francs` is not a currency"),
        ("--date", "yesterday", "error: --date: `yesterday` is not a date"),
        ("--book", "../ours", "error: '../ours' cannot be the name of a file"),
        ("--output", "no/such/place.yaml", "error: cannot write no/such/place.yaml: there is no folder no/such"),
    ],
)
def test_wrong_options_of_import(tmp_path, option, value, message):
    (tmp_path / "t.csv").write_text(TABLE)
    result = assay(tmp_path, "prices", "import", "t.csv", *OPTIONS, option, value, expect=2)
    assert result.stderr.splitlines()[0] == message
    assert not list(tmp_path.glob("*.yaml"))


def test_the_guide_names_every_dimension_and_unit_and_its_example_is_right(tmp_path):
    text = GUIDE.read_text()
    assert not [word for word in (*DIMENSIONS, *UNITS) if f"`{word}`" not in text]
    example = GUIDE.with_name("own-hardware.yaml")
    assay(example.parent, "prices", "check", example.name, expect=0)
    rows = {row.dimension for row in load_book(str(example)).rows}
    assert rows == {"purchase", "power", "rack", "support", "administration"}
