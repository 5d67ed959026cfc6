"""The output of `assay price --preset`."""

import csv
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from assay.model.escape import csv_row
from assay.model.money.amount import round_half_up
from assay.money.papers.audit import mistakes_text
from assay.money.papers.presets import ComputedFigure, Preset, TableRow, figures, load_preset, table_rows, wrong_groups
from assay.terminal.output import print_json, print_line, print_table

COSTS = ("cost_per_hour_usd", "cost_per_month_usd", "cost_1yr_usd", "cost_3yr_usd")


def show_preset(name: str, as_json: bool, as_csv: bool) -> None:
    """Print the tables of a paper, computed again.

    Raises:
        AssayError: There is no such preset.
    """
    preset = load_preset(name)
    rows, found = table_rows(preset), figures(preset)
    if as_json:
        print_json(_data(preset, rows, found))
    elif as_csv:
        _csv(rows, found)
    else:
        _print(preset, rows, found)


def _table_cells(row: TableRow) -> dict[str, str]:
    costs = {name: row.cells[name].text if name in row.cells else "" for name in COSTS}
    storage = f"{round_half_up(row.storage_tb, 3).normalize():f}"
    return {"table": row.table, "instance_type": str(row.set["instance"]), "storage_tb": storage, **costs}


def _figure_cells(one: ComputedFigure) -> dict[str, str]:
    return {
        "figure": one.group if one.group == one.what else f"{one.what}: {one.group}",
        "unit": one.unit,
        "computed": one.text,
        "printed": one.printed or "",
        "right": "" if one.is_right is None else ("yes" if one.is_right else "no"),
        "mistake": " or ".join(mistakes_text(some) for some in one.mistakes) if one.is_right is False else "",
        "formula": one.how,
    }


def _csv(rows: Sequence[TableRow], found: Sequence[ComputedFigure]) -> None:
    _write(map(_table_cells, rows))
    _write(map(_figure_cells, found))


def _write(rows: Iterable[dict[str, str]]) -> None:
    all_rows = list(rows)
    if all_rows:
        writer = csv.DictWriter(sys.stdout, list(all_rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(csv_row(row) for row in all_rows)


def _data(preset: Preset, rows: Sequence[TableRow], found: Sequence[ComputedFigure]) -> dict[str, Any]:
    return {
        "preset": preset.preset,
        "about": preset.about,
        "source": preset.source,
        "book": preset.book,
        "rows": [_table_cells(row) for row in rows],
        "figures": [
            {
                **_figure_cells(one),
                "right": one.is_right,
                "value": f"{round_half_up(one.value, 6):f}",
                "mistakes": [sorted(some) for some in one.mistakes],
            }
            for one in found
        ],
    }


def _print(preset: Preset, rows: Sequence[TableRow], found: Sequence[ComputedFigure]) -> None:
    print_line(preset.about)
    print_line(f"source    {preset.source}")
    print_line(f"prices    {preset.book}")
    print_line()
    if rows:
        cells = [_table_cells(row) for row in rows]
        print_table(list(cells[0]), [list(row.values()) for row in cells], right=list(cells[0])[2:])
    if found:
        columns = ("figure", "computed", "printed", "unit", "formula")
        cells = [_figure_cells(one) for one in found]
        print_table(columns, [[row[name] for name in columns] for row in cells], right=columns[1:3])
    all_figures = [*(cell for row in rows for cell in row.cells.values()), *found]
    printed = [one for one in all_figures if one.printed is not None]
    right = sum(bool(one.is_right) for one in printed)
    print_line(f"{right} of {len(printed)} printed figures are reproduced.")
    for group, some in wrong_groups(all_figures).items():
        _print_wrong(group, some)


def _print_wrong(group: str, some: Sequence[ComputedFigure]) -> None:
    for one in some:
        if one.is_right is False:
            print_line(f"  {one.what}{f', {group}' * (group != one.what)}: {one.printed} printed, {one.text} is right")
    count = f"all {len(some)} figures" if len(some) > 1 else "the figure"
    reasons = [mistakes_text(mistakes) for mistakes in some[0].mistakes]
    if not reasons:
        print_line(f"    no known mistake or pair of mistakes gives {count} as printed")
    for reason in reasons:
        print_line(f"    {count} as printed: {reason}")
