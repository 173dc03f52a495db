"""The site as a real browser shows it: front page and start page on a phone and a desk.

The site is built once, strictly, into a folder of the tests; that takes about ten seconds. Without
Chromium or MkDocs these tests are skipped.
"""

import base64
import importlib.resources
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.report.chromium import SCHEMES, luminance
from tools.chromium import show

pytestmark = [pytest.mark.deep, pytest.mark.linux(reason="builds the site, and shows it")]

ROOT = Path(__file__).parents[2]
PAGES = ["index.html", "start.html", "gallery.html"]
WIDTHS = [360, 390, 768, 1300]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site; a page is served, as search needs a server."""
    pytest.importorskip("mkdocs", reason="MkDocs is not installed.")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *given: _Quiet(*given, directory=str(folder))
    )
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def shown(driver: Any, site: str) -> Any:
    """Shows a page, as to somebody who comes for the first time."""

    def open_page(page: str, width: int, scheme: str) -> Any:
        driver.get("about:blank")
        first_visit = {"origin": site.rstrip("/"), "storageTypes": "all"}
        driver.execute_cdp_cmd("Storage.clearDataForOrigin", first_visit)
        driver.get_log("performance")
        driver.get_log("browser")
        show(driver, f"{site}{page}", width=width, height=900, scheme=scheme)
        driver.execute_async_script(LOADED)
        return driver

    return open_page


LOADED = """
    const done = arguments[arguments.length - 1];
    for (const each of document.images) each.loading = "eager";
    Promise.all([...document.images].map(each => each.decode().catch(() => 0))).then(
        () => requestAnimationFrame(() => done(0)));
"""
PICTURES = """
    return [...document.querySelectorAll("article img")].filter(
        each => getComputedStyle(each).display !== "none").map(each => {
        const box = each.getBoundingClientRect();
        return {source: each.getAttribute("src"), alt: each.alt, left: box.left, right: box.right,
                ratio: box.width / box.height, own: each.naturalWidth / each.naturalHeight,
                hidden: each.parentElement.scrollWidth - each.parentElement.clientWidth};
    });
"""


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_fits_loads_alone_and_has_no_barrier(
    shown: Any, site: str, page: str, width: int, scheme: str
) -> None:
    driver = shown(page, width, scheme)
    assert driver.execute_script("return document.documentElement.scrollWidth") == width
    ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (luminance([float(each) for each in ground[4:-1].split(",")]) < 0.1) == (
        scheme == "dark"
    )
    other = {"light": "-dark.png", "dark": "-light.png"}[scheme]
    pictures = driver.execute_script(PICTURES)
    assert find_cut_pictures(pictures, width) == []
    assert not any(other in each["source"] for each in pictures)
    assert all(len(each["alt"]) > 20 for each in pictures)
    assert find_foreign_requests(driver, site) == []
    assert [each["message"] for each in driver.get_log("browser") if each["level"] != "INFO"] == []
    assert find_barriers(driver) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_picture_of_a_release_follows_the_page(shown: Any, scheme: str) -> None:
    driver = shown("index.html", 390, scheme)
    assert (measure_light(driver) < 0.3) == (scheme == "dark")
    driver.execute_script(
        "document.querySelector('[data-md-component=palette] label:not([hidden])').click()"
    )
    assert (measure_light(driver) < 0.3) == (scheme == "light")


def test_what_should_not_be_there_would_be_seen(shown: Any, site: str) -> None:
    driver = shown("index.html", 360, "light")
    driver.execute_script("""
        const picture = document.querySelector("article img");
        picture.style.maxWidth = "none";
        picture.style.width = "32rem";
        document.querySelector("article").append(
            Object.assign(new Image(), {src: "http://127.0.0.2:9/x.png"}));
    """)
    assert "pictures/release.svg" in find_cut_pictures(driver.execute_script(PICTURES), 360)
    assert find_foreign_requests(driver, site) == ["http://127.0.0.2:9/x.png"]
    assert {name for name, _ in find_barriers(driver)} >= {"image-alt"}


def measure_light(driver: Any) -> float:
    """How bright the picture of a release is on the whole, from 0 to 1."""
    from PIL import Image

    box = driver.execute_script(
        "const {x, y, width, height} = document.querySelector('article img')"
        ".getBoundingClientRect(); return {x: x + scrollX, y: y + scrollY, width, height}"
    )
    clip = {"format": "png", "clip": {**box, "scale": 1}, "captureBeyondViewport": True}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", clip)["data"]
    grey = Image.open(io.BytesIO(base64.b64decode(shot))).convert("L").resize((1, 1))
    return float(grey.tobytes()[0]) / 255


def find_cut_pictures(pictures: list[dict[str, Any]], width: int) -> list[str]:
    return [
        each["source"]
        for each in pictures
        if each["left"] < 0
        or each["right"] > width
        or each["hidden"] > 0
        or each["ratio"] != pytest.approx(each["own"], rel=0.02)
    ]


def find_foreign_requests(driver: Any, site: str) -> list[str]:
    messages = [json.loads(each["message"])["message"] for each in driver.get_log("performance")]
    addresses = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert any(each.startswith(site) for each in addresses)
    return [each for each in addresses if not each.startswith((site, "data:", "blob:"))]


def find_barriers(driver: Any) -> list[tuple[str, str]]:
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed.")
    axe = importlib.resources.files("axe_core_python") / "axe.min.js"
    driver.execute_script(axe.read_text(encoding="utf-8"))
    found = driver.execute_async_script(
        "axe.run().then(arguments[0], error => arguments[0](String(error)))"
    )
    assert len(found["passes"]) > 15
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found["violations"]]
