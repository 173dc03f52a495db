"""A headless Chromium: for the tests of pages, and for pictures of them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webdriver import WebDriver

NEEDED = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "driver": ("chromedriver",),
}
"""The programs that it takes, each by the names that it may have."""

ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars")


def find_programs() -> dict[str, str | None]:
    """Where the programs are, or None for one that is not there."""
    return {
        name: next(filter(None, map(shutil.which, commands)), None)
        for name, commands in NEEDED.items()
    }


@contextmanager
def open_chromium(programs: dict[str, str]) -> Iterator[WebDriver]:
    """Run it, with its log of requests and of complaints."""
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    os.environ.setdefault("SE_OFFLINE", "true")  # Selenium fetches no driver
    driver = webdriver.Chrome(options=options, service=Service(programs["driver"]))
    try:
        yield driver
    finally:
        driver.quit()


def show(driver: Any, address: str, *, width: int, height: int, scheme: str) -> None:
    """Show a page in a window of this size, light or dark."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    driver.get(address)
