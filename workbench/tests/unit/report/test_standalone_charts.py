"""Charts as pictures that stand alone."""

import re
from xml.etree import ElementTree

import pytest
from sample_run import hostile_run, sample_run

from assay.report.draw.drawing import ChartAxis, Dot, Drawing, HeatMap, Legend, LegendEntry, LineMark
from assay.report.draw.scales import AxisScale
from assay.report.draw.standalone import WIDTH, differing_in_grey, picture_of
from assay.report.sections.results import rate_charts
from assay.report.summary.page import first_page
from assay.report.view import RunView

AXIS = ChartAxis("x", AxisScale(0.0, 10.0), ((0.0, "0"), (10.0, "10")))
KEYS = tuple(LegendEntry(name, f"t{number}") for number, name in enumerate(("disk", "memory")))


def drawing(shapes: tuple[int, int] = (0, 0)) -> Drawing:
    """Two targets, each a line with marks."""
    marks = [
        mark
        for number, shape in enumerate(shapes)
        for mark in (
            LineMark(((0.0, 1.0), (10.0, 2.0)), f"t{number}", "tip <b>", dash=shape),
            Dot(5.0, 5.0, f"t{number}", "tip", shape),
        )
    ]
    return Drawing(AXIS, AXIS, tuple(marks), (Legend("Target", KEYS),))


@pytest.fixture(scope="module", params=["sample", "hostile"])
def pictures(request: pytest.FixtureRequest) -> list[str]:
    view = RunView(sample_run() if request.param == "sample" else hostile_run())
    charts = [chart.drawing for chart in list(rate_charts(view, True))[:6]]
    assert any(isinstance(chart, HeatMap) for chart in charts)
    return [picture_of(one).svg for one in (*first_page(view).dots, *charts)]


def test_pictures_are_whole_and_need_nothing_else(pictures: list[str]) -> None:
    for svg in pictures:
        root = ElementTree.fromstring(svg)
        assert "class=" not in svg and "%" not in re.sub(r">[^<]*<", "><", svg) and "<script" not in svg
        assert not [one for one in root.iter() if one.tag.endswith(("title", "image", "a"))]
        for element in root.iter("{http://www.w3.org/2000/svg}line"):
            assert element.get("stroke") and all(0 <= float(element.get(key, 0)) <= WIDTH for key in ("x1", "x2"))


def test_the_same_chart_gives_the_same_picture() -> None:
    assert picture_of(drawing()) == picture_of(drawing())


def test_lines_reach_from_edge_to_edge_of_the_drawn_area() -> None:
    svg = picture_of(drawing()).svg
    (first, _) = re.findall(r'<path[^>]* d="([^"]+)"', svg.split("</defs>")[1])
    ends = [float(x) for x in re.findall(r"[ML]([0-9.]+)", first)]
    assert ends[0] == 0 and ends[1] == pytest.approx(WIDTH - 26 - 16)
    assert "tip" not in svg


def test_targets_differ_without_colours() -> None:
    marks = differing_in_grey(drawing()).marks
    assert [mark.dash for mark in marks if isinstance(mark, LineMark)] == [0, 1]
    assert [mark.shape for mark in marks if isinstance(mark, Dot)] == [0, 1]
    svg = picture_of(drawing()).svg.split("</defs>")[1]
    assert svg.count("stroke-dasharray") == 2 and svg.count('href="#square"') == 2


def test_shapes_that_mean_something_else_stay() -> None:
    changed = differing_in_grey(drawing((0, 2)))
    assert [mark.shape for mark in changed.marks if isinstance(mark, Dot)] == [0, 2]
    assert [key.shape for key in changed.legends[0].keys] == [0, 0]
    assert [key.dash for key in changed.legends[0].keys] == [0, 1]
