"""What a table or chart shows, in a sentence."""

from collections.abc import Sequence

from assay.report import numbers
from assay.report.selection.cells import Key, Selection
from assay.report.selection.conditions import is_comparison
from assay.report.selection.properties import named_words, property_title

_MAX_FIXED = 3
"""Most values of a condition that are named."""


def selection_words(selection: Selection, part: Key, keys: Sequence[str], unit: str = "") -> str:
    """Return what is shown, by which properties, and of which work: `Throughput by file size and target; write`.

    Args:
        selection: The chosen results.
        part: Its values of `split`.
        keys: The properties by which values differ.
        unit: The unit, if it stands nowhere else.
    """
    titles = list(dict.fromkeys(selection.quantity.title_of(one) for one in selection.results))
    by = numbers.listing([property_title(key).lower() for key in keys])
    unit_words = f" in {unit}" if unit else ""
    words = f"{numbers.listing(titles) if len(titles) < _MAX_FIXED else 'Values'}{unit_words} by {by}"
    fixed = [part_words(selection, part)] if part else []
    for key, written in selection.options.where.items():
        values = selection.sorted_values(key, selection.results)
        if key in selection.over:
            # A mean over some of the values is another one than over all.
            joined = (" and " if is_comparison(written[0]) else " or ").join(written)
            fixed.append(f"{property_title(key).lower()} {joined}")
        elif key not in (*keys, *selection.options.split) and len(values) == 1:
            fixed.append(named_words(key, values[0]))
    return f"{words}; {', '.join(fixed)}" if fixed else words


def part_words(selection: Selection, part: Key, is_title: bool = False) -> str:
    """Return the values of `split` of a table or picture, in words; a title begins with a capital."""
    words = [named_words(key, value) for key, value in zip(selection.options.split, part, strict=True)]
    if is_title and selection.options.split[0] not in ("target", "run"):
        words[0] = numbers.capitalized(words[0])
    return ", ".join(words)
