"""What an observer may look at: functions from outcomes to labels, the same for all mechanisms.

Whatever is made of a private output is private, so each of these must keep the promise of ε; and
what breaks it shows in one of them at least, if the audit is to find it.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from topgap.auditing.observing.gap_bins import Edges, GapBins, bin_end, bin_start
from topgap.auditing.observing.outcomes import Gap, MinusZero, OffGrid, Outcome, explain_impossible

Labels = Counter[Hashable]
ITEMS_AND_GAPS, ITEMS, ALL_LAST_BITS = "items and gaps", "items", "last bits of all gaps"
MODULUS = 8
"""Whole steps are told apart by what is left of them when they are divided by this."""
_JOINT_MODULUS = 4
_FARTHEST = 128
_LISTED = 3
_READABLE = 10**15


class Tally(NamedTuple):
    """How often each label came, for each feature.

    Attributes:
        releases: How many outcomes were looked at.
        counts: For each feature, how often it had each label.
        impossible: How often something came that no answers can give.
    """

    releases: int
    counts: tuple[Labels, ...]
    impossible: Counter[str]

    def __add__(self, other: "Tally") -> "Tally":  # type: ignore[override]
        return Tally(
            self.releases + other.releases,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            self.impossible + other.impossible,
        )


def list_observables(k: int, *, gaps: bool) -> tuple[str, ...]:
    """The features of an outcome, by name.

    >>> list_observables(1, gaps=True)[:3]
    ('items and gaps', 'items', 'items and size of gap 1')
    >>> list_observables(1, gaps=True)[3:]
    ('low bits of gap 1', 'last bits of gap 1')
    """
    if not gaps:
        return (ITEMS,)
    each = ("items and size of gap", "low bits of gap", "last bits of gap")
    of_gaps = [f"{name} {i + 1}" for name in each for i in range(k)]
    return (ITEMS_AND_GAPS, ITEMS, *of_gaps, *[ALL_LAST_BITS] * (k > 1))


def tally_outcomes(outcomes: Mapping[Outcome, int], items: int, bins: GapBins) -> Tally:
    """Count the labels of these outcomes.

    Args:
        outcomes: How often each came.
        items: How many items there are.
        bins: The ranges that sizes of gaps are sorted into.
    """
    counts: list[Labels] = []
    wrong: Counter[str] = Counter()
    for outcome, times in outcomes.items():
        labels = _labels(outcome, bins)
        counts = counts or [Counter() for _ in labels]
        for count, label in zip(counts, labels, strict=True):
            count[label] += times
        why = explain_impossible(outcome, items)
        if why is not None:
            wrong[why] += times
    return Tally(sum(outcomes.values()), tuple(counts), wrong)


def _labels(outcome: Outcome, bins: GapBins) -> list[Hashable]:
    indices, gaps = outcome
    if gaps is None:
        return [indices]
    steps = [gap if type(gap) is int else _below(gap) for gap in gaps]
    whole = tuple([bin_start(each, edges) for each, edges in zip(steps, bins.joint, strict=True)])
    sizes = [bin_start(each, edges) for each, edges in zip(steps, bins.fine, strict=True)]
    labels: list[Hashable] = [(indices, whole), indices, *[(indices, size) for size in sizes]]
    labels += map(_low_bits, gaps)
    labels += [(_binary_digits(each), each % MODULUS) for each in steps]
    if len(steps) > 1:
        labels.append(tuple([each % _JOINT_MODULUS for each in steps]))
    return labels


def _below(gap: Gap) -> int:
    return gap if isinstance(gap, int) else gap.steps


def _binary_digits(steps: int) -> int:
    """How many there are, up to a hundred and some; −1 for what is below 0."""
    return min(steps.bit_length(), _FARTHEST) if steps >= 0 else -1


def _low_bits(gap: Gap) -> Hashable:
    """The lowest bit that is set, in steps, or in units where the gap is not a multiple of them."""
    if isinstance(gap, MinusZero):
        return ("minus zero",)
    if isinstance(gap, OffGrid):
        far = gap.lowest_bit
        return ("off", None if far is None else max(far, -_FARTHEST))
    if gap == 0:
        return ("zero",)
    return ("on", min((gap & -gap).bit_length() - 1, _FARTHEST))


def describe_event(feature: str, event: Iterable[Hashable], bins: GapBins) -> str:
    """An event, which is a set of labels, as a person would say it.

    >>> bins = GapBins(*[((0, 1, 2, 5),)] * 3, 1, 1)
    >>> describe_event("items and size of gap 1", [((2, 0), 1), ((2, 0), 2)], bins)
    'items 2, 0 with gap 1 of 1 to 4 steps'
    """
    labels = list(event)
    if feature == ITEMS:
        said = sorted(_items(each) for each in labels)
    elif feature == ITEMS_AND_GAPS:
        said = [describe_items_and_gaps(each, bins.joint) for each in sorted(labels)]  # type: ignore[type-var]
    elif feature.startswith("low bits"):
        said = sorted(_describe_low_bits(each) for each in labels)
        said[0] = f"{feature.removeprefix('low bits of ')} being {said[0]}"
    elif feature == ALL_LAST_BITS:
        said = [_describe_all_last_bits(each) for each in sorted(labels)]  # type: ignore[type-var]
    elif feature.startswith("last bits"):
        said = _describe_last_bits(feature.removeprefix("last bits of "), labels)
    else:
        gap = feature.rpartition("of ")[2]
        said = _describe_sizes(gap, labels, bins.fine[int(gap.split()[1]) - 1])
    more = len(said) - _LISTED
    return " or ".join(said[:_LISTED]) + (f" or {more} more" if more > 0 else "")


def describe_items(first: tuple[int, ...], *, more: bool) -> str:
    """Winners, perhaps the first of more.

    >>> describe_items((3, 1), more=False), describe_items((3, 1), more=True)
    ('items 3, 1', 'items 3, 1, …')
    >>> describe_items((), more=True)
    'any items'
    """
    return f"{_items(first)}{', …' * more}" if first else "any items"


def _items(indices: object) -> str:
    assert isinstance(indices, tuple)  # noqa: S101 - as `_labels` makes them
    return f"item{'s' * (len(indices) > 1)} {', '.join(map(_number, indices))}"


def _number(index: int) -> str:
    """An index that somebody may have made up, in few characters."""
    if abs(index) < _READABLE:
        return str(index)
    return f"{'-' * (index < 0)}2^{abs(index).bit_length() - 1} or more"


def describe_items_and_gaps(label: object, joint: tuple[Edges, ...]) -> str:
    """Winners, and the range of each gap."""
    assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
    indices, firsts = label
    ranges = [format_range(a, bin_end(a, edges)) for a, edges in zip(firsts, joint, strict=True)]
    steps = ", ".join(ranges)
    return f"{_items(indices)} with gap{'s' * (len(ranges) > 1)} of {steps} {_unit(steps)}"


def format_range(first: int, end: int | None) -> str:
    """From where it begins to the last before its end.

    >>> format_range(3, 4), format_range(3, 9), format_range(3, None), format_range(-1, 0)
    ('3', '3 to 8', '3 or more', 'less than 0')
    """
    if first < 0:
        return "less than 0"
    if end is None:
        return f"{first} or more"
    return str(first) if end == first + 1 else f"{first} to {end - 1}"


def format_steps(first: int, end: int | None) -> str:
    """The same with its unit.

    >>> format_steps(1, 2), format_steps(3, 9)
    ('1 step', '3 to 8 steps')
    """
    said = format_range(first, end)
    return f"{said} {_unit(said)}"


def _describe_all_last_bits(label: object) -> str:
    assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
    return f"gaps that leave {', '.join(map(str, label))} when divided by {_JOINT_MODULUS} steps"


def _describe_last_bits(gap: str, labels: list[Hashable]) -> list[str]:
    by_size: dict[int, list[int]] = {}
    for label in labels:
        assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
        by_size.setdefault(label[0], []).append(label[1])
    return [
        f"{gap} of {_describe_digits(digits)} steps that leave "
        f"{', '.join(map(str, sorted(left)))} when divided by {MODULUS}"
        for digits, left in sorted(by_size.items())
    ]


def _describe_digits(digits: int) -> str:
    if digits <= 0:
        return "less than 0" if digits else "0"
    return format_range(1 << (digits - 1), None if digits == _FARTHEST else 1 << digits)


def _describe_low_bits(label: object) -> str:
    match label:
        case ("zero",):
            return "0"
        case ("minus zero",):
            return "-0.0"
        case ("on", power):
            return f"an odd multiple of 2^{power} steps"
        case ("off", None):
            return "no binary fraction"
        case _:
            assert isinstance(label, tuple)  # noqa: S101 - as `_low_bits` makes them
            return f"an odd multiple of 2^{label[1]}"


def _describe_sizes(gap: str, labels: list[Hashable], edges: Edges) -> list[str]:
    """Sizes that follow each other are said as one range."""
    by_items: dict[object, list[int]] = {}
    for label in labels:
        assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
        by_items.setdefault(label[0], []).append(label[1])
    said = []
    for indices, sizes in sorted(by_items.items(), key=_by_items):
        ranges: list[tuple[int, int | None]] = []
        for size in sorted(sizes):
            end = 0 if size < 0 else bin_end(size, edges)
            if ranges and ranges[-1][1] == size:
                ranges[-1] = ranges[-1][0], end
            else:
                ranges.append((size, end))
        each = ", ".join(format_range(*one) for one in ranges[:_LISTED])
        others = f" and {len(ranges) - _LISTED} ranges more" * (len(ranges) > _LISTED)
        said.append(f"{_items(indices)} with {gap} of {each}{others} {_unit(each)}")
    return said


def _by_items(each: tuple[object, list[int]]) -> Any:
    return each[0]


def _unit(steps: str) -> str:
    return "step" if steps == "1" else "steps"
