"""What a page shows of many groups: an index, a small chart for each, and one explanation."""

from collections.abc import Iterable, Mapping
from html import escape

from topgap.estimates import Estimates, GroupedEstimates
from topgap.numbers.parse import Number
from topgap.release import GroupedRelease, Release
from topgap.release.grouped_notes import explain_grouped_threshold, format_group
from topgap.report.chart import (
    render_counts,
    render_estimates,
    render_gaps,
    render_names,
)
from topgap.report.group_words import describe_groups
from topgap.report.parts import render_domain, render_mechanism, render_spread
from topgap.report.templates import Content, fill_template, read_file

_FEW = 60
"""Up to so many groups the index is open, and a browser lays out all of them at once."""


def render_groups(
    result: GroupedRelease | GroupedEstimates, level: "Number", json_id: str
) -> Content:
    """Return the parts of the page of many groups.

    Args:
        result: What is shown.
        level: That of the intervals.
        json_id: The id of the element that holds the JSON.
    """
    example = _choose_example(result)
    release = example.release if isinstance(example, Estimates) else example
    text = describe_groups(result, example, level)
    kinds = _list_kinds(result)
    measured = isinstance(result, GroupedEstimates)
    shares = fill_template("parameters_of_groups.html", text)
    shares += fill_template("shares_of_groups.html", text) if measured else ""
    # That of counts says what gaps say, too.
    read = [kind for kind in kinds if kind != "gaps" or "counts" not in kinds]
    readings = [fill_template(f"reading_of_{kind}.html", text) for kind in read]
    markup = {
        "ranking": "\n\n".join([_render_lists(result, text, level, kinds), *readings]),
        "domain": render_domain(release),
        "spread": fill_template("spread.html", text) if measured else render_spread(release, text),
        "shares": shares,
        "measuring": fill_template("measured_here.html", text) if measured else "",
        "data": fill_template("data_of_groups.html", text),
        **render_mechanism(release, text),
    }
    style = read_file("counts.css") if "counts" in kinds else ""
    # Of a group that was not on the screen yet: about what its rows take, so that nothing jumps.
    rows = max(result.sizes)
    style += fill_template(
        "groups.css",
        {},
        height=f"{5 + 2.6 * rows:.0f}rem",
        height_on_phones=f"{5 + (5.4 if kinds == ['gaps'] else 8.5) * rows:.0f}rem",
        visibility="visible" if len(result) <= _FEW else "auto",
    )
    return Content(
        text, markup, result.to_json(level), json_id, result.caveats,
        style, read_file("search.js"),
    )  # fmt: skip


def _choose_example(result: GroupedRelease | GroupedEstimates) -> Release | Estimates:
    """One group's result, with winners and with counts if any group has them."""
    longest = max(size for size in result.sizes)
    each = result.parameters.each
    if each.has_sentinel and result.has_counts:
        longest = max(size for size in result.sizes if size < each.k)
    return result[result.groups[result.sizes.index(longest)]]


def _list_kinds(result: GroupedRelease | GroupedEstimates) -> list[str]:
    """What is explained: estimates, counts, gaps or names alone; with a threshold two of them."""
    if isinstance(result, GroupedEstimates):
        return ["estimates", "gaps"]
    if not result.has_gaps:
        return ["names"]
    each = result.parameters.each
    if each.noise == "laplace":
        return ["counts"]
    has_full = each.k in result.sizes
    return ["counts"] * result.has_counts + ["gaps"] * (has_full or not result.has_counts)


def _render_lists(
    result: GroupedRelease | GroupedEstimates,
    text: Mapping[str, str],
    level: "Number",
    kinds: list[str],
) -> str:
    each = result.parameters.each
    legends = [fill_template(f"legend_of_{kind}.html", text) for kind in kinds if kind != "names"]
    if isinstance(result, GroupedEstimates):
        legends = legends[:1]  # its bars are those of estimates
    notes = explain_grouped_threshold(each, result.groups, result.sizes, has_gaps=result.has_gaps)
    cautions = result.cautions(level)
    shown = "".join(f"<p>{escape(note)}</p>\n" for note in notes)
    shown += "".join(fill_template("near_the_end.html", {"bias": each}) for each in cautions)
    names = [f"<bdi>{escape(format_group(group))}</bdi>" for group in result.groups]
    index = [f'<li><a href="#g{place}">{name}</a></li>' for place, name in enumerate(names, 1)]
    heads = _Heads(text, level)
    ones: Iterable[Release | Estimates] = result.values()
    sections = [
        fill_template("group.html", {}, place=f"g{place}", group=name, list=heads.render(one))
        for place, (name, one) in enumerate(zip(names, ones, strict=True), 1)
    ]
    return fill_template(
        "groups.html",
        text,
        legend="\n".join(legends),
        notes=shown,
        open=" open" * (len(result) <= _FEW),
        index="\n".join(index),
        lists="".join(sections),
    )


class _Heads:
    """Renders the table of one group below the names of its columns."""

    def __init__(self, text: Mapping[str, str], level: "Number") -> None:
        self._text, self._level = text, level

    def render(self, one: Release | Estimates) -> str:
        """Return the table, or a sentence if there is no winner."""
        text = self._text
        interval = {"interval": f"{text['percent']} interval"}
        ahead = {"ahead": "Ahead of the next by"}
        if isinstance(one, Estimates):
            columns = {"estimate": "Estimate ± standard error"} | interval | ahead
            return self._tabulate(columns, render_estimates(one, self._level, with_gaps=True))
        if not len(one):
            above = "above" if one.parameters.has_sentinel else "that reached"
            return f"<p>No item {above} {escape(text['threshold'])}.</p>\n"
        if one.has_counts:
            head = {text["number_class"]: f"{text['number_head']} ± standard error"}
            return self._tabulate(head | interval | ahead, render_counts(one, self._level))
        if one.gaps is None:
            return self._tabulate({}, render_names(one))
        return self._tabulate(ahead, render_gaps(one, with_leads=False)[0])

    def _tabulate(self, columns: Mapping[str, str], rows: str) -> str:
        cells = [
            f'<th role="columnheader" scope="col" class="{kind}">{escape(name)}</th>'
            for kind, name in columns.items()
        ]
        return (
            '<table role="table"><thead role="rowgroup"><tr role="row">'
            '<th role="columnheader" scope="col" class="rank">Rank</th>'
            f'<th role="columnheader" scope="col">{self._text["item"]}</th>{"".join(cells)}'
            f'</tr></thead><tbody role="rowgroup">\n{rows}\n</tbody></table>\n'
        )
