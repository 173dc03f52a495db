"""The page as a real browser shows it: on a screen, a phone and paper, by keyboard and by ear.

Without chromium and chromedriver these tests are skipped; with TOPGAP_NEEDS_CHROMIUM=1 they fail.
"""

import base64
import importlib.resources
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from tests.display.sample_releases import ATTACK, EVERYDAY, HOSTILE, SHOWN, UNCERTAIN
from topgap import Estimates, Release
from topgap.margins import leads
from topgap.report import to_html

NEEDED = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "driver": ("chromedriver",),
}
PHONE, DESK = 360, 1280
SCHEMES = ("light", "dark")


class Browser:
    """A headless Chromium that shows a release's page from a file."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.file = folder / "report.html"

    def show(
        self,
        release: Release | Estimates,
        *,
        width: int = DESK,
        scheme: str = "light",
        **others: str,
    ) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=800, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.command("Emulation.setEmulatedMedia", features=[feature])
        self.file.write_text(to_html(release, **others), encoding="utf-8")
        self.driver.get(self.file.as_uri())

    def command(self, name: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def requests(self) -> list[str]:
        """The addresses that were asked for since the last call."""
        messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """What the console says at warning or above since the last call."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] != "INFO"]


def _paths() -> dict[str, str]:
    found = {
        name: next(filter(None, map(shutil.which, commands)), None)
        for name, commands in NEEDED.items()
    }
    missing = [" or ".join(NEEDED[name]) for name, path in found.items() if path is None]
    if missing:
        refuse = pytest.fail if os.environ.get("TOPGAP_NEEDS_CHROMIUM") == "1" else pytest.skip
        refuse(f"There is no {' and no '.join(missing)} here.")
    return {name: path for name, path in found.items() if path is not None}


@pytest.fixture(scope="module")
def driver() -> Iterator[WebDriver]:
    paths = _paths()
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


