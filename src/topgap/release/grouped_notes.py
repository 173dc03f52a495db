"""What is said once below the lists of many groups: their parameters, and which to beware of."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from topgap.display.items import format_item
from topgap.display.numbers import format_level
from topgap.display.text import to_line
from topgap.domains import DomainDescription
from topgap.grouped_parameters import TopKByGroup
from topgap.margins import NEAR_TIES, least_certain_gap, takes_last_place
from topgap.numbers.format import format_short
from topgap.numbers.parse import LEVEL, Number
from topgap.parameters import TopK
from topgap.release.notes import explain_domain, explain_noise, format_domain
from topgap.release.threshold_notes import explain_last_gap, format_threshold

_MOST_NAMED = 5
_LONGEST_NAME = 40


def format_group(group: object) -> str:
    """Return the name of a group on one line; quotation marks if there is nothing to see.

    >>> format_group(("North", 2024)), format_group(" ")
    ('North, 2024', '" "')
    """
    name = to_line(format_item(group))
    return name if name.strip() else f'"{name}"'


def name_all(groups: int) -> str:
    """Return in words that something is for all groups.

    >>> name_all(3_000), name_all(1)
    ('all 3,000 groups together', '1 group')
    """
    return f"all {groups:,} groups together" if groups > 1 else "1 group"


def name_groups(found: Sequence[Any], total: int) -> str:
    """Return which groups, in words: a few by name, and many by number.

    >>> name_groups(["North", "South"], 20), name_groups([*range(12)], 3_000)
    ('in 2 of 20 groups (North, South)', 'in 12 of 3,000 groups')
    >>> name_groups([1, 2], 2), name_groups([1], 1)
    ('in all 2 groups', 'in the group')
    """
    if len(found) == total:
        return f"in all {total:,} groups" if total > 1 else "in the group"
    many = f"in {len(found):,} of {total:,} groups"
    if len(found) > _MOST_NAMED:
        return many
    names = [format_group(each) for each in found]
    shown = [name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…" for name in names]
    return f"{many} ({', '.join(shown)})"


def format_grouped_note(
    parameters: TopKByGroup,
    cost: str,
    domain: DomainDescription | None,
    groups: Sequence[Any],
    sizes: Sequence[int],
    *,
    has_gaps: bool,
    has_counts: bool,
) -> str:
    """Return the lines below a table of all groups.

    Args:
        parameters: The parameters of the lists.
        cost: What all of it has cost, in words.
        domain: Which items took part, if that is known.
        groups: The groups.
        sizes: How many winners each has.
        has_gaps: Whether the lists have gaps.
        has_counts: Whether the table has counts, or values of Laplace noise.

    >>> parameters = TopKByGroup(k=3, epsilon=1, groups_per_person=2, monotonic=True)
    >>> cost = "ε = 1 for all 2 groups together"
    >>> marks = {"has_gaps": True, "has_counts": False}
    >>> print(format_grouped_note(parameters, cost, None, ["N", "S"], [3, 3], **marks))
    ε = 1 for all 2 groups together
    Each person counts in at most 2 groups, and each list has ε = 0.5, resolution 0.1, \
sensitivity 1, monotonic.
    """
    each = parameters.each
    most = parameters.groups_per_person
    person = "1 group" if most == 1 else f"{most:,} groups"
    epsilon, *steps = map(format_short, (each.epsilon, each.resolution, each.sensitivity))
    listed = f"ε = {epsilon}, resolution {steps[0]}, sensitivity {steps[1]}"
    notes = [
        *explain_grouped_threshold(each, groups, sizes, has_gaps=has_gaps),
        cost,
        f"Each person counts in at most {person}, and each list has {listed}"
        f"{', monotonic' * each.monotonic}.",
        *explain_noise(each, has_counts=has_counts),
    ]
    if domain is not None:
        notes += [f"domain: {format_domain(domain)}", *explain_domain(domain, each)]
    return "\n".join(notes)


def explain_grouped_threshold(
    parameters: TopK, groups: Sequence[Any], sizes: Sequence[int], *, has_gaps: bool
) -> list[str]:
    """Return the sentences about how far the threshold cut the lists; none if there is none.

    >>> few = TopK(k=9, epsilon=1, threshold=500)
    >>> for line in explain_grouped_threshold(few, ["N", "S", "W"], [0, 9, 2], has_gaps=True):
    ...     print(line)
    No item was above 500, noise included, in 1 of 3 groups (N).
    9 items were above 500, as many as are named at most, in 1 of 3 groups (S). The last gap is \
