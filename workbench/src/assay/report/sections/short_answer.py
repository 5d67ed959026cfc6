"""The section with the short answer, which is the first page."""

from assay.report.document import Section
from assay.report.summary.page import first_page
from assay.report.view import RunView


def section(view: RunView) -> Section:
    """Return the section."""
    return Section("answer", "Short answer", first_page(view).blocks)
