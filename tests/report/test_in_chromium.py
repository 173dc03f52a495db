"""The page as a real browser shows it: on a screen, a phone and paper, by keyboard and by ear.

Without chromium and chromedriver these tests are skipped; with TOPGAP_NEEDS_CHROMIUM=1 they fail.
"""

import importlib.resources
import json
import re

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.display.sample_releases import ATTACK, EVERYDAY, HOSTILE, SHOWN, UNCERTAIN
from tests.report.chromium import CONTRASTS, DESK, PHONE, SCHEMES, Browser, contrast, luminance
from topgap import Release
from topgap.margins import leads


@pytest.mark.parametrize("release", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("width", [PHONE, pytest.param(DESK, marks=pytest.mark.deep)])
def test_it_loads_in_peace_and_fits_its_window(
    browser: Browser, release: Release, width: int
) -> None:
    browser.show(release, width=width, caveat="word " * 30 + "x" * 300)
    browser.unfold()
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


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_and_bars_stand_out_from_the_ground(browser: Browser, scheme: str) -> None:
    browser.show(EVERYDAY, scheme=scheme, caveat="The list is from the data.")
    browser.unfold()
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
    browser.unfold()
    browser.run(axe.read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script(
        "axe.run().then(arguments[0], error => arguments[0](String(error)))"
    )
    assert len(found["passes"]) > 15
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    tree = browser.command("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in tree if not node["ignored"]]
    k = len(SHOWN[name])
    assert roles.count("rowheader") == k
    assert {"banner", "main", "table", "columnheader"} <= {*roles}


def test_the_keyboard_reaches_everything(browser: Browser) -> None:
    browser.show(EVERYDAY)
    reached = []
    for _ in range(7):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.driver.switch_to.active_element
        box = focused.rect
        assert box["x"] >= 0
        assert box["y"] >= 0
        outline = focused.value_of_css_property("outline-style")
        reached.append((focused.tag_name, focused.text, outline))
    assert reached == [
        ("a", "Skip to the ranking", "solid"),
        ("a", "What ε promises", "solid"),
        ("summary", "What ε promises", "solid"),
        ("summary", "What the numbers say, and what they do not", "solid"),
        ("summary", "Parameters", "solid"),
        ("summary", "How to cite", "solid"),
        ("summary", "For machines: JSON", "solid"),
    ]
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.run("return [...document.querySelectorAll('details')].map(e => e.open)") == [
        False, False, False, False, True,
    ]  # fmt: skip


def test_the_link_beside_epsilon_unfolds_what_it_promises(browser: Browser) -> None:
    browser.show(EVERYDAY)
    browser.driver.find_element(By.LINK_TEXT, "What ε promises").click()
    assert browser.run("return document.querySelector('details').open")
    assert browser.run("return document.querySelector('#privacy p').checkVisibility()")


@pytest.mark.parametrize("release", [HOSTILE, EVERYDAY], ids=["hostile", "everyday"])
def test_hostile_names_do_nothing_and_the_json_is_whole(browser: Browser, release: Release) -> None:
    browser.show(release, title=ATTACK)
    assert browser.driver.title == ATTACK
    assert browser.run("return document.querySelector('h1').textContent") == ATTACK
    assert browser.run("return [document.scripts.length, document.images.length]") == [2, 0]
    for place in ("#topgap-release", "#data pre"):
        text = browser.run("return document.querySelector(arguments[0]).textContent", place)
        assert Release.from_json(text) == release


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints(browser: Browser, scheme: str) -> None:
    browser.show(SHOWN["a thousand"], scheme=scheme)
    pdf = browser.print_to_pdf()
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
