"""Parts of papers made from imported runs, price books, needs and lists: what they print, and what they refuse."""

from pathlib import Path
from typing import Any

import pytest
from paths import REPOSITORY
from report_parts import text_of
from run_tools import assay
from sample_run import sample_run

from assay.model.base import AssayError
from assay.report.document import Block, Bullets, Chart, Heading, Num, Paragraph, Section, Table, plain_text
from assay.report.draw.drawing import Drawing, IntervalMark
from assay.report.paper_part import PaperContext
from assay.report.view import RunView
from assay.rooms.paper.work.description import DescribedPaper
from assay.rooms.paper.work.part_kinds import part_kinds
from assay.run.analysis import load_analysis

PAPERS = REPOSITORY / "studies" / "papers"
MEASURED = RunView(sample_run())


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> PaperContext:
    """One measured run, and two imported ones."""
    folder = tmp_path_factory.mktemp("sources")
    views = {"ours": MEASURED}
    for name, paper, tables in (
        ("beegfs", "beegfs-2016", ("options", "scaling", "statements")),
        ("nfs", "nfs-2016", ("logs",)),
    ):
        words = [word for table in tables for word in (f"{table}.csv", "--roles", f"{table}.roles.yaml")]
        paths = [PAPERS / paper / word if "." in word else word for word in words]
        assay(folder, "import", *paths, "--study", paper)
        views[name] = RunView(load_analysis(paper, folder / "assay-runs"))
    return PaperContext(views, folder)


def part(kind: str, context: PaperContext, **options: Any) -> list[Block]:
    found = part_kinds()[kind]
    return list(found.make(found.options.model_validate(options), context))


def tables(blocks: list[Block]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]


def words(blocks: list[Block]) -> str:
    return text_of(Section("", "", tuple(blocks)))


def cells(table: Table) -> list[list[str]]:
    return [[cell.text if isinstance(cell, Num) else str(cell) for cell in row] for row in table.rows]


@pytest.mark.parametrize("path", sorted(PAPERS.glob("*/PAPER.yaml")), ids=lambda path: path.parent.name)
def test_descriptions_of_the_five_papers_hold(path: Path) -> None:
    description = DescribedPaper(path).description
    assert description.runs == {next(iter(description.runs)): path.parent.name}
    kinds = [name for one in description.parts if (name := getattr(one, "kind", ""))]
    assert {"audit", "table", "chart", "price", "printed", "limits", "appendix", "references"} <= set(kinds)


def test_the_audit_names_places_of_the_original_and_what_goes_in(sources: PaperContext) -> None:
    blocks = part("audit", sources, run="beegfs")
    assert [block.text for block in blocks if isinstance(block, Heading)] == [
        "Errors: cannot be true as printed",
        "Warnings: doubtful as printed",
        "Notes: to know before use",
    ]
    by_id = {table.id: cells(table) for table in tables(blocks)}
    place, stated, row = by_id["audit-error"][0]
    assert (place, row) == ("tables of options and of costs", "options.csv:2")
    assert "15.41 / 6.81 = 2.263, printed 2.06" in stated and "_" not in stated
    statement = "most clients of option 2: 16 in table of results, and 24 in section on the benchmark."
    assert ["", statement, "statements.csv:3"] in by_id["audit-warning"]
    assert all("/" not in row[-1] for rows in by_id.values() for row in rows)
    assert "1 error, 5 warnings" in words(blocks)


def test_results_with_an_error_are_marked_and_counted(sources: PaperContext) -> None:
    nfs = part(
        "table", sources, runs=["nfs"], rows=["target"], columns=["operation"], where={"workload": "instance_store"}
    )
    (table,) = tables(nfs)
    marked = {row[0]: [cell for cell in row[1:] if cell.endswith("?")] for row in cells(table)}
    assert len(marked["d2.2xlarge"]) == 2 and not marked["d2.4xlarge"]
    assert "the audit has an error against a figure behind this value" in table.notes
    assert "passed every check" not in f"{table.caption} {table.notes}"
    assert "Its errors are about 8 of 32 results" in words(part("limits", sources, runs=["nfs"]))


def test_an_audit_may_leave_severities_out(sources: PaperContext) -> None:
    found = tables(part("audit", sources, run="beegfs", severities=["error"]))
    assert [table.id for table in found] == ["audit-error"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"run": "ours"}, "run `ours` was measured by Assay, not imported"),
        ({"run": "none"}, "none"),
        ({"run": "nfs", "severities": ["fatal"]}, "`fatal` is no severity"),
    ],
)
def test_wrong_audits_are_refused(options: dict[str, Any], message: str, sources: PaperContext) -> None:
    with pytest.raises(AssayError, match=message):
        part("audit", sources, **options)


