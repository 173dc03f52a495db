"""The parts that the page of one list and that of many groups have alike."""

from collections.abc import Mapping

from topgap.estimates import Estimates
from topgap.release import Release
from topgap.report.templates import fill_template, read_file


def describe_bars(kind: str, text: Mapping[str, str]) -> str:
    """Return the sentence that says what the bars show: the legend, above the table."""
    if kind == "names":
        return "From the largest down."
    if kind == "gaps":
        return (
            f"A bar is the lead over {text['lead_over']}. Its end is the gap to the next item, "
            f"hatched where the order is uncertain."
        )
    number = "estimate" if kind == "estimates" else text["number"]
    return f"A bar is the {number}, and the line on it its {text['percent']} interval."


def render_parameters(
    result: Release | Estimates, release: Release, text: Mapping[str, str]
) -> dict[str, str]:
    """Return the markup about parameters that goes with the kind of result."""
    parameters = release.parameters
    bounds = ["items_per_person.html"] * (parameters.noise == "laplace")
    bounds += ["threshold.html"] * (parameters.threshold is not None)
    bounds += ["spent.html"] * (parameters.has_sentinel and isinstance(result, Release))
    shares = measuring = ""
    if isinstance(result, Estimates):
        elsewhere = result.epsilon is None
        shares = "" if elsewhere else fill_template("shares.html", text)
        measuring = fill_template(f"measured_{'elsewhere' if elsewhere else 'here'}.html", text)
    return {
        "bounds": "".join(fill_template(name, text) for name in bounds),
        "citing": read_file(f"citing_{parameters.noise}.html"),
        "bibtex": read_file(f"citing_{parameters.noise}.bib"),
        "domain": fill_template("domain.html", text) if "domain" in text else "",
        "spread": _render_spread(release, text),
        "shares": shares,
        "measuring": measuring,
    }


def _render_spread(release: Release, text: Mapping[str, str]) -> str:
    """Return the rows of the parameters that say how far numbers are off."""
    if release.gaps is None:
        return ""
    has_counts = release.has_counts and len(release) > 0
    return fill_template("spread_of_counts.html" if has_counts else "spread.html", text)
