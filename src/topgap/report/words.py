"""The texts of the page that differ from release to release, by their names in the templates."""

from collections.abc import Callable
from fractions import Fraction
from math import isinf, sqrt

from topgap._core import __version__
from topgap.display.numbers import (
    format_about,
    format_aligned,
    format_estimate,
    format_likelihood_factor,
    format_roughly,
    format_surest_belief,
)
from topgap.margins import ONE_IN, count_to_stand_out, least_certain_gap
from topgap.numbers.format import format_short
from topgap.parameters import TopK
from topgap.release import (
    Release,
    explain_domain,
    explain_last_gap,
    format_domain,
    format_most_named,
    format_threshold,
)
from topgap.release.laplace_error import standard_error
from topgap.report.details import Details
from topgap.report.numerals import find_numerals
from topgap.report.summary import describe_none, summarize_release

Write = Callable[[str], str]
"""Writes the numbers in a text as a locale does."""

write_english: Write = find_numerals("en").write
"""Writes the numbers of English sentences, in which 2,718 would be read as thousands."""


def describe_release(release: Release, details: Details) -> dict[str, str]:
    """Return the text for each name in a template.

    >>> from topgap import TopK
    >>> describe_release(Release(TopK(k=1, epsilon="1/2"), [4], [125]), Details())["epsilon"]
    '0.5'
    """
    parameters = release.parameters
    write = find_numerals(details.locale).write
    has_threshold = parameters.threshold is not None
    by_position = any("index" in winner for winner in release.to_dict()["winners"])
    return {
        "version": __version__,
        "skip_to": "ranking",
        "if_clear": "",
        "if_not_negative": ", if true numbers are not below 0" if details.in_order else "",
        "last_place": "With one more item there would be no counts, so all of them may be biased "
        "downward.",
        "domain_caveat": "",
        "lists_taken": "the list of items was",
        "summary": summarize_release(release, details),
        **(_MONOTONIC if parameters.monotonic else _NOT_MONOTONIC),
        "item": "Position" if by_position else name_items(details),
        "item_note": _BY_POSITION if by_position else "",
        **(
            _EXPONENTIAL
            if parameters.noise == "exponential"
            else _describe_laplace(parameters, write)
        ),
        "k": write(format_most_named(parameters) if has_threshold else str(parameters.k)),
        "k_meaning": f"How many items are named{' at most' * has_threshold}.",
        "threshold": write(format_threshold(parameters)),
        "last_gap": _describe_last_gap(release),
        **_describe_cut(release, write),
        "epsilon": write(format_short(parameters.epsilon)),
        "of_what": "",
        "published": "The content of this page",
        "reading": "this",
        "together": _describe_cost(release),
        "spent": write(format_short(release.spent)),
        "factor": write_english(format_likelihood_factor(parameters.epsilon)),
        "belief": write_english(format_surest_belief(parameters.epsilon)),
        "resolution": write(format_short(parameters.resolution)),
        "rounding": ", and gaps afterwards" if release.gaps and release.values is None else "",
        "sensitivity": write(format_short(parameters.sensitivity)),
        "scale": write(format_short(parameters.scale)),
        "spread": write(_format_spread(release)),
        "certain_from": write(_format_certain_gap(parameters)),
        "one_in": str(ONE_IN),
    }


def describe_neighbours(parameters: TopK) -> str:
    """Return by what neighbouring data sets differ.

    >>> describe_neighbours(TopK(k=1, epsilon=1, monotonic=True))
    'one person added or removed'
    """
    return (_MONOTONIC if parameters.monotonic else _NOT_MONOTONIC)["neighbours"]


def describe_domain(release: Release, details: Details) -> dict[str, str]:
    """Return the texts about the domain of a release; none if it is unknown.

    >>> from topgap import TopK
    >>> from topgap.domains import DomainDescription
    >>> numbers = DomainDescription("the whole numbers from 0 to 999,999,999,999", 10**12)
    >>> release = Release(TopK(k=1, epsilon="1/2"), None, [125], [7], domain=numbers)
    >>> describe_domain(release, Details())["domain"]
    'the whole numbers from 0 to 999,999,999,999 (1,000,000,000,000 items)'
    """
    domain, parameters = release.domain, release.parameters
    if domain is None:
        return {}
    write = find_numerals(details.locale).write
    words = {"domain": format_domain(domain), "domain_meaning": "", "domain_caveat": ""}
    if domain.is_listed:
        return words
    if parameters.threshold is not None:
        sentence = explain_domain(domain, parameters)[0]
        words["domain_caveat"] = sentence.removeprefix("An item named here ")
        return {**words, "domain_meaning": f" {sentence}"}
    count = write(format_roughly(count_to_stand_out(parameters, domain.size)))
    lifted = "one of them" if parameters.k == 1 else f"{write(str(parameters.k))} of them"
    meaning = (
        f" So an item named here need not occur in the data. Among so many items, noise alone "
        f"lifts {lifted} to about {count} or more, and an item needs a count of about {count} to "
        f"stand out."
    )
    words["domain_caveat"] = (
        f"need not occur in the data. An item needs a count of about {count} to stand out."
    )
    return {**words, "domain_meaning": meaning}


