"""Results of another run, such as imported figures of a paper, to be drawn in the same charts as those of a run."""

from collections.abc import Iterator

from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.verdict import Verdict
from assay.model.study.axis import AxisValue


def with_other(analysis: RunAnalysis, other: RunAnalysis) -> RunAnalysis | None:
    """Return a run with results of another one added where they are comparable; None if none is.

    A result is comparable with a workload that sweeps something, if it has the operation and states a value of all
    that the workload sweeps, and nothing else that the other run sweeps differs. The other run's verdicts are left out,
    so that the result must be used for charts and means only.
    """
    own = {row.case.target for row in analysis.rows}
    rows = list(analysis.rows)
    for template in _templates(analysis):
        rows += _comparable(template, other, own)
    return analysis.model_copy(update={"rows": tuple(rows)}) if len(rows) > len(analysis.rows) else None


def other_targets(analysis: RunAnalysis, other: RunAnalysis) -> dict[str, str]:
    """Return the names that the targets of another run have beside those of a run: target -> name."""
    own = {row.case.target for row in analysis.rows}
    return {target: _name(target, other, own) for target in dict.fromkeys(row.case.target for row in other.rows)}


def _name(target: str, other: RunAnalysis, own: set[str]) -> str:
    return f"{target} ({other.run.study})" if target in own else target


def _templates(analysis: RunAnalysis) -> list[ResultRow]:
    """Return one row of each workload and operation with which results are comparable."""
    found: dict[tuple[str, str], ResultRow] = {}
    swept: dict[str, set[tuple[AxisValue, ...]]] = {}
    for row in analysis.rows:
        if row.case.axes and row.rate is not None:
            found.setdefault((row.case.workload, row.operation), row)
            swept.setdefault(row.case.workload, set()).add(tuple(row.case.axes.values()))
    return [row for (workload, _), row in found.items() if len(swept[workload]) > 1]


def _comparable(template: ResultRow, other: RunAnalysis, own: set[str]) -> Iterator[ResultRow]:
    axes = set(template.case.axes)
    for row in other.rows:
        if row.operation != template.operation or row.rate is None or not set(row.case.axes) <= axes:
            continue
        values = {name: row.case.parameters.get_value(name, None) for name in template.case.axes}
        if None in values.values():
            continue
        case = template.case.model_copy(update={"id": "", "target": _name(row.case.target, other, own), "axes": values})
        yield row.model_copy(
            update={
                "case": case,
                "latency": {},
                "curve": (),
                "samples": (),
                "verdict": Verdict.OK,
                "findings": (),
                "machine": (),
                "ceilings": (),
            }
        )
