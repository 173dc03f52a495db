"""The checks are checked: each of the tools in `checking` can fail, and does where it should."""

import inspect
import textwrap
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from tests.checking.walks import DrawWalker, Walk, walk_tapes
from topgap.law import Bounds
from topgap.sampling import sampler as sampler_module

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


def fair(_: object) -> Bounds:
    return Bounds(HALF, HALF)


@pytest.mark.parametrize(
    ("masses", "rest", "word"),
    [
        ({0: Fraction(3, 5), 1: Fraction(2, 5)}, 0, "above"),
        ({0: Fraction(2, 5), 1: Fraction(2, 5)}, Fraction(1, 20), "cannot reach"),
        ({0: HALF}, Fraction(1, 4), "never reached"),
    ],
)
def test_a_walk_that_contradicts_the_law_is_found(masses: Any, rest: Any, word: str) -> None:
    assert any(word in violation for violation in Walk(masses, rest).violations(fair))


def test_a_walk_that_fits_has_no_violation() -> None:
    assert Walk({0: Fraction(2, 5), 1: Fraction(2, 5)}, Fraction(1, 5)).violations(fair) == []
    assert Walk({0: HALF, 1: HALF}, Fraction(0)).violations(fair) == []


# Methods that keep something between two draws where their variables do not show it.
HIDING_PLACES = {
    "one expression": "return self.uniform(2) + 2 * self.uniform(2)",
    "a comprehension": "return sum([bit << self.uniform(2) for bit in range(3)])",
    "a loop": "total = 0\nfor _ in range(3):\n  total = 2 * total + self.uniform(2)\nreturn total",
    "an attribute": "self.last = self.uniform(2)\nx = self.uniform(2)\nreturn self.last + 2 * x",
    "a count": "self.calls['v'] += self.uniform(2)\nx = self.uniform(2)\n"
               "return self.calls['v'] + 2 * x",
    "a global": "global G\nG = self.uniform(2)\nx = self.uniform(2)\nreturn G + 2 * x",
    "map": "return sum(map(self.uniform, (2, 4)))",
    "map of bits": "return sum(map(self.bits.take, (1, 2)))",
    "a one-line if": "a = self.uniform(2)\nif self.uniform(2): a = 2\nreturn a",
    "a one-line while": "a = self.uniform(2)\nwhile self.uniform(2): a = 3; break\nreturn a",
    "two on a line": "a = self.uniform(2)\nc = a + 2 * self.uniform(2); a = 0\nreturn c",
    "a walrus": "a = self.uniform(2)\nc = a + 2 * ((a := 0) or self.uniform(2))\nreturn c",
    "a borrowed method": "draw = type(self).uniform\nreturn draw(self, 2) + 2 * draw(self, 2)",
    "a class's method": "a = Sampler.uniform(self, 2)\nb = Sampler.uniform(self, 2)\n"
                        "return a + 2 * b",
    "getattr": "return getattr(self, 'uniform')(2) + 2 * getattr(self, 'uniform')(2)",
    "1 and True": "a = self.uniform(2) if self.uniform(2) else self.bernoulli(1, 2)\n"
                  "b = self.uniform(2)\nreturn 2 * b + (a is True)",
    "a list": "a = [0]\na[0] = self.uniform(2)\nb = self.uniform(2)\nreturn a[0] + 2 * b",
    "reuse": "a = self.uniform(2)\na = a + self.uniform(2)\na = a + self.uniform(2)\nreturn a",
    "many lines": "a = self.uniform(2)\na = (\n  a\n  + 2 * self.uniform(\n    2\n  )\n)\nreturn a",
    "an else": "a = 0\nwhile self.uniform(2):\n  a = 4\n  break\nelse:\n  a = self.uniform(2)\n"
               "return a",
    "nothing": "a = self.uniform(2)\nb = self.uniform(2)\na = self.uniform(2)\nreturn a + 2 * b",
}  # fmt: skip


@pytest.mark.parametrize("place", HIDING_PLACES)
def test_states_that_look_alike_are_not_merged(place: str) -> None:
    source = inspect.getsource(sampler_module).replace(
        "    def uniform(",
        "    def hiding(self):\n" + textwrap.indent(HIDING_PLACES[place], " " * 8) + "\n\n"
        "    def uniform(",
    )
    whole = Mutant(place, inspect.getsource(sampler_module), source)
    hiding = mutated(sampler_module, whole).Sampler

    def program(sampler: Any) -> int:
        return int(sampler.hiding())

    by_bits = walk_tapes(program, depth=4, sampler=hiding)
    by_draws = DrawWalker(hiding).walk(program, Fraction(1, 2**20))
    assert by_bits.rest == by_draws.rest == 0
    assert by_bits.masses == by_draws.masses


