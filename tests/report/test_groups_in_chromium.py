"""The page of many groups in a real browser: it fits, searches, and works without its script.

Without chromium and chromedriver these tests are skipped; with TOPGAP_NEEDS_CHROMIUM=1 they fail.
"""

import importlib.resources
import json

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.display.sample_groups import ATTACKS, ESTIMATES, GROUPED, HOSTILE_GROUPS, MANY
from tests.report.chromium import CONTRASTS, DESK, PHONE, Browser, contrast

SIZES = [(name, width) for name in ("hostile", "cut", "estimates") for width in (360, 1300)]
SIZES += [("hostile", 390), ("values", 768)]
LOOKS = [("hostile", PHONE, "dark"), ("estimates", PHONE, "light"), ("estimates", DESK, "dark"),
         ("cut", DESK, "light"), ("values", PHONE, "dark")]  # fmt: skip


def visible_groups(browser: Browser) -> list[str]:
    found = browser.run("""
        return [...document.querySelectorAll("section.group")].filter(e => e.checkVisibility())
            .map(e => e.querySelector("h3").textContent)
    """)
    listed = browser.run("""
        return [...document.querySelectorAll("#index li")].filter(e => !e.hidden)
            .map(e => e.textContent)
    """)
    assert found == listed
    return list(found)


@pytest.mark.parametrize(("name", "width"), SIZES)
def test_it_loads_in_peace_and_fits_its_window(browser: Browser, name: str, width: int) -> None:
    browser.show(GROUPED[name], width=width)
    browser.check_fit(width)
    assert browser.complaints() == []
    assert browser.requests() == [browser.file.as_uri()]


@pytest.mark.parametrize(("name", "width", "scheme"), LOOKS)
def test_axe_finds_no_barrier(browser: Browser, name: str, width: int, scheme: str) -> None:
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed.")
    axe = importlib.resources.files("axe_core_python") / "axe.min.js"
    browser.show(GROUPED[name], width=width, scheme=scheme, caveat="The list is from the data.")
    browser.run(axe.read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script(
        "axe.run().then(arguments[0], error => arguments[0](String(error)))"
    )
    assert len(found["passes"]) > 15
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    pairs = [(place, *json.loads(pair)) for pair, place in browser.run(CONTRASTS).items()]
    assert [each for each in pairs if contrast(*each[1:]) < 4.5] == []


def test_the_box_shows_the_groups_that_match_and_says_how_many(browser: Browser) -> None:
    browser.show(MANY)
    box, status = browser.driver.find_element(By.ID, "search"), "#matches"
    assert visible_groups(browser) == [*MANY]

    def said() -> str:
        return str(browser.run("return document.querySelector(arguments[0]).textContent", status))

    assert said() == "150 groups"
    box.send_keys("GROUP 14")
    assert visible_groups(browser) == [f"group 14{n}" for n in range(10)]
    assert said() == "10 of 150 groups match"
    box.send_keys("2")
    assert said() == "1 of 150 groups matches"
    box.send_keys(Keys.ENTER)
    assert browser.driver.switch_to.active_element.text == "group 142"
    box.send_keys("x")
    assert (visible_groups(browser), said()) == ([], "0 of 150 groups match")
    box.send_keys(Keys.ESCAPE)
    assert visible_groups(browser) == [*MANY]
    assert browser.complaints() == []


def test_letters_are_found_without_their_marks_and_attacks_as_they_are(browser: Browser) -> None:
    browser.show(HOSTILE_GROUPS)
    box = browser.driver.find_element(By.ID, "search")
    box.send_keys("istanbul")
    assert visible_groups(browser) == [ATTACKS[-1]]
    box.clear()
    box.send_keys("</script>")
    assert visible_groups(browser) == [ATTACKS[0]]
    box.clear()
    box.send_keys("${rows} $title")
    assert visible_groups(browser) == [ATTACKS[4]]
    assert browser.run("return [document.scripts.length, document.images.length]") == [3, 0]
    assert browser.driver.title == "The largest items"


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_a_link_of_the_index_leads_to_the_group_below_the_box(browser: Browser, width: int) -> None:
    browser.show(MANY, width=width)
    browser.run("document.querySelector('.index').open = true")
    browser.driver.find_element(By.LINK_TEXT, "group 120").send_keys(Keys.ENTER)
    top, box = browser.driver.execute_async_script("""
        const done = arguments[0], place = part => document.querySelector(part);
        setTimeout(() => done([place("#g121").getBoundingClientRect().top,
                               place("search").getBoundingClientRect().bottom]), 200);
    """)
    assert box <= top + 1 < 200


def test_the_keyboard_reaches_everything(browser: Browser) -> None:
    browser.show(ESTIMATES)
    reached = []
    for _ in range(6):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.driver.switch_to.active_element
        assert focused.value_of_css_property("outline-style") == "solid"
        reached.append(focused.get_attribute("id") or focused.text)
    assert reached == [
        "Skip to the lists", "What ε promises", "search", "Index of 2 groups", "North, 2024",
        "South, 2024",
    ]  # fmt: skip


def test_without_its_script_the_page_is_whole_but_for_the_box(browser: Browser) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.show(MANY)
        assert not browser.driver.find_element(By.ID, "search").is_displayed()
        browser.driver.find_element(By.CSS_SELECTOR, ".index summary").click()
        browser.driver.find_element(By.LINK_TEXT, "group 149").click()
        assert browser.driver.current_url.endswith("#g150")
        assert browser.driver.find_element(By.CSS_SELECTOR, "#g150 table").is_displayed()
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)


def test_another_script_is_refused(browser: Browser) -> None:
    browser.show(MANY)
    html = browser.file.read_text(encoding="utf-8")
    changed = html.replace('"use strict";', '"use strict"; document.title = "changed";')
    assert changed != html
    browser.file.write_text(changed, encoding="utf-8")
    browser.driver.get(browser.file.as_uri())
    assert browser.driver.title == "The largest items"
    assert any("Content Security Policy" in each for each in browser.complaints())
