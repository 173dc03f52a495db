"""What is kept of a release: its JSON, and what it cost."""

from dataclasses import replace
from fractions import Fraction

from topgap.errors import ParameterTypeError, ReleaseError
from topgap.estimates.value import Estimates
from topgap.ledger.given import in_json
from topgap.release import Release


def recordable(result: object) -> tuple[str, Fraction | None]:
    """The JSON that is kept, and the ε that it cost, if the result tells.

    Raises:
        ParameterTypeError: It is neither a release nor anything that JSON can hold.

    >>> from topgap import TopK
    >>> kept, cost = recordable(Release(TopK(k=1, epsilon=1), None, [125], [("flu", 2026)]))
    >>> Release.from_json(kept).items, cost
    (("('flu', 2026)",), Fraction(1, 1))
    """
    if isinstance(result, Release):
        return in_json(_writable(result).to_dict(), "result"), result.epsilon
    if isinstance(result, Estimates):
        return (
            in_json(replace(result, release=_writable(result.release)).to_dict(), "result"),
            result.epsilon,
        )
    if result is None:
        raise ParameterTypeError("result must be what was released, not None.")
    return in_json(result, "result"), None


def _writable(release: Release) -> Release:
    """The release, with items as text where JSON cannot hold them."""
    try:
        release.to_json()
    except ReleaseError:
        units = None if release.gap_units is None else release.gap_units.tolist()
        return Release(release.parameters, None, units, [*map(str, release.items)])
    return release
