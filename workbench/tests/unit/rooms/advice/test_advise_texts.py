"""The sentences of advice: figures as people write them, no figure cut off, a tie called a tie."""

from decimal import Decimal

import pytest
from advise_tools import NEEDS
from run_tools import assay

from assay.model.money.catalog_entry import MIB, format_mib
from assay.model.money.managed import CountLaw
from assay.money.cost.designs import load_template
from assay.rooms.advice.commands.advise_answer import shortened
from assay.rooms.advice.work.texts import SAME_COST, missing_prices_text, more_text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(512 * MIB, "512 MiB/s"), (1e9, "1 GB/s"), (125e6, "125 MB/s"), (23841858150.4, "23.842 GB/s")],
)
def test_a_rate_has_the_unit_in_which_it_is_whole(rate, text):
    assert format_mib(rate) == text


def test_few_iops_are_stated_for_a_tib():
    assert CountLaw(per_gib=12 / 1024).formula() == "12 IOPS per TiB"
    assert CountLaw(per_gib=3).formula() == "3 IOPS per GiB"


def test_the_limit_of_a_rate_has_the_formula_of_that_rate_only():
    (layer,) = load_template("fsx-ontap").limits().layers
    assert "IOPS" not in layer.formulas["read"] and "writing" not in layer.formulas["read"]
    assert layer.how == "; ".join(layer.formulas.values())


def test_a_tie_is_called_a_tie():
    assert more_text(Decimal("5960.0155") / 5960) == SAME_COST == "the same cost within 0.1 %"
    assert more_text(Decimal("1.002")) == "0.2 % more"


def test_a_missing_price_is_named_in_words():
    lacks = ("filesystem-backup fsx-ontap-multi-az-2", "instance m5.large", "a common term for all its instances")
    assert missing_prices_text(lacks) == (
        "the price of backups of fsx-ontap-multi-az-2, instance m5.large, a common term for all its instances"
    )


def test_no_sentence_breaks_off_before_its_figure():
    decides = f"{'a long name ' * 30}costs 12 USD"
    assert shortened(decides) == decides
    assert shortened(f"{decides}; more") == decides


def test_the_answer_states_the_usable_bytes_of_all_servers():
    """Two nodes of 11,651 GB each hold 20 TB that are needed, and more."""
    first = assay(NEEDS, "advise", "01-home.yaml").stdout.splitlines()[0]
    assert "nodes=2" in first and "capacity=11651GB (23.3 TB usable in all) for 1,633.58 USD a month" in first


def test_all_has_the_profile_in_a_line_of_its_own_and_counts_what_lacks_the_access():
    lines = assay(NEEDS, "advise", "02-database.yaml", "--all").stdout.splitlines()
    assert lines[1].startswith("profile  random")
    (other,) = [line for line in lines if "without block access: " in line]
    assert other.strip().endswith(" designs") and len(other) < 60


def test_a_long_sentence_is_without_its_formula():
    adds_up = f"they take 93 % + 56 % = 149 %{' of a service with a long name' * 4}"
    assert shortened(f"{adds_up} (reading 12 MiB/s (8 bits) per TiB; writing less); all can be expected") == adds_up
    assert shortened("few (one; two); more") == "few (one; two); more"
