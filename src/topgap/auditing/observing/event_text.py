"""Descriptions of events, which are sets of labels of an observable."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from topgap.auditing.observing.gap_bins import Edges, GapBins, bin_end
from topgap.auditing.observing.observables import (
    ALL_LAST_BITS,
    ITEMS,
    ITEMS_AND_GAPS,
    ITEMS_VALUES_AND_LAST_GAP,
    JOINT_MODULUS,
    MODULUS,
    MOST_DIGITS,
)
from topgap.auditing.observing.value_bins import ValueBins, value_range
from topgap.parameters import TopK

Range = tuple[int | None, int | None]
"""From the first number up to, but excluding, the second; None for no end on that side."""

_LISTED = 3  # alternatives that are spelled out
_READABLE = 10**15


def describe_event(feature: str, event: Iterable[Hashable], bins: GapBins) -> str:
    """Describe an event, which is a set of labels of this observable.

    >>> bins = GapBins(*[((0, 1, 2, 5),)] * 3, 1, 1)
    >>> describe_event("items and size of gap 1", [((2, 0), 1), ((2, 0), 2)], bins)
    'items 2, 0 with gap 1 of 1 to 4 steps'
    """
    labels = list(event)
    if not labels:
        return "what never came"
    if feature == ITEMS:
        said = sorted(_items(each) for each in labels)
    elif feature == ITEMS_AND_GAPS:
        said = [describe_items_and_gaps(each, bins.joint) for each in sorted(labels)]  # type: ignore[type-var]
    elif feature == ITEMS_VALUES_AND_LAST_GAP:
        said = [_describe_values_and_last_gap(each, bins) for each in sorted(labels)]  # type: ignore[type-var]
    elif feature.startswith("low bits"):
        said = sorted(_describe_low_bits(each) for each in labels)
        said[0] = f"{feature.removeprefix('low bits of ')} being {said[0]}"
    elif feature == ALL_LAST_BITS:
        said = [_describe_all_last_bits(each) for each in sorted(labels)]  # type: ignore[type-var]
    elif feature.startswith("last bits"):
        said = _describe_last_bits(feature.removeprefix("last bits of "), labels)
    elif feature.startswith("items and size of"):
        gap = feature.rpartition("of ")[2]
        edges = bins.fine[int(gap.split()[1]) - 1]
        said = _describe_sizes(gap, labels, lambda first: _size_range(first, edges))
    else:
        value = feature.removeprefix("items and ")
        assert bins.values is not None  # noqa: S101 - or there was no such observable
        fine = bins.values.fine[int(value.split()[1]) - 1]
        said = _describe_sizes(value, labels, lambda number: value_range(number, fine))
    more = len(said) - _LISTED
    return " or ".join(said[:_LISTED]) + (f" or {more} more" if more > 0 else "")


def describe_number(winners: int | None, feature: str, said: str, parameters: TopK) -> str:
    """Say how many winners there are, where their number can vary and the event does not name them.

    >>> describe_number(1, "low bits of gap 1", "gap 1 being 0", TopK(2, 1, threshold=5))
    '1 winner with gap 1 being 0'
    """
    if winners is None or parameters.threshold is None or feature.startswith(ITEMS):
        return said
    return f"{winners} winner{'s' * (winners > 1)} with {said}"


def describe_items(first: tuple[int, ...], *, more: bool) -> str:
    """Describe the winners, or the first of them.

    >>> describe_items((3, 1), more=False), describe_items((3, 1), more=True)
    ('items 3, 1', 'items 3, 1, …')
    >>> describe_items((), more=True), describe_items((), more=False)
    ('any items', 'no item')
    """
    return "any items" if more and not first else f"{_items(first)}{', …' * more}"


def _items(indices: object) -> str:
    assert isinstance(indices, tuple)  # noqa: S101 - as `_labels` makes them
    if not indices:
        return "no item"
    return f"item{'s' * (len(indices) > 1)} {', '.join(map(_number, indices))}"


def _number(index: int) -> str:
    """An index in few characters; a broken function may return any."""
    if abs(index) < _READABLE:
        return str(index)
    return f"{'-' * (index < 0)}2^{abs(index).bit_length() - 1} or more"


def describe_items_and_gaps(label: object, joint: tuple[Edges, ...]) -> str:
    """Describe the winners and the bin of each gap."""
    assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
    indices, firsts = label
    ranges = [format_range(*_size_range(*each)) for each in zip(firsts, joint, strict=False)]
    steps = ", ".join(ranges)
    return f"{_items(indices)} with gap{'s' * (len(ranges) > 1)} of {steps} {_unit(steps)}"


def _describe_values_and_last_gap(label: object, bins: GapBins) -> str:
    assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
    assert bins.values is not None  # noqa: S101 - or there was no such observable
    indices, numbers = label
    return f"{_items(indices)} with {describe_values_and_last_gap(numbers, bins.values)}"


def describe_values_and_last_gap(numbers: tuple[int, ...], bins: ValueBins) -> str:
    """Describe a bin of each value, and one of the last gap.

    >>> bins = ValueBins((), (), ((-2, 3), (0,)), (0, 1), 2)
    >>> describe_values_and_last_gap((1, 0, 1), bins)
    'values of -2 to 2, less than 0 steps and a last gap of 1 or more steps'
    """
    *values, gap = numbers
    ranges = [value_range(*each) for each in zip(values, bins.joint, strict=True)]
    said = ", ".join(format_range(*each) for each in ranges)
    last = format_steps(*_size_range(gap, bins.last_gap))
    return f"value{'s' * (len(ranges) > 1)} of {said} {_unit(said)} and a last gap of {last}"


def _size_range(first: int, edges: Edges) -> Range:
    """The range of a gap's bin, by its first step; −1 for negative gaps."""
    return (None, 0) if first < 0 else (first, bin_end(first, edges))


