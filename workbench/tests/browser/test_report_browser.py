"""The report in a real browser: it renders, its charts have data, it fetches nothing, its tables sort."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, opened
from named_runs import names_run
from sample_run import hostile_run, sample_run

from assay.report.build import build_document
from assay.report.html import render_html


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("report") / "report.html"
    found.write_text(render_html(build_document(sample_run())), encoding="utf-8")
    return found


pytestmark = needs_browser


@pytest.fixture
def browser(chromium: Any, path: Path) -> Any:
    """The browser with the sample report, drawn anew: other tests may have sorted and filtered it."""
    for log in ("browser", "performance"):
        chromium.get_log(log)
    opened(chromium, path)
    return chromium


def test_console_is_silent_and_nothing_is_fetched(browser: Any, path: Path) -> None:
    assert browser.get_log("browser") == []
    asked = [
        message["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
    ]
    assert set(asked) == {path.as_uri()}


def test_every_chart_is_drawn_with_marks(browser: Any) -> None:
    browser.execute_script("document.querySelectorAll('details.fold').forEach(fold => { fold.open = true; })")
    counts = browser.execute_script(
        "return [...document.querySelectorAll('.chart')].map(box => [box.id,"
        " [...box.querySelectorAll('.plot svg :is(circle, use, path), .map rect')]"
        ".filter(mark => mark.getBoundingClientRect().width > 1).length])"
    )
    assert len(counts) > 25
    assert [name for name, marks in counts if marks < 2] == []


def test_chart_text_has_no_broken_values(browser: Any) -> None:
    text = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].map(t => t.textContent).join('\\n')"
    )
    assert "NaN" not in text and "undefined" not in text and "Infinity" not in text


def column(browser: Any, title: str, table: str = "results-table") -> list[str]:
    found: list[str] = browser.execute_script(
        "const t = document.getElementById(arguments[0]);"
        "const i = [...t.tHead.rows[0].cells].findIndex(c => c.firstChild.textContent === arguments[1]);"
        "return [...t.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[i].textContent)",
        table,
        title,
    )
    return found


def click(browser: Any, title: str) -> None:
    browser.execute_script(
        "[...document.querySelectorAll('#results-table th')]"
        ".find(c => c.firstChild.textContent === arguments[0]).click()",
        title,
    )


def test_table_sorts_by_number_both_ways_with_missing_values_last(browser: Any) -> None:
    for reverse in (False, True):
        click(browser, "Throughput")
        shown = column(browser, "Throughput")
        values = [float(text.replace(",", "")) for text in shown if text != "–"]
        assert values == sorted(values, reverse=reverse)
        assert shown[len(values) :] == ["–"] * 6
    click(browser, "Record size")
    assert column(browser, "Record size")[0] == "4 KiB"
    assert column(browser, "Record size")[-1] == "1 MiB"


def test_table_filters_by_words_and_by_choice(browser: Any) -> None:
    browser.execute_script(
        "const tools = document.querySelector('#results-table').closest('.table').querySelector('.tools');"
        "const input = tools.querySelector('input'); input.value = 'disk reread';"
        "input.dispatchEvent(new Event('input'));"
        "const select = tools.querySelector('select[aria-label=Verdict]'); select.value = 'cached';"
        "select.dispatchEvent(new Event('change'))"
    )
    assert column(browser, "Verdict") == ["cached"]
    assert column(browser, "Operation") == ["Reread"]


def test_bars_are_as_long_as_the_share_and_go_past_the_mark_above_it(browser: Any) -> None:
    bars = browser.execute_script(
        "const table = document.getElementById('results-table');"
        "return [...table.querySelectorAll('td .bar')].slice(0, 300).map(bar => { bar.closest('tr').hidden = false;"
        "  const style = getComputedStyle(bar);"
        "  return [parseFloat(bar.closest('td').dataset.v), style.getPropertyValue('--s'), bar.clientWidth,"
        "          bar.className, style.backgroundSize] })"
    )
    assert len(bars) > 100
    assert {name for share, _, _, name, _ in bars if share > 1} == {"bar over"}
    for share, drawn, width, name, sizes in bars:
        assert float(drawn) == pytest.approx(100 * share, rel=0.01) and width > 30
        # The mark, then what is filled: 100 % of the ceiling end at 80 % of the bar.
        filled = float(sizes.split(", ")[1].split("%")[0])
        assert filled == pytest.approx(80 * min(share, 1), rel=0.01)
        assert (name == "bar over") == (share > 1)


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_nothing_overflows_sideways(browser: Any, path: Path, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    opened(browser, path)
    wide = browser.execute_script(
        "const edge = document.documentElement.clientWidth; const out = [];"
        "for (const e of document.querySelectorAll('body *')) {"
        "  if (e.closest('.scroll, pre, svg')) continue;"
        "  if (e.getBoundingClientRect().right > edge + 1) out.push(e.tagName + '.' + e.className);"
        "} return out"
    )
    assert wide == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_no_heading_is_printed_alone_and_the_first_page_goes_on(browser: Any) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    alone = browser.execute_script(
        "const seen = e => e.getBoundingClientRect().height > 0;"
        "return [...document.querySelectorAll('main :is(h2, h3, h4)')].filter(seen).filter(h => {"
        "  let next = h.nextElementSibling;"
        "  while (next && !seen(next)) next = next.nextElementSibling;"
        "  return !next || (/^H[234]$/.test(next.tagName) && next.tagName <= h.tagName);"
        "}).map(h => h.textContent)"
    )
    after = browser.execute_script("return getComputedStyle(document.querySelector('#answer')).breakAfter")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert (alone, after) == ([], "auto")


def test_print_is_short_and_has_what_was_opened(browser: Any) -> None:
    closed = pages(browser)
    browser.execute_script("location.hash = '#results'")
    assert browser.execute_script("return document.getElementById('results').open")
    assert closed <= 6 < pages(browser)


def pages(browser: Any) -> int:
    """Printed on A4."""
    data = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"]
    return len(re.findall(rb"/Type\s*/Page[^s]", base64.b64decode(data)))


def test_report_of_names_is_drawn_in_operations(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "names.html"
    page.write_text(render_html(build_document(names_run())), encoding="utf-8")
    opened(browser, page)
    assert column(browser, "Rate", "metadata-table")[:2] == ["20,500", "513,000"]
    text = browser.execute_script("return [...document.querySelectorAll('svg text')].map(t => t.textContent).join()")
    assert "Rate (operations/s)" in text and "MB/s" not in text and "NaN" not in text


def test_hostile_names_are_shown_and_not_run(browser: Any, tmp_path: Path) -> None:
    evil = tmp_path / "evil.html"
    evil.write_text(render_html(build_document(hostile_run())), encoding="utf-8")
    browser.get_log("browser")
    opened(browser, evil)
    assert browser.get_log("browser") == []
    assert "<script>alert(1)</script>" in browser.find_element("tag name", "main").text
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
