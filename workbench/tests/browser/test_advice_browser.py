"""The page of advice in a real browser: nothing is fetched, nothing overflows, and it prints on one page."""

import base64
import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, opened
from outlook_tools import looked_at

from assay.report.html import render_html
from assay.rooms.advice.shown.page import build_page

NAMES = ("01", "03", "07", "08", "09", "12")
PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}

pytestmark = needs_browser


@pytest.fixture(scope="module", params=NAMES)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    looked = looked_at(request.param, months=30, tax="19%", discount="4%")
    found = tmp_path_factory.mktemp("advice") / "advice.html"
    advice = looked.advice.model_copy(update={"sensitivity": looked.picture})
    found.write_text(render_html(build_page(advice, dt.date(2026, 11, 26))), encoding="utf-8")
    return found


def test_console_is_silent_and_nothing_is_fetched(chromium: Any, path: Path) -> None:
    for log in ("browser", "performance"):
        chromium.get_log(log)
    opened(chromium, path)
    assert chromium.get_log("browser") == []
    asked = [
        message["params"]["request"]["url"]
        for entry in chromium.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
    ]
    assert set(asked) == {path.as_uri()}


@pytest.mark.parametrize("width", [1400, 1000, 500])
def test_nothing_is_wider_than_the_window_and_no_label_leaves_its_plot(chromium: Any, path: Path, width: int) -> None:
    size = chromium.get_window_size()
    try:
        chromium.set_window_size(width, 1000)
        opened(chromium, path)
        assert chromium.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
        outside = chromium.execute_script(
            "return [...document.querySelectorAll('.plot text')].filter(text => {"
            " const own = text.getBoundingClientRect(), all = text.closest('figure').getBoundingClientRect();"
            " return own.width > 0 && (own.left < all.left - 1 || own.right > all.right + 1); })"
            ".map(text => text.textContent)"
        )
        assert outside == []
    finally:
        chromium.set_window_size(size["width"], size["height"])


@pytest.mark.parametrize("paper", PAPERS)
def test_it_prints_on_one_page(chromium: Any, path: Path, paper: str) -> None:
    opened(chromium, path)
    width, height = PAPERS[paper]
    wanted = {"paperWidth": width, "paperHeight": height, "preferCSSPageSize": False, "printBackground": True}
    printed = base64.b64decode(chromium.execute_cdp_cmd("Page.printToPDF", wanted)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
