"""The tables of the papers, computed by the real command, against the figures that are printed there."""

import json
from decimal import Decimal

import pytest
from paths import REPOSITORY
from run_tools import assay

from assay.model.base import AssayError
from assay.model.money.amount import round_half_up
from assay.money.papers.audit import mistakes_text
from assay.money.papers.presets import ComputedFigure, figures, load_preset, preset_names, table_rows, wrong_groups

NFS = """\
table,instance_type,storage_tb,cost_per_hour_usd,cost_per_month_usd,cost_1yr_usd,cost_3yr_usd
instance_store_on_demand,d2.xlarge,6,0.74,536,6435,19305
instance_store_on_demand,d2.2xlarge,12,1.47,1073,12870,38610
instance_store_on_demand,d2.4xlarge,24,2.94,2145,25740,77221
instance_store_on_demand,d2.8xlarge,48,5.88,4290,51481,154442
instance_store_reserved,d2.xlarge,6,,,3278,6713
instance_store_reserved,d2.2xlarge,12,,,6556,13426
instance_store_reserved,d2.4xlarge,24,,,13112,26852
instance_store_reserved,d2.8xlarge,48,,,26224,53704
ebs_backed_on_demand,c4.large,1,0.19,136.82,1641.87,4925.61
ebs_backed_on_demand,c4.large,5,0.46,336.82,4041.87,12125.61
ebs_backed_on_demand,c4.large,10,0.80,586.82,7041.87,21125.61
ebs_backed_on_demand,c4.large,25,1.83,1336.82,16041.87,48125.61
ebs_backed_on_demand,c4.xlarge,1,0.31,223.64,2683.74,8051.21
ebs_backed_on_demand,c4.xlarge,5,0.58,423.64,5083.74,15251.21
ebs_backed_on_demand,c4.xlarge,10,0.92,673.64,8083.74,24251.21
ebs_backed_on_demand,c4.xlarge,25,1.95,1423.64,17083.74,51251.21
ebs_backed_on_demand,c4.2xlarge,1,0.55,398.02,4776.23,14328.69
ebs_backed_on_demand,c4.2xlarge,5,0.82,598.02,7176.23,21528.69
ebs_backed_on_demand,c4.2xlarge,10,1.16,848.02,10176.23,30528.69
ebs_backed_on_demand,c4.2xlarge,25,2.19,1598.02,19176.23,57528.69
ebs_backed_on_demand,c4.4xlarge,1,1.02,745.31,8943.71,26831.12
ebs_backed_on_demand,c4.4xlarge,5,1.30,945.31,11343.71,34031.12
ebs_backed_on_demand,c4.4xlarge,10,1.64,1195.31,14343.71,43031.12
ebs_backed_on_demand,c4.4xlarge,25,2.67,1945.31,23343.71,70031.12
ebs_backed_on_demand,c4.8xlarge,1,1.97,1440.62,17287.41,51862.23
ebs_backed_on_demand,c4.8xlarge,5,2.25,1640.62,19687.41,59062.23
ebs_backed_on_demand,c4.8xlarge,10,2.59,1890.62,22687.41,68062.23
ebs_backed_on_demand,c4.8xlarge,25,3.62,2640.62,31687.41,95062.23
"""
"""As the NFS paper of 2016 prints them."""


def price(*arguments: str) -> str:
    done = assay(REPOSITORY, "price", *arguments)
    assert done.stderr == ""
    return done.stdout


def by_name(preset: str) -> dict[str, ComputedFigure]:
    return {
        f"{one.what}: {one.group}" if one.what != one.group else one.what: one for one in figures(load_preset(preset))
    }


def test_all_rows_of_the_nfs_paper_come_out_to_the_printed_digit() -> None:
    assert price("--preset", "nfs-aws-2016", "--csv") == NFS


def test_the_nfs_rows_are_computed_and_not_copied() -> None:
    """A wrong printed figure in the preset must show."""
    preset = load_preset("nfs-aws-2016")
    table = preset.tables[0]
    row = table.rows[0].model_copy(update={"printed": ("0.74", "529", "6435", "19305")})
    changed = preset.model_copy(update={"tables": (table.model_copy(update={"rows": (row,)}),)})
    cells = table_rows(changed)[0].cells
    assert cells["cost_per_month_usd"].text == "536"
    assert cells["cost_per_month_usd"].is_right is False
    assert [mistakes_text(some) for some in cells["cost_per_month_usd"].mistakes] == ["a month of 720 hours"]


def test_the_month_of_720_730_or_744_hours_gives_other_figures() -> None:
    for one in table_rows(load_preset("nfs-aws-2016")):
        assert all(cell.is_right and not cell.mistakes for cell in one.cells.values())


