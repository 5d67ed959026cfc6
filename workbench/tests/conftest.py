"""What all tests are given. The folder of a test says which command runs it: docs/testing.md."""

import gc
import os
from collections.abc import Iterator
from typing import Any

import costs
import pytest
from hypothesis import HealthCheck, settings
from soak import times

settings.register_profile(
    "assay",
    deadline=None,
    max_examples=times(60, 1000),
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


def pytest_configure(config: pytest.Config) -> None:
    """Write down what each test costs, where a folder for that is named."""
    costs.register(config)


def pytest_collection_finish() -> None:
    """Spare the garbage collector the tests, which live to the end: it would look through thousands each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests of this process; only tests with `needs_browser` may ask for it."""
    from browser import started

    driver = started()
    yield driver
    driver.quit()
