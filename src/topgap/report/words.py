"""The texts of the page that differ from release to release, by their names in the templates."""

from fractions import Fraction
from math import isinf, sqrt

from topgap._core import __version__
from topgap.display.numbers import (
    format_about,
    format_aligned,
    format_estimate,
    format_level,
    format_likelihood_factor,
    format_roughly,
    format_share,
    format_surest_belief,
)
from topgap.estimates import Estimates
from topgap.margins import NEAR_TIES, ONE_IN, count_to_stand_out, least_certain_gap
from topgap.numbers.format import format_short
from topgap.numbers.parse import Number, read_level
from topgap.parameters import TopK
from topgap.release import (
    Release,
    describe_room,
    explain_domain,
    explain_last_gap,
    format_domain,
    format_most_named,
    format_threshold,
)
from topgap.release.laplace_error import standard_error


def describe_release(release: Release) -> dict[str, str]:
    """Return the text for each name in a template.

    >>> from topgap import TopK
    >>> describe_release(Release(TopK(k=1, epsilon="1/2"), [4], [125]))["epsilon"]
    '0.5'
    """
    parameters = release.parameters
    has_threshold = parameters.threshold is not None
    by_position = any("index" in winner for winner in release.to_dict()["winners"])
    return {
        "version": __version__,
        "skip_to": "ranking",
        "of_a_group": "",
        "lists_taken": "the list of items was",
        "summary": _summarize(release),
        **(_MONOTONIC if parameters.monotonic else _NOT_MONOTONIC),
        **(_POSITIONS if by_position else _NAMES),
        **(_EXPONENTIAL if parameters.noise == "exponential" else _describe_laplace(parameters)),
        "k": format_most_named(parameters) if has_threshold else str(parameters.k),
        "k_meaning": f"How many items are named{' at most' * has_threshold}.",
        "threshold": format_threshold(parameters),
        "last_gap": _describe_last_gap(release),
        **_describe_cut(release),
        "epsilon": format_short(parameters.epsilon),
        "of_what": "of all that stands here",
        "published": "Whatever is published here",
        "reading": "this",
        "together": _describe_cost(release),
        "spent": format_short(release.spent),
        "factor": format_likelihood_factor(parameters.epsilon),
        "belief": format_surest_belief(parameters.epsilon),
        "resolution": format_short(parameters.resolution),
        "rounding": ", and gaps afterwards" if release.gaps and release.values is None else "",
        "sensitivity": format_short(parameters.sensitivity),
        "scale": format_short(parameters.scale),
        "spread": _format_spread(release),
        "certain_from": _format_certain_gap(parameters),
        "one_in": str(ONE_IN),
    }


def describe_counts(release: Release, level: "Number") -> dict[str, str]:
    """Return the further texts of a release with counts, or with values of Laplace noise.

    >>> from topgap import TopK
    >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
    >>> release = Release(few, None, [20, 4], ["flu", "cold"], value_units=[45, 25])
    >>> describe_counts(release, 0.95)["value_error"]
    '1.357'
    """
    errors = [each.standard_error for each in release.counts(level)]
    words = _VALUES if release.parameters.noise == "laplace" else _COUNTS
    return {
        **words,
        "came_out": "largest"
        if release.parameters.noise == "laplace"
        else f"above {format_threshold(release.parameters)}",
        "percent": format_level(level),
        "often": format_share(read_level(level)),
        "room": describe_room(release.parameters),
        "value_error": _format_error(max(errors, default=0.0)),
    }


def describe_domain(release: Release) -> dict[str, str]:
    """Return the texts about the domain of a release; none if it is unknown.

    >>> from topgap import TopK
    >>> from topgap.domains import DomainDescription
    >>> numbers = DomainDescription("the whole numbers from 0 to 999,999,999,999", 10**12)
    >>> release = Release(TopK(k=1, epsilon="1/2"), None, [125], [7], domain=numbers)
    >>> describe_domain(release)["domain"]
    'the whole numbers from 0 to 999,999,999,999 (1,000,000,000,000 items)'
    """
    domain, parameters = release.domain, release.parameters
    if domain is None:
        return {}
    words = {"domain": format_domain(domain), "domain_meaning": ""}
    if domain.is_listed:
        return words
    if parameters.threshold is not None:
        return {**words, "domain_meaning": f" {explain_domain(domain, parameters)[0]}"}
    count = format_roughly(count_to_stand_out(parameters, domain.size))
    lifted = "one of them" if parameters.k == 1 else f"{parameters.k:,} of them"
    meaning = (
        f" So an item named here need not occur in the data. Among so many items, noise alone "
        f"lifts {lifted} to about {count} or more, and an item needs a count of about {count} to "
        f"stand out."
    )
    return {**words, "domain_meaning": meaning}


