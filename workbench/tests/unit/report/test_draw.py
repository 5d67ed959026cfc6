"""Scales and marks of charts, and the SVG that is written of them."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.charts.theme import swept_axis
from assay.report.document import DotRow, Dots, Lane
from assay.report.draw.chart import chart_html
from assay.report.draw.dots import dots_html
from assay.report.draw.drawing import (
    ChartAxis,
    Dot,
    Drawing,
    HeatCell,
    HeatMap,
    IntervalMark,
    LineMark,
    Mark,
    NamedRows,
    ReferenceLine,
    TextMark,
)
from assay.report.draw.heat import colour, heat_html
from assay.report.draw.marks import DrawnArea, marks_svg
from assay.report.draw.scales import MAX_TICKS, AxisScale, linear_scale, log_scale, scale_from_zero, tick_text

TEN = ChartAxis("x", AxisScale(0.0, 10.0), ((0.0, "0"), (10.0, "10")))
AREA = DrawnArea(TEN, ChartAxis("y", AxisScale(1.0, 100.0, logarithmic=True), ()), 200.0)


def drawn(*marks: Mark) -> str:
    return marks_svg(marks, AREA)


@pytest.mark.parametrize("values", [[1.0, 1.0], [3e12, 3e14], [0.02, 950.0], [120.0, 130.0], [1.0, 4.5]])
def test_scales_have_a_few_round_numbers_inside(values: list[float]) -> None:
    for scale in (log_scale(values), log_scale(values, 1.0, 2.0), linear_scale(values), scale_from_zero(max(values))):
        ticks = scale.ticks()
        assert 1 <= len(ticks) <= MAX_TICKS + 1
        assert all(scale.low * 0.999 <= tick <= scale.high * 1.001 for tick in ticks)
        assert all(len(re.sub("[^0-9]", "", tick_text(tick)).strip("0")) <= 3 for tick in ticks)


@given(st.floats(1e-6, 1e12), st.floats(1e-6, 1e12), st.booleans(), st.floats(1e-6, 1e12), st.floats(1e-6, 1e12))
def test_places_are_in_order_and_inside(a: float, b: float, logarithmic: bool, one: float, other: float) -> None:
    low, high = sorted((a, b))
    scale = AxisScale(low, high * 1.01, logarithmic)
    assert scale.position(low) == 0 and scale.position(high * 1.01) == pytest.approx(1)
    first, second = sorted((one, other))
    assert 0 <= scale.position(first) <= scale.position(second) <= 1 + 1e-9


def test_equal_ratios_take_equal_room_on_a_logarithmic_scale() -> None:
    scale = AxisScale(1.0, 1000.0, logarithmic=True)
    assert [scale.position(value) for value in (1, 10, 100, 1000)] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert scale.ticks(4) == (1, 10, 100, 1000)


@pytest.mark.parametrize(
    ("value", "words"), [(1000.0, "1,000"), (2.5, "2.5"), (0.02, "0.02"), (0.0, "0"), (1e12, "1,000,000,000,000")]
)
def test_round_values_have_no_needless_zeros(value: float, words: str) -> None:
    assert tick_text(value) == words


def test_a_dot_is_where_its_values_are_and_says_what_it_is() -> None:
    found = drawn(Dot(5.0, 10.0, "t1", "memory\n5 MB/s", label="cached"))
    assert '<g class="t1 dot"><circle cx="50%" cy="122">' in found
    assert "<title>memory\n5 MB/s</title>" in found and ">cached</text>" in found


def test_what_lies_beyond_a_scale_is_drawn_at_its_edge() -> None:
    assert 'cx="100%" cy="222"' in drawn(Dot(1e9, -1.0))
    assert 'x1="0%" x2="100%"' in drawn(IntervalMark((-5.0, 50.0), (10.0, 10.0), "t0"))


def test_an_interval_that_is_cut_off_ends_in_an_arrowhead() -> None:
    assert drawn(IntervalMark((-5.0, 50.0), (10.0, 10.0), "t0")).count("<use") == 2
    assert '<use href="#to-right" x="100%" y="122"/>' in drawn(IntervalMark((1.0, 50.0), (10.0, 10.0), "t0"))
    assert '<use href="#to-top" x="50%" y="22"/>' in drawn(IntervalMark((5.0, 5.0), (10.0, 500.0), "t0"))
    assert "<use" not in drawn(IntervalMark((0.0, 10.0), (1.0, 100.0), "t0"))


def dots(*values: float, more: tuple[float, ...] = ()) -> str:
    lanes = tuple(Lane(name, 0, found, (), found[0]) for name, found in (("a", values), ("b", more)) if found)
    return dots_html(Dots("d", "Rate in MB/s", "", False, (DotRow("Read", lanes),)))


def test_a_dot_far_from_its_lane_is_an_arrow_and_the_axis_says_where_it_is() -> None:
    found = dots(1.0, 1.1, 1.2, 950.0)
    assert found.count("<circle") == 3 and found.count('<use href="#to-right" x="100%"') == 1
    assert "Rate in MB/s, log scale; arrow: 950</p>" in found
    assert '<use href="#to-left" x="0%"' in dots(0.001, 1.1, 1.2, 1.3)


def test_dots_set_the_scale_where_they_are_no_exception() -> None:
    for found in (dots(1.0, 9.0, 80.0, 700.0), dots(1.0, 950.0), dots(1.0, 1.1, 1.2, 1.3, more=(950.0,))):
        assert "<use" not in found and "log scale</p>" in found


def test_lines_are_broken_and_go_in_steps() -> None:
    points = ((0.0, 1.0), (5.0, 10.0), (6.0, None), (10.0, 100.0))
    assert 'd="M0 222L500 122M1000 22"' in drawn(LineMark(points, "t0"))
    assert 'd="M0 222H500V122M1000 22"' in drawn(LineMark(points, "t0", step="after"))
    assert 'd="M0 222V122H500M1000 22"' in drawn(LineMark(points, "t0", step="before"))


def test_signs_of_crossings_stand_beside_each_other() -> None:
    found = drawn(
        *(ReferenceLine(value, "cross", label=sign) for value, sign in ((5.0, "1"), (5.01, "2"), (5.02, "3")))
    )
    places = [float(x) for x in re.findall(r'<circle class=sign cx="([\d.]+)%"', found)]
    assert all(right - left > 5 for left, right in pairwise(places))
    assert [float(x) for x in re.findall(r'x1="([\d.]+)%"', found)] == [50, 50.1, 50.2]


def test_names_of_others_are_only_text() -> None:
    evil = "<script>alert(1)</script>"
    drawing = Drawing(
        TEN, NamedRows((evil,), 24), (TextMark(1.0, 0.5, evil, evil), Dot(1.0, 0.5, "", evil, label=evil))
    )
    heat = HeatMap(
        evil,
        evil,
        (evil,),
        (evil,),
        ((evil, (HeatCell(0, 0, 5.0, evil, evil, True, "", evil),)),),
        TEN.scale,
        evil,
        40,
        34,
        True,
    )
    for found in (chart_html(drawing, "a-words"), heat_html(heat, "a-words")):
        assert "<script" not in found and "&lt;script&gt;alert(1)" in found


def test_a_chart_says_by_which_words_it_is_described() -> None:
    assert '<svg role="img" aria-labelledby="a-words"' in chart_html(Drawing(TEN, NamedRows(("a",), 24), ()), "a-words")


def test_colours_get_lighter_with_the_value() -> None:
    parts = ((1, 3), (3, 6), (5, 1))
    shades = [colour(step / 50) for step in range(51)]
    light = [sum(int(shade[place : place + 2], 16) * weight for place, weight in parts) for shade in shades]
    assert light == sorted(light)
    assert colour(0) == "#440154" and colour(1) == "#fde725"


def test_a_cell_without_a_value_is_white_and_a_doubtful_one_hatched() -> None:
    cells = (
        HeatCell(0, 0, None, "5", "cached", True, "bad"),
        HeatCell(1, 0, 5.0, "5", "unstable", True),
        HeatCell(2, 0, 5.0, "5"),
    )
    heat = HeatMap("x", "y", ("a", "b", "c"), ("d",), (("disk", cells),), TEN.scale, "MB/s", 40, 34, has_text=True)
    found = heat_html(heat, "a-words")
    assert found.count("class=none") == 1 and found.count("class=hatched") == 1
    assert '<text class="small bad"' in found and ">cached</text>" in found


def test_a_map_has_room_for_the_whole_name_of_its_last_column() -> None:
    sizes = tuple(f"{2**power} KiB" for power in range(10))
    heat = HeatMap("x", "y", sizes, ("d",), (("disk", ()),), TEN.scale, "MB/s", 20, 34, has_text=False)
    found = heat_html(heat, "a-words")
    (right,) = re.findall(r"padding:0 (\d+)px", found)
    # Columns may shrink to 10 pixels; the name of the last one is in the middle of it.
    assert int(right) + 5 >= 6 * len(sizes[-1]) / 2


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 10, 11, 19])
def test_sizes_of_an_axis_are_so_far_apart_that_their_words_have_room(count: int) -> None:
    values = [4096 * 2**power for power in range(count)]
    axis = swept_axis("record_size", [*values, 4096 + 512])
    places = [axis.scale.position(value) for value, _ in axis.ticks]
    assert len(places) <= 8 and (axis.ticks[0][0], axis.ticks[-1][0]) == (4096, max(values[-1], 4608))
    span = places[-1] - places[0]
    assert all(right - left > 0.99 * span / 7 for left, right in pairwise(places))
