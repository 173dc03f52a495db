"""From counts to what is published: the release alone, or estimates too."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from topgap import streams
from topgap.cli.publications import Estimated, Publication, Released
from topgap.counting.cells import text_of
from topgap.estimates.calls import estimated
from topgap.estimates.value import LEVEL, read_level
from topgap.exact import Number
from topgap.measurement import Shares
from topgap.parameters import TopK
from topgap.release import Release

SHARE = Fraction(1, 2)
"""The part of ε that selects, unless another is given."""


class Making(Protocol):
    """One way to it, with parameters that have been checked."""

    def of_counts(self, counts: dict[Any, int]) -> Publication:
        """From the counts of a domain."""

    def of_rows(self, source: Any, **how: Any) -> Publication:
        """From all rows of a source; `how` are the columns and what watches, as `streams` asks."""


@dataclass(frozen=True)
class Releasing:
    """Names the largest, and gives the gaps."""

    parameters: TopK

    def of_counts(self, counts: dict[Any, int]) -> Publication:
        """As `Making` says."""
        return Released(self.parameters.release(counts))

    def of_rows(self, source: Any, **how: Any) -> Publication:
        """As `Making` says."""
        return Released(_in_text(streams.top_k(source, **_given(self.parameters), **how)))


class Estimating:
    """Measures them besides; ε is that of the whole.

    Args:
        parameters: Those of the whole.
        selection_share: The part of ε that selects.
        level: That of the intervals.

    Raises:
        ParameterError: The share or the level cannot be used.
    """

    def __init__(
        self, parameters: TopK, selection_share: Number = SHARE, level: Number = LEVEL
    ) -> None:
        self._parameters = parameters
        self._share = selection_share
        self._shares = Shares.of(parameters, selection_share)
        self._level = read_level(level)

    def of_counts(self, counts: dict[Any, int]) -> Publication:
        """As `Making` says."""
        return Estimated(estimated(self._shares, counts, None, None), self._level)

    def of_rows(self, source: Any, **how: Any) -> Publication:
        """As `Making` says."""
        made = streams.top_k_with_estimates(
            source, selection_share=self._share, **_given(self._parameters), **how
        )
        return Estimated(replace(made, release=_in_text(made.release)), self._level)


def _given(parameters: TopK) -> dict[str, Any]:
    return {
        "k": parameters.k,
        "epsilon": parameters.epsilon,
        "resolution": parameters.resolution,
        "sensitivity": parameters.sensitivity,
        "monotonic": parameters.monotonic,
    }


def _in_text(made: Release) -> Release:
    """Not all that can be stored can be written in every form: decimals and dates become text."""
    items = [item if isinstance(item, int) else text_of(item) for item in made.items]
    units = None if made.gap_units is None else made.gap_units.tolist()
    return Release(made.parameters, None, units, items)
