"""`assay ab` on a scripted target: a tenth more is found, nothing is claimed where there is none."""

import json
from pathlib import Path

from in_process import run_here
from run_tools import needs_engine
from soak import times

pytestmark = needs_engine

STUDY = """
study: scripted
question: Is it slower?
targets:
  now: {{kind: "null", latency: {{distribution: fixed, time: 1ms}}, vary_percent: 5}}
  same: {{kind: "null", latency: {{distribution: fixed, time: 1ms}}, vary_percent: 5}}
  later: {{kind: "null", latency: {{distribution: fixed, time: 1100us}}, vary_percent: 5}}
workloads:
  one: {{operations: [random_read], file_size: 1MiB, record_size: 4KiB, runtime: 100ms}}
seed: {seed}
ceilings: none
"""
"""Service times of a repeat are up to 5 % longer than those of another: a standard deviation of 1.5 %."""
TRIES = times(2, 20)


def outcomes(folder: Path, other: str) -> list[int]:
    """Exit codes of a gate; what is claimed agrees with them."""
    found = []
    for seed in range(1, TRIES + 1):
        (folder / "study.yaml").write_text(STUDY.format(seed=seed))
        words = ("now", other, "--study", "study.yaml", "--fail-if-slower", "5%", "--time", "1m", "--json")
        done = run_here(folder, "ab", *words)
        (row,) = json.loads(done.stdout)["rows"]
        assert row["significant"] or done.returncode != 1
        found.append(done.returncode)
    return found


def test_a_tenth_more_time_is_found_in_19_of_20(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "later").count(1) >= TRIES - TRIES // 20


def test_nothing_is_claimed_of_equal_sides_in_19_of_20(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "same").count(1) <= TRIES // 20