the lead over whatever came next, an item or 500, so there are no counts.
    In all others the last gap is the lead over 500.
    """
    if parameters.threshold is None:
        return []
    threshold, k, total = format_threshold(parameters), parameters.k, len(groups)
    empty = [group for group, size in zip(groups, sizes, strict=True) if size == 0]
    full = [group for group, size in zip(groups, sizes, strict=True) if size == k]
    sentinel = parameters.has_sentinel
    sentences = [] if sentinel else [f"Cut at {threshold}."]
    if empty:
        none = (
            f"No item was above {threshold}, noise included" if sentinel else "No item reached it"
        )
        sentences.append(f"{none}, {name_groups(empty, total)}.")
    if full:
        items = "1 item" if k == 1 else f"{k:,} items"
        was = "was" if k == 1 else "were"
        reached = f"{items} {was} above {threshold}" if sentinel else f"{items} reached it"
        last = f" {explain_last_gap(parameters, k)}" * has_gaps
        sentences.append(
            f"{reached}, as many as are named at most, {name_groups(full, total)}.{last}"
        )
    rest = total - len(empty) - len(full)
    if has_gaps and rest:
        where = "In all others the" if empty or full else "The"
        last = explain_last_gap(parameters, 0 if k else 1).removeprefix("The")
        sentences.append(f"{where}{last}")
    return sentences


def explain_grouped_bias(
    parameters: TopK,
    groups: Sequence[Any],
    gap_units: Iterable[Sequence[int]],
    level: "Number" = LEVEL,
) -> list[str]:
    """Return the sentences about groups whose counts, or values, are biased, as `explain_bias`.

    Args:
        parameters: The parameters of each list, which has counts or values.
        groups: The groups.
        gap_units: The gaps of each, in steps of the resolution.
        level: That of the intervals.

    >>> few = TopK(k=4, epsilon=1, items_per_person=2, monotonic=True)   # 9 is called certain
    >>> for line in explain_grouped_bias(few, ["N", "S"], [(40, 30, 20, 5), (40, 3, 30, 20)]):
    ...     print(line)
    An order is uncertain in 1 of 2 groups (S). Noise helped to decide it, so the value ahead is \
biased upward and the value behind downward.
    Places at the end of the list are uncertain in 1 of 2 groups (N). Noise helped to name the \
items, so their values are biased upward on average, and their intervals cover less often than 95%.
    """
    least, name = _least_certain_units(parameters), "value"
    if parameters.noise != "laplace":
        name = "count"
    tied, late, last = [], [], []
    for group, gaps in zip(groups, gap_units, strict=True):
        if not gaps or (parameters.has_sentinel and len(gaps) == parameters.k):
            continue  # it has no counts
        leads = [*accumulate(reversed(gaps))][::-1]
        late += [group] * (leads[-1] < least)
        pairs = zip(gaps[:-1], leads, strict=False)
        tied += [group] * any(gap < least <= lead for gap, lead in pairs)
        last += [group] * takes_last_place(parameters, len(gaps))
    total, sentences = len(groups), []
    if tied:
        sentences.append(
            f"An order is uncertain {name_groups(tied, total)}. Noise helped to decide it, so the "
            f"{name} ahead is biased upward and the {name} behind downward."
        )
    if late:
        sentences.append(
            f"Places at the end of the list are uncertain {name_groups(late, total)}. Noise helped "
            f"to name the items, so their {name}s are biased upward on average, and their "
            f"intervals cover less often than {format_level(level)}."
        )
    if last:
        sentences.append(
            f"With one more item there would be no counts {name_groups(last, total)}. Noise of the "
            f"threshold may have helped to end the list there, so all counts may be biased "
            f"downward."
        )
    return sentences


def explain_near_ties(
    parameters: TopK, groups: Sequence[Any], gap_units: Iterable[Sequence[int]]
) -> list[str]:
    """Return the sentence about groups whose estimates may be biased, if there are any."""
    least = _least_certain_units(parameters)
    found = [
        group
        for group, gaps in zip(groups, gap_units, strict=True)
        if any(gap < least for gap in gaps)
    ]
    if not found:
        return []
    where = name_groups(found, len(groups))
    return [f"An order or the last place is uncertain {where}. {NEAR_TIES}"]


def _least_certain_units(parameters: TopK) -> int:
    """The least number of steps that is called certain."""
    return -(-least_certain_gap(parameters) // parameters.resolution)
