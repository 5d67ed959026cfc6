"""The check that files of runs are opened through one door finds what goes past it."""

import sys

import pytest
from paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

from check_doors import SOURCE, found_in, names_of

NAMES = names_of((SOURCE / "store" / "entries.py").read_text())
IMPORT = "from assay.store.entries import BATCH, DATABASE as BASE\n"


@pytest.mark.parametrize(
    "past",
    [
        "sqlite3.connect(x)",
        "(folder / BATCH).read_text()",
        "open(folder / BATCH)",
        "path = folder / BATCH",
        "(folder / BASE).stat()",
        "look(folder / BATCH)",
    ],
)
def test_ways_past_the_door_are_found(past: str) -> None:
    assert len(list(found_in(IMPORT + past, {"BATCH", "DATABASE"}))) == 1


@pytest.mark.parametrize(
    "through",
    ['f"{folder / BATCH}: no"', "open_new(folder / BATCH)", "is_locked(folder / BATCH)", "read(folder, BATCH)"],
)
def test_what_follows_no_link_is_no_way_past_it(through: str) -> None:
    assert not list(found_in(IMPORT + through, {"BATCH"}))


def test_the_names_of_a_run_s_files_are_known() -> None:
    assert {"DATABASE", "STUDY", "WAL", "BATCH", "PROGRESS", "RUN_LOCK"} <= NAMES
