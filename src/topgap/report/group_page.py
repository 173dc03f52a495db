"""What a page shows of many groups: an index, a small chart for each, and one explanation."""

from collections.abc import Iterable, Mapping
from html import escape

from topgap.estimates import Estimates, GroupedEstimates
from topgap.numbers.parse import Number
from topgap.release import GroupedRelease, Release
from topgap.release.grouped_notes import explain_grouped_threshold, format_group
from topgap.report.caveats import render_caveats
from topgap.report.details import Details
from topgap.report.group_words import describe_groups
from topgap.report.parts import describe_bars, render_parameters
from topgap.report.table import Findings, render_table
from topgap.report.templates import Content, fill_template, read_file
from topgap.report.words import describe_domain

_FEW = 60
"""Up to so many groups the index is open, and a browser lays out all of them at once."""


def render_groups(
    result: GroupedRelease | GroupedEstimates, details: Details, level: "Number", json_id: str
) -> Content:
    """Return the parts of the page of many groups.

    Args:
        result: What is shown.
        details: What the publisher says.
        level: That of the intervals.
        json_id: The id of the element that holds the JSON.
    """
    example = _choose_example(result)
    release = example.release if isinstance(example, Estimates) else example
    text = describe_groups(result, example, level, details)
    text |= describe_domain(release, details)
    kinds = _list_kinds(result)
    parameters = render_parameters(example, release, text)
    parameters["shares"] = fill_template("parameters_of_groups.html", text)
    if isinstance(result, GroupedEstimates):
        parameters["shares"] += fill_template("shares_of_groups.html", text)
    # That of counts says what gaps say, too.
    read = [kind for kind in kinds if kind != "gaps" or "counts" not in kinds]
    lists, found = _render_lists(result, text, details, level, kinds)
    how_to_read = [render_caveats(found, text, in_order=details.in_order)]
    notes = explain_grouped_threshold(
        release.parameters, result.groups, result.sizes, has_gaps=result.has_gaps
    )
    if notes:
        said = escape(" ".join(notes))
        how_to_read.append(f"<li><strong>Threshold:</strong> {said}</li>")
    # Of a group that was not on the screen yet: about what its rows take, so that nothing jumps.
    rows = max(result.sizes)
    style = fill_template(
        "groups.css",
        {},
        height=f"{5 + 2.6 * rows:.0f}rem",
        height_on_phones=f"{5 + (4 if kinds == ['gaps'] else 4.8) * rows:.0f}rem",
        visibility="visible" if len(result) <= _FEW else "auto",
    )
    return Content(
        text,
        lists,
        "\n".join(how_to_read),
        "".join(fill_template(f"reading_of_{kind}.html", text) for kind in read),
        parameters,
        fill_template("data_of_groups.html", text),
        result.to_json(level),
        json_id,
        result.caveats,
        style,
        read_file("search.js"),
    )


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
    details: Details,
    level: "Number",
    kinds: list[str],
) -> tuple[str, Findings]:
    """Return the lists of all groups, and what is found in any of them."""
    each = result.parameters.each
    shown = [kind for kind in kinds if kind != "gaps" or "estimates" not in kinds]
    legend = " ".join(describe_bars(kind, text) for kind in shown)
    names = [f"<bdi>{escape(format_group(group))}</bdi>" for group in result.groups]
    index = [f'<li><a href="#g{place}">{name}</a></li>' for place, name in enumerate(names, 1)]
    found = Findings.of_nothing(has_gaps=result.has_gaps)
    sections = []
    ones: Iterable[Release | Estimates] = result.values()
    for place, (name, one) in enumerate(zip(names, ones, strict=True), 1):
        if len(one):
            table, more = render_table(one, text, details, level)
            found = found.join(more)
        else:
            above = "above" if each.has_sentinel else "that reached"
            table = f"<p>No item {above} {escape(text['threshold'])}.</p>\n"
        sections.append(fill_template("group.html", {}, place=f"g{place}", group=name, list=table))
    lists = fill_template(
        "groups.html",
        {**text, "legend": f"{legend} Bars of a group have one scale."},
        open=" open" * (len(result) <= _FEW),
        index="\n".join(index),
        lists="".join(sections),
    )
    return lists, found
