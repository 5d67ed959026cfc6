"""What each test costs in CPU time, its processes included.

If the variable `ASSAY_TEST_COSTS` names a folder, each process of pytest writes a file there: a line for each test with
seconds of its own process, seconds of processes that it waited for, and its name, separated by tabs. What is set up for
several tests counts for the first of them.
"""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

FOLDER = "ASSAY_TEST_COSTS"


def _spent() -> tuple[float, float]:
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system


class Costs:
    """A plugin that writes down what each test costs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-{os.getpid()}.tsv").open("w")
        self._write("collection", (0.0, 0.0))

    def _write(self, name: str, before: tuple[float, float]) -> None:
        own, children = (after - at for after, at in zip(_spent(), before, strict=True))
        self.file.write(f"{own:.3f}\t{children:.3f}\t{name}\n")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        """Time a test from its setup to its teardown."""
        before = _spent()
        yield
        self._write(item.nodeid, before)
        self.file.flush()


def register(config: pytest.Config) -> None:
    """Begin to write costs if a folder for them is named."""
    if os.environ.get(FOLDER):
        config.pluginmanager.register(Costs(Path(os.environ[FOLDER])), "costs")
