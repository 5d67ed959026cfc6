"""Charts that authors order: what is drawn of which results, what captions say, and which orders are refused."""

import re
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from builders import answered, make_case, make_run, row_of
from sample_run import sample_run

from assay.model.base import AssayError
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.verdict import Verdict
from assay.report.document import Chart, Gallery
from assay.report.draw.drawing import BarMark, Dot, Drawing, HeatMap, LineMark, NamedRows, Surface
from assay.report.draw.standalone import picture_of
from assay.report.draw.surface import surface_svg
from assay.report.html import chart_markup
from assay.report.selection.charts import ChartOptions, chart_blocks
from assay.report.view import RunView

KIB = 1024
SIZES = (4, 16, 64, 256)


def a_row(target: str, size: int, file_size: int, rate: float, verdict: Verdict = Verdict.OK) -> ResultRow:
    axes = {"record_size": size * KIB, "file_size": file_size * KIB * KIB}
    case = make_case(f"{target}-{size}-{file_size}", target, ("read",), axes=axes)
    return row_of(case, [rate * (1 + number / 1000) for number in range(-4, 5)], verdict)


def run_of(*rows: ResultRow) -> RunView:
    cases = tuple(row.case for row in rows)
    run = RunAnalysis(run=make_run(), cases=cases, excluded=(), rows=rows, comparisons=(), notes=(), jobs=())
    return RunView(answered(run))


@cache
def crossing() -> RunView:
    """The disk is slower at small records and faster at large ones."""
    speeds = {"disk": (100e6, 200e6, 800e6, 900e6), "memory": (400e6, 400e6, 400e6, 410e6)}
    rows = [a_row(name, size, 1, rate) for name in speeds for size, rate in zip(SIZES, speeds[name], strict=True)]
    return run_of(*rows)


@cache
def hill() -> RunView:
    """Slow at the first file size, fast at the last one; files of 1 MiB have no records of 256 KiB."""
    return run_of(
        *(
            a_row("disk", size, files, 1e6 * files * (place + 1))
            for files in (1, 8, 64)
            for place, size in enumerate(SIZES)
            if (files, size) != (1, 256)
        )
    )


def charts(view: RunView, **options: Any) -> list[Chart]:
    found: list[Chart] = []
    for block in chart_blocks(ChartOptions.model_validate(options), {"r1": view}):
        found += block.figures if isinstance(block, Gallery) else [block] if isinstance(block, Chart) else []  # type: ignore[arg-type]
    return found


def chart(view: RunView, **options: Any) -> Chart:
    (found,) = charts(view, **options)
    return found


def drawing_of(found: Chart) -> Drawing:
    assert isinstance(found.drawing, Drawing)
    return found.drawing


def test_lines_with_what_is_to_be_seen() -> None:
    found = chart(crossing(), kind="lines", x="record_size", series="target")
    drawing = drawing_of(found)
    assert [[y for _, y in line.points] for line in drawing.marks_of(LineMark)] == [
        [100, 200, 800, 900],
        [400, 400, 400, 410],
    ]
    assert len({(line.dash, line.css_class) for line in drawing.marks_of(LineMark)}) == 2
    assert [key.name for key in drawing.legends[0].keys] == ["disk", "memory"]
    assert "From left to right: disk 100 MB/s to 900 MB/s and memory 400 MB/s to 410 MB/s." in found.caption
    assert "Highest: 900 MB/s (record size 256 KiB, disk)." in found.caption
    assert "disk and memory cross between record size 16 KiB and 64 KiB." in found.caption


def test_a_target_looks_the_same_in_charts_of_fewer_targets() -> None:
    both, alone = (
        drawing_of(chart(crossing(), kind="lines", x="record_size", series="target", where={"target": targets}))
        for targets in (["memory", "disk"], ["memory"])
    )
    looks = {(line.points, line.css_class, line.dash) for line in both.marks_of(LineMark)}
    (line,) = alone.marks_of(LineMark)
    assert (line.points, line.css_class, line.dash) in looks
    assert [key.name for key in both.legends[0].keys] == ["memory", "disk"], "in the order of the author"


def test_a_crossing_is_only_stated_if_it_is_decided() -> None:
    rows = [row.model_copy(update={"throughput": None}) for row in crossing().analysis.rows]
    undecided = crossing().analysis.model_copy(update={"decisions": ()})
    assert "cross" not in chart(RunView(undecided), kind="lines", x="record_size", series="target").caption
    with pytest.raises(AssayError, match="nothing to draw"):
        chart(run_of(*rows), kind="lines", x="record_size", series="target")


def test_doubtful_values_are_hollow_and_nothing_is_said_of_them() -> None:
    bad = a_row("disk", 16, 1, 5e9, Verdict.CACHED)
    rows = [bad if row.case.id == bad.case.id else row for row in crossing().analysis.rows]
    found = chart(run_of(*rows), kind="lines", x="record_size", series="target")
    assert [dot.y for dot in drawing_of(found).marks_of(Dot) if dot.look == "open"] == [5000]
    assert "Hollow: 1 cached." in found.caption and "Highest" not in found.caption


def test_bars_in_groups_differ_by_pattern_and_start_at_zero() -> None:
    found = chart(crossing(), kind="bars", x="record_size", series="target")
    bars = drawing_of(found).marks_of(BarMark)
    assert [bar.y for bar in bars[:2]] == [(0.0, 100.0), (0.0, 400.0)] and len(bars) == 8
    assert (
        [bar.pattern for bar in bars[:2]]
        == [key.pattern for key in drawing_of(found).legends[0].keys]
        == [
            0,
            1,
        ]
    )
    assert "Highest: 900 MB/s (record size 256 KiB, disk); lowest: 100 MB/s (record size 4 KiB, disk)." in found.caption
    edges = sorted(bar.x for bar in bars)
    assert all(right <= left for (_, right), (left, _) in pairwise(edges)), "bars do not overlap"


