"""A release as a dict of plain values, which `topgap.release.parsing` reads."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from topgap.domains import DomainDescription
from topgap.errors import ReleaseError
from topgap.numbers.format import format_exact
from topgap.parameters import TopK
from topgap.release.notes import NOT_PROTECTED
from topgap.release.parsing import FORMAT, has_json


def build_document(
    parameters: TopK,
    winners: Sequence[dict[str, Any]],
    *,
    domain: DomainDescription | None,
    domain_from_data: bool,
) -> dict[str, Any]:
    """Return everything in a dict."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "parameters": parameters.to_dict(),
        "winners": winners,
    }
    if parameters.has_sentinel:
        document["spent"] = str(parameters.cost(len(winners)))
    if domain is not None:
        document["domain"] = domain.to_dict()
    if domain_from_data:
        document |= {"domain_from_data": True, "caveat": NOT_PROTECTED}
    return document


def build_winners(
    name: str, items: Sequence[Any], numbers: dict[str, Sequence[Fraction] | None]
) -> list[dict[str, Any]]:
    """Return a dict for each winner: its item, and its exact numbers by their names.

    Args:
        name: "item", or "index" if winners go by their positions.
        items: The winners.
        numbers: The numbers that the release has, and None for those that it has not.

    >>> build_winners("item", ["flu"], {"value": None, "gap": [Fraction(25, 2)]})
    [{'item': 'flu', 'gap': '12.5'}]
    """
    winners: list[dict[str, Any]] = [{name: item} for item in items]
    for key, column in numbers.items():
        for winner, number in zip(winners, column or (), strict=column is not None):
            winner[key] = format_exact(number)
    return winners


def write_json(document: dict[str, Any], items: Sequence[Any], indent: int | None) -> str:
    """Return the document as JSON.

    Raises:
        ReleaseError: One of the items cannot be written.
    """
    if not all(map(has_json, items)):
        raise ReleaseError(
            "Only items that are strings, finite numbers of at most 600 digits, True, False or "
            "None, or tuples of them, can be written as JSON; name the items by strings."
        )
    return json.dumps(document, ensure_ascii=False, indent=indent)
