"""The one table of a list: its head, its rows, and what is found in it that needs a word."""

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from topgap.estimates import Estimates
from topgap.margins import takes_last_place
from topgap.numbers.parse import Number
from topgap.release import Release
from topgap.report.chart import find_marks, render_rows
from topgap.report.details import Details
from topgap.report.figures import find_figures


class Findings(NamedTuple):
    """What a table shows that has to be explained.

    Attributes:
        has_figures: Whether items have numbers.
        has_gaps: Whether they have gaps.
        marks: The marks on rows.
        is_any_below_zero: Whether a number is below 0.
        crossings: The ranks of which the number is less than the next.
        takes_last_place: Whether the threshold took the last place of a list with counts.
    """

    has_figures: bool
    has_gaps: bool
    marks: frozenset[str]
    is_any_below_zero: bool
    crossings: tuple[int, ...]
    takes_last_place: bool

    @classmethod
    def of_nothing(cls, *, has_gaps: bool) -> "Findings":
        """Return those of lists without any item."""
        return cls(False, has_gaps, frozenset(), False, (), False)  # noqa: FBT003 - by their names

    def join(self, other: "Findings") -> "Findings":
        """Return what is found in either of two tables."""
        return Findings(
            self.has_figures or other.has_figures,
            self.has_gaps or other.has_gaps,
            self.marks | other.marks,
            self.is_any_below_zero or other.is_any_below_zero,
            self.crossings + other.crossings,
            self.takes_last_place or other.takes_last_place,
        )


def render_table(
    result: Release | Estimates,
    text: Mapping[str, str],
    details: Details,
    level: "Number",
    *,
    caption: str = "",
) -> tuple[str, Findings]:
    """Return the table of a list that names an item, and what is found in it.

    Args:
        result: What is shown.
        text: The texts of the page, of which it takes the names of the columns.
        details: What the publisher says.
        level: That of the intervals.
        caption: The caption, for people; empty for none.
    """
    release = result.release if isinstance(result, Estimates) else result
    figures = find_figures(result, level, in_order=details.in_order)
    marks = find_marks(release)
    heads = {"rank": "Rank", "item": text["item"]}
    if figures is not None:
        heads |= {"figure": text["figure_head"], "interval": f"{text['percent']} interval"}
    if release.gaps is not None:
        heads["ahead"] = "Gap to the next"
    columns = "".join(
        f'<th role="columnheader" scope="col" class="{kind}">{escape(name)}</th>\n'
        for kind, name in heads.items()
    )
    above = f"<caption>{escape(caption)}</caption>\n" if caption else ""
    table = (
        f'<table role="table">\n{above}<thead role="rowgroup">\n<tr role="row">\n{columns}</tr>\n'
        f'</thead>\n<tbody role="rowgroup">\n{render_rows(release, figures, details, marks)}\n'
        f"</tbody>\n</table>\n"
    )
    has_counts = figures is not None and not isinstance(result, Estimates)
    found = Findings(
        has_figures=figures is not None,
        has_gaps=release.gaps is not None,
        marks=frozenset(marks) - {""},
        is_any_below_zero=figures is not None and figures.is_any_below_zero,
        crossings=() if figures is None else (*figures.crossings,),
        takes_last_place=has_counts and takes_last_place(release.parameters, len(release)),
    )
    return table, found
