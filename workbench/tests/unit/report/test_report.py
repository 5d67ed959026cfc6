"""The report's document and its HTML, without a browser."""

import re
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from builders import answered
from counted import calls_of
from report_parts import blocks_of, charts_of, tables_of
from sample_run import big_run, hostile_run, sample_run
from soak import times

from assay.analyse.decide import decide
from assay.model.result.result import RunAnalysis
from assay.model.result.verdict import Finding, Verdict
from assay.report import numbers
from assay.report.build import build_document
from assay.report.charts.theme import thinned
from assay.report.document import Document, Fold, Paragraph, Section
from assay.report.draw.drawing import ChartAxis, Drawing, HeatMap
from assay.report.draw.scales import AxisScale
from assay.report.html import render_html
from assay.report.sections.evidence import section as evidence
from assay.report.sections.short_answer import section as answer
from assay.report.view import RunView


@cache
def document() -> Document:
    return build_document(sample_run())


@cache
def page() -> str:
    return render_html(document())


def section(name: str, of: Document | None = None) -> Section:
    return next(found for found in (of or document()).sections if found.id == name)


def words(value: object) -> str:
    """All text in a block."""
    return value if isinstance(value, str) else "".join(getattr(span, "text", str(span)) for span in value)  # type: ignore[attr-defined]


def with_verdicts(analysis: RunAnalysis, verdict: Verdict) -> RunAnalysis:
    found = Finding(verdict=verdict, rule="r", text="seen", remedy="do this", numbers={})
    rows = tuple(row.model_copy(update={"verdict": verdict, "findings": (found,)}) for row in analysis.rows)
    return answered(analysis.model_copy(update={"rows": rows}))


def test_sections_come_in_order() -> None:
    names = " ".join(part.id for part in document().sections)
    assert names == "answer evidence ceilings verdicts environment method appendix"
    folds = " ".join(block.id for block in section("appendix").blocks if isinstance(block, Fold))
    front = "results results-charts latency comparison comparison-charts variation verdicts-list"
    assert folds == f"{front} verdicts-skipped ceilings-all method-all environment-all notes appendix-repeat"


def test_answer_names_the_winner_and_a_bound() -> None:
    lead = next(block for block in section("answer").blocks if isinstance(block, Paragraph))
    assert words(lead.text).startswith("memory is faster than disk for ")
    table = tables_of(section("evidence"))["decisions-table"]
    pairs = [p for p in sample_run().comparisons if p.operation == "read" and p.workload == "grid" and not p.caveat]
    line = next(row for row in table.rows if row[0] == "Read" and row[1] == "grid")
    assert line[3] == f"memory at {len(pairs)}"
    assert getattr(line[4], "text", "") == numbers.ratio(numbers.median([pair.ratio for pair in pairs]))
    bound = min(pair.simultaneous_low for pair in pairs if pair.simultaneous_low is not None)
    shown = float(str(line[6]).removesuffix("×"))
    assert 1 < shown <= bound < 1.2 * shown
    assert sum(str(row[8]).endswith("1 excluded") for row in table.rows if row[0] in ("Read", "Reread")) == 2


def test_cached_number_is_in_no_headline() -> None:
    cached = next(row for row in sample_run().rows if row.case.workload == "cached" and row.verdict is Verdict.CACHED)
    assert cached.throughput is not None
    shown = numbers.mb_per_s(cached.throughput.median)
    assert shown not in repr(section("answer"))
    assert shown in repr(section("verdicts")) and shown in repr(section("appendix"))


@pytest.mark.parametrize("verdict", [Verdict.CACHED, Verdict.IMPOSSIBLE, Verdict.INCOMPLETE])
def test_answer_without_sound_results_has_no_figures(verdict: Verdict) -> None:
    view = RunView(with_verdicts(sample_run(), verdict))
    found = answer(view)
    assert not any(row[3].startswith("memory at") for row in tables_of(evidence(view))["decisions-table"].rows)
    assert "cannot be compared" in repr(found)
    assert "do this" in repr(found)


def test_answer_is_open_where_the_repeats_do_not_tell() -> None:
    analysis = sample_run()
    pairs = [
        p.model_copy(update={"simultaneous_low": 0.5, "simultaneous_high": 2.0, "separable": False})
        for p in analysis.comparisons
    ]
    view = RunView(analysis.model_copy(update={"decisions": decide(analysis.rows, pairs)}))
    found = answer(view)
    lines = tables_of(evidence(view))["decisions-table"].rows
    assert {row[3] for row in lines} == {"memory or disk?"} and any("undecided" in str(row[8]) for row in lines)
    assert "Which of disk and memory is faster for" in repr(found)
    assert "is undecided: either may be up to 2.0× as fast as the other" in repr(found)


def test_results_table_holds_every_result() -> None:
    table = tables_of(document())["results-table"]
    assert len(table.rows) == len(sample_run().rows)
    assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize("name", [part.id for part in build_document(sample_run()).sections])
