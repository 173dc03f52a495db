"""What is kept of a release: its JSON, and what it cost."""

from dataclasses import replace
from fractions import Fraction

from topgap.display.text import to_text
from topgap.errors import ParameterTypeError, ReleaseError
from topgap.estimates.result import Estimates
from topgap.ledger.entry import DEEPEST
from topgap.ledger.validation import in_json
from topgap.neighbours import Neighbours, relation_of
from topgap.release import Release


def recordable(result: object) -> tuple[str, Fraction | None, Neighbours | None]:
    """The JSON that is kept, the ε that it cost, if the result tells, and for which neighbours.

    Raises:
        ParameterTypeError: It is neither a release nor anything that JSON can hold.

    >>> from topgap import TopK
    >>> made = Release(TopK(k=1, epsilon=1, monotonic=True), None, [125], [("flu", 2026)])
    >>> kept, *cost = recordable(made)
    >>> Release.from_json(kept).items, cost
    (("('flu', 2026)",), [Fraction(1, 1), 'add-remove'])
    """
    if result is None:
        raise ParameterTypeError("result must be what was released, not None.")
    kept = in_json(_plain(result), "result")
    if not isinstance(result, Release | Estimates):
        return kept, None, None
    release = result if isinstance(result, Release) else result.release
    return kept, result.epsilon, relation_of(release.parameters)


def _plain(result: object, levels: int = DEEPEST) -> object:
    """The result with dicts for releases and estimates, also where they are in lists and dicts."""
    if isinstance(result, Release):
        return _writable(result).to_dict()
    if isinstance(result, Estimates):
        return replace(result, release=_writable(result.release)).to_dict()
    if isinstance(result, list | tuple) and levels > 0:
        return [_plain(each, levels - 1) for each in result]
    if isinstance(result, dict) and levels > 0:
        return {name: _plain(each, levels - 1) for name, each in result.items()}
    return result


def _writable(release: Release) -> Release:
    """The release, with items as text where JSON cannot hold them."""
    try:
        release.to_json()
    except ReleaseError:
        return release._with_items([*map(to_text, release.items)])
    return release
