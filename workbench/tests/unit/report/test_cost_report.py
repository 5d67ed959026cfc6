"""Costs in the report and in exports."""

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from builders import make_analysis
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from priced import VOLUMES, book, near, priced_run, prices
from service_rows import service_case, service_run

from assay.cli.export import Format, TableName, write_export
from assay.model.base import AssayError
from assay.model.money.price import PriceRow
from assay.model.money.priced_designs import FrozenPrices
from assay.model.money.use import DesignChoice, Use
from assay.model.result.result import Estimate, RunAnalysis
from assay.model.result.verdict import Verdict
from assay.money.books.books import load_book
from assay.money.cost.bill import hosts_bill
from assay.report.build import build_document
from assay.report.cost_table import costs_table
from assay.report.costs import BestRate, TargetCost, cheapest_text, cost_points, target_costs
from assay.report.document import Block, Chart, Facts, Fold, Gallery, Note, Panels, Section, Strong, Table
from assay.report.draw.drawing import Dot, Drawing, IntervalMark
from assay.report.export_json import json_document, json_schema
from assay.report.html import render_html
from assay.report.sections import cost, short_answer
from assay.report.view import RunView


def with_rates(analysis: RunAnalysis, **rates: tuple[float, float | None, float | None]) -> RunAnalysis:
    """The run with other throughputs: `target_operation=(median, low, high)`."""
    rows = []
    for row in analysis.rows:
        found = rates.get(f"{row.case.target}_{row.operation}")
        change: dict[str, Any] = {"verdict": Verdict.OK, "findings": ()}
        if found is not None:
            change["throughput"] = Estimate(median=found[0], low=found[1], high=found[2], n=5, spread=0.01)
        rows.append(row.model_copy(update=change))
    return analysis.model_copy(update={"rows": tuple(rows)})


def section(analysis: RunAnalysis, **view: Any) -> Section:
    found = cost.section(RunView(analysis, **view))
    assert found is not None
    return found


def every(blocks: tuple[Block, ...]) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        found += [block, *(every(block.blocks) if isinstance(block, Fold) else [])]
        found += block.figures if isinstance(block, Gallery) else ()
    return found


def tables(found: Section) -> dict[str, list[list[str]]]:
    """Table id -> its cells as text."""
    return {
        block.id: [[getattr(cell, "text", cell if isinstance(cell, str) else "") for cell in row] for row in block.rows]
        for block in every(found.blocks)
        if isinstance(block, Table)
    }


def words(text: Any) -> str:
    return "".join(span.text if isinstance(span, Strong) else span for span in text)


def test_a_run_without_prices_has_no_costs() -> None:
    analysis = make_analysis()
    assert cost.section(RunView(analysis)) is None
    assert costs_table(analysis).records == ()
    assert "cost" not in [part.id for part in build_document(analysis).sections]


def test_the_costs_are_those_of_the_paper() -> None:
    found = tables(section(priced_run()))
    # nfs_aws_costs.csv: d2.8xlarge 5.88 an hour, 4290.05 a month; c4.large with 5 TB 0.46, 336.82.
    disk, memory = found["cost-table"]
    assert disk[2:6] == ["0.462", "336.82", "4,041.87", "12,125.61"]
    assert memory[2:6] == ["5.88", "4,290.05", "51,480.58", "154,441.73"]
    assert (disk[7], memory[7]) == ("67.36", "89.38")
    bill = found["bill-disk"]
    assert [line[3] for line in bill] == ["0.119 USD per hour", "0.05 USD per GB-month"]
    assert all("NFS-2016" in line[-1] for line in bill)


def test_cost_per_rate_follows_from_rate_and_interval() -> None:
    analysis = with_rates(priced_run(), disk_read=(2e9, 1e9, 4e9))
    (item, _) = target_costs(RunView(analysis))
    ratio = item.unit_cost("read")
    assert ratio is not None
    month = Decimal("0.119") * Decimal("729.6") + 250
    assert (ratio.value, ratio.low, ratio.high) == (month / 2, month / 4, month)
    assert item.unit_cost("read_iops") is None, "records of 64 KiB say nothing of operations per second"
    line = next(row for row in tables(section(analysis))["cost-speed"] if row[:2] == ["disk", "GB/s of reading"])
    assert line[2:4] == ["2.00", "1.00 to 4.00"]
    assert line[5:8] == ["168.41", "84.21", "336.82"]


