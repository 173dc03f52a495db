"""The pictures of the pages can be drawn, say what the committed ones say, and are all shown."""

import re
import runpy
from math import log
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from topgap import TopK, law

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = DOCS / "pictures"
SHOWN = r"!\[([^\]]+)\]\(pictures/([^)]+)\)"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(PICTURES / "draw.py"))


@pytest.fixture(scope="module")
def drawn(script: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    script["draw"](folder)
    return folder


def texts(picture: Path) -> list[str]:
    """All that is written in a picture; coordinates differ between versions of Matplotlib."""
    root = ElementTree.fromstring(picture.read_text())  # noqa: S314, for it is our own
    return ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.svg")}


def test_pictures_are_those_that_are_drawn(drawn: Path) -> None:
    assert names(drawn) == names(PICTURES)
    for name in names(drawn):
        assert texts(drawn / name) == texts(PICTURES / name) != [], name


def test_drawing_again_gives_the_same(script: dict[str, Any], drawn: Path, tmp_path: Path) -> None:
    with script["mpl"].rc_context(script["STYLE"]):
        script["save"](script["line"](), tmp_path / "line.svg")
    assert (tmp_path / "line.svg").read_bytes() == (drawn / "line.svg").read_bytes()


def test_pages_show_all_pictures_in_words_too() -> None:
    pages = "\n".join(page.read_text() for page in DOCS.glob("*.md"))
    shown = re.findall(SHOWN, pages)
    assert {name for _, name in shown} == names(PICTURES)
    assert all(len(words) > 40 for words, _ in shown)


def test_probabilities_of_an_order_are_those_of_the_law(script: dict[str, Any]) -> None:
    # Noise of mean 5 and steps of 1: a gap of 15 steps is exactly 3 means.
    parameters = TopK(k=1, epsilon="1/5", resolution=1, monotonic=True)
    probabilities = script["order_probabilities"](7 / 5, certain=3)
    for winner, small, large in (
        (0, probabilities.right_uncertain, probabilities.right_certain),
        (1, probabilities.wrong_uncertain, probabilities.wrong_certain),
    ):
        below = sum(law.gap_top_k([7, 0], parameters, [(winner, gap)]).low for gap in range(15))
        assert float(below) == pytest.approx(small, abs=1e-12)
        both = law.top_k([7, 0], parameters, [winner]).low
        assert float(both - below) == pytest.approx(large, abs=1e-12)
    assert script["order_probabilities"](0).wrong_certain == pytest.approx(1 / 40)
    assert script["order_probabilities"](log(20)).right_certain == pytest.approx(1 / 2)


def test_probability_of_a_right_list_is_that_of_the_law(script: dict[str, Any]) -> None:
    answers = [9, 7, 5, 4, 0]
    parameters = TopK(k=2, epsilon=1, resolution=1, monotonic=True)
    right = sum(law.top_k(answers, parameters, order).low for order in ([0, 1], [1, 0]))
    numbers = script["np"].array(answers, float)
    assert script["list_right"](numbers, 2, 1.0) == pytest.approx(float(right), abs=1e-3)
