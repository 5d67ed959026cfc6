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
                stage.accepted_by or "not accepted",
                numbers.utc_time(stage.accepted_at) if stage.accepted_at is not None else "",
                stage.accepted_how,
            )
        )
    caption = (
        "Efficiency: the lowest of all kinds of work, relative to the first stage. Results are those at the end of "
        "each stage. Cost: of the designs in the study, for the whole time; it does not include hosts that generate "
        "the load."
    )
    return Table("stages-table", columns, tuple(lines), caption)
