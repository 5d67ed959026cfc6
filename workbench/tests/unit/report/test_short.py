"""The report is short: what stands open, and that nothing stands there without content."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from page_runs import RUNS, store_page_run
from report_parts import flat, tables_of
from sample_run import sample_run

from assay.report.build import build_document
from assay.report.document import Block, Document, Fold, Heading, Table
from assay.report.html import render_html
from assay.run.analysis import load_analysis

MAX_OPEN = 2500
"""Words of the sample run, which has 150 results; about five printed pages."""
MAX_OF_FEW = 1300
"""Words of a run of a dozen results; two printed pages."""


@cache
def sample() -> Document:
    return build_document(sample_run())


class _Words(HTMLParser):
    """Counts words, those in folds apart."""

    def __init__(self) -> None:
        super().__init__()
        self.open = self.folded = self._folds = self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._folds += tag == "details"
        self._hidden += tag in ("script", "style", "svg")

    def handle_endtag(self, tag: str) -> None:
        self._folds -= tag == "details"
        self._hidden -= tag in ("script", "style", "svg")

    def handle_data(self, data: str) -> None:
        count = 0 if self._hidden else len(data.split())
        self.folded += count if self._folds else 0
        self.open += 0 if self._folds else count


def words_of(document: Document) -> _Words:
    found = _Words()
    found.feed(render_html(document))
    return found


def test_a_report_has_few_words_open_and_the_rest_folded() -> None:
    counted = words_of(sample())
    assert counted.open < MAX_OPEN < counted.folded


@pytest.mark.parametrize("name", RUNS)
def test_the_report_of_a_small_run_is_shorter_still_and_each_heading_has_content(name: str, tmp_path: Path) -> None:
    found = build_document(load_analysis(str(store_page_run(tmp_path, name)), tmp_path))
    assert words_of(found).open < MAX_OF_FEW
    assert bare(found) == []


def bare(document: Document) -> list[str]:
    """Headings, sections and folds with nothing below them."""
    found = [part.title for part in document.sections if not part.blocks]
    for part in document.sections:
        found += _bare(part.blocks)
    return found


def _bare(blocks: tuple[Block, ...]) -> list[str]:
    found = []
    for block, after in zip(blocks, (*blocks[1:], None), strict=True):
        if isinstance(block, Heading) and (
            after is None or (isinstance(after, Heading) and after.level <= block.level)
        ):
            found.append(block.text)
        if isinstance(block, Fold):
            found += [block.summary] if not block.blocks else _bare(block.blocks)
        if isinstance(block, Table) and not block.rows:
            found.append(block.id)
    return found


def test_each_heading_has_content() -> None:
    assert bare(sample()) == []


def test_the_appendix_is_folded_and_each_result_is_in_one_table_only() -> None:
    document = sample()
    appendix = document.sections[-1]
    assert appendix.id == "appendix" and all(isinstance(block, Fold) and block.id for block in appendix.blocks)
    names = [block.id for part in document.sections for block in flat(part.blocks) if isinstance(block, Table)]
    assert len(names) == len(set(names))
    results = len(sample_run().rows)
    assert [name for name, table in tables_of(document).items() if len(table.rows) >= results] == ["results-table"]


def test_few_results_stand_open_and_are_not_repeated(tmp_path: Path) -> None:
    document = build_document(load_analysis(str(store_page_run(tmp_path, "one-target")), tmp_path))
    evidence = next(part for part in document.sections if part.id == "evidence")
    assert "results-table" in tables_of(evidence)
    assert "results-table" not in tables_of(document.sections[-1])