def describe_estimates(estimates: Estimates, level: "Number") -> dict[str, str]:
    """Return the text for each name in a template, those of the release included.

    >>> from topgap import TopK, estimate
    >>> release = Release(TopK(k=1, epsilon="1/2"), [4], [125])
    >>> combined = estimate(release, [60], variance=8, noise="normal")
    >>> describe_estimates(combined, 0.95)["often"]
    '95 of 100'
    """
    share = format_share(read_level(level))
    base = describe_release(estimates.release)
    return {
        **base,
        "summary": base["summary"].replace(", and how far", ", how far").removesuffix(".")
        + ", and estimates of how many.",
        "scale_formula": base["scale_formula"].replace("ε", "(ε to select)"),
        "percent": format_level(level),
        "often": f"at least {share}" if estimates.noise.kind == "unknown" else share,
        "at_once": _describe_coverage(len(estimates), share),
        "measurement_error": _format_range(estimates.measurement_errors),
        "near_ties": NEAR_TIES,
        **(
            _describe_cost_of_selection(estimates)
            if estimates.epsilon is None
            else _describe_shares(estimates)
        ),
    }


def _summarize(release: Release) -> str:
    single = len(release) == 1
    if release.parameters.threshold is not None:
        return _summarize_cut(release)
    largest = f"The {'item' if single else f'{len(release)} items'} that came out largest"
    if release.gaps is None:
        return f"{largest}." if single else f"{largest}, from the largest down."
    if release.values is not None:
        its = "its value, and how far it" if single else "the value of each, and how far each"
        return f"{largest}, {its} came out ahead of the next."
    return f"{largest}, and how far {'it' if single else 'each'} came out ahead of the next."


def _summarize_cut(release: Release) -> str:
    threshold, k = format_threshold(release.parameters), len(release)
    if k == 0:
        return f"{_describe_none(release)}."
    which = "above" if release.parameters.has_sentinel else "that reached"
    named = f"The {'item' if k == 1 else f'{k} items'} {which} the threshold {threshold}"
    ahead = "how far each came out ahead of the next"
    if not release.has_counts:
        if release.gaps is None:
            return f"{named}." if k == 1 else f"{named}, from the largest down."
        return f"{named}, and {ahead}."
    name = "value" if release.parameters.noise == "laplace" else "count"
    if k == 1:
        return f"{named}, and its {name}."
    return f"{named}, the {name} of each, and {ahead}."


def _describe_none(release: Release) -> str:
    verb = "was above" if release.parameters.has_sentinel else "reached"
    return f"No item {verb} the threshold {format_threshold(release.parameters)}"


def _describe_last_gap(release: Release) -> str:
    if release.parameters.threshold is None:
        return "The last gap is the lead over the first item that is not named."
    return explain_last_gap(release.parameters, len(release))


def _describe_cut(release: Release) -> dict[str, str]:
    """What a threshold changes in the words."""
    is_next = release.parameters.has_sentinel
    return {
        "none": _describe_none(release),
        "lead_over": "whatever came next, an item or the threshold"
        if is_next
        else "the first item that is not named",
        "lead_head": "what came next" if is_next else "the first not named",
        "threshold_meaning": "Only items that came out above this are named. It took part in the "
        "ranking as an item does, with noise of its own, and was rounded down to a multiple of the "
        "resolution."
        if is_next
        else "Only items whose values reach this are named.",
    }


def _describe_cost(release: Release) -> str:
    epsilon, spent = format_short(release.epsilon), format_short(release.spent)
    if release.spent == release.epsilon:
        return f"All of it together costs ε = {epsilon}."
    return (
        f"All of it together was promised to cost at most ε = {epsilon}. As the threshold ended "
        f"the list early, it cost {spent}."
    )


def _describe_laplace(parameters: TopK) -> dict[str, str]:
    times = "" if parameters.monotonic else "2 · "
    return {
        "items_per_person": f"{parameters.items_per_person:,}",
        "scale_meaning": "The scale of the discrete Laplace noise that each true number gets",
        "scale_formula": f"{times}items per person · sensitivity / ε",
        "assumed": "the sensitivity and the bound on the items per person below are",
    }


