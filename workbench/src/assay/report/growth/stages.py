"""The stages of a run: the result of each, the user who accepted it, and where the run stopped."""

from assay.model.result.run import RunInfo
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table


def stage_lines(run: RunInfo) -> list[str]:
    """Return a line on how many stages were measured; no line if the run has no stages."""
    if not run.stages:
        return []
    last = run.stages[-1]
    words = f"{numbers.plural(len(run.stages), 'stage')} measured, up to {last.axis} {last.value}"
    if run.status == "interrupted":
        accepted = f"accepted by {last.accepted_by}" if last.accepted_by else "not accepted yet"
        return [f"{words}, which is {accepted}; then it was stopped"]
    return [words]


def stages_table(run: RunInfo) -> Table:
    """Return a table with a row for each stage."""
    columns = (
        Column("Stage", is_numeric=True),
        Column("With"),
        Column("Ended"),
        Column("Efficiency", is_numeric=True),
        Column("Result"),
        Column("Time so far"),
        Column("Cost so far"),
        Column("Accepted by"),
        Column("At"),
        Column("How"),
    )
    lines: list[tuple[Cell, ...]] = []
    for place, stage in enumerate(run.stages, 1):
        lines.append(
            (
                Num(str(place), place),
                f"{stage.axis} {stage.value}",
                numbers.utc_time(stage.ended_at),
                Num(numbers.share(stage.efficiency), stage.efficiency),
                "; ".join(stage.lines),
                numbers.seconds(stage.seconds),
                stage.cost or "no prices",
                stage.accepted_by or "nobody",
                numbers.utc_time(stage.accepted_at) if stage.accepted_at is not None else "",
                stage.accepted_how,
            )
        )
    caption = (
        "Efficiency: the least of all kinds of work, against the first stage. Results are as they were then. Cost: of "
        "the designs that the study names, for all of the time; hosts that generate the load are not in it."
    )
    return Table("stages-table", columns, tuple(lines), caption)
