"""Which design is the next one, what prices of the choice change, and what a table's traffic leaves unused."""

from assay.money.books.books import load_book
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise

DOWNLOADS = {"access": "object", "capacity": "500GB", "clients_at": "internet", "monthly": {"read": "70TB"}}


def advised(books: str, **asked: object) -> Advice:
    need = Need.model_validate({"need": "x", "months": 12, **asked})
    return advise(need, [load_book(name) for name in books.split()])


def test_a_design_of_the_family_that_survives_more_or_less_is_the_last_one():
    """Egress is nearly all: two regions cost 0.1 % more than one, S3 Express in one zone 1 %, another cloud 3 %."""
    found = advised("aws-us-east-1 gcp-us-central1", **DOWNLOADS)
    kept = [option.design for option in found.options]
    assert kept.index("s3") < kept.index("s3-replicated") < kept.index("s3-express") < kept.index("gcs")
    assert (found.choice.design, found.runner_up.design) == ("s3", "gcs")
    alone = advised("aws-us-east-1", **DOWNLOADS, candidates=["s3", "s3-replicated"])
    assert alone.runner_up.design == "s3-replicated"


def test_prices_of_the_choice_are_those_of_its_family():
    found = advised("aws-us-east-1 gcp-us-central1", **DOWNLOADS)
    changes = {item.to.split()[0] for item in found.changes if item.text.startswith("if all of s3 cost 20 % more")}
    assert changes == {"gcs"}


def test_a_bill_is_compared_once():
    """80 TB that are read twice a month: colder classes cost less to store in and more to read from."""
    asked = {"access": "object", "capacity": "80TB", "monthly": {"read": "160TB"}, "profile": {"record": "1GB"}}
    found = advised("gcp-us-central1", **asked)
    (colder,) = [item.text for item in found.reasons if item.about == "colder"]
    assert colder.startswith("gcs class=gcs-nearline") and found.runner_up.label not in colder


def test_the_use_of_a_table_says_where_units_cost_less():
    """40 of 2,628 million reads and 8 of 525.6 million writes are 1.5 %; a unit costs 29 % of its requests."""
    asked = {"access": "table", "capacity": "20GB", "read_iops": "1000/s", "write_iops": "200/s"}
    traffic = {"monthly": {"read": "40GB", "written": "8GB"}, "profile": {"pattern": "random", "record": "1kB"}}
    said = "on average 1.5 % of the stated rates is used; above 29 % provisioned units would cost less"
    assert said in advised("aws-us-east-1", **asked, **traffic).choice.conditions
    # Four times the bytes in items of four units each are as many requests.
    larger = {"monthly": {"read": "160GB", "written": "32GB"}, "profile": {"pattern": "random", "record": "4kB"}}
    assert said in advised("aws-us-east-1", **asked, **larger).choice.conditions


def test_what_grows_is_moved_in_at_its_present_size():
    """100 TB of later 249 over 1 Gb/s, of which a copy has 80 %: 100e12 / 100e6 s are 11.6 days.

    They leave AWS as 93,132 GiB, of which 100 are free: 10,140 x 0.09 + 40,960 x 0.085 + 41,932 x 0.07 USD.
    """
    asked = {"access": "object", "capacity": "100TB", "growth_per_year": "20%", "months": 60}
    found = advised("azure-eastus", **asked, migration={"from": "aws", "link": "1Gb/s"}, profile={"record": "20MB"})
    (moving,) = (text for text in found.choice.conditions if text.startswith("moving 100 TB from aws"))
    assert moving.endswith("over 125 MB/s takes 11.6 days; leaving aws costs 7,329.46 USD once")


def test_leaving_a_cloud_costs_money_whatever_books_the_need_is_priced_by() -> None:
    """12,000 GB, of which 100 are free: 10,235 x 0.087 + 1,665 x 0.083 USD, by the book of East US."""
    moved = {"access": "object", "capacity": "12TB", "migration": {"from": "azure", "link": "1Gb/s"}}
    for books in ("aws-eu-west-1", "aws-eu-west-1 azure-eastus"):
        conditions = advised(books, **moved, where={"providers": ["aws"]}).choice.conditions
        assert any(text.endswith("leaving azure costs 1,028.64 USD once") for text in conditions)
    at_home = advised("aws-eu-west-1", **{**moved, "migration": {"from": "own", "link": "1Gb/s"}}).choice.conditions
    assert "moving 12 TB from own over 125 MB/s takes 1.39 days" in at_home


def test_a_copy_that_is_behind_may_lose_the_newest_writes() -> None:
    """15 minutes of S3's replication, an hour of a bucket in two regions; neither is promised."""
    bucket = {"access": "object", "durability": "multi-region", "profile": {"record": "1MB"}}
    volume = {"access": "block", "clients": 1}

    def outcome(design: str, lost: str, asked: dict[str, object]) -> str:
        found = advised("aws-us-east-1 gcp-us-central1", capacity="12TB", **asked, rpo=lost, candidates=[design])
        checks = [check for option in (*found.options, *found.unproven) for check in option.checks]
        checks += [check for each in found.rejected for check in each.failed_checks]
        return next(check.outcome for check in checks if check.requirement == "rpo")

    expected = {"5min": ("failed", "failed"), "30min": ("unproven", "failed"), "2h": ("unproven", "unproven")}
    for lost, outcomes in expected.items():
        assert tuple(outcome(name, lost, bucket) for name in ("s3-replicated", "gcs-dual-region")) == outcomes
    assert outcome("direct-volumes", "1s", volume) == "met"
