"""How unit tests are shared out among processes."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

SHARED = "unit/rooms/advice/"
"""Tests in this folder ask for the same advice again and again: in one process it is made once."""


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each process takes whole files, and one of them all files of the folder `SHARED`."""
    scheduler = LoadFileScheduling(config, log)
    by_file = scheduler._split_scope
    scheduler._split_scope = lambda nodeid: SHARED if SHARED in nodeid else by_file(nodeid)
    return scheduler
