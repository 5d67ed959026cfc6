"""The tables of a row and of the goals, as cells; for the terminal and for the page."""

from __future__ import annotations

from figures import Outcome, Spread, judge, of_measure, ratios
from model import MEASURES, Row
from results import RowResult

Table = list[list[str]]


def number(value: float) -> str:
    """Three digits that count."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.1 else f"{value:.2g}"


def with_spread(found: Spread | None, scale: float = 1.0) -> str:
    """`1.23 (1.20-1.31)`: the median and its quartiles."""
    if found is None:
        return ""
    low, median, high = (number(v * scale) for v in (found.low, found.median, found.high))
    return median if found.count == 1 else f"{median} ({low}–{high})"


def of_row(row: Row, result: RowResult) -> Table:
    """One line per contender: its figures, its ratio to the limit, and Assay's ratio to it."""
    reasons = {result.absent.get(contender.key, "") for contender in row.contenders}
    if len(row.contenders) > 1 and len(reasons) == 1 and "" not in reasons:
        return [["", ""], ["every one", f"absent: {reasons.pop()}"]]
    many = len(row.headline) > 1
    head = ["", *(f"{MEASURES[m].heading}, {MEASURES[m].unit}" for m in row.measures)]
    for measure in row.headline:
        word = f"{MEASURES[measure].heading}: " if many else ""
        head.append(f"{word}× {'its pair' if row.limit is None else 'bare'}")
        head += [f"{word}Assay × this"] if row.limit else []
    table = [head]
    for contender in row.contenders:
        label = result.labels.get(contender.key, contender.label)
        if contender.key in result.absent:
            table.append([label, f"absent: {result.absent[contender.key]}"] + [""] * (len(head) - 2))
            continue
        samples = result.rounds[contender.key]
        line = [label, *(with_spread(of_measure(samples, m), MEASURES[m].scale) for m in row.measures)]
        for measure in row.headline:
            other = contender.against or row.limit
            of_limit = other is not None and other != contender.key
            line.append(with_spread(ratios(result.rounds, contender.key, other, measure)) if of_limit else "")
            if row.limit:
                mine = contender.key == "assay"
                line.append("" if mine else with_spread(ratios(result.rounds, "assay", contender.key, measure)))
        table.append(line)
    return _without_empty(table)


def _without_empty(table: Table) -> Table:
    """The table without columns in which nobody has anything."""
    keep = [at for at in range(len(table[0])) if at == 0 or any(line[at] for line in table[1:])]
    return [[line[at] for at in keep] for line in table]


def goal_words(row: Row, outcome: Outcome, result: RowResult) -> str:
    """`CPU at most 1.05 × bare loop`."""
    goal, measure = outcome.goal, MEASURES[outcome.goal.measure]
    labels = {c.key: result.labels.get(c.key, c.label) for c in row.contenders}
    who = "" if goal.contender == "assay" else f"{labels[goal.contender]}: "
    bound = "at most" if goal.most else "at least"
    if goal.against is not None:
        return f"{who}{measure.heading} {bound} {goal.bound:g} × {labels[goal.against]}"
    return f"{who}{measure.heading} {bound} {goal.bound * measure.scale:g} {measure.unit}"


def of_goals(rows: list[tuple[Row, RowResult]]) -> Table:
    """One line per goal: what was asked, what was measured, whether it is met."""
    table = [["row", "goal", "measured", ""]]
    for row, result in rows:
        for goal in row.goals:
            outcome = judge(goal, result.rounds)
            scale = 1.0 if goal.against else MEASURES[goal.measure].scale
            words = {True: "met", False: "**not met**", None: "not measured"}[outcome.met]
            measured = with_spread(outcome.measured, scale)
            table.append([row.title, goal_words(row, outcome, result), measured, words])
    return table


def markdown(table: Table) -> str:
    """A table for the page."""
    lines = ["| " + " | ".join(line) + " |" for line in table]
    lines.insert(1, "|" + "|".join(["---", *(["---:"] * (len(table[0]) - 1))]) + "|")
    return "\n".join(lines)


def plain(table: Table) -> str:
    """A table for the terminal."""
    widths = [max(len(line[at]) for line in table if not line[1].startswith("absent")) for at in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
    )