def test_only_sound_results_count() -> None:
    analysis = with_rates(priced_run(), disk_read=(9e9, 8e9, 10e9))
    rows = tuple(
        row.model_copy(update={"verdict": Verdict.CACHED}) if row.case.target == "disk" else row
        for row in analysis.rows
    )
    (disk, memory) = target_costs(RunView(analysis.model_copy(update={"rows": rows})))
    assert disk.best == {}
    assert set(memory.best) == {"read", "write"}


def test_the_short_answer_says_which_costs_least_or_that_nobody_knows() -> None:
    # A month of `memory` costs 12.74 times as much as one of `disk`.
    apart = with_rates(priced_run(), disk_read=(1e9, 0.9e9, 1.1e9), memory_read=(20e9, 19e9, 21e9))
    text = words(cheapest_text(target_costs(RunView(apart)), ["read"]))
    assert text.startswith(
        "memory costs least per GB/s of reading: 214.50 USD (204.29 to 225.79) a month; the next is disk"
    )
    # As the instance's network carries 1.25 GB/s.
    assert text.endswith("But disk and memory exceeded the limits of the assigned design: see Cost.")
    (panels,) = (block for block in short_answer.section(RunView(apart)).blocks if isinstance(block, Panels))
    assert words(dict(panels.items)["Cost"][0]).startswith(text)
    near_by = with_rates(priced_run(), disk_read=(1e9, 0.9e9, 1.1e9), memory_read=(13e9, 12e9, 14e9))
    assert "not separable" in words(cheapest_text(target_costs(RunView(near_by)), ["read"]))
    alone = with_rates(priced_run(), disk_read=(1e9, None, None), memory_read=(99e9, None, None))
    assert "not separable" in words(cheapest_text(target_costs(RunView(alone)), ["read"]))
    one = priced_run(prices(disk=VOLUMES))
    assert words(cheapest_text(target_costs(RunView(one)), ["read"])).startswith("disk costs ")
    (disk, memory) = target_costs(RunView(apart))
    silent = words(cheapest_text([disk, replace(memory, best={"write": memory.best["write"]})], ["read"]))
    assert silent.startswith("disk costs 336.82 USD")
    assert "Without a usable result: memory." in silent
    assert "Without a sound result" not in text


def test_a_target_that_does_more_than_its_design_is_warned_of() -> None:
    # st1 of 5 TB bursts up to 500 MB/s, the instance to less.
    analysis = with_rates(priced_run(), disk_read=(2e9, 1.9e9, 2.1e9), disk_write=(1e6, 1e6, 1e6))
    notes = [block.text for block in section(analysis).blocks if isinstance(block, Note)]
    assert any(str(note).startswith("disk exceeded the limits of its design in GB/s of reading") for note in notes)
    calm = with_rates(
        priced_run(), **{f"{t}_{op}": (1e6, 1e6, 1e6) for t in ("disk", "memory") for op in ("read", "write")}
    )
    assert not [block for block in section(calm).blocks if isinstance(block, Note)]


def test_targets_without_a_design_are_named() -> None:
    notes = [block.text for block in section(priced_run(prices(disk=VOLUMES))).blocks if isinstance(block, Note)]
    assert "The study names no design for memory." in notes


def test_todays_prices_stand_beside_the_frozen_ones() -> None:
    found = tables(section(priced_run(), current_book=book("0.238")))
    disk, memory = found["cost-today"]
    assert disk[1:5] == ["336.82", "423.74", "+86.92", "+25.8"]
    assert memory[1:3] == ["4,290.05", "–"]
    assert "no price of instance d2.8xlarge" in memory[5]
    plain = tables(section(priced_run()))
    assert "cost-today" not in plain
    heads = {
        len(rows): [
            column.unit
            for block in every(section(priced_run(), current_book=book(rows=rows)).blocks)
            if isinstance(block, Table) and block.id == "cost-today"
            for column in block.columns
        ][2]
        for rows in ([row.model_dump() for row in book().rows], [book().rows[1].model_dump()])
    }
    assert heads == {2: "USD, 2026-11-01", 1: "USD"}, "no date where no price was used"
    assert {key: value for key, value in found.items() if key != "cost-today"} == plain


