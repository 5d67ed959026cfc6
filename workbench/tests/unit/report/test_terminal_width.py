"""Tables in narrow terminals: every line fits, no number and no name is broken, and what is left out is said."""

from hypothesis import given
from hypothesis import strategies as st

from assay.report import document as doc
from assay.report.terminal import render_terminal

RUN = "20261125-041728-a-study-with-a-name"
NAMES = st.sampled_from([RUN, "disk", "memory", "c0001", "record_size=64KiB"])
NUMBERS = st.integers(0, 10**12).map(lambda value: f"{value:,}")
WORDS = st.lists(st.sampled_from(["a", "long", "remark", "of", "many", "words", RUN]), min_size=1, max_size=9)


@st.composite
def tables(draw: st.DrawFn) -> doc.Table:
    kinds = draw(st.lists(st.sampled_from(["name", "number", "words"]), min_size=1, max_size=8))
    columns = [doc.Column("first")] + [
        doc.Column(f"{kind}{place}", is_numeric=kind == "number", drop_rank=draw(st.integers(0, 3)))
        for place, kind in enumerate(kinds)
    ]
    cells = {"name": NAMES, "number": NUMBERS, "words": WORDS.map(" ".join)}
    rows = [(draw(NAMES), *(draw(cells[kind]) for kind in kinds)) for _ in range(draw(st.integers(1, 4)))]
    return doc.Table("t", tuple(columns), tuple(rows))


@given(tables(), st.integers(40, 80))
def test_every_line_fits_and_what_is_shown_is_whole(table: doc.Table, width: int) -> None:
    lines = render_terminal([table], width).splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    tail = text[text.find("columns left out: ") :] if "columns left out: " in text else ""
    left_out = set(tail.removeprefix("columns left out:").replace(",", " ").split())
    shown = [place for place, column in enumerate(table.columns) if column.title not in left_out]
    assert shown[0] == 0 and len(shown) + len(left_out) == len(table.columns)
    found = text.split()
    for row in table.rows:
        for place in shown:
            assert all(word in found for word in str(row[place]).split())


@given(tables(), st.integers(40, 80))
def test_what_ranks_lower_goes_first(table: doc.Table, width: int) -> None:
    text = render_terminal([table], width)
    left_out = text[text.find("columns left out: ") :].replace(",", " ").split() if "columns left out: " in text else []
    ranks = {column.title: (column.drop_rank, place) for place, column in enumerate(table.columns)}
    gone = [ranks[title] for title in left_out if title in ranks]
    kept = [rank for title, rank in list(ranks.items())[1:] if title not in left_out]
    assert not gone or not kept or min(gone) > max(kept)


@given(tables())
def test_a_pipe_gets_every_column_in_one_line_a_row(table: doc.Table) -> None:
    lines = render_terminal([table]).splitlines()
    assert len(lines) == 2 + len(table.rows)
    assert not any("columns left out" in line for line in lines)


def test_a_path_is_broken_after_a_slash_only() -> None:
    path = f"/srv/storage/measurements/assay-runs/{RUN}/run.sqlite"
    lines = render_terminal([doc.Table.of(("what", "where"), [("file", path)])], 50).splitlines()
    assert "".join(line[6:].strip() for line in lines[2:]) == path
    assert all(line.endswith("/") for line in lines[2:-1])
