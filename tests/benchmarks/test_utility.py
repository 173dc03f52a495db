"""The comparison of utility: its simulated laws, and that its command runs and writes its page."""

import re
import shutil
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import utility
import utility_laws
import utility_plots
import utility_shown
from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap.law import Bounds
from utility_figures import Case, Chance, Error, Figures, peer_error
from utility_peers import LISTS, MEASURES, WAYS
from written import DOCS

COUNTS = (2, 2, 0, 0, 0, 0, 0, 0)  # with noise of 1 and k = 2 the laws lie far apart
ORDERS = [*permutations(range(len(COUNTS)), 2)]


def by_count(order: tuple[int, ...]) -> tuple[int, ...]:
    """Items with equal counts are not told apart where lists are judged."""
    return tuple(COUNTS[place] for place in order)


def law_of(way: str, told: Any) -> dict[Any, float]:
    """The exact chance of each list that peeling in this way gives, as it is told."""
    chances: dict[Any, float] = {}
    for order in ORDERS:
        chance = utility_laws.chance_by_peeling(way, COUNTS, 1.0, order)
        chances[told(order)] = chances.get(told(order), 0.0) + chance
    return chances


def unfit(found: Counter[Any], chances: dict[Any, float], false_alarm: float) -> list[str]:
    def law(outcome: Any) -> Bounds:
        return Bounds(
            Fraction(chances[outcome] * (1 - 1e-12)), Fraction(chances[outcome] * (1 + 1e-12))
        )

    return misfits(found, [*chances], law, false_alarm)


def simulated(laws: Any, way: str) -> Counter[Any]:
    winners = laws.simulate(way, np.array(COUNTS), 2, 1.0, 20_000, 7)
    return Counter(by_count(tuple(each)) for each in winners.tolist())


# --- The laws


@pytest.mark.parametrize("way", [*utility_laws.SELECTED])
def test_exact_chances_sum_to_one(way: str) -> None:
    assert sum(law_of(way, tuple).values()) == pytest.approx(1, abs=1e-12)


def test_the_two_ways_and_ours_agree_where_they_must() -> None:
    # k = 1: permute and flip is the largest of exponential noise, which is topgap's law.
    for place in (0, 7):
        peeled = utility_laws.chance_by_peeling("permute and flip", COUNTS, 1.0, [place])
        assert peeled == pytest.approx(utility_laws.chance_at_once(COUNTS, 1, [place]), abs=1e-12)
    # k = 2, counts 1, 1, 0, noise of mean 1. Drawn once, the last item is among the two with the
    # chance 2/3e; peeled, with 1/3e + (1 − 1/3e)/2e.
    items, e = (1, 1, 0), np.e
    right = utility_laws.right_lists(items, 2)
    assert right == [(0, 1), (1, 0)]
    once = sum(utility_laws.chance_at_once(items, 1, each) for each in right)
    peeled = sum(
        utility_laws.chance_by_peeling("permute and flip", items, 1.0, each) for each in right
    )
    assert once == pytest.approx(1 - 2 / (3 * e), abs=1e-12)
    assert peeled == pytest.approx(1 - 1 / (3 * e) - (1 - 1 / (3 * e)) / (2 * e), abs=1e-12)


# The seed is fixed, so these two cannot fail by chance: they did not when they were written.
@pytest.mark.parametrize("way", [*utility_laws.SELECTED])
def test_simulated_lists_have_the_law(way: str) -> None:
    assert unfit(simulated(utility_laws, way), law_of(way, by_count), 1e-6) == []


@pytest.mark.parametrize(("mutant", "way"), [
    (Mutant("one draw for equal counts", "-drawn / items", "-drawn"), "permute and flip"),
    (Mutant("no part for equal counts", "np.log(items) - np", "-np"), "exponential"),
    (Mutant("twice the noise", "scale * noise(", "2 * scale * noise("), "exponential"),
    (Mutant("winners stay", "left[each, best] -= 1", "pass"), "permute and flip"),
    (Mutant("the other way", '"exponential": largest_gumbel', '"exponential": largest_exponential'),
     "exponential"),
    (Mutant("leaves out what matters", "LEFT_OUT = 1e-7", "LEFT_OUT = 1.0"), "permute and flip"),
], ids=lambda each: each.name if isinstance(each, Mutant) else each)  # fmt: skip
def test_another_simulated_law_is_found(mutant: Mutant, way: str) -> None:
    broken = mutated(utility_laws, mutant)
    found = simulated(broken, way)
    assert unfit(found, law_of(way, by_count), 1e-6) != []


