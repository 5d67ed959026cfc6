"""What commands print in narrow terminals: no line is wider, and no number or name of a run is broken."""

import re
from pathlib import Path

import pytest
from run_tools import assay, study
from stored_runs import DAY, STARTED, noisy, store_run

RUNS = tuple(f"2026112{day}-211503-a-study-of-a-name" for day in range(1, 5))
COMMANDS = (
    ("list",),
    ("show", "last"),
    ("show", "last", "c0001"),
    ("compare", *RUNS[:2]),
    ("history", "a-study-of-a-name"),
    ("predict", "last", "--hosts", "8", "--capacity", "1GB"),
    ("prices", "list"),
    ("price", "--list"),
    ("catalog", "list"),
    ("plan", "study.yaml"),
    ("doctor",),
    ("env", "last"),
)
NUMBER = re.compile(r"[0-9][0-9,.]*[0-9]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("narrow")
    for number, run in enumerate(RUNS):
        speeds = {("a-disk-with-a-long-name", "write"): noisy(3e8), ("memory", "write"): noisy(9e9)}
        store_run(folder / "assay-runs", run, speeds, created_at=STARTED + number * DAY, study="a-study-of-a-name")
    study(folder)
    return folder


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: "-".join(words[:3:2]))
def test_lines_fit_and_nothing_is_broken(
    folder: Path, words: tuple[str, ...], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What else the machine does is something else a moment later.
    monkeypatch.setattr("assay.launch.other_load.sample_load", lambda *_: [])
    whole = assay(folder, *words).stdout
    monkeypatch.setattr("assay.terminal.output.terminal_width", lambda err=False: width)
    narrow = assay(folder, *words).stdout
    longest = max(len(word) for word in narrow.split())
    assert max(map(len, narrow.splitlines())) <= max(width, longest + 12)
    rows = [line for line in narrow.splitlines() if set(line) != {"─"}]
    assert set(NUMBER.findall("\n".join(rows))) <= set(NUMBER.findall(whole)), words
    if words[0] == "list":
        assert (
            all(run in narrow for run in RUNS)
            and "columns left out: cases" not in whole
            and "columns left out: " in narrow
        )
