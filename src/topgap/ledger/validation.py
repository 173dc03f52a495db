"""Validate what a user passes to a ledger: paths, names, notes, parameters and results."""

import getpass
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from topgap.display.items import format_item
from topgap.display.text import to_line
from topgap.errors import LedgerError, ParameterError, ParameterTypeError, ReleaseError
from topgap.estimates.result import Estimates
from topgap.ledger.entry import (
    MAX_JSON_DEPTH,
    MAX_JSON_DIGITS,
    RELATIONS,
    conversion_factor,
    is_json,
    relation_of,
)
from topgap.parameters import Neighbours
from topgap.release import Release
from topgap.release.by_group import ByGroup
from topgap.release.parsing import has_json

_LONGEST_NAME, _LONGEST_TEXT = 200, 10_000
_LONGEST_WAIT = 86_400


def read_path(path: Any) -> Path:
    """Return the path from the root, so that it stays the same wherever the process goes.

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
        raise ParameterError(
            "A ledger is given by the path of its file, and its name must not be empty."
        )
    return whole


def read_dataset(name: Any) -> str:
    """Return the name of a data set, composed in one way if Unicode has several.

    Raises:
        ParameterError, ParameterTypeError: It is not a name.

    >>> read_dataset("visits 2026")
    'visits 2026'
    """
    return _read_line(name, "dataset")


def fold_name(name: str) -> str:
    """Return what a name has in common with those that people take for the same.

    >>> fold_name("Visits 2026") == fold_name("visits2026")
    True
    """
    return "".join(normalize("NFKC", name).casefold().split())


def read_mechanism(name: Any) -> str:
    """Return the name of a mechanism.

    >>> read_mechanism("a sum")
    'a sum'
    """
    return _read_line(name, "mechanism")


def read_neighbours(neighbours: Any) -> Neighbours:
    """Return the relation between data sets that an ε is true for.

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
    """Return who charges: the user of this process, unless given."""
    return _current_user() if who is None else _read_line(who, "who")


def read_note(note: Any) -> str | None:
    """Return the note, if there is one.

    Raises:
        ParameterError, ParameterTypeError: It is not a text, or too long.
    """
    if note is None:
        return None
    _check_text(note, "note", _LONGEST_TEXT)
    if "\0" in note:
        raise ParameterError("note must be text without NUL characters.")
    return str(note)


def read_parameters(parameters: Mapping[str, Any] | None) -> str:
    """Return the parameters of a mechanism as JSON.

    Raises:
        ParameterTypeError: JSON cannot hold them.

    >>> read_parameters({"k": 10})
    '{"k": 10}'
    """
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ParameterTypeError(f"parameters must be a dict, not {type(parameters).__name__}.")
    return _to_json(dict(parameters or {}), "parameters")


def read_wait(wait: Any) -> float:
    """Return how many seconds to wait.

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


class Recordable(NamedTuple):
    """A result as the ledger keeps it.

    Attributes:
        json: The result as JSON.
        cost: The ε of the release; None if the result does not tell.
        neighbours: The neighbouring data sets that this ε is true for; None if unknown.
    """

    json: str
    cost: Fraction | None
    neighbours: Neighbours | None


def read_result(result: object) -> Recordable:
    """Return the result of a charge as the ledger keeps it.

    Raises:
        ParameterTypeError: It is neither a release nor anything that JSON can hold.

    >>> from topgap import TopK
    >>> made = Release(TopK(k=1, epsilon=1, monotonic=True), None, [125], [("flu", 2026)])
    >>> kept, *cost = read_result(made)
    >>> Release.from_json(kept).items, cost
    ((('flu', 2026),), [Fraction(1, 1), 'add-remove'])
    """
    if result is None:
        raise ParameterTypeError("result must be what was released, not None.")
    kept = _to_json(_to_plain(result), "result")
    if not isinstance(result, Release | Estimates | ByGroup):
        return Recordable(kept, None, None)
    release = result.release if isinstance(result, Estimates) else result
    return Recordable(kept, result.epsilon, relation_of(release.parameters))


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


def _current_user() -> str:
    try:
        return _read_line(getpass.getuser(), "who")
    except (KeyError, OSError, ImportError, ParameterError):  # as in a container without users
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _to_json(value: object, name: str) -> str:
    """Return the value as JSON, which everyone can read again.

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
            f"{name} must have at most {MAX_JSON_DEPTH} levels of lists and dicts, and no whole "
            f"number of more than {MAX_JSON_DIGITS} digits."
        )
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, which a file cannot have
        return json.dumps(value)
    return text


def _to_plain(result: object, levels: int = MAX_JSON_DEPTH) -> object:
    """Return the result with dicts for releases and estimates, also within lists and dicts."""
    if isinstance(result, Release):
        return _with_plain_items(result).to_dict()
    if isinstance(result, ByGroup):
        return _with_plain_names(result).to_dict()
    if isinstance(result, Estimates):
        return replace(result, release=_with_plain_items(result.release)).to_dict()
    if isinstance(result, list | tuple) and levels > 0:
        return [_to_plain(each, levels - 1) for each in result]
    if isinstance(result, dict) and levels > 0:
        return {name: _to_plain(each, levels - 1) for name, each in result.items()}
    return result


def _with_plain_items(release: Release) -> Release:
    """Return the release, with items as text where JSON cannot hold them."""
    try:
        release.to_json()
    except ReleaseError:
        return release.with_items([*map(format_item, release.items)])
    return release


def _with_plain_names(result: ByGroup[Any]) -> ByGroup[Any]:
    """Return the result of all groups, with names as text if JSON cannot hold some of them."""
    groups, items = [*result.groups], [[*each.items] for each in result.values()]
    has_plain_groups = all(map(has_json, groups))
    if has_plain_groups and all(has_json(item) for each in items for item in each):
        return result
    if not has_plain_groups:
        groups = [*map(format_item, groups)]
        if len({*groups}) < len(groups):  # texts that are alike: their places tell them apart
            groups = [f"{place}: {text}" for place, text in enumerate(groups, 1)]
    return result.with_items([[*map(format_item, each)] for each in items], groups)


def convert_epsilon(
    epsilon: Fraction, stated: Neighbours | None, relation: Neighbours, dataset: str
) -> Fraction:
    """Return the cost of a release to a data set with this relation.

    Raises:
        LedgerError: No ε for this relation follows from the stated one.

    >>> convert_epsilon(Fraction(1, 3), "add-remove", "replace", "visits")
    Fraction(2, 3)
    """
    factor = conversion_factor(stated, relation)
    if factor is None:
        raise LedgerError(
            f"The ε of {to_line(dataset)} is for one person added or removed (add-remove), and "
            f"an ε for one person replaced by another (replace) does not bound it; state one "
            f"that holds for add-remove, or charge a data set that was added with neighbours "
            f"replace; nothing was charged."
        )
    return epsilon * factor
