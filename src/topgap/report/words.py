"""What the page says in other words from release to release."""

from fractions import Fraction
from math import sqrt

from topgap._core import __version__
from topgap.display.rounding import format_about, format_short, likelihood_factor, surest_belief
from topgap.margins import ONE_IN, least_certain_gap
from topgap.release import Release


def words(release: Release) -> dict[str, str]:
    """Text for each name that stands in a template.

    >>> from topgap import TopK
    >>> words(Release(TopK(k=1, epsilon="1/2"), [4], [125]))["epsilon"]
    '1/2 = 0.5'
    """
    parameters = release.parameters
    return {
        "version": __version__,
        "summary": _summary(release),
        **(_MONOTONIC if parameters.monotonic else _NOT_MONOTONIC),
        **(_POSITIONS if "index" in release.to_dict()["winners"][0] else _NAMES),
        "k": str(parameters.k),
        "epsilon": format_short(parameters.epsilon),
        "of_what": "of all that stands here",
        "published": "Whatever is published here",
        "reading": "this",
        "together": f"All of it together costs ε = {format_short(parameters.epsilon)}.",
        "factor": likelihood_factor(parameters.epsilon),
        "belief": surest_belief(parameters.epsilon),
        "resolution": format_short(parameters.resolution),
        "rounding": "" if release.gaps is None else ", and gaps afterwards",
        "sensitivity": format_short(parameters.sensitivity),
        "scale": format_short(parameters.scale),
        "spread": format_about(parameters.scale * Fraction(sqrt(2))),
        "certain_from": format_about(least_certain_gap(parameters)),
        "one_in": str(ONE_IN),
    }


def _summary(release: Release) -> str:
    single = len(release) == 1
    largest = f"The {'item' if single else f'{len(release)} items'} that came out largest"
    if release.gaps is None:
        return f"{largest}." if single else f"{largest}, from the largest down."
    return f"{largest}, and how far {'it' if single else 'each'} came out ahead of the next."


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
