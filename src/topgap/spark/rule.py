"""A domain that is not written out, and whether the items of some columns can be in it.

All of this is decided by the domain and by the types of columns, before anything runs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from topgap.domains import Domain, FromData
from topgap.domains.structure import find_sets, list_parts
from topgap.errors import DomainError, ParameterError
from topgap.parameters import TopK
from topgap.selection.unlisted import check_domain, to_domain
from topgap.spark.domain_frame import check_types

_SIZES = (2, 3)


class Rule(NamedTuple):
    """A domain that is not written out.

    Attributes:
        domain: The domain of what is counted.
        inner: The domain of a single item; the same, unless items go together.
        together: How many items go together: 1, 2 or 3.
    """

    domain: Domain
    inner: Domain
    together: int = 1


def read_rule(domain: object, together: object, columns: int = 1) -> Rule | None:
    """Read the domain of events; None for a list or a data frame, which is joined with the counts.

    A list of tuples is not joined. It is used as a rule is, as its items are of several columns.

    Raises:
        DomainError: The domain cannot be used.
        ParameterError: Neither pairs nor triples are to be counted.

    >>> read_rule(["tea", "milk", "rum"], 2)
    Rule(domain=<Domain of 3 items: all pairs of (a list of 3 items)>, inner=<Domain of 3 items>, \
together=2)
    """
    if together is not None:
        if type(together) is not int or together not in _SIZES:
            raise ParameterError("together must be 2, for pairs, or 3, for triples.")
        if isinstance(domain, DataFrame):
            raise DomainError("together needs a list or a topgap.Domain, not a data frame.")
        if isinstance(domain, FromData):
            raise DomainError("together needs a public domain; it cannot be taken from the data.")
        inner = Domain(domain)  # type: ignore[arg-type]  # which it checks
        if find_sets(inner) is not None:
            raise DomainError("The items of the domain are sets already; leave together out.")
        return Rule(Domain.subsets(inner, size=together), inner, together)
    if columns > 1 and not isinstance(domain, Domain | DataFrame | FromData):
        domain = Domain(domain)  # type: ignore[arg-type]  # which it checks
    if not isinstance(domain, Domain) or (domain.is_listed and domain.columns == 1):
        return None
    sets = find_sets(domain)
    if sets is not None and sets.together not in _SIZES:
        raise ParameterError("Sets of 2 or of 3 items are counted, pairs and triples.")
    return Rule(domain, domain) if sets is None else Rule(domain, *sets)


def read_rule_of_counts(domain: object) -> Rule:
    """Read the domain of precomputed counts, which may be a list as well.

    Raises:
        DomainError: It cannot be used.
        ParameterError: Its items are sets.
    """
    if isinstance(domain, DataFrame):
        raise DomainError(
            "The domain of precomputed counts is a list or a topgap.Domain, not a data frame; "
            "without by, leave it out if the rows are all of its items."
        )
    items: Any = to_domain(domain)
    if find_sets(items) is not None:
        raise ParameterError(
            "Precomputed counts do not say which person has which item; count sets of items from "
            "events."
        )
    return Rule(items, items)


def check_fit(rule: Rule, kinds: Sequence[DataType], parameters: TopK) -> None:
    """See whether k winners can be drawn from the domain, and items be in columns of these types.

    Raises:
        DomainError: They cannot.
        ParameterError: The noise is too large for the kernel.
    """
    check_domain(rule.domain, parameters)
    parts = list_parts(rule.inner)
    if any(find_sets(part) is not None for part in parts):
        raise DomainError("Sets of items are counted as a whole domain, not as a part of another.")
    columns = rule.inner.columns
    if columns != len(kinds):
        raise DomainError(
            f"The domain has {format_columns(columns)}, and the items have "
            f"{format_columns(len(kinds))}; give a Domain.product with a part for each column, or "
            f"a list of tuples."
        )
    # All items of a rule are of one type.
    own = [part.names if part.is_listed else [part.unrank(0)] for part in parts]
    if len(own) < columns:  # a list of tuples
        own = [*zip(*rule.inner.names, strict=True)]
    for values, kind in zip(own, kinds, strict=True):
        check_types(values, kind)


def format_columns(number: int) -> str:
    """So many columns, in words."""
    return "1 column" if number == 1 else f"{number} columns"