def test_without_a_run_the_audit_is_of_all_that_are_imported(sources: PaperContext) -> None:
    names = [block.text for block in part("audit", sources) if isinstance(block, Heading)]
    assert "beegfs" in names and "nfs" in names and "ours" not in names


def test_a_printed_table_has_what_follows_beside_what_is_printed(sources: PaperContext) -> None:
    columns = {"option": "Option", "usd_hour": "USD", "usd_hour_per_gb_s_write": "For a GB/s"}
    (table,) = part("printed", sources, run="beegfs", table="options.csv", columns=columns)
    assert isinstance(table, Table) and [column.title for column in table.columns] == ["Option", "USD", "For a GB/s"]
    assert cells(table) == [
        ["Option 1", "15.41 (15.416)", "2.06 (2.263)"],
        ["Option 2", "15.12", "6.44 (6.462)"],
        ["Option 3", "11.88", "5.06 (4.950)"],
    ]
    assert "In brackets: what follows from other cells" in table.caption


def test_a_printed_table_may_be_of_some_rows_and_columns(sources: PaperContext) -> None:
    (table,) = part(
        "printed",
        sources,
        table="scaling.csv",
        columns=["clients", "mb_s"],
        where={"option": "Option 3", "operation": "write"},
    )
    assert isinstance(table, Table) and cells(table) == [
        ["2", "1648"],
        ["4", "2179"],
        ["8", "2404"],
        ["16", "2402"],
        ["24", ""],
    ]
    assert [column.title for column in table.columns] == ["clients", "mb s"] and "brackets" not in table.caption


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "option.csv"}, "no run of this part was imported from a table option.csv"),
        ({"table": "options.csv", "columns": ["usd"]}, "options.csv has no column `usd`"),
        ({"table": "options.csv", "where": {"option": "Option 9"}}, "no row of options.csv"),
        ({"table": "options.csv", "run": "ours"}, "no run of this part"),
    ],
)
def test_wrong_printed_tables_are_refused(options: dict[str, Any], message: str, sources: PaperContext) -> None:
    with pytest.raises(AssayError, match=message):
        part("printed", sources, **options)


OPTION = "beegfs:instance=c3.8xlarge,servers=8,metadata=c3.large"


def test_designs_are_priced_by_each_book_with_the_ratio(sources: PaperContext) -> None:
    books = ["aws-eu-west-1-2016", "aws-eu-west-1"]
    designs = ["nfs-instance-store:instance=d2.xlarge", OPTION]
    blocks = part("price", sources, designs=designs, books=books, names={OPTION: "Option 1"})
    (table,) = tables(blocks)
    first, second = cells(table)
    # 0.735 USD an hour in both, for months of 729.6 and of 730 hours.
    assert first == ["nfs-instance-store:instance=d2.xlarge", "6", "536.26", "89.38", "536.55", "89.43", "1.00×"]
    assert second[0] == "Option 1" and second[4:] == ["–", "–", "–"]
    assert float(second[2].replace(",", "")) == pytest.approx(15.416 * 729.6, abs=0.01)
    said = words(blocks)
    assert "Option 1: the price book aws-eu-west-1 has no price of instance c3.8xlarge." in said
    assert "A book without a price does not say whether the part was sold." in said
    assert "In the price of nfs-instance-store:instance=d2.xlarge; Option 1: instances." in said
    assert "Not in the prices: clients, administration, snapshots, traffic and tax." in said


def test_a_price_says_which_instances_volumes_and_services_it_is_of(sources: PaperContext) -> None:
    volumes = "direct-volumes:capacity=1TB,volume=gp3"
    said = words(part("price", sources, designs=[volumes, "s3:stored=1TB"], names={volumes: "gp3"}))
    assert "In the price of gp3: instances and volumes. In the price of s3:stored=1TB: objects." in said
    assert "Not in the prices: administration, snapshots, traffic and tax." in said and "has no price of" not in said


