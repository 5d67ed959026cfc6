"""Removing what a journal names, by its kind."""

import contextlib
from collections.abc import Callable, Mapping

from assay.journal.entry import Entry, Journal
from assay.model.base import AssayError
from assay.model.foreign import plain

Remover = Callable[[Entry], list[str] | None]
"""Removes one thing; returns why it is still there, one line each, or None if it is to stay.

A journal is a claim, not an order: a remover sees for itself whether a thing is what the journal says.
"""


def remove_open(journal: Journal, removers: Mapping[str, Remover]) -> list[str]:
    """Remove all that may still be there, and record what is gone.

    Args:
        journal: Where it was recorded.
        removers: Kind -> what removes such things; others are left alone, and said.

    Returns:
        Why things are still there, one line each.
    """
    left = []
    for entry in journal.journal():
        remover = removers.get(entry.kind, _unknown)
        problems = remover(entry)
        left += problems or []
        if problems == []:
            # A journal that cannot be written must not keep the next thing from being removed.
            with contextlib.suppress(AssayError):
                journal.removed(entry.id)
    return left


def _unknown(entry: Entry) -> list[str]:
    return [plain(f"{entry.name}: nothing that a run makes: left alone")]
