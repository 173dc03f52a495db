"""The kernel's discrete Laplace noise as Python gets it: from a fresh cipher, and with the law."""

import _thread
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from operator import call

import pytest

from tests.checking.frequencies import misfits
from tests.kernel import law_cases
from topgap._core import Laplace
from topgap.law import Bounds, exp_minus
from topgap.reference import Sampler

DRAWS = 200_000
NEAR = [*range(-8, 9)]


def draws_of(rate: Fraction, count: int = DRAWS) -> list[int]:
    return Laplace(rate.numerator, rate.denominator).draw(count)


def law_of(rate: Fraction) -> Callable[[int], Bounds]:
    """The law on which the tapes are walked; of its words and grid it knows nothing."""
    return law_cases.Laplace(rate, grid=30, refinement=0, width=64).law


@pytest.mark.parametrize("rate", [Fraction(r) for r in ("1/10", "1/2", "1", "7/5", "5")], ids=str)
@pytest.mark.statistical(false_alarm=1e-9)
def test_noise_has_the_law(rate: Fraction, false_alarm: float) -> None:
    # The draws are independent and the cells are fixed, so `misfits` errs no more often than this.
    assert misfits(Counter(draws_of(rate)), NEAR, law_of(rate), false_alarm) == []


@pytest.mark.parametrize("mutant", [Fraction(11, 10), Fraction(10, 11)], ids=["little", "much"])
@pytest.mark.statistical(false_alarm=1e-9)
def test_a_tenth_too_little_or_too_much_noise_would_be_seen(
    mutant: Fraction, false_alarm: float
) -> None:
    # By the law 0 has chance tanh(1/4) = 0.2449, and with these rates 0.2683 and 0.2234: 4,670 more
    # and 4,296 fewer of 200,000. The tails are cut less than 1,400 off, and by Hoeffding's
    # inequality a count is 2,896 off its own mean with a chance below 2·e^−83.
    rate = Fraction(1, 2)
    assert misfits(Counter(draws_of(rate * mutant)), NEAR, law_of(rate), false_alarm) != []


@pytest.mark.statistical(false_alarm=1e-9)
def test_neighbours_in_a_stream_are_independent(false_alarm: float) -> None:
    law = law_of(Fraction(1))

    def both(pair: tuple[int, int]) -> Bounds:
        one, other = law(pair[0]), law(pair[1])
        return Bounds(one.low * other.low, one.high * other.high)

    draws = draws_of(Fraction(1))
    cells = [*product(range(-2, 3), range(-2, 3))]
    pairs = Counter(zip(draws[::2], draws[1::2], strict=True))
    assert misfits(pairs, cells, both, false_alarm) == []
    # Were the same number drawn twice, no unequal pair would ever be seen.
    assert misfits(Counter((x, x) for x in draws), cells, both, false_alarm) != []


@pytest.mark.parametrize("exponent", [-26, -18, -12, -9, -3, 0, 3, 9])
@pytest.mark.statistical(false_alarm=1e-9)
def test_noise_has_its_law_at_every_scale(exponent: int, false_alarm: float) -> None:
    """How often it is at least as large as its scale, on either side; and its last two bits."""
    rate = Fraction(10) ** exponent
    scale = max(1, int(1 / rate))
    draws = draws_of(rate, 20_000)
    t, reached = exp_minus(rate, 128), exp_minus(rate * scale, 128)

    def beyond(_: int) -> Bounds:
        """The sum of (1 − t)/(1 + t)·t^x over all x ≥ scale is t^scale/(1 + t)."""
        return Bounds(reached.low / (1 + t.high), reached.high / (1 + t.low))

    def with_residue(r: int) -> Bounds:
        """The same over all x with x mod 4 = r: those from 0 on, and those below."""

        def over(t: Fraction) -> Fraction:
            return (1 + t) * (1 + t + t**2 + t**3)

        low, high = (end**r + end ** (4 - r) for end in t)
        return Bounds(low / over(t.high), high / over(t.low))

    sides = Counter((x >= scale) - (x <= -scale) for x in draws)
    residues = Counter(x % 4 for x in draws)
    assert misfits(sides, [-1, 1], beyond, false_alarm / 2) == []
    assert misfits(residues, [0, 1, 2], with_residue, false_alarm / 2) == []


@pytest.mark.statistical(false_alarm=1e-15)
def test_no_two_calls_have_the_same_noise(false_alarm: float) -> None:
    # No value has a chance above rate/2, so two lists of two are alike with at most a quarter of
    # rate²; and there are 45 pairs of lists.
    rate = Fraction(1, 10**9)
    assert 45 * rate**2 / 4 < false_alarm
    noise = Laplace(rate.numerator, rate.denominator)
    assert len({tuple(noise.draw(2)) for _ in range(10)}) == 10


def test_there_are_as_many_as_are_asked_for_and_all_are_ints() -> None:
    noise = Laplace(1, 3)
    for count in (0, 1, 25, 4095, 4096, 4097, 10_001):
        draws = noise.draw(count)
        assert len(draws) == count
        assert {*map(type, draws)} <= {int}


def test_noise_of_an_enormous_rate_is_zero() -> None:
    """All but with a chance of e^−10^30."""
    assert Laplace(10**30, 1).draw(1000) == [0] * 1000
    assert Laplace(10**5000, 7).draw(10) == [0] * 10


def test_noise_too_large_for_the_kernel_is_left_to_the_reference() -> None:
    rate = Fraction("1e-40")
    with pytest.raises(OverflowError, match="too short"):
        Laplace(rate.numerator, rate.denominator)
    assert isinstance(Sampler().discrete_laplace(rate), int)


def test_what_is_no_rate_or_no_number_of_draws_is_refused() -> None:
    for numerator, denominator in ((0, 1), (1, 0), (0, 0)):
        with pytest.raises(ValueError, match="greater than 0"):
            Laplace(numerator, denominator)
    with pytest.raises(OverflowError):
        Laplace(-1, 2)
    with pytest.raises(TypeError):
        Laplace(0.5, 1)  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        Laplace(1, 2).draw(-1)
    with pytest.raises(MemoryError, match="fewer at a time"):
        Laplace(1, 2).draw(2**60)


# Other threads of Python run meanwhile where there are more than 10,000.
@pytest.mark.parametrize("count", [5_000, 20_000])
def test_ctrl_c_ends_long_work(count: int) -> None:
    """The signal waits when the kernel starts, and no Python runs before it ends."""
    went_on: list[bool] = []
    steps: list[Callable[[], object]] = [
        _thread.interrupt_main,
        partial(Laplace(1, 2).draw, count),
        partial(went_on.append, True),
    ]
    with pytest.raises(KeyboardInterrupt):
        list(map(call, steps))
    assert went_on == []
