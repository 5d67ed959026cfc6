"""The page of a comparison in a real browser."""

from pathlib import Path
from typing import Any

from browser import needs_browser, opened
from stored_runs import DAY, STARTED, noisy, store_run

from assay.analyse.runs import compare_runs
from assay.report.comparison_page import comparison_document
from assay.report.html import render_html
from assay.run.analysis import load_analysis

pytestmark = needs_browser


def test_differences_are_drawn_and_the_console_is_silent(chromium: Any, tmp_path: Path) -> None:
    speeds = {("disk", operation): noisy(3e8, seed=seed) for seed, operation in enumerate(("write", "read", "reread"))}
    slow = {key: [0.8 * value for value in values] for key, values in speeds.items()}
    store_run(tmp_path, "a", speeds)
    store_run(tmp_path, "b", slow, created_at=STARTED + DAY)
    page = tmp_path / "page.html"
    found = compare_runs([load_analysis("a", tmp_path)], [load_analysis("b", tmp_path)])
    page.write_text(render_html(comparison_document(found)), encoding="utf-8")
    chromium.get_log("browser")
    opened(chromium, page)
    dots = chromium.execute_script("return document.querySelectorAll('.chart .plot circle').length")
    assert dots >= 3
    assert chromium.get_log("browser") == []
