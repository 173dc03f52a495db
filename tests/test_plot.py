"""The chart has the lengths that the leads say, and leaves everything else as it was."""

import io
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from checking.releases import EVERYDAY, HOSTILE, SHOWN, UNCERTAIN
from topgap import Release, ReleaseError, TopK
from topgap.leads import leads
from topgap.plot import plot

WITH_GAPS = {name: release for name, release in SHOWN.items() if release.gaps is not None}


@pytest.fixture(autouse=True)
def headless() -> Iterator[None]:
    """Draw without a display, and close what was opened."""
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


def figure_of(ax: Axes) -> Figure:
    assert isinstance(ax.figure, Figure)
    return ax.figure


def drawn(ax: Axes) -> bytes:
    """The picture, made so that whatever is warned of while it is drawn becomes an error."""
    image = io.BytesIO()
    figure_of(ax).savefig(image)
    return image.getvalue()


def bars(ax: Axes) -> list[tuple[Rectangle, Rectangle]]:
    """The two parts of each bar, from the largest down: up to the gap, and the gap."""
    parts = sorted(
        (patch for patch in ax.patches if isinstance(patch, Rectangle)), key=Rectangle.get_y
    )
    pairs = [(parts[i], parts[i + 1]) for i in range(0, len(parts), 2)]
    return [(rest, gap) if rest in ax.containers[0] else (gap, rest) for rest, gap in pairs]


def test_bars_are_as_long_as_the_leads_say() -> None:
    ax = plot(EVERYDAY)
    shown = bars(ax)
    for (rest, gap), given, lead in zip(shown, EVERYDAY.gaps or (), leads(EVERYDAY), strict=True):
        assert rest.get_x() == 0
        assert rest.get_width() == pytest.approx(gap.get_x())
        assert gap.get_width() == pytest.approx(float(given))
        assert gap.get_x() + gap.get_width() == pytest.approx(float(lead))
    for (_, above), (below, last) in pairwise(shown):  # a gap begins where the next bar ends
        assert above.get_x() == pytest.approx(below.get_width() + last.get_width())
    assert ax.yaxis_inverted()


def test_uncertain_gaps_are_hatched_and_the_legend_says_so() -> None:
    ax = plot(EVERYDAY, Figure().subplots())
    assert [i for i, (_, gap) in enumerate(bars(ax)) if gap.get_hatch()] == UNCERTAIN
    assert not any(rest.get_hatch() for rest, _ in bars(ax))
    legend = ax.get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 3
    assert "uncertain" in legend.get_texts()[2].get_text()


def test_it_is_labelled() -> None:
    ax = EVERYDAY.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == [*EVERYDAY.items]
    assert [text.get_text() for text in ax.texts][:4] == ["165.8", "139.4", "75.9", "1.1"]
    assert ax.get_title() == "The 10 largest at ε = 1/2"
    assert plot(SHOWN["a single one"]).get_title() == "The largest at ε = 1/3"


@pytest.mark.parametrize("release", WITH_GAPS.values(), ids=WITH_GAPS)
def test_every_release_can_be_drawn(release: Release) -> None:
    ax = plot(release)
    assert drawn(ax).startswith(b"\x89PNG")
    assert len(ax.patches) == 2 * len(release)
    assert ax.get_xlim()[1] > 0
    assert 2 < figure_of(ax).get_figheight() < 40
    assert len(ax.get_yticklabels()) <= 100


def test_a_figure_grows_with_k() -> None:
    charts = [plot(Release(TopK(k, 1), range(k), [1] * k)) for k in (1, 10, 50)]
    heights = [figure_of(ax).get_figheight() for ax in charts]
    assert heights == sorted({*heights})


def test_names_are_shown_as_they_are() -> None:
    dollars = Release(TopK(3, 1), None, [500, 3, 0], ["$x_1$", "a $\\frac$ b", r"\$5 $"])
    ax = plot(dollars)
    drawn(ax)  # as mathematics, the second would be an error
    labels = ax.get_yticklabels()
    assert [text.get_text() for text in labels] == [*dollars.items]
    assert not any(text.get_parse_math() for text in labels)


def test_long_and_undrawable_names_are_made_to_fit() -> None:
    names = [text.get_text() for text in plot(HOSTILE).get_yticklabels()]
    assert names[1] == "x" * 39 + "…"
    assert names[3] == r"\U0001f9a0 two\nlines"
    assert names[4] == r"\u65e5\u672c"


def test_gigantic_gaps_keep_their_proportions() -> None:
    release = Release(TopK(2, 1), [0, 1], [3 * 10**400, 10**400])
    ax = plot(release)
    assert [gap.get_width() for _, gap in bars(ax)] == [0.75, 0.25]
    assert ax.get_xlabel() == "lead as a part of 4.000 × 10³⁹⁹"


def test_it_draws_on_given_axes_and_changes_nothing_else() -> None:
    settings = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    plt.sca(right)
    assert plot(EVERYDAY, left) is left
    assert plt.gca() is right
    assert plt.get_fignums() == [figure.number]
    assert [*right.patches, *right.texts] == []
    assert dict(mpl.rcParams) == settings


def test_without_gaps_there_is_nothing_to_draw() -> None:
    with pytest.raises(ReleaseError, match=r"^A release without gaps has no lengths to plot;"):
        plot(SHOWN["without gaps"])
    assert plt.get_fignums() == []


def test_a_missing_matplotlib_is_named() -> None:
    script = """
import sys
sys.modules["matplotlib"] = None
from topgap import MissingExtraError, Release, TopK
try:
    Release(TopK(1, 1), [0], [5]).plot()
except MissingExtraError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "plot needs matplotlib: pip install matplotlib.\n"
