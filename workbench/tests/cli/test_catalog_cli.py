"""`assay catalog`: what it prints, as text and as JSON, and what it refuses."""

import json
from pathlib import Path

import pytest
from run_tools import assay

from assay.cli.money.catalog import show
from assay.money.cost.catalog import catalog

TIB, MIB = 2**40, 2**20


def test_show_prints_baseline_burst_how_long_and_source(tmp_path: Path) -> None:
    done = assay(tmp_path, "catalog", "show", "gp2", "--size", "500GiB")
    for words in ("262.144 MB/s (250 MiB/s)", "1500", "3000", "1 h from a full bucket", "Source: https://docs.aws"):
        assert words in done.stdout


def test_show_as_json_is_the_entry_with_its_limits(tmp_path: Path) -> None:
    done = assay(
        tmp_path, "catalog", "show", "gp3", "--size", "5TB", "--iops", "8000", "--throughput", "500MiB/s", "--json"
    )
    found = json.loads(done.stdout)
    assert (found["kind"], found["name"], found["max_size"]) == ("volume type", "gp3", 64 * TIB)
    assert found["limits"][0]["size"] == 5 * 10**12
    assert found["limits"][0]["read_baseline"] == 500 * MIB


def test_list_names_the_families_and_the_sizes_of_one(tmp_path: Path) -> None:
    every = json.loads(assay(tmp_path, "catalog", "list", "--json").stdout)
    assert "i3en.24xlarge" in every["families"]["i3en"]
    assert {"name": "efs-bursting", "kind": "file system type"} in every["services"]
    one = assay(tmp_path, "catalog", "list", "--family", "i3en")
    assert "8 x 7500GB nvme" in one.stdout


def test_a_managed_service_is_shown_with_what_is_bought(tmp_path: Path) -> None:
    words = ("catalog", "show", "azure-files-ssd-v2", "--size", "10TiB", "--throughput", "500MiB/s", "--iops", "5000")
    text = assay(tmp_path, *words).stdout
    for part in ("Azure Files, SSD v2, of azure", "524.288 MB/s", "5,000", "Condition: One file", "Source: https://"):
        assert part in text
    found = json.loads(assay(tmp_path, *words, "--json").stdout)
    assert found["limits"] == [
        {"size": 10 * TIB, "read": 500 * MIB, "write": 500 * MIB, "read_iops": 5000, "write_iops": 5000}
    ]
    assert "64 GiB" in assay(tmp_path, "catalog", "list", "--family", "Lsv3").stdout


@pytest.mark.parametrize(
    "name", ["i3en.24xlarge", "c3.large", "hi1.4xlarge", *(each.name for each in catalog().services())]
)
def test_every_kind_is_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    show(name, size="", iops=None, throughput="", as_json=False)
    assert capsys.readouterr().out.startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["show", "i3n.large"], "there is no entry of the catalogue `i3n.large`", "i3en.large"),
        (["show", "gp3", "--size", "5T"], "--size: unknown unit `T` in `5T`", "5TB"),
        (["show", "gp3", "--size", "1TiB", "--throughput", "500"], "--throughput: `500` is not", "500MB/s"),
        (["show", "gp3", "--iops", "4000"], "--iops and --throughput need --size", "--size 1TiB"),
        (["show", "s3-standard", "--size", "1TB"], "s3-standard has no size", "volumes and file systems"),
        (["show", "efs-bursting", "--size", "1TB", "--iops", "4"], "has no provisioned IOPS", "gp3"),
        (
            ["show", "azure-netapp-files-premium", "--size", "1536GiB"],
            "of 1536GiB is not available",
            "in steps of 1TiB",
        ),
        (["show", "azure-files-ssd-v2", "--size", "1TiB", "--iops", "9"], "cannot have 9 IOPS", "3000 to 102,400"),
        (["list", "--family", "i3n"], "there is no instance family `i3n`", "i3en"),
    ],
)
def test_wrong_input_is_one_line_and_a_hint(words: list[str], message: str, hint: str, tmp_path: Path) -> None:
    done = assay(tmp_path, "catalog", *words, expect=2)
    assert message in done.stderr
    assert hint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2
