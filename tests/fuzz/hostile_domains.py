"""Domains of every kind and size, and what their makers might be handed: for Hypothesis."""

from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

from tests.fuzz.hostile_parameters import ANYTHING, NAMES, ODD_NAMES, names
from tests.fuzz.hostile_values import POWERS, WHOLE, FailingNumber, any_of, held
from topgap import Domain
from topgap.counting import FROM_DATA
from topgap.errors import DomainError, TopgapError

_ANSWERED = st.integers(0, 9).map(lambda number: f"item {number}")
_ITEMS = st.lists(_ANSWERED | st.integers(0, 9), min_size=1, max_size=12, unique=True)
_HOLDERS = [list, tuple, pd.Index, pa.array, np.array, iter, pd.Series, Domain]

# ---------------------------------------------------------------- patterns and alphabets

_PIECES = st.one_of(
    st.sampled_from(
        ["a", "b", "0", "-", "item ", "é", "ß", "ſ", "😀", "[a-c]", "[0-9]", "[A-Z]", "(?i-u:k)"]
    ),
    st.sampled_from([".", r"\d", r"\w", r"\s", " ", "", "(?i:k)", "[^a]", r"\p{Lu}", "e\u0301"]),
    st.sampled_from(["^", "$", r"\b", "(?=a)", r"(a)\1", "[", ")", "\\", "(?P<x>a)", "\x00", "\n"]),
    st.text(max_size=2),
)
_TIMES = st.sampled_from(
    ["{2}", "?", "{1,3}", "{0,2}", "{40}", "+", "*", "{3,1}", "{1000}", "{99999999}", "??", "{,2}"]
)
_GOOD_PIECES = st.sampled_from(["a", "b", "[a-c]", "[0-9]", "[A-Z]", "-", "é", "item [0-9]", "7"])
_GOOD_TIMES = st.sampled_from(["", "", "{2}", "{1,3}", "{12}", "{25}", "+"])


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f"({'|'.join(each)})"),
        st.tuples(inner, _TIMES).map(lambda both: f"({both[0]}){both[1]}"),
    )


PATTERNS = st.recursive(st.one_of(_GOOD_PIECES, _PIECES), _nested, max_leaves=5)
"""Patterns that Rust's crate regex reads, and others."""

GOOD_PATTERNS = st.lists(
    st.tuples(_GOOD_PIECES, _GOOD_TIMES).map("".join), min_size=1, max_size=3
).map("".join)

ALPHABETS = st.one_of(
    st.sampled_from(["a-z0-9-", "ab", "01", " a", "-", r"\--\\", "a-", "é", "é-ü", "a-a", "aab"]),
    st.sampled_from(["", " ", "z-a", "\\", r"\x", "e\u0301", "\ud800", "\x00-\U0010ffff", "a-b-c"]),
    st.text(max_size=4),
)
LENGTHS = st.one_of(st.integers(1, 5), st.sampled_from([1, 20, 300, 2500, np.int8(3)]))
NO_LENGTHS = st.one_of(
    WHOLE, any_of([None, True, 1.0, "3", 0, -1, [3], object(), FailingNumber(3), 10**30])
)
ENDS = st.one_of(st.integers(-20, 20), WHOLE, st.sampled_from(POWERS))

# ---------------------------------------------------------------- domains


@st.composite
def _simple(draw: st.DrawFn) -> Domain:
    kind = draw(st.integers(0, 4))
    if kind == 0:
        start = draw(st.integers(-20, 20) | st.sampled_from([-(10**20), 2**63 - 5, 10**30]))
        return Domain.range(start, start + draw(st.sampled_from([1, 9, 100, *POWERS[:-1]])))
    if kind == 1:
        pattern, length = draw(GOOD_PATTERNS), draw(st.sampled_from([100, 800]))
        try:
            return Domain.pattern(pattern, max_length=length)
        except DomainError:  # its automaton is too large
            return Domain.pattern("[a-c]{2}")
    if kind == 2:
        alphabet = draw(st.sampled_from(["a-z0-9-", "a", "item 0-9", "0-9", "é-ü"]))
        return Domain.strings(alphabet, max_length=draw(st.sampled_from([1, 2, 6, 20, 800])))
    return Domain(draw(_ITEMS) if kind == 3 else range(draw(st.sampled_from([1, 3, 1000]))))


def _join(parts: list[Domain]) -> Domain:
    return reduce(lambda joined, part: Domain.product(joined, part), parts)


@st.composite
def made(draw: st.DrawFn) -> Domain:
    """A domain of any kind, most of them of few parts; one part alone if they do not fit."""
    parts = draw(st.lists(_simple(), min_size=1, max_size=draw(st.sampled_from([1, 1, 2, 3]))))
    try:
        domain = _join(parts)
        for size in draw(st.sampled_from([[], [], [], [1], [2], [2], [3], [8], [2, 2]])):
            domain = Domain.subsets(domain, size=size)
        if draw(st.integers(0, 9)) == 0:  # sets as a part of a product
            domain = Domain.product(domain, draw(_simple()))
    except TopgapError:  # too large, or fewer items than the sets need
        domain = parts[0]
    return domain


@st.composite
def written(draw: st.DrawFn) -> Any:
    """The items of a list, in whatever may hold them; many are names that the answers have."""
    odd = draw(st.lists(NAMES, max_size=draw(st.sampled_from([0, 1, 1, 3]))))
    return held(draw(st.sampled_from(_HOLDERS)), [*odd, *draw(_ITEMS)])


@st.composite
def domains(draw: st.DrawFn) -> Any:
    """Public lists of items and rules for them, or None; many with names that the answers have."""
    luck = draw(st.integers(0, 12))
    if luck < 5:
        return None
    if luck == 5:
        return draw(st.one_of(names(), st.sampled_from([FROM_DATA, "flu", {1, 2}, range(10**12)])))
    if luck > 9:
        return draw(made())
    return draw(written())


PARTS = st.one_of(made(), made(), written(), names(), ANYTHING, st.just(FROM_DATA))
"""What a product or subsets may be made of."""

# ---------------------------------------------------------------- names to look for


class OddText(str):
    """A text that is not compared, hashed or shown as another."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not compared")

    def __hash__(self) -> int:
        raise OSError("no hash")

    def __str__(self) -> str:
        raise ValueError("no text")


class OddTuple(tuple[Any, ...]):
    """A tuple that tells nothing of its items."""

    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __iter__(self) -> Any:
        raise OSError("no items")

    def __eq__(self, other: object) -> bool:
        raise ValueError("not compared")

    def __hash__(self) -> int:
        return 7


class EqualToAll:
    """What is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("a")

    def __int__(self) -> int:
        return 3


_LONELY = st.one_of(
    ODD_NAMES, ANYTHING, _ANSWERED, WHOLE, st.floats(), st.sampled_from(["a", "aa", "7", "٣", "0"]),
    any_of([OddText("a"), FailingNumber(3), EqualToAll(), np.array([1, 2]), 3 + 0j, 10**5000]),
)  # fmt: skip
SOUGHT = st.recursive(
    _LONELY,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(OddTuple),
        st.frozensets(st.integers(0, 9) | _ANSWERED, max_size=3),
    ),
    max_leaves=6,
)
"""What may be looked for in a domain: anything, alone or in tuples and sets."""
