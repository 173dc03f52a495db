"""The title, and the one sentence below it: what is named, and of whom."""

from topgap.estimates import GroupedEstimates
from topgap.parameters import TopK
from topgap.release import GroupedRelease, Release, format_threshold
from topgap.report.details import ITEM_WORD, Details
from topgap.report.numerals import find_numerals


def choose_title(parameters: TopK, details: Details) -> str:
    """Return the publisher's title, or one that says what is named.

    >>> choose_title(TopK(k=5, epsilon=1), Details())
    'The largest items'
    >>> choose_title(TopK(k=5, epsilon=1), Details(item_word="diagnoses"))
    'The top 5 diagnoses'
    """
    if details.title is not None:
        return details.title
    if details.item_word == ITEM_WORD:
        return "The largest items"
    has_number = parameters.threshold is None and parameters.k > 1
    number = find_numerals(details.locale).write(f"{parameters.k} ") if has_number else ""
    return f"The top {number}{details.item_word}"


def summarize_release(release: Release, details: Details) -> str:
    """Return what is named, and what the publisher says was counted.

    >>> release = Release(TopK(k=2, epsilon=1), [4, 0], [125, 3], ["flu", "cold"])
    >>> summarize_release(release, Details())
    'The 2 items that came out largest.'
    >>> words = {"item_word": "diagnoses", "person_word": "patients"}
    >>> summarize_release(release, Details(**words, counted="Each patient counts once."))
    'The 2 diagnoses with the most patients. Each patient counts once.'
    """
    if release.parameters.threshold is not None and not len(release):
        sentence = f"{find_numerals(details.locale).write(describe_none(release))}."
    else:
        sentence = f"{_name_largest(release.parameters, len(release), details)}."
    return _finish(sentence, details)


def summarize_groups(result: GroupedRelease | GroupedEstimates, details: Details) -> str:
    """Return the same for a list for each group."""
    each = result.parameters.each
    items = None if each.threshold is not None else each.k
    where = "each of " * (len(result) > 1) + name_number(len(result))
    return _finish(f"{_name_largest(each, items, details)} in {where}.", details)


def describe_none(release: Release) -> str:
    """Return that no item is named, without the full stop."""
    verb = "was above" if release.parameters.has_sentinel else "reached"
    return f"No item {verb} the threshold {format_threshold(release.parameters)}"


def name_number(groups: int) -> str:
    """Return how many groups, in words.

    >>> name_number(1), name_number(3_000)
    ('1 group', '3,000 groups')
    """
    return "1 group" if groups == 1 else f"{groups:,} groups"


def _name_largest(parameters: TopK, items: int | None, details: Details) -> str:
    """Name the items: so many, or all that are above the threshold."""
    write, word = find_numerals(details.locale).write, details.item_word
    if items == 1:
        which = "The item" if word == ITEM_WORD else f"Of all {word}, the one"
    else:
        which = f"The {word}" if items is None else f"The {write(str(items))} {word}"
    if parameters.threshold is not None:
        reached = "above" if parameters.has_sentinel else "that reached"
        return f"{which} {reached} the threshold {write(format_threshold(parameters))}"
    if details.person_word is not None:
        return f"{which} with the most {details.person_word}"
    return f"{which} that came out largest"


def _finish(sentence: str, details: Details) -> str:
    return sentence if details.counted is None else f"{sentence} {details.counted}"
