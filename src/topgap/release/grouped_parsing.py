"""A result for each group as a dict of plain values, and back."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from topgap.domains import DomainDescription
from topgap.errors import ReleaseError, TopgapError
from topgap.grouped_parameters import TopKByGroup
from topgap.release import parsing
from topgap.release.notes import NOT_PROTECTED
from topgap.release.parsing import has_json, require, to_tuple

FORMAT = "topgap.grouped-release/1"

_COMMON = {"domain", "domain_from_data", "caveat"}


def build_grouped_document(
    form: str,
    parameters: TopKByGroup,
    groups: Sequence[Any],
    results: Sequence[dict[str, Any]],
    *,
    spent: Fraction,
    domain: DomainDescription | None,
    domain_from_data: bool,
    **more: Any,
) -> dict[str, Any]:
    """Return everything in a dict: what is common to all groups, once, and what each group has."""
    document: dict[str, Any] = {"format": form, "parameters": parameters.to_dict(), **more}
    if parameters.each.has_sentinel:
        document["spent"] = str(spent)
    if domain is not None:
        document["domain"] = domain.to_dict()
    if domain_from_data:
        document |= {"domain_from_data": True, "caveat": NOT_PROTECTED}
    document["groups"] = [
        {"group": group, **result} for group, result in zip(groups, results, strict=True)
    ]
    return document


def read_group_documents(
    read: dict[str, Any],
    form: str,
    result_keys: set[str],
    more: set[str] = frozenset(),  # type: ignore[assignment]
) -> tuple[TopKByGroup, list[tuple[Any, dict[str, Any]]]]:
    """Return the parameters, and for each group the document of its release.

    Args:
        read: What `build_grouped_document` built.
        form: Its format.
        result_keys: What each group has.
        more: What there is besides for all groups.

    Raises:
        ReleaseError: It is not.
    """
    try:
        known = isinstance(read, dict) and bool(read.get("format") == form)
        require(known, f"it must have the format {form}")
        keys = {*read} - _COMMON - {"spent"}
        require(keys == {"format", "parameters", "groups", *more}, "it has other entries")
        parameters = TopKByGroup.from_dict(read["parameters"])
        require(parameters.to_dict() == read["parameters"], "it has other parameters")
        has_spent = "spent" in read
        require(has_spent == parameters.each.has_sentinel, "it states its cost in another way")
        common = {key: read[key] for key in _COMMON if key in read}
        documents = []
        for entry in read["groups"]:
            require({*entry} == {"group", *result_keys}, "a group has other entries")
            document = {
                "format": parsing.FORMAT,
                "parameters": parameters.each.to_dict(),
                "winners": entry["winners"],
                **common,
            }
            if has_spent:
                document["spent"] = str(parameters.each.cost(len(entry["winners"])))
            documents.append((to_tuple(entry["group"]), document))
        names = [group for group, _ in documents]
        require(len({*names}) == len(names) > 0, "each group is there once")
    except ReleaseError:
        raise
    except TopgapError as error:
        raise ReleaseError(f"This is not a release: {error}") from None
    except Exception:  # of whatever was put in the place of something else
        raise ReleaseError("This is not a release: something is missing or misplaced.") from None
    return parameters, documents


def read_json(text: str | bytes) -> dict[str, Any]:
    """Read the JSON of a result for each group.

    Raises:
        ReleaseError: It is none.
    """
    try:
        read = json.loads(text)
        names = [each["group"] for each in read["groups"]]
    except Exception:  # it is no text, or not JSON, or nested too deeply
        raise ReleaseError("This is not a release of groups: it must be JSON.") from None
    require(all(has_json(to_tuple(name)) for name in names), "its groups are strings or numbers")
    return read  # type: ignore[no-any-return]
