"""A card of the release for machines: JSON-LD, with the fields of the deployments registry.

`to_card` describes a publication as a Dataset of schema.org. Its `deployment` has the fields that
the OpenDP deployments registry asks for, as far as the release and its publisher tell them.
"""

from datetime import date
from fractions import Fraction
from typing import Any

from topgap._core import __version__
from topgap.errors import ParameterTypeError
from topgap.estimates import Estimates, GroupedEstimates
from topgap.numbers.format import format_exact
from topgap.parameters import TopK
from topgap.release import (
    GroupedRelease,
    Release,
    format_domain,
    format_most_named,
    format_threshold,
)
from topgap.report.details import Details
from topgap.report.group_words import describe_neighbours_of_groups
from topgap.report.summary import choose_title, summarize_groups, summarize_release
from topgap.report.words import describe_neighbours

Shown = Release | Estimates | GroupedRelease | GroupedEstimates

_DIGITS_OF_FLOAT = 15
_REGISTRY = "https://github.com/opendp/deployments-registry-data#"


def to_card(result: Shown, details: Details | None = None) -> dict[str, Any]:
    """Return the card of a publication: JSON-LD, of texts and numbers alone.

    It holds parameters and what the publisher says, and no item, count or gap. The page of
    `to_html` has it, too.

    Args:
        result: What is published.
        details: What the publisher says.

    Raises:
        ParameterTypeError: This is nothing that a page shows.

    >>> from topgap import TopK
    >>> release = Release(TopK(k=1, epsilon="0.7", monotonic=True), [4], [125], ["flu"])
    >>> card = to_card(release, Details(title="Diagnoses", publisher="A clinic"))
    >>> card["name"], card["deployment"]["privacy_loss"]["privacy_parameters"]
    ('Diagnoses', {'epsilon': 0.7})
    """
    details = Details() if details is None else details
    if isinstance(result, Release | Estimates):
        release = result.release if isinstance(result, Estimates) else result
        summary = summarize_release(release, details)
    elif isinstance(result, GroupedRelease | GroupedEstimates):
        summary = summarize_groups(result, details)
    else:
        raise ParameterTypeError(
            f"A page shows a Release or Estimates, or those of groups, not {type(result).__name__}."
        )
    title = choose_title(find_parameters(result), details)
    day = details.date.isoformat() if isinstance(details.date, date) else None
    card = {
        "@context": [
            "https://schema.org/",
            {"deployment": {"@id": f"{_REGISTRY}deployment", "@type": "@json"}},
        ],
        "@type": "Dataset",
        "name": title,
        "description": summary,
        "publisher": _drop_missing({"@type": "Organization", "name": details.publisher}, "name"),
        "datePublished": day,
        "temporalCoverage": details.period,
        "isBasedOn": _drop_missing(
            {"@type": "Dataset", "description": details.source_note}, "description"
        ),
        "measurementTechnique": f"{_name_mechanism(result)}, under pure ε-differential privacy",
        "deployment": _describe_deployment(result, details, title, summary, day),
    }
    return {name: value for name, value in card.items() if value is not None}


def _describe_deployment(
    result: Shown, details: Details, title: str, summary: str, day: str | None
) -> dict[str, Any]:
    """The fields of the registry, by its groups."""
    parameters = find_parameters(result)
    grouped = isinstance(result, GroupedRelease | GroupedEstimates)
    domain = result.release.domain if isinstance(result, Estimates) else result.domain
    neighbours = (describe_neighbours_of_groups if grouped else describe_neighbours)(parameters)
    caveats = [*_list_caveats(result), *([] if details.caveat is None else [details.caveat])]
    publisher = details.publisher
    return {
        "basic": {
            "name": title,
            "description": summary,
            "data_product_type": "Summary statistics",
            **({"publication_date": day} if day else {}),
            **({"data_curators": [{"data_curator_name": publisher}]} if publisher else {}),
        },
        "dp_variant": {
            "variant_name": "Pure DP",
            **({"data_domain": format_domain(domain)} if domain is not None else {}),
            "unprotected_quantities": " ".join(caveats) or "None",
        },
        "privacy_loss": {
            "privacy_unit": "Person-level",
            "privacy_unit_details": f"Neighbouring data sets differ by {neighbours}.",
            "privacy_parameters": {"epsilon": _write_number(find_epsilon(result))},
            **_describe_epsilon(result),
        },
        "deployment_model": {
            "model_name": "Central",
            "release_type": "One release",
            "access_type": "Non-interactive",
        },
        "accounting": {
            "post_processing": "Numbers are made at least 0 and put in the order of the ranks."
            if details.in_order and _has_figures(result)
            else "None",
            "composition": "The measurements were made elsewhere; their ε is added to that of the "
            "ranking, by basic composition."
            if _is_measured_elsewhere(result)
            else "ε is that of all that is published here, by basic composition.",
        },
        "implementation": {
            "mechanisms": _name_mechanism(result),
            "software": f"topgap {__version__}",
            "parameters": _list_parameters(parameters)
            | (_list_group_parameters(result) if grouped else {}),
        },
    }


