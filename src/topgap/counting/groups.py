"""The public groups of a count, and the columns that identify them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from topgap.counting.domain import to_domain
from topgap.counting.fitting import check_fit
from topgap.counting.tally import Tally, read_columns
from topgap.domains import Domain, FromData
from topgap.domains.groups import as_of_groups, to_groups
from topgap.errors import DomainError, ParameterError
from topgap.numbers.parse import read_whole


class Grouping(NamedTuple):
    """How a source is split into groups.

    Attributes:
        columns: The columns that identify the group; empty for transactions, whose first items do.
        groups: The public groups.
        most: c, in how many groups a person counts.
    """

    columns: Sequence[str]
    groups: Domain
    most: int

    def check_fit(
        self, domain: Domain | FromData, tally: Tally, items: Sequence[str] | None
    ) -> None:
        """See whether the groups, and the items of a domain, can be in the columns of a tally.

        Raises:
            DomainError: They cannot.
            ParameterError: The sets are larger than triples.
        """
        width = len(self.columns) or 1
        try:
            check_fit(self.groups, tally.of_columns(slice(width)), self.columns)
        except DomainError as error:
            raise as_of_groups(error) from None
        check_fit(domain, tally.of_columns(slice(width, None)), items)


def read_grouping(by: Any, groups: Any, groups_per_person: Any) -> Grouping | None:
    """Read how a table is split into groups; None if it is not.

    Args:
        by: The column with the groups, or several in a list.
        groups: The public groups, or the path of a file with one a line.
        groups_per_person: In how many of them a person counts.

    Raises:
        ParameterError, ParameterTypeError: One is missing, or cannot be used.
        DomainError: The groups cannot be used.

    >>> read_grouping("region", ["North", "South"], 1).groups
    <Domain of 2 items>
    """
    most = read_whole(groups_per_person, "groups_per_person", least=1)
    if by is None and groups is None:
        if most > 1:
            raise ParameterError("groups_per_person needs by, the column with the groups.")
        return None
    if by is None:
        raise ParameterError("groups needs by, the column with the groups.")
    columns = read_columns(by, "by", "groups")
    if groups is None:
        raise DomainError("The groups are missing; give the public list of them.")
    return Grouping(columns, _read_groups(groups), most)


def read_grouping_of_lines(groups: Any) -> Grouping | None:
    """Read how transactions are split into groups, which their first items tell; None if not.

    Raises:
        DomainError: The groups cannot be used.
    """
    return None if groups is None else Grouping([], _read_groups(groups), 1)


def _read_groups(groups: Any) -> Domain:
    try:
        public = to_domain(groups)
    except DomainError as error:
        raise as_of_groups(error) from None
    return to_groups(public)
