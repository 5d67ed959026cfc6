"""Figures that others have published, read from tables and drawn beside a run's own."""

from pathlib import Path

import pytest
from builders import MIB, make_analysis, make_case, row_of

from assay.model.base import AssayError
from assay.model.result.result import RunAnalysis
from assay.report.build import build_document
from assay.report.document import Gallery, Heading, Note, Table
from assay.report.draw.drawing import HeatMap
from assay.report.html import render_html
from assay.report.published_figures import PublishedFigure, PublishedFigures, read_published_figures, with_figures

IOZONE = """system,operation,file_kb,record_kb,kb_per_s,confidence
AoE,write,1024,4,1000,certain
AoE,refread,1024,4,2000,certain
"""
SIZES = [(file, record) for file in (MIB, 4 * MIB, 16 * MIB) for record in (4096, 65536)]


def written(folder: Path, text: str) -> str:
    path = folder / "figures.csv"
    path.write_text(text)
    return str(path)


def measured() -> RunAnalysis:
    """A run that has written files of three sizes with records of two."""
    cases = [
        make_case(f"c{number:04}", "mine", ("write",), axes={"file_size": file, "record_size": record})
        for number, (file, record) in enumerate(SIZES, 1)
    ]
    rows = tuple(row_of(case, [100e6 * number] * 3, operation="write") for number, case in enumerate(cases, 1))
    return make_analysis().model_copy(update={"cases": tuple(cases), "rows": rows, "comparisons": (), "decisions": ()})


def published(*rates: float) -> PublishedFigures:
    """As many figures as there are rates, at the sizes in turn."""
    pairs = zip(SIZES, rates, strict=False)
    return PublishedFigures(
        "paper.csv", tuple(PublishedFigure("theirs", "write", *sizes, rate) for sizes, rate in pairs)
    )


def test_tables_of_iozone_and_of_assay_are_read(tmp_path: Path) -> None:
    found = read_published_figures(written(tmp_path, IOZONE)).figures
    assert found == (
        PublishedFigure("AoE", "write", MIB, 4096, 1_024_000.0),
        PublishedFigure("AoE", "re_fread", MIB, 4096, 2_048_000.0),
    )
    text = "target,operation,file_size,record_size,throughput\nx,read,1MiB,4096,100MB/s\n\n"
    assert read_published_figures(written(tmp_path, text)).figures == (PublishedFigure("x", "read", MIB, 4096, 100e6),)


BAD = {
    "target,operation\nx,y\n": "figures.csv:1: there is no column file_size",
    "target,operation,file_size,record_size,throughput\n": "has no figures",
    "target,operation,file_size,record_size,throughput\nx,write,1MiB,4KiB,fast\n": "figures.csv:2: `fast`",
    "target,operation,file_size,record_size,throughput\nx,write,1MiB,,1MB/s\n": "figures.csv:2: record_size is empty",
    "target,operation,file_size,record_size,throughput\nx,copy,1MiB,4KiB,1MB/s\n": "unknown operation copy",
    "": "there is no column",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_table_of_figures_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(AssayError) as caught:
        read_published_figures(written(tmp_path, text))
    assert BAD[text] in caught.value.message and "\n" not in caught.value.message and caught.value.hint


def test_figures_stand_in_charts_and_means_and_nowhere_else() -> None:
    run = measured()
    document = build_document(run, published_figures=published(500e6, 600e6, 700e6))
    place = [section.id for section in document.sections].index("published")
    assert document.sections[place - 1].id == "evidence"
    (table,) = (block for block in document.sections[place].blocks if isinstance(block, Table))
    name, sizes, ours, theirs = table.rows[0]
    # Over the three sizes that both have: 100, 200, 300 and 500, 600, 700 MB/s.
    assert (name, sizes.text, ours.text, theirs.text) == ("Write", "3", "200", "600")  # type: ignore[union-attr]
    assert any(
        isinstance(block, Heading) and "over file size" in block.text for block in document.sections[place].blocks
    )
    (heat,) = (block.figures[0] for block in document.sections[place].blocks if isinstance(block, Gallery))
    assert isinstance(heat.drawing, HeatMap)
    assert [(target, len(cells)) for target, cells in heat.drawing.panels] == [("mine", len(SIZES)), ("theirs", 3)]
    whole = render_html(document)
    before, _, after = whole.partition('id="published"')
    assert "theirs" not in before.partition("<main")[2], "neither answers nor verdicts know of them"
    assert "theirs" in after
    assert "theirs" not in render_html(build_document(run))


def test_figures_that_fit_nowhere_are_said_to(tmp_path: Path) -> None:
    run = measured()
    other = PublishedFigures("paper.csv", (PublishedFigure("theirs", "read", MIB, 4096, 1e6),))
    assert with_figures(run, other) is None
    document = build_document(run, published_figures=other)
    (section,) = (section for section in document.sections if section.id == "published")
    (note,) = section.blocks
    assert isinstance(note, Note) and "paper.csv" in note.text
