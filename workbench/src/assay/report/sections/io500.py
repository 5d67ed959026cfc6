"""IO500's phases and score, for runs with its workloads."""

from collections.abc import Iterator

from assay.analyse.io500_score import Score, io500_scores
from assay.report import numbers
from assay.report.document import Bullets, Column, Fold, Num, Table
from assay.report.formats.io500 import UNOFFICIAL
from assay.report.view import RunView


def folds(view: RunView) -> Iterator[Fold]:
    """Yield a table of phases and scores for each repeat on each target, with broken rules; nothing in other runs."""
    scores = io500_scores(view.analysis.rows)
    if not scores:
        return
    rules = dict.fromkeys(rule for score in scores for rule in score.broken_rules)
    remarks = Bullets((f"This is {UNOFFICIAL}.", *(f"Broken rule: {rule}." for rule in rules)))
    yield Fold("IO500", (_table(scores), remarks), "results-io500")


def _table(scores: tuple[Score, ...]) -> Table:
    columns = (
        Column("Target"),
        Column("Repeat", is_numeric=True),
        Column("Phase"),
        Column("Bandwidth", "GiB/s", is_numeric=True),
        Column("Operations", "1,000/s", is_numeric=True),
        Column("Time", "s", is_numeric=True),
    )
    caption = (
        "Each phase from its start to the end of its last thread. The score of bandwidth is the geometric mean of "
        "the four phases in GiB/s, that of operations the geometric mean of the eight others, and the total the "
        "square root of their product (github.com/IO500/io500)."
    )
    lines = []
    for score in scores:
        lead = (score.target, Num(str(score.repeat), score.repeat))
        for phase in score.phases:
            value = _value(phase.value)
            cells = (value, "") if phase.bandwidth else ("", value)
            lines.append((*lead, phase.name, *cells, Num(f"{phase.seconds:.3f}", phase.seconds)))
        lines.append((*lead, "score", _value(score.bandwidth), _value(score.iops), ""))
        lines.append((*lead, "total score", _value(score.total), "", ""))
    return Table("io500-table", columns, tuple(lines), caption, is_interactive=True)


def _value(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else f"{value:.6f}", value)
