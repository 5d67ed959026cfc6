"""What a report holds where nothing draws its charts."""

import pytest

from assay.report import document as doc
from assay.report.charts.drawn import drawable
from assay.report.html import render_html

CHART = doc.Chart("c", "Chart", "What it shows", {"mark": "point"})
SURFACE = doc.Surface("s", "Surface", "What it shows", "x", "y", "z", ("1", "2"), ("1", "2"), ())
WORDS = doc.Paragraph("words")


def document(*parts: tuple[doc.Block, ...]) -> doc.Document:
    sections = tuple(doc.Section(f"p{place}", f"Part {place}", blocks) for place, blocks in enumerate(parts))
    return doc.Document(kicker="", title="What?", description="", meta=(), sections=sections)


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    monkeypatch.setattr("assay.report.charts.drawn.is_installed", lambda name: name not in packages)


def test_nothing_changes_where_all_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch)
    whole = document((WORDS, CHART, SURFACE))
    assert drawable(whole) is whole


def test_nothing_changes_where_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "vl_convert", "matplotlib")
    whole = document((WORDS, doc.Heading("empty anyway", "h")), (doc.Fold("more", (WORDS,)),))
    assert drawable(whole) is whole


def test_figures_go_and_what_held_only_them(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "vl_convert", "matplotlib")
    upper, lower, last = (doc.Heading(text, text, level) for text, level in (("a", 3), ("b", 4), ("c", 3)))
    found = drawable(
        document(
            (WORDS, upper, lower, doc.Gallery((CHART, SURFACE)), last, WORDS, doc.Fold("f", (CHART, WORDS))),
            (doc.Heading("d", "d", 3), CHART, doc.Fold("g", (SURFACE,))),
        )
    )
    assert [section.id for section in found.sections] == ["p0"]
    *kept, note = found.sections[0].blocks
    assert kept == [WORDS, last, WORDS, doc.Fold("f", (WORDS,))]
    page = render_html(found)
    assert isinstance(note, doc.Note) and page.count("Charts are left out") == 1
    assert "pip install &#x27;assay[report]&#x27;" in page
    assert "Vega" not in page and 'class="chart"' not in page and 'class="surface"' not in page


@pytest.mark.parametrize(("package", "left"), [("matplotlib", CHART), ("vl_convert", SURFACE)])
def test_each_kind_of_figure_has_its_own_package(
    monkeypatch: pytest.MonkeyPatch, package: str, left: doc.Block
) -> None:
    without(monkeypatch, package)
    *kept, note = drawable(document((doc.Gallery((CHART, SURFACE)),))).sections[0].blocks
    assert kept == [doc.Gallery((left,))]
    assert isinstance(note, doc.Note)


def test_a_page_of_charts_alone_says_why_it_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "vl_convert", "matplotlib")
    (section,) = drawable(document((CHART,))).sections
    assert [type(block) for block in section.blocks] == [doc.Note]
