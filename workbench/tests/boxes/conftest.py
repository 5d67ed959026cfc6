"""What tests in clusters in a box are given."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nfs_tools import boxes_below

LONGEST = ("test_smb.py", "test_slurm_runs.py", "test_redundancy.py", "test_parallel_files.py", "test_nfs_contract.py")
"""Files that take minutes: they begin first, so that none of them is alone at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of these files first."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for boxes, in which nothing is left at the end of the test."""
    with boxes_below(tmp_path_factory.mktemp("boxes")) as folder:
        yield folder
