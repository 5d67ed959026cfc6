"""Another run, such as imported figures, drawn beside a run's own results; and means over one of two sizes."""

from builders import MIB, make_analysis, make_case, row_of

from assay.model.result.result import RunAnalysis
from assay.report.build import build_document
from assay.report.document import Gallery, Heading, Note, Table
from assay.report.draw.drawing import HeatMap
from assay.report.html import render_html
from assay.report.other_run import with_other
from assay.report.sections import greatest, means
from assay.report.view import RunView

SIZES = [(file, record) for file in (MIB, 4 * MIB, 16 * MIB) for record in (4096, 65536)]
LARGE = [(file, record) for file in (MIB, 4 * MIB, 16 * MIB) for record in (4096, 16384, 65536)]


def run_of(
    target: str, rates: list[float], operation: str = "write", sizes: list[tuple[int, int]] = SIZES
) -> RunAnalysis:
    """A run that has written files with records of several sizes, as many as there are rates."""
    cases = [
        make_case(
            f"{target}{number:04}",
            target,
            (operation,),
            axes={"file_size": file, "record_size": record},
        )
        for number, (file, record) in enumerate(sizes[: len(rates)], 1)
    ]
    rows = tuple(row_of(case, [rate] * 3, operation=operation) for case, rate in zip(cases, rates, strict=True))
    return make_analysis().model_copy(update={"cases": tuple(cases), "rows": rows, "comparisons": (), "decisions": ()})


def measured() -> RunAnalysis:
    return run_of("mine", [100e6 * number for number in range(1, 7)])


def joined(*runs: RunAnalysis) -> RunAnalysis:
    rows = tuple(row for run in runs for row in run.rows)
    return runs[0].model_copy(update={"rows": rows, "cases": tuple(case for run in runs for case in run.cases)})


def test_another_run_stands_in_charts_and_means_and_nowhere_else() -> None:
    run = measured()
    document = build_document(run, other=run_of("theirs", [500e6, 600e6, 700e6]))
    place = [section.id for section in document.sections].index("other-run")
    assert document.sections[place - 1].id == "evidence"
    (table,) = (block for block in document.sections[place].blocks if isinstance(block, Table))
    name, points, ours, theirs = table.rows[0]
    # Over the three points that both have: 100, 200, 300 and 500, 600, 700 MB/s.
    assert (name, points.text, ours.text, theirs.text) == ("Write", "3", "200 MB/s", "600 MB/s")  # type: ignore[union-attr]
    assert any(
        isinstance(block, Heading) and "over two axes" in block.text for block in document.sections[place].blocks
    )
    (heat,) = (block.figures[0] for block in document.sections[place].blocks if isinstance(block, Gallery))
    assert isinstance(heat.drawing, HeatMap)
    assert [(target, len(cells)) for target, cells in heat.drawing.panels] == [("mine", len(SIZES)), ("theirs", 3)]
    whole = render_html(document)
    before, _, after = whole.partition('id="other-run"')
    assert "theirs" not in before.partition("<main")[2], "neither answers nor verdicts know of them"
    assert "theirs" in after
    assert "theirs" not in render_html(build_document(run))


def test_targets_of_one_name_are_told_apart() -> None:
    merged = with_other(measured(), run_of("mine", [1e6]))
    assert merged is not None
    assert {row.case.target for row in merged.rows} == {"mine", f"mine ({measured().run.study})"}


def test_a_run_that_fits_nowhere_is_said_to() -> None:
    other = run_of("theirs", [1e6], "read")
    assert with_other(measured(), other) is None
    (section,) = (section for section in build_document(measured(), other=other).sections if section.id == "other-run")
    (note,) = section.blocks
    assert isinstance(note, Note) and other.run.study in note.text


def test_means_are_over_those_records_that_a_target_has() -> None:
    whole = run_of("a", [1e6 * number for number in range(1, 10)], sizes=LARGE)
    part = run_of("b", [2e6 * number for number in range(1, 9)], sizes=LARGE)
    (workload,) = RunView(joined(whole, part)).main_workloads()
    table = means.table(workload)
    cells = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in table.rows]  # type: ignore[union-attr]
    # 1, 2, 3; 4, 5, 6; 7, 8, 9; and twice as much, the last one missing: (14 + 16) / 2.
    assert cells == [
        ["Write", "1 MiB", "2.00 MB/s", "4.00 MB/s", "3, 3"],
        ["Write", "4 MiB", "5.00 MB/s", "10.0 MB/s", "3, 3"],
        ["Write", "16 MiB", "8.00 MB/s", "15.0 MB/s", "3, 2"],
    ]
    assert "more for one target than for another" in table.caption


def test_means_need_three_values_of_both_sizes() -> None:
    (workload,) = RunView(measured()).main_workloads()
    assert not means.is_shown(workload) and means.blocks(RunView(measured())) == []


def test_greatest_rates_are_those_over_all_points_of_three_targets() -> None:
    two = joined(run_of("a", [1e6, 9e6, 3e6]), run_of("b", [5e6, 4e6]))
    assert greatest.table(RunView(two)) is None
    # A third that did work of its own is compared with none.
    assert greatest.table(RunView(joined(two, run_of("c", [7e6], "read")))) is None
    table = greatest.table(RunView(joined(two, run_of("c", [7e6]))))
    assert table is not None
    cells = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in table.rows]  # type: ignore[union-attr]
    assert cells == [["a", "9.00 MB/s"], ["b", "5.00 MB/s"], ["c", "7.00 MB/s"], ["Greatest", "a: 9.00 MB/s"]]
