"""The whole algorithms, by walking their tapes: every output, items and gaps, in its bracket.

The law that they are held against is computed from the definition with real-valued noise
(`topgap.law`), on answers that were rounded by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from tests.checking.cached_law import gap_top_k, top_k
from tests.checking.depths import DEPTHS, MODERATE
from tests.checking.mutants import Mutant, mutated
from tests.checking.walks import DrawWalker, Walk, walk_tapes
from topgap import TopK, parameters, reference
from topgap.law import Bounds
from topgap.reference import Sampler, secure, without_gap

Mechanism = Callable[..., list[tuple[int, Fraction]]]
Recorder = Callable[[str, object], None]


@dataclass(frozen=True)
class Case:
    """A tiny input, how far its tapes are walked, and how much of their mass may be left.

    Rounded answers and rate are worked out by hand, so that the law does not lean on the code.
    """

    answers: tuple[Any, ...]
    rounded: tuple[Any, ...]
    k: int
    epsilon: Any
    rate: Any
    rest: float
    smallest: float = 1e-6
    refinement: int = 2
    resolution: Any = 1
    sensitivity: Any = 1
    monotonic: bool = False

    def parameters(self, parameters: type[TopK] = TopK) -> TopK:
        return parameters(
            self.k,
            self.epsilon,
            resolution=self.resolution,
            sensitivity=self.sensitivity,
            monotonic=self.monotonic,
        )

    def walk(self, run: Mechanism, walker: DrawWalker, made: type[TopK] = TopK) -> Walk[Any]:
        given = self.parameters(made)

        def program(sampler: Sampler) -> tuple[tuple[int, Fraction], ...]:
            found = run(self.answers, given, refinement=self.refinement, sampler=sampler)
            return tuple(found)

        return walker.walk(program, Fraction(self.smallest))

    def law(self, outcome: Any) -> Bounds:
        return gap_top_k(self.rounded, self.parameters(), outcome)


def tenths(*numerators: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(numerator, 10) for numerator in numerators)


CASES = {
    "n=2 tied": Case((0, 0), (0, 0), 1, 2, rate=1, rest=0.015, smallest=3e-5),
    "n=2 apart": Case((0, 2), (0, 2), 1, 2, rate=1, rest=0.002),
    "n=2, rate 2/3, M=3": Case(
        (1, 0), (1, 0), 1, "4/3", rate="2/3", rest=0.02, smallest=6e-5, refinement=3
    ),
    "n=2, M=10": Case((0, 3), (0, 3), 1, 2, rate=1, rest=0.004, smallest=1e-5, refinement=10),
    "n=3 tied, k=1": Case((5, 5, 5), (5, 5, 5), 1, 2, rate=1, rest=0.07),
    "n=3, k=1": Case((0, 1, 3), (0, 1, 3), 1, 6, rate=3, rest=0.005),
    "n=3=k+1, two tied": Case((0, 0, 1), (0, 0, 1), 2, 12, rate=3, rest=0.04),
    "n=3=k+1 apart": Case((1, 3, 0), (1, 3, 0), 2, 12, rate=3, rest=0.003, smallest=1e-7),
    "n=4, k=2": Case((4, 0, 2, 1), (4, 0, 2, 1), 2, 12, rate=3, rest=0.015, smallest=3e-7),
    "n=4=k+1": Case((6, 4, 2, 0), (6, 4, 2, 0), 3, 18, rate=3, rest=0.005),
    "huge": Case((10**30, 10**30 - 1), (1, 0), 1, 4, rate=2, rest=0.01, smallest=1e-5),
    "negative": Case((-3, -5), (2, 0), 1, 2, rate=1, rest=0.005, smallest=1e-5),
    "monotonic, sensitivity 2": Case(
        (1, 0), (1, 0), 1, 4, rate=2, rest=0.01, smallest=1e-5, sensitivity=2, monotonic=True
    ),
    "Fractions": Case(
        (Fraction(29, 70), Fraction(1, 5)), tenths(4, 2), 1, 20,
        rate=1, rest=0.01, smallest=1e-5, resolution="1/10",
    ),
    "floats": Case(
        (0.3, 0.35, -0.05), tenths(2, 3, -1), 1, 60,
        rate=3, rest=0.01, smallest=1e-6, resolution=0.1,
    ),
    "mixed": Case(
        (Decimal("0.3"), 0.3, Fraction(3, 10)), tenths(3, 2, 3), 2, 120,
        rate=3, rest=0.04, smallest=1e-6, resolution="1/10",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def walker() -> DrawWalker:
    return DrawWalker()


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("run", [reference.gap_top_k, reference.gap_top_k_pruned])
@pytest.mark.parametrize("name", CASES)
def test_the_tapes_of_algorithm_4_bracket_the_law(
    name: str, run: Mechanism, depth: str, walker: DrawWalker, record_property: Recorder
) -> None:
    case = CASES[name]
    if depth == MODERATE:
        case = replace(case, smallest=case.smallest * 30, rest=1)
    assert case.parameters().rate == Fraction(case.rate)
    walked = case.walk(run, walker)
    record_property(f"Algorithm 4, by draws, {depth}", float(walked.rest))
    assert walked.violations(case.law) == []
    assert walked.rest <= case.rest


@pytest.mark.slow
@pytest.mark.parametrize("bits", [14, pytest.param(18, marks=pytest.mark.deep)])
@pytest.mark.parametrize("run", [reference.gap_top_k, reference.gap_top_k_pruned])
@pytest.mark.parametrize(("answers", "rest"), [((0, 3), 0.14), ((1, 0), 0.27)])
def test_so_do_they_bit_by_bit(
    answers: tuple[int, ...], rest: float, run: Mechanism, bits: int, record_property: Recorder
) -> None:
    """Without any reasoning about draws: every tape of so many bits, one after the other."""
    given = TopK(1, 2, resolution=1)
    walked = walk_tapes(
        lambda sampler: tuple(run(answers, given, refinement=2, sampler=sampler)), depth=bits
    )
    record_property(f"Algorithm 4, bit by bit to {bits} bits", float(walked.rest))
    assert walked.violations(lambda outcome: gap_top_k(answers, given, outcome)) == []
    assert walked.rest <= (rest if bits == 18 else 1)


# Answers, the same rounded by hand, k, ε, resolution, and the rate worked out by hand.
WITHOUT_GAP: list[tuple[Any, ...]] = [
    ((0, 0), (0, 0), 1, 2, 1, 1),
    ((0, 2), (0, 2), 1, "1/2", 1, "1/4"),
    ((5, 5, 5), (5, 5, 5), 1, 2, 1, 1),
    ((5, 5, 5), (5, 5, 5), 2, "8/3", 1, "2/3"),
    ((0, 1, 1), (0, 1, 1), 2, 4, 1, 1),
    ((2, 0, 1), (2, 0, 1), 1, 2, 1, 1),
    ((0.3, 0.35, Fraction(1, 3)), tenths(2, 3, 3), 2, 40, "1/10", 1),
]


@pytest.mark.parametrize("given", WITHOUT_GAP)
def test_the_tapes_of_noisy_top_k_bracket_the_law(
    given: tuple[Any, ...], walker: DrawWalker, record_property: Recorder
) -> None:
    found, rest = without_gap_violations(without_gap, walker, *given)
    record_property("without gaps, by draws", float(rest))
    assert found == []
    assert rest <= Fraction(1, 500)


def without_gap_violations(
    module: Any, walker: DrawWalker, answers: Any, rounded: Any, k: int, *numbers: Any
) -> tuple[list[str], Fraction]:
    epsilon, resolution, rate = numbers
    given = TopK(k, epsilon, resolution=resolution)
    assert given.rate == Fraction(rate)

    def by_order(sampler: Sampler) -> tuple[int, ...]:
        return tuple(module.top_k(answers, given, sampler=sampler))

    def by_max(sampler: Sampler) -> tuple[int, ...]:
        return (int(module.noisy_max(answers, given, sampler=sampler)),)

    walks = [
        walker.walk(program, Fraction(1, 10**6))
        for program in ([by_order, by_max] if k == 1 else [by_order])
    ]
    found = [
        violation
        for walked in walks
        for violation in walked.violations(partial(top_k, rounded, given))
    ]
    return found, max(walked.rest for walked in walks)


NEXT_LEVEL = "noisy = {i: noisy[i] * m + sampler.truncated_geometric(rate, m) for i in noisy}"
TIED = "while _tie(noisy[i] for i in j):"

MUTANTS = [
    Mutant("half the noise", "rate = parameters.rate\n", "rate = parameters.rate * 2\n"),
    Mutant("twice the noise", "rate = parameters.rate\n", "rate = parameters.rate / 2\n"),
    Mutant("the gap one too small", "gap // m**t", "(gap // m**t - 1)"),
    Mutant("the gap one too large", "gap // m**t", "(gap // m**t + 1)"),
    Mutant("the gap rounded up", "gap // m**t", "-(-gap // m**t)"),
    Mutant("the gap not rescaled", "gap // m**t", "gap"),
    Mutant("the correction left out", "if x[i] < x[i + 1]:", "if False:"),
    Mutant("the correction always", "if x[i] < x[i + 1]:", "if True:"),
    Mutant("the correction the wrong way", "gap = gap - 1", "gap = gap + 1"),
    Mutant("independent coins", "if x[i] < x[i + 1]:", "if sampler.bernoulli(1, 2):"),
    Mutant("no tie refinement", TIED, "while False:"),
    Mutant("ties broken by index", TIED, "noisy = {i: noisy[i] * m - i for i in noisy}; t = 1\n"
           "    j = _largest(k + 2, noisy, sampler)\n    while False:"),
    Mutant("ties of k + 1 alone", TIED, "while _tie(noisy[i] for i in j[: k + 1]):"),
    Mutant("ties of k alone", TIED, "while _tie(noisy[i] for i in j[:k]):"),
    Mutant("refined once", TIED, "while t == 0 and _tie(noisy[i] for i in j):"),
    Mutant("only the tied refined", NEXT_LEVEL,
           "noisy = {i: noisy[i] * m + (sampler.truncated_geometric(rate, m)"
           " if list(noisy.values()).count(noisy[i]) > 1 else 0) for i in noisy}"),
    Mutant("digits not truncated", NEXT_LEVEL,
           "noisy = {i: noisy[i] * m + sampler.geometric(rate) for i in noisy}"),
    Mutant("one digit for all", NEXT_LEVEL,
           "d = sampler.truncated_geometric(rate, m)\n"
           "        noisy = {i: noisy[i] * m + (d if i else sampler.truncated_geometric(rate, m))"
           " for i in noisy}"),
    Mutant("the first left without noise", "q[i] + sampler.geometric(rate)",
           "q[i] + (sampler.geometric(rate) if i else 0)"),
]  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("run", ["gap_top_k", "gap_top_k_pruned"])
def test_the_law_of_the_digits_does_not_matter(run: str, walker: DrawWalker) -> None:
    """Uniform digits in place of truncated geometric ones are no mutant; see docs/paper.md."""
    uniform_digits = Mutant(
        "uniform digits",
        NEXT_LEVEL,
        "noisy = {i: noisy[i] * m + sampler.uniform(m) for i in noisy}",
    )
    equivalent = getattr(mutated(secure, uniform_digits), run)
    assert not any(case.walk(equivalent, walker).violations(case.law) for case in QUICK)


def by_one_order(
    answers: tuple[int, ...], given: TopK, sampler: Sampler
) -> tuple[tuple[int, Fraction], ...]:
    """No refinement at all: one uniform order breaks the ties and corrects the gaps."""
    noisy = [answer + sampler.geometric(given.rate) for answer in answers]
    order = sampler.shuffle(len(noisy))
    j = sorted(range(len(noisy)), key=lambda i: (noisy[i], order[i]), reverse=True)
    return tuple(
        (a, Fraction(noisy[a] - noisy[b] - (order[a] < order[b])))
        for a, b in pairwise(j[: given.k + 1])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "k"), [((0, 0), 1), ((5, 5, 5), 1), ((5, 5, 5), 2), ((0, 0, 1), 2), ((2, 0, 1), 1)]
)
def test_one_order_of_the_remainders_suffices(
    answers: tuple[int, ...], k: int, walker: DrawWalker, record_property: Recorder
) -> None:
    """The loop that refines ties may be left out; docs/paper.md has the proof."""
    given = TopK(k, 4 * k, resolution=1)  # rate 2
    walked = walker.walk(partial(by_one_order, answers, given), Fraction(1, 10**8))
    record_property("one order of the remainders, by draws", float(walked.rest))
    assert walked.violations(lambda outcome: gap_top_k(answers, given, outcome)) == []
    assert walked.rest < 1e-5


PRUNED = "noisy = {i: noisy[i] for i in noisy if noisy[i] >= noisy[j[-1]]}"
PRUNING_MUTANTS = [
    Mutant("the pool cut to k + 1", PRUNED, "noisy = {i: noisy[i] for i in j[: k + 1]}"),
    Mutant("the pool cut to k + 2", PRUNED, "noisy = {i: noisy[i] for i in j}"),
    Mutant("the last tie dropped", PRUNED,
           "noisy = {i: noisy[i] for i in noisy if noisy[i] > noisy[j[-1]] or i in j[: k + 1]}"),
]  # fmt: skip

# Where a mutant shows: ties in the last place need an item beyond it, shared orders need k = 2.
QUICK = [
    CASES["n=2 apart"],
    Case((0, 0), (0, 0), 1, 2, rate=1, rest=1, smallest=1e-4),
    Case((0, 0, 1), (0, 0, 1), 2, 12, rate=3, rest=1, smallest=1e-5),
    Case((5, 5, 5), (5, 5, 5), 1, 2, rate=1, rest=1, smallest=1e-5),
    CASES["n=3=k+1 apart"],
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
@pytest.mark.parametrize("run", ["gap_top_k", "gap_top_k_pruned"])
def test_a_broken_algorithm_4_falls_out_of_the_bracket(
    run: str, mutant: Mutant, walker: DrawWalker
) -> None:
    broken = getattr(mutated(secure, mutant), run)
    assert any(case.walk(broken, walker).violations(case.law) for case in QUICK)


@pytest.mark.parametrize("mutant", PRUNING_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_pruning_falls_out_of_the_bracket(mutant: Mutant, walker: DrawWalker) -> None:
    broken = mutated(secure, mutant).gap_top_k_pruned
    pools = [
        Case((5, 5, 5), (5, 5, 5), 1, 2, rate=1, rest=1, smallest=1e-6),
        Case((0, 0, 0, 0), (0, 0, 0, 0), 1, 6, rate=3, rest=1, smallest=1e-5),
    ]
    assert any(case.walk(broken, walker).violations(case.law) for case in pools)


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("scale of one side", "sides = 1 if self.monotonic else 2", "sides = 1"),
        Mutant("scale of two sides", "sides = 1 if self.monotonic else 2", "sides = 2"),
        Mutant("scale without k", "sides * moved * self.sens", "sides * self.sens"),
        Mutant("scale without Δ", "moved * self.sensitivity", "moved"),
        Mutant("scale times ε", "self.sensitivity / self.eps", "self.sensitivity * self.eps"),
        Mutant("rate without resolution", "self.resolution / self.scale", "1 / self.scale"),
    ],
    ids=lambda mutant: mutant.name,
)  # fmt: skip
def test_a_broken_scale_falls_out_of_the_bracket(mutant: Mutant, walker: DrawWalker) -> None:
    defect = mutated(parameters, mutant).TopK
    broken = type("TopK", (TopK,), {"scale": defect.scale, "rate": defect.rate})
    cases = [*QUICK, CASES["monotonic, sensitivity 2"], CASES["Fractions"]]
    assert any(
        case.walk(reference.gap_top_k, walker, broken).violations(case.law) for case in cases
    )


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("max: ties by index", "return s[sampler.uniform(len(s))]", "return s[0]"),
        Mutant("max: the last of the ties", "return s[sampler.uniform(len(s))]", "return s[-1]"),
        Mutant("max: biased ties", "s[sampler.uniform(len(s))]", "s[sampler.uniform(4) % len(s)]"),
        Mutant("top: ties by index", "(x[i], order[i])", "(x[i], -i)"),
        Mutant("top: order before value", "(x[i], order[i])", "(order[i], x[i])"),
        Mutant("top: set instead of order", "return ranked[: parameters.k]",
               "return sorted(ranked[: parameters.k])"),
    ],
    ids=lambda mutant: mutant.name,
)  # fmt: skip
def test_a_broken_noisy_top_k_falls_out_of_the_bracket(mutant: Mutant, walker: DrawWalker) -> None:
    broken = mutated(without_gap, mutant)
    assert any(without_gap_violations(broken, walker, *given)[0] for given in WITHOUT_GAP)
