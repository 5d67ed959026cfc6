"""Notes: what looked odd."""

from assay.report.document import Bullets, Note, Section
from assay.report.view import View


def section(view: View) -> Section:
    """The notes as a list."""
    notes = view.analysis.notes
    return Section("notes", "What looked odd", (Bullets(notes),) if notes else (Note("Nothing did."),))
