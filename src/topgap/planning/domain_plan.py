"""Plans for a domain alone, without any counts: what an item needs to be named."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from topgap.display.numbers import format_level, format_roughly
from topgap.domains import Domain
from topgap.errors import ParameterTypeError
from topgap.margins import people_needed, read_probability
from topgap.numbers.format import format_short, to_float
from topgap.numbers.parse import LEVEL, Number
from topgap.parameters import TopK
from topgap.planning.bounded_counts import read_bounds
from topgap.planning.formatting import (
    LONGEST,
    format_people,
    format_size,
    to_column,
    to_json_number,
)
from topgap.planning.forms import TabularPlan
from topgap.planning.validation import EPSILONS, read_epsilons, read_ks, read_size
from topgap.selection.unlisted import check_domain_size

FORMAT = "topgap.domain-plan/1"
_NO_DATA = "No data was used: the plan depends only on the domain, k and ε."
_BOUNDS = (
    "L: the most items of each person that count, or any number; with L < k the noise is "
    "Laplace noise."
)


@dataclass(frozen=True)
class DomainRow:
    """What an item of the domain needs, for one ε and one k.

    Attributes:
        epsilon: The privacy loss of the release.
        k: How many winners are named.
        scale: The scale of the noise.
        people: How many people an item needs to be named with the probability that was asked for;
            see `topgap.margins.people_needed`.
        people_for_half: How many it needs to be named as likely as not.
        items_per_person: The contribution bound of the release; None without one.
    """

    epsilon: Fraction
    k: int
    scale: Fraction
    people: int
    people_for_half: int
    items_per_person: int | None = None

    @property
    def figures(self) -> dict[str, float]:
        """The figures by the names of their columns."""
        return {
            "scale": to_float(self.scale),
            "people": self.people,
            "people_for_half": self.people_for_half,
        }


@dataclass(frozen=True, repr=False)
class DomainPlan(TabularPlan):
    """What an item of a domain needs to be named, over ε and k: a `topgap.planning.plan_domain`.

    Attributes:
        size: The number of items in the domain.
        probability: The probability with which `DomainRow.people` suffice.
        sensitivity: How far one person can move any one count.
        monotonic: Whether one person's arrival moves all counts the same way.
        rows: For each ε, from the smallest up, and each k: a row without a contribution bound, and
            then one for each bound.
    """

    size: int
    probability: Fraction
    sensitivity: Fraction
    monotonic: bool
    rows: tuple[DomainRow, ...]

    @property
    def has_bounds(self) -> bool:
        """Whether some rows have a contribution bound."""
        return any(row.items_per_person is not None for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict: parameters and the size as exact strings."""
        return {
            "format": FORMAT,
            "domain_size": str(self.size),
            "probability": str(self.probability),
            "sensitivity": str(self.sensitivity),
            "monotonic": self.monotonic,
            "rows": [
                {
                    "epsilon": str(row.epsilon),
                    "k": row.k,
                    **({"items_per_person": row.items_per_person} if self.has_bounds else {}),
                    **{name: to_json_number(figure) for name, figure in row.figures.items()},
                }
                for row in self.rows
            ],
        }

    def columns(self) -> dict[str, list[float | None]]:
        """The columns of the data frames, by name.

        They are `epsilon`, `k`, `scale`, `people` and `people_for_half`, as of `DomainRow`. With
        bounds there is `items_per_person` after `k`, missing in rows without one.
        """
        columns: dict[str, list[float | None]] = {
            "epsilon": [float(row.epsilon) for row in self.rows]
        }
        columns["k"] = [row.k for row in self.rows]
        if self.has_bounds:
            columns["items_per_person"] = [row.items_per_person for row in self.rows]
        for name in self.rows[0].figures:
            columns[name] = [*to_column([row.figures[name] for row in self.rows])]
        return columns

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["ε", "k", *["L"] * self.has_bounds, "noise"]
        head += [f"people for {format_level(self.probability)}", "for 50%"]
        rows, last, last_k = [], None, None
        for row in self.rows:
            is_new = row.epsilon != last
            cells = [format_short(row.epsilon, LONGEST) if is_new else ""]
            cells.append(f"{row.k:,}" if is_new or row.k != last_k else "")
            if self.has_bounds:
                cells.append("any" if row.items_per_person is None else f"{row.items_per_person:,}")
            people = [format_people(row.people), format_people(row.people_for_half)]
            rows.append([*cells, format_roughly(row.scale), *people])
            last, last_k = row.epsilon, row.k
        return head, rows

    def _notes(self) -> list[str]:
        return [
            f"A domain of {format_size(self.size)} items: sensitivity {self.sensitivity}"
            f"{', monotonic' * self.monotonic}",
            "People that an item needs to be named with that probability, if at most "
            "k items have anybody.",
            *[_BOUNDS] * self.has_bounds,
            _NO_DATA,
        ]

    def __repr__(self) -> str:
        return f"<DomainPlan for {format_size(self.size)} items, {len(self.rows)} rows>"


def plan_domain(
    domain: Domain | int,
    k: int | Iterable[int],
    epsilons: "Number | Iterable[Number]" = EPSILONS,
    *,
    probability: "Number" = LEVEL,
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items_per_person: int | Iterable[int] | None = None,
) -> DomainPlan:
    """Compute how many people an item of a domain needs to be named, over ε and k.

    No counts are needed. If at most k items have anybody, one with so many people is named with
    this probability, whatever the others have; see `topgap.margins.people_needed`.

    Args:
        domain: The domain, or its size.
        k: How many winners are named: one number, or several.
        epsilons: The values of the privacy loss ε to plan for, or a single one.
        probability: The probability with which the item is to be named; between 0 and 1.
        resolution: Gaps are multiples of this; one divided by an integer. It hardly matters here.
            Default: that of `topgap.TopK`.
        sensitivity: How far one person can move any one count; a multiple of the resolution. If it
            is not 1, the plan is of the count that an item needs, and not of people.
        monotonic: Whether one person's arrival moves all counts the same way; see `topgap.top_k`.
        items_per_person: Contribution bounds to compare with none: one L, or several.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.
        DomainError: The domain has no more than k items, or a size that no domain has.

    >>> print(plan_domain(10**12, k=[10, 25], epsilons=["0.1", 1], monotonic=True))
      ε   k  noise  people for 95%  for 50%
    0.1  10    100           2,990    2,717
         25    250           7,475    6,792
      1  10     10             299      272
         25     25             748      680
    A domain of 1,000,000,000,000 items: sensitivity 1, monotonic
    People that an item needs to be named with that probability, if at most k items have anybody.
    No data was used: the plan depends only on the domain, k and ε.
    """
    size, ks, level = read_size(domain), read_ks(k), read_probability(probability)
    check_domain_size(size, ks[-1])
    bounds, bounded_counts = read_bounds(items_per_person)
    if bounded_counts is not None:
        raise ParameterTypeError("The plan of a domain takes no counts; give only bounds.")
    all_parameters = [
        TopK(
            each, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic,
            items_per_person=bound,
        )
        for epsilon in read_epsilons(epsilons)
        for each in ks
        for bound in (None, *bounds)
    ]  # fmt: skip
    rows = tuple(
        DomainRow(
            epsilon=parameters.epsilon,
            k=parameters.k,
            scale=parameters.scale,
            people=people_needed(parameters, size, level),
            people_for_half=people_needed(parameters, size, "1/2"),
            items_per_person=parameters.items_per_person,
        )
        for parameters in all_parameters
    )
    return DomainPlan(size, level, all_parameters[0].sensitivity, all_parameters[0].monotonic, rows)