def facts_of_two_hours(frozen: FrozenPrices) -> dict[str, str]:
    """The facts of the section on cost, of a run that took two hours."""
    analysis = priced_run(frozen)
    run = analysis.run.model_copy(update={"created_at": 0.0, "finished_at": 7200.0})
    blocks = section(analysis.model_copy(update={"run": run})).blocks
    return {name: str(value) for name, value in next(block for block in blocks if isinstance(block, Facts)).items}


def test_what_the_run_itself_cost_is_stated() -> None:
    facts = facts_of_two_hours(prices(disk=VOLUMES).model_copy(update={"hosts": hosts_bill({"c4.large": 10})}))
    assert facts["Rented hosts"] == "10 x c4.large: 1.19 USD an hour"
    assert facts["This run"].startswith("3.30 USD for 2 h")


def test_the_network_of_a_stack_is_part_of_what_the_run_cost() -> None:
    parts = (("gateway", "nat-gateway"), ("address", "public-ipv4"))
    sold = {"price": "0.1", "unit": "hour", "source": "x"}
    rows = [PriceRow.model_validate({**sold, "dimension": of, "item": item}) for of, item in parts]
    frozen = prices(disk=VOLUMES)
    wider = frozen.book.model_copy(update={"rows": (*frozen.book.rows, *rows)}).reindex()
    bill = hosts_bill({"c4.large": 10}, {"nat-gateway": 1, "public-ipv4": 3})
    facts = facts_of_two_hours(frozen.model_copy(update={"book": wider, "hosts": bill}))
    hosts = "10 x c4.large, 1 x nat-gateway, 3 x public-ipv4"
    assert facts["Rented hosts and network"] == f"{hosts}: 1.59 USD an hour"
    assert facts["This run"].startswith("4.10 USD for 2 h")


def test_the_section_is_drawn() -> None:
    analysis = with_rates(priced_run())
    page = render_html(build_document(analysis))
    assert '<section id="cost">' in page
    charts = [block for block in every(section(analysis).blocks) if isinstance(block, Chart)]
    assert [chart.id for chart in charts] == ["cost-read", "cost-write"]
    drawing = charts[0].drawing
    assert isinstance(drawing, Drawing)
    dots, intervals = drawing.marks_of(Dot), drawing.marks_of(IntervalMark)
    assert [(dot.label, dot.y) for dot in dots] == [("disk", pytest.approx(336.8224)), ("memory", 4290.048)]
    for dot, interval in zip(dots, intervals, strict=True):
        assert interval.x[0] <= dot.x <= interval.x[1] and interval.y == (dot.y, dot.y)
    names = [field for block in every(section(analysis).blocks) if isinstance(block, Table) for field in [block.id]]
    assert len(names) == len(set(names)), "ids are used once"
    assert render_html(build_document(analysis)) == page


COSTS = st.lists(
    st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(0, 10), st.booleans()), min_size=1, max_size=8
)


def made_points(values: list[tuple[int, int, int, bool]]) -> list[TargetCost]:
    """Targets of (cost, rate, reach of the interval, whether it has one)."""
    (like, *_) = target_costs(RunView(priced_run()))
    row = like.best["read"].row
    charge = like.cost.charges[-1]
    found = []
    for number, (month, rate, reach, known) in enumerate(values):
        its = charge.model_copy(update={"fixed": Decimal(month), "running": Decimal(0), "once": Decimal(0)})
        ends = (float(max(rate - reach, 0)) or None, float(rate + reach)) if known else (None, None)
        best = {"read": BestRate(row, float(rate), *ends)}
        cost_of = like.cost.model_copy(update={"charges": (its,)})
        found.append(replace(like, target=f"t{number}", cost=cost_of, best=best))  # type: ignore[arg-type]
    return found


