"""The page of advice: it has its parts, says what the answer says, and loads nothing."""

import datetime as dt
import os
import re
from decimal import Decimal
from itertools import pairwise

import pytest
from advise_tools import NEEDS, advised, book_of, read_need
from outlook_tools import KINDS, Looked, looked_at
from page_text import text_of_page
from paths import GOLDEN

from assay.model.money.amount import format_money
from assay.money.books.books import load_book
from assay.report.document import Bullets, Plots, Spans
from assay.report.document import plain_text as plain
from assay.report.html import render_html
from assay.rooms.advice.shown import sentences
from assay.rooms.advice.shown.page import MAX_ROWS, build_page
from assay.rooms.advice.work.published_evidence import published_evidence

WIDTH = 400
"""Of a drawn area, in pixels, where two plots stand side by side."""
TODAY = dt.date(2026, 11, 26)
EXPECTED = GOLDEN / "advice_pages" / "01-home.txt"
PARTS = ("answer", "why", "accept", "change", "unknown", "books")


@pytest.fixture(scope="module", params=["01", "03", "08", "09", "12"])
def looked(request: pytest.FixtureRequest) -> Looked:
    found = looked_at(request.param)
    return Looked(
        found.advice.model_copy(update={"sensitivity": found.picture}), found.picture, found.again, found.books
    )


def page(looked: Looked) -> str:
    return render_html(build_page(looked.advice, TODAY))


def test_the_text_of_a_page_is_as_written() -> None:
    need = read_need("01")
    advice = advised(need, (book_of(need),), published_evidence())
    # A simulation shows that the picture of the best designs is that of all.
    advice = advice.model_copy(update={"sensitivity": looked_at("01").picture})
    text = text_of_page(render_html(build_page(advice, TODAY)))
    if os.environ.get("ASSAY_GOLDEN") == "write":
        EXPECTED.write_text(text, encoding="utf-8")
    assert text == EXPECTED.read_text(encoding="utf-8")


def test_it_has_its_parts_in_order_and_nothing_from_elsewhere(looked: Looked) -> None:
    text = page(looked)
    assert tuple(re.findall(r'<section id="([^"]+)"', text)) == PARTS
    for section in build_page(looked.advice, TODAY).sections:
        assert section.blocks and all(not isinstance(block, Bullets) or block.items for block in section.blocks)
    assert not re.findall(r"<[^>]*(?:src|href)=\"(?!#)", text)
    assert not re.findall(r"url\((?!#)", text) and "@import" not in text
    assert "default-src 'none'" in text and "Bundled by vl-convert" not in text


def test_the_answer_has_its_price_and_the_runner_up_the_difference(looked: Looked) -> None:
    best = looked.advice.choice
    assert best is not None
    first = plain(sentences.answer_sentence(looked.advice))
    assert format_money(best.price.month, "USD") in first and best.label in first
    other, second = looked.advice.runner_up, plain(sentences.runner_up_sentence(looked.advice))
    if other is None:
        assert "no other design" in second
    else:
        assert other.label in second and other.design != best.design
        difference = other.price.month - best.price.month
        assert f"{format_money(abs(difference), 'USD')}" in second and ("more" if difference > 0 else "less") in second


def test_reasons_are_few_and_each_has_a_number_of_the_answer(looked: Looked) -> None:
    found = list(sentences.reason_sentences(looked.advice))
    assert 1 <= len(found) <= 5
    said = " ".join(reason.text for reason in looked.advice.reasons)
    for text in found:
        numbers = re.findall(r"\d[\d,.]*\d|\d", text)
        assert numbers and all(number in said for number in numbers)


def test_each_sentence_is_a_part_of_a_remark(looked: Looked) -> None:
    texts = [each.text for each in looked.advice.reasons]
    for text in texts:
        short = sentences.sentence(text)
        assert short.endswith(".") and "…" not in short and " ;" not in short
        kept = short.removesuffix(".")
        assert text.lower().startswith(kept.lower()) or "(" in text


