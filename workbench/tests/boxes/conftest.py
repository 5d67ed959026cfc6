"""What tests in clusters in a box are given."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nfs_tools import boxes_below


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for boxes, in which nothing is left at the end of the test."""
    with boxes_below(tmp_path_factory.mktemp("boxes")) as folder:
        yield folder