@given(COSTS)
def test_the_front_is_never_empty_and_never_beaten(values: list[tuple[int, int, int, bool]]) -> None:
    points = cost_points(made_points(values), "read")
    assert any(point.is_on_median_front for point in points)
    assert any(point.position != "dominated" for point in points)
    for point in points:
        rivals = [other for other in points if other is not point and other.month_cost <= point.month_cost]
        if point.position == "on the front":
            assert all(other.ends[1] < point.ends[0] for other in rivals)
            assert point.is_on_median_front
        elif point.position == "dominated":
            assert any(other.ends[0] > point.ends[1] for other in rivals)
            assert not point.is_on_median_front
        for other in rivals if point.is_on_median_front else ():
            assert not (other.rate.value > point.rate.value)


def test_the_table_of_costs(tmp_path: Path) -> None:
    analysis = with_rates(priced_run(), disk_read=(2e9, 1e9, 4e9), memory_read=(3e9, None, None))
    write_export(analysis, Format.CSV, TableName.COSTS, tmp_path / "costs.csv", force=False)
    disk, memory = csv.DictReader(io.StringIO((tmp_path / "costs.csv").read_text()))
    assert (disk["month"], disk["currency"], disk["usable_bytes"]) == ("336.822400", "USD", "5000000000000")
    assert disk["read_month_per_gb_per_s"] == "168.411200"
    assert (disk["read_month_per_gb_per_s_low"], disk["read_month_per_gb_per_s_high"]) == ("84.205600", "336.822400")
    assert memory["read_month_per_gb_per_s"] == "1430.016000"
    assert memory["read_month_per_gb_per_s_low"] == memory["read_bytes_per_s_low"] == ""
    write_export(analysis, Format.PARQUET, TableName.COSTS, tmp_path / "costs.parquet", force=False)
    document = json.loads(json.dumps(json_document(analysis)))
    assert [error.message for error in Draft202012Validator(json_schema()).iter_errors(document)] == []
    assert [record["month"] for record in document["costs"]] == ["336.822400", "4290.048000"]
    assert FrozenPrices.model_validate(document["run"]["prices"]) == analysis.run.prices


def test_a_design_that_is_never_on_has_no_hour(tmp_path: Path) -> None:
    analysis = priced_run(prices(Use(duty=Decimal(0)), disk=VOLUMES))
    (disk,) = tables(section(analysis))["cost-table"]
    assert disk[2:4] == ["–", "250.00"]
    assert costs_table(analysis).records[0]["hour"] == ""
    sheet = sheet_of(analysis, tmp_path)
    assert sheet.values[f"C{sheet.row('H', 'Usable TB') + 1}"] == "–"
    (caption,) = [
        block.caption for block in every(section(analysis).blocks) if getattr(block, "id", "") == "cost-table"
    ]
    assert "assay plan" in str(caption)


def test_a_run_without_prices_exports_no_table_of_costs(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="has no stored prices"):
        write_export(make_analysis(), Format.CSV, TableName.COSTS, tmp_path / "costs.csv", force=False)
    assert list(tmp_path.iterdir()) == []


NUMBER = re.compile(r"\$?([A-Z]+)\$?([0-9]+)")


