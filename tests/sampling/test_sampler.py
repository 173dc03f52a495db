"""Each sampler's law, by walking its tapes: exact brackets, and mutants that fall out of them."""

import secrets
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import permutations
from math import factorial, log2
from typing import Any

import pytest

from tests.checking.cached_law import exp_minus
from tests.checking.mutants import Mutant, mutated
from tests.checking.walks import DrawWalker, Walk, frozen, walk_tapes
from topgap import ParameterError, ParameterTypeError
from topgap.law import Bounds
from topgap.reference import Sampler, SystemBits
from topgap.reference.insecure_tape import Tape, TapeExhaustedError
from topgap.sampling import sampler as sampler_module

Law = Callable[[Any], Bounds]
Recorder = Callable[[str, object], None]
REST = Fraction(1, 2**35)
"""So much of the mass of a sampler's tapes is left unwalked at the most."""


def known(numerator: int, denominator: int) -> Bounds:
    probability = Fraction(numerator, denominator)
    return Bounds(probability, probability)


def uniform_law(n: int) -> Law:
    return lambda outcome: known(int(outcome in range(n)), n)


def bernoulli_law(n: int, d: int) -> Law:
    return lambda outcome: known(n if outcome else d - n, d)


def bernoulli_exp_law(theta: Fraction) -> Law:
    low, high = exp_minus(theta, 128)
    return lambda outcome: Bounds(low, high) if outcome else Bounds(1 - high, 1 - low)


def geometric_law(rate: Fraction) -> Law:
    """P(m) = e^(−m·rate) − e^(−(m+1)·rate)."""

    def law(m: int) -> Bounds:
        if m < 0:
            return known(0, 1)
        reach, exceed = exp_minus(m * rate, 128), exp_minus((m + 1) * rate, 128)
        return Bounds(reach.low - exceed.high, reach.high - exceed.low)

    return law


def truncated_geometric_law(rate: Fraction, m: int) -> Law:
    """The geometric law, divided by the probability 1 − e^(−m·rate) of being below m."""
    whole = exp_minus(m * rate, 128)

    def law(outcome: int) -> Bounds:
        if outcome >= m:
            return known(0, 1)
        low, high = geometric_law(rate)(outcome)
        return Bounds(low / (1 - whole.low), high / (1 - whole.high))

    return law


def discrete_laplace_law(rate: Fraction) -> Law:
    """P(x) = (1 − t)/(1 + t)·t^|x|, where t = e^−rate; the less t, the more the quotient."""
    t = exp_minus(rate, 128)

    def law(x: int) -> Bounds:
        low, high = exp_minus(abs(x) * rate, 128)
        return Bounds((1 - t.high) / (1 + t.high) * low, (1 - t.low) / (1 + t.low) * high)

    return law


def shuffle_law(n: int) -> Law:
    orders = set(permutations(range(1, n + 1)))
    return lambda outcome: known(int(outcome in orders), factorial(n))


LAWS: dict[str, Callable[..., Law]] = {
    "uniform": uniform_law,
    "shuffle": shuffle_law,
    "bernoulli": bernoulli_law,
    "bernoulli_exp": bernoulli_exp_law,
    "geometric": geometric_law,
    "truncated_geometric": truncated_geometric_law,
    "discrete_laplace": discrete_laplace_law,
}

DRAWS: list[tuple[str, tuple[Any, ...]]] = [
    *(("uniform", (n,)) for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 100, 257]),
    *(("shuffle", (n,)) for n in [0, 1, 2, 3, 4, 5]),
    *(
        ("bernoulli", nd)
        for nd in [(0, 1), (1, 1), (0, 3), (3, 3), (1, 2), (1, 3), (5, 7), (9, 10)]
    ),
    *(
        ("bernoulli_exp", (Fraction(theta),))
        for theta in ["0", "1/10", "1/3", "1/2", "6/7", "1", "4/3", "2", "7/2"]
    ),
    *(
        ("geometric", (Fraction(rate),))
        for rate in ["1/10", "1/4", "1/3", "3/7", "1/2", "2/3", "1", "3/2", "2", "10", "7/5"]
    ),
    *(
        ("truncated_geometric", (Fraction(rate), m))
        for rate, m in [("1/10", 10), ("1/2", 2), ("2/3", 3), ("1", 1), ("1", 5), ("5/2", 2)]
    ),
    *(("discrete_laplace", (Fraction(rate),)) for rate in ["1/4", "1/2", "2/3", "1", "7/5", "3"]),
]


