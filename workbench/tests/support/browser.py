"""A real browser that looks at pages."""

import time
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")

needs_browser = pytest.mark.skipif(
    not (CHROMIUM.exists() and DRIVER.exists()),
    reason="NO BROWSER: the report was NOT looked at; install chromium and chromium-driver",
)


def started() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(CHROMIUM)
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(str(DRIVER)))


def opened(driver: Any, path: Path) -> None:
    """Load the page."""
    driver.get(path.as_uri())


def until(driver: Any, script: str) -> None:
    """Wait until a script returns true."""
    deadline = time.monotonic() + 600
    while not driver.execute_script(script):
        assert time.monotonic() < deadline, f"not true within ten minutes: {script}"
        time.sleep(0.1)
