"""The work of `assay plan`: print what a run of a study would do."""

from collections import Counter
from pathlib import Path
from typing import Any

from assay.cli.stages.growth import print_growth, print_stages, stages_document
from assay.cli.studies.study_check import summary
from assay.cli.studyfile import load_study_file
from assay.model.study.repeats import until_words, within_words
from assay.model.units import about_duration, about_size
from assay.plan.change import Change
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.plan.phases import job_id, plan_phases
from assay.plan.schedule import timetable
from assay.plan.study_warnings import study_warnings
from assay.run.costs.budget import Budget, read_budget
from assay.run.run_time import RunTime, find_past_run, predict_run_time
from assay.run.study_plan import Plan
from assay.terminal.output import print_json, print_line, print_table
from assay.terminal.settings import runs_folder


def plan_file(path: Path, change: Change | None, most: int | None, budget: str | None, as_json: bool) -> None:
    """Print the plan of a study with the changes of the command line.

    Args:
        path: File of the study.
        change: Changes that the command line makes to it.
        most: Number of cases to print; None: all.
        budget: The most that a run may cost, such as `5USD`; None: no limit.
        as_json: Print everything as JSON.

    Raises:
        AssayError: The file cannot be read, the change fits nothing in it, or the budget is not one.
        typer.Exit: There are problems; they have been printed.
    """
    loaded = load_study_file(path, change)
    estimate = estimate_study(loaded.study, loaded.cases)
    money = read_budget(budget, loaded.prices)
    whole = predict_run_time(loaded, estimate, find_past_run(runs_folder(), loaded.study.name))
    if as_json:
        print_json({**plan_document(loaded, estimate, money), "whole_run": vars(whole)})
        return
    _print_head(loaded, estimate)
    _print_cases(loaded, estimate, len(loaded.cases) if most is None else most)
    _print_excluded(loaded)
    print_stages(loaded)
    _print_foot(loaded, estimate, whole)
    if loaded.prices is not None:
        from assay.cli.money.books import warn_stale
        from assay.cli.money.plan_cost import plan_cost, print_cost

        print_cost(plan_cost(loaded.study, estimate, loaded.prices), money)
        warn_stale(loaded.prices.book)


def plan_document(loaded: Plan, estimate: StudyEstimate, budget: Budget | None = None) -> dict[str, Any]:
    """Return the plan for programs: sizes in bytes, times in seconds, durations of the study in nanoseconds."""
    study = loaded.study
    order, due = timetable(study, loaded.cases)
    return {
        "study": study.name,
        "question": study.question,
        "targets": {name: target.model_dump(mode="json") for name, target in study.targets.items()},
        "repeats": study.repeats,
        "repeats_min": study.repeating.min,
        "repeats_within": study.repeating.within,
        "repeats_decide": study.repeating.decide,
        "repeats_time": None if study.repeating.time is None else study.repeating.time / 1e9,
        "seed": study.seed,
        "cases": [
            {
                **vars(case),
                "parameters": {name: vars(case.parameters)[name] for name in type(case.parameters).model_fields},
                "phases": [phase.operation for phase in plan_phases(case)],
                "estimate": {key: value for key, value in vars(item).items() if key != "case"},
            }
            for case, item in zip(loaded.cases, estimate.cases, strict=True)
        ],
        "excluded": [vars(item) for item in loaded.excluded],
        "order": {
            "kind": study.order,
            "jobs": [job_id(case, repeat) for case, repeat in order],
            "due_seconds": [due[job] for job in order] if due else None,
        },
        "estimate": {key: value for key, value in vars(estimate).items() if key != "cases"},
        "stages": stages_document(loaded),
        "cost": _cost(loaded, estimate, budget),
    }


def _cost(loaded: Plan, estimate: StudyEstimate, budget: Budget | None) -> dict[str, Any] | None:
    if loaded.prices is None:
        return None
    from assay.cli.money.plan_cost import cost_document, plan_cost

    return cost_document(plan_cost(loaded.study, estimate, loaded.prices), budget)


def _print_head(loaded: Plan, estimate: StudyEstimate) -> None:
    print_line(": ".join(filter(None, (loaded.study.name, loaded.study.question))))
    print_line(summary(loaded, estimate))
    if loaded.study.schedule is not None:
        print_line(f"schedule: the repeats are spread over {about_duration(loaded.study.schedule.over / 1e9)}")
    for name, target in loaded.study.targets.items():
        place = target.path or "no storage"
        print_line(
            f"target {name}: {target.kind}, {place}" + (f" ({target.description})" if target.description else "")
        )


def _print_cases(loaded: Plan, estimate: StudyEstimate, most: int) -> None:
    rows = [
        (
            case.id,
            case.label,
            str(len(case.operations)),
            about_duration(item.seconds),
            about_duration(item.max_seconds) if item.max_seconds is not None else "-",
            about_size(item.written),
            item.read_summary,
        )
        for case, item in zip(loaded.cases[:most], estimate.cases[:most], strict=True)
    ]
    columns = ("case", "target / workload / axes", "phases", "about", "at most", "writes", "reads")
    print_line("")
    print_table(
        columns, rows, title="Cases, one repeat each", right=columns[2:], least=("phases", "at most", "reads", "writes")
    )
    if len(loaded.cases) > most:
        print_line(f"... and {len(loaded.cases) - most} more; --all shows them")


def _print_excluded(loaded: Plan) -> None:
    counts = Counter((item.workload, item.rule, item.reason) for item in loaded.excluded)
    if counts:
        rows = [(workload, rule, str(count), reason) for (workload, rule, reason), count in counts.items()]
        print_table(("workload", "rule", "cases", "reason"), rows, title="Left out", right=("cases",))


def _print_foot(loaded: Plan, estimate: StudyEstimate, whole: RunTime) -> None:
    study = loaded.study
    rounds, cases = f"the {study.repeats} rounds", "every case"
    repeating = study.repeating
    if repeating.is_adaptive:
        rounds, cases = f"up to {study.repeats} rounds", "every case that still needs repeats"
    if repeating.decide is not None:
        looks = ", ".join(str(count) for count in repeating.look_numbers)
        print_line(f"until: {until_words(None, repeating.decide).removeprefix('until ')}; tested after {looks} repeats")
    if repeating.within is not None:
        print_line(
            f"until: the 95 % interval of each rate is within {within_words(repeating.within)} of its median, "
            f"after {repeating.min} repeats of the case at the earliest"
        )
    if study.order == "random":
        print_line(f"order: random; each of {rounds} has {cases} once, shuffled by seed {study.seed}")
    else:
        print_line(f"order: sequential; {rounds.removeprefix('the ')} in plan order")
    print_growth(loaded)
    for name, space in estimate.peak_space.items():
        print_line(f"space: up to {about_size(space)} on {name}")
    print_line(f"time:  {estimate.time_text}, if these assumptions hold:")
    for line in estimate.assumptions:
        print_line(f"  {line}")
    if repeating.time is not None:
        print_line(f"       or the {about_duration(repeating.time / 1e9)} for all repeats are over")
    print_line(f"whole: {whole.words}")
    for line in study_warnings(study, loaded.cases, estimate):
        print_line(f"note:  {line}")
