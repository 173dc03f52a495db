"""The kernel's enclosures hold the truth, as an independent computation of many digits knows it."""

import math
import random
import struct
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.checking.mutants import Mutant
from tests.kernel.probe import Probe

DIGITS = Context(prec=120, Emin=-(10**6), Emax=10**6)
FRACTION = 56  # bits of the fast logarithm behind the point
ERROR = 32  # its error in units of the last of them, as rust/kernel/src/fast_log2.rs argues


def made_up() -> random.Random:
    return random.Random(2026)  # picks the cases, not the noise


def exponents() -> list[tuple[Fraction, int]]:
    """x and a number of bits: simple, tiny, huge, near the cut at x = bits, and many at random."""
    draw = made_up()
    special = ["1", "2", "1/2", "1/3", "7/10", "1/1000000007", "1000000007/1000000006"]
    cases = [(Fraction(x), bits) for x in special for bits in (1, 2, 8, 64, 72, 200)]
    cases += [(Fraction(1, 10**n), 72) for n in range(1, 40)]
    cases += [(Fraction(n), 72) for n in range(1, 80)]
    cases += [(Fraction(72 * 10**6 + n, 10**6), 72) for n in (-1, 0, 1)]
    for _ in range(5_000):
        denominator = draw.getrandbits(draw.randint(1, 120)) + 1
        numerator = draw.getrandbits(draw.randint(1, 126)) + 1
        cases.append((Fraction(numerator, denominator), draw.randint(1, 200)))
    return cases


@pytest.mark.slow
def test_e_to_the_minus_x_is_enclosed_as_closely_as_argued(probe: Probe) -> None:
    cases = exponents()
    answers = probe.ask(f"exp x={x.numerator}/{x.denominator} bits={bits}" for x, bits in cases)
    for (x, bits), answer in zip(cases, answers, strict=True):
        low, high = map(int, answer.split())
        assert 0 <= high - low <= 2
        assert _holds_exp_minus(x, bits, low, high)
    assert probe.ask(["exp x=0/7 bits=72"]) == [f"{2**72} {2**72}"]


def _holds_exp_minus(x: Fraction, bits: int, low: int, high: int) -> bool:
    """Whether low ≤ 2^bits·e^−x ≤ high, by decimal's correctly rounded exponential."""
    if x > 10**6:
        return low == 0 < high
    exact = DIGITS.divide(Decimal(-x.numerator), Decimal(x.denominator))
    truth = DIGITS.multiply(DIGITS.exp(exact), Decimal(2**bits))
    # The 120 digits are right to about 10^−113 even where x, rounded first, is a million.
    slack = DIGITS.multiply(truth, Decimal("1e-110"))
    return DIGITS.add(truth, slack) >= low and DIGITS.subtract(truth, slack) <= high