def test_the_tables_of_a_paper_are_computed_again(sources: PaperContext) -> None:
    blocks = part("price", sources, preset="beegfs-2016")
    text = words(blocks)
    assert "5 of 9 printed figures follow from aws-eu-west-1-2016" in text
    assert "read instead of write, and 1024 for 1000" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no design, or no book, is named"),
        ({"designs": ["nfs-gp4"]}, "nfs-gp4"),
        ({"designs": ["nfs-gp3"], "books": ["aws-mars-1"]}, "aws-mars-1"),
        ({"designs": ["nfs-gp3"], "capacity": "many"}, "capacity"),
        ({"designs": ["nfs-gp3"], "preset": "beegfs-2016"}, "a preset has its own designs"),
        ({"preset": "beegfs-2017"}, "beegfs-2017"),
        ({"designs": ["nfs-gp3", "gcs"], "books": ["aws-us-east-1", "own-2026"]}, ""),
    ],
)
def test_wrong_prices_are_refused(options: dict[str, Any], message: str, sources: PaperContext) -> None:
    if message:
        with pytest.raises(AssayError, match=message):
            part("price", sources, **options)
        return
    (table,) = tables(part("price", sources, **options))
    assert [row[-1] for row in cells(table)] == ["–", "–"]


def bars(blocks: list[Block]) -> list[tuple[float, float]]:
    (chart,) = (block for block in blocks if isinstance(block, Chart))
    assert isinstance(chart.drawing, Drawing)
    return [mark.x for mark in chart.drawing.marks if isinstance(mark, IntervalMark)]


def test_tasks_have_a_bar_from_their_first_day_to_the_end_of_their_last(sources: PaperContext) -> None:
    tasks = [
        {"task": "Build", "start": "2007-01-08", "days": 14},
        {"task": "Measure", "start": "2007-01-15", "end": "2007-01-15"},
    ]
    blocks = part("schedule", sources, tasks=tasks)
    (first, second) = bars(blocks)
    assert (first[1] - first[0], second[1] - second[0], second[0] - first[0]) == (14 * 86400, 86400, 7 * 86400)
    (table,) = tables(blocks)
    assert cells(table) == [["Build", "2007-01-08", "14 days"], ["Measure", "2007-01-15", "1 day"]]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"start": "2007-01-08"}, "needs one of `end` and `days`"),
        ({"start": "2007-01-08", "end": "2007-01-09", "days": 2}, "needs one of `end` and `days`"),
        ({"start": "2007-01-08", "end": "2007-01-07"}, "before it starts"),
    ],
)
def test_wrong_tasks_are_refused(task: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        part_kinds()["schedule"].options.model_validate({"tasks": [{"task": "Build", **task}]})


def test_logs_of_an_imported_run_are_where_they_began(sources: PaperContext) -> None:
    (table,) = tables(part("schedule", sources, runs=["nfs"]))
    rows = cells(table)
    assert len(rows) == 16 and rows[0][:2] == ["d2.8xlarge, initial writers", "2016-05-03 11:49:29"]
    same = [row for row in rows if row[1].startswith("2016-05-04 16:18:20")]
    assert [row[0] for row in same] == ["d2.2xlarge, readers", "d2.xlarge, readers"]
    with pytest.raises(AssayError, match="no run of this part has dates"):
        part("schedule", sources, runs=["beegfs"])


def test_references_are_a_list(sources: PaperContext) -> None:
    works = [
        {"key": "A", "title": "On disks", "authors": ["Ada"], "year": 2007},
        {"title": "B", "url": "http://b/", "read": "2026-11-30"},
    ]
    (block,) = part("references", sources, works=works)
    assert isinstance(block, Bullets)
    assert [plain_text(item) for item in block.items] == [
        "[A] Ada. On disks. 2007. ",
        "[2] B. http://b/, read on 2026-11-30.",
    ]


NEED = """\
need: space for one job
access: file
capacity: 5TB
months: 1
books: [aws-us-east-1]
candidates: [nfs-gp3]
"""


def test_advice_has_the_sections_of_its_page_with_ages_on_the_day_of_the_newest_run(sources: PaperContext) -> None:
    (sources.folder / "need.yaml").write_text(NEED)
    blocks = part("advice", sources, need="need.yaml")
    headings = [block.text for block in blocks if isinstance(block, Heading)]
    assert headings[:3] == ["The need", "Answer", "Why"] and "What would change the choice" in headings
    lead = next(block for block in blocks if isinstance(block, Paragraph))
    assert "network" in plain_text(lead.text).lower() or "gp3" in plain_text(lead.text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NEED.replace("5TB", "5"), "capacity: 5 has no unit"),
        (NEED.replace("nfs-gp3", "nfs-gp4"), "nfs-gp4"),
        ("", "none.yaml"),
    ],
)
def test_wrong_needs_are_refused(text: str, message: str, sources: PaperContext) -> None:
    if text:
        (sources.folder / "wrong.yaml").write_text(text)
    with pytest.raises(AssayError, match=message):
        part("advice", sources, need="wrong.yaml" if text else "none.yaml")
