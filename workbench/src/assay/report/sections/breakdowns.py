"""Folded tables that break results down: by request type, file sets, repeated access, other clients, counters."""

from collections.abc import Callable, Iterator

from assay.report.document import Fold, Table
from assay.report.sections.file_sets import file_sets_table
from assay.report.sections.repeated_access import repeated_access_table
from assay.report.sections.request_types import request_types_table
from assay.report.sections.services import services_table
from assay.report.sections.visibility import visibility_table
from assay.report.view import RunView

_TABLES: tuple[tuple[str, str, Callable[[RunView], Table | None]], ...] = (
    ("Per request type", "results-mixes", request_types_table),
    ("Sets of files", "results-file-sets", file_sets_table),
    ("First and repeated access", "results-accesses", repeated_access_table),
    ("What other clients see", "results-seen", visibility_table),
    ("Service counters", "results-services", services_table),
)


def folds(view: RunView) -> Iterator[Fold]:
    """Yield the tables that are not empty for this run."""
    for title, name, make in _TABLES:
        if (table := make(view)) is not None:
            yield Fold(title, (table,), name)
