"""`assay fit` and `assay find` before they measure: lists, profiles, and what they refuse."""

import json
from pathlib import Path

import pytest
from in_process import run_here


def test_profiles_are_listed_and_shown(tmp_path: Path) -> None:
    listed = run_here(tmp_path, "fit")
    assert listed.returncode == 0
    assert {"etcd", "ml-training", "checkpoint"} <= {line.split()[0] for line in listed.stdout.splitlines()}
    shown = run_here(tmp_path, "fit", "etcd")
    assert "p99 of flushes below 10 ms" in shown.stdout and "https://www.ibm.com/" in shown.stdout
    assert "etcd" in {each["profile"] for each in json.loads(run_here(tmp_path, "fit", "--json").stdout)}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("fit ectd .", 2, "there is no profile `ectd`"),
        ("fit etcd nowhere", 2, "neither a directory nor a device"),
        ("fit etcd s3://bucket/x --destroy", 2, "etcd needs files"),
        ("fit ml-training s3://bucket/x", 2, "objects are put there"),
        ("fit etcd . --accelerators 2", 2, "emulates none"),
        ("fit ./none.yaml .", 2, "none.yaml"),
        ("find . --latency p99", 2, "is not a bound"),
        ("find . --latency max<1ms", 2, "cannot be held"),
        ("find . --latency p99<1ms --time 1s", 2, "is not between"),
        ("find . --latency p99<1ms --size 4k", 2, "--size"),
        ("find . --latency p99<1ms --operation get", 2, "has no get"),
        ("find . --latency p99<1ms --operation read --read-percent 50", 2, "of random_mix"),
        ("find s3://bucket/x --latency p99<1ms --operation put", 2, "objects are put there"),
    ],
)
def test_what_cannot_be_is_one_clear_line(tmp_path: Path, words: str, code: int, message: str) -> None:
    done = run_here(tmp_path, *words.split())
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "hint: " in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
