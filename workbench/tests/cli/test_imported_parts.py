"""Papers print and draw tables as they were imported: costs and the like, that no result goes with."""

from pathlib import Path
from typing import Any

import pytest
from run_tools import assay

from assay.model.base import AssayError
from assay.report.document import Chart, Num, Table
from assay.report.draw.drawing import BarMark, Drawing, LineMark
from assay.report.paper_part import PaperContext
from assay.report.view import RunView
from assay.rooms.paper.work.part_kinds import part_kinds
from assay.run.analysis import load_analysis

COSTS = """\
server,storage_tb,usd_month,note,mb_s
a.small,6,536,"1,000 hours",100
a.large,12,"1,073",,200
b.small,6,700,cheap,
"""
ROLES = """\
rows: figures
columns: {server: comment, storage_tb: ignored, usd_month: ignored, note: ignored, mb_s: ignored}
"""
RATES = "system,operation,mb_s\nx,write,100\ny,write,200\n"
RATE_ROLES = "rows: results\ncolumns: {system: target, operation: operation, mb_s: {role: throughput, unit: MB/s}}\n"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> PaperContext:
    folder = tmp_path_factory.mktemp("imported")
    words: list[Path | str] = []
    for name, text, roles in (("costs", COSTS, ROLES), ("rates", RATES, RATE_ROLES)):
        (folder / f"{name}.csv").write_text(text)
        (folder / f"{name}.roles.yaml").write_text(roles)
        words += [folder / f"{name}.csv", "--roles", folder / f"{name}.roles.yaml"]
    assay(folder, "import", *words, "--study", "paper")
    return PaperContext({"paper": RunView(load_analysis("paper", folder / "assay-runs"))})


def made(context: PaperContext, part: str, **options: Any) -> Any:
    kind = part_kinds()[part]
    (block,) = kind.make(kind.options.model_validate(options), context)
    return block


def test_a_table_is_printed_cell_by_cell(context: PaperContext) -> None:
    found = made(
        context, "imported_table", table="costs", columns=["server", "usd_month", "note"], titles={"note": "Remark"}
    )
    assert isinstance(found, Table)
    assert [(column.title, column.is_numeric) for column in found.columns] == [
        ("Server", False),
        ("Usd month", True),
        ("Remark", False),
    ]
    texts = [[cell.text if isinstance(cell, Num) else cell for cell in row] for row in found.rows]
    assert texts == [["a.small", "536", "1,000 hours"], ["a.large", "1,073", "–"], ["b.small", "700", "cheap"]]
    assert found.caption == "Imported from costs.csv, as printed there; not measured here."
    chosen = made(context, "imported_table", table="costs", where={"server": ["a.small", "b.small"]}, caption="Two")
    assert len(chosen.rows) == 2 and len(chosen.columns) == 5 and chosen.caption.startswith("Two. Imported from")


def test_charts_of_its_numbers(context: PaperContext) -> None:
    bars = made(context, "imported_chart", table="costs", kind="bars", x="server", values=["usd_month", "mb_s"])
    assert isinstance(bars, Chart) and isinstance(bars.drawing, Drawing)
    assert [bar.y for bar in bars.drawing.marks_of(BarMark)] == [(0, 536), (0, 100), (0, 1073), (0, 200), (0, 700)]
    where = {"server": ["a.small", "a.large"]}
    lines = made(
        context, "imported_chart", table="costs", kind="lines", x="storage_tb", values="usd_month", where=where
    )
    assert [line.points for line in lines.drawing.marks_of(LineMark)] == [((6, 536), (12, 1073))]
    assert lines.title == "Usd month by storage tb"
    several = made(
        context, "imported_chart", table="costs", kind="lines", x="storage_tb", values="usd_month", series="server"
    )
    assert [key.name for key in several.drawing.legends[0].keys] == ["a.small", "a.large", "b.small"]


@pytest.mark.parametrize(
    ("part", "options", "message", "hint"),
    [
        ("imported_table", {"table": "cost"}, "no table `cost` was imported", "did you mean `costs`?"),
        ("imported_table", {"table": "costs", "run": "other"}, "the paper has no run `other`", "paper"),
        ("imported_table", {"table": "costs", "columns": "usd"}, "`costs` has no heading `usd`", "usd_month"),
        ("imported_table", {"table": "costs", "titles": {"x": "X"}}, "`costs` has no heading `x`", "server"),
        ("imported_table", {"table": "costs", "where": {"server": "c"}}, "no row of `costs` has server `c`", "a.small"),
        ("lines", {"x": "server", "values": "mb_s"}, "server of `costs` is no number: `a.small`", "kind: bars"),
        ("bars", {"x": "server", "values": "note"}, "note of `costs` is no number: `1,000 hours`", "another heading"),
        (
            "bars",
            {"x": "storage_tb", "values": "usd_month"},
            "line 4 of `costs` is a second row with storage_tb 6",
            "where",
        ),
        (
            "bars",
            {"x": "server", "values": ["mb_s", "usd_month"], "series": "note"},
            "only be one of `values`",
            "leave",
        ),
        (
            "bars",
            {"x": "server", "values": "mb_s", "where": {"server": "b.small"}},
            "no chosen row of `costs` has mb_s",
            "where",
        ),
    ],
)
def test_what_is_not_there_is_named_with_the_choices(
    context: PaperContext, part: str, options: dict[str, Any], message: str, hint: str
) -> None:
    if part in ("lines", "bars"):
        part, options = "imported_chart", {"table": "costs", "kind": part} | options
    with pytest.raises(AssayError) as error:
        made(context, part, **options)
    assert message in error.value.message and hint in error.value.hint
