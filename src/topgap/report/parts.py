"""The parts that the page of one list and that of many groups have alike."""

from collections.abc import Mapping

from topgap.release import Release
from topgap.report.templates import fill_template, read_file
from topgap.report.words import describe_domain


def render_spread(release: Release, text: Mapping[str, str]) -> str:
    """Return the rows of the parameters that say how far numbers are off."""
    if release.gaps is None:
        return ""
    has_counts = release.has_counts and len(release) > 0
    name = "spread_of_counts.html" if has_counts else "spread.html"
    return fill_template(name, text)


def render_mechanism(release: Release, text: Mapping[str, str]) -> dict[str, str]:
    """Return what goes with the noise: bounds on what a person moves, and what to cite."""
    parameters = release.parameters
    bounds = ["items_per_person.html"] * (parameters.noise == "laplace")
    bounds += ["threshold.html"] * (parameters.threshold is not None)
    bounds += ["spent.html"] * parameters.has_sentinel
    return {
        "bounds": "".join(fill_template(name, text) for name in bounds),
        "citing": read_file(f"citing_{parameters.noise}.html"),
        "bibtex": read_file(f"citing_{parameters.noise}.bib"),
    }


def render_domain(release: Release) -> str:
    """Return the section about the domain; empty if it is unknown."""
    text = describe_domain(release)
    return fill_template("domain.html", text) if text else ""
