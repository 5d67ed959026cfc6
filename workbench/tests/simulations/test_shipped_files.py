"""Files that come with Assay say the same however they are read."""

from pathlib import Path

import pytest

from assay.model.source import read_source
from assay.money.books.books import BOOKS, shipped_files
from assay.money.cost.designs import DESIGNS

FILES = [*shipped_files(BOOKS).values(), *shipped_files(DESIGNS).values()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_library_in_c_reads_the_same_values_at_the_same_places(path: Path) -> None:
    quick, plain = (read_source(path.read_bytes(), is_shipped=how) for how in (True, False))
    assert quick == plain and not plain.problems
