"""The page of advice on needs of two papers: one total for all comparisons, and what a price leaves out."""

import datetime as dt
from itertools import pairwise

import pytest
import yaml
from paths import REPOSITORY

from assay.model.money.amount import format_money
from assay.money.books.books import load_book
from assay.report.document import Bullets, Document, Num, Paragraph, Spans, Table, plain_text
from assay.report.spans_table import spans_table
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.shown.page import build_page, need_table
from assay.rooms.advice.work.advise import advise
from assay.rooms.advice.work.outlook.picture import picture

TODAY = dt.date(2026, 12, 1)


def answered(paper: str, designs: list[str]) -> Advice:
    written = yaml.safe_load((REPOSITORY / "studies" / "papers" / paper / "need.yaml").read_text())
    need = Need.model_validate({**written, "candidates": designs})
    books = [load_book(name) for name in need.books]
    advice = advise(need, books)
    return advice.model_copy(update={"sensitivity": picture(advice, books)})


@pytest.fixture(scope="module")
def scratch() -> Advice:
    """Servers with disks on spot cost more than those with volumes, but for the administration of 19 of these."""
    return answered("beegfs-2016", ["beegfs-dense", "beegfs-volumes", "fsx-lustre-efa"])


@pytest.fixture(scope="module")
def volumes() -> Advice:
    return answered("aws-2012", ["direct-volumes", "direct-io2"])


def words(advice: Advice, section: str) -> list[str]:
    (found,) = (each for each in build_page(advice, TODAY).sections if each.id == section)
    said = [plain_text(block.text) for block in found.blocks if isinstance(block, Paragraph)]
    return [*said, *(plain_text(item) for block in found.blocks if isinstance(block, Bullets) for item in block.items)]


def table_of(page: Document, name: str) -> Table:
    return next(b for section in page.sections for b in section.blocks if isinstance(b, Table) and b.id == name)


def test_designs_are_ordered_charted_and_varied_by_one_total(scratch: Advice) -> None:
    found = scratch.sensitivity
    assert found is not None and scratch.choice is not None and scratch.choice.design == "beegfs-dense"
    totals = [row[3] for row in table_of(build_page(scratch, TODAY), "designs").rows]
    values = [cell.value for cell in totals if isinstance(cell, Num) and cell.value is not None]
    assert len(values) == 3 and values == sorted(values)
    assert values[0] == pytest.approx(float(found.month)) and found.gap is not None
    assert values[1] - values[0] == pytest.approx(float(found.gap)) and found.gap > 0
    for curves in (found.capacity, found.rate):
        assert curves is not None
        for crossing in curves.crossings:
            if crossing.before_month is not None and crossing.after_month is not None:
                assert crossing.after_month <= crossing.before_month


def test_both_totals_of_the_choice_and_of_the_next_are_in_the_answer(scratch: Advice) -> None:
    best = scratch.choice
    assert best is not None and best.price.administration > 0
    _, beyond, nearer, other = words(scratch, "answer")
    assert format_money(best.price.month + best.price.administration, "USD") in beyond
    assert nearer.startswith("Runner-up, of the same kind as the choice") and "beegfs-volumes" in nearer
    assert " less; with the administration that is assumed" in nearer and nearer.endswith("more.")
    assert other.startswith("Best of another kind") and "fsx-lustre-efa" in other


def test_the_loss_of_spot_servers_is_the_first_drawback_and_the_price_on_demand_is_said(scratch: Advice) -> None:
    assert scratch.choice is not None and scratch.choice.price.term == "spot"
    first, second, *_ = words(scratch, "accept")
    assert first.endswith("which loses every file with a part on it.") and "is interrupted is" in first
    assert second.endswith("with loss of their data.")
    assert any("less than on demand (" in text for text in words(scratch, "why"))
    said = " ".join(text for section in ("accept", "change", "why") for text in words(scratch, section))
    assert "…" not in said and "--all" not in said and "--json" not in said and "`managed" not in said


def test_the_instance_that_uses_volumes_is_named_with_the_sum(volumes: Advice) -> None:
    best = volumes.choice
    assert best is not None and best.design == "direct-volumes" and best.price.client_month
    _, beyond, other = words(volumes, "answer")
    assert "the instance that uses them" in beyond and best.set["instance"] in beyond
    assert f"{format_money(best.price.month + best.price.client_month, 'USD')} together" in beyond
    assert "The instance that uses it" in other


def test_each_line_ends_within_three_percent_of_where_its_design_no_longer_meets_the_need(volumes: Advice) -> None:
    found = volumes.sensitivity
    assert found is not None and found.rate is not None
    ends = [
        (curve.design, low.at, high.at)
        for curve in found.rate.curves
        for low, high in pairwise(curve.points)
        if low.month is not None and high.month is None
    ]
    assert {design for design, _, _ in ends} == {"direct-volumes", "direct-io2"}
    assert all(1 < high / low < 1.04 for _, low, high in ends)


def test_a_table_of_bars_says_nothing_of_lines_and_colours(volumes: Advice) -> None:
    (section,) = (each for each in build_page(volumes, TODAY).sections if each.id == "change")
    (spans,) = (block for block in section.blocks if isinstance(block, Spans))
    caption = spans_table(spans).caption
    assert not any(word in caption for word in ("upright", "light", "dark", "red line", "left of"))
    assert "Below 0 another design is cheaper" in caption and "now direct-io2" in caption


def test_the_need_is_stated_with_what_it_does_not_require(scratch: Advice) -> None:
    rows = {row[0]: row[1] for row in need_table(scratch).rows}
    assert rows["Capacity"] == "5 TB" and rows["Reading"] == rows["Writing"] == "6 GB/s" and rows["Clients"] == "24"
    assert rows["Region"] == "eu-west-1" and rows["Availability"] == "not required" and rows["Time"] == "1 month"
    assert "may be lost" in str(rows["Data"]) and "1MiB" in str(rows["Use"])
