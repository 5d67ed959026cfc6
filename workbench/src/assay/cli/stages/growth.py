"""The output of `assay plan` about growth: hosts that are needed, weak or strong scaling, and stages."""

from typing import TYPE_CHECKING, Any

from assay.model.money.amount import format_money
from assay.model.study.growth import GROWING_AXES, work_scaling
from assay.model.units import about_duration, format_size
from assay.plan.estimate import estimate_study
from assay.plan.stages import Stage, stages_of
from assay.run.costs.budget import cost_of_time
from assay.run.study_plan import Plan
from assay.terminal.output import print_line, print_table

if TYPE_CHECKING:
    from assay.model.money.priced_designs import FrozenPrices

_WORDS = {
    "weak": "weak scaling: the work of each stays the same",
    "strong": "strong scaling: {} in total, shared by all",
    "": "neither weak nor strong scaling",
}


def stages_document(loaded: Plan) -> list[dict[str, Any]]:
    """Return the stages for programs; times in seconds, for the most repeats."""
    return [
        {
            "axis": stage.axis,
            "value": stage.value,
            "cases": [case.id for case in stage.cases],
            "seconds": _seconds(loaded, stage),
            "cost": _cost(loaded, stage),
        }
        for stage in stages_of(loaded.cases)
    ]


def print_growth(loaded: Plan) -> None:
    """Print how many hosts are needed at once, and whether each workload scales weakly or strongly."""
    if not loaded.study.is_local:
        most = max(case.parameters.hosts for case in loaded.cases)
        print_line(f"hosts: up to {most} at the same time")
    for name, workload in loaded.study.workloads.items():
        axis = next((axis for axis in GROWING_AXES if axis in workload.swept_fields), None)
        if axis is None:
            continue
        first = next((case for case in loaded.cases if case.workload == name), None)
        alike = [
            case
            for case in loaded.cases
            if first is not None
            and (case.workload, case.target) == (name, first.target)
            and _others(case.axes, axis) == _others(first.axes, axis)
        ]
        if len(alike) < 2:
            continue
        found = {int(case.parameters.get(axis) or 0): case.parameters for case in alike}
        whole = format_size(alike[0].parameters.data_set_bytes) if alike[0].group == "data" else "the same work"
        print_line(f"scaling: {name}, {axis} {min(found)} to {max(found)}, {_WORDS[work_scaling(found)].format(whole)}")


def _others(axes: dict[str, Any], axis: str) -> dict[str, Any]:
    return {name: value for name, value in axes.items() if name not in (axis, "streams")}


def print_stages(loaded: Plan) -> None:
    """Print the stages, if hosts or tasks grow in the study, or it states when a stage is accepted."""
    stages = stages_of(loaded.cases)
    if not stages or (stages[0].axis not in ("hosts", "tasks_per_host") and loaded.study.stages is None):
        return
    rows = [
        (
            str(place),
            f"{stage.axis} {stage.value}",
            str(len(stage.cases)),
            about_duration(_seconds(loaded, stage)),
            _cost(loaded, stage) or "-",
        )
        for place, stage in enumerate(stages, 1)
    ]
    columns = ("stage", "with", "cases", "about", "cost")
    print_line("")
    print_table(columns, rows, title="Stages, with `assay run --stage`", right=("stage", "cases", "about", "cost"))
    rule = loaded.study.stages
    if rule is not None:
        efficiency = f"efficiency of at least {100 * rule.efficiency:g} %" if rule.efficiency is not None else ""
        cost = f"a cost of at most {rule.cost}, including the next stage" if rule.cost is not None else ""
        print_line(f"accepted without asking: {' and '.join(filter(None, (efficiency, cost)))}")


def _seconds(loaded: Plan, stage: Stage) -> float:
    """Return the estimated seconds of all repeats of a stage, without ceilings."""
    estimate = estimate_study(loaded.study, stage.cases)
    return loaded.study.repeats * sum(item.seconds for item in estimate.cases)


def _cost(loaded: Plan, stage: Stage) -> str:
    """Return the cost of the designs during a stage; empty without prices."""
    prices: FrozenPrices | None = loaded.prices
    if prices is None:
        return ""
    from assay.money.cost.stored_prices import hour_of_all_running

    return format_money(cost_of_time(_seconds(loaded, stage), hour_of_all_running(prices)), prices.book.currency)