def find_parameters(result: Shown) -> TopK:
    """Return the parameters of the list, or of each of the lists."""
    if isinstance(result, GroupedRelease | GroupedEstimates):
        return result.parameters.each
    return result.release.parameters if isinstance(result, Estimates) else result.parameters


def _list_caveats(result: Shown) -> list[str]:
    return [*(result.release.caveats if isinstance(result, Estimates) else result.caveats)]


def _has_figures(result: Shown) -> bool:
    """Whether the page shows numbers beside the items, and not gaps or names alone."""
    if isinstance(result, Estimates | GroupedEstimates):
        return True
    lists = result.values() if isinstance(result, GroupedRelease) else [result]
    return any(each.has_counts and len(each) for each in lists)


def _is_measured_elsewhere(result: Shown) -> bool:
    return isinstance(result, Estimates) and result.epsilon is None


def _name_mechanism(result: Shown) -> str:
    parameters = find_parameters(result)
    if parameters.noise == "laplace":
        name = "Top-k of counts with discrete Laplace noise"
    else:
        name = "Report noisy max with gap, with exponential noise"
    if parameters.has_sentinel:
        name += ", cut by a noisy threshold"
    if _is_measured_elsewhere(result):
        return f"{name}; measurements made elsewhere"
    if isinstance(result, Estimates | GroupedEstimates):
        return f"{name}; discrete Laplace noise on each measurement"
    return name


def find_epsilon(result: Shown) -> Fraction:
    """Return the privacy loss of all of it, as far as it is known."""
    if isinstance(result, Estimates) and result.epsilon is None:
        return result.release.epsilon
    return result.epsilon or Fraction(0)


def _write_number(number: Fraction) -> float | str:
    """Return a number as JSON has it, if a float shows it exactly; otherwise as text.

    >>> _write_number(Fraction("0.7")), _write_number(Fraction(1, 3))
    (0.7, '1/3')
    """
    exact = format_exact(number)
    return float(exact) if "/" not in exact and len(exact) <= _DIGITS_OF_FLOAT else exact


def _describe_epsilon(result: Shown) -> dict[str, str]:
    """What has to be said of ε, in the field of the registry for that."""
    said = ""
    if _is_measured_elsewhere(result):
        said = "ε is that of the selection; what the measurements cost comes on top."
    elif isinstance(result, Release | GroupedRelease) and result.spent < result.epsilon:
        said = f"The threshold ended lists early: ε = {format_exact(result.spent)} was spent."
    return {"privacy_parameters_details": said} if said else {}


def _list_parameters(parameters: TopK) -> dict[str, Any]:
    found: dict[str, Any] = {
        "k": format_most_named(parameters) if parameters.threshold is not None else parameters.k,
        "sensitivity": format_exact(parameters.sensitivity),
        "resolution": format_exact(parameters.resolution),
        "noise_scale": format_exact(parameters.scale),
        "monotonic": parameters.monotonic,
    }
    if parameters.items_per_person is not None:
        found["items_per_person"] = parameters.items_per_person
    if parameters.threshold is not None:
        found["threshold"] = format_threshold(parameters)
    return found


def _list_group_parameters(result: Shown) -> dict[str, Any]:
    if not isinstance(result, GroupedRelease | GroupedEstimates):
        return {}
    return {"groups": len(result), "groups_per_person": result.parameters.groups_per_person}


def _drop_missing(thing: dict[str, Any], name: str) -> dict[str, Any] | None:
    return None if thing[name] is None else thing
