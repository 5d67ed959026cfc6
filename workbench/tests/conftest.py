"""Which tier a test is of, and what all tests are given.

Unmarked tests run beside each other on all cores. Those in `boxes` (mark `box`) bring up hosts, servers and links,
those in `installs` (mark `install`) install what is distributed: one at a time, beside the unmarked ones. Those in
`quiet` (mark `quiet`) measure this machine: alone, last.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from soak import times

settings.register_profile(
    "assay",
    deadline=None,
    max_examples=times(100, 1000),
    derandomize=not times(0, 1),
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("assay")
"""No example is judged by its time. In `make test` they are the same each time; in `make soak` they are new ones."""

for variable in ("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TYPER_USE_RICH"):
    # What the program prints is compared; whoever wants colours sets them in the test.
    os.environ.pop(variable, None)

TIERS = {"boxes": "box", "installs": "install", "quiet": "quiet"}
"""Folder -> mark of what is in it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by its folder; a mark made by hand would put a test into no tier."""
    here = Path(__file__).parent
    for item in items:
        if any(item.get_closest_marker(mark) for mark in TIERS.values()):
            raise pytest.UsageError(f"{item.nodeid}: the folder says the tier; take the mark away")
        folder = item.path.relative_to(here).parts[0]
        if folder in TIERS:
            item.add_marker(TIERS[folder])


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests of this process; only tests with `needs_browser` may ask for it."""
    from browser import started

    driver = started()
    yield driver
    driver.quit()
