"""The texts of the page of many groups that differ from those of one list."""

from fractions import Fraction

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
from topgap.report.details import Details
from topgap.report.number_words import describe_counts, describe_estimates
from topgap.report.numerals import find_numerals
from topgap.report.summary import name_number, summarize_groups
from topgap.report.words import describe_neighbours, describe_release, write_english


def describe_groups(
    result: GroupedRelease | GroupedEstimates,
    example: Release | Estimates,
    level: "Number",
    details: Details,
) -> dict[str, str]:
    """Return the text for each name in a template.

    Args:
        result: What is shown.
        example: The result of one group; its parameters are those of all.
        level: That of the intervals.
        details: What the publisher says.

    >>> from topgap import TopKByGroup
    >>> parameters = TopKByGroup(k=1, epsilon=1, groups_per_person=2, monotonic=True)
    >>> north = Release(parameters.each, None, [125], ["flu"])
    >>> regions = GroupedRelease(parameters, {"North": north})
    >>> text = describe_groups(regions, north, 0.95, Details())
    >>> text["epsilon"], text["epsilon_of_one"]
    ('1', '0.5')
    """
    parameters, each = result.parameters, result.parameters.each
    if isinstance(example, Estimates):
        text = describe_estimates(example, level, details)
    else:
        text = describe_release(example, details)
        text |= describe_counts(example, level, details) if example.has_counts else {}
    write = find_numerals(details.locale).write

    def exact(number: Fraction) -> str:
        return write(format_short(number))

    return {
        **text,
        "skip_to": "lists",
        "summary": summarize_groups(result, details),
        "groups": write(name_number(len(result))),
        "epsilon": exact(result.epsilon),
        "factor": write_english(format_likelihood_factor(result.epsilon)),
        "belief": write_english(format_surest_belief(result.epsilon)),
        "together": _describe_cost(result),
        "spent": exact(result.spent) if isinstance(result, GroupedRelease) else "",
        "last_gap": _describe_last_gap(each),
        "none": "",
        "last_place": "In a list with one item less than the most, all counts may be biased "
        "downward, because with one more there would be none.",
        "assumed": _describe_bounds(text["assumed"]),
        "lists_taken": "the lists of items and groups were",
        "k_meaning": text["k_meaning"].replace("named", "named in each group"),
        "scale_formula": text["scale_formula"]
        .replace("(ε to select)", "ε")
        .replace("ε", "(ε of one list)"),
        "neighbours": describe_neighbours_of_groups(each),
        "groups_per_person": write(str(parameters.groups_per_person)),
        "epsilon_of_one": exact(each.epsilon),
        "epsilon_of_one_meaning": _describe_share(result),
        "measurements_per_person": write(str(parameters.measurements_per_person)),
        "epsilon_to_select": exact(parameters.epsilon),
        "at_once": f"That all intervals hold at once in {write(format_share(read_level(level)))} "
        f"publications: each holds on its own, in its own group.",
        "percent": write(format_level(level)),
    }


def describe_neighbours_of_groups(each: TopK) -> str:
    """Return by what neighbouring data sets differ, of which each group gets a list.

    >>> describe_neighbours_of_groups(TopK(k=1, epsilon=1, monotonic=True))
    'one person added or removed'
    """
    return describe_neighbours(each).replace(
        " or replaced by another,",
        " or replaced by another, who may be in other groups if true numbers are counts,",
    )


def _describe_cost(result: GroupedRelease | GroupedEstimates) -> str:
    def exact(number: Fraction) -> str:
        return write_english(format_short(number))

    epsilon = exact(result.epsilon)
    if isinstance(result, GroupedEstimates):
        return (
            f"The lists of all groups together cost ε = {epsilon}: "
            f"{exact(result.parameters.epsilon)} to select, and "
            f"{exact(result.noise.epsilon or result.epsilon)} for each measurement, as "
            f"often as one person’s data can move one."
        )
    if result.spent < result.epsilon:
        return (
            f"The lists of all groups together were promised to cost at most ε = {epsilon}. "
            f"Because the threshold ended lists early, they cost {exact(result.spent)}."
        )
    return f"The lists of all groups together cost ε = {epsilon}, however many groups there are."


def _describe_share(result: GroupedRelease | GroupedEstimates) -> str:
    most = result.parameters.groups_per_person
    of_what = "ε to select" if isinstance(result, GroupedEstimates) else "ε"
    if most == 1:
        return f"Because each person counts in at most one group, each list gets all of {of_what}."
    return f"{of_what} divided by the groups per person. The noise of each list is made for this ε."


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
