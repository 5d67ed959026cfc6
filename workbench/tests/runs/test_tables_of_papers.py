"""Every figure that ordered tables print of the imported papers is the one in the paper's own table."""

import csv
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from paths import REPOSITORY
from run_tools import assay

from assay.model.units import parse_size
from assay.report.document import Num, Table
from assay.report.numbers import operation_title
from assay.report.paper_part import PaperContext
from assay.report.view import RunView
from assay.rooms.paper.work.part_kinds import part_kinds
from assay.run.analysis import load_analysis

PAPERS = REPOSITORY / "studies" / "papers"
RENAMED = {"refwrite": "re_fwrite", "refread": "re_fread"}
_MEANT = {"hi1.xlarge": "hi1.4xlarge"}
"""Name in a table -> what the roles file says that it means."""


def csv_rows(paper: str, table: str) -> list[dict[str, str]]:
    with (PAPERS / paper / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def imported(folder: Path, paper: str, table: str) -> RunView:
    path = PAPERS / paper / f"{table}.csv"
    assay(folder, "import", path, "--roles", path.with_suffix(".roles.yaml"), "--study", paper)
    return RunView(load_analysis(paper, folder / "assay-runs"))


def tables(view: RunView, **options: Any) -> list[Table]:
    kind = part_kinds()["table"]
    blocks = kind.make(kind.options.model_validate(options), PaperContext({"a": view}))
    return [block for block in blocks if isinstance(block, Table)]


def printed(found: Table, heads: int, last: int = 0) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The words left of each value, the title above it, and the value as printed, without those that are missing."""
    for row in found.rows:
        words = tuple(cell.text if isinstance(cell, Num) else str(cell) for cell in row)
        for column, text in list(zip(found.columns, words, strict=True))[heads : len(words) - last]:
            if text != "–":
                yield words[:heads], column.title, text.split(" ")[0].replace(",", "")


def test_matrices_and_their_means(tmp_path: Path) -> None:
    rows = csv_rows("aoe-2007", "matrices")
    view = imported(tmp_path, "aoe-2007", "matrices")
    wanted = {}
    for row in rows:
        sizes = int(row["file_kb"]) * 1024, int(row["record_kb"]) * 1024
        wanted[(RENAMED.get(row["operation"], row["operation"]), row["system"], *sizes)] = row["kb_per_s"]
    options = {"rows": "file_size", "unit": "KiB/s"}
    matrices = tables(view, columns="record_size", split=["operation", "target"], decimals=0, **options)
    operations, targets = (list(dict.fromkeys(key[place] for key in wanted)) for place in (0, 1))
    parts = list(product(operations, targets))
    assert len(matrices) == len(parts) == 39
    found = {
        (*part, parse_size(head), parse_size(title)): text
        for part, matrix in zip(parts, matrices, strict=True)
        for (head,), title, text in printed(matrix, 1)
    }
    assert found == wanted and len(found) == 5322
    titles = [f"{operation_title(operation)}, {target}."[1:] for operation, target in parts]
    assert all(title in matrix.caption for title, matrix in zip(titles, matrices, strict=True))
    means = tables(view, columns="target", split="operation", mean_over="record_size", decimals=3, **options)
    count = 0
    for operation, table in zip(operations, means, strict=True):
        for (head,), target, text in printed(table, 1, last=1):
            values = [float(v) for key, v in wanted.items() if key[:3] == (operation, target, parse_size(head))]
            assert text == f"{fmean(values):.3f}", (operation, target, head)
            count += 1
    assert count == len({key[:3] for key in wanted})


@pytest.mark.parametrize(
    ("paper", "table", "keys", "value", "options"),
    [
        (
            "aws-2012",
            "best-rates",
            ("instance", "storage", "operation"),
            "mb_s",
            {"rows": ["target", "workload", "operation"], "decimals": 2},
        ),
        (
            "beegfs-2016",
            "scaling",
            ("option", "clients", "operation"),
            "mb_s",
            {"rows": ["target", "hosts", "operation"], "decimals": 0},
        ),
        (
            "nfs-2016",
            "logs",
            ("server_type", "storage_kind", "operation"),
            "children_kb_s",
            {"rows": ["target", "workload", "operation"], "unit": "KiB/s", "decimals": 2},
        ),
    ],
)
def test_tables_with_one_value_a_line(
    paper: str, table: str, keys: Sequence[str], value: str, options: dict[str, Any], tmp_path: Path
) -> None:
    (found,) = tables(imported(tmp_path, paper, table), **options)
    wanted = {
        tuple(_MEANT.get(row[key], row[key]) for key in keys): row[value]
        for row in csv_rows(paper, table)
        if row[value]
    }
    shown = {tuple(word.lower() for word in heads): text for heads, _, text in printed(found, 3)}
    assert shown == {tuple(word.lower() for word in key): text for key, text in wanted.items()} and shown