# --- The libraries


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("peer", [*LISTS])
def test_libraries_select_in_the_way_that_is_said(peer: str, false_alarm: float) -> None:
    # Right are 51.9% of the lists by permute and flip, 39.3% by the exponential mechanism: among
    # 2,000 that is 11 standard errors, of which misfits need less than 7. That OpenDP peels, where
    # drawing noise once gives 57.8%, the command shows with more lists.
    lists = LISTS[peer](list(COUNTS), 2, 2.0)
    found = Counter(by_count(tuple(lists())) for _ in range(2_000))
    assert unfit(found, law_of(WAYS[peer], by_count), false_alarm) == []


@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("peer", [*MEASURES])
def test_libraries_measure_with_the_noise_that_is_said(peer: str, false_alarm: float) -> None:
    # Noise of x has the chance (1 − q)/(1 + q)·q^|x|, q = e^−(ε/k): half of the 2 in `Case`.
    measure = MEASURES[peer](2, 1.0)
    drawn = Counter(told - 100 for _ in range(1_000) for told in measure([100, 100]))
    q = np.exp(-0.5)
    chances = {x: float((1 - q) / (1 + q) * q ** abs(x)) for x in range(-3, 4)}
    assert unfit(drawn, chances, false_alarm) == []
    every = sum((1 - q) / (1 + q) * q ** abs(x) * x * x for x in range(-200, 201))
    assert peer_error(Case("any", 2, "2")) == pytest.approx(every**0.5, rel=1e-9)


# --- The command


TINY = utility.Settings(
    seconds={"T40I10D100K": 0.05},
    epsilons={10: ["0.1"]},
    measured=("0.1",),
    releases=50,
    few_runs=50,
)


@pytest.mark.slow
def test_the_command_measures_and_fills_its_page(tmp_path: Path) -> None:
    shutil.copy(DOCS / "utility.md", tmp_path)
    found = utility.measure(TINY, processes=0)
    kinds = {(each.who, each.kind) for each in found.chances}
    assert {*utility_laws.SELECTED} == {who for who, kind in kinds if kind == "simulated"}
    assert {"topgap", "topgap, counts too"} <= {who for who, kind in kinds if kind == "measured"}
    assert all(each.low <= each.right <= each.high for each in found.chances)
    utility_shown.write(found, tmp_path)
    page = (tmp_path / "utility.md").read_text(encoding="utf-8")
    assert "python benchmarks/utility.py` on " in page
    assert page.count("| T40I10D100K") + page.count("| Zipf like") >= 2
    names = {path.name for path in (tmp_path / "utility").iterdir()}
    assert names == {"lists.csv", "errors.csv", "few.csv", "lists.svg", "errors.svg"}
    before = (tmp_path / "utility" / "errors.svg").read_bytes()
    utility_plots.draw_errors(found, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == before


def test_an_interrupted_command_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> Figures:
        raise KeyboardInterrupt

    monkeypatch.setattr(utility, "measure", interrupted)
    monkeypatch.setattr(utility_shown, "write", lambda *_: pytest.fail("written"))
    monkeypatch.setattr("sys.argv", ["utility.py"])
    assert utility.main() == 130
    assert "nothing was written" in capsys.readouterr().err


def made_up(ours: float, peer: float) -> Figures:
    case = Case("any", 10, "1")
    chances = [
        Chance(case, who, "measured", 100, right, right - 0.05, right + 0.05, 9.0)
        for who, right in (("topgap", ours), ("permute and flip", peer), ("exponential", peer))
    ]
    error = peer_error(case) * 1.5
    return Figures(chances, [Error(case, "topgap, with gaps", 100, error, 0.01)])


def test_a_row_of_lists_is_shown_for_what_is_in_it() -> None:
    found = made_up(1.0, 1.0)
    case = found.chances[0].case
    found.chances.append(Chance(case, "topgap, counts too", "measured", 100, 0.5, 0.4, 0.6, 9.0))
    assert "| any |" not in utility_shown.list_table(found, 10)
    assert "| any |" in utility_shown.list_table(made_up(1.0, 0.98), 10)
    page = (DOCS / "utility.md").read_text(encoding="utf-8")
    tables = "".join(re.findall(r"measured: lists of \d+ -->(.*?)<!--", page, re.DOTALL))
    rows = re.findall(r"^\| [^|]+ \| \d[\de.-]* \|.*", tables, re.MULTILINE)
    assert rows
    for row in rows:
        assert any(1 <= float(each) <= 99 for each in re.findall(r"([\d.]+)% \(", row)), row


def test_words_say_what_the_figures_do() -> None:
    more, less = made_up(0.8, 0.6), made_up(0.6, 0.8)
    assert "more often in 1 and less often in 0" in utility_shown.list_words(more)
    assert "20.0 points" in utility_shown.list_words(more)
    assert "more often in 0 and less often in 1" in utility_shown.list_words(less)
    assert "in 1: any at ε = 1. At best it is 1.500" in utility_shown.error_words(more)
