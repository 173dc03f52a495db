"""The texts that differ from one kind of numbers to another: counts, values, estimates."""

from fractions import Fraction

from topgap.display.numbers import (
    format_estimate,
    format_level,
    format_likelihood_factor,
    format_share,
    format_surest_belief,
)
from topgap.estimates import Estimates
from topgap.numbers.format import format_short
from topgap.numbers.parse import Number, read_level
from topgap.release import Release, describe_room
from topgap.report.details import Details
from topgap.report.numerals import find_numerals
from topgap.report.words import Write, capitalize, describe_release, format_error, write_english


def describe_counts(release: Release, level: "Number", details: Details) -> dict[str, str]:
    """Return the further texts of a release with counts, or with values of Laplace noise.

    >>> from topgap import TopK
    >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
    >>> release = Release(few, None, [20, 4], ["flu", "cold"], value_units=[45, 25])
    >>> describe_counts(release, 0.95, Details())["value_error"]
    '1.357'
    """
    errors = [each.standard_error for each in release.counts(level)]
    words = _VALUES if release.parameters.noise == "laplace" else _COUNTS
    write = find_numerals(details.locale).write
    return {
        **words,
        **_describe_level(level, write),
        "figure_head": name_figures(words["number"], details),
        "if_clear": " that is clearly on the list",
        "room": describe_room(release.parameters),
        "value_error": write(format_error(max(errors, default=0.0))),
    }


def describe_estimates(estimates: Estimates, level: "Number", details: Details) -> dict[str, str]:
    """Return the text for each name in a template, those of the release included.

    >>> from topgap import TopK, estimate
    >>> release = Release(TopK(k=1, epsilon="1/2"), [4], [125])
    >>> combined = estimate(release, [60], variance=8, noise="normal")
    >>> describe_estimates(combined, 0.95, Details())["often"]
    '95 of 100'
    """
    base = describe_release(estimates.release, details)
    write = find_numerals(details.locale).write
    about = _describe_level(level, write)
    share = about["often"]
    return {
        **base,
        **about,
        "figure_head": name_figures("estimate", details),
        "scale_formula": base["scale_formula"].replace("ε", "(ε to select)"),
        "often": f"at least {share}" if estimates.noise.kind == "unknown" else share,
        "at_once": _describe_coverage(len(estimates), share),
        "measurement_error": write(_format_range(estimates.measurement_errors)),
        **(
            _describe_cost_of_selection(estimates)
            if estimates.epsilon is None
            else _describe_shares(estimates, write)
        ),
    }


def name_figures(number: str, details: Details) -> str:
    """Return the head of the column of numbers.

    >>> name_figures("count", Details()), name_figures("count", Details(person_word="patients"))
    ('Count ± standard error', 'Patients: count ± standard error')
    """
    whom = f"{capitalize(details.person_word)}: {number}" if details.person_word else ""
    return f"{whom or capitalize(number)} ± standard error"


def _describe_level(level: "Number", write: Write) -> dict[str, str]:
    return {
        "percent": write(format_level(level)),
        "often": write(format_share(read_level(level))),
    }


def _describe_shares(estimates: Estimates, write: Write) -> dict[str, str]:
    whole, each = estimates.epsilon or Fraction(0), estimates.noise.epsilon or Fraction(0)
    selecting = estimates.release.epsilon
    total, to_select, to_measure = (format_short(each) for each in (whole, selecting, each))
    return {
        "epsilon": write(total),
        "factor": write_english(format_likelihood_factor(whole)),
        "belief": write_english(format_surest_belief(whole)),
        "together": write_english(
            f"All of it together costs ε = {total}: {to_select} to select, and {to_measure} for "
            f"each measurement."
        ),
        "epsilon_to_select": write(to_select),
        "epsilon_to_measure": write(to_measure),
        "measurement_scale": write(format_short(estimates.noise.scales[0])),
    }


def _describe_cost_of_selection(estimates: Estimates) -> dict[str, str]:
    epsilon = write_english(format_short(estimates.release.epsilon))
    return {
        "of_what": " for the ranking; the cost of the measurements is added",
        "published": "The ranking with its gaps",
        "reading": "the ranking",
        "together": f"The ranking with its gaps costs ε = {epsilon}. The measurements were made "
        f"elsewhere; their cost is added, and the estimates cost nothing more.",
        "noise_kind": _NOISE_KINDS[estimates.noise.kind],
    }


def _describe_coverage(k: int, share: str) -> str:
    if k == 1:
        return "Anything about the items that are not named."
    return (
        f"That all {k:,} intervals hold at once in {share} publications: each holds on its own. "
        f"Wider ones that hold at once are in the JSON below, as simultaneous_interval."
    )


def _format_range(errors: tuple[float, ...]) -> str:
    least, most = (format_estimate(each, each) for each in (min(errors), max(errors)))
    return least if least == most else f"{least} to {most}"


_VALUES = {
    "number": "value",
    "number_rule": "A value is the true number, rounded down to a multiple of the resolution, plus "
    "noise.",
    "gap_spread": "√2 times that of a value",
}


_COUNTS = {
    "number": "count",
    "number_rule": "A count is the threshold plus the gaps from the item down to it, and half a "
    "step of the resolution for each of these gaps. It contains the noise of the item and that of "
    "the threshold. The noise of the threshold is the same in all counts.",
    "gap_spread": "√2 times the noise scale, as that of a count",
}


_NOISE_KINDS = {
    "laplace": "Their noise is Laplace noise.",
    "normal": "Their noise is normal.",
    "unknown": "Only the variance of their noise is known.",
}
