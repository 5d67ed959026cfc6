"""A served folder of runs in a real browser."""

import time
from pathlib import Path
from typing import Any

from browser import needs_browser
from served import served
from stored_runs import DAY, STARTED, noisy, store_run

from assay.store import RunStore

pytestmark = needs_browser


def until(driver: Any, script: str) -> Any:
    """What the script finds, as soon as it finds something."""
    deadline = time.monotonic() + 600
    while not (found := driver.execute_script(f"return {script}")):
        assert time.monotonic() < deadline, script
        time.sleep(0.1)
    return found


def test_two_runs_are_compared_by_clicking(chromium: Any, tmp_path: Path) -> None:
    speeds = {("disk", operation): noisy(3e8, seed=seed) for seed, operation in enumerate(("write", "read"))}
    slow = {key: [0.8 * value for value in values] for key, values in speeds.items()}
    for number, name in enumerate(("first", "second", "third <b>")):
        store_run(tmp_path, name, slow if number else speeds, created_at=STARTED + number * DAY)
    with served(tmp_path) as server:
        chromium.get_log("browser")
        chromium.get(server.address)
        boxes = chromium.find_elements("css selector", "input[name=run]")
        button = chromium.find_element("id", "compare")
        assert len(boxes) == 3 and not button.is_enabled()
        # The third one takes the place of the one that was ticked first.
        for box in boxes:
            box.click()
        assert [box.is_selected() for box in boxes] == [False, True, True] and button.is_enabled()
        button.click()
        assert until(chromium, "document.querySelector('h1').textContent === 'second against first'")
        assert chromium.find_elements("css selector", ".chart .plot circle")
        chromium.find_element("css selector", ".served a:nth-of-type(2)").click()
        assert until(chromium, "document.getElementById('answer') !== null")
        assert "first" in chromium.find_element("css selector", "header").text
        chromium.find_element("link text", "All runs").click()
        assert chromium.find_element("link text", "third <b>").is_displayed()
        assert chromium.get_log("browser") == []


def test_news_appear_by_themselves_and_ticks_stay(chromium: Any, tmp_path: Path) -> None:
    speeds = {("disk", "write"): noisy(3e8, 2)}
    store_run(tmp_path, "first", speeds)
    store_run(tmp_path, "second", speeds, planned=6, created_at=STARTED + DAY)
    with served(tmp_path) as server, RunStore.open(tmp_path / "second", write=True) as run:
        run.set_status("running")
        chromium.get(server.address)
        chromium.find_element("css selector", "input[value=first]").click()
        assert chromium.execute_script("return document.querySelector('progress').value") == 2
        attempt = run.begin_attempt("c0001", 3, {"id": "c0001-r3"})
        run.finish_repeat(attempt, "errors", 0.1, "", "", [])
        until(chromium, "document.querySelector('progress').value === 3")
        run.set_status("complete")
        until(chromium, "!document.querySelector('progress')")
        assert chromium.find_element("css selector", "input[value=first]").is_selected()


def test_a_narrow_dark_screen_shows_all_without_scrolling_sideways(chromium: Any, tmp_path: Path) -> None:
    store_run(tmp_path, "first-" + "long" * 30, {("disk", "write"): noisy(3e8, 2)})
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    size = {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    with served(tmp_path) as server:
        try:
            chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
            chromium.get(server.address)
            assert chromium.execute_script("return document.documentElement.scrollWidth") <= 375
            back = chromium.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert back == "rgb(18, 24, 30)"
        finally:
            chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
