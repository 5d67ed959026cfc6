"""Results of another tool, of which not everything is told: judged, compared, shown."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from builders import make_run, make_sample

from assay.analyse.rows import RowMaker, analyse
from assay.judge.judge import judge
from assay.model.partial import MISSING_TEXT
from assay.model.result.decision import PointOutcome
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import Sample
from assay.model.result.summary_page import SummaryPage
from assay.model.study.case import Case
from assay.model.study.parameters import DEFINITIONS, Parameters
from assay.report.build import build_document
from assay.report.html import render_html
from assay.report.kinds_table import kinds_table
from assay.report.summary.page import first_page
from assay.report.tables import results_table, samples_table
from assay.report.view import RunView

GOLDEN = Path(__file__).resolve().parents[2] / "golden/not_reported"
WHOLE = Parameters(file_size=1 << 24, record_size=65536, lanes=2)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_results_of_fio(path: Path) -> None:
    """What a tool of others tells, and the verdict with its reasons."""
    told = json.loads(path.read_text())
    case = Case.model_validate(told["case"] | {"parameters": Parameters.partial(**told["case"]["parameters"])})
    samples = [Sample.partial(**item) for item in told["samples"]]
    memory = {"memory": {"total": f"{told['memory_bytes']}B"}}
    run = make_run(repeats=len(samples), environment=memory, places=())
    (row,) = RowMaker(run, judge).rows(case, samples, [])
    said = [f"verdict: {row.verdict_words}"]
    said += [f"{finding.rule}: {finding.text}" for finding in row.findings]
    said += map(str, row.not_evaluated)
    expected = path.with_suffix(".txt")
    assert "\n".join(said) + "\n" == expected.read_text()


def cases_of(targets: tuple[str, ...] = ("disk", "memory"), **told: Any) -> tuple[Case, ...]:
    return tuple(
        Case(
            id=f"c000{number}",
            target=target,
            workload="fio",
            operations=("read", "write"),
            parameters=Parameters.partial(**told),
            axes={},
            label=f"{target} / fio",
        )
        for number, target in enumerate(targets, start=1)
    )


def analysed(*cases: Case) -> RunAnalysis:
    samples = [
        make_sample(case.id, repeat, 1e8 * number + repeat * 1e5, operation, phase=phase)
        for number, case in enumerate(cases, start=1)
        for phase, operation in enumerate(case.operations)
        for repeat in range(1, 6)
    ]
    spare = [
        Sample.partial(**{name: value for name, value in sample.__dict__.items() if name not in Sample.may_be_missing})
        for sample in samples
    ]
    return analyse(make_run(repeats=5), cases, (), spare, (), judge)


@cache
def without(name: str) -> RunAnalysis:
    """A run that tells all but one parameter."""
    return analysed(*cases_of(**{field: value for field, value in WHOLE.__dict__.items() if field != name}))


def words(analysis: RunAnalysis) -> str:
    """The report without its programs."""
    return re.sub(r"<script.*?</script>", "", render_html(build_document(analysis)), flags=re.DOTALL)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_what_is_not_told_is_never_shown_as_a_default(name: str) -> None:
    analysis, item = without(name), DEFINITIONS[name]
    text = {True: MISSING_TEXT, False: ""}
    for row, record in zip(analysis.rows, results_table(analysis).records, strict=True):
        alone = (
            bool(item.requires_value_of) and row.case.parameters.get_value(item.requires_value_of, MISSING_TEXT) is None
        )
        used = item.affects(row.case.operations) and (not item.sets_only or row.case.parameters.is_on_set)
        told = text[used and not alone] if item.kind.column == "text" else None
        assert record[item.column or name] == told
        assert record["not_reported"] == name
    for record in samples_table(analysis).records:
        assert (record["elapsed_ns"], record["start_skew_ns"], record["cache_done"]) == (None, None, MISSING_TEXT)
    assert kinds_table(analysis).records == ()


NOT_OF_PLAIN_FILES = frozenset(
    {"scale", "file_sizes", "file_order", "depth", "width", "inner", "objects", "object_size", "part_size", "range"}
    | {"batch", "access", "mix", "arrivals", "read_percent", "stride", "tasks", "threads", "pace"}
)
"""Parameters without effect on writes and reads of single files at full speed."""


@pytest.mark.parametrize("name", DEFINITIONS)
def test_nothing_is_decided_between_what_may_differ(name: str) -> None:
    analysis = without(name)
    points = [point for item in analysis.decisions for point in item.points]
    if name in NOT_OF_PLAIN_FILES:
        assert all(pair.conditions_known for pair in analysis.comparisons)
        assert {point.outcome for point in points} == {PointOutcome.FASTER}
        return
    assert all(point.shows_ratio for point in points)
    assert {point.outcome for item in analysis.decisions for point in item.points} == {PointOutcome.BARRED}
    for pair in analysis.comparisons:
        assert pair.caveat.endswith(f"it is not known {DEFINITIONS[name].unknown_text} ({name})")
        assert not pair.conditions_known
    told = analysed(*cases_of(**WHOLE.__dict__))
    assert all(pair.conditions_known for pair in told.comparisons)
    assert not any("it is not known" in pair.caveat for pair in told.comparisons)


def test_a_report_says_what_is_not_told() -> None:
    text = words(analysed(*cases_of(record_size=4096)))
    assert MISSING_TEXT in text and "None" not in text
    for name in ("cache", "file_size", "lanes", "compressible"):
        assert words(without(name)).count(MISSING_TEXT) > 0, name


def test_evidence_survives_its_store() -> None:
    (case, _) = cases_of(record_size=4096, queue_depth=8)
    again = Case.model_validate_json(case.model_dump_json())
    assert again == case and again.parameters.missing_names == case.parameters.missing_names
    assert not again.parameters.has("cache") and again.parameters.queue_depth == 8


def page_of(*cases: Case) -> SummaryPage:
    return first_page(RunView(analysed(*cases))).as_stored("")


def test_ratios_stand_without_a_decision() -> None:
    page = page_of(*cases_of(record_size=4096))
    assert page.answer.startswith("memory has the higher rates, disk the lower: sequential ")
    assert page.answer.endswith("No difference is decided, since not all conditions are known.")
    assert [set(line.values) for line in page.lines] == [{"disk", "memory", "memory \u00f7 disk"}] * 2
    assert all(line.values["memory \u00f7 disk"].startswith("2") for line in page.lines)
    assert any(
        "could not be decided: it is not known how large the files were (file_size)" in one.text for one in page.caveats
    )


def test_many_targets_have_a_line_each() -> None:
    names = ("a", "b", "c", "d", "e")
    page = page_of(*cases_of(names[:4], record_size=4096))
    assert [tuple(line.values) for line in page.lines] == [names[:4]] * 2
    page = page_of(*cases_of(names, record_size=4096))
    assert [line.label for line in page.lines] == list(names)
    assert page.answer.startswith("Of 5 targets, e has the highest rates, a the lowest: ")


def test_different_work_is_not_set_side_by_side() -> None:
    cases = [
        case.model_copy(update={"axes": {"record_size": size}, "parameters": Parameters.partial(record_size=size)})
        for case, size in zip(cases_of(), (4096, 8192), strict=True)
    ]
    page = page_of(*cases)
    differ = "disk and memory are not compared: they differ in record size (disk: 4 KiB; memory: 8 KiB)."
    assert page.answer.startswith(differ)
    assert [set(line.values) for line in page.lines] == [{"Measured"}] * 4


def test_a_report_has_no_column_and_no_chart_without_values() -> None:
    text = words(analysed(*cases_of(record_size=4096)))
    assert "No difference is decided" in text and "ratios-table-0" in text
    assert "not decided" in text and "decisions-table" not in text and "ratio-0" not in text


def test_scaling_that_was_measured_once_says_so() -> None:
    cases = [
        case.model_copy(
            update={"id": f"c1{hosts}", "axes": {"hosts": hosts}, "parameters": Parameters.partial(hosts=hosts)}
        )
        for case in cases_of(("disk",))
        for hosts in (1, 2, 4)
    ]
    samples = [
        Sample.partial(
            **{
                k: v
                for k, v in make_sample(case.id, 1, 1e8 * case.axes["hosts"]).__dict__.items()
                if k not in Sample.may_be_missing
            }
        )
        for case in cases
    ]
    analysis = analyse(make_run(repeats=1), cases, (), samples, (), judge)
    page = first_page(RunView(analysis)).as_stored("")
    assert page.answer.startswith("Read, disk: 100 MB/s with 1 host, 400 MB/s with 4 hosts.")
    assert page.answer.endswith("Each was measured once.")
    assert {line.text for line in page.lines} == {"undecided: each was measured once"}
