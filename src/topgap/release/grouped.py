"""`GroupedRelease`: the published lists of many groups."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from topgap.domains import DomainDescription
from topgap.errors import ReleaseError, TopgapError
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.format import format_short
from topgap.numbers.parse import LEVEL, Number
from topgap.release.by_group import ByGroup
from topgap.release.construction import PackedUnits, list_units, pack_units, unpack_units
from topgap.release.grouped_notes import explain_grouped_bias, name_all
from topgap.release.grouped_parsing import (
    FORMAT,
    build_grouped_document,
    read_group_documents,
    read_json,
)
from topgap.release.parsing import require
from topgap.release.result import Release


class Lists(NamedTuple):
    """The lists of all groups, one after the other.

    Attributes:
        sizes: How many winners each group has.
        indices: The winners' positions, as int64 in bytes; None if they go by names.
        items: Their names; None if they go by positions.
        gap_units: Their gaps, as multiples of the resolution, packed; None without gaps.
        value_units: Their noisy answers, likewise; None but with Laplace noise.
    """

    sizes: tuple[int, ...]
    indices: bytes | None
    items: tuple[Any, ...] | None
    gap_units: PackedUnits
    value_units: PackedUnits


class GroupedRelease(ByGroup[Release]):
    """A list for each group, all drawn for one ε: a mapping from the group to its `Release`.

    Like a `Release` it holds nothing that is secret. What its methods write may be published at the
    privacy loss `epsilon`, all groups together.

    Args:
        parameters: What the lists were made with.
        releases: The release of each group, in the public order of the groups.

    Raises:
        ReleaseError: These cannot have been released with these parameters.

    >>> parameters = TopKByGroup(k=1, epsilon=1, monotonic=True)
    >>> north = Release(parameters.each, None, [125], ["flu"])
    >>> south = Release(parameters.each, None, [34], ["cold"])
    >>> regions = GroupedRelease(parameters, {"North": north, "South": south})
    >>> regions["South"].items, regions.epsilon, [*regions]
    (('cold',), Fraction(1, 1), ['North', 'South'])
    """

    __slots__ = (
        "_domain", "_domain_from_data", "_groups", "_lists", "_parameters", "_slices",
    )  # fmt: skip

    _parameters: TopKByGroup
    _groups: tuple[Any, ...]
    _slices: dict[Any, tuple[int, int]] | None
    _lists: Lists
    _domain: DomainDescription | None
    _domain_from_data: bool

    def __init__(self, parameters: TopKByGroup, releases: Mapping[Any, Release]) -> None:
        require(isinstance(parameters, TopKByGroup), "its parameters must be a TopKByGroup")
        require(isinstance(releases, Mapping) and len(releases) > 0, "it needs a group")
        found = [*releases.values()]
        require(all(isinstance(each, Release) for each in found), "each group has a Release")
        first = found[0]
        marks = {(each.domain, each.domain_from_data) for each in found}
        alike = all(each.parameters == parameters.each for each in found) and len(marks) == 1
        require(alike, "all groups have the same domain, and the same part of epsilon")
        with_winners = [each for each in found if len(each)] or [first]
        named = {each._items is not None for each in with_winners}
        has_gaps = {each._gap_units is not None for each in with_winners}
        require(len(named) == len(has_gaps) == 1, "all groups have names, and gaps, or none has")
        is_named, is_laplace = named.pop(), parameters.each.noise == "laplace"
        shown = has_gaps.pop()
        lists = Lists(
            tuple(map(len, found)),
            None if is_named else b"".join(each._indices or b"" for each in found),
            tuple(item for each in found for item in each.items) if is_named else None,
            pack_units([g for each in found for g in list_units(each.gap_units) or []])
            if shown
            else None,
            pack_units([v for each in found for v in list_units(each.value_units) or []])
            if shown and is_laplace
            else None,
        )
        marks_of_all: dict[str, Any] = {
            "domain": first.domain,
            "domain_from_data": first.domain_from_data,
        }
        self._fill(parameters, tuple(releases), lists, **marks_of_all)

    def _fill(
        self,
        parameters: TopKByGroup,
        groups: tuple[Any, ...],
        lists: Lists,
        *,
        domain: DomainDescription | None,
        domain_from_data: bool,
    ) -> None:
        put = object.__setattr__  # for our own refuses
        put(self, "_parameters", parameters)
        put(self, "_groups", groups)
        put(self, "_slices", None)  # which takes as long as to draw them, and comes with its use
        put(self, "_lists", lists)
        put(self, "_domain", domain)
        put(self, "_domain_from_data", domain_from_data)

    @classmethod
    def from_mechanism(
        cls,
        parameters: TopKByGroup,
        groups: Sequence[Any],
        lists: Lists,
        *,
        domain: DomainDescription | None = None,
        domain_from_data: bool = False,
    ) -> "GroupedRelease":
        """Return the release of what the mechanism drew, without any check.

        For `topgap.selection` alone: others call `GroupedRelease`, which checks its arguments.
        """
        release = object.__new__(cls)
        marks: dict[str, Any] = {"domain": domain, "domain_from_data": domain_from_data}
        release._fill(parameters, tuple(groups), lists, **marks)
        return release

    def __getitem__(self, group: Any) -> Release:
        start, end = self.find_slice(group)
        lists = self._lists
        return Release.from_mechanism(
            self._parameters.each,
            None if lists.indices is None else lists.indices[8 * start : 8 * end],
            _slice(lists.gap_units, start, end),
            None if lists.items is None else [*lists.items[start:end]],
            value_units=_slice(lists.value_units, start, end),
            domain=self._domain,
            domain_from_data=self._domain_from_data,
        )

    def find_slice(self, group: Any) -> tuple[int, int]:
        """Where the list of a group begins and ends among those of all groups.

        Raises:
            KeyError: There is no such group.
        """
        slices = self._slices
        if slices is None:
            ends = pairwise([0, *accumulate(self._lists.sizes)])
            slices = dict(zip(self._groups, ends, strict=True))
            object.__setattr__(self, "_slices", slices)
        return slices[group]

    @property
    def groups(self) -> tuple[Any, ...]:
        """All groups, in their public order."""
        return self._groups

    @property
    def parameters(self) -> TopKByGroup:
        """What the lists were made with."""
        return self._parameters

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of publishing the lists of all groups, as promised beforehand."""
        return self._parameters.epsilon

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many winners each group has."""
        return self._lists.sizes

    @property
    def spent(self) -> Fraction:
        """What this output cost: at most ε, and less if a threshold ended lists early.

        See `TopKByGroup.cost`, and docs/ledger.md for when such costs may be added up.
        """
        return self._parameters.cost(self.sizes)

    @property
    def domain(self) -> DomainDescription | None:
        """Which items took part in each group, in words and with their number, if that is known."""
        return self._domain

    @property
    def domain_from_data(self) -> bool:
        """Whether the list of items is known to be from the data, and so is not protected."""
        return self._domain_from_data

    @property
    def cost(self) -> str:
        """What all of it has cost, in words."""
        spent = f", of which {format_short(self.spent)} was spent" * (self.spent < self.epsilon)
        return f"ε = {format_short(self.epsilon)} for {name_all(len(self))}{spent}"

    @property
    def has_gaps(self) -> bool:
        """Whether the lists have gaps."""
        return self._lists.gap_units is not None

    @property
    def has_counts(self) -> bool:
        """Whether any list tells how large its winners' answers are: see `Release.counts`."""
        each = self._parameters.each
        if not self.has_gaps:
            return False
        if each.noise == "laplace":
            return any(self.sizes)
        return each.has_sentinel and any(0 < size < each.k for size in self.sizes)

    def list_gap_units(self) -> Iterator[Sequence[int]]:
        """The gaps of each group in steps of the resolution."""
        units = list_units(unpack_units(self._lists.gap_units)) or []
        return (units[start:end] for start, end in pairwise([0, *accumulate(self.sizes)]))

    def cautions(self, level: "Number" = LEVEL) -> list[str]:
        """Sentences about groups whose counts, or values, are biased, because noise ranked items.

        Args:
            level: That of the intervals.
        """
        if not self.has_counts:
            return []
        each = self._parameters.each
        return explain_grouped_bias(each, self._groups, self.list_gap_units(), level)

    def with_items(self, items: Sequence[Sequence[Any]], groups: Sequence[Any]) -> "GroupedRelease":
        """Return the same lists with other names for winners and groups, and without positions."""
        require(len({*groups}) == len(self), "each group needs a name of its own")
        require([*map(len, items)] == [*self.sizes], "there must be one name for each named item")
        named = tuple(name for each in items for name in each)
        lists = self._lists._replace(items=named, indices=None)
        marks: dict[str, Any] = {"domain": self.domain, "domain_from_data": self.domain_from_data}
        return GroupedRelease.from_mechanism(self._parameters, groups, lists, **marks)

    def to_dict(self, level: "Number" = LEVEL) -> dict[str, Any]:  # noqa: ARG002 - has no interval
        """Everything in a dict: each group with its winners, as `Release.to_dict` writes them.

        >>> parameters = TopKByGroup(k=1, epsilon=1)
        >>> regions = {"North": Release(parameters.each, None, [125], ["flu"])}
        >>> GroupedRelease(parameters, regions).to_dict()["groups"]
        [{'group': 'North', 'winners': [{'item': 'flu', 'gap': '12.5'}]}]
        """
        return build_grouped_document(
            FORMAT,
            self._parameters,
            self._groups,
            [{"winners": release.to_dict()["winners"]} for release in self.values()],
            spent=self.spent,
            domain=self._domain,
            domain_from_data=self._domain_from_data,
        )

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> "GroupedRelease":
        """Make the release that `to_dict` wrote.

        Raises:
            ReleaseError: This is not what `to_dict` writes.
        """
        parameters, documents = read_group_documents(read, FORMAT, {"winners"})
        try:
            releases = {group: Release.from_dict(each) for group, each in documents}
            release = cls(parameters, releases)
            known = read.get("spent") in (None, str(release.spent))
        except ReleaseError:
            raise
        except TopgapError as error:
            raise ReleaseError(f"This is not a release: {error}") from None
        require(known, "its cost does not match its number of named items")
        return release

    @classmethod
    def from_json(cls, text: str | bytes) -> "GroupedRelease":
        """Read what `to_json` wrote; lists come back as the tuples that they were.

        Raises:
            ReleaseError: The text is not the JSON of a release for each group.
        """
        return cls.from_dict(read_json(text))

    def __eq__(self, other: object) -> bool:
        """Whether the same was released for the same groups, with the same parameters."""
        if not isinstance(other, GroupedRelease):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self._parameters, self._groups, self.sizes))

    def _identity(self) -> tuple[object, ...]:
        marks = self._parameters, self._groups, self._domain, self._domain_from_data
        return (*marks, self.sizes, [*self.values()])

    def __copy__(self) -> "GroupedRelease":
        return self

    def __deepcopy__(self, memo: object) -> "GroupedRelease":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # As in all that is written, positions go only where there are no names.
        lists = self._lists
        if lists.items is not None:
            lists = lists._replace(indices=None)
        marks = self._domain, self._domain_from_data
        return _restore, (self._parameters, self._groups, tuple(lists), *marks)


def _slice(packed: PackedUnits, start: int, end: int) -> Any:
    """The units from one place to before another, as `Release.from_mechanism` takes them."""
    if packed is None:
        return None
    return packed[8 * start : 8 * end] if isinstance(packed, bytes) else [*packed[start:end]]


def _restore(
    parameters: TopKByGroup,
    groups: tuple[Any, ...],
    lists: tuple[Any, ...],
    domain: DomainDescription | None,
    domain_from_data: bool,  # noqa: FBT001 - as it was pickled
) -> GroupedRelease:
    marks: dict[str, Any] = {"domain": domain, "domain_from_data": domain_from_data}
    return GroupedRelease.from_mechanism(parameters, groups, Lists(*lists), **marks)