def test_beegfs_costs_are_right_and_say_which_mistake_gives_the_printed_ones() -> None:
    found = by_name("beegfs-2016")
    printed = {name: (one.text, one.printed) for name, one in found.items()}
    assert printed == {
        "Option 1: an hour": ("15.42", "15.41"),
        "Option 2: an hour": ("15.12", "15.12"),
        "Option 3: an hour": ("11.88", "11.88"),
        "Option 1: an hour for each TB": ("3.08", "3.08"),
        "Option 2: an hour for each TB": ("1.26", "1.26"),
        "Option 3: an hour for each TB": ("0.14", "0.14"),
        "Option 1: an hour for each GB/s of write": ("2.26", "2.06"),
        "Option 2: an hour for each GB/s of write": ("6.46", "6.44"),
        "Option 3: an hour for each GB/s of write": ("4.94", "5.06"),
    }
    why = {name: [mistakes_text(some) for some in one.mistakes] for name, one in found.items()}
    for option in (1, 2, 3):
        assert why[f"Option {option}: an hour"] == ["cut off instead of rounded"]
        assert why[f"Option {option}: an hour for each TB"] == []
        assert why[f"Option {option}: an hour for each GB/s of write"] == ["read instead of write, and 1024 for 1000"]


def test_the_command_says_what_is_wrong_in_the_beegfs_table() -> None:
    text = price("--preset", "beegfs-2016")
    assert "Option 1, an hour: 15.41 printed, 15.42 is right\n    all 3 figures as printed: cut off" in text
    assert "Option 1, an hour for each GB/s of write: 2.06 printed, 2.26 is right" in text
    assert "all 3 figures as printed: read instead of write, and 1024 for 1000" in text
    assert "5 of 9 printed figures are reproduced." in text


@pytest.mark.parametrize(
    ("what", "value", "unit"),
    [
        ("EFS of 100 GiB keeps", "4.883", "MiB/s"),
        ("EFS of 100 GiB bursts to", "100", "MiB/s"),
        ("EFS of 100 GiB bursts each day", "1.172", "h"),
        ("EFS of 1 TiB keeps", "50", "MiB/s"),
        ("EFS of 1 TiB bursts to", "100", "MiB/s"),
        ("EFS of 1 TiB bursts each day", "12", "h"),
        ("EFS of 10 TiB keeps", "500", "MiB/s"),
        ("EFS of 10 TiB bursts to", "0.977", "GiB/s"),
        ("EFS of 10 TiB bursts each day", "12", "h"),
        ("FSx for Lustre of 1.2 TiB, figure 4", "234.375", "MB/s"),
        ("FSx for Lustre of 24 TiB, figure 5", "4687.5", "MB/s"),
        ("scratch storage of a month", "56.560", "USD"),
        ("persistent storage of a month", "1434.995", "USD"),
        ("FSx bill of a month", "1491.556", "USD"),
        ("egress of a genomics test", "180", "USD"),
        ("the same with 5 machines", "172.5", "USD"),
        ("the same with 20 machines", "779.625", "USD"),
        ("the same with 40 machines", "1781.25", "USD"),
        ("5 machines, the 90 % that are written", "155.25", "USD"),
        ("20 machines, the 90 % that are written", "701.663", "USD"),
        ("40 machines, the 90 % that are written", "1603.125", "USD"),
    ],
)
def test_file_systems_bills_and_egress_of_2020(what: str, value: str, unit: str) -> None:
    one = by_name("powerscale-2020")[what]
    assert round_half_up(one.value, 3) == Decimal(value)
    assert one.unit == unit and one.how
    assert one.is_right is not False and not one.mistakes


def test_the_two_wrong_figures_of_2020_are_explained() -> None:
    found = wrong_groups(figures(load_preset("powerscale-2020")))
    assert {
        name: (one.printed, one.text, [mistakes_text(some) for some in one.mistakes]) for name, (one,) in found.items()
    } == {
        "EFS of 100 GiB bursts each day, in minutes": ("72", "70", ["1000 for 1024"]),
        "FSx for Lustre of 1.2 TiB, section 9.2": ("240", "234", ["1000 for 1024"]),
    }


def test_formulas_are_shown_with_their_numbers() -> None:
    text = price("--preset", "powerscale-2020")
    for formula in (
        "50 MiB/s x 0.09766 TiB = 4.883 MiB/s",
        "24 h x baseline 500 / burst 1000",
        "1200 GiB / 1024 x 200 MB/s per TiB",
        "4233.025 GiB-month x 0.339 USD per GiB-month (aws-ap-southeast-1-2020)",
        "8 h x 3600 x 1 Gb/s / 8 x 0.05 USD per GB (azure-australia-east-2020)",
    ):
        assert formula in text


def test_ebs_of_the_evaluation_of_2012() -> None:
    found = by_name("aws-eval-2012")
    assert {name: one.text for name, one in found.items()} == {
        "a GB of EBS for a month": "0.10",
        "a million requests to EBS": "0.10",
        "the largest volume for a month": "100.00",
        "100 requests a second for a month": "26.28",
        "both together": "126.28",
    }


@pytest.mark.parametrize("name", preset_names())
def test_presets_as_json_and_csv_say_the_same(name: str) -> None:
    data = json.loads(price("--preset", name, "--json"))
    table = price("--preset", name, "--csv").splitlines()
    assert data["source"] and data["about"]
    assert len(data["rows"]) + len(data["figures"]) == len(table) - 1
    computed = [one["computed"] for one in data["figures"]]
    assert [line for line in table[1:] if not any(text in line for text in computed)] == ([] if computed else table[1:])


def test_an_unknown_preset_is_one_clear_error() -> None:
    with pytest.raises(AssayError, match="there is no preset `nfs-2016`") as caught:
        load_preset("nfs-2016")
    assert "nfs-aws-2016" in caught.value.hint
