"""Charts have the lengths that the numbers say, and leave everything else as it was."""

import io
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from math import isfinite

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tests.display.sample_counts import COUNTED, FULL, LAST_PLACE, NAMES, NONE
from tests.display.sample_counts import REACHED as COUNTED_DOWN
from tests.display.sample_estimates import CERTAIN, ESTIMATED, LEANING, NEAR_TIES, measured
from tests.display.sample_releases import EVERYDAY, HOSTILE, SHOWN, UNCERTAIN
from tests.display.sample_values import DIAGNOSES, EMPTY, ONE, REACHED, VALUED
from topgap import Estimates, ParameterError, Release, ReleaseError, TopK
from topgap.display.numbers import format_level
from topgap.margins import leads

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
    ax = Release.plot(EVERYDAY)
    shown = bars(ax)
    for (rest, gap), given, lead in zip(
        shown, EVERYDAY.gaps or (), leads(EVERYDAY.gaps or ()), strict=True
    ):
        assert rest.get_x() == 0
        assert rest.get_width() == pytest.approx(gap.get_x())
        assert gap.get_width() == pytest.approx(float(given))
        assert gap.get_x() + gap.get_width() == pytest.approx(float(lead))
    for (_, above), (below, last) in pairwise(shown):  # a gap begins where the next bar ends
        assert above.get_x() == pytest.approx(below.get_width() + last.get_width())
    assert ax.yaxis_inverted()


def test_uncertain_gaps_are_hatched_and_the_legend_says_so() -> None:
    ax = Release.plot(EVERYDAY, Figure().subplots())
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
    assert ax.get_title() == "The 10 largest at ε = 0.5"
    assert Release.plot(SHOWN["a single one"]).get_title() == "The largest at ε = 1/3"


@pytest.mark.deep
@pytest.mark.parametrize("release", WITH_GAPS.values(), ids=WITH_GAPS)
def test_every_release_can_be_drawn(release: Release) -> None:
    ax = Release.plot(release)
    assert drawn(ax).startswith(b"\x89PNG")
    assert len(ax.patches) == 2 * len(release)
    assert ax.get_xlim()[1] > 0
    assert 2 < figure_of(ax).get_figheight() < 40
    assert len(ax.get_yticklabels()) <= 100


def test_a_figure_grows_with_k() -> None:
    charts = [Release.plot(Release(TopK(k, 1), range(k), [1] * k)) for k in (1, 10, 50)]
    heights = [figure_of(ax).get_figheight() for ax in charts]
    assert heights == sorted({*heights})


def test_names_are_shown_as_they_are() -> None:
    dollars = Release(TopK(3, 1), None, [500, 3, 0], ["$x_1$", "a $\\frac$ b", r"\$5 $"])
    ax = Release.plot(dollars)
    drawn(ax)  # as mathematics, the second would be an error
    labels = ax.get_yticklabels()
    assert [text.get_text() for text in labels] == [*dollars.items]
    assert not any(text.get_parse_math() for text in labels)


def test_long_and_undrawable_names_are_made_to_fit() -> None:
    names = [text.get_text() for text in Release.plot(HOSTILE).get_yticklabels()]
    assert names[1] == "x" * 39 + "…"
    assert names[3] == r"\U0001f9a0 two\nlines"
    assert names[4] == r"\u65e5\u672c"


def test_gigantic_gaps_keep_their_proportions() -> None:
    release = Release(TopK(2, 1), [0, 1], [3 * 10**400, 10**400])
    ax = Release.plot(release)
    assert [gap.get_width() for _, gap in bars(ax)] == [0.75, 0.25]
    assert ax.get_xlabel() == "lead as a share of 4.000 × 10³⁹⁹"


def test_it_draws_on_given_axes_and_changes_nothing_else() -> None:
    settings = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    plt.sca(right)
    assert Release.plot(EVERYDAY, left) is left
    assert plt.gca() is right
    assert plt.get_fignums() == [figure.number]
    assert [*right.patches, *right.texts] == []
    assert dict(mpl.rcParams) == settings


def test_without_gaps_there_is_nothing_to_draw() -> None:
    with pytest.raises(ReleaseError, match=r"^A release without gaps has no lengths to plot;"):
        Release.plot(SHOWN["without gaps"])
    assert plt.get_fignums() == []