SHARED = {
    "a draw": (Mutant("sum", "return up - down", "return up + down"),
               {"uniform", "bernoulli", "bernoulli_exp", "geometric", "truncated_geometric"}),
    "what others draw from": (Mutant("off by one", "uniform(d) < n", "uniform(d) <= n"),
                              {"uniform"}),
    "what all draw from": (Mutant("from above", "return candidate\n", "return n - 1 - candidate\n"),
                           set()),
    "what is not merged": (Mutant("early", "range(n - 1, 0, -1)", "range(n - 1, 1, -1)"),
                           {"uniform", "bernoulli", "bernoulli_exp", "geometric",
                            "truncated_geometric", "discrete_laplace"}),
    "a function of the module": (Mutant("any", "type(value) in (Fraction, int)", "True"),
                                 {"uniform", "bernoulli"}),
    "a name of the module": (Mutant("other", "import ParameterError, ParameterTypeError",
                                    "import ParameterTypeError; ParameterError = ValueError"),
                             set()),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("place", SHARED)
def test_draws_are_taken_over_only_from_the_same_code(place: str) -> None:
    defect, same = SHARED[place]
    broken, whole = mutated(sampler_module, defect).Sampler, DrawWalker()
    assert DrawWalker(broken).same_draws(whole) == same
    programs: list[Callable[[Any], int]] = [
        lambda sampler: sampler.uniform(5),
        lambda sampler: sampler.bernoulli(2, 3),
        lambda sampler: sampler.shuffle(3)[0],
        lambda sampler: sampler.discrete_laplace(Fraction(3, 2)),
    ]
    for program in programs:
        whole.walk(program, Fraction(1, 2**12))
    for program in programs:
        alone = DrawWalker(broken).walk(program, Fraction(1, 2**12))
        assert DrawWalker(broken, like=whole).walk(program, Fraction(1, 2**12)) == alone


def test_a_mutant_must_find_its_place_exactly_once() -> None:
    for text in ("no such text", "self"):
        with pytest.raises(LookupError, match="exactly once"):
            mutated(sampler_module, Mutant("lost", text, ""))
    broken = mutated(sampler_module, Mutant("zero", "return candidate\n", "return 0\n"))
    assert {broken.Sampler().uniform(2**64) for _ in range(3)} == {0}


@pytest.mark.parametrize(
    ("counts", "fits"),
    [
        ({0: 500, 1: 500}, True),
        ({0: 560, 1: 440}, True),  # 3.8 standard deviations
        ({0: 700, 1: 300}, False),
        ({0: 500, 1: 400, 2: 100}, False),
    ],
)
def test_frequencies_are_judged_in_both_directions(counts: dict[int, int], fits: bool) -> None:
    assert (misfits(Counter(counts), [0, 1], fair, 1e-8) == []) is fits
    swapped = Counter({1 - outcome: count for outcome, count in counts.items()})
    assert (misfits(swapped, [0, 1], fair, 1e-8) == []) is fits


def test_the_cut_is_where_the_binomial_tail_says() -> None:
    # Of 10 tosses all fall heads with probability 2^−10; there are 3 cells with 2 tails each.
    heads = Counter({0: 10})
    assert misfits(heads, [0, 1], fair, 7 / 1024) != []
    assert misfits(heads, [0, 1], fair, 5 / 1024) == []


SUITE = """
import pytest

@pytest.mark.statistical(false_alarm={first})
def test_one(false_alarm):
    assert false_alarm == {first}

{mark}
def test_two(false_alarm):
    assert 0 < false_alarm
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "mark", "outcome"),
    [
        (4e-7, "@pytest.mark.statistical(false_alarm=4e-7)", "2 passed"),
        (7e-7, "@pytest.mark.statistical(false_alarm=4e-7)", "the suite allows 1e-06"),
        (4e-7, "", "must be marked statistical"),
    ],
)
def test_the_suite_keeps_its_budget_of_false_alarms(
    first: float, mark: str, outcome: str, run_suite: Callable[[str], str]
) -> None:
    assert outcome in run_suite(SUITE.format(first=first, mark=mark))


@pytest.fixture
def run_suite(pytester: pytest.Pytester) -> Callable[[str], str]:
    def run(source: str) -> str:
        pytester.makeconftest((Path(__file__).parents[1] / "conftest.py").read_text())
        pytester.makeini("[pytest]\nmarkers =\n  statistical(false_alarm): declared")
        pytester.makepyfile(source)
        result = pytester.runpytest_subprocess()
        return result.stdout.str() + result.stderr.str()

    return run
