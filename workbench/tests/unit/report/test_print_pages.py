"""Pages of a printed document: nothing is beyond an edge, and no page ends with a heading."""

import random
import re
import shutil
import subprocess

import pytest

from assay.report import document as doc
from assay.report import typst as module
from assay.report.document_look import PAPER_SIZES_PT, Look
from assay.report.print_layout import fitted
from assay.report.typst import FLOATS, render_pdf

pytestmark = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler-utils) is not installed")
WORD = re.compile(r'<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">([^<]*)<')
MARGIN_PT = 50.0
LOOKS = (Look(), Look(columns=2, paper="letter", font_size=12.0), Look(columns=2, font_size=8.0, has_contents=True))


def words_of(document: doc.Document) -> list[tuple[float, float, list[tuple[float, ...]], list[str]]]:
    """Width and height of each page, with the boxes of its words and the words."""
    command = ["pdftotext", "-bbox", "-", "-"]
    done = subprocess.run(command, input=render_pdf(document, 1e9), check=True, capture_output=True)
    found = []
    for page in done.stdout.decode().split("<page ")[1:]:
        width, height = (float(number) for number in re.findall(r'(?:width|height)="([\d.]+)"', page)[:2])
        words = WORD.findall(page)
        found.append((width, height, [tuple(map(float, word[:4])) for word in words], [word[4] for word in words]))
    return found


def random_document(seed: int, look: Look) -> doc.Document:
    """Headings, texts, tables and charts of any size in any order; every table cell is a word of its own."""
    choose = random.Random(seed)
    count = 0

    def cell() -> str:
        nonlocal count
        count += 1
        return f"cell{count}"

    def block() -> doc.Block:
        kind = choose.randrange(5)
        if kind == 0:
            return doc.Paragraph("word " * choose.choice((3, 80, 700)))
        if kind == 1:
            lanes = tuple(doc.Lane(f"target {n}", n, (1.0, 2.0), (), 1.5) for n in range(3))
            rows = tuple(doc.DotRow(f"work {n}", lanes) for n in range(choose.choice((1, 8, 40))))
            return doc.Dots("d", "MB/s", "Each repeat.", False, rows)
        if kind == 2:
            return doc.Facts(
                tuple((f"name {n}", "value " * choose.choice((1, 30))) for n in range(choose.choice((2, 30))))
            )
        columns = choose.choice((2, 5, 9, 14))
        rows = tuple(
            tuple(f"{cell()} {'more ' * choose.choice((0, 0, 40))}" for _ in range(columns))
            for _ in range(choose.choice((2, 12, 60)))
        )
        heads = tuple(doc.Column(f"column {n}") for n in range(columns))
        return doc.Table("t", heads, rows, choose.choice(("", "A caption.")))

    blocks: list[doc.Block] = []
    for number in range(14):
        blocks += [doc.Heading(f"Heading{number}", f"h{number}"), *(block() for _ in range(choose.choice((1, 2))))]
    return doc.Document("over", "Title", "", (), (doc.Section("s", "Section", tuple(blocks)),), look=look)


@pytest.mark.parametrize(("seed", "look"), [(0, LOOKS[2]), (1, LOOKS[0]), (2, LOOKS[1])], ids=("small", "one", "two"))
def test_every_cell_is_printed_once_and_within_its_page(seed: int, look: Look) -> None:
    document = random_document(seed, look)
    pages = words_of(document)
    sides = {round(side) for side in PAPER_SIZES_PT[look.paper]}
    printed: list[str] = []
    for width, height, boxes, words in pages:
        assert {round(width), round(height)} == sides
        for (left, top, right, bottom), word in zip(boxes, words, strict=True):
            assert left >= MARGIN_PT and right <= width - MARGIN_PT + 2, word
            assert top >= 40 and bottom <= height - 20, word
        printed += [word for word in words if word.startswith("cell")]
        last = max((box[1], word) for box, word in zip(boxes, words, strict=True) if box[3] < height - 45)
        assert look.columns > 1 or not last[1].startswith("Heading"), "a heading ends the page"
    tables = [block for block in document.sections[0].blocks if isinstance(block, doc.Table)]
    # Columns that fit on no page are left out, and named in the caption.
    rows = [row for table in tables for row in fitted(table, look).table.rows]
    cells = sorted(str(cell).split()[0] for row in rows for cell in row)
    assert tables and set(cells) - set(printed) == set()
    assert sorted(printed) == cells


@pytest.mark.parametrize("floats", FLOATS)
def test_charts_over_both_columns_are_printed_wherever_they_go(floats: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typst refuses to tag some floats: then the next way is taken."""
    monkeypatch.setattr(module, "FLOATS", (floats,))
    rows = (doc.DotRow("work", (doc.Lane("target", 0, (1.0, 2.0), (), 1.5),)),)
    blocks = (doc.Paragraph("word " * 300), doc.Dots("d", "MB/s", "Each repeat.", False, rows), doc.Paragraph("end"))
    look = Look(columns=2)
    pages = words_of(doc.Document("over", "Title", "", (), (doc.Section("s", "Section", blocks),), look=look))
    assert sum(words.count("target") for *_, words in pages) == 1 and len(pages) == (3 if floats == "pages" else 1)


@pytest.mark.parametrize(
    ("lines", "contents", "expected"), [(300, None, 0), (800, None, 1), (300, True, 1), (800, False, 0)]
)
def test_a_paper_of_more_than_eight_pages_has_contents(lines: int, contents: bool | None, expected: int) -> None:
    blocks = (doc.CodeBlock("line\n" * lines),)
    look = Look(has_contents=contents)
    printed = words_of(doc.Document("over", "Title", "", (), (doc.Section("s", "Section", blocks),), look=look))
    assert sum(words.count("Contents") for *_, words in printed) == expected
    assert (len(printed) > 8) == (lines == 800)