def test_bars_with_long_names_lie() -> None:
    rows = [a_row(f"a target with a long name {number}", 4, 1, 1e8) for number in range(6)]
    drawing = drawing_of(chart(run_of(*rows), kind="bars", x="target"))
    assert isinstance(drawing.y, NamedRows) and drawing.marks_of(BarMark)[0].x == (0.0, 100.0)


def test_a_heat_map_has_a_panel_for_each_value_and_marks_what_is_missing_by_its_absence() -> None:
    found = chart(hill(), kind="heat", x="record_size", y="file_size", series="target")
    assert isinstance(found.drawing, HeatMap)
    ((name, cells),) = found.drawing.panels
    assert name == "disk" and len(cells) == 11
    assert {(cell.column, cell.row): cell.text for cell in cells}[(3, 2)] == "256"
    assert found.drawing.rows == ("1 MiB", "8 MiB", "64 MiB") and "MB/s" in found.drawing.unit


def test_a_surface_is_painted_from_the_back_to_the_front() -> None:
    found = chart(hill(), kind="surface", x="file_size", y="record_size", unit="kB/s")
    surface = found.drawing
    assert isinstance(surface, Surface) and surface.z_title == "Throughput (kB/s)"
    assert surface.values[3] == (None, 32000.0, 256000.0)
    markup, height = surface_svg(surface, 480)
    faces = re.findall(r'<path class=face fill="(#\w+)" d="M([^"]+)Z"', markup)
    assert len(faces) == 6, "4 x 3 points have 6 faces, and one of them is a triangle"
    assert sorted(outline.count("L") for _, outline in faces) == [2, 3, 3, 3, 3, 3]
    fronts = [max(float(point.split()[1]) for point in outline.split("L")) for _, outline in faces]
    assert fronts[0] == min(fronts) and fronts[-1] == max(fronts)
    places = [float(number) for number in re.findall(r' (?:x|cx)="([\d.]+)"', markup)]
    assert max(places) < 480 and 200 < height < 480
    assert {"File size", "Record size", "Throughput (kB/s)", "64 MiB", "4 KiB"} <= set(
        re.findall(r">([^<>]+)</text>", markup)
    )


@pytest.mark.parametrize("is_higher_at_the_end", [True, False])
def test_the_higher_side_of_a_surface_is_at_the_back(is_higher_at_the_end: bool) -> None:
    rows = [
        a_row("disk", size, files, 1e6 * (place + 1 if is_higher_at_the_end else 9 - place))
        for place, files in enumerate((1, 8, 64))
        for size in SIZES
    ]
    surface = chart(run_of(*rows), kind="surface", x="file_size", y="record_size").drawing
    assert isinstance(surface, Surface)
    labels = re.findall(r'<text class=up x="[\d.]+" y="([\d.]+)">(\d+ MiB)</text>', surface_svg(surface, 480)[0])
    down = [words for _, words in sorted(labels, key=lambda found: float(found[0]))]
    assert down == (["64 MiB", "8 MiB", "1 MiB"] if is_higher_at_the_end else ["1 MiB", "8 MiB", "64 MiB"])


@pytest.mark.parametrize("kind", ["lines", "bars", "heat", "surface"])
def test_all_kinds_become_vector_pictures_and_html(kind: str) -> None:
    axes = {"x": "record_size", "y": "file_size"} if kind in ("heat", "surface") else {"x": "record_size"}
    found = chart(hill(), kind=kind, where={"file_size": ">1MiB"}, max_over=[] if "y" in axes else "file_size", **axes)
    picture = picture_of(found.drawing, 480)
    assert picture.width == 480 and "<image" not in picture.svg and "nan" not in picture.svg
    assert "<svg" in chart_markup(found.drawing, "label")


def test_pictures_are_split() -> None:
    found = charts(hill(), kind="lines", x="record_size", split="file_size")
    assert [one.title for one in found] == ["File size 1 MiB", "File size 8 MiB", "File size 64 MiB"]
    assert all("Throughput by record size" in one.caption for one in found)
    means = chart(RunView(sample_run()), kind="lines", x="record_size", series="target", mean_over="file_size",
                  where={"workload": "grid", "operation": "write"})  # fmt: skip
    assert "Mean over file size, of " in means.caption


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "lines"}, "a chart of kind lines needs `x`"),
        ({"kind": "heat", "x": "record_size"}, "a chart of kind heat needs `y`"),
        ({"kind": "surface", "x": "a", "y": "b", "series": "c"}, "a chart of kind surface has no `series`"),
        ({"kind": "bars", "x": "target", "series": "target"}, "`target` stands there twice"),
        ({"kind": "lines", "x": "target", "mean_over": "record_size"}, "lines need numbers along x"),
        ({"kind": "lines", "x": "record_size"}, "2 results are in one cell"),
        ({"kind": "bars", "x": "hue"}, "there is no property `hue`"),
        ({"kind": "surface", "x": "record_size", "y": "target"}, ""),
    ],
)
def test_charts_that_cannot_be_drawn_are_refused(options: dict[str, Any], message: str) -> None:
    if not message:
        assert isinstance(chart(crossing(), **options).drawing, Surface)
        return
    with pytest.raises(AssayError) as error:
        charts(crossing(), **options)
    assert message in error.value.message
