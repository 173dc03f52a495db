"""What a release would be and would cost, without drawing or charging anything: `Check`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from topgap.display.text import to_line
from topgap.domains import DomainDescription
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import LedgerCharge, PendingCharge, describe_cost
from topgap.numbers.format import format_short
from topgap.parameters import MOST_WINNERS, TopK
from topgap.release import NOT_PROTECTED, format_items_per_person, format_threshold


@dataclass(frozen=True)
class Check:
    """What a release would be, if it were made now.

    Everything that it needs was read and checked. Nothing was drawn or charged.

    Attributes:
        parameters: What would be released; their ε is that of all of it.
        measured: Whether the winners would be measured, too.
        items: How many items would take part.
        occurring: How many of them have an answer other than 0. **Secret**, as the answers are: it
            is for the holder of the data, to see that list and columns fit.
        dataset: The data set of the ledger that would be charged; None without a ledger.
        cost: The ε that would be charged.
        left: What would be left of the data set's total.
        domain_from_data: Whether the list of items is known to be taken from the data.
        by: The parameters of all groups, if each group gets a list; `parameters` are those of one.
        groups: How many groups there are.
        has_gaps: Whether the gaps would be released, too.

    >>> print(Check(TopK(k=1, epsilon=1), False, 3, 2))  # doctest: +NORMALIZE_WHITESPACE
    Nothing was drawn or charged.
    Would be released: the largest of the items with its gap to the next, at ε = 1, sensitivity 1.
    For the data holder only, never to be published: of 3 items, 2 have an answer other than
    0.
    >>> few = TopK(k=9, epsilon=1, items_per_person=2, threshold=500, monotonic=True)
    >>> print(*Check(few, False, 30, 20).lines()[1:3])  # doctest: +NORMALIZE_WHITESPACE
    Would be released: the items whose values reach 500, at most 9 of them, with their values and
    the gaps between them, at ε = 1, sensitivity 1, monotonic.
    Every answer would get Laplace noise of scale 2, for at most 2 items per person.
    """

    parameters: TopK
    measured: bool
    items: int
    occurring: int
    dataset: str | None = None
    cost: Fraction | None = None
    left: Fraction | None = None
    domain_from_data: bool = False
    by: TopKByGroup | None = None
    groups: int = 1
    has_gaps: bool = True

    @property
    def epsilon(self) -> Fraction:
        """The ε of all of it."""
        return self.parameters.epsilon if self.by is None else self.by.epsilon

    def lines(self) -> Sequence[str]:
        """What is said of it, a sentence in each."""
        parameters = self.parameters
        monotonic = ", monotonic" if parameters.monotonic else ""
        said = [
            "Nothing was drawn or charged.",
            f"Would be released: {self._describe_released()}, at "
            f"ε = {format_short(parameters.epsilon)}, sensitivity {parameters.sensitivity}"
            f"{monotonic}.",
        ]
        if self.by is not None:
            said.append(self._describe_groups(self.by))
        if parameters.noise == "laplace":
            said.append(
                f"Every answer would get Laplace noise of scale {format_short(parameters.scale)}, "
                f"for at most {format_items_per_person(parameters)}."
            )
        if parameters.has_sentinel:
            said.append(f"The threshold would get noise, too{self._describe_early_end()}.")
        if self.dataset is not None and self.cost is not None and self.left is not None:
            said.append(
                f"Would be charged to {to_line(self.dataset)}: "
                f"{describe_cost(self.cost, self.epsilon)}, which leaves "
                f"{format_short(self.left)}."
            )
        size = DomainDescription("", self.items).format_size()
        said.append(
            f"For the data holder only, never to be published: of {size} items, "
            f"{self.occurring:,} have an answer other than 0."
        )
        if self.occurring == 0:
            said.append(
                "So the release would be only noise; check whether columns are swapped, and "
                "whether the list belongs to the file."
            )
        return [*said, NOT_PROTECTED] if self.domain_from_data else said

    def _describe_groups(self, by: TopKByGroup) -> str:
        """How many lists there would be, and what they cost together."""
        whole = format_short(self.epsilon)
        if self.groups == 1:
            return f"The only group would get such a list, which costs ε = {whole}."
        return (
            f"Each of {self.groups:,} groups would get such a list; with each person in at most "
            f"{by.groups_per_person:,} of them, all together cost ε = {whole}."
        )

    def _describe_early_end(self) -> str:
        """What follows if the threshold ends the list early."""
        parameters, k = self.parameters, self.parameters.k
        least, follows = parameters.cost(0), []
        if k == 1:
            cheaper = f". If it names no item, the release costs {format_short(least)}"
            return cheaper * (least < parameters.epsilon)
        if self.has_gaps:
            follows.append("their counts come with them")
        if least < parameters.epsilon:
            follows.append(f"the release costs less: {format_short(least)} if there is none")
        return f". If fewer than {k:,} are named, {', and '.join(follows)}" if follows else ""

    def _describe_released(self) -> str:
        """The winners, and what comes with them."""
        parameters, k = self.parameters, self.parameters.k
        gaps = " with its gap to the next" if k == 1 else " with the gaps between them"
        if parameters.noise == "laplace":
            gaps = gaps.replace("with", f"with {'its value' if k == 1 else 'their values'} and")
        if not self.has_gaps:
            gaps = ""
        if parameters.threshold is not None:
            most = "" if k == MOST_WINNERS else f", at most {k:,} of them{',' * self.has_gaps}"
            threshold = format_threshold(parameters)
            if parameters.has_sentinel:
                return f"the items above {threshold}{most}{gaps}"
            return f"the items whose values reach {threshold}{most}{gaps}"
        largest = "largest" if k == 1 else f"{k:,} largest"
        many = " and their measurements" if self.measured else ""
        return f"the {largest} of the items{gaps}{many}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def describe_check(
    parameters: TopK,
    pending: PendingCharge,
    items: int,
    occurring: int,
    *,
    measured: bool = False,
    domain_from_data: bool = False,
    by: TopKByGroup | None = None,
    groups: int = 1,
    has_gaps: bool = True,
) -> Check:
    """The check of a release from so many items, of which so many have an answer other than 0."""
    check = Check(
        parameters, measured, items, occurring, domain_from_data=domain_from_data, by=by,
        groups=groups, has_gaps=has_gaps,
    )  # fmt: skip
    if not isinstance(pending, LedgerCharge):
        return check
    return replace(check, dataset=pending.dataset, cost=pending.cost, left=pending.left)


def count_occurring(numbers: Any) -> int:
    """How many of the answers are not 0.

    >>> count_occurring([3, 0, 0.5])
    2
    """
    if isinstance(numbers, np.ndarray):
        return int((numbers != 0).sum())
    return sum(map(bool, numbers))
