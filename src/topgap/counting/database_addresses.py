"""Addresses of databases: which sources are one, and the driver by which each is reached.

An address is a URL such as `postgresql://ann@host/clinic`, or a URL or an engine of SQLAlchemy. It
can hold a password, and so no error shows more of it than `label_path` does.
"""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from topgap.counting.database_errors import NO_ADDRESS
from topgap.errors import MissingExtraError, SourceError
from topgap.sources.paths import label_path

_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)(\+[A-Za-z0-9_]+)?://")


class Driver(NamedTuple):
    """A driver of ADBC.

    Attributes:
        module: Its module, which has `connect`.
        extra: The extra of topgap that installs it.
        arguments: What `connect` is given for an address without white space around it.
    """

    module: str
    extra: str
    arguments: Callable[[str], Mapping[str, Any]]


def _give_uri(address: str) -> Mapping[str, Any]:
    return {"uri": address}


def _give_rest(address: str) -> Mapping[str, Any]:
    return {"uri": address.partition("://")[2]}


def _give_project(address: str) -> Mapping[str, Any]:
    parts = urlsplit(address)
    options = {"adbc.bigquery.sql.project_id": parts.netloc}
    dataset = parts.path.strip("/")
    return {"db_kwargs": options | ({"adbc.bigquery.sql.dataset_id": dataset} if dataset else {})}


_POSTGRESQL = Driver("adbc_driver_postgresql.dbapi", "postgresql", _give_uri)
_FLIGHT = Driver("adbc_driver_flightsql.dbapi", "flightsql", _give_uri)
_DRIVERS = {
    "postgresql": _POSTGRESQL,
    "postgres": _POSTGRESQL,
    "snowflake": Driver("adbc_driver_snowflake.dbapi", "snowflake", _give_rest),
    "bigquery": Driver("adbc_driver_bigquery.dbapi", "bigquery", _give_project),
    "grpc": _FLIGHT,
}


def find_address(source: Any) -> str | None:
    """Find the address of the database that a source is; None if it is something else.

    Raises:
        SourceError: It is one of several sources, or an address that cannot be reached so.

    >>> find_address("postgresql+psycopg2://ann@host/clinic"), find_address("visits.csv")
    ('postgresql://ann@host/clinic', None)
    """
    if isinstance(source, list | tuple) and not _is_sqlalchemy(source):
        found = [each for each in source if isinstance(each, str) and is_address(each)]
        if found and len(source) > 1:
            raise SourceError("Only one database can be read at a time, without files.")
        return find_address(found[0]) if found else None
    if isinstance(source, str):
        return _to_plain_scheme(source) if is_address(source) else None
    if not _is_sqlalchemy(source):
        return None
    url = getattr(source, "url", source)
    if not hasattr(url, "render_as_string"):
        raise SourceError(
            f"A {type(source).__name__} of SQLAlchemy cannot be counted; give its engine."
        )
    kind = url.drivername.partition("+")[0]
    if kind in {"sqlite", "duckdb"}:
        return None
    address: str = url.render_as_string(hide_password=False)
    if not is_address(address):
        raise SourceError(
            f"topgap does not read this database ({kind}) through its engine; give a connection "
            f"that returns Arrow, or a data frame that you read from it."
        )
    return _to_plain_scheme(address)


def find_engine_file(source: Any) -> str | None:
    """Find the file of an engine or URL of SQLAlchemy for SQLite or DuckDB; None if it is no such.

    Raises:
        SourceError: Its database is in memory.
    """
    if not _is_sqlalchemy(source) or find_address(source) is not None:
        return None
    path = getattr(source, "url", source).database
    if path in (None, "", ":memory:"):
        raise SourceError(
            "The database of the engine is in memory; give a file, or a data frame that you read "
            "with the engine."
        )
    return str(path)


def is_address(source: str) -> bool:
    """Whether a text is the address of a database that can be reached.

    >>> is_address("postgresql:///?service=clinic"), is_address("https://host/visits.csv")
    (True, False)
    """
    scheme = _SCHEME.match(source)
    return scheme is not None and scheme[1].lower() in _DRIVERS


def is_postgresql(address: str) -> bool:
    """Whether an address is that of PostgreSQL."""
    return _DRIVERS[_name_scheme(address)] is _POSTGRESQL


def prepare_connect(address: str) -> Callable[[], Any]:
    """Find the function that connects to an address; it returns a connection of ADBC.

    Raises:
        MissingExtraError: The driver is not installed.
    """
    driver = _DRIVERS[_name_scheme(address)]
    host = re.split("[/?]", address.partition("://")[2], maxsplit=1)[0]
    if host.count("@") > 1:  # or a part of the password would be looked up as a host
        raise SourceError(NO_ADDRESS.format(label=label_path(address)))
    try:
        import pyarrow  # noqa: F401 - by which drivers hand over rows
    except ImportError:
        raise _missing_driver(address, driver) from None
    try:
        connect = import_module(driver.module).connect
    except ImportError:
        raise _missing_driver(address, driver) from None
    given = driver.arguments(address)
    return lambda: connect(**given, autocommit=True)


def _missing_driver(address: str, driver: Driver) -> MissingExtraError:
    return MissingExtraError(
        f"Reading {label_path(address)} needs {driver.module.partition('.')[0].replace('_', '-')}: "
        f"pip install 'topgap[{driver.extra}]'."
    )


def _name_scheme(address: str) -> str:
    scheme = _SCHEME.match(address)
    return scheme[1].lower() if scheme else ""


def _to_plain_scheme(address: str) -> str:
    """Remove the driver that SQLAlchemy names, but not what Flight SQL means by `grpc+tls`."""
    address = address.strip()
    if _name_scheme(address) == "grpc":
        return address
    return f"{_name_scheme(address)}://{address.partition('://')[2]}"


def _is_sqlalchemy(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] == "sqlalchemy"
