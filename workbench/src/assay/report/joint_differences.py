"""How each of several runs differs from the first one, and which of the differences are significant."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from assay.analyse.run_variation import MIN_RUNS
from assay.analyse.runs import MORE_RUNS_HINT
from assay.model.result.comparison import JointRow, JointRuns
from assay.model.result.result import Comparison
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Heading, Note, Num, Paragraph, Table

MAX_ROWS = 5000
_READING = (
    "The difference is that of the medians. Repeats of one run share its conditions, so each run counts as one "
    "observation. A difference is significant if it exceeds the variation between runs of the study, which "
    f"{MIN_RUNS} or more other runs in the folder show (p below 0.05, times the number of comparisons: Bonferroni). "
    "~ marks differences that are not."
)


def joint_differences(found: JointRuns, names: Sequence[str]) -> Iterator[Block]:
    """Yield how many common results differ from those of the first run, and each difference; nothing without any.

    Args:
        found: The runs.
        names: A name for each run.
    """
    if not any(pair for row in found.rows for pair in row.comparisons):
        return
    yield Bullets(tuple(_counts(found, place, names[place]) for place in range(1, len(names))))
    yield Note(_unknown_variation(found)) if _unknown_variation(found) else Paragraph(_READING)
    compared = [row for row in found.rows if any(row.comparisons)][:MAX_ROWS]
    order = list(dict.fromkeys(row.target for row in compared))
    ordered = sorted(compared, key=lambda row: order.index(row.target))
    for target, rows in groupby(ordered, key=lambda row: row.target):
        if target:
            yield Heading(target, "")
        yield _table(list(rows), names)


def _table(rows: Sequence[JointRow], names: Sequence[str]) -> Table:
    columns = (Column("What"), *(Column(name, is_numeric=True) for name in names[1:]))
    cells: tuple[tuple[Cell, ...], ...] = tuple((row.what, *map(_difference, row.comparisons[1:])) for row in rows)
    has_caveats = any(pair is not None and pair.caveat for row in rows for pair in row.comparisons)
    caption = "* A verdict of one of the two results speaks against the comparison." if has_caveats else ""
    return Table("joint-differences", columns, cells, caption, is_interactive=len(rows) > 8)


def _difference(one: Comparison | None) -> Num:
    if one is None:
        return Num(numbers.NONE, None)
    words = f"{'' if one.separable else '~ '}{numbers.difference_text(one.ratio)}{' *' if one.caveat else ''}"
    return Num(words, 100 * (one.ratio - 1))


def _counts(found: JointRuns, place: int, name: str) -> str:
    pairs = [pair for row in found.rows if (pair := row.comparisons[place]) is not None]
    differ = [pair for pair in pairs if pair.separable]
    slower = sum(pair.ratio < 1 for pair in differ)
    same = len(pairs) - len(differ)
    return (
        f"{name}: {numbers.plural(len(pairs), 'common result')}: {len(differ) - slower:,} faster, {slower:,} slower, "
        f"{same:,} without a significant difference."
    )


def _unknown_variation(found: JointRuns) -> str:
    """Return why no difference can be significant; empty if one can."""
    pairs = [pair for row in found.rows for pair in row.comparisons if pair is not None]
    if not pairs or not all(pair.has_too_few for pair in pairs):
        return ""
    can_repeat = not any(run.imported for run in found.runs)
    words = "How much runs of this study differ from day to day is not known, so that no difference is significant."
    return f"{words} {numbers.capitalized(MORE_RUNS_HINT)}." if can_repeat else words