def walk(draw: str, arguments: tuple[Any, ...], walker: DrawWalker) -> Walk[Any]:
    return walker.walk(lambda sampler: frozen(getattr(sampler, draw)(*arguments)), REST / 64)


@pytest.fixture(scope="module")
def walker() -> DrawWalker:
    return DrawWalker()


def test_every_sampler_with_a_loop_keeps_its_state_in_variables(walker: DrawWalker) -> None:
    assert walker.merged == set(LAWS) - {"shuffle"}


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "arguments"), DRAWS)
def test_the_tapes_of_each_sampler_bracket_its_law(
    draw: str, arguments: tuple[Any, ...], walker: DrawWalker, record_property: Recorder
) -> None:
    walked = walk(draw, arguments, walker)
    record_property("samplers, by draws", float(walked.rest))
    assert walked.violations(LAWS[draw](*arguments)) == []
    assert walked.rest <= REST


@pytest.mark.slow
@pytest.mark.parametrize("bits", [16, pytest.param(20, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    ("draw", "arguments", "rest"),
    [
        ("uniform", (5,), 0.003),
        ("uniform", (6,), 0.0003),
        ("uniform", (16,), 0),
        ("shuffle", (3,), 0.00001),
        ("bernoulli", (5, 7), 0.00001),
        ("bernoulli_exp", (Fraction(1),), 0.002),
        ("bernoulli_exp", (Fraction(1, 2),), 0.001),
        ("bernoulli_exp", (Fraction(5, 2),), 0.01),
        ("geometric", (Fraction(1),), 0.02),
        ("geometric", (Fraction(3, 2),), 0.05),
        ("truncated_geometric", (Fraction(1), 2), 0.02),
        ("discrete_laplace", (Fraction(1),), 0.2),
        ("discrete_laplace", (Fraction(3),), 0.2),
    ],
)
def test_so_do_they_bit_by_bit(
    draw: str, arguments: tuple[Any, ...], rest: float, bits: int, record_property: Recorder
) -> None:
    """Without any reasoning about draws: every tape of so many bits, one after the other."""
    walked = walk_tapes(lambda sampler: frozen(getattr(sampler, draw)(*arguments)), depth=bits)
    record_property(f"samplers, bit by bit to {bits} bits", float(walked.rest))
    assert walked.violations(LAWS[draw](*arguments)) == []
    assert walked.rest <= (rest if bits == 20 else 1)


@pytest.mark.deep
@pytest.mark.parametrize(("draw", "arguments"), DRAWS)
def test_both_walks_agree(draw: str, arguments: tuple[Any, ...], walker: DrawWalker) -> None:
    """What the walk bit by bit has found is part of what the walk by draws has found."""
    by_bits = walk_tapes(lambda sampler: frozen(getattr(sampler, draw)(*arguments)), depth=16)
    by_draws = walk(draw, arguments, walker)
    assert set(by_bits.masses) <= set(by_draws.masses)
    for outcome, mass in by_draws.masses.items():
        found = by_bits.masses.get(outcome, Fraction(0))
        assert found <= mass + by_draws.rest
        assert mass <= found + by_bits.rest


MUTANTS = [
    Mutant("modulo instead of rejection", "if candidate < n:\n                return candidate",
           "if True:\n                return candidate % n"),
    Mutant("a value too many", "if candidate < n:", "if candidate <= n:"),
    Mutant("one bit too few", "width = (n - 1).bit_length()", "width = n.bit_length() - 1"),
    Mutant("shuffle by n^n swaps", "chosen = self.uniform(last + 1)", "chosen = self.uniform(n)"),
    Mutant("shuffle without fixed points", "chosen = self.uniform(last + 1)",
           "chosen = self.uniform(last)"),
    Mutant("shuffle stops early", "range(n - 1, 0, -1)", "range(n - 1, 1, -1)"),
    Mutant("bernoulli off by one", "return self.uniform(d) < n", "return self.uniform(d) <= n"),
    Mutant("exp: wrong parity", "return k % 2 == 1", "return k % 2 == 0"),
    Mutant("exp: series starts late", "        k = 1\n", "        k = 2\n"),
    Mutant("exp: the whole part lost", "theta -= 1\n", "theta -= int(theta)\n"),
    Mutant("exp: θ² for θ", "theta.numerator, theta.denominator * k",
           "theta.numerator**2, theta.denominator**2 * k"),
    Mutant("geometric: no rejection", "while not self.bernoulli_exp(Fraction(u, t)):",
           "while not (u == 0 or self.bernoulli_exp(Fraction(u, t))) and False:"),
    Mutant("geometric: only once rejected", "while not self.bernoulli_exp(Fraction(u, t)):",
           "if not self.bernoulli_exp(Fraction(u, t)):"),
    Mutant("geometric: from 1", "        v = 0\n", "        v = 1\n"),
    Mutant("geometric: rounded up", "return x // s", "return -(-x // s)"),
    Mutant("geometric: s forgotten", "return x // s", "return x"),
    Mutant("geometric: twice the scale", "x = u + t * v", "x = 2 * (u + t * v)"),
    Mutant("geometric: nine tenths of the scale", "x = u + t * v", "x = (u + t * v) * 9 // 10"),
    Mutant("truncated: clipped", "return self.geometric(rate) % m",
           "return min(self.geometric(rate), m - 1)"),
    Mutant("truncated: not at all", "self.geometric(rate) % m", "self.geometric(rate)"),
    Mutant("truncated: uniform", "return self.geometric(rate) % m", "return self.uniform(m)"),
    Mutant("Laplace: both draws the same", "down = self.geometric(rate)", "down = up"),
    Mutant("Laplace: one draw alone", "down = self.geometric(rate)", "down = 0"),
    Mutant("Laplace: the sign dropped", "return up - down", "return max(up - down, down - up)"),
    Mutant("Laplace: the sum", "return up - down", "return up + down"),
    Mutant("Laplace: zero counted twice", "down = self.geometric(rate)",
           "down = 2 * up * self.uniform(2)"),
    Mutant("Laplace: twice the noise", "return up - down", "return 2 * (up - down)"),
    Mutant("Laplace: half the noise", "return up - down", "return (up - down) // 2"),
    Mutant("Laplace: another rate for one draw", "down = self.geometric(rate)",
           "down = self.geometric(rate * 2)"),
    Mutant("a bias of 2^−20", "return self.uniform(d) < n",
           "return self.uniform(d) < n and self.bits.take(20) > 0"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_sampler_falls_out_of_the_bracket(mutant: Mutant, walker: DrawWalker) -> None:
    broken = DrawWalker(mutated(sampler_module, mutant).Sampler, like=walker)
    small = [
        (draw, arguments) for draw, arguments in DRAWS if arguments[:1] not in [(100,), (257,)]
    ]
    assert any(
        walk(draw, arguments, broken).violations(LAWS[draw](*arguments))
        for draw, arguments in small
    )


@pytest.mark.parametrize(
    ("draw", "arguments"),
    [
        ("uniform", (0,)),
        ("uniform", (2.5,)),
        ("shuffle", (2.0,)),
        ("bernoulli", (0.5, 1)),
        ("bernoulli_exp", (0.5,)),
        ("geometric", (0.5,)),
        ("geometric", ("1/2",)),
        ("truncated_geometric", (Fraction(1), 2.5)),
        ("discrete_laplace", (0.5,)),
        ("shuffle", (-1,)),
        ("bernoulli", (-1, 3)),
        ("bernoulli", (4, 3)),
        ("bernoulli", (0, 0)),
        ("bernoulli_exp", (Fraction(-1, 2),)),
        ("geometric", (Fraction(0),)),
        ("truncated_geometric", (Fraction(1), 0)),
        ("discrete_laplace", (Fraction(0),)),
        ("discrete_laplace", (Fraction(-1, 2),)),
    ],
)
def test_impossible_laws_are_refused(draw: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError, match=draw):
        getattr(Sampler(), draw)(*arguments)


def test_a_sampler_needs_a_source_of_bits() -> None:
    with pytest.raises(ParameterTypeError, match="a source of bits"):
        Sampler(5)  # type: ignore[arg-type]


class Scripted(Sampler):
    """A sampler one of whose draws gives what a script says."""

    def __init__(self, draw: str, script: Iterable[Any], tape: str = "") -> None:
        super().__init__(Tape(tape))
        results = iter(script)
        setattr(self, draw, lambda *_: next(results))


LONG = 5_000


def test_no_tail_is_cut_off() -> None:
    """However long a loop runs, it goes on: there is no last rejection, success or term."""
    assert Sampler(Tape("11" * LONG + "01")).uniform(3) == 1
    for terms in (LONG, LONG + 1):
        drawn = Scripted("bernoulli", [True] * terms + [False]).bernoulli_exp(Fraction(1))
        assert drawn is (terms % 2 == 0)
    assert Scripted("bernoulli", [False] * LONG).bernoulli_exp(Fraction(LONG)) is True
    successes = Scripted("bernoulli_exp", [True, *[True] * LONG, False])
    assert successes.geometric(Fraction(1)) == LONG
    rejections = Scripted("bernoulli_exp", [*[False] * LONG, True, False], "0" * LONG + "1")
    assert rejections.geometric(Fraction(1, 2)) == 1


def test_huge_numbers_are_no_obstacle() -> None:
    sampler = Sampler()
    assert sampler.bernoulli_exp(Fraction(10**30)) is False  # True with probability e^(−10^30)
    assert 0 <= sampler.uniform(10**100) < 10**100
    assert sampler.geometric(Fraction(10**40)) == 0  # positive with probability e^(−10^40)
    assert sampler.geometric(Fraction(1, 10**40)) >= 0
    assert sampler.discrete_laplace(Fraction(10**40)) == 0
    assert isinstance(sampler.discrete_laplace(Fraction(1, 10**40)), int)
    # u = 1 and v = 5 of t = 2^60, in steps of s = 3: beyond what a float could hold.
    five = Scripted("bernoulli_exp", [True, *[True] * 5, False], f"{1:060b}")
    assert five.geometric(Fraction(3, 2**60)) == (1 + 5 * 2**60) // 3


def test_calls_are_counted_as_in_the_papers_last_table() -> None:
    # Rate 1/2: u = 1; e^(−1/2) by one coin of 1/2, which falls the right way at once; then e^(−1)
    # by the coin 1/1, which needs no bit, 1/2 (yes) and 1/3 (no): K = 3 is odd, so v = 1; and once
    # more 1/1 and 1/2 (no): K = 2 is even, which ends it. x = 1 + 2·1.
    sampler = Sampler(Tape("110101"))
    assert sampler.geometric(Fraction(1, 2)) == 3
    assert sampler.bits.left == 0  # type: ignore[attr-defined]
    assert sampler.calls == {"geometric": 1, "bernoulli_exp": 3, "bernoulli": 6, "uniform": 7}
    # The table has no Laplace noise: what it is made of is counted.
    sampler = Sampler(Tape("110101" * 2))
    assert sampler.discrete_laplace(Fraction(1, 2)) == 0
    assert sampler.calls == {"geometric": 2, "bernoulli_exp": 6, "bernoulli": 12, "uniform": 14}


def test_a_tape_says_when_it_is_exhausted() -> None:
    tape = Tape("10110")
    assert (tape.take(0), tape.take(1), tape.take(3), tape.left) == (0, 1, 0b011, 1)
    with pytest.raises(TapeExhaustedError, match="needs 2 more bits") as caught:
        tape.take(3)
    assert caught.value.missing == 2
    assert tape.take(1) == 0


def test_the_system_source_is_the_operating_systems_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def randbits(count: int) -> int:
        asked.append(count)
        return int(2**count) - len(asked)

    monkeypatch.setattr(secrets, "randbits", randbits)
    source = SystemBits()
    assert [source.take(count) for count in (5, 5, 64, 9)] == [
        2**5 - 1,
        2**5 - 2,
        2**64 - 3,
        2**9 - 4,
    ]
    assert asked == [5, 5, 64, 9]
    with pytest.raises(AttributeError):
        source.pool = 1  # type: ignore[attr-defined]


@pytest.mark.statistical(false_alarm=1e-15)
def test_the_system_source_uses_every_bit_it_says(false_alarm: float) -> None:
    # A fair bit shows only one of its values in 100 draws with probability 2^−99; there are 65.
    assert log2(false_alarm) > log2(65) - 99
    words = [SystemBits().take(65) for _ in range(100)]
    assert all(0 <= word < 2**65 for word in words)
    for bit in range(65):
        assert {word >> bit & 1 for word in words} == {0, 1}