@pytest.mark.parametrize("release", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_it_loads_in_peace_and_fits_its_window(
    browser: Browser, release: Release, width: int
) -> None:
    browser.show(release, width=width, caveat="word " * 30 + "x" * 300)
    browser.run("document.querySelector('details').open = true")
    assert browser.run("return document.documentElement.scrollWidth") == width
    wide = "return [...document.querySelectorAll('body *')].filter(e => !e.closest('thead, svg')"
    wide += " && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.outerHTML)"
    assert browser.run(wide) == []
    assert browser.complaints() == []
    assert browser.requests() == [browser.file.as_uri()]


def test_a_request_or_a_script_would_be_seen(browser: Browser) -> None:
    browser.show(EVERYDAY)
    browser.requests()
    browser.run("document.body.append(Object.assign(new Image(), {src: 'https://127.0.0.1:9/x'}))")
    browser.run("const s = document.createElement('script'); s.text = 'document.title = 1';"
                "document.body.append(s)")  # fmt: skip
    assert len(browser.complaints()) == 2  # the policy refuses both
    assert browser.driver.title == "The largest items"


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_bars_have_the_widths_that_the_leads_say(browser: Browser, width: int) -> None:
    browser.show(EVERYDAY, width=width)
    rows = browser.run("""
        return [...document.querySelectorAll("tbody tr")].map(row => {
            const [bar, rest, gap] = ["svg", ".rest", ".gap"].map(
                part => row.querySelector(part).getBoundingClientRect());
            return {left: bar.left, full: bar.width, split: rest.right, start: gap.left,
                    end: gap.right, fill: getComputedStyle(row.querySelector(".gap")).fill};
        });
    """)
    ahead = leads(EVERYDAY.gaps or ())
    assert len(rows) == len(ahead)
    assert len({(row["left"], row["full"]) for row in rows}) == 1
    assert rows[0]["full"] > width / 3
    for row, gap, lead in zip(rows, EVERYDAY.gaps or (), ahead, strict=True):
        end = row["left"] + row["full"] * float(lead / ahead[0])
        assert row["end"] == pytest.approx(end, abs=1.1)  # with the outline of the hatched ones
        assert row["split"] == pytest.approx(row["start"], abs=1.1)
        assert row["end"] - row["start"] == pytest.approx(
            row["full"] * float(gap / ahead[0]), abs=1.1
        )
    hatched = [i for i, row in enumerate(rows) if "hatch" in row["fill"]]
    assert hatched == UNCERTAIN
    assert len({row["fill"] for row in rows}) == 2


CONTRASTS = """
    const numbers = colour => {
        const found = colour.match(/[\\d.]+/g).map(Number);
        return found.length === 3 ? [...found, 1] : found;
    };
    const ground = element => {
        for (let each = element; each; each = each.parentElement) {
            const colour = numbers(getComputedStyle(each).backgroundColor);
            if (colour[3] === 1) return colour;
        }
        return null;
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = {};
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || element.closest("script")) continue;
        const pair = [numbers(getComputedStyle(element).color), ground(element)];
        found[JSON.stringify(pair)] = element.tagName + "." + element.className;
    }
    return found;
"""


def luminance(colour: list[float]) -> float:
    """As WCAG 2 defines it."""
    parts = [value / 255 for value in colour[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], two: list[float]) -> float:
    dark, light = sorted(map(luminance, (one, two)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_and_bars_stand_out_from_the_ground(browser: Browser, scheme: str) -> None:
    browser.show(EVERYDAY, scheme=scheme, caveat="The list is from the data.")
    browser.run("document.querySelector('details').open = true")
    pairs = [(place, *json.loads(pair)) for pair, place in browser.run(CONTRASTS).items()]
    assert len(pairs) >= 6
    assert [each for each in pairs if contrast(*each[1:]) < 4.5] == []
    rest, gap, ground = (
        [float(number) for number in re.findall(r"[\d.]+", colour)]
        for colour in browser.run("""
            const style = place => getComputedStyle(document.querySelector(place));
            return [style("tbody .rest").fill, style("tbody .gap").fill,
                    style("html").backgroundColor];
        """)
    )
    assert contrast(rest, ground) > 3
    assert contrast(gap, ground) > 4.5
    assert contrast(rest, gap) > 1.9
    assert (luminance(ground) < 0.1) == (scheme == "dark")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", ["everyday", "hostile", "without gaps"])
def test_axe_finds_no_barrier(browser: Browser, name: str, width: int, scheme: str) -> None:
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed.")
    axe = importlib.resources.files("axe_core_python") / "axe.min.js"
    browser.show(SHOWN[name], width=width, scheme=scheme, caveat="The list is from the data.")
    browser.run("document.querySelector('details').open = true")
    browser.run(axe.read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script(
        "axe.run().then(arguments[0], error => arguments[0](String(error)))"
    )
    assert len(found["passes"]) > 15
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    tree = browser.command("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in tree if not node["ignored"]]
    k = len(SHOWN[name])
    assert roles.count("rowheader") == k + (SHOWN[name].gaps is not None)
    assert {"banner", "main", "table", "columnheader"} <= {*roles}


def test_the_keyboard_reaches_everything(browser: Browser) -> None:
    browser.show(EVERYDAY)
    reached = []
    for _ in range(4):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.driver.switch_to.active_element
        box = focused.rect
        assert box["x"] >= 0
        assert box["y"] >= 0
        outline = focused.value_of_css_property("outline-style")
        reached.append((focused.tag_name, focused.text, outline))
    assert reached == [
        ("a", "Skip to the ranking", "solid"),
        ("a", "privacy loss", "solid"),
        ("a", "arXiv 2308.08057", "solid"),
        ("summary", "Show the JSON", "solid"),
    ]
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.run("return document.querySelector('details').open")


@pytest.mark.parametrize("release", [HOSTILE, EVERYDAY], ids=["hostile", "everyday"])
def test_hostile_names_do_nothing_and_the_json_is_whole(browser: Browser, release: Release) -> None:
    browser.show(release, title=ATTACK)
    assert browser.driver.title == ATTACK
    assert browser.run("return document.querySelector('h1').textContent") == ATTACK
    assert browser.run("return [document.scripts.length, document.images.length]") == [1, 0]
    for place in ("#topgap-release", "details pre"):
        text = browser.run("return document.querySelector(arguments[0]).textContent", place)
        assert Release.from_json(text) == release


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_prints(browser: Browser, scheme: str) -> None:
    browser.show(SHOWN["a thousand"], scheme=scheme)
    printed = browser.command("Page.printToPDF", preferCSSPageSize=True)
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 10 < pages < 100
    [size] = {*re.findall(rb"/MediaBox\s*\[([^]]*)\]", pdf)}
    assert [round(float(n)) for n in size.split()] == [0, 0, 595, 842]  # A4 in points
    browser.command("Emulation.setEmulatedMedia", media="print")
    style = browser.run("return ['html', 'tbody tr', '.skip'].map(part => "
                        "{const s = getComputedStyle(document.querySelector(part)); "
                        "return [s.backgroundColor, s.breakInside, s.display]})")  # fmt: skip
    assert style[0][0] == "rgb(255, 255, 255)"
    assert style[1][1] == "avoid"
    assert style[2][2] == "none"
    browser.command("Emulation.setEmulatedMedia", media="")
