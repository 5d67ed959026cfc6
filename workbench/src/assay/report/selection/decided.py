"""Whether a run decides that two of its results differ."""

from assay.model.result.decision import PointDecision, PointOutcome
from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.view import RunView


def undecided_reasons(view: RunView, first: ResultRow, second: ResultRow) -> tuple[str, ...]:
    """Return why the run does not decide that two of its rates differ; nothing if it does."""
    point = _point(view, first, second)
    if point is None:
        return ("no comparison of these two results was made, so that it is not known whether they differ",)
    if point.outcome is PointOutcome.FASTER:
        return ()
    if point.outcome is PointOutcome.EQUAL:
        return (f"the run finds them equal within {numbers.share(point.within)}",)
    return (f"it is undecided whether they differ{f': {point.why}' if point.why else ''}",)


def _point(view: RunView, first: ResultRow, second: ResultRow) -> PointDecision | None:
    """Return the comparison of two results of a run; None if they differ in more than the target."""
    names = {first.case.target, second.case.target}
    same = (first.case.workload, first.operation, first.case.axes)
    if same != (second.case.workload, second.operation, second.case.axes):
        return None
    for decision in view.analysis.decisions:
        if (decision.workload, decision.operation) == same[:2] and {decision.base, decision.other} == names:
            return next((point for point in decision.points if point.axes == same[2]), None)
    return None
