"""What the first page says of twenty runs, word for word; `ASSAY_GOLDEN=write` writes the files anew."""

import os
from pathlib import Path

import pytest
from page_runs import RUNS, store_page_run

from assay.report.brief import page_blocks
from assay.report.summary.page import first_page
from assay.report.terminal import render_terminal
from assay.report.view import RunView
from assay.run.analysis import load_analysis
from assay.run.answers import compute_answers
from assay.store import RunStore

GOLDEN = Path(__file__).parents[2] / "golden" / "first_pages"


@pytest.mark.parametrize("name", RUNS)
def test_first_page(name: str, tmp_path: Path) -> None:
    folder = store_page_run(tmp_path, name)
    with RunStore.open(folder) as store:
        page = compute_answers(store).page
    assert page is not None
    text = f"{page.question}\n\n{render_terminal(page_blocks(page), 100)}"
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("ASSAY_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RUNS)
def test_the_report_says_what_the_run_keeps(name: str, tmp_path: Path) -> None:
    folder = store_page_run(tmp_path, name)
    analysis = load_analysis(str(folder), tmp_path)
    with RunStore.open(folder) as store:
        assert first_page(RunView(analysis)).as_stored(analysis.run.question) == compute_answers(store).page
