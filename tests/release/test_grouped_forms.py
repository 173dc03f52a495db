"""The lists of many groups as text, in notebooks, data frames, and as small charts."""

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from tests.display.sample_groups import (
    CUT,
    ESTIMATES,
    GROUPED,
    HOSTILE_GROUPS,
    MANY,
    REGIONS,
    VALUES,
)
from topgap import (
    GroupedEstimates,
    GroupedRelease,
    ParameterError,
    Release,
    ReleaseError,
    TopKByGroup,
)
from topgap.release import explain_bias
from topgap.release.grouped_notes import explain_grouped_bias, name_groups

Shown = GroupedRelease | GroupedEstimates


def test_one_table_with_the_group_in_its_first_row_and_one_note() -> None:
    assert str(REGIONS) == (
        "group  rank  item  ahead of the next by\n"
        "North     1  flu                   41.2\n"
        "          2  cold                    36\n"
        "Œst       1  cold                   1.5\n"
        "          2  gout                    90\n"
        "West      1  flu                     70\n"
        "          2  rash                   0.3\n"
        "ε = 1 for all 3 groups together\n"
        "Each person counts in at most 2 groups, and each list has ε = 0.5, resolution 0.1, "
        "sensitivity 1, monotonic.\n"
        "domain: a list (50 items)\n"
        "An item named here need not occur in the data; one needs a count of about 13 to stand out."
    )
    assert REGIONS.to_text() == str(REGIONS)


def test_a_group_without_winners_says_so_and_counts_stand_where_they_are() -> None:
    lines = CUT.to_text().splitlines()
    assert lines[2].split() == ["East", "no", "item", "above", "500"]
    assert lines[1].split()[:5] == ["North", "1", "flu", "81.2", "581.2"]
    assert lines[3].split() == ["South", "1", "flu", "90"]
    assert lines[8:11] == [
        "No item was above 500, noise included, in 1 of 4 groups (East).",
        "3 items were above 500, as many as are named at most, in 1 of 4 groups (South). The last "
        "gap is the lead over whatever came next, an item or 500, so there are no counts.",
        "In all others the last gap is the lead over 500.",
    ]
    assert "ε = 1 for all 4 groups together" in lines  # South has spent all of it
    assert "in 1 of 4 groups (West)" in lines[-1]
    empty = {"East": CUT["East"], "North": CUT["North"]}
    assert "ε = 1 for all 2 groups together, of which 2/3 was spent" in str(
        GroupedRelease(CUT.parameters, empty)
    )


def test_estimates_say_how_epsilon_is_shared_and_which_lean() -> None:
    lines = ESTIMATES.to_text("0.9").splitlines()
    assert lines[0].split()[-5:] == ["estimate", "±", "90%", "from", "to"]
    assert lines[-3] == (
        "ε = 1 for all 2 groups together: 0.5 to select and 0.25 for each measurement, at most 2 "
        "of which are about one person"
    )
    assert lines[-1].startswith(
        "An order or the last place is uncertain in 1 of 2 groups (South, 2024). Where an order"
    )


def test_many_groups_are_cut_and_counted() -> None:
    text = str(MANY)
    assert text.count("\ngroup 0") == 60
    assert "\n… and 90 more groups\nε = 1 for all 150 groups together\n" in text
    assert text.splitlines()[-1].startswith("Not protected: the list of items")
    assert MANY.to_text().count("\ngroup ") == 150
    assert "more groups" not in MANY.to_text()
    long = TopKByGroup(200, 1)
    listed = GroupedRelease(long, {"A": Release(long.each, range(200), [5] * 200)})
    assert "… and 140 more" in str(listed)
    assert len(listed.to_text().splitlines()) == 203


@pytest.mark.parametrize("shown", GROUPED.values(), ids=GROUPED)
def test_one_line_names_the_first_groups(shown: Shown) -> None:
    line = repr(shown)
    assert line.isprintable()
    assert line.startswith(f"<{type(shown).__name__} of {len(shown)} group")
    assert ("…" in line) == (len(shown) > 5)


