"""What the page says in other words where there are estimates."""

from fractions import Fraction

from topgap.display.rounding import (
    format_estimate,
    format_share,
    format_short,
    likelihood_factor,
    surest_belief,
)
from topgap.estimates import Estimates
from topgap.estimates.level import format_level, read_level
from topgap.margins import NEAR_TIES
from topgap.numbers.parse import Number
from topgap.report.words import words


def estimate_words(estimates: Estimates, level: "Number") -> dict[str, str]:
    """Text for each name that stands in a template, those of the release included.

    >>> from topgap import Release, TopK, estimate
    >>> release = Release(TopK(k=1, epsilon="1/2"), [4], [125])
    >>> estimate_words(estimate(release, [60], variance=8, noise="normal"), 0.95)["often"]
    '95 of 100'
    """
    often = format_share(read_level(level))
    said = words(estimates.release)
    return {
        **said,
        "summary": said["summary"].replace(", and how far", ", how far").removesuffix(".")
        + ", and estimates of how many.",
        "scale_formula": said["scale_formula"].replace("ε", "(ε to select)"),
        "percent": format_level(level),
        "often": f"at least {often}" if estimates.noise.kind == "unknown" else often,
        "at_once": _at_once(len(estimates), often),
        "measurement_error": _from_to(estimates.measurement_errors),
        "near_ties": NEAR_TIES,
        **(_measured_elsewhere(estimates) if estimates.epsilon is None else _shares(estimates)),
    }


def _shares(estimates: Estimates) -> dict[str, str]:
    whole, each = estimates.epsilon or Fraction(0), estimates.noise.epsilon or Fraction(0)
    selecting = estimates.release.epsilon
    return {
        "epsilon": format_short(whole),
        "factor": likelihood_factor(whole),
        "belief": surest_belief(whole),
        "together": f"All of it together costs ε = {format_short(whole)}: "
        f"{format_short(selecting)} to select, and {format_short(each)} for each measurement.",
        "epsilon_to_select": format_short(selecting),
        "epsilon_to_measure": format_short(each),
        "measurement_scale": format_short(estimates.noise.scales[0]),
    }


def _measured_elsewhere(estimates: Estimates) -> dict[str, str]:
    epsilon = format_short(estimates.release.epsilon)
    return {
        "of_what": "of the ranking; what the measurements cost comes on top",
        "published": "The ranking with its gaps",
        "reading": "the ranking",
        "together": f"The ranking with its gaps costs ε = {epsilon}. The measurements were made "
        f"elsewhere; what they cost comes on top, and the estimates cost nothing more.",
        "noise_kind": _KINDS[estimates.noise.kind],
    }


_KINDS = {
    "laplace": "Their noise is Laplace noise.",
    "normal": "Their noise is normal.",
    "unknown": "Of their noise the variance alone is known.",
}


def _at_once(k: int, often: str) -> str:
    if k == 1:
        return "Anything about the items that are not named."
    return (
        f"That all {k} intervals hold at once in {often} publications: each does so for itself. "
        f"Wider ones that hold at once are in the JSON below, as simultaneous_interval."
    )


def _from_to(errors: tuple[float, ...]) -> str:
    least, most = (format_estimate(each, each) for each in (min(errors), max(errors)))
    return least if least == most else f"{least} to {most}"
