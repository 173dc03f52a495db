"""Small domains of every kind, and strategies of them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from topgap import Domain

SAMPLES: dict[str, Callable[[], Domain]] = {
    "list": lambda: Domain(["flu", 7, 2.5]),
    "list of tuples": lambda: Domain([("x", 7, 2.5), ("y", 7, 2.5), ("x", 8, "7")]),
    "pairs of tuples": lambda: Domain.subsets([("x", 1), ("y", 1), ("x", 2)], size=2),
    "range of Python": lambda: Domain(range(5, -5, -2)),
    "range": lambda: Domain.range(-3, 4),
    "pattern": lambda: Domain.pattern("[ab]{1,2}|é"),
    "pattern with a length": lambda: Domain.pattern("(?:ab|a)+", max_length=4),
    "strings": lambda: Domain.strings("a-c ", max_length=3),
    "product": lambda: Domain.product(["x", "y"], Domain.range(0, 3), Domain.pattern("[ab]")),
    "pairs": lambda: Domain.subsets(Domain.pattern("[a-d]|aa"), size=2),
    "triples of tuples": lambda: Domain.subsets(
        Domain.product(["x", "y"], Domain.range(0, 2)), size=3
    ),
    "sets of one": lambda: Domain.subsets(["b", "a"], size=1),
    "product with pairs": lambda: Domain.product(Domain.subsets([3, 1, 2], size=2), ["p", "q"]),
    "pairs of pairs": lambda: Domain.subsets(Domain.subsets([3, 1, 2], size=2), size=2),
}

SIMPLE: st.SearchStrategy[Domain] = st.one_of(
    st.lists(st.text("abcdé", min_size=1), min_size=1, max_size=4, unique=True).map(Domain),
    st.builds(
        lambda start, size: Domain.range(start, start + size), st.integers(-4, 4), st.integers(1, 5)
    ),
    st.sampled_from(["[ab]", "a|bb", "[ab]{1,2}", "é?a"]).map(Domain.pattern),
)


def _grow(inner: st.SearchStrategy[Domain]) -> st.SearchStrategy[Domain]:
    products = st.lists(inner, min_size=2, max_size=3).map(lambda parts: Domain.product(*parts))
    subsets = st.tuples(inner, st.integers(1, 3)).filter(lambda made: made[0].size >= made[1])
    return st.one_of(products, subsets.map(lambda made: Domain.subsets(made[0], size=made[1])))


SMALL = st.recursive(SIMPLE, _grow, max_leaves=4).filter(lambda domain: domain.size <= 300)
"""Domains of at most 300 items, of any kind."""


def to_texts(name: Any) -> Any:
    """What the cells of an item are compared by."""
    return tuple(map(to_texts, name)) if isinstance(name, tuple) else str(name)
