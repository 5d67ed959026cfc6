"""The short answer: the first page."""

from assay.report.document import Section
from assay.report.first.page import first_page
from assay.report.view import View


def section(view: View) -> Section:
    """The page."""
    return Section("answer", "Short answer", first_page(view).blocks)