class Sheet:
    """The cells of the sheet Cost: values as stored, and formulas that are worked out from other cells."""

    def __init__(self, path: Path) -> None:
        space = {"x": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
        with zipfile.ZipFile(path) as book_file:
            names = ElementTree.fromstring(book_file.read("xl/workbook.xml")).findall(".//x:sheet", space)
            number = [name.get("name") for name in names].index("Cost") + 1
            texts = [
                "".join(part.text or "" for part in item.iter(f"{{{space['x']}}}t"))
                for item in ElementTree.fromstring(book_file.read("xl/sharedStrings.xml"))
            ]
            tree = ElementTree.fromstring(book_file.read(f"xl/worksheets/sheet{number}.xml"))
        self.values: dict[str, Any] = {}
        self.formulas: dict[str, str] = {}
        for cell in tree.iter(f"{{{space['x']}}}c"):
            name, value, formula = cell.get("r", ""), cell.find("x:v", space), cell.find("x:f", space)
            if value is not None and value.text is not None:
                read = {"s": lambda text: texts[int(text)], "str": str}.get(cell.get("t", ""), float)
                self.values[name] = read(value.text)
            if formula is not None and formula.text is not None:
                self.formulas[name] = formula.text

    def value(self, name: str) -> Any:
        """Worked out from the cells that hold no formula."""
        formula = self.formulas.get(name)
        if formula is None:
            return self.values.get(name, "")
        for inner in re.findall(r"[A-Z]+[0-9]+:[A-Z]+[0-9]+", formula):
            (column, first), (_, last) = NUMBER.findall(inner)
            cells = ",".join(f'num("{column}{row}")' for row in range(int(first), int(last) + 1))
            formula = formula.replace(inner, cells)
        text = re.sub(r"(?<!\")\$?\b([A-Z]{1,2})\$?([0-9]+)\b(?!\")", r'cell("\1\2")', formula)
        text = re.sub(r"(?<![<>=])=(?!=)", "==", text).replace("1E+300", "1e300")
        functions = {
            "cell": lambda key: self.value(key),
            "num": lambda key: self.value(key) or 0.0,
            "SUM": lambda *found: sum(found),
            "MAX": max,
            "MIN": min,
            "IF": lambda test, yes, no: yes if test else no,
        }
        return eval(text, {"__builtins__": {}}, functions)

    def named(self, text: str, column: str = "A") -> int:
        """The last row with this text in a column."""
        return max(int(name[1:]) for name, value in self.values.items() if name[0] == column and value == text)

    def row(self, column: str, text: str) -> int:
        """The first row with this text in a column."""
        return min(int(name[1:]) for name, value in self.values.items() if name[0] == column and value == text)


def sheet_of(analysis: RunAnalysis, folder: Path) -> Sheet:
    write_export(analysis, Format.XLSX, TableName.RESULTS, folder / "run.xlsx", force=True)
    return Sheet(folder / "run.xlsx")


TIERED = [
    {"dimension": "instance", "item": "c4.large", "price": "0.119", "unit": "hour", "source": "a test"},
    {
        "dimension": "instance",
        "item": "c4.large",
        "term": "reserved-1y",
        "payment": "partial-upfront",
        "upfront": "300",
        "price": "0.03",
        "unit": "hour",
        "source": "a test",
    },
    {
        "dimension": "volume-capacity",
        "item": "st1",
        "free": 100,
        "unit": "GB-month",
        "source": "a test",
        "tiers": [{"up_to": 1000, "price": "0.06"}, {"up_to": 3000, "price": "0.05"}, {"price": "0.04"}],
    },
    {"dimension": "transfer-out", "item": "internet", "price": "0.09", "unit": "GB", "source": "a test"},
]


def frozen_cases() -> list[FrozenPrices]:
    quarter = Use(duty=Decimal("0.25"), egress=10**12, job_egress=10**11)
    return [
        prices(),
        prices(quarter, book=book(rows=TIERED), disk=VOLUMES),
        prices(quarter, book=book(rows=TIERED), term="reserved-1y", disk=VOLUMES),
    ]


@pytest.mark.parametrize("case", range(3))
def test_each_formula_gives_what_is_stored_beside_it(case: int, tmp_path: Path) -> None:
    analysis = with_rates(priced_run(frozen_cases()[case]), disk_read=(2e9, 1e9, 4e9))
    sheet = sheet_of(analysis, tmp_path)
    assert len(sheet.formulas) > 12
    for name in sheet.formulas:
        assert near(sheet.value(name), sheet.values[name]), (name, sheet.formulas[name])
    total = sheet.row("H", "Usable TB") + 1
    for number, item in enumerate(target_costs(RunView(analysis))):
        row = total + number
        assert sheet.values[f"A{row}"] == item.target
        amounts = (item.cost.hour, item.cost.month, item.cost.year, item.cost.three_years, item.cost.job)
        for column, amount in zip("CDEFG", amounts, strict=True):
            assert near(amount, sheet.value(f"{column}{row}")), column
        ratio = item.unit_cost("read")
        line = next(
            int(name[1:])
            for name, value in sheet.values.items()
            if name[0] == "B" and value == "GB/s of reading" and sheet.values[f"A{name[1:]}"] == item.target
        )
        assert ratio is not None
        assert near(ratio.value, sheet.value(f"F{line}"))


def test_a_changed_price_changes_the_totals(tmp_path: Path) -> None:
    sheet = sheet_of(priced_run(), tmp_path)
    total = sheet.row("H", "Usable TB") + 1
    line = sheet.row("B", "c4.large, storage")
    sheet.values[f"I{line}"] = 0.238
    assert near(Decimal("0.238") * Decimal("729.6") + 250, sheet.value(f"D{total}"))
    sheet.values["B4"] = 730.0
    assert near(Decimal("0.238") * 730 + 250, sheet.value(f"D{total}"))
    sheet.values["B5"] = 0.5
    assert near(Decimal("0.238") * 365 + 250, sheet.value(f"D{total}"))
    assert near((Decimal("0.238") * 365 + 250) / 365, sheet.value(f"C{total}"))


def test_a_changed_quantity_reaches_every_tier(tmp_path: Path) -> None:
    frozen = prices(book=book(rows=TIERED), disk=VOLUMES)
    sheet = sheet_of(priced_run(frozen), tmp_path)
    total = sheet.row("H", "Usable TB") + 1
    first, *later = sorted(int(name[1:]) for name, value in sheet.values.items() if value == "GB-month")
    assert len(later) == 2
    for row in later:
        assert [sheet.formulas[f"{column}{row}"] for column in "CDEF"] == [
            f"C{first}",
            f"D{first}",
            f"E{first}",
            f"G{row - 1}",
        ]
    instance = Decimal("0.119") * 730
    assert near(instance + 60 + 100 + Decimal("76"), sheet.value(f"D{total}"))
    sheet.values[f"D{first}"] = 3600.0
    assert near(instance + 60 + 100 + Decimal("20"), sheet.value(f"D{total}"))
    sheet.values[f"G{first}"] = 2000.0
    assert near(instance + 120 + 50 + Decimal("20"), sheet.value(f"D{total}"))


BUCKET = DesignChoice(design="s3", set={"stored": "1TB"})
TABLE = DesignChoice(design="dynamodb-on-demand", set={"stored": "1TB"})


def services(use: Use) -> RunAnalysis:
    """A bucket and a table of which puts and gets were measured, with prices."""
    analysis = service_run(service_case(1, "bucket"), service_case(2, "table"))
    frozen = prices(use, load_book("aws-us-east-1"), bucket=BUCKET, table=TABLE)
    return analysis.model_copy(update={"run": analysis.run.model_copy(update={"prices": frozen})})


def test_costs_without_requests_say_so_and_are_compared_with_none() -> None:
    """Only the requests to the bucket are told: the table would look cheap."""
    analysis = services(Use(puts=Decimal(10**6), gets=Decimal(10**6)))
    found = section(analysis)
    bucket, table = tables(found)["cost-table"]
    assert "without requests" not in bucket[3]
    assert table[3].startswith("about ") and table[3].endswith(", without requests")
    rows = {tuple(row[:2]): row[5] for row in tables(found)["cost-speed"]}
    assert rows["table", "GB/s of reading"].endswith(", without requests")
    assert not rows["bucket", "GB/s of reading"].endswith(", without requests")
    text = words(cheapest_text(target_costs(RunView(analysis))))
    assert "bucket costs " in text and "table costs" not in text and "least" not in text
    assert "Not compared per GB/s of writing, as requests are not priced: table (about " in text
    (note,) = (block for block in found.blocks if isinstance(block, Note) and "for each request" in words(block.text))
    assert words(note.text).startswith("table: ") and "table_reads and table_writes" in words(note.text)
    assert [point.target for point in cost_points(target_costs(RunView(analysis)), "read")] == ["bucket"]
    assert [record["without_requests"] for record in costs_table(analysis).records] == [False, True]


def test_no_cheapest_is_named_where_no_requests_are_priced() -> None:
    text = words(cheapest_text(target_costs(RunView(services(Use())))))
    assert "least" not in text and "costs " not in text
    assert text.count("bucket (about ") == text.count("table (about ") == 2


def test_services_whose_requests_are_priced_are_compared() -> None:
    million = Decimal(10**6)
    analysis = services(Use(puts=million, gets=million, table_reads=million, table_writes=million))
    text = words(cheapest_text(target_costs(RunView(analysis))))
    assert "Not compared" not in text and "costs least per GB/s of reading" in text
    (bucket, table) = target_costs(RunView(analysis))
    assert set(bucket.best) == set(table.best) == {"read", "write", "read_iops", "write_iops"}
    assert bucket.best["read"].row.operation == "get" and bucket.best["write"].row.operation == "put"
