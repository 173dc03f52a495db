"""Read a release from the dict that `Release.to_dict` returned, or from its JSON."""

import json
from math import isfinite
from typing import Any, NamedTuple

from topgap.domains import DomainDescription
from topgap.errors import ReleaseError, TopgapError
from topgap.numbers.format import parse_exact
from topgap.parameters import TopK
from topgap.release.counts import center_counts

FORMAT = "topgap.release/1"

_KEYS, _CAVEAT_KEYS = {"format", "parameters", "winners"}, {"domain_from_data", "caveat"}
_PARAMETERS = {"k", "epsilon", "resolution", "sensitivity", "monotonic"}
_BOUND_PARAMETERS = {"items_per_person", "noise"}
_THRESHOLD = {"threshold"}
_LARGEST_IN_JSON = 10**600  # whole numbers up to here can be read anywhere
_DEEPEST_ITEM = 10


class Parts(NamedTuple):
    """The arguments of `Release`."""

    parameters: TopK
    indices: list[Any] | None
    gap_units: list[int] | None
    items: list[Any] | None
    value_units: list[int] | None
    domain_from_data: bool
    domain: DomainDescription | None


def parse_release(read: dict[str, Any]) -> Parts:
    """Return the parts of the release that `Release.to_dict` returned.

    Raises:
        ReleaseError: This is not what it returns.
    """
    try:
        known = isinstance(read, dict) and bool(read.get("format") == FORMAT)
        require(known, f"it must have the format {FORMAT}")
        caveat = _CAVEAT_KEYS & {*read}
        require({*read} - caveat - {"domain", "spent"} == _KEYS, "it has other entries")
        require(not caveat or _has_caveat(read), "it marks its domain in another way")
        unbounded = {*read["parameters"]} - _BOUND_PARAMETERS - _THRESHOLD
        has_bound = not _BOUND_PARAMETERS.isdisjoint(read["parameters"])
        known = unbounded == _PARAMETERS and (
            not has_bound or _BOUND_PARAMETERS.issubset(read["parameters"])
        )
        require(known, "it has other parameters")
        parameters = TopK(**read["parameters"])
        domain = DomainDescription.from_dict(read["domain"]) if "domain" in read else None
        winners = [{**winner} for winner in read["winners"]]
        items, indices, gaps, values, counts = (
            _pop_column(winners, name) for name in ("item", "index", "gap", "value", "count")
        )
        if not winners:  # as a threshold can leave it
            items, gaps, values = [], [], [] if parameters.noise == "laplace" else None
        items = None if items is None else [*map(to_tuple, items)]
        named = len(items or indices or ())
        spent = str(parameters.cost(named)) if parameters.has_sentinel else None
        require(read.get("spent") == spent, "its cost does not match its number of named items")
        units, value_units = (
            None if column is None else [_read_units(each, parameters) for each in column]
            for column in (gaps, values)
        )
        require(_has_counts(counts, units, parameters), "its counts do not follow from its gaps")
    except ReleaseError:
        raise
    except TopgapError as error:
        raise ReleaseError(f"This is not a release: {error}") from None
    except Exception:  # of whatever was put in the place of something else
        raise ReleaseError("This is not a release: something is missing or misplaced.") from None
    known = not any(winners)
    require(
        known, "a named item has an item or an index, a gap and a value or count, and nothing else"
    )
    require(items is None or indices is None, "named items go by an item or by an index")
    return Parts(parameters, indices, units, items, value_units, bool(caveat), domain)


def parse_json(text: str | bytes) -> Parts:
    """Return the parts of the release that `Release.to_json` wrote.

    Raises:
        ReleaseError: The text is not the JSON of a release.
    """
    try:
        read = json.loads(text)
    except Exception:  # it is no text, or not JSON, or nested too deeply
        raise ReleaseError("This is not a release: it must be JSON.") from None
    parts = parse_release(read)
    require(all(map(has_json, parts.items or ())), "its items must be strings or numbers")
    return parts


def has_json(item: object, levels: int = _DEEPEST_ITEM) -> bool:
    """Whether an item comes back from JSON as it went.

    >>> has_json("flu"), has_json(("Germany", 7)), has_json(float("nan")), has_json(10**600)
    (True, True, False, False)
    """
    kind = type(item)  # of which nothing is run
    if issubclass(kind, float):
        return isfinite(item)  # type: ignore[arg-type]
    if issubclass(kind, int):
        return int.__abs__(item) < _LARGEST_IN_JSON  # type: ignore[arg-type]
    if kind is tuple:
        members: tuple[Any, ...] = item  # type: ignore[assignment]
        return bool(members) and levels > 0 and all(has_json(one, levels - 1) for one in members)
    return item is None or issubclass(kind, str)


def require(holds: bool, what: str) -> None:  # noqa: FBT001 - a condition
    """Refuse what is not a release.

    Raises:
        ReleaseError: It does not hold.
    """
    if not holds:
        raise ReleaseError(f"This is not a release: {what}.")


def _has_caveat(read: dict[str, Any]) -> bool:
    """Whether it says that its domain is from the data, as a flag and in words."""
    return read.get("domain_from_data") is True and isinstance(read.get("caveat"), str)


def _pop_column(winners: list[dict[str, Any]], name: str) -> list[Any] | None:
    """Remove this key from all winners and return its values; None if the first has no such key."""
    if not winners or name not in winners[0]:
        return None
    return [winner.pop(name) for winner in winners]


def _has_counts(counts: list[str] | None, gap_units: list[int] | None, parameters: TopK) -> bool:
    """Whether each winner has its count, if there are counts."""
    if not gap_units or not parameters.has_sentinel or len(gap_units) == parameters.k:
        return counts is None
    if counts is None:
        return False
    return [*map(parse_exact, counts)] == center_counts(parameters, gap_units)


def to_tuple(item: Any) -> Any:
    """JSON has lists where items are tuples."""
    return tuple(map(to_tuple, item)) if type(item) in (list, tuple) else item


def _read_units(written: str, parameters: TopK) -> int:
    """The number of steps of a gap or a value."""
    try:
        units = parse_exact(written) / parameters.resolution
    except ValueError:
        raise ReleaseError(
            "This is not a release: a gap or value is written as in '12.5' or '37/3'."
        ) from None
    require(units.denominator == 1, "a gap or value is a multiple of the resolution")
    return units.numerator