def _format_spread(release: Release) -> str:
    """The standard deviation of a gap."""
    if release.parameters.noise == "laplace":
        return _format_error(sqrt(2) * standard_error(release.parameters))
    return format_about(release.parameters.scale * Fraction(sqrt(2)))


def _format_certain_gap(parameters: TopK) -> str:
    least = least_certain_gap(parameters)
    if parameters.noise == "laplace":  # a multiple of the resolution
        return format_aligned(least, parameters.resolution)
    return format_about(least)


def _format_error(error: float) -> str:
    return format_estimate(error, error) if isinf(error) else format_about(Fraction(error))


def _describe_shares(estimates: Estimates) -> dict[str, str]:
    whole, each = estimates.epsilon or Fraction(0), estimates.noise.epsilon or Fraction(0)
    selecting = estimates.release.epsilon
    return {
        "epsilon": format_short(whole),
        "factor": format_likelihood_factor(whole),
        "belief": format_surest_belief(whole),
        "together": f"All of it together costs ε = {format_short(whole)}: "
        f"{format_short(selecting)} to select, and {format_short(each)} for each measurement.",
        "epsilon_to_select": format_short(selecting),
        "epsilon_to_measure": format_short(each),
        "measurement_scale": format_short(estimates.noise.scales[0]),
    }


def _describe_cost_of_selection(estimates: Estimates) -> dict[str, str]:
    epsilon = format_short(estimates.release.epsilon)
    return {
        "of_what": "of the ranking; what the measurements cost comes on top",
        "published": "The ranking with its gaps",
        "reading": "the ranking",
        "together": f"The ranking with its gaps costs ε = {epsilon}. The measurements were made "
        f"elsewhere; what they cost comes on top, and the estimates cost nothing more.",
        "noise_kind": _NOISE_KINDS[estimates.noise.kind],
    }


def _describe_coverage(k: int, share: str) -> str:
    if k == 1:
        return "Anything about the items that are not named."
    return (
        f"That all {k} intervals hold at once in {share} publications: each does so for itself. "
        f"Wider ones that hold at once are in the JSON below, as simultaneous_interval."
    )


def _format_range(errors: tuple[float, ...]) -> str:
    least, most = (format_estimate(each, each) for each in (min(errors), max(errors)))
    return least if least == most else f"{least} to {most}"


_MONOTONIC = {
    "neighbours": "one person added or removed",
    "toss_up": "whether one person is in the data at all",
    "monotonic": "yes",
    "monotonic_meaning": "One person more moves all true numbers the same way, as it is with "
    "counts when a person is added or removed. Half the noise suffices for that.",
    "scale_formula": "k · sensitivity / ε",
}
_NOT_MONOTONIC = {
    "neighbours": "one person added, removed or replaced by another, as long as that moves no "
    "item’s true number by more than the sensitivity",
    "toss_up": "which of two versions of one person’s data is the true one",
    "monotonic": "no",
    "monotonic_meaning": "One person may move some true numbers up and others down, as it is when "
    "a person is replaced by another. That takes twice the noise.",
    "scale_formula": "2 · k · sensitivity / ε",
}
_EXPONENTIAL = {
    "items_per_person": "",
    "scale_meaning": "The mean of the exponential noise that each true number gets",
    "assumed": "the sensitivity below is",
}
_VALUES = {
    "number": "value",
    "number_class": "noisy",
    "number_head": "Value",
    "number_meaning": "the item’s true number with noise",
    "number_rule": "A value is the true number, rounded down to a multiple of the resolution, plus "
    "noise.",
    "gap_spread": "√2 times that of a value",
}
_COUNTS = {
    "number": "count",
    "number_class": "counted",
    "number_head": "Count",
    "number_meaning": "the estimate of the item’s true number",
    "number_rule": "A count is the threshold plus the gaps from the item down to it, and half a "
    "step of the resolution for each of these gaps. It has the noise of the item in it and that of "
    "the threshold; the latter is in all counts, which are off the same way by it.",
    "gap_spread": "√2 times the noise scale, as that of a count",
}
_NAMES = {"item": "Item", "item_note": ""}
_POSITIONS = {
    "item": "Position",
    "item_note": "; each goes by its position in the list of all items, counted from 0",
}
_NOISE_KINDS = {
    "laplace": "Their noise is Laplace noise.",
    "normal": "Their noise is normal.",
    "unknown": "Of their noise the variance alone is known.",
}
