"""A threshold with exponential noise in the real OpenDP: the map stays, and covers what it cuts."""

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import opendp.prelude
import pytest

import topgap
from tests.checking.cached_law import exp_minus, gap_top_k
from tests.opendp.test_opendp import KINDS, PURE, ROWS, TREES, features, floats, integers, rows
from topgap import Domain, TopK
from topgap.opendp import then_top_k

dp: Any = opendp.prelude
make_top_k: Any = topgap.opendp.make_top_k
__all__ = ["features"]  # a fixture that every test here needs


@pytest.mark.parametrize(
    ("threshold", "named"), [(3_000, ("oak", "ash")), (7_000, ("oak",)), (10**6, ())]
)
def test_a_sentinel_ends_the_list(threshold: int, named: tuple[str, ...]) -> None:
    """Noise of mean 4 is 900 or more of one of a few with a probability below 1e-90."""
    count = dp.t.make_count_by(*rows())
    for domain in (TREES, Domain.strings("a-z", max_length=20)):
        chain = count >> then_top_k(PURE, 4, 4, threshold=threshold, domain=domain)
        release = chain(ROWS)
        assert release.items == named
        assert len(release.gaps) == len(named)
        assert release.epsilon == chain.map(1) == 1
        assert release.spent == Fraction(len(named) + 1, 4)
        assert chain.map(3) == 3.0


def test_a_vector_is_cut_too_and_composes() -> None:
    space = integers(), dp.linf_distance(T="i64")
    cut = make_top_k(*space, PURE, 2, 4, threshold=10**6, gaps=False)
    assert cut([10**7, 0, 1]).items == (0,)
    assert cut([10**7, 0, 1]).spent == Fraction(3, 4)
    assert cut.map(1) == make_top_k(*space, PURE, 2, 4).map(1) == 1.0
    both = dp.c.make_composition([cut, cut])
    assert both.map(1) == 2.0  # what was promised beforehand, whatever comes out
    assert [release.items for release in both([0, 0, 10**7])] == [(2,), (2,)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [True, False])
def test_no_output_tells_more_than_the_map_says_nor_than_it_costs(kind: str, whole: bool) -> None:
    """By the exact law, for all moves by whole steps at a distance of at most 1 of each answer."""
    metric = KINDS[kind].metric("i64" if whole else "f64")
    domain = integers() if whole else floats()
    measurement = make_top_k(domain, metric, PURE, 1, 2, threshold=0, resolution=1)
    released = measurement([5, 6] if whole else [5.0, 6.0]).parameters
    law = TopK(1, "1/2", resolution=1, monotonic=True, threshold=0)  # of the same scale
    assert released.scale == law.scale
    outcomes: list[Any] = [(), *product(permutations(range(2), 1), range(4))]
    for one, moves in product(product(range(2), repeat=2), product((-1, 0, 1), repeat=2)):
        d_in = KINDS[kind].distance([*map(Fraction, moves)])
        other = tuple(a + b for a, b in zip(one, moves, strict=True))
        parts = d_in if isinstance(d_in, tuple) else (d_in,)
        if max(parts[-2:]) > 1:
            continue
        first, *rest = (int(d) if whole else float(d) for d in parts)
        allowed = Fraction(measurement.map((int(first), *rest) if rest else first))
        for outcome in outcomes:
            pairs = [(outcome[0][0], outcome[1])] if outcome else []
            likely, rare = (gap_top_k(answers, law, pairs) for answers in (one, other))
            for loss in (allowed, released.cost(len(pairs))):
                assert likely.low * exp_minus(loss, 128).low <= rare.high
