"""The pictures of the pages can be drawn, say what the committed ones say, and are all shown."""

import re
from math import log
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from tests.report.chromium import contrast
from tools.pictures import drawings, release, terminal
from topgap import TopK, law

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = DOCS / "pictures"
SHOWN = r"!\[([^\]]+)\]\(pictures/([^)]+)\)"
TERMINAL = "terminal.svg"  # which is a run with noise, and so another each time


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    drawings.draw(folder)
    return folder


def texts(picture: str) -> list[str]:
    """All that is written in a picture; coordinates differ between versions of Matplotlib."""
    root = ElementTree.fromstring(picture)  # noqa: S314, for it is our own
    return ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.svg")}


def test_pictures_are_those_that_are_drawn(drawn: Path) -> None:
    assert names(drawn) == names(PICTURES) - {TERMINAL}
    for name in names(drawn):
        assert texts((drawn / name).read_text()) == texts((PICTURES / name).read_text()) != [], name


def test_drawing_again_gives_the_same(drawn: Path, tmp_path: Path) -> None:
    with mpl.rc_context(drawings.STYLE):
        drawings.save(drawings.line(), tmp_path / "line.svg")
    assert (tmp_path / "line.svg").read_bytes() == (drawn / "line.svg").read_bytes()


def test_pages_show_all_pictures_in_words_too() -> None:
    pages = "\n".join(page.read_text() for page in DOCS.glob("*.md"))
    shown = re.findall(SHOWN, pages)
    assert {name for _, name in shown} == names(PICTURES)
    assert all(len(words) > 40 for words, _ in shown)


def test_the_release_can_be_read_on_both_its_grounds() -> None:
    light, dark = release.STYLE.split("@media (prefers-color-scheme: dark)")
    for half in (light, dark):
        colours = {
            name: [float(int(value[at : at + 2], 16)) for at in (0, 2, 4)]
            for name, value in re.findall(r"--(\w+): #(\w{6})", half)
        }
        for ground in (colours["ground"], colours["card"]):
            for name in ("ink", "dim", "gap"):
                assert contrast(colours[name], ground) > 4.5, name
            assert contrast(colours["bar"], ground) > 2.5
        assert contrast(colours["gap"], colours["lead"]) > 2.5


def test_nothing_of_the_release_leaves_the_picture() -> None:
    picture = release.draw_release()
    for left, width in re.findall(r'<rect[^>]* x="([\d.]+)"[^>]* width="([\d.]+)"', picture):
        assert float(left) + float(width) <= release.WIDTH
    assert texts(picture).count("order uncertain") == 1


@pytest.mark.posix(reason="runs the command in a pseudo-terminal")
def test_the_terminal_shows_a_run_and_names_no_other_host() -> None:
    picture, stored = terminal.draw_terminal(), (PICTURES / TERMINAL).read_text()
    for each in (picture, stored):
        lines = "\n".join(texts(each)).replace("\N{NO-BREAK SPACE}", " ")
        assert "topgap release baskets.dat" in lines
        assert re.search(r"ε = 1, resolution 0.1", lines)
        assert {*re.findall(r"https?://[^\"<\s]+", each)} == {"http://www.w3.org/2000/svg"}


def test_a_command_that_fails_makes_no_picture(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"topgap frobnicate failed: "):
        terminal.run_in_terminal("topgap frobnicate", str(tmp_path))


def test_probabilities_of_an_order_are_those_of_the_law() -> None:
    # Noise of mean 5 and steps of 1: a gap of 15 steps is exactly 3 means.
    parameters = TopK(k=1, epsilon="1/5", resolution=1, monotonic=True)
    probabilities = drawings.order_probabilities(7 / 5, certain=3)
    for winner, small, large in (
        (0, probabilities.right_uncertain, probabilities.right_certain),
        (1, probabilities.wrong_uncertain, probabilities.wrong_certain),
    ):
        below = sum(law.gap_top_k([7, 0], parameters, [(winner, gap)]).low for gap in range(15))
        assert float(below) == pytest.approx(small, abs=1e-12)
        both = law.top_k([7, 0], parameters, [winner]).low
        assert float(both - below) == pytest.approx(large, abs=1e-12)
    assert drawings.order_probabilities(0).wrong_certain == pytest.approx(1 / 40)
    assert drawings.order_probabilities(log(20)).right_certain == pytest.approx(1 / 2)


def test_probability_of_a_right_list_is_that_of_the_law() -> None:
    answers = [9, 7, 5, 4, 0]
    parameters = TopK(k=2, epsilon=1, resolution=1, monotonic=True)
    right = sum(law.top_k(answers, parameters, order).low for order in ([0, 1], [1, 0]))
    counts = np.array(answers, float)
    assert drawings.list_right(counts, 2, 1.0) == pytest.approx(float(right), abs=1e-3)