def test_the_plots_hold_the_points_of_the_picture(looked: Looked) -> None:
    (section,) = [section for section in build_page(looked.advice, TODAY).sections if section.id == "change"]
    (plots,) = [block for block in section.blocks if isinstance(block, Plots)]
    curves = [curves for curves in (looked.picture.capacity, looked.picture.rate) if curves is not None]
    assert len(plots.figures) == len(curves)
    for figure, each in zip(plots.figures, curves, strict=True):
        assert [line.name for line in figure.lines] == [curve.design for curve in each.curves]
        for line, curve in zip(figure.lines, each.curves, strict=True):
            drawn = [(at, None if month is None else Decimal(repr(month))) for at, month in line.points]
            assert drawn == [(p.at, None if p.month is None else Decimal(repr(float(p.month)))) for p in curve.points]
        assert [at for at, _ in figure.marks] == [crossing.at for crossing in each.crossings]
        assert all(at == size for (at, _), size in zip(figure.x_ticks, each.sizes, strict=True))


def test_labels_of_a_plot_do_not_lie_over_each_other(looked: Looked) -> None:
    """Of a letter of 11 pixels no more than 6.4 are wide on average."""
    for svg in re.findall(r'<svg role="img" aria-labelledby="curve.*?</svg></div></div>', page(looked), re.S):
        rows: dict[str, list[tuple[float, float]]] = {}
        pattern = r'<text(?: class="?[\w ]+"?)? x="([\d.]+)%" y="([\d.]+)"(?: text-anchor="(\w+)")?>([^<]*)'
        for x, y, anchor, text in re.findall(pattern, svg):
            width = 6.4 * len(text)
            start = float(x) / 100 * WIDTH - {"start": 0.0, "": width / 2, "end": width}[anchor]
            assert start >= -40 and start + width <= WIDTH + 28, text
            rows.setdefault(y, []).append((start, start + width))
        for places in rows.values():
            places.sort()
            assert all(left[1] <= right[0] + 1 for left, right in pairwise(places))


def test_bars_are_the_largest_assumptions_and_those_that_turn_the_choice_are_marked(looked: Looked) -> None:
    (section,) = [section for section in build_page(looked.advice, TODAY).sections if section.id == "change"]
    spans = [block for block in section.blocks if isinstance(block, Spans)]
    assert len(spans) == bool(looked.picture.tornado)
    for block in spans:
        assert len(block.rows) == min(MAX_ROWS, len(looked.picture.tornado))
        for row, each in zip(block.rows, looked.picture.tornado, strict=False):
            assert row.label.startswith(each.name) and row.is_emphasised == each.changes_choice
            end = each.high or each.low
            assert end is not None
            value = end.month if looked.picture.gap is None else end.gap
            drawn = row.high or row.low
            assert drawn is None or (value is not None and drawn[0] == float(value))


def test_what_is_not_known_names_the_age_of_prices_and_the_tax(looked: Looked) -> None:
    text = "\n".join(sentences.unknowns(looked.advice, TODAY))
    oldest = min(row.date or looked.advice.prices.date for row in looked.advice.rows)
    assert f"{(TODAY - oldest).days:,} day" in text and str(oldest) in text
    assert "Tax is not included in the costs." in text
    taxed = looked_at("09", tax="19%")
    assert "19 % of tax is included in all costs." in "\n".join(sentences.unknowns(taxed.advice, TODAY))


def test_nothing_that_meets_a_need_has_a_page_too() -> None:
    need = read_need("01", budget="1 USD/month", candidates=KINDS["01"])
    advice = advised(need, (book_of(need),), ())
    text = text_of_page(render_html(build_page(advice, TODAY)))
    assert "Nothing meets this need" in text and "budget" in text and "What you accept" not in text


def test_a_hostile_name_is_shown_and_does_nothing() -> None:
    need = read_need("09", need="<script>alert(1)</script>", about="<img src=x onerror=alert(2)>")
    found = looked_at(need, [load_book("book.yaml", NEEDS)])
    text = render_html(build_page(found.advice.model_copy(update={"sensitivity": found.picture}), TODAY))
    assert "<script>alert" not in text and "<img" not in text and "&lt;script&gt;alert(1)" in text
