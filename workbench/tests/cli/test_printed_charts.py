"""Papers draw numbers of tables as they are printed: costs and the like, that no result goes with."""

from pathlib import Path
from typing import Any

import pytest
from run_tools import assay

from assay.model.base import AssayError
from assay.report.document import Chart
from assay.report.draw.drawing import BarMark, Drawing, LineMark
from assay.report.paper_part import PaperContext
from assay.report.view import RunView
from assay.rooms.paper.work.part_kinds import part_kinds
from assay.run.analysis import load_analysis

COSTS = """\
server,storage_tb,usd_month,note,mb_s
a.small,6,536,"1,000 hours",100
a.large,12,1073,,200
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


def made(context: PaperContext, **options: Any) -> Any:
    kind = part_kinds()["printed_chart"]
    (block,) = kind.make(kind.options.model_validate({"table": "costs.csv"} | options), context)
    return block


def test_charts_of_printed_numbers(context: PaperContext) -> None:
    bars = made(context, kind="bars", x="server", values={"usd_month": "USD a month", "mb_s": "MB/s"})
    assert isinstance(bars, Chart) and isinstance(bars.drawing, Drawing)
    assert [bar.y for bar in bars.drawing.marks_of(BarMark)] == [(0, 536), (0, 100), (0, 1073), (0, 200), (0, 700)]
    assert bars.title == "USD a month and MB/s by server" and bars.caption == "As printed: costs.csv."
    lines = made(context, kind="lines", x="storage_tb", values="usd_month", where={"note": "cheap"})
    assert [line.points for line in lines.drawing.marks_of(LineMark)] == [((6, 700),)]
    several = made(context, kind="lines", x="storage_tb", values="usd_month", series="server", x_title="TB")
    assert [key.name for key in several.drawing.legends[0].keys] == ["a.small", "a.large", "b.small"]
    assert several.title == "usd month by TB"


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"table": "cost.csv"}, "no run of this part was imported from a table cost.csv", "did you mean `costs.csv`?"),
        ({"run": "other"}, "the paper has no run `other`", "paper"),
        ({"values": "usd"}, "costs.csv has no column `usd`", "usd_month"),
        ({"where": {"server": "c"}}, "no row of costs.csv has what `where` states", "where"),
        ({"kind": "lines"}, "server of costs.csv is no number: `a.small`", "kind: bars"),
        ({"values": "note"}, "note of costs.csv is no number: `1,000 hours`", "another heading"),
        ({"x": "storage_tb", "values": "usd_month"}, "two rows of costs.csv have storage_tb `6`", "where"),
        ({"values": ["mb_s", "usd_month"], "series": "note"}, "there can only be one of `values`", "leave"),
        ({"where": {"server": "b.small"}}, "no chosen row of costs.csv has mb_s", "where"),
    ],
)
def test_what_is_not_there_is_named_with_the_choices(
    context: PaperContext, options: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(AssayError) as error:
        made(context, **{"kind": "bars", "x": "server", "values": "mb_s"} | options)
    assert message in error.value.message and hint in error.value.hint