def test_tables_are_rectangular(name: str) -> None:
    for table in tables_of(section(name)).values():
        assert {len(row) for row in table.rows} <= {len(table.columns)}


def test_grid_gets_heat_maps_and_a_sweep_gets_lines() -> None:
    ids = [figure.id for figure in charts_of(document())]
    assert len(ids) == len(set(ids))
    assert sum(name.startswith("heat-0-") for name in ids) == 6
    assert not [name for name in ids if name.startswith("heat-1")]
    assert "throughput-1-queue_depth-random_read" in ids
    assert "latency-1-queue_depth-random_read" in ids


def test_cached_row_sets_no_scale_but_is_drawn() -> None:
    analysis = sample_run()
    rows = tuple(
        row.model_copy(update={"throughput": row.throughput.model_copy(update={"median": 9e13, "high": 9e13})})
        if row.verdict is Verdict.CACHED and row.throughput
        else row
        for row in analysis.rows
    )
    changed = build_document(analysis.model_copy(update={"rows": rows}))
    for name in ("heat-0-reread-0",):
        before = next(f for f in charts_of(document()) if f.id == name)
        after = next(f for f in charts_of(changed) if f.id == name)
        assert scales(after.drawing) == scales(before.drawing)
        drawn = [title for title in titles_of(after.drawing) if title.endswith("\ncached")]
        assert len(drawn) == 1


def scales(drawing: Drawing | HeatMap) -> list[AxisScale]:
    if isinstance(drawing, HeatMap):
        return [drawing.scale]
    return [axis.scale for axis in (drawing.x, drawing.y) if isinstance(axis, ChartAxis)]


def titles_of(drawing: Drawing | HeatMap) -> list[str]:
    """What is said of each mark."""
    if isinstance(drawing, HeatMap):
        return [cell.tooltip for _, cells in drawing.panels for cell in cells]
    return [getattr(mark, "title", "") for mark in drawing.marks]


def test_incomplete_result_is_in_the_verdict_table_with_its_remedy() -> None:
    text = repr(section("appendix"))
    assert "ENOSPC after 201,326,592 of 268,435,456 bytes" in text
    assert "Free 64 MiB there or take smaller files." in text


def test_same_run_gives_the_same_bytes() -> None:
    assert render_html(build_document(sample_run())) == page()
    again = sample_run().model_copy(deep=True)
    assert render_html(build_document(again)) == page()


class Loads(HTMLParser):
    """Collects what a page would load, and which scripts it has."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        for name in ("src", "href", "xlink:href", "data", "action", "srcset", "poster"):
            value = named.get(name) or ""
            if value and not value.startswith("#"):
                self.loads.append(f"{tag} {name}={value}")
        self.handlers += [name for name in named if name.startswith("on")]
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"] or ""


def parsed(text: str) -> Loads:
    found = Loads()
    found.feed(text)
    return found


def test_page_loads_nothing_and_says_so_to_the_browser() -> None:
    found = parsed(page())
    assert found.loads == []
    assert "default-src 'none'" in found.policy
    assert "unsafe-eval" not in found.policy and "http" not in found.policy
    assert "script-src 'sha256-" in found.policy
    styles = "".join(re.findall(r"<style>(.*?)</style>", page(), re.DOTALL))
    assert "url(" not in styles and "@import" not in styles


def test_hostile_names_stay_text() -> None:
    text = render_html(build_document(hostile_run()))
    found = parsed(text)
    assert "img" not in found.tags and found.handlers == [] and found.loads == []
    honest = parsed(page())
    assert set(found.tags) <= set(honest.tags)
    assert "<script>alert" not in text
    assert found.tags.count("script") == 1


def test_page_is_small() -> None:
    assert len(render_html(build_document(sample_run()))) < 600_000


def test_many_cases_fit() -> None:
    """Also in time: each takes its share of calls."""
    few, count = big_run(144), times(400, 10_000)
    many, pages = big_run(count), []

    def write(analysis: RunAnalysis) -> None:
        pages.append((found := build_document(analysis), render_html(found)))

    assert calls_of(partial(write, many)) < 1.1 * count / 144 * calls_of(partial(write, few))
    found, text = pages[0]
    assert len(text) < 15_000_000
    assert len(tables_of(found)["results-table"].rows) == count


def test_study_file_is_in_the_appendix_verbatim() -> None:
    assert sample_run().run.study_text in [getattr(block, "text", "") for block in blocks_of(section("appendix"))]


def test_thin_keeps_both_ends() -> None:
    assert thinned(list(range(100)), 5) == [0, 25, 50, 74, 99]
    assert thinned([1, 2], 5) == [1, 2]


def test_command_writes_into_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.cli.report import command
    from assay.run import analysis as loading

    run = sample_run().run.model_copy(update={"folder": str(tmp_path)})
    monkeypatch.setattr(loading, "load_analysis", lambda ref, root: sample_run().model_copy(update={"run": run}))
    command(["last"], None, False, tmp_path, False, None, None)
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