def test_logarithms_are_enclosed_as_closely_as_argued(probe: Probe) -> None:
    cases = [(n, d) for d in (1, 2, 3, 1000, 32768) for n in {d, d + 1, 3 * d // 2, 2 * d}]
    answers = probe.ask(f"ln n={n} d={d} bits=124" for n, d in cases if n <= 2 * d)
    for (n, d), answer in zip([c for c in cases if c[0] <= 2 * c[1]], answers, strict=True):
        low, high = map(int, answer.split())
        truth = DIGITS.multiply(DIGITS.ln(DIGITS.divide(Decimal(n), Decimal(d))), Decimal(2**124))
        assert low <= truth <= high
        assert high - low == 2


def significands() -> list[int]:
    """Numbers from 2^63 to 2^64: at the edges of all segments, and many at random."""
    draw = made_up()
    edges = [2**63 + i * 2**54 for i in range(513)]
    near = [edge + shift for edge in edges for shift in (-1, 0, 1, 2**53, 2**53 - 1)]
    return [y for y in near if 2**63 <= y < 2**64] + [
        2**63 + draw.getrandbits(63) for _ in range(20_000)
    ]


@cache
def logarithms() -> dict[int, Decimal]:
    """The truth about each of them, in units of the last bit."""
    ln2 = DIGITS.ln(Decimal(2))
    return {
        y: DIGITS.multiply(
            DIGITS.subtract(Decimal(64), DIGITS.divide(DIGITS.ln(Decimal(y)), ln2)),
            Decimal(2**FRACTION),
        )
        for y in significands()
    }


def worst_error(probe: Probe) -> Decimal:
    """How far the fast logarithm strays from the truth, in units of its last bit."""
    truths = logarithms()
    answers = probe.ask(f"minus_log2 y={y}" for y in truths)
    return max(
        abs(DIGITS.subtract(truth, Decimal(answer)))
        for truth, answer in zip(truths.values(), answers, strict=True)
    )


@pytest.mark.slow
def test_the_fast_logarithm_is_as_close_as_argued(probe: Probe) -> None:
    assert worst_error(probe) < ERROR


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("a segment off", "(y >> 54) as usize", "(y >> 55) as usize"),
        Mutant("a term too few", "high_product(sum, square)", "high_product(0, sum + square)"),
        Mutant(
            "heights of another resolution",
            "1 << 15, 124), FRACTION_BITS)",
            "1 << 15, 123), FRACTION_BITS)",
        ),
        Mutant(
            "a coarse reciprocal",
            "((1 << 27) / twice_middle + 1) >> 1",
            "((1 << 27) / twice_middle + 1) >> 5 << 4",
        ),
    ],
    ids=lambda mutant: mutant.name,
)
def test_a_wrong_logarithm_is_found(mutant: Mutant, tmp_path: Path) -> None:
    broken = Probe.build_mutant(mutant, "fast_log2.rs", tmp_path)
    assert worst_error(broken) >= ERROR


EXP_MUTANTS = [
    Mutant(
        "the lower bound rounded up", "low: low >> (p - bits),", "low: (low >> (p - bits)) + 1_u8,"
    ),
    Mutant(
        "the upper bound rounded down",
        "high: round_up(&high, p - bits)",
        "high: &high >> (p - bits)",
    ),
    Mutant(
        "cut too early",
        "if *numerator >= denominator * bits {",
        "if *numerator >= denominator * (bits / 2) {",
    ),
    Mutant("a squaring too few", "for _ in 0..h {", "for _ in 1..h {"),
    Mutant("signs swapped", "if n % 2 == 1 {", "if n % 2 == 0 {"),
]


