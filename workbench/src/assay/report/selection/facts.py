"""What must be known of the values of a table or chart: how they were made, their verdicts, and what they lack."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from assay.model.result.imported import programs
from assay.model.result.verdict import MEANINGS, Verdict
from assay.model.room import hook
from assay.report import numbers
from assay.report.selection.cells import Key, ResultCell, Selection, peer_groups
from assay.report.selection.decided import undecided_reasons
from assay.report.selection.properties import (
    RunResult,
    host_of,
    named_words,
    property_title,
    value_words,
)

_SIGNS = "†‡§¶#"
_UNDECIDED, _LACKING, _DOUBTED = "≈", "°", "?"
_MAX_NAMED = 4
_MAX_LACKING = 2
_DAY = 10
"""Letters of a date."""
_SUMMARIES = {"mean": "mean", "max": "greatest value", "min": "least value"}


class Marks:
    """Signs behind the values of cells, and what they mean.

    A verdict that all cells have gets no sign, only a sentence.
    """

    def __init__(self, selection: Selection, cells: Iterable[ResultCell]) -> None:
        """Collect the verdicts of cells that have a value."""
        self._selection = selection
        self._cells = [cell for cell in cells if cell.figure is not None and cell.results]
        found = [verdict for cell in self._cells for verdict in cell.verdicts]
        self._verdicts = list(dict.fromkeys(sorted(found, key=list(Verdict).index)))
        self._common = [item for item in self._verdicts if all(item in cell.verdicts for cell in self._cells)]
        marked = [item for item in self._verdicts if item not in self._common]
        self._signs = {item: _sign(place) for place, item in enumerate(marked)}
        self._partly = sum(cell.is_partly_checked for cell in self._cells)
        self._ok = sum(not cell.verdicts for cell in self._cells)
        self._lacking: dict[int, str] = {}
        self._doubted = {id(cell) for cell in self._cells if _is_doubted(cell)}
        self._undecided = {id(cell) for cell in self._cells if _is_undecided(selection, cell)}

    def add_lacking(self, cell: ResultCell, words: str) -> None:
        """Mark a cell that lacks values that others beside it have."""
        self._lacking[id(cell)] = words

    def of(self, cell: ResultCell) -> str:
        """Return the signs of a cell, with a blank before them; empty if it has none."""
        signs = [self._signs[item] for item in cell.verdicts if item in self._signs]
        signs += [_DOUBTED] if id(cell) in self._doubted else []
        signs += [_LACKING] if id(cell) in self._lacking else []
        signs += [_UNDECIDED] if id(cell) in self._undecided and not self._all_undecided else []
        return f" {''.join(signs)}" if signs else ""

    @property
    def _all_undecided(self) -> bool:
        return len(self._undecided) == len([cell for cell in self._cells if cell.base_results and not _is_base(cell)])

    def notes(self) -> list[str]:
        """Return what the signs in cells mean; none if no cell has a sign."""
        one_of = "at least one result behind it is " if self._is_of_several else ""
        texts = [f"{sign} {one_of}{item}: {_meaning(item)}." for item, sign in self._signs.items()]
        if self._doubted:
            texts.append(f"{_DOUBTED} the audit has an error against a figure behind this value.")
        texts += self._lacking_sentence(f"{_LACKING} not")
        if self._undecided and not self._all_undecided:
            texts.append(f"{_UNDECIDED} it is not decided that the two targets differ.")
        return texts

    def common_sentences(self) -> list[str]:
        """Return what is true of all cells, or of all without a sign."""
        start = "Behind each value is at least one result that is" if self._is_of_several else "All values are"
        texts = [f"{start} {item} ({_meaning(item)})." for item in self._common]
        texts += self._partly_sentence()
        if self._undecided and self._all_undecided:
            texts.append("No comparison decides that the targets differ.")
        return texts

    @property
    def _is_of_several(self) -> bool:
        return bool(self._selection.over or self._selection.quantity.base)

    def is_marked(self, cell: ResultCell) -> bool:
        """Whether a chart marks a cell: it has a verdict that not all have."""
        return any(item in self._signs for item in cell.verdicts)

    def chart_sentences(self, look: str) -> list[str]:
        """Return what is true of all values of a chart, and how many are marked why.

        Args:
            look: How marked values look, such as `Hollow`.
        """
        texts = []
        counts = {item: sum(item in cell.verdicts for cell in self._cells) for item in self._signs}
        if counts:
            words = numbers.listing([f"{count} {item}" for item, count in counts.items()])
            one_of = " (at least one result behind each)" if self._is_of_several else ""
            texts.append(f"{look}: {words}{one_of}.")
        if self._doubted:
            of = numbers.part_of_total(len(self._doubted), len(self._cells), "value")
            texts.append(f"The audit has errors against the figures behind {of}.")
        return [*texts, *self._lacking_sentence(), *self.common_sentences()]

    def _partly_sentence(self) -> list[str]:
        """Return for how many values that are ok some checks lacked evidence."""
        # Checks of a run need what an import does not have; what speaks against imported figures is in their audit.
        if not self._partly or all(one.view.run.imports for cell in self._cells for one in cell.results):
            return []
        which = "All values" if self._ok == len(self._cells) else "The other values"
        part = "" if self._partly == self._ok else f"for {self._partly} of these {self._ok} "
        return [f"{which} passed every check that could run; {part}some checks lacked evidence."]

    def _lacking_sentence(self, start: str = "Not all are") -> list[str]:
        if not self._lacking:
            return []
        named = list(dict.fromkeys(self._lacking.values()))
        more = f"; {len(named) - _MAX_LACKING} more" if len(named) > _MAX_LACKING else ""
        words = f"{'; '.join(named[:_MAX_LACKING])}{more}"
        return [f"{start} of all values that others have ({words}): differences may come from what is missing."]


def _sign(place: int) -> str:
    return _SIGNS[place % len(_SIGNS)] * (1 + place // len(_SIGNS))


def _meaning(verdict: Verdict) -> str:
    return _lower(MEANINGS[verdict].sentence).rstrip(".")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _is_base(cell: ResultCell) -> bool:
    return all(one.row is base.row for one, base in zip(cell.results, cell.base_results, strict=True))


def _is_doubted(cell: ResultCell) -> bool:
    """Whether the audit has an error against an imported figure behind a cell."""
    return any(
        one.view.run.imports and one.row.case.id in hook("doubted_cases")(Path(one.view.run.folder))
        for one in (*cell.results, *cell.base_results)
    )


def _is_undecided(selection: Selection, cell: ResultCell) -> bool:
    """Whether a cell is a ratio of two results of which the run does not decide that they differ, or of summaries."""
    if not cell.base_results or _is_base(cell):
        return False
    if selection.over:
        return True
    one, base = cell.results[0], cell.base_results[0]
    return bool(undecided_reasons(one.view, one.row, base.row))


def lacking_points(selection: Selection, keys: Sequence[str], cells: Mapping[Key, ResultCell]) -> dict[Key, str]:
    """Return the cells that lack values over which others are summarised that differ only in run, target or machine.

    Each comes with the values that it lacks, in words.
    """
    if not selection.over:
        return {}
    found = {}
    for group in peer_groups(keys, cells):
        every = dict.fromkeys(point for key in group for point in cells[key].points)
        for key in group:
            missing = [point for point in every if point not in cells[key].points]
            is_without = all(value is None for point in cells[key].points for value in point)
            if missing and not is_without:
                found[key] = f"{_named(keys, key)}: without {_points_words(selection, missing, len(every))}"
    return found


def _named(keys: Sequence[str], key: Key) -> str:
    return ", ".join(named_words(name, value) for name, value in zip(keys, key, strict=True))


def _key_words(keys: Sequence[str], key: Key) -> str:
    return ", ".join(value_words(name, value) for name, value in zip(keys, key, strict=True))


def _points_words(selection: Selection, points: Sequence[Key], count: int) -> str:
    """Return the missing ones of all values, or how many there are if they are of several properties."""
    if len(selection.over) > 1:
        return f"{len(points)} of {count} combinations of {_listed(selection.over)}"
    words = [_key_words(selection.over, point) for point in points[:_MAX_NAMED]]
    more = [f"{len(points) - _MAX_NAMED} more"] if len(points) > _MAX_NAMED else []
    return f"{_listed(selection.over)} {numbers.listing([*words, *more])}"


def _listed(keys: Sequence[str]) -> str:
    return numbers.listing([property_title(key).lower() for key in keys])


def summary_sentence(selection: Selection, cells: Iterable[ResultCell], has_counts: bool = False) -> str:
    """Return over what the values are summarised, and of how many values each is; empty if they are not.

    Args:
        selection: The chosen results.
        cells: The cells.
        has_counts: A column states of how many values each is.
    """
    if not selection.summary:
        return ""
    counts = sorted({len(cell.points) for cell in cells if cell.figure is not None})
    words = f"{numbers.capitalized(_SUMMARIES[selection.summary])} over {_listed(selection.over)}"
    if selection.quantity.base:
        words = f"Ratio of the two targets' {_SUMMARIES[selection.summary]}s over {_listed(selection.over)}"
        words += ", both over the same values"
    if selection.options.common_values:
        words += " (only values that all compared runs and targets have)"
    if has_counts or not counts:
        return f"{words}; the last column states of how many values."
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{words}, of {number} {'value' if counts[-1] == 1 else 'values'} each."


def repeats_sentence(selection: Selection, cells: Iterable[ResultCell]) -> str:
    """Return how many repeats each result is of; empty for quantities that are of no repeats."""
    if not selection.quantity.of_repeats:
        return ""
    cells = list(cells)
    counts = sorted({one.row.rate.n for cell in cells for one in cell.results if one.row.rate is not None})
    if not counts or counts[-1] == 0:
        return ""
    results = [one for cell in cells for one in cell.results]
    is_imported = all(one.view.run.imports for one in results)
    if counts == [1]:
        if is_imported:
            return "" if selection.over else "Each is one imported figure."
        return "Each result is of a single repeat."
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    words = {"medians": "Results are medians of", "pooled": "Each result is of all operations of"}
    of_what = "imported figures" if is_imported else "repeats"
    return f"{words[selection.quantity.of_repeats]} {number} {of_what}."


def mixture_sentence(cells: Iterable[ResultCell]) -> str:
    """Return where and when the runs were measured, if the values are of runs that differ in it; else empty."""
    results = {one.run: one for cell in cells for one in (*cell.results, *cell.base_results)}
    if len(results) < 2:
        return ""
    origins = {run: _origin(one) for run, one in results.items()}
    if len(set(origins.values())) == 1 and not any(one.view.run.imports for one in results.values()):
        return ""
    words = numbers.listing([f"{run} ({origin})" for run, origin in origins.items()])
    return f"The runs were not measured together, so differences may come from machine, settings or time: {words}."


def _origin(one: RunResult) -> str:
    """Return date and machine of a run, or with which tools an imported one was measured."""
    run = one.view.run
    if run.imports:
        return f"imported from {programs(run.imports)}"
    host = host_of(one.view)
    return f"{numbers.utc_time(run.created_at)[:_DAY]}, {host or 'machine not recorded'}"


def are_all_ok(cells: Iterable[ResultCell]) -> bool:
    """Return whether all results behind cells are ok, so that a caption may say what is to be seen."""
    return all(not cell.verdicts for cell in cells)