def name_items(details: Details) -> str:
    """Return the head of the column of items.

    >>> name_items(Details()), name_items(Details(item_word="diagnoses"))
    ('Item', 'Diagnoses')
    """
    return "Item" if details.item_word == "items" else capitalize(details.item_word)


def capitalize(word: str) -> str:
    """Return a word with its first letter as at the beginning of a sentence."""
    return word[:1].upper() + word[1:]


def _describe_last_gap(release: Release) -> str:
    if release.parameters.threshold is None:
        return "The last gap is the lead over the first item that is not named."
    return explain_last_gap(release.parameters, len(release))


def _describe_cut(release: Release, write: Write) -> dict[str, str]:
    """What a threshold changes in the words."""
    is_next = release.parameters.has_sentinel
    return {
        "none": write(describe_none(release)),
        "lead_over": "whatever came next, an item or the threshold"
        if is_next
        else "the first item that is not named",
        "threshold_meaning": "Only items that came out above this are named. It took part in the "
        "ranking like an item, with its own noise, rounded down to a multiple of the "
        "resolution."
        if is_next
        else "Only items whose values reach this are named.",
    }


def _describe_cost(release: Release) -> str:
    epsilon, spent = (
        write_english(format_short(each)) for each in (release.epsilon, release.spent)
    )
    if release.spent == release.epsilon:
        return f"All of it together costs ε = {epsilon}."
    return (
        f"All of it together was promised to cost at most ε = {epsilon}. Because the threshold "
        f"ended the list early, it cost {spent}."
    )


def _describe_laplace(parameters: TopK, write: Write) -> dict[str, str]:
    times = "" if parameters.monotonic else "2 · "
    return {
        "items_per_person": write(str(parameters.items_per_person)),
        "scale_meaning": "The scale of the discrete Laplace noise that each true number gets",
        "scale_formula": f"{times}items per person · sensitivity / ε",
        "assumed": "the sensitivity and the bound on the items per person below are",
    }


def _format_spread(release: Release) -> str:
    """The standard deviation of a gap."""
    if release.parameters.noise == "laplace":
        return format_error(sqrt(2) * standard_error(release.parameters))
    return format_about(release.parameters.scale * Fraction(sqrt(2)))


def _format_certain_gap(parameters: TopK) -> str:
    least = least_certain_gap(parameters)
    if parameters.noise == "laplace":  # a multiple of the resolution
        return format_aligned(least, parameters.resolution)
    return format_about(least)


def format_error(error: float) -> str:
    """Return a standard deviation, for people."""
    return format_estimate(error, error) if isinf(error) else format_about(Fraction(error))


_MONOTONIC = {
    "neighbours": "one person added or removed",
    "toss_up": "whether one person is in the data at all",
    "monotonic": "yes",
    "monotonic_meaning": "One person moves all true numbers in the same direction, as is true of "
    "counts if a person is added or removed. This takes half the noise.",
    "scale_formula": "k · sensitivity / ε",
}
_NOT_MONOTONIC = {
    "neighbours": "one person added, removed or replaced by another, as long as that moves no "
    "item’s true number by more than the sensitivity",
    "toss_up": "which of two versions of one person’s data is the true one",
    "monotonic": "no",
    "monotonic_meaning": "One person may move some true numbers up and others down, for example if "
    "a person is replaced by another. This takes twice the noise.",
    "scale_formula": "2 · k · sensitivity / ε",
}
_EXPONENTIAL = {
    "items_per_person": "",
    "scale_meaning": "The mean of the exponential noise that each true number gets",
    "assumed": "the sensitivity below is",
}
_BY_POSITION = " Items are named by their positions in the list of all items, counted from 0."
