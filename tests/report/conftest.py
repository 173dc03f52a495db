"""A window of Chromium for the pages of reports."""

from pathlib import Path

import pytest
from selenium.webdriver.remote.webdriver import WebDriver

from tests.report.chromium import Browser


@pytest.fixture
def browser(driver: WebDriver, tmp_path: Path) -> Browser:
    browser = Browser(driver, tmp_path)
    browser.requests()
    browser.complaints()
    return browser
