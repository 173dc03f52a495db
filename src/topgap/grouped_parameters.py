"""The public parameters of a list for each group: `TopKByGroup`, exact and frozen."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from typing import Any

from topgap.errors import ParameterError
from topgap.numbers.format import format_short
from topgap.numbers.parse import Number, read_parameter, read_whole
from topgap.parameters import NoiseKind, TopK


@dataclass(frozen=True, init=False, repr=False)
class TopKByGroup:
    """What is released of many groups and how private all of it is together.

    Each group gets a release of its own, with noise of its own. A person is in at most
    `groups_per_person` groups, so the lists of that many groups at most say something about one
    person, and each gets an equal part of ε.

    Attributes:
        epsilon: The privacy loss ε of the lists of all groups together, greater than 0.
        groups_per_person: The most groups that one person is in.
        each: The parameters of each group's release, with its part of ε.

    With `monotonic=False`, ε also holds where a person is replaced by another, who is in other
    groups, if the answers are counts or else all move the same way when a person comes: the person
    who leaves and the one who comes then cost half of ε each. Answers that one person moves both
    ways need twice the `groups_per_person` for that.

    Raises:
        ParameterTypeError: A parameter is of a type that is not an exact number.
        ParameterError: A parameter's value cannot be used; the sentence says what to do.

    >>> parameters = TopKByGroup(k=10, epsilon=1, groups_per_person=2, monotonic=True)
    >>> parameters.each.epsilon, parameters.each.scale
    (Fraction(1, 2), Fraction(20, 1))
    """

    __slots__ = ("each", "epsilon", "groups_per_person")

    epsilon: Fraction
    groups_per_person: int
    each: TopK

    def __init__(
        self,
        k: int | None,
        epsilon: "Number",
        *,
        groups_per_person: int = 1,
        resolution: "Number | None" = None,
        sensitivity: "Number" = 1,
        monotonic: bool = False,
        items_per_person: int | None = None,
        threshold: "Number | None" = None,
        noise: NoiseKind | None = None,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("epsilon", read_parameter(epsilon, "epsilon"))
        put("groups_per_person", read_whole(groups_per_person, "groups_per_person", least=1))
        share = self.epsilon / self.groups_per_person
        try:
            read_parameter(share, "epsilon")
        except ParameterError:  # the quotient alone can be one that it refuses
            raise ParameterError("groups_per_person must be smaller, or epsilon larger.") from None
        each = TopK(
            k,
            share,
            resolution=resolution,
            sensitivity=sensitivity,
            monotonic=monotonic,
            items_per_person=items_per_person,
            threshold=threshold,
            noise=noise,
        )
        put("each", each)

    @property
    def monotonic(self) -> bool:
        """Whether one person's arrival moves all answers the same way, as of `TopK`."""
        return self.each.monotonic

    @property
    def measurements_per_person(self) -> int:
        """How many measurements of winners, each at the same ε, one person's data can move at most.

        They are those of the k winners in each group of that person. Measurements do not tell one
        direction from the other. So between replace-one neighbours the groups of the person who
        leaves and those of the one who comes count in full, where the lists count half each.

        >>> TopKByGroup(k=10, epsilon=1, groups_per_person=2).measurements_per_person
        40
        """
        sides = 1 if self.monotonic else 2
        return sides * self.groups_per_person * self.each.k

    @property
    def least_cost(self) -> Fraction:
        """What the cheapest output costs: less than ε where a threshold can end lists early."""
        return self.groups_per_person * self.each.least_cost

    def cost(self, winners: Iterable[int]) -> Fraction:
        """What an output with so many winners in each group costs: at most ε.

        It is less if the threshold ended lists early. Only the groups that a person is in count, so
        that those whose lists cost most bound it. A person who replaces another adds nothing: in
        groups that only one of them is in, answers move one way (docs/proofs/groups.md).

        Args:
            winners: How many winners each group has.

        Raises:
            ParameterError, ParameterTypeError: There cannot be so many.

        >>> parameters = TopKByGroup(k=10, epsilon=1, monotonic=True, threshold=500)
        >>> parameters.cost([4, 0, 2]), parameters.cost([10, 0, 2])
        (Fraction(1, 2), Fraction(1, 1))
        """
        costs = [*map(self.each.cost, winners)]  # which sees whether there can be so many
        if not self.each.has_sentinel:
            return self.epsilon
        return sum(nlargest(self.groups_per_person, costs), Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        """The parameters as JSON can hold them, with the ε of all groups together.

        >>> TopKByGroup(k=10, epsilon=1, groups_per_person=2).to_dict()["group_epsilon"]
        '1/2'
        """
        return {
            **self.each.to_dict(),
            "epsilon": str(self.epsilon),
            "groups_per_person": self.groups_per_person,
            "group_epsilon": str(self.each.epsilon),
        }

    @classmethod
    def from_dict(cls, written: dict[str, Any]) -> "TopKByGroup":
        """Make the parameters that `to_dict` wrote.

        Raises:
            ParameterError, ParameterTypeError: They cannot be used, or contradict each other.
            TypeError: There are others.
        """
        share = written["group_epsilon"]
        parameters = cls(**{key: each for key, each in written.items() if key != "group_epsilon"})
        if share != str(parameters.each.epsilon):
            raise ParameterError("group_epsilon is not the part of epsilon that each group gets.")
        return parameters

    def __repr__(self) -> str:
        arguments = repr(self.each).replace(
            f"epsilon='{format_short(self.each.epsilon)}'",
            f"epsilon='{format_short(self.epsilon)}', groups_per_person={self.groups_per_person}",
        )
        return f"TopKByGroup{arguments.removeprefix('TopK')}"

    def __reduce__(self) -> tuple[Any, ...]:
        return TopKByGroup.from_dict, (self.to_dict(),)
