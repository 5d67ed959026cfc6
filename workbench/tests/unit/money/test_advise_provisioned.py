"""What is bought is expected in full, follows from the record, and a first quota excludes nothing."""

import math
from decimal import Decimal

import pytest
from advise_tools import advised, best
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.money.books.books import load_book
from assay.money.cost.designs import load_template
from assay.money.cost.sizing import COMPONENT_SHARE, usable_share
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.provisioned import provisioned_rates

KIB = 1024
US_EAST = "aws-us-east-1"


def ask(*books, **changes):
    need = Need.model_validate({"need": "x", "access": "file", "capacity": "10TB", **changes})
    return advised(need, tuple(load_book(book) for book in books or (US_EAST,)), ())


def layers(design, **values):
    return {layer.layer: usable_share(layer) for layer in load_template(design).limits(values).layers}


def test_all_of_a_provisioned_rate_is_expected_and_90_percent_of_a_link():
    assert layers("direct-volumes") == {"volume bandwidth of m5.4xlarge": COMPONENT_SHARE, "gp3 volumes": 1.0}
    assert set(layers("fsx-ontap").values()) == set(layers("efs-provisioned").values()) == {1.0}
    assert set(layers("fsx-lustre-persistent").values()) == set(layers("s3").values()) == {1.0}
    assert set(layers("own-nfs-flash").values()) == {COMPONENT_SHARE}


def test_a_need_of_what_was_bought_is_met():
    """536.9 MB/s are 512 MiB/s; at 90 % they were 483 MB/s, which failed 500 MB/s."""
    bought = [{"design": "fsx-ontap", "set": {"throughput": ["512MiB/s"]}}]
    found = best(ask(read="500MB/s", candidates=bought))
    assert "all of 537 MB/s" in str(found.checks) and "parallel file systems" not in str(found.checks)
    assert ask(read="540MB/s", candidates=bought).result == "none"


