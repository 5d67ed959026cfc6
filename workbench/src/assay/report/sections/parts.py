"""What results consist of, in a folded table for each way to take them apart."""

from collections.abc import Callable, Iterator

from assay.report.document import Fold, Table
from assay.report.sections.accesses import accesses_table
from assay.report.sections.file_sets import file_sets_table
from assay.report.sections.mixes import mixes_table
from assay.report.sections.seen import seen_table
from assay.report.sections.services import services_table
from assay.report.view import View

_TABLES: tuple[tuple[str, str, Callable[[View], Table | None]], ...] = (
    ("Per request type", "results-mixes", mixes_table),
    ("Sets of files", "results-file-sets", file_sets_table),
    ("First and repeated access", "results-accesses", accesses_table),
    ("What other clients see", "results-seen", seen_table),
    ("Service counters", "results-services", services_table),
)


def folds(view: View) -> Iterator[Fold]:
    """Those that the run has anything of."""
    for title, name, make in _TABLES:
        if (table := make(view)) is not None:
            yield Fold(title, (table,), name)