def format_range(first: int | None, end: int | None) -> str:
    """Format a range by its first and its last number.

    >>> format_range(3, 4), format_range(-3, 9), format_range(3, None), format_range(None, 0)
    ('3', '-3 to 8', '3 or more', 'less than 0')
    """
    if first is None:
        return "any number of" if end is None else f"less than {end}"
    if end is None:
        return f"{first} or more"
    return str(first) if end == first + 1 else f"{first} to {end - 1}"


def format_steps(first: int | None, end: int | None) -> str:
    """Format a range with its unit.

    >>> format_steps(1, 2), format_steps(3, 9)
    ('1 step', '3 to 8 steps')
    """
    said = format_range(first, end)
    return f"{said} {_unit(said)}"


def _describe_all_last_bits(label: object) -> str:
    assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
    return f"gaps that leave {', '.join(map(str, label))} when divided by {JOINT_MODULUS} steps"


def _describe_last_bits(number: str, labels: list[Hashable]) -> list[str]:
    describe = _describe_signed_digits if number.startswith("value") else _describe_digits
    by_size: dict[int, list[int]] = {}
    for label in labels:
        assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
        by_size.setdefault(label[0], []).append(label[1])
    return [
        f"{number} of {describe(digits)} steps that leave "
        f"{', '.join(map(str, sorted(left)))} when divided by {MODULUS}"
        for digits, left in sorted(by_size.items())
    ]


def _describe_digits(digits: int) -> str:
    if digits <= 0:
        return "less than 0" if digits else "0"
    return format_range(1 << (digits - 1), None if digits == MOST_DIGITS else 1 << digits)


def _describe_signed_digits(digits: int) -> str:
    if digits >= 0:
        return _describe_digits(digits)
    first = None if digits == -MOST_DIGITS else 1 - (1 << -digits)
    return format_range(first, 1 - (1 << (-digits - 1)))


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


def _describe_sizes(
    number: str, labels: list[Hashable], range_of: Callable[[int], Range]
) -> list[str]:
    """Describe sizes of a gap, or a value, with adjacent bins as one range."""
    by_items: dict[object, list[int]] = {}
    for label in labels:
        assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
        by_items.setdefault(label[0], []).append(label[1])
    said = []
    for indices, sizes in sorted(by_items.items(), key=_by_items):
        ranges: list[Range] = []
        for size in sorted(sizes):
            first, end = range_of(size)
            if ranges and first is not None and ranges[-1][1] == first:
                ranges[-1] = ranges[-1][0], end
            else:
                ranges.append((first, end))
        each = ", ".join(format_range(*one) for one in ranges[:_LISTED])
        others = f" and {len(ranges) - _LISTED} ranges more" * (len(ranges) > _LISTED)
        said.append(f"{_items(indices)} with {number} of {each}{others} {_unit(each)}")
    return said


def _by_items(each: tuple[object, list[int]]) -> Any:
    return each[0]


def _unit(steps: str) -> str:
    return "step" if steps == "1" else "steps"
