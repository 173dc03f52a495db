"""The texts of the page of many groups that differ from those of one list."""

from topgap.display.numbers import (
    format_level,
    format_likelihood_factor,
    format_share,
    format_surest_belief,
)
from topgap.estimates import Estimates, GroupedEstimates
from topgap.numbers.format import format_short
from topgap.numbers.parse import Number, read_level
from topgap.parameters import TopK
from topgap.release import GroupedRelease, Release, format_threshold
from topgap.report.words import describe_counts, describe_estimates, describe_release


def describe_groups(
    result: GroupedRelease | GroupedEstimates, example: Release | Estimates, level: "Number"
) -> dict[str, str]:
    """Return the text for each name in a template.

    Args:
        result: What is shown.
        example: The result of one group; its parameters are those of all.
        level: That of the intervals.

    >>> from topgap import TopKByGroup
    >>> parameters = TopKByGroup(k=1, epsilon=1, groups_per_person=2, monotonic=True)
    >>> north = Release(parameters.each, None, [125], ["flu"])
    >>> text = describe_groups(GroupedRelease(parameters, {"North": north}), north, 0.95)
    >>> text["epsilon"], text["epsilon_of_one"]
    ('1', '0.5')
    """
    parameters, each = result.parameters, result.parameters.each
    if isinstance(example, Estimates):
        text = describe_estimates(example, level)
    else:
        text = describe_release(example)
        text |= describe_counts(example, level) if example.has_counts else {}
    return {
        **text,
        "skip_to": "lists",
        "summary": _summarize(result),
        "groups": name_number(len(result)),
        "of_a_group": " of a group",
        "epsilon": format_short(result.epsilon),
        "factor": format_likelihood_factor(result.epsilon),
        "belief": format_surest_belief(result.epsilon),
        "together": _describe_cost(result),
        "spent": format_short(result.spent) if isinstance(result, GroupedRelease) else "",
        "last_gap": _describe_last_gap(each),
        "none": "",
        "assumed": _describe_bounds(text["assumed"]),
        "lists_taken": "the list of items and that of groups were",
        "k_meaning": text["k_meaning"].replace("named", "named in each group"),
        "scale_formula": text["scale_formula"]
        .replace("(ε to select)", "ε")
        .replace("ε", "(ε of one list)"),
        "neighbours": text["neighbours"].replace(
            " or replaced by another,",
            " or replaced by another, who may be in other groups if true numbers are counts,",
        ),
        "groups_per_person": f"{parameters.groups_per_person:,}",
        "epsilon_of_one": format_short(each.epsilon),
        "epsilon_of_one_meaning": _describe_share(result),
        "data_head": "The lists themselves",
        "measurements_per_person": f"{parameters.measurements_per_person:,}",
        "epsilon_to_select": format_short(parameters.epsilon),
        "at_once": f"That all intervals hold at once in {format_share(read_level(level))} "
        f"publications: each does so for itself, in its own group.",
        "percent": format_level(level),
    }


def name_number(groups: int) -> str:
    """Return how many groups, in words.

    >>> name_number(1), name_number(3_000)
    ('1 group', '3,000 groups')
    """
    return "1 group" if groups == 1 else f"{groups:,} groups"


def _summarize(result: GroupedRelease | GroupedEstimates) -> str:
    each, groups = result.parameters.each, name_number(len(result))
    if each.threshold is not None:
        which = "above" if each.has_sentinel else "that reached"
        largest = f"The items {which} the threshold {format_threshold(each)}"
    else:
        items = "item" if each.k == 1 else f"{each.k:,} items"
        largest = f"The {items} that came out largest"
    named = f"{largest} in each of {groups}" if len(result) > 1 else f"{largest} in {groups}"
    if not result.has_gaps:
        return f"{named}."
    ahead = "how far each came out ahead of the next"
    if isinstance(result, GroupedEstimates):
        return f"{named}, {ahead}, and estimates of how many."
    if each.noise == "laplace":
        return f"{named}, the value of each, and {ahead}."
    counts = ", the count of each where the threshold ended the list" * result.has_counts
    return f"{named}{counts}, and {ahead}."


def _describe_cost(result: GroupedRelease | GroupedEstimates) -> str:
    epsilon = format_short(result.epsilon)
    if isinstance(result, GroupedEstimates):
        return (
            f"The lists of all groups together cost ε = {epsilon}: "
            f"{format_short(result.parameters.epsilon)} to select, and "
            f"{format_short(result.noise.epsilon or result.epsilon)} for each measurement, as "
            f"often as one person’s data can move one."
        )
    if result.spent < result.epsilon:
        return (
            f"The lists of all groups together were promised to cost at most ε = {epsilon}. As the "
            f"threshold ended lists early, they cost {format_short(result.spent)}."
        )
    return f"The lists of all groups together cost ε = {epsilon}, however many groups there are."


def _describe_share(result: GroupedRelease | GroupedEstimates) -> str:
    most = result.parameters.groups_per_person
    of_what = "ε to select" if isinstance(result, GroupedEstimates) else "ε"
    if most == 1:
        return f"As each person counts in one group at most, each list has all of {of_what}."
    return f"{of_what} divided by the groups per person. The noise of each list is made for this."


def _describe_last_gap(parameters: TopK) -> str:
    if parameters.threshold is None:
        return "The last gap is the lead over the first item that is not named."
    threshold, k = format_threshold(parameters), f"{parameters.k:,}"
    full = f"whatever came next, an item or {threshold}"
    if not parameters.has_sentinel:
        full = f"the next item, or over {threshold} if that is larger"
    return (
        f"The last gap is the lead over {threshold}; where {k} items are named, it is the lead "
        f"over {full}."
    )


def _describe_bounds(assumed: str) -> str:
    parts = assumed.removesuffix(" below are").removesuffix(" below is")
    return f"{parts.replace(' and ', ', ')} and the bound on the groups per person below are"