class Cells(HTMLParser):
    """The tags and texts of a notebook's table."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("shown", GROUPED.values(), ids=GROUPED)
def test_a_notebook_shows_the_same_and_escapes_names(shown: Shown) -> None:
    cells = Cells(shown._repr_html_())
    bars = {"div", "span"}
    assert cells.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p", "br", *bars}
    head, rows, note = shown.rows(most=60)
    assert (
        [*head, *(cell for row in rows for cell in row if cell)]
        == [
            text
            for text in cells.texts
            if text != "?"  # beside a bar
        ][: len(head) + sum(map(bool, (cell for row in rows for cell in row)))]
    )
    assert set(note.splitlines()) <= {*cells.texts}


@pytest.mark.parametrize("shown", GROUPED.values(), ids=GROUPED)
def test_text_holds_no_line_that_a_name_has_made(shown: Shown) -> None:
    _, rows, note = shown.rows()
    lines = shown.to_text().split("\n")
    assert lines[1 + len(rows) :][: note.count("\n") + 1] == note.split("\n")
    assert all(line.isprintable() for line in lines)


# Which groups to beware of.
def test_biased_groups_are_those_of_which_each_list_says_so() -> None:
    """By what `explain_bias` says of each list alone, for many random lists."""
    random = np.random.default_rng(24)
    cut, few = CUT.parameters.each, VALUES.parameters.each
    starts = {
        "An order": ("Rank", "order uncertain"),
        "Places": ("Rank", "on the list uncertain"),
        "With one more": ("item", "with one more"),
    }
    for parameters in (cut, few):
        lists = [
            random.choice([0, 3, 40, 500], size=random.integers(1, parameters.k + 1)).tolist()
            for _ in range(60)
        ]
        said = explain_grouped_bias(parameters, range(60), lists)
        for start, words in starts.items():
            found = [
                group
                for group, gaps in enumerate(lists)
                if not (parameters.has_sentinel and len(gaps) == parameters.k)
                and any(
                    words[1] in line
                    for line in explain_bias([g * parameters.resolution for g in gaps], parameters)
                )
            ]
            about = [line for line in said if line.startswith(start)]
            assert bool(found) == bool(about)
            assert not found or name_groups(found, 60) in about[0]


def test_long_names_and_many_groups_stay_short() -> None:
    assert len(name_groups(["x" * 300, "y"], 9)) < 80
    assert name_groups([*range(6)], 9) == "in 6 of 9 groups"


# Data frames.
def test_frames_of_a_cut_have_no_counts_where_there_are_none() -> None:
    frame = CUT.to_pandas()
    assert frame["group"].tolist() == ["North", "South", "South", "South", "West", "West"]
    assert frame["rank"].tolist() == [1, 1, 2, 3, 1, 2]
    assert frame["count"].isna().tolist() == [False, True, True, True, False, False]
    assert frame["is_biased"].isna().tolist() == [False, True, True, True, False, False]
    assert frame["gap"].tolist() == [81.2, 90.0, 0.2, 70.0, 9.0, 40.0]
    assert CUT.to_arrow().num_rows == CUT.to_polars().height == 6
    assert "standard_error" in VALUES.to_pandas()


@pytest.mark.parametrize("shown", GROUPED.values(), ids=GROUPED)
def test_all_columns_have_a_row_for_each_winner(shown: Shown) -> None:
    columns: dict[str, Any] = shown.columns()
    assert {len(column) for column in columns.values()} == {sum(shown.sizes)}
    if shown is not HOSTILE_GROUPS:
        assert isinstance(shown.to_pandas(), pd.DataFrame)


# Small charts.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["regions", "cut", "values", "hostile", "estimates"])
def test_a_figure_has_a_small_chart_for_each_group(name: str) -> None:
    shown = GROUPED[name]
    figure = shown.plot(Figure(layout="constrained"))
    figure.canvas.draw()
    assert len(figure.axes) == len(shown)
    for ax, size in zip(figure.axes, shown.sizes, strict=True):
        assert len(ax.get_yticklabels()) == size
        assert ax.get_legend() is None
    assert len(figure.legends) == 1
    suptitle = figure.get_suptitle()
    assert f"for all {len(shown)} groups together" in suptitle
    assert figure.axes[0].get_title()


def test_some_groups_can_be_plotted_and_too_many_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"room for 60 groups; choose them with groups="):
        MANY.plot()
    figure = MANY.plot(groups=["group 003", "group 149"])
    assert [ax.get_title() for ax in figure.axes] == ["group 003", "group 149"]
    assert "Not protected" in figure.get_suptitle()
    plt.close("all")
    empty = CUT.plot(Figure(), groups=["East"])
    assert [each.get_text() for each in empty.axes[0].texts] == ["No item above 500"]
    choices: list[list[Any]] = [[], ["group 150"], [[]]]
    for wrong in choices:
        with pytest.raises(ParameterError, match="groups must be some of those"):
            MANY.plot(groups=wrong)
    with pytest.raises(ReleaseError, match="without gaps"):
        GROUPED["without gaps"].plot()
