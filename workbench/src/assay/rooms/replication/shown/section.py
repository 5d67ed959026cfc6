"""Section of the report: replication."""

from assay.report.document import Section
from assay.report.view import RunView


def section(view: RunView) -> Section | None:
    """Return the section; None without replication."""
    return None
