"""Charts of results: what a mark looks like, where it is, and what an axis says."""

from functools import cache

from sample_run import sample_run

from assay.analyse.growth.totals import Range
from assay.analyse.growth.variation import Variation
from assay.analyse.runs import compare_targets
from assay.model.result.result import ResultRow
from assay.report.charts.differences import difference_chart
from assay.report.charts.dots import plain_chart, ratio_chart
from assay.report.charts.percentiles import percentile_chart
from assay.report.draw.chart import legends_html
from assay.report.draw.drawing import Dot, Legend, LegendEntry, NamedRows
from assay.report.numbers import operation_title
from assay.report.sections.variation import variation_sentence
from assay.report.view import RunView


@cache
def view() -> RunView:
    return RunView(sample_run())


def of_disk() -> ResultRow:
    return next(row for row in view().analysis.rows if row.case.target == "disk" and row.curve and row.rate)


def test_a_target_without_a_result_takes_no_room_beside_the_others() -> None:
    assert len(view().targets) > 1
    drawing = plain_chart([of_disk()], view())
    assert [mark.y for mark in drawing.marks if isinstance(mark, Dot)] == [0.5]


def test_percentiles_of_few_operations_have_more_than_one_number_on_their_axis() -> None:
    row = of_disk()
    few = row.model_copy(update={"curve": tuple(point for point in row.curve if point[0] < 85)})
    assert [words for _, words in percentile_chart([few], view()).x.ticks] == ["50", "75"]
    assert "75" not in [words for _, words in percentile_chart([row], view()).x.ticks]


def test_a_variation_above_the_mean_is_a_plain_number() -> None:
    found = Variation("disk", "grid", "write", (), Range(1.8, 1.1, 5.5), Range(0.36, 0.3, 0.45))
    assert "180 % (110 to 550 %)" in str(variation_sentence(found)) and "36 % (30 to 45 %)" in str(
        variation_sentence(found)
    )


def test_the_title_of_a_legend_stands_with_its_first_entry() -> None:
    legends = (
        Legend("Target", (LegendEntry("disk"), LegendEntry("memory"))),
        Legend("File size", (LegendEntry("8 MiB"),)),
    )
    html = legends_html(legends)
    assert html.count("<li") == 3 and html.count("<i>") == 2
    assert html.index("<i>File size</i>") > html.index("memory")


def test_rows_of_differences_begin_with_the_operation_and_have_room_for_two_lines() -> None:
    found = compare_targets(sample_run())
    drawing = difference_chart(found.rows[:40])
    assert isinstance(drawing.y, NamedRows) and drawing.y.step > 2 * 12 * 1.05
    first = found.rows[0].comparison
    assert drawing.y.names[0].startswith(f"{operation_title(first.operation)}, {first.workload}: ")


def test_differences_are_percent_and_from_twice_as_much_ratios_on_a_logarithmic_axis() -> None:
    row = compare_targets(sample_run()).rows[0]
    near, far = (
        row.model_copy(
            update={"comparison": row.comparison.model_copy(update={"ratio": ratio, "low": low, "high": high})}
        )
        for ratio, low, high in ((1.05, 1.01, 1.09), (20.0, 0.9, 150.0))
    )
    percent, ratios = difference_chart([near]).x, difference_chart([near, far]).x
    assert (percent.title, percent.scale.logarithmic) == ("Difference (%)", False)
    assert ratios.title == "After ÷ before, log scale" and ratios.scale.logarithmic
    assert {words for _, words in ratios.ticks} >= {"1×", "10×", "100×"}


def test_a_ratio_says_of_which_axis_a_number_is() -> None:
    pairs = [pair for pair in view().analysis.comparisons if pair.workload == "depth"]
    rows = ratio_chart(pairs, view()).y
    assert isinstance(rows, NamedRows) and rows.names[0] == "queue depth 1"
