"""The document as text for a terminal or a pipe: columns, widths, what is left out, and what is made safe."""

import typing

import pytest

from assay.model.result.verdict import Verdict
from assay.report import document as doc
from assay.report.terminal import _WRITERS, render_terminal, text_of

TABLE = doc.Table(
    "rates",
    (doc.Column("What"), doc.Column("Rate", "MB/s", is_numeric=True), doc.Column("How", is_detail=True)),
    (("read", doc.Num("1,200", 1.2e9), "x"), ("record rewrite", doc.Num("3", 3e6), "y")),
    "The end.",
)


def test_a_table_has_its_units_below_the_titles_and_leaves_details_out() -> None:
    assert render_terminal([TABLE]).splitlines() == [
        "What             Rate",
        "                 MB/s",
        "─────────────────────",
        "read            1,200",
        "record rewrite      3",
        "The end.",
    ]


def test_a_terminal_gets_titles_that_stand_out_and_a_pipe_does_not() -> None:
    blocks = [doc.Heading("Rates", "r"), TABLE]
    assert "\x1b" not in render_terminal(blocks)
    assert render_terminal(blocks, 80, styled=True).startswith("\x1b[1mRates\x1b[0m\n\x1b[1mWhat")


def test_columns_of_text_give_way_to_the_width_and_numbers_never_do() -> None:
    words = "a long remark of many words that no terminal has room for"
    table = doc.Table.of(("name", "rate", "remark"), [("disk", "1,234,567.8", words)], numeric_titles=("rate",))
    lines = render_terminal([table], 40).splitlines()
    assert max(map(len, lines)) <= 40 and "1,234,567.8" in lines[2]
    assert " ".join(line[19:].strip() for line in lines[2:]) == words
    assert len(render_terminal([table]).splitlines()) == 3


def test_what_can_never_fit_is_left_out_whole_and_the_first_column_stays() -> None:
    table = doc.Table.of(("a", "b"), [("1" * 30, "2" * 30)], numeric_titles=("a", "b"))
    assert render_terminal([table], 40).splitlines()[2:] == ["1" * 30, "columns left out: b"]
    assert "1" * 30 in render_terminal([table], 20)


def test_wide_letters_take_two_columns() -> None:
    table = doc.Table.of(("name", "n"), [("漢字", "1"), ("disk", "2")])
    assert render_terminal([table]).splitlines()[2:] == ["漢字  1", "disk  2"]


def test_facts_stand_below_each_other_and_text_is_folded() -> None:
    facts = doc.Facts((("target", "one"), ("question", "Which of the two is faster here?"), ("", "more")))
    assert render_terminal([facts], 30).splitlines() == [
        "target    one",
        "question  Which of the two is",
        "          faster here?",
        "          more",
    ]
    bullets = doc.Bullets(("read: fast", (doc.Strong("write"), ": slow, slower than anything")))
    assert render_terminal([bullets], 24).splitlines() == ["  read: fast", "  write: slow, slower", "    than anything"]


def test_blocks_are_set_apart_and_charts_are_not_drawn() -> None:
    chart = doc.Chart("c", "A chart", "It rises.", {})
    blocks = [doc.Paragraph("First."), chart, doc.Heading("Rates", "r"), TABLE, doc.Note("Last.", "warning")]
    text = render_terminal(blocks)
    assert "chart" not in text and text.startswith("First.\n\nRates\nWhat")
    assert text.endswith("The end.\n\nwarning: Last.\n")
    assert render_terminal([chart]) == ""


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (doc.Badge(Verdict.OK, is_partial=True), "ok *"),
        (doc.Badge(Verdict.CACHED, further_verdicts=(Verdict.UNSTABLE,)), "cached, unstable"),
        (doc.Share(0.93), "93 %"),
        (doc.Share(1.3, "above link: 130 %"), "130 %; above link: 130 %"),
        (doc.Share(None), "–"),
        (doc.Mono("/dev/sda"), "/dev/sda"),
    ],
)
def test_cells_have_their_words(cell: doc.Cell, text: str) -> None:
    assert text_of(cell) == text


def test_text_of_others_is_shown_and_not_obeyed() -> None:
    evil = "\x1b[2J\nok: forged"
    table = doc.Table.of((evil,), [(evil,)])
    text = render_terminal([doc.Heading(evil, ""), doc.Paragraph(evil), doc.Facts(((evil, evil),)), table], 20)
    assert "\x1b" not in text and not [line for line in text.splitlines() if line.startswith("ok: forged\x1b")]
    assert render_terminal([doc.Paragraph(evil)]) == "\\x1b[2J ok: forged\n"


def test_every_block_of_the_document_has_a_writer() -> None:
    assert set(_WRITERS) == set(typing.get_args(doc.Block))
