"""How long Chromium takes to open the page of many groups, and to search it.

    python -m benchmarks.pipeline.groups_page [--groups 3000] [--items 10] [--runs 5]

It needs chromium, chromedriver and Selenium. Each page is opened from a file, so often, at a
desktop's width, in a browser of its own:

    as it is        a browser lays out a group when it comes near the screen
    all at once     the same page without `content-visibility`, for comparison
    one release     a page of a single list of ten items, which says what the browser itself takes

Printed are medians, in milliseconds since the page was asked for: the first paint; the end of
loading, when all can be used; and then what a search takes, and a jump to the last group, each up
to the next frame. Sizes are in 10^6 bytes, also as gzip makes them.
"""

import argparse
import base64
import gzip
import hashlib
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import topgap
from benchmarks.pages import describe_machine, format_table
from topgap.report import to_html

LOADED = """
    const done = arguments[0];
    requestAnimationFrame(() => setTimeout(() => {
        const [loading] = performance.getEntriesByType("navigation");
        const [paint] = performance.getEntriesByType("paint");
        done([paint.startTime, loading.loadEventEnd]);
    }, 200));
"""
SEARCH = """
    const done = arguments[0], box = document.getElementById("search"), begin = performance.now();
    if (!box) { done(0); return; }
    box.value = arguments[1];
    box.dispatchEvent(new Event("input"));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin), 0));
"""
JUMP = """
    const done = arguments[0], begin = performance.now();
    const groups = document.querySelectorAll("section.group");
    if (!groups.length) { done(0); return; }
    location.hash = groups[groups.length - 1].id;
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin), 0));
"""


def make_lists(groups: int, k: int, *, measured: bool) -> Any:
    """Lists from Zipf-like counts of 200 items in groups of very different sizes."""
    random = np.random.default_rng(24)
    counts = 10**5 / np.arange(1, 201) ** 1.1
    sizes = random.lognormal(0, 1.5, groups)
    answers = np.array([random.permutation(counts * size) for size in sizes]).astype(np.int64)
    release = topgap.top_k_by_group_with_estimates if measured else topgap.top_k_by_group
    return release(
        answers, k, 1, monotonic=True,
        groups=[f"Municipality {n:04d}" for n in range(groups)],
        items=[f"diagnosis {n}" for n in range(200)],
    )  # fmt: skip


def lay_out_at_once(html: str) -> str:
    """The same page without `content-visibility`, which its policy allows as well."""
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    changed = style.replace("content-visibility: auto", "content-visibility: visible")
    old, new = (
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()
        for each in (style, changed)
    )
    return html.replace(style, changed).replace(old, new)


def open_page(file: Path, runs: int) -> list[float]:
    """The medians of first paint, end of loading, search and jump."""
    options = webdriver.ChromeOptions()
    options.binary_location = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    measured = []
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        screen = {"width": 1300, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        driver.set_script_timeout(120)
        for _ in range(runs):
            driver.get("about:blank")
            driver.get(file.as_uri())
            found = driver.execute_async_script(LOADED)
            for script, text in ((SEARCH, "12"), (SEARCH, ""), (JUMP, "")):
                # The callback comes last among the arguments.
                begun = script.replace("arguments[1]", repr(text))
                found.append(driver.execute_async_script(begun))
            measured.append([*found[:3], found[4]])
    finally:
        driver.quit()
    return [statistics.median(column) for column in zip(*measured, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--groups", type=int, default=3_000)
    parser.add_argument("--items", type=int, default=10)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    lists = make_lists(given.groups, given.items, measured=False)
    pages: dict[str, tuple[str, float]] = {}
    for name, shown in {
        "lists": lists,
        "lists with estimates": make_lists(given.groups, given.items, measured=True),
    }.items():
        begin = time.perf_counter()
        html = to_html(shown)
        seconds = time.perf_counter() - begin
        pages[f"{name}, as it is"] = html, seconds
        pages[f"{name}, all at once"] = lay_out_at_once(html), seconds
    pages["one release"] = to_html(lists[lists.groups[0]]), 0.0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        for name, (html, seconds) in pages.items():
            whole = html.encode()
            file.write_bytes(whole)
            times = open_page(file, given.runs)
            small = len(gzip.compress(whole)) / 1e6
            sizes = [f"{len(whole) / 1e6:.1f}", f"{small:.1f}", f"{seconds:.1f}"]
            rows.append([name, *sizes, *(f"{each:,.0f}" for each in times)])
    print(f"{given.groups:,} groups of {given.items} items, {given.runs} runs")
    print(describe_machine("selenium"))
    head = ["page", "MB", "gzip", "made in s", "first paint", "loaded", "search", "jump"]
    print(format_table(head, rows))


if __name__ == "__main__":
    main()
