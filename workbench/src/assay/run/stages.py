"""The stages of a run: the next one to be measured, the result of one, and how long the next one takes."""

import getpass
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assay.analyse.growth.stepwise import steps
from assay.model.base import AssayError
from assay.model.money.amount import format_money
from assay.model.result.result import ResultRow
from assay.model.result.stage import MeasuredStage
from assay.model.steady_clock import steady_time
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.money.cost.stored_prices import hour_of_all_running
from assay.plan.estimate import estimate_study
from assay.plan.stages import Stage, stages_of
from assay.run.analysis import judged_rows
from assay.run.costs.budget import cost_of_time
from assay.run.costs.meter import spent_seconds
from assay.run.study_plan import Plan
from assay.store import RunStore
from assay.store.prices import stored_prices


@dataclass(frozen=True)
class EndedStage:
    """A stage that was measured, and the one after it.

    Attributes:
        number: From 1.
        stage_count: How many stages there are.
        stage: What is stored of it.
        refusal: Why the study's rule does not accept it; empty if it does.
        has_rule: The study has a rule.
        next_value: Hosts, tasks or lanes of the next stage; None after the last one.
        next_seconds: How long that takes: the estimate, corrected by how long earlier stages took.
        next_cost: What that costs; empty without prices.
    """

    number: int
    stage_count: int
    stage: MeasuredStage
    refusal: str
    has_rule: bool
    next_value: int | None
    next_seconds: float
    next_cost: str


def plan_to_next_stage(plan: Plan, done: Sequence[MeasuredStage] = ()) -> Plan:
    """Return the plan with the cases up to the first stage that was not measured yet.

    Raises:
        AssayError: Nothing grows in the study, or it cannot be measured in stages.
    """
    if plan.study.schedule is not None:
        message = "a study with a schedule cannot be measured in stages"
        raise AssayError(message, "leave out --stage, or remove the schedule from the study")
    stages = stages_of(plan.cases)
    if not stages:
        message = "the study has no stages: no workload has several numbers of hosts, tasks or lanes"
        raise AssayError(
            message, "give a workload several numbers of hosts, tasks_per_host or lanes, or leave --stage out"
        )
    case_ids = {case.id for stage in stages[: len(done) + 1] for case in stage.cases}
    return replace(plan, cases=tuple(case for case in plan.cases if case.id in case_ids))


def user_and_host() -> str:
    """Return user and host of this process."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def accept_stages(store: RunStore, how: str) -> None:
    """Record that the present user accepts all measured stages that were not accepted before."""
    done = store.info().stages
    if any(not stage.accepted_by for stage in done):
        acceptance = {"accepted_by": user_and_host(), "accepted_at": time.time(), "accepted_how": how}
        store.store_stages([stage if stage.accepted_by else stage.model_copy(update=acceptance) for stage in done])


def end_stage(store: RunStore, plan: Plan) -> None:
    """Record the results of the stages that were just measured: of one, or of all that were left.

    Stages without a stop after them count as accepted.

    Args:
        store: The run, with all data of the stages.
        plan: Plan of the session, with the cases of all stages so far.
    """
    done = list(store.info().stages)
    rows, (seconds, cost) = list(judged_rows(store)), _spent(store, plan)
    wanted = {case.id for case in plan.cases}
    for stage in stages_of(store.cases())[len(done) :]:
        if any(case.id in wanted for case in stage.cases):
            done.append(_done(stage, rows, seconds, cost))
    acceptance = {"accepted_by": user_and_host(), "accepted_at": time.time(), "accepted_how": "without a stop after it"}
    earlier = (one if one.accepted_by else one.model_copy(update=acceptance) for one in done[:-1])
    store.store_stages((*earlier, *done[-1:]))


def _done(stage: Stage, rows: Sequence[ResultRow], seconds: float, cost: str) -> MeasuredStage:
    found = [step for step in steps(rows, stage.axis) if step.number == stage.value]
    known = [step.efficiency for step in found if step.efficiency is not None]
    with_rows = {row.case.id for row in rows}
    missing = [f"{case.label}: no result" for case in stage.cases if case.id not in with_rows]
    is_incomplete = bool(missing) or any(step.rate is None for step in found)
    return MeasuredStage(
        axis=stage.axis,
        value=stage.value,
        ended_at=time.time(),
        efficiency=None if is_incomplete or not known else min(known),
        seconds=seconds,
        cost=cost,
        lines=(*(step.words for step in found), *missing),
    )


def _spent(store: RunStore, plan: Plan) -> tuple[float, str]:
    """Return the seconds of all sessions so far, and the cost of the designs in that time."""
    estimate = estimate_study(plan.study, plan.cases)
    estimates = {case.case: case.seconds for case in estimate.cases}
    seconds = spent_seconds(store.sessions(), store.attempts(), estimates, (*store.last_alive(), steady_time()))
    prices = stored_prices(store)
    return seconds, "" if prices is None else format_money(
        cost_of_time(seconds, hour_of_all_running(prices)), prices.book.currency
    )


def last_stage(store: RunStore, study: Study) -> EndedStage | None:
    """Return the last stage that was measured; None if there is none."""
    done = store.info().stages
    stages = stages_of(store.cases())
    if not done or not stages:
        return None
    following = stages[len(done)] if len(done) < len(stages) else None
    seconds = _takes(store, study, stages[: len(done)], following) if following is not None else 0.0
    prices = stored_prices(store)
    hourly = None if prices is None else hour_of_all_running(prices)
    cost = "" if hourly is None or prices is None else format_money(cost_of_time(seconds, hourly), prices.book.currency)
    return EndedStage(
        len(done),
        len(stages),
        done[-1],
        _refusal(study, done[-1], seconds, hourly),
        study.stages is not None,
        None if following is None else following.value,
        seconds,
        cost,
    )


def _takes(store: RunStore, study: Study, before: Sequence[Stage], following: Stage) -> float:
    """Return the seconds of a stage: its estimate, times how much longer than estimated the stages before took."""
    cases = [case for stage in before for case in stage.cases]
    estimates = {item.case: item.seconds for item in estimate_study(study, cases).cases}
    ended = [one for one in store.attempts() if one.status in ("ok", "errors") and one.case in estimates]
    expected = sum(estimates[one.case] for one in ended)
    factor = sum(one.seconds or 0.0 for one in ended) / expected if expected > 0 else 1.0
    return factor * study.repeats * sum(item.seconds for item in estimate_study(study, following.cases).cases)


def _refusal(study: Study, done: MeasuredStage, seconds: float, hourly: Decimal | None) -> str:
    """Return why the rule of the study does not accept a stage; empty if it does, or there is none."""
    rule = study.stages
    if rule is None:
        return ""
    if done.efficiency is None:
        return "some of its results are not usable, or cannot be compared with the first stage"
    if rule.efficiency is not None and done.efficiency < rule.efficiency:
        return f"its efficiency is {100 * done.efficiency:.0f} %, the study requires {100 * rule.efficiency:.0f} %"
    if rule.cost is not None and hourly is not None:
        limit = Decimal(rule.cost[:-3].strip())
        total = cost_of_time(done.seconds + seconds, hourly)
        if total > limit:
            name = rule.cost[-3:]
            return (
                f"with the next stage it would cost {format_money(total, name)}, the study allows "
                f"{format_money(limit, name)}; "
                f"the next stage takes {about_duration(seconds)}"
            )
    return ""