@pytest.mark.deep
@pytest.mark.parametrize("made", ["release", "estimate(release, [5], variance=1)"])
def test_a_missing_matplotlib_is_named(made: str) -> None:
    script = f"""
import sys
sys.modules["matplotlib"] = None
from topgap import MissingExtraError, Release, TopK, estimate
release = Release(TopK(1, 1), [0], [5])
try:
    {made}.plot()
except MissingExtraError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "plot needs matplotlib: pip install matplotlib.\n"


def points(ax: Axes) -> tuple[dict[int, float], set[int]]:
    """Where the point of each winner is, and which are hollow."""
    found: dict[int, float] = {}
    hollow: set[int] = set()
    for line in ax.lines:
        if line.get_marker() == "o":
            ranks = [int(rank) for rank in np.asarray(line.get_ydata())]
            found.update(zip(ranks, np.asarray(line.get_xdata()).tolist(), strict=True))
            hollow |= {*ranks} if line.get_markerfacecolor() == "white" else set()
    return found, hollow


def error_bars(ax: Axes) -> list[tuple[float, float]]:
    """The ends of each error bar, from the largest winner down."""
    [container] = [each for each in ax.containers if isinstance(each, ErrorbarContainer)]
    [lines] = container.lines[2]
    assert isinstance(lines, LineCollection)
    ends = [np.asarray(each) for each in lines.get_segments()]
    assert [each[0, 1] for each in ends] == [*range(len(ends))]
    caps = [np.asarray(each.get_xdata()).tolist() for each in container.lines[1]]
    assert caps == [[each[0, 0] for each in ends], [each[1, 0] for each in ends]]
    return [(float(each[0, 0]), float(each[1, 0])) for each in ends]


@pytest.mark.parametrize("level", ["0.95", "0.5", "0.999"])
def test_points_and_error_bars_are_the_estimates_and_intervals(level: str) -> None:
    ax = CERTAIN.plot(level=level)
    assert points(ax)[0] == pytest.approx(dict(enumerate(CERTAIN.estimates)))
    assert error_bars(ax) == [pytest.approx(each) for each in CERTAIN.intervals(level)]
    texts = {text.get_text() for legend in figure_of(ax).legends for text in legend.get_texts()}
    share = {"0.95": "95%", "0.5": "50%", "0.999": "99.9%"}[level]
    assert texts == {"estimate", "estimate that may be biased", f"{share} interval"}
    low, high = ax.get_xlim()
    assert low < min(low for low, _ in error_bars(ax))
    assert high > max(high for _, high in error_bars(ax))
    assert ax.yaxis_inverted()


def test_estimates_near_a_tie_are_hollow() -> None:
    assert points(CERTAIN.plot())[1] == {*NEAR_TIES}
    assert points(LEANING.plot())[1] == {*range(10)}


def test_estimates_are_labelled_with_what_the_whole_costs() -> None:
    ax = CERTAIN.plot(Figure().subplots())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["flu", "cold", "gout", "mumps"]
    assert [text.get_text() for text in ax.texts] == [
        "612.8 ± 8.0", "448.9 ± 8.0", "447.9 ± 8.0", "371.2 ± 8.0",
    ]  # fmt: skip
    assert ax.get_title() == "The 4 largest, measured at ε = 1"
    assert ax.get_legend() is not None
    assert ESTIMATED["a single one"].plot().get_title() == "The largest, measured at ε = 1"
    elsewhere = ESTIMATED["normal, elsewhere"].plot()
    assert elsewhere.get_title() == "The 10 largest, selected at ε = 0.5 and measured elsewhere"


@pytest.mark.deep
@pytest.mark.parametrize("level", ["0.95", "1e-100", f"{1 - 1e-12}"])
@pytest.mark.parametrize("made", ESTIMATED.values(), ids=ESTIMATED)
def test_all_estimates_can_be_drawn(made: Estimates, level: str) -> None:
    ax = made.plot(level=level)
    if level == "0.95":
        assert drawn(ax).startswith(b"\x89PNG")
    assert len(points(ax)[0]) == len(error_bars(ax)) == len(made)
    assert all(isfinite(each) for ends in error_bars(ax) for each in ends)


def test_gigantic_estimates_keep_their_proportions() -> None:
    ax = ESTIMATED["gigantic"].plot()
    assert points(ax)[0] == pytest.approx({0: 1.0, 1: 0.1, 2: 0.0})
    assert ax.get_xlabel() == "estimate as a share of 1.000 × 10⁴⁰⁰"
    ends = error_bars(ESTIMATED["gigantic noise"].plot())
    assert ends[1] == pytest.approx((-1 / 50, 1))  # the whole scale: nothing is known


def test_estimates_on_given_axes_change_nothing_else() -> None:
    settings = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    assert LEANING.plot(left) is left
    assert plt.get_fignums() == [figure.number]
    assert [*right.lines, *right.texts] == []
    assert dict(mpl.rcParams) == settings


def test_a_level_that_is_none_draws_nothing() -> None:
    with pytest.raises(ParameterError, match="level must be below 1"):
        CERTAIN.plot(level=1)
    assert plt.get_fignums() == []


def test_names_of_estimates_are_made_to_fit() -> None:
    names = [text.get_text() for text in ESTIMATED["hostile"].plot().get_yticklabels()]
    assert names == [text.get_text() for text in Release.plot(HOSTILE).get_yticklabels()]
    dollars = measured(Release(TopK(1, 1), None, [500], ["a $\\frac$ b"]), "1", [5])
    assert drawn(dollars.plot())


def threshold_line(ax: Axes) -> list[float]:
    """Where the dashed lines of a threshold are."""
    return [float(np.asarray(line.get_xdata())[0]) for line in ax.lines
            if line.get_label() == "threshold"]  # fmt: skip


@pytest.mark.parametrize("level", ["0.95", "0.5"])
def test_points_and_error_bars_are_the_values_and_intervals(level: str) -> None:
    ax = DIAGNOSES.plot(level=level)
    found, hollow = points(ax)
    assert found == {0: 97, 1: 57, 2: 54, 3: 45}
    assert hollow == {3}
    intervals = [(float(low), float(high)) for low, high in DIAGNOSES.intervals(level)]
    assert error_bars(ax) == intervals
    texts = {text.get_text() for legend in figure_of(ax).legends for text in legend.get_texts()}
    assert f"{format_level(level)} interval" in texts
    assert "value: the answer with its noise" in texts
    assert "threshold" not in texts
    assert ax.get_title() == "The 4 largest at ε = 1"
    assert ax.get_xlabel() == "value"
    assert [text.get_text() for text in ax.texts] == [
        "97 ± 2.8",
        "57 ± 2.8",
        "54 ± 2.8",
        "45 ± 2.8",
    ]
    assert threshold_line(ax) == []


def test_a_threshold_is_a_line() -> None:
    ax = REACHED.plot(Figure().subplots())
    assert threshold_line(ax) == [50]
    assert ax.get_title() == "3 items reached 50 at ε = 1"
    assert ax.get_xlim()[0] < 50
    assert ONE.plot().get_title() == "1 item reached 50 at ε = 1"


def test_an_empty_list_is_an_empty_chart_that_says_so() -> None:
    ax = EMPTY.plot()
    assert ax.get_title() == "No item reached 50 at ε = 1"
    assert drawn(ax).startswith(b"\x89PNG")
    assert (points(ax)[0], [*ax.texts], [*ax.get_yticks()]) == ({}, [], [])
    assert threshold_line(ax) == [50]


@pytest.mark.parametrize("name", VALUED)
def test_all_values_can_be_drawn(name: str) -> None:
    ax = VALUED[name].plot()
    if name != "a thousand":
        assert drawn(ax).startswith(b"\x89PNG")
    assert len(points(ax)[0]) == len(VALUED[name])
    assert all(isfinite(each) for each in ax.get_xlim())


def test_gigantic_values_keep_their_proportions() -> None:
    ax = VALUED["gigantic"].plot()
    assert points(ax)[0] == pytest.approx({0: 1.0, 1: 0.25})
    assert ax.get_xlabel() == "value as a share of 4.000 × 10⁴⁰⁰"
    assert threshold_line(VALUED["a gigantic threshold"].plot()) == [-1]


def test_counts_are_points_over_a_threshold() -> None:
    ax = COUNTED_DOWN.plot(level="0.9")
    counts = COUNTED_DOWN.counts("0.9")
    found, hollow = points(ax)
    assert found == pytest.approx({rank: float(each.value) for rank, each in enumerate(counts)})
    assert hollow == {1, 2}
    assert error_bars(ax) == [(float(each.low), float(each.high)) for each in counts]
    texts = {text.get_text() for legend in figure_of(ax).legends for text in legend.get_texts()}
    assert {"90% interval", "count: the threshold plus the gaps down to it"} <= texts
    assert "count that may be biased: noise may have decided who is named or ranked" in texts
    assert [text.get_text() for text in ax.texts] == ["650.1 ± 7.1", "525.1 ± 7.1", "520.8 ± 7.1"]
    assert (ax.get_title(), ax.get_xlabel()) == ("3 items above 500 at ε = 1", "count")
    assert threshold_line(ax) == [500]
    assert points(LAST_PLACE.plot())[1] == {0, 1, 2, 3}


def test_without_counts_gaps_are_bars_and_nothing_is_a_line() -> None:
    ax = FULL.plot()
    assert ax.get_title() == "5 items above 500 at ε = 1"
    texts = {text.get_text() for legend in figure_of(ax).legends for text in legend.get_texts()}
    assert "whole bar: lead over what came next" in texts
    assert len(ax.patches) > 0
    assert NONE.plot().get_title() == "No item above 500 at ε = 1"
    assert threshold_line(NONE.plot()) == [500]
    with pytest.raises(ReleaseError, match="without gaps"):
        NAMES.plot()


@pytest.mark.parametrize("name", COUNTED)
def test_all_counts_can_be_drawn(name: str) -> None:
    ax = COUNTED[name].plot()
    if name != "a thousand":
        assert drawn(ax).startswith(b"\x89PNG")
    assert len(points(ax)[0]) == len(COUNTED[name])
    assert all(isfinite(each) for each in ax.get_xlim())
