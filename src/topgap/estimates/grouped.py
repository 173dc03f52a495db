"""`GroupedEstimates`: the winners of each of many groups, with an estimate for each."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from topgap.domains import DomainDescription
from topgap.errors import EstimatesError
from topgap.estimates.grouped_parsing import FORMAT, parse_grouped_estimates
from topgap.estimates.noise import Noise
from topgap.estimates.result import Estimates
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.format import format_exact, format_short
from topgap.numbers.parse import LEVEL, Number, read_level
from topgap.release import GroupedRelease
from topgap.release.by_group import ByGroup
from topgap.release.construction import PackedUnits, pack_units, to_exact, unpack_units
from topgap.release.grouped_notes import explain_near_ties, name_all
from topgap.release.grouped_parsing import build_grouped_document, read_json


class GroupedEstimates(ByGroup[Estimates]):
    """A list with estimates for each group, for one ε: a mapping from the group to its `Estimates`.

    Like `Estimates` it holds nothing that is secret. `topgap.top_k_by_group_with_estimates` makes
    it.

    Args:
        parameters: What the lists were made with, with the part of ε that selects.
        estimates: The estimates of each group, in the public order of the groups; all measured with
            the same discrete Laplace noise.

    Raises:
        EstimatesError, ReleaseError: These cannot have been made with these parameters.

    >>> from topgap import Release
    >>> parameters = TopKByGroup(k=1, epsilon="1/2", monotonic=True)
    >>> noise = Noise.discrete_laplace(parameters.each, Fraction(1, 2))
    >>> flu = Estimates(Release(parameters.each, None, [125], ["flu"]), (Fraction(60),), noise)
    >>> cold = Estimates(Release(parameters.each, None, [34], ["cold"]), (Fraction(8),), noise)
    >>> regions = GroupedEstimates(parameters, {"North": flu, "South": cold})
    >>> regions["South"].estimates, regions.epsilon
    ((8.0,), Fraction(1, 1))
    """

    __slots__ = ("_noise", "_release", "_units")

    _release: GroupedRelease
    _units: PackedUnits
    _noise: Noise

    def __init__(self, parameters: TopKByGroup, estimates: Mapping[Any, Estimates]) -> None:
        try:
            found = [*estimates.values()]
            releases = {group: each.release for group, each in estimates.items()}
        except Exception:  # it is no mapping of such
            raise EstimatesError("Give the Estimates of each group in a mapping.") from None
        release = GroupedRelease(parameters, releases)
        step = parameters.each.resolution
        noises = {each.noise for each in found}
        noise = noises.pop()
        if noises or noise.epsilon is None:
            raise EstimatesError("All groups must be measured with the same noise, of a known ε.")
        if noise != Noise.discrete_laplace(parameters.each, noise.epsilon):
            raise EstimatesError("The noise must be discrete Laplace noise on the resolution.")
        units = [measured / step for each in found for measured in each.measurements]
        if any(unit.denominator != 1 for unit in units):
            raise EstimatesError("The measurements must be multiples of the resolution.")
        if any(len(each.measurements) != len(each.release) for each in found):
            raise EstimatesError("There must be one measurement for each named item.")
        one = Noise.for_one_winner(parameters.each, noise.epsilon)
        self._fill(release, pack_units([unit.numerator for unit in units]), one)

    def _fill(self, release: GroupedRelease, units: PackedUnits, noise: Noise) -> None:
        put = object.__setattr__  # for our own refuses
        put(self, "_release", release)
        put(self, "_units", units)
        put(self, "_noise", noise)

    @classmethod
    def from_mechanism(
        cls, release: GroupedRelease, units: PackedUnits, noise: Noise
    ) -> "GroupedEstimates":
        """Return the estimates of what was selected and measured, without any check.

        For `topgap.selection` and Spark alone: others call `GroupedEstimates`, which checks.

        Args:
            release: The lists of all groups.
            units: The measurements, group after group, in steps of the resolution, packed.
            noise: That of a single measurement.
        """
        made = object.__new__(cls)
        made._fill(release, units, noise)
        return made

    def __getitem__(self, group: Any) -> Estimates:
        release = self._release[group]
        start, end = self._release.find_slice(group)
        units = self._units
        if isinstance(units, bytes):
            units = units[8 * start : 8 * end]
        elif units is not None:
            units = units[start:end]
        resolution = release.parameters.resolution
        measured = to_exact(unpack_units(units), resolution) or ()
        return Estimates(release, measured, self.noise)

    @property
    def release(self) -> GroupedRelease:
        """The lists of all groups, without the measurements."""
        return self._release

    @property
    def groups(self) -> tuple[Any, ...]:
        """All groups, in their public order."""
        return self._release.groups

    @property
    def parameters(self) -> TopKByGroup:
        """What the lists were made with; `epsilon` is the part of ε that selects."""
        return self._release.parameters

    @property
    def noise(self) -> Noise:
        """What is known of the noise of the measurements in each group."""
        return self._noise.repeat(self.parameters.each.k)

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of publishing all of it, all groups together."""
        each = self._noise.epsilon or Fraction(0)
        return self.parameters.epsilon + self.parameters.measurements_per_person * each

    @property
    def cost(self) -> str:
        """What all of it has cost, and what for, in words."""
        most = self.parameters.measurements_per_person
        measuring = format_short(self._noise.epsilon or Fraction(0))
        times = "1 of which is" if most == 1 else f"{most:,} of which are"
        return (
            f"ε = {format_short(self.epsilon)} for {name_all(len(self))}: "
            f"{format_short(self.parameters.epsilon)} to select and {measuring} for each "
            f"measurement, at most {times} about one person"
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many winners each group has."""
        return self._release.sizes

    @property
    def domain(self) -> DomainDescription | None:
        """Which items took part in each group, in words and with their number, if that is known."""
        return self._release.domain

    @property
    def domain_from_data(self) -> bool:
        """Whether the list of items is known to be from the data, and so is not protected."""
        return self._release.domain_from_data

    @property
    def has_gaps(self) -> bool:
        """Whether the lists have gaps: always."""
        return self._release.has_gaps

    @property
    def has_counts(self) -> bool:
        """Whether any list tells how large its winners' answers are without measurements: none."""
        return self._release.has_counts

    def cautions(self, level: "Number" = LEVEL) -> list[str]:  # noqa: ARG002 - as of the release
        """The sentence about groups whose estimates may be biased, if there are any."""
        each = self.parameters.each
        return explain_near_ties(each, self.groups, self._release.list_gap_units())

    def with_items(
        self, items: Sequence[Sequence[Any]], groups: Sequence[Any]
    ) -> "GroupedEstimates":
        """Return the same with other names for winners and groups, and without positions."""
        release = self._release.with_items(items, groups)
        return GroupedEstimates.from_mechanism(release, self._units, self._noise)

    def to_dict(self, level: "Number" = LEVEL) -> dict[str, Any]:
        """Everything in a dict: each group with its winners, measurements and estimates.

        Args:
            level: That of the intervals, of which both kinds are written.
        """
        results = []
        for each in self.values():
            document = each.to_dict(level)
            results.append(
                {
                    "winners": document["release"]["winners"],
                    "measurements": document["measurements"],
                    "estimates": document["estimates"],
                }
            )
        return build_grouped_document(
            FORMAT,
            self.parameters,
            self.groups,
            results,
            spent=self.epsilon,
            domain=self._release.domain,
            domain_from_data=self._release.domain_from_data,
            epsilon=str(self.epsilon),
            noise=self._noise.to_dict(),
            level=format_exact(read_level(level)),
        )

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> "GroupedEstimates":
        """Make the estimates that `to_dict` wrote, anew from what was released and measured.

        Raises:
            EstimatesError, ReleaseError: This is not what `to_dict` writes.
        """
        parameters, estimates = parse_grouped_estimates(read)
        made = cls(parameters, estimates)
        if read["epsilon"] != str(made.epsilon):
            raise EstimatesError("These are not estimates: the parts do not sum to epsilon.")
        return made

    @classmethod
    def from_json(cls, text: str | bytes) -> "GroupedEstimates":
        """Read what `to_json` wrote; lists come back as the tuples that they were.

        Raises:
            EstimatesError, ReleaseError: The text is not the JSON of estimates for each group.
        """
        return cls.from_dict(read_json(text))

    def __eq__(self, other: object) -> bool:
        """Whether the same was released and measured for the same groups."""
        if not isinstance(other, GroupedEstimates):
            return NotImplemented
        return self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[GroupedRelease, PackedUnits, Noise]:
        return self._release, self._units, self._noise

    def __copy__(self) -> "GroupedEstimates":
        return self

    def __deepcopy__(self, memo: object) -> "GroupedEstimates":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupedEstimates.from_mechanism, self._parts
