"""`assay predict`: what a table of a paper and a stored run say of more hosts, of a rate and of more data."""

import json
from pathlib import Path
from typing import Any

import pytest
from in_process import run_here
from paths import REPOSITORY

TABLE = REPOSITORY / "studies" / "papers" / "beegfs-2016" / "scaling.csv"
LINKS = ("--limit", "Option 1=80Gb/s", "--limit", "Option 2=20Gb/s", "--limit", "Option 3=20Gb/s")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run of a paper's table, as if it stated no amounts of data."""
    folder = tmp_path_factory.mktemp("predict")
    text = TABLE.with_suffix(".roles.yaml").read_text()
    assert "file_size: 10GiB, " in text
    (folder / "scaling.roles.yaml").write_text(text.replace("file_size: 10GiB, ", ""))
    done = run_here(folder, "import", TABLE, "--roles", folder / "scaling.roles.yaml", "--study", "beegfs")
    assert done.returncode == 0, done.stderr
    return folder


def predicted(folder: Path, *words: str) -> dict[str, Any]:
    done = run_here(folder, "predict", "beegfs", *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_totals_of_more_hosts_have_an_interval_and_a_reason(folder: Path) -> None:
    done = run_here(folder, "predict", "beegfs", "--hosts", "8,12,32,200", *LINKS)
    lines = done.stdout.splitlines()
    first = [line.split("  ")[-1].strip() for line in lines[2:6]]
    assert first[0] == "measured"
    assert first[1] == "curves through the measured totals; below the limit --limit 10,000 MB/s"
    assert first[2].startswith("curves that fit the measured totals differ here; measure ")
    # 200 is four times 50.
    assert first[3] == "only up to 4 times the hosts measured, 2 to 24; measure 50 hosts"
    assert lines[-1].startswith("`no`: the interval is wider than 25 %")
    flat = next(line for line in lines if line.split()[:6] == ["Read,", "Option", "2,", "2", "servers", "32"])
    assert "limit: --limit 2,500 MB/s" in flat


def test_json_has_every_answer_and_its_reason_as_a_code(folder: Path) -> None:
    found = predicted(folder, "--hosts", "12,200", "--rate", "2GB/s", *LINKS)
    assert found["run"].endswith("-beegfs") and len(found["hosts"]) == 6 and found["sizes"] == []
    series = found["hosts"][0]
    assert (series["target"], series["operation"], series["unit"]) == ("Option 1", "write", "bytes/s")
    assert [point["hosts"] for point in series["measured"]] == [2, 4, 8, 16, 24]
    assert series["limits"] == [{"name": "--limit", "value": 1e10, "of_each_host": False, "how": ""}]
    near, far = series["totals"]
    assert near["is_answer"] and near["low"] < near["value"] < near["high"] and near["basis"] == "curve"
    assert (far["is_answer"], far["value"], far["reason"]) == (False, None, "too_far")
    needed = series["hosts_needed"]
    assert needed["is_answer"] and needed["fewest"] <= needed["hosts"] <= needed["enough"] == 3


def test_a_rate_above_a_limit_is_out_of_reach(folder: Path) -> None:
    done = run_here(folder, "predict", "beegfs", "--rate", "3GB/s", *LINKS)
    assert done.returncode == 0
    lines = [line for line in done.stdout.splitlines() if "Option 2" in line]
    assert len(lines) == 2 and all("none" in line and "out of reach: --limit 2,500 MB/s" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), "it is not known what to predict"),
        (("--hosts", "0"), "--hosts: `0` is not a number of hosts"),
        (("--rate", "5000/s"), "--rate: all results of run"),
        (("--rate", "fast"), "--rate: `fast` is not a rate"),
        (("--capacity", "10TB"), "--capacity: run"),
        (("--hosts", "16", "--limit", "Option 9=20Gb/s"), "--limit: the run has no target `Option 9`"),
        (("--hosts", "16", "--limit", "100/s"), "--limit: it is in operations per second"),
    ],
)
def test_what_cannot_be_predicted_is_refused_in_one_line(folder: Path, words: tuple[str, ...], error: str) -> None:
    done = run_here(folder, "predict", "beegfs", *words)
    assert done.returncode == 2 and done.stdout == ""
    first, hint = done.stderr.splitlines()
    assert first.startswith(f"error: {error}") and hint.startswith("hint: ")


def test_a_limit_that_was_exceeded_is_left_out_and_said(folder: Path) -> None:
    done = run_here(folder, "predict", "beegfs", "--hosts", "16", "--limit", "Option 2=100MB/s")
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 2 and all(line.startswith("--limit 100 MB/s is left out for ") for line in lines)
    assert all("Option 2" in line and line.endswith(" MB/s was measured") for line in lines)


def test_a_file_that_does_not_exist_is_refused(folder: Path) -> None:
    done = run_here(folder, "predict", "none.csv", "--hosts", "16")
    assert done.returncode == 2 and done.stderr.startswith("error: there is no file, folder or run none.csv")


def test_a_run_that_does_not_exist_is_refused(folder: Path) -> None:
    done = run_here(folder, "predict", "none", "--hosts", "16")
    assert done.returncode == 2 and done.stderr.startswith("error: there is no run or study 'none'")
