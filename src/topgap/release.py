"""`Release`: the published result, at the boundary between secret and public data."""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from topgap.display import dataframes
from topgap.display.plot import plot_gaps
from topgap.display.text import format_html_table, format_text_table, to_line, to_repr
from topgap.errors import ReleaseError, TopgapError
from topgap.numbers.format import format_exact, parse_exact
from topgap.numbers.parse import is_whole
from topgap.parameters import TopK

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

NOT_PROTECTED = (
    "Not protected: the list of items was taken from the data, so that an item is named here "
    "shows that somebody has it, whatever ε is."
)
"""What is said of a release whose list of items was taken from the data."""

FORMAT = "topgap.release/1"
_KEYS, _CAVEAT_KEYS = {"format", "parameters", "winners"}, {"domain_from_data", "caveat"}
_PARAMETERS = ("k", "epsilon", "resolution", "sensitivity", "monotonic")
_MOST_ROWS = 60
_LARGEST_IN_JSON = 10**600  # whole numbers up to here can be read anywhere


class Release:
    """The winners from the largest down, and the lead of each over the next.

    It holds nothing else: no answer, no noise, and not who came after the last winner. What its
    methods write may be published at the privacy loss `epsilon`.

    Args:
        parameters: What the release was made with.
        indices: The winners' positions among the answers, from 0; None if only names are known.
        gap_units: Their leads over the next, as multiples of the resolution; None without gaps.
        items: The winners' names; None if items go by their position.
        domain_from_data: Whether the list of items was taken from the data: what is written says
            then that it is not protected that somebody has an item.

    Raises:
        ReleaseError: These cannot have been released with these parameters.

    >>> release = Release(TopK(k=2, epsilon=1), [4, 0], [125, 3], ["flu", "cold"])
    >>> release.items, release.gaps
    (('flu', 'cold'), (Fraction(25, 2), Fraction(3, 10)))
    >>> for item, gap in release:
    ...     print(item, float(gap))
    flu 12.5
    cold 0.3
    >>> print(release)
    rank  item  ahead of the next by
       1  flu                   12.5
       2  cold                   0.3
    ε = 1, resolution 1/10, sensitivity 1
    """

    __slots__ = ("_domain_from_data", "_gap_units", "_indices", "_items", "_parameters")

    _parameters: TopK
    _indices: bytes | None  # of int64
    _gap_units: bytes | tuple[int, ...] | None  # of int64, or larger ones
    _items: tuple[Any, ...] | None
    _domain_from_data: bool

    def __init__(
        self,
        parameters: TopK,
        indices: Sequence[int] | None = None,
        gap_units: Sequence[int] | None = None,
        items: Sequence[Any] | None = None,
        *,
        domain_from_data: bool = False,
    ) -> None:
        _require(isinstance(parameters, TopK), "its parameters must be a TopK")
        _require(indices is not None or items is not None, "it must name its winners")
        k = parameters.k
        if indices is not None:
            indices = _read_list(indices, k, "one index per winner")
            fits = all(is_whole(i) and 0 <= i < 2**63 for i in indices)
            _require(fits, "an index is a position, an int from 0 to below 2**63")
            _require(len({*indices}) == k, "no winner can be named twice")
        if gap_units is not None:
            gap_units = _read_list(gap_units, k, "one gap per winner")
            _require(all(is_whole(g) and g >= 0 for g in gap_units), "a gap is never negative")
        if items is not None:
            items = _read_list(items, k, "one item per winner")
        is_flag = isinstance(domain_from_data, bool | np.bool_)
        _require(is_flag, "domain_from_data is True or False")
        put = object.__setattr__  # for our own refuses
        put(self, "_parameters", parameters)
        put(self, "_indices", None if indices is None else _pack(indices))
        put(self, "_gap_units", None if gap_units is None else _pack_units(gap_units))
        put(self, "_items", None if items is None else tuple(items))
        put(self, "_domain_from_data", bool(domain_from_data))

    @classmethod
    def from_mechanism(
        cls,
        parameters: TopK,
        indices: bytes,
        gap_units: bytes | list[int] | None,
        items: list[Any] | None,
        *,
        domain_from_data: bool = False,
    ) -> "Release":
        """Return the release of what the mechanism drew, without any check.

        For `topgap.selection` alone: others call `Release`, which checks its arguments.

        Args:
            parameters: The parameters of the release.
            indices: The winners' positions as int64, in bytes.
            gap_units: The gaps as int64, in bytes; a list if one is larger; None without gaps.
            items: The winners' names; None if items go by their position.
            domain_from_data: Whether the list of items was taken from the data.
        """
        release = object.__new__(cls)
        put = object.__setattr__
        put(release, "_parameters", parameters)
        put(release, "_indices", indices)
        put(release, "_gap_units", _pack_units(gap_units) if type(gap_units) is list else gap_units)
        put(release, "_items", None if items is None else tuple(items))
        put(release, "_domain_from_data", domain_from_data)
        return release

    def with_items(self, items: Sequence[Any]) -> "Release":
        """Return the same release with other names for its winners, and without positions.

        For the ledger and the command, which write names as text.

        Raises:
            ReleaseError: There is not one name for each winner.
        """
        units = None if self.gap_units is None else self.gap_units.tolist()
        from_data = self._domain_from_data
        return Release(self._parameters, None, units, items, domain_from_data=from_data)

    @property
    def parameters(self) -> TopK:
        """What the release was made with."""
        return self._parameters

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of publishing all of it."""
        return self._parameters.epsilon

    @property
    def indices(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The winners' positions among the answers, from 0; a read-only array.

        Where items have names, positions are for your own use and nothing here writes them down:
        the order of a dict or of a Series can itself be a secret, as `value_counts` sorts by the
        true counts.

        Raises:
            ReleaseError: The release was read from names alone.
        """
        if self._indices is None:
            raise ReleaseError("This release was read from names alone, without positions.")
        return np.frombuffer(self._indices, dtype=np.int64)

    @property
    def items(self) -> tuple[Any, ...]:
        """The winners' names, or their positions if the answers came without names."""
        return tuple(self.indices.tolist()) if self._items is None else self._items

    @property
    def gap_units(self) -> np.ndarray[tuple[int], np.dtype[Any]] | None:
        """The lead of each winner over the next as a multiple of the resolution.

        A read-only array of int64; of Python integers, where one is too large for that; None if
        the release has no gaps.
        """
        if isinstance(self._gap_units, tuple):
            units = np.array(self._gap_units, dtype=object)
            units.flags.writeable = False
            return units
        return None if self._gap_units is None else np.frombuffer(self._gap_units, dtype=np.int64)

    @property
    def gaps(self) -> tuple[Fraction, ...] | None:
        """The lead of each winner over the next, exactly; None if the release has no gaps."""
        units = self.gap_units
        if units is None:
            return None
        resolution = self._parameters.resolution
        return tuple(each * resolution for each in units.tolist())

    @property
    def domain_from_data(self) -> bool:
        """Whether the list of items is known to be from the data, and so is not protected."""
        return self._domain_from_data

    @property
    def caveats(self) -> tuple[str, ...]:
        """Sentences about what is not protected, which all that is shown and written has."""
        return (NOT_PROTECTED,) if self._domain_from_data else ()

    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict: gaps and parameters as exact strings, items as they are.

        Winners go by `item` if they have names, and by `index` otherwise. If the list of items was
        taken from the data, `domain_from_data` is True and `caveat` says what that means.

        >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
        >>> release.to_dict()["winners"]
        [{'item': 'flu', 'gap': '12.5'}]
        """
        name = "index" if self._items is None else "item"
        winners: list[dict[str, Any]] = [{name: item} for item in self.items]
        for winner, gap in zip(winners, self.gaps or (), strict=self.gaps is not None):
            winner["gap"] = format_exact(gap)
        document: dict[str, Any] = {
            "format": FORMAT,
            "parameters": self._parameters.to_dict(),
            "winners": winners,
        }
        if self._domain_from_data:
            document |= {"domain_from_data": True, "caveat": NOT_PROTECTED}
        return document

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> "Release":
        """Make the release that `to_dict` wrote.

        Raises:
            ReleaseError: This is not what `to_dict` writes.

        >>> release = Release(TopK(k=1, epsilon=1), [4], [125])
        >>> Release.from_dict(release.to_dict()) == release
        True
        """
        try:
            known = isinstance(read, dict) and bool(read.get("format") == FORMAT)
            _require(known, f"it must have the format {FORMAT}")
            caveat = _CAVEAT_KEYS & {*read}
            _require({*read} - caveat == _KEYS, "it has other entries")
            _require(not caveat or _has_caveat(read), "it marks its domain in another way")
            _require({*read["parameters"]} == {*_PARAMETERS}, "it has other parameters")
            parameters = TopK(**read["parameters"])
            winners = [{**winner} for winner in read["winners"]]
            items, indices, gaps = (_pop_column(winners, name) for name in ("item", "index", "gap"))
            units = None if gaps is None else [_read_units(gap, parameters) for gap in gaps]
        except ReleaseError:
            raise
        except TopgapError as error:
            raise ReleaseError(f"This is no release: {error}") from None
        except Exception:  # of whatever was put in the place of something else
            raise ReleaseError("This is no release: something is missing or misplaced.") from None
        _require(not any(winners), "a winner has an item or an index, and a gap, and nothing else")
        _require(items is None or indices is None, "winners go by an item or by an index")
        return cls(parameters, indices, units, items, domain_from_data=bool(caveat))

    def to_json(self, *, indent: int | None = None) -> str:
        """The release as JSON, from which `from_json` makes an equal one.

        Args:
            indent: Spaces by which inner lines are indented; None for a single line.

        Raises:
            ReleaseError: An item is no string, number, True, False or None, or a whole number of
                more than 600 digits.

        >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
        >>> Release.from_json(release.to_json()) == release
        True
        """
        if not all(_is_json(item) for item in self._items or ()):
            raise ReleaseError(
                "Only items that are strings, finite numbers of at most 600 digits, True, False or "
                "None can be written as JSON; name the items by strings."
            )
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Release":
        """Read what `to_json` wrote.

        Raises:
            ReleaseError: The text is not the JSON of a release.

        >>> Release.from_json("{}")
        Traceback (most recent call last):
        topgap.errors.ReleaseError: This is no release: it must have the format topgap.release/1.
        """
        try:
            read = json.loads(text)
        except Exception:  # it is no text, or not JSON, or nested too deeply
            raise ReleaseError("This is no release: it must be JSON.") from None
        release = cls.from_dict(read)
        _require(all(map(_is_json, release._items or ())), "its items must be strings or numbers")
        return release

    def to_pandas(self) -> "pd.DataFrame":
        """A pandas data frame with one row per winner, from the largest down.

        The columns are `item`, and with gaps `gap`, a float that is the exact gap rounded to the
        nearest, and `gap_units`, the exact multiple of the resolution. If the list of items was
        taken from the data, `domain_from_data` is True in every row.

        Raises:
            ReleaseError: The items, or an enormous gap, fit no column.
            MissingExtraError: pandas is not installed.

        >>> Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]).to_pandas()
          item   gap  gap_units
        0  flu  12.5        125
        """
        return dataframes.to_pandas(self.columns())

    def to_polars(self) -> "pl.DataFrame":
        """A polars data frame with the columns of `to_pandas`, and the same errors.

        >>> Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]).to_polars().rows()
        [('flu', 12.5, 125)]
        """
        return dataframes.to_polars(self.columns())

    def to_arrow(self) -> "pa.Table":
        """An Arrow table with the columns of `to_pandas`, and the same errors.

        >>> Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]).to_arrow().to_pylist()
        [{'item': 'flu', 'gap': 12.5, 'gap_units': 125}]
        """
        return dataframes.to_arrow(self.columns())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """A chart with a bar per winner: its lead over the first item not named, and its gap.

        Args:
            ax: The Matplotlib axes to draw on; new ones in a new figure unless given.

        Raises:
            ReleaseError: The release has no gaps.
            MissingExtraError: Matplotlib is not installed.
        """
        if self.gaps is None:
            raise ReleaseError("A release without gaps has no lengths to plot; print it instead.")
        from_data = self._domain_from_data
        return plot_gaps(self.items, self.gaps, self._parameters, ax, domain_from_data=from_data)

    def columns(self) -> dict[str, Any]:
        """What the data frames are made of: a list or array by each name.

        Raises:
            ReleaseError: An enormous gap fits no column.
        """
        columns: dict[str, Any] = {"item": [*self.items]}
        if self._gap_units is not None:
            if isinstance(self._gap_units, tuple):
                raise ReleaseError(
                    "A gap has more than 2**63 - 1 steps, too many for a column; use to_dict."
                )
            columns["gap"] = [float(gap) for gap in self.gaps or ()]
            columns["gap_units"] = self.gap_units
        return columns | self.caveat_columns

    @property
    def caveat_columns(self) -> dict[str, list[bool]]:
        """The column `domain_from_data`, if the list of items was taken from the data."""
        return {"domain_from_data": [True] * len(self)} if self._domain_from_data else {}

    def __len__(self) -> int:
        return self._parameters.k

    def __iter__(self) -> Iterator[tuple[Any, Fraction | None]]:
        """The winners from the largest down, each with its gap, or None without gaps."""
        return zip(self.items, self.gaps or [None] * len(self), strict=True)

    def rows(self, most: int, cost: str = "") -> tuple[list[str], list[list[str]], str]:
        """The table to show: its head, at most so many rows, and what is to be said below.

        Args:
            most: So many winners are shown.
            cost: What it has cost in ε, if not only this release.
        """
        head = ["rank", "item"] + ["ahead of the next by"] * (self._gap_units is not None)
        parameters = self._parameters
        rows = [[str(rank), to_line(item)] for rank, item in enumerate(self.items[:most], 1)]
        if self.gap_units is not None:
            for row, units in zip(rows, self.gap_units[:most].tolist(), strict=True):
                row.append(format_exact(units * parameters.resolution))
        cost = cost or f"ε = {parameters.epsilon}"
        note = f"{cost}, resolution {parameters.resolution}, sensitivity "
        note += f"{parameters.sensitivity}" + ", monotonic" * parameters.monotonic
        more = len(self) - len(rows)
        return head, rows, f"… and {more} more\n{note}" if more else note

    def __str__(self) -> str:
        return self._format(_MOST_ROWS)

    def to_text(self) -> str:
        """The whole table as text; `str` shows the first winners of a long one."""
        return self._format(len(self))

    def _format(self, most: int) -> str:
        head, rows, note = self.rows(most)
        return "\n".join([format_text_table(head, rows), note, *self.caveats])

    def __repr__(self) -> str:
        shown = ", ".join(to_line(to_repr(item)) for item in self.items[:5])
        more = ", …" if len(self) > 5 else ""
        cost = f"ε = {self.epsilon}" + ", of a list from the data" * self._domain_from_data
        return f"<Release of the top {len(self)} at {cost}: {shown}{more}>"

    def _repr_html_(self) -> str:
        head, rows, note = self.rows(_MOST_ROWS)
        below = escape("\n".join([note, *self.caveats])).replace("\n", "<br>")
        return f"{format_html_table(head, rows)}<p>{below}</p>"

    def __eq__(self, other: object) -> bool:
        """Whether the same was released, by name if there are names, with the same parameters."""
        if not isinstance(other, Release):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self._parameters, self._gap_units))

    def _identity(self) -> tuple[object, ...]:
        named = self._items is not None
        return self._parameters, self._gap_units, named, self.items, self._domain_from_data

    def __copy__(self) -> "Release":
        return self

    def __deepcopy__(self, memo: object) -> "Release":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # As in all that is written, positions go only where there are no names.
        indices = self.indices.tolist() if self._items is None else None
        units = None if self.gap_units is None else self.gap_units.tolist()
        return _restore, (self._parameters, indices, units, self._items, self._domain_from_data)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A Release is frozen.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("A Release is frozen.")


def _restore(
    parameters: TopK,
    indices: list[int] | None,
    gap_units: list[int] | None,
    items: tuple[Any, ...] | None,
    domain_from_data: bool,  # noqa: FBT001 - as it was pickled
) -> Release:
    return Release(parameters, indices, gap_units, items, domain_from_data=domain_from_data)


def _has_caveat(read: dict[str, Any]) -> bool:
    """Whether it says that its domain is from the data, as a flag and in words."""
    return read.get("domain_from_data") is True and isinstance(read.get("caveat"), str)


def _pack(numbers: Sequence[int]) -> bytes:
    return np.array(numbers, dtype=np.int64).tobytes()


def _pack_units(gap_units: Sequence[int]) -> bytes | tuple[int, ...]:
    return tuple(map(int, gap_units)) if max(gap_units) >= 2**63 else _pack(gap_units)


def _require(holds: bool, what: str) -> None:  # noqa: FBT001 - a condition
    if not holds:
        raise ReleaseError(f"This is no release: {what}.")


def _read_list(given: Any, k: int, what: str) -> list[Any]:
    try:
        values = [] if isinstance(given, str | bytes) else [*given]
    except Exception:  # it is no list, or fails as it is read
        values = []
    _require(len(values) == k, f"it must have a list of {what}, as many as k says")
    return values


def _read_units(gap: str, parameters: TopK) -> int:
    try:
        units = parse_exact(gap) / parameters.resolution
    except ValueError:
        raise ReleaseError("This is no release: a gap is written as in '12.5' or '37/3'.") from None
    _require(units.denominator == 1, "a gap is a multiple of the resolution")
    return units.numerator


def _pop_column(winners: list[dict[str, Any]], name: str) -> list[Any] | None:
    """Remove this key from all winners and return its values; None if the first has no such key."""
    if not winners or name not in winners[0]:
        return None
    return [winner.pop(name) for winner in winners]


def _is_json(item: object) -> bool:
    kind = type(item)  # of which nothing is run
    if issubclass(kind, float):
        return isfinite(item)  # type: ignore[arg-type]
    if issubclass(kind, int):
        return int.__abs__(item) < _LARGEST_IN_JSON  # type: ignore[arg-type]
    return item is None or issubclass(kind, str)
