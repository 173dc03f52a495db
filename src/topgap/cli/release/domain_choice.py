"""Which items and groups take part, by the options: one domain, or one for each column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import typer

from topgap.counting import FROM_DATA, Domain, read_domain
from topgap.counting.fitting import make_sets
from topgap.domains import FromData
from topgap.domains.groups import to_groups
from topgap.errors import DomainError
from topgap.sources.columns import quote

_RANGE = re.compile(r"\s*(-?[0-9]{1,4000})\s*:\s*(-?[0-9]{1,4000})\s*")
_LENGTH = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True)
class ChoiceWords:
    """What a choice is about, in the words of its options.

    Attributes:
        prefix: What the names of the options begin with.
        column_option: The option that names the columns.
        chosen: What is chosen.
        one_of: The options of which one is given.
        other: Further options that say it for all columns.
    """

    prefix: str
    column_option: str
    chosen: str
    one_of: str
    other: str = ""

    def to_option(self, name: str) -> str:
        """The option that stands for an attribute of `DomainChoice`.

        >>> _OF_GROUPS.to_option("domain_range")
        '--groups-range'
        """
        return "--" + name.replace("domain", self.prefix, 1).replace("_", "-")


_OF_ITEMS = ChoiceWords(
    prefix="domain",
    column_option="--item",
    chosen="public items",
    one_of="--domain, --domain-range, --domain-pattern and --domain-strings",
    other=", --domain-from-data and --all-rows",
)
_OF_GROUPS = ChoiceWords(
    prefix="groups",
    column_option="--by",
    chosen="public groups",
    one_of="--groups and --groups-range",
)


class _DomainRequest(Protocol):
    """What of a request says which items take part; each option as often as it is given."""

    @property
    def item(self) -> list[str] | None: ...
    @property
    def domain(self) -> list[str] | None: ...
    @property
    def domain_column(self) -> list[str] | None: ...
    @property
    def domain_table(self) -> list[str] | None: ...
    @property
    def domain_encoding(self) -> list[str] | None: ...
    @property
    def domain_range(self) -> list[str] | None: ...
    @property
    def domain_pattern(self) -> list[str] | None: ...
    @property
    def domain_strings(self) -> list[str] | None: ...
    @property
    def max_length(self) -> list[str] | None: ...
    @property
    def together(self) -> int | None: ...
    @property
    def domain_from_data(self) -> bool: ...
    @property
    def all_rows(self) -> bool: ...


class _GroupsRequest(Protocol):
    """What of a request says which groups there are."""

    @property
    def by(self) -> list[str] | None: ...
    @property
    def groups(self) -> list[str] | None: ...
    @property
    def groups_column(self) -> list[str] | None: ...
    @property
    def groups_table(self) -> list[str] | None: ...
    @property
    def groups_encoding(self) -> list[str] | None: ...
    @property
    def groups_range(self) -> list[str] | None: ...
    @property
    def groups_per_person(self) -> int | None: ...


@dataclass(frozen=True, kw_only=True)
class DomainChoice:
    """The options that say what one column can hold, without the name of the column.

    Attributes:
        domain: The file of a list.
        domain_column: The column of that file.
        domain_table: Its sheet or table.
        domain_encoding: Its encoding.
        domain_range: The first and the last of a range.
        domain_pattern: A regular expression.
        domain_strings: An alphabet.
        max_length: The greatest number of characters.
    """

    domain: str | None = None
    domain_column: str | None = None
    domain_table: str | None = None
    domain_encoding: str | None = None
    domain_range: str | None = None
    domain_pattern: str | None = None
    domain_strings: str | None = None
    max_length: str | None = None

    def validate(self, column: str | None, words: ChoiceWords) -> None:
        """Refuse options that are missing, or do not go together.

        Args:
            column: The column that they are for; None if there is but one.
            words: What they are about.

        Raises:
            typer.BadParameter: Some are or do not.
        """
        kinds = (self.domain, self.domain_range, self.domain_pattern, self.domain_strings)
        given = sum(each is not None for each in kinds)
        where = "" if column is None else f" for the column {quote(column)}"
        if given == 0:
            raise typer.BadParameter(
                f"the {words.chosen}{where} are missing; give one of {words.one_of}"
                f"{words.other if column is None else ''}."
            )
        if given > 1:
            raise typer.BadParameter(
                f"give the {words.chosen}{where} by just one of {words.one_of}."
            )
        if self.domain == "-":
            raise typer.BadParameter(
                f"--{words.prefix} names a file; standard input is only for SOURCE."
            )
        for name in ("domain_column", "domain_table", "domain_encoding"):
            if getattr(self, name) is not None and self.domain is None:
                raise typer.BadParameter(f"{words.to_option(name)} needs --{words.prefix}.")
        if self.domain_table is not None and self.domain_column is None:
            raise typer.BadParameter(f"--{words.prefix}-table needs --{words.prefix}-column.")
        if self.domain_strings is not None and self.max_length is None:
            written = "--max-length" if column is None else f"--max-length {column}=NUMBER"
            raise typer.BadParameter(f"--domain-strings needs {written}.")
        is_text = self.domain_pattern is not None or self.domain_strings is not None
        if self.max_length is not None and not is_text:
            raise typer.BadParameter(
                "--max-length is only for --domain-pattern and --domain-strings."
            )
        if self.max_length is not None and not _LENGTH.fullmatch(self.max_length):
            raise typer.BadParameter("--max-length must be a whole number from 1, such as 20.")
        if self.domain_range is not None:
            _read_range(self.domain_range, words)

    def read(self) -> Domain:
        """Read the domain.

        Raises:
            DomainError: It cannot be used.
            ParameterError: The greatest length is no number greater than 0.
        """
        longest = None if self.max_length is None else int(self.max_length)
        if self.domain_pattern is not None:
            return Domain.pattern(self.domain_pattern, max_length=longest)
        if self.domain_strings is not None and longest is not None:
            return Domain.strings(self.domain_strings, max_length=longest)
        if self.domain_range is not None:
            return Domain.range(*_read_range(self.domain_range, _OF_ITEMS))
        return read_domain(
            str(self.domain),
            self.domain_column,
            table=self.domain_table,
            encoding=self.domain_encoding,
        )


def choose_domains(request: _DomainRequest) -> list[DomainChoice]:
    """Find which items each column of items can hold; none if no option says it.

    Raises:
        typer.BadParameter: An option is missing, or there twice, or names no column of items.
    """
    if request.together not in (None, 2, 3):
        raise typer.BadParameter("--together must be 2, for pairs, or 3, for triples.")
    if request.domain_from_data or request.all_rows:
        _check_distinct(request.item or [], _OF_ITEMS)
        if any(getattr(request, name) for name in DomainChoice.__dataclass_fields__):
            raise typer.BadParameter(
                f"give the public items by just one of {_OF_ITEMS.one_of}, --domain-from-data and "
                f"--all-rows."
            )
        return []
    return _choose(request, request.item or [], _OF_ITEMS)


def choose_groups(request: _GroupsRequest) -> list[DomainChoice]:
    """Find which groups each column of groups can hold; of transactions, the first items of lines.

    Raises:
        typer.BadParameter: An option is missing, or there twice, or names no column of groups.
    """
    return _choose(request, request.by or [], _OF_GROUPS)


def _choose(request: Any, columns: Sequence[str], words: ChoiceWords) -> list[DomainChoice]:
    _check_distinct(columns, words)
    names = [*DomainChoice.__dataclass_fields__]
    given: dict[str, Sequence[str]] = {
        name: getattr(request, name.replace("domain", words.prefix, 1), None) or []
        for name in names
        if "domain" in name or words is _OF_ITEMS
    }
    if len(columns) < 2:
        single = {name: _read_single(name, given[name], columns, words) for name in given}
        choice = DomainChoice(**single)
        choice.validate(None, words)
        return [choice]
    split = {name: _split_by_column(name, given[name], columns, words) for name in given}
    choices = [
        DomainChoice(**{name: split[name].get(column) for name in given}) for column in columns
    ]
    for column, choice in zip(columns, choices, strict=True):
        choice.validate(column, words)
    return choices


def _check_distinct(columns: Sequence[str], words: ChoiceWords) -> None:
    if len({*columns}) < len(columns):
        raise typer.BadParameter(f"{words.column_option} names each column once.")


def read_request_domain(request: _DomainRequest) -> Domain | FromData:
    """Read the domain that the options say.

    Raises:
        DomainError, ParameterError: It cannot be used.
    """
    if request.domain_from_data:
        return FROM_DATA
    domain = _read_all(choose_domains(request))
    return domain if request.together is None else make_sets(domain, request.together)


def read_request_groups(request: _GroupsRequest) -> Domain:
    """Read the public groups that the options say.

    Raises:
        DomainError: They cannot be used.
        typer.BadParameter: There are fewer than one person is said to be in, so ε would be wasted.
    """
    try:
        groups = to_groups(_read_all(choose_groups(request)))
    except DomainError as error:
        raise DomainError(f"The groups cannot be used: {error}") from None
    if (request.groups_per_person or 1) > groups.size:
        raise typer.BadParameter(
            f"--groups-per-person must be at most {groups.size:,}, the number of groups."
        )
    return groups


def _read_all(choices: Sequence[DomainChoice]) -> Domain:
    domains = [choice.read() for choice in choices]
    return domains[0] if len(domains) == 1 else Domain.product(*domains)


def _read_single(
    name: str, values: Sequence[str], columns: Sequence[str], words: ChoiceWords
) -> str | None:
    option, columns_option = words.to_option(name), words.column_option
    if len(values) > 1:
        raise typer.BadParameter(
            f"{option} is given once; several are for several {columns_option} columns."
        )
    for value, column in product(values, columns):
        if value.startswith(f"{column}="):
            raise typer.BadParameter(
                f"with one {columns_option} column, write {option} without COLUMN= before it."
            )
    return values[0] if values else None


def _split_by_column(
    name: str, values: Sequence[str], columns: Sequence[str], words: ChoiceWords
) -> Mapping[str, str]:
    """The value for each column, of values that are written COLUMN=VALUE."""
    option = words.to_option(name)
    found: dict[str, str] = {}
    for value in values:
        named = [each for each in columns if value.startswith(f"{each}=")]
        if not named:
            raise typer.BadParameter(
                f"with several {words.column_option} columns, write {option} as COLUMN=VALUE, "
                f"where COLUMN is one of {', '.join(map(quote, columns))}."
            )
        column = max(named, key=len)  # of the columns a and a=b
        if column in found:
            raise typer.BadParameter(f"{option} is given twice for one column.")
        found[column] = value[len(column) + 1 :]
    return found


def _read_range(text: str, words: ChoiceWords) -> tuple[int, int]:
    """The ends of a range as Python has them."""
    ends = _RANGE.fullmatch(text)
    if ends is None:
        raise typer.BadParameter(f"--{words.prefix}-range must be two integers, as in 1:942.")
    first, last = int(ends[1]), int(ends[2])
    if first > last:
        raise typer.BadParameter(
            f"--{words.prefix}-range must not end before it begins, as in 1:942."
        )
    return first, last + 1
