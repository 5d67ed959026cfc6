"""Rules about which rows a table has, and cells among their neighbours."""

import statistics
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from assay.rooms.importers.audit.tables.cells import AuditedTable, TableColumn, TableFinding
from assay.rooms.importers.audit.tables.intervals import exactly

MIN_FULL = 0.5
"""Least share of the values of a column that must have all combinations, before others are taken to lack some."""
MIN_VALUES = 3
"""Fewest values of a column that may have gaps."""
MAX_SHOWN = 3
MIN_SERIES = 8
"""Fewest numbers of a series."""
MAX_GAPS = 0.1
MIN_AROUND = 3
"""Fewest neighbours of a cell."""
APART = 3
"""Least factor between a cell and the nearest of its neighbours."""
SPREADS = 2.5
"""The same in units of the factor by which the neighbours differ."""
SIZES = ("file_size", "object_size", "record_size")
"""Parameters that are sizes, of which a smaller one bounds a larger one."""


def _measured_rows(table: AuditedTable) -> list[int]:
    return [row for row in table.rows() if any(column.digits[row] for column in table.figures)]


def missing_combinations(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield what some value of a column lacks that most of its other values have.

    Two sizes are left to `missing_cells`: the smaller bounds the larger, so that their grid has no corner.
    """
    keys = [column for column in table.keys if table.role(column.heading) != "repeat"]
    rows = _measured_rows(table)
    if len(keys) < 2 or not rows or len([1 for each in keys if table.role(each.heading) in SIZES]) > 1:
        return
    for column in keys:
        others = [each for each in keys if each is not column]
        found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for row in rows:
            found[column.texts[row]].add(tuple(each.texts[row] for each in others))
        whole = set.union(*found.values())
        full = sum(members == whole for members in found.values())
        if len(whole) < 2 or len(found) < MIN_VALUES or full < max(2, MIN_FULL * len(found)) or full == len(found):
            continue
        for value, members in found.items():
            missing = sorted(whole - members)
            if missing and len(members) > 0:
                shown = "; ".join(" / ".join(each) for each in missing[:MAX_SHOWN])
                more = f"; and {len(missing) - MAX_SHOWN} more" if len(missing) > MAX_SHOWN else ""
                text = f"`{value}` has {len(members)} of {len(whole)} combinations: {shown}{more} missing"
                row = next(row for row in rows if column.texts[row] == value)
                yield TableFinding(table.lines[row], column.heading, text, {"missing": len(missing)})
        return


def missing_cells(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield once how many cells a table of file and record sizes lacks, of those that most of its tests have."""
    sizes = [column for column in table.keys if table.role(column.heading) in SIZES]
    tests = [column for column in table.keys if column not in sizes and table.role(column.heading) != "repeat"]
    rows = _measured_rows(table)
    if len(sizes) != 2 or not tests or not rows:
        return
    found: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for row in rows:
        found[tuple(each.texts[row] for each in tests)].add(tuple(each.texts[row] for each in sizes))
    whole = set.union(*found.values())
    lacking = {test: len(whole - members) for test, members in found.items() if members != whole}
    if not lacking or len(found) < MIN_VALUES or sum(lacking.values()) > len(whole) * len(found) * MIN_FULL:
        return
    worst = sorted(lacking.items(), key=lambda item: -item[1])[:MAX_SHOWN]
    shown = ", ".join(f"{' '.join(test)} {count}" for test, count in worst)
    total = sum(lacking.values())
    text = f"{total} of {len(whole) * len(found)} cells are missing, in {len(lacking)} of {len(found)} matrices: "
    yield TableFinding(table.source.line, "", f"{text}{shown} of {len(whole)} at most", {"missing": total})


def rows_twice(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield rows that have the keys of an earlier one, where nothing tells repeats apart.

    Of a table of figures it is not known which columns do: all cells of such rows are the same.
    """
    keys = table.keys
    if not keys or not table.figures or any(column.constants for column in table.roles.columns.values()):
        return
    seen: dict[tuple[str, ...], int] = {}
    for row in _measured_rows(table):
        compared = table.columns.values() if table.roles.rows == "figures" else keys
        first = seen.setdefault(tuple(column.texts[row] for column in compared), row)
        if first != row:
            text = f"`{table.described(row)}` stands in line {table.lines[first]}, too"
            yield TableFinding(table.lines[row], keys[0].heading, text, {}, (table.lines[first],))


def gaps_in_series(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield numbers that a column of running numbers leaves out."""
    for column in table.numeric:
        is_count = column.is_whole and column not in table.figures
        values = [int(text) for text in column.digits if text] if is_count else []
        if len(values) < MIN_SERIES or len(values) != len(column.digits):
            continue
        steps = [after - before for before, after in pairwise(values)]
        gaps = [at for at, step in enumerate(steps) if step != 1]
        if gaps and len(gaps) <= MAX_GAPS * len(steps) and all(steps[at] == 2 for at in gaps):
            for at in gaps:
                text = f"{values[at] + 1} is missing between {values[at]} and {values[at + 1]}"
                yield TableFinding(table.lines[at + 1], column.heading, text, {"missing": values[at] + 1})


def cell_among_neighbours(table: AuditedTable) -> Iterator[TableFinding]:
    """Yield cells of a table of two sizes that are farther from all their neighbours than these are from each other."""
    sizes = [column for column in table.keys if table.role(column.heading) in SIZES]
    if len(sizes) != 2 or not all(column.is_numeric for column in sizes):
        return
    others = [column for column in table.keys if column not in sizes]
    for figures in table.figures:
        grids: dict[tuple[str, ...], dict[tuple[float, float], int]] = defaultdict(dict)
        for row in table.rows():
            first, second = (table.number(column.heading, row) for column in sizes)
            if first is not None and second is not None and figures.digits[row]:
                grids[tuple(each.texts[row] for each in others)][first.low, second.low] = row
        for test, grid in grids.items():
            yield from _far(table, figures, " ".join(test), grid)


def _far(
    table: AuditedTable, figures: TableColumn, test: str, grid: dict[tuple[float, float], int]
) -> Iterator[TableFinding]:
    axes = [sorted({place[axis] for place in grid}) for axis in (0, 1)]
    for place, row in grid.items():
        value = exactly(figures.digits[row]).low
        around = []
        for axis in (0, 1):
            at = axes[axis].index(place[axis])
            for step in (at - 1, at + 1):
                if 0 <= step < len(axes[axis]):
                    other = (axes[axis][step], place[1]) if axis == 0 else (place[0], axes[axis][step])
                    around += [exactly(figures.digits[grid[other]]).low] if other in grid else []
        if len(around) < MIN_AROUND or min(around) <= 0 or value <= 0:
            continue
        apart = max(value / max(around), min(around) / value)
        factor = value / statistics.median(around)
        if apart >= max(APART, SPREADS * max(around) / min(around)):
            sizes = " of ".join(f"{size:g}" for size in reversed(place))
            shown = f"{factor:.1f}" if factor > 1 else f"{factor:.2f}"
            text = f"{test} {sizes}: {figures.digits[row]} is {shown} times its {len(around)} neighbours, "
            text += f"{min(around):g} to {max(around):g}"
            yield TableFinding(table.lines[row], figures.heading, text, {"factor": f"{factor:.3f}"})
