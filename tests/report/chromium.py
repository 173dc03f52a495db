"""A real browser that shows pages, and what it sees of colours."""

import base64
import json
from pathlib import Path
from typing import Any

from tools.chromium import show
from topgap import Estimates, GroupedEstimates, GroupedRelease, Release
from topgap.report import to_html

PHONE, DESK = 360, 1280
SCHEMES = ("light", "dark")


class Browser:
    """A headless Chromium that shows a release's page from a file."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.file = folder / "report.html"

    def show(
        self,
        release: Release | Estimates | GroupedRelease | GroupedEstimates,
        *,
        width: int = DESK,
        scheme: str = "light",
        **others: Any,
    ) -> None:
        self.file.write_text(to_html(release, **others), encoding="utf-8")
        show(self.driver, self.file.as_uri(), width=width, height=800, scheme=scheme)

    def unfold(self) -> None:
        """Open all that is folded away."""
        self.run("for (const each of document.querySelectorAll('details')) each.open = true")

    def print_to_pdf(self) -> bytes:
        """The page on paper."""
        printed = self.command("Page.printToPDF", preferCSSPageSize=True)
        return base64.b64decode(printed["data"])

    def command(self, name: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def check_fit(self, width: int) -> None:
        """See that the page is as wide as its window, and that nothing sticks out of its box."""
        assert self.run("return document.documentElement.scrollWidth") == width
        wide = "return [...document.querySelectorAll('body *')].filter(e => !e.closest('thead, svg"
        wide += "') && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)"
        sticking_out = self.run(f"{wide}.map(e => e.outerHTML)")
        assert sticking_out == [], sticking_out

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
