"""A run in whose database somebody has put values that are none: it is one line, and the other runs are shown."""

import json
import random
import shutil
from pathlib import Path

import pytest
from in_process import run_here
from odd_runs import columns, put
from stored_runs import noisy, store_run

from assay.model.base import EXIT_OK, EXIT_REFUSED, EXIT_USAGE
from assay.store.entries import DATABASE

SPEEDS = {(target, operation): noisy(1e8, 3, seed=seed) for seed, (target, operation) in enumerate(
    [("ssd", "write"), ("ssd", "read"), ("nfs", "write"), ("nfs", "read")]
)}  # fmt: skip
GOOD = 5
EDITS = 20


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    for number in range(GOOD):
        store_run(folder / "runs", f"2026112{number}-000000-nightly", SPEEDS)
    return folder


def test_whatever_a_run_holds_no_command_fails(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUNS", str(runs / "runs"))
    choice = random.Random(39)
    good, odd = runs / "runs" / "20261120-000000-nightly", runs / "runs" / "odd"
    places = columns(good / DATABASE)
    for _ in range(EDITS):
        shutil.rmtree(odd, ignore_errors=True)
        shutil.copytree(good, odd)
        what = put(odd / DATABASE, choice, *choice.choice(places))
        commands = [
            ("show", odd),
            ("show", odd, "--json", "--all"),
            ("show", odd, "c0001"),
            ("report", odd, "--output", "r.html"),
            ("export", odd, "--format", "csv", "--output", "-"),
            ("export", odd, "--format", "json", "--output", "-"),
            ("env", "--diff", odd, good),
            ("compare", good, odd),
        ]
        for command in (("list", "--json"), ("history", "nightly"), *choice.sample(commands, 2)):
            done = run_here(runs, *command)
            assert done.returncode in (EXIT_OK, 1, EXIT_USAGE, EXIT_REFUSED), (what, command, done.stderr)
            assert "\x1b" not in done.stdout + done.stderr, (what, command)
            if command[0] == "list":
                listed = json.loads(done.stdout)
                assert sum(not run["problem"] for run in listed) >= GOOD, what
                assert len(listed) == GOOD + 1
            if command[0] == "history":
                assert done.returncode == EXIT_OK, (what, done.stderr)
    shutil.rmtree(odd)
