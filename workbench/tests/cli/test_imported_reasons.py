"""Results of other tools: what could not be checked is said without what only a run of Assay could do about it."""

import json
import re
from pathlib import Path

import pytest
from in_process import run_here
from paths import GOLDEN

SAMPLES = (
    "fio/3.33-read.json",
    "fio/3.0-randrw.txt",
    "iozone/3.508-direct-sync.txt",
    "mdtest/4.0.0-files.txt",
    "warp/1.6.1-mixed.json",
    "iperf3/3.12-udp.json",
    "ping/iputils-20250605.txt",
    "pgbench/15-tpcb.txt",
    "dd/9.1-options.txt",
)
OWN = re.compile(r"engine|interval|clock|block device below|kernel thread|lanes|link|resum|study", re.IGNORECASE)
"""What a stranger to Assay's own runs does not know, or cannot change."""


@pytest.mark.parametrize("sample", SAMPLES)
def test_reasons_are_about_the_output(tmp_path: Path, sample: str) -> None:
    done = run_here(tmp_path, "show", GOLDEN / "imports" / sample, "c1", "--json")
    assert done.returncode == 0
    for row in json.loads(done.stdout)["rows"]:
        reasons = {one["reason"] for one in row["not_evaluated"] if one["applies"]}
        (another,) = [one for one in reasons if one.startswith("another tool measured: ")]
        assert not [one for one in reasons - {another} if OWN.search(one)]
        assert not [one for one in row["findings"] if OWN.search(one["remedy"])]


def test_columns_that_no_output_fills_are_not_shown(tmp_path: Path) -> None:
    text = run_here(tmp_path, "show", GOLDEN / "imports" / "iozone/3.508-direct-sync.txt", "c1").stdout
    (heads,) = [line for line in text.splitlines() if line.startswith("repeat ") and "status" in line]
    assert "cache" not in heads and "method" not in heads
    assert text.count("another tool measured") == 1
