"""Public lists that a user gives by the path of a file: of items, or of groups."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, DataType, DateType, DecimalType

from topgap.counting.domain import read_domain
from topgap.display.text import format_path
from topgap.domains import Domain
from topgap.domains.groups import as_of_groups
from topgap.errors import DomainError
from topgap.sources.paths import is_path
from topgap.spark.columns import INTEGERS

_READ: dict[type[DataType], Callable[[str], Any]] = {
    BooleanType: {"true": True, "false": False}.__getitem__,
    DateType: date.fromisoformat,
    DecimalType: Decimal,
    **dict.fromkeys(INTEGERS, int),
}


def read_items(domain: object, source: object, item: object) -> object:
    """The domain that a user gives, read if it is the path of a file with an item a line.

    The lines are read as values of the column of the items, because Spark compares no text with a
    number.

    Raises:
        DomainError: The file cannot be read, or has other values.
    """
    return _read(domain, source, item) if is_path(domain) else domain


def read_groups(groups: object, source: object, by: object) -> object:
    """The same of groups.

    Raises:
        DomainError: The file cannot be read, or has other values.
    """
    if not is_path(groups):
        return groups
    try:
        return _read(groups, source, by)
    except DomainError as error:
        raise as_of_groups(error) from None


def describe_path(given: Any) -> str | None:
    """The path of a list as the ledger notes it, without passwords; None if it is none."""
    return format_path(os.fspath(given)) if is_path(given) else None


def _read(path: Any, source: object, column: object) -> Domain:
    listed = read_domain(path)
    read = _READ.get(_find_type(source, column))
    if read is None:
        return listed
    try:
        return Domain([read(text) for text in listed.texts])
    except (ValueError, ArithmeticError, KeyError):
        raise DomainError(
            "The file has a line that is not a value of the column's type in Spark, such as a text "
            "for a column of numbers."
        ) from None


def _find_type(source: object, column: object) -> Any:
    """The type of the column, if there is one; errors about it come later."""
    [name] = column if isinstance(column, list | tuple) and len(column) == 1 else [column]
    if isinstance(source, DataFrame) and isinstance(name, str):
        with suppress(Exception):
            return type(source.schema[name].dataType)
    return None
