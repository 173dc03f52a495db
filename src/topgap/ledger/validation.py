"""What a user hands in, read: paths, names, notes and parameters."""

import getpass
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

from topgap.errors import LedgerError, ParameterError, ParameterTypeError
from topgap.ledger.entry import DEEPEST, LONGEST_WHOLE, is_json
from topgap.neighbours import RELATIONS, Neighbours

_LONGEST_NAME, _LONGEST_TEXT = 200, 10_000
_LONGEST_WAIT = 86_400


def read_path(path: Any) -> Path:
    """The path from the root, so that it stays the same wherever the process goes.

    Raises:
        ParameterError, ParameterTypeError: It is none.
        LedgerError: It begins in a directory that is gone.

    >>> read_path("budget.db").is_absolute()
    True
    """
    try:
        text = os.fsdecode(path)
        os.fsencode(text)
        whole = Path(text).absolute()
    except TypeError:
        raise ParameterTypeError(
            f"A ledger is given by the path of its file, not by {type(path).__name__}."
        ) from None
    except UnicodeEncodeError:
        raise ParameterError("A ledger's path must be text that a file's name can have.") from None
    except OSError as error:
        raise LedgerError(f"The working directory is gone: {error.strerror}.") from None
    if not text or "\0" in text:
        raise ParameterError("A ledger is given by the path of its file, which has a name.")
    return whole


def read_dataset(name: Any) -> str:
    """The name of a data set, composed in one way if Unicode has several.

    Raises:
        ParameterError, ParameterTypeError: It is no name.

    >>> read_dataset("visits 2026")
    'visits 2026'
    """
    return _read_line(name, "dataset")


def nearly(name: str) -> str:
    """What two names have in common that people take for one.

    >>> nearly("Visits 2026") == nearly("visits2026")
    True
    """
    return "".join(normalize("NFKC", name).casefold().split())


def read_mechanism(name: Any) -> str:
    """What is charged for.

    >>> read_mechanism("a sum")
    'a sum'
    """
    return _read_line(name, "mechanism")


def read_neighbours(neighbours: Any) -> Neighbours:
    """The relation between data sets that an ε is true for.

    Raises:
        ParameterError, ParameterTypeError: It is none.

    >>> read_neighbours("replace")
    'replace'
    """
    if not isinstance(neighbours, str):
        raise ParameterTypeError(f"neighbours must be text, not {type(neighbours).__name__}.")
    for known in RELATIONS:
        if neighbours == known:
            return known
    raise ParameterError(f"neighbours must be {' or '.join(RELATIONS)}.")


def read_who(who: Any) -> str:
    """Who charges; the user of this process, if it is not said."""
    return _user() if who is None else _read_line(who, "who")


def read_note(note: Any) -> str | None:
    """What is noted, if anything is.

    Raises:
        ParameterError, ParameterTypeError: It is no text, or too long.
    """
    if note is None:
        return None
    _check_text(note, "note", _LONGEST_TEXT)
    if "\0" in note:
        raise ParameterError("note must be text without NUL.")
    return str(note)


def read_parameters(parameters: Mapping[str, Any] | None) -> str:
    """The parameters of a mechanism as JSON.

    Raises:
        ParameterTypeError: JSON cannot hold them.

    >>> read_parameters({"k": 10})
    '{"k": 10}'
    """
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ParameterTypeError(f"parameters must be a dict, not {type(parameters).__name__}.")
    return in_json(dict(parameters or {}), "parameters")


def in_json(value: object, name: str) -> str:
    """The value as JSON, which everyone can read again.

    Raises:
        ParameterTypeError: JSON cannot hold it.
        ParameterError: It is nested too deeply, or has a number that is too long.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ParameterTypeError(
            f"{name} must be what JSON can hold: text, finite numbers, lists and dicts."
        ) from None
    if not is_json(text):
        raise ParameterError(
            f"{name} must have at most {DEEPEST} levels of lists and dicts, and no whole number "
            f"of more than {LONGEST_WHOLE} digits."
        )
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, which a file cannot have
        return json.dumps(value)
    return text


def read_wait(wait: Any) -> float:
    """How many seconds to wait.

    Raises:
        ParameterError, ParameterTypeError: It is no such number.

    >>> read_wait(10)
    10.0
    """
    if isinstance(wait, bool) or not isinstance(wait, int | float):
        raise ParameterTypeError(f"wait must be a number of seconds, not {type(wait).__name__}.")
    if not 0 <= wait <= _LONGEST_WAIT:
        raise ParameterError(f"wait must be between 0 and {_LONGEST_WAIT} seconds.")
    return float(wait)


def _read_line(text: Any, name: str) -> str:
    _check_text(text, name, _LONGEST_NAME)
    line = normalize("NFC", text)
    if not line or line != line.strip() or not line.isprintable():
        raise ParameterError(
            f"{name} must be text on one line: not empty, without tabs and the like, and without "
            f"spaces around it."
        )
    return line


def _check_text(text: Any, name: str, longest: int) -> None:
    if not isinstance(text, str):
        raise ParameterTypeError(f"{name} must be text, not {type(text).__name__}.")
    if len(text) > longest:
        raise ParameterError(f"{name} must have at most {longest:,} characters.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{name} must be text that can be written to a file.") from None


def _user() -> str:
    try:
        return _read_line(getpass.getuser(), "who")
    except (KeyError, OSError, ImportError, ParameterError):  # as in a container without users
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"
