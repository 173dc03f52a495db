"""One Chromium for all tests of pages in a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webdriver import WebDriver

from tests.report.chromium import Browser, find_chromium


@pytest.fixture(scope="session")
def driver() -> Iterator[WebDriver]:
    paths = find_chromium()
    options = webdriver.ChromeOptions()
    options.binary_location = paths["chromium"]
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SE_OFFLINE", "true")
        driver = webdriver.Chrome(options=options, service=Service(paths["driver"]))
    yield driver
    driver.quit()


@pytest.fixture
def browser(driver: WebDriver, tmp_path: Path) -> Browser:
    browser = Browser(driver, tmp_path)
    browser.requests()
    browser.complaints()
    return browser
