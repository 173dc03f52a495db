"""The texts of the page that differ from release to release, by their names in the templates."""

from fractions import Fraction
from math import sqrt

from topgap._core import __version__
from topgap.display.numbers import (
    format_about,
    format_estimate,
    format_level,
    format_likelihood_factor,
    format_roughly,
    format_share,
    format_short,
    format_surest_belief,
)
from topgap.estimates import Estimates
from topgap.margins import NEAR_TIES, ONE_IN, count_to_stand_out, least_certain_gap
from topgap.numbers.parse import Number, read_level
from topgap.release import Release, format_domain


def describe_release(release: Release) -> dict[str, str]:
    """Return the text for each name in a template.

    >>> from topgap import TopK
    >>> describe_release(Release(TopK(k=1, epsilon="1/2"), [4], [125]))["epsilon"]
    '1/2 = 0.5'
    """
    parameters = release.parameters
    return {
        "version": __version__,
        "summary": _summarize(release),
        **(_MONOTONIC if parameters.monotonic else _NOT_MONOTONIC),
        **(_POSITIONS if "index" in release.to_dict()["winners"][0] else _NAMES),
        "k": str(parameters.k),
        "epsilon": format_short(parameters.epsilon),
        "of_what": "of all that stands here",
        "published": "Whatever is published here",
        "reading": "this",
        "together": f"All of it together costs ε = {format_short(parameters.epsilon)}.",
        "factor": format_likelihood_factor(parameters.epsilon),
        "belief": format_surest_belief(parameters.epsilon),
        "resolution": format_short(parameters.resolution),
        "rounding": "" if release.gaps is None else ", and gaps afterwards",
        "sensitivity": format_short(parameters.sensitivity),
        "scale": format_short(parameters.scale),
        "spread": format_about(parameters.scale * Fraction(sqrt(2))),
        "certain_from": format_about(least_certain_gap(parameters)),
        "one_in": str(ONE_IN),
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
    count = format_roughly(count_to_stand_out(parameters, domain.size))
    lifted = "one of them" if parameters.k == 1 else f"{parameters.k:,} of them"
    meaning = (
        f" So an item named here need not occur in the data. Among so many items, noise alone "
        f"lifts {lifted} to about {count} or more, and an item needs a count of about {count} to "
        f"stand out."
    )
    words = {"domain": format_domain(domain)}
    return {**words, "domain_meaning": "" if domain.is_listed else meaning}


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
    largest = f"The {'item' if single else f'{len(release)} items'} that came out largest"
    if release.gaps is None:
        return f"{largest}." if single else f"{largest}, from the largest down."
    return f"{largest}, and how far {'it' if single else 'each'} came out ahead of the next."


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
