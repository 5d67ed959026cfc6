"""Removal of what a journal names; the kind of an entry decides how."""

import contextlib
from collections.abc import Callable, Mapping

from assay.journal.entry import Entry, Journal
from assay.model.base import AssayError
from assay.model.escape import escape_line

Remover = Callable[[Entry], list[str] | None]
"""Removes one thing. Returns why it is still there, one line a reason; empty if it is gone, None if it is to stay.

A journal is not trusted: a remover checks that a thing is what the entry says before it removes it.
"""


def remove_open(journal: Journal, removers: Mapping[str, Remover]) -> list[str]:
    """Remove the things of all open entries, and record which are gone.

    Args:
        journal: The journal.
        removers: Kind -> its remover. Things of other kinds are left alone and reported.

    Returns:
        One line for each thing that is still there, with the reason.
    """
    left = []
    for entry in journal.entries():
        remover = removers.get(entry.kind, _unknown)
        problems = remover(entry)
        left += problems or []
        if problems == []:
            # A journal that cannot be written must not prevent the removal of the next thing.
            with contextlib.suppress(AssayError):
                journal.mark_removed(entry.id)
    return left


def _unknown(entry: Entry) -> list[str]:
    return [escape_line(f"{entry.name}: not a thing that a run makes: left alone")]