@pytest.mark.parametrize("mutant", EXP_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_wrong_enclosure_is_found(mutant: Mutant, tmp_path: Path) -> None:
    broken = Probe.build_mutant(mutant, "enclosures.rs", tmp_path)
    with pytest.raises((AssertionError, RuntimeError)):
        test_e_to_the_minus_x_is_enclosed_as_closely_as_argued(broken)


class Edge(NamedTuple):
    """Words of 64 bits on or beside the edge between two values of noise, and the right value."""

    rate: Fraction
    refinement: int
    zeros: int
    words: list[int]
    noise: int


@cache
def edges() -> list[Edge]:
    draw = made_up()
    cases = []
    for _ in range(400):
        rate = Fraction(draw.randint(1, 10**6), draw.randint(1, 10**9))
        refinement, zeros = draw.choice([0, 1, 20, 56]), draw.choice([0, 0, 1, 7, 32])
        finer = rate.numerator.bit_length() - rate.denominator.bit_length() + 31
        if finer < 0:
            continue  # digits below the grid take bits of their own
        per_value = rate / 2 ** min(finer, refinement)
        least = math.ceil(Fraction(zeros) * Fraction(7, 10) / per_value)
        noise = least + int(draw.expovariate(1) / per_value) + 1
        # Noise or more iff U < e^−(per_value·noise); the first `zeros` bits of U are 0.
        exact = DIGITS.divide(Decimal(-per_value.numerator * noise), Decimal(per_value.denominator))
        edge = DIGITS.multiply(DIGITS.exp(exact), Decimal(2 ** (128 + zeros)))
        first, second = divmod(int(edge), 2**64)
        if not 50 < first < 2**64 - 50:
            continue
        on_edge = [([first, second - 1], noise), ([first, second + 1], noise - 1)]
        for away in (-40, -10, -3, -2, -1, 1, 2, 3, 10, 40):
            word = first + away
            ends = [_noise_at(word + end, zeros, per_value) for end in (0, 1)]
            if ends[0] == ends[1]:  # and no other edge within the word
                on_edge.append(([word], ends[0]))
        cases += [Edge(rate, refinement, zeros, words, truth) for words, truth in on_edge]
    return cases


def _noise_at(word: int, zeros: int, per_value: Fraction) -> int:
    """⌊−ln(U)/per_value⌋ for U = word/2^(64 + zeros)."""
    ln = DIGITS.subtract(DIGITS.ln(Decimal(2 ** (64 + zeros))), DIGITS.ln(Decimal(word)))
    return int(
        DIGITS.divide(
            DIGITS.multiply(ln, Decimal(per_value.denominator)), Decimal(per_value.numerator)
        )
    )


def wrong_at_edges(probe: Probe) -> list[Edge]:
    """Where the noise is wrong, or took more words than it must."""
    cases = edges()
    answers = probe.ask(
        f"noise rate={case.rate.numerator}/{case.rate.denominator} grid=30 "
        f"refinement={case.refinement} zeros={case.zeros} words={','.join(map(str, case.words))}"
        for case in cases
    )
    return [
        case
        for case, answer in zip(cases, answers, strict=True)
        if answer != f"{case.noise} {len(case.words)}"
    ]


@pytest.mark.slow
def test_words_beside_an_edge_are_decided_right(probe: Probe) -> None:
    """The first word alone decides, as close to the edge as 64 bits come."""
    assert len(edges()) > 2_000
    assert wrong_at_edges(probe) == []


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("no error", "least_error: high_product(MAX_ERROR, grid_steps_per_zero) + 4",
               "least_error: 0"),
        Mutant("too many grid steps per leading zero",
               "let middle = high_product(logarithm, self.grid_steps_per_zero)",
               "let middle = high_product(logarithm, self.grid_steps_per_zero | 0xffff_ffff)"),
        Mutant("the logarithm rounded", "+ self.logarithm.minus_log2(y)",
               "+ (self.logarithm.minus_log2(y) & !0xffff)"),
    ],
    ids=lambda mutant: mutant.name,
)  # fmt: skip
def test_a_bracket_that_is_too_short_is_found(mutant: Mutant, tmp_path: Path) -> None:
    assert wrong_at_edges(Probe.build_mutant(mutant, "rate.rs", tmp_path)) != []


def floats() -> list[float]:
    draw = made_up()
    special = [0.0, -0.0, 0.3, 0.1, 0.7, -0.05, -1e-300, 5e-324, -5e-324, 2.0**53 + 2, 0.5, -0.5]
    special += [2.0**62, -(2.0**63), 2.0**63, 1e300, -1e300, 922337203685477580.0, 1e9]
    bits = [draw.getrandbits(64) for _ in range(3_000)]
    at_random = [struct.unpack("<d", struct.pack("<Q", b))[0] for b in bits]
    common = [draw.uniform(-1e6, 1e6) for _ in range(3_000)]
    return [f for f in special + at_random + common if math.isfinite(f)]


@pytest.mark.parametrize("factor", [1, 3, 10, 10**9, 2**64 - 1])
def test_floats_are_rounded_down_exactly(probe: Probe, factor: int) -> None:
    numbers = floats()
    stored = [struct.unpack("<Q", struct.pack("<d", number))[0] for number in numbers]
    answers = probe.ask(f"floor factor={factor} bits={bits}" for bits in stored)
    for number, answer in zip(numbers, answers, strict=True):
        floor = math.floor(Fraction(number) * factor)
        fits = -(2**63) <= floor < 2**63
        assert answer == (f"Ok([{floor}])" if fits else "Err(TooLarge)")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_rounded(probe: Probe, number: float) -> None:
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    assert probe.ask([f"floor factor=10 bits={bits}"]) == ["Err(NotFinite)"]
