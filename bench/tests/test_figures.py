"""Medians, ratios, goals and tables, from figures that are made up."""

from __future__ import annotations

import pytest
import tables
from figures import judge, of_measure, ratios, spread
from model import MEASURES, Contender, Row, at_least, at_most
from results import Results, RowResult, load
from rows import OBJECTS, ROWS


def no_steps(_):
    """Runs nothing."""
    yield from ()


def made_up() -> tuple[Row, RowResult]:
    """A row with three contenders, one of them absent, one failed in one round."""
    contenders = [Contender(key, key.title(), no_steps) for key in ("bare", "assay", "fio")]
    goals = [at_most("cpu_us", 1.05, "bare"), at_least("ops_per_s", 2000), at_most("cpu_us", 0.8, "fio")]
    row = Row("row", "A row", contenders, ("cpu_us", "ops_per_s"), ("cpu_us",), goals)
    result = RowResult(absent={"fio": "not on PATH"})
    result.rounds["bare"] = [{"cpu_us": cost} for cost in (1.0, 2.0, 4.0)]
    result.rounds["assay"] = [{"cpu_us": 1.0, "ops_per_s": 2500.0}, None, {"cpu_us": 4.4, "ops_per_s": 2500.0}]
    result.rounds["fio"] = []
    return row, result


def test_spread_is_the_median_and_the_quartiles():
    """Of nothing there is none."""
    assert spread([]) is None
    assert spread([3.0]).median == 3.0
    found = spread([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.low, found.median, found.high, found.count) == (2.0, 3.0, 4.0, 5)


def test_ratios_are_made_round_by_round():
    """Not of the medians; a round in which one failed is left out."""
    _, result = made_up()
    found = ratios(result.rounds, "assay", "bare", "cpu_us")
    assert found.count == 2
    assert found.median == pytest.approx(1.05)
    assert of_measure(result.rounds["assay"], "cpu_us").median == pytest.approx(2.7)


def test_goals_are_judged_by_the_median():
    """Met, met, and not measured."""
    row, result = made_up()
    assert [judge(goal, result.rounds).met for goal in row.goals] == [True, True, None]
    assert judge(at_most("cpu_us", 1.04, "bare"), result.rounds).met is False


def test_the_table_names_who_is_absent_and_why():
    """And has a ratio for who is there."""
    row, result = made_up()
    table = tables.of_row(row, result)
    assert table[3][:2] == ["Fio", "absent: not on PATH"]
    assert table[2][table[0].index("× bare")] == "1.05 (1.02–1.08)"
    goals = tables.of_goals([(row, result)])
    assert goals[1] == ["A row", "CPU at most 1.05 × Bare", "1.05 (1.02–1.08)", "met"]
    assert goals[2][1:3] == ["rate at least 2 k op/s", "2.50 (2.50–2.50)"]
    assert goals[3][3] == "not measured"
    assert "| Fio | absent: not on PATH |" in tables.markdown(table)
    assert "Fio" in tables.plain(table)


def test_results_survive_their_file(tmp_path):
    """Saved and loaded they are equal."""
    _, result = made_up()
    results = Results({"kernel": "6"}, {"fio": "3"}, 3, 0.5, 1.5, {"row": result})
    results.save(tmp_path / "r.json")
    assert load(tmp_path / "r.json") == results


def test_rows_fit_together():
    """Every key is there once, and goals speak of contenders and measures that exist."""
    every = [*ROWS, *OBJECTS]
    assert len({row.key for row in every}) == len(every)
    for row in every:
        keys = [contender.key for contender in row.contenders]
        assert len(set(keys)) == len(keys)
        assert set(row.measures) | set(row.headline) | {goal.measure for goal in row.goals} <= set(MEASURES)
        named = {goal.contender for goal in row.goals} | {goal.against for goal in row.goals if goal.against}
        assert named | {c.against for c in row.contenders if c.against} | ({row.limit} - {None}) <= set(keys)
