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

from benchmarks.pages import DOCS
from benchmarks.utility import command, comparisons, laws, plots, tables
from benchmarks.utility.libraries import LISTS, MEASURES, WAYS
from benchmarks.utility.results import Case, CountError, Figures, ListAccuracy, peer_error
from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap.law import Bounds

COUNTS = (2, 2, 0, 0, 0, 0, 0, 0)  # with noise of 1 and k = 2 the laws lie far apart
ORDERS = [*permutations(range(len(COUNTS)), 2)]


def by_count(order: tuple[int, ...]) -> tuple[int, ...]:
    """Items with equal counts are not told apart where lists are judged."""
    return tuple(COUNTS[place] for place in order)


def law_of(way: str, told: Any) -> dict[Any, float]:
    """The exact probability of each list that peeling in this way gives, as it is told."""
    probabilities: dict[Any, float] = {}
    for order in ORDERS:
        probability = laws.probability_by_peeling(way, COUNTS, 1.0, order)
        probabilities[told(order)] = probabilities.get(told(order), 0.0) + probability
    return probabilities


def unfit(found: Counter[Any], probabilities: dict[Any, float], false_alarm: float) -> list[str]:
    def law(outcome: Any) -> Bounds:
        return Bounds(
            Fraction(probabilities[outcome] * (1 - 1e-12)),
            Fraction(probabilities[outcome] * (1 + 1e-12)),
        )

    return misfits(found, [*probabilities], law, false_alarm)


def simulated(laws: Any, way: str) -> Counter[Any]:
    winners = laws.simulate(way, np.array(COUNTS), 2, 1.0, 20_000, 7)
    return Counter(by_count(tuple(each)) for each in winners.tolist())


# --- The laws


@pytest.mark.parametrize("way", [*laws.SELECTED])
def test_exact_probabilities_sum_to_one(way: str) -> None:
    assert sum(law_of(way, tuple).values()) == pytest.approx(1, abs=1e-12)


def test_the_two_ways_and_ours_agree_where_they_must() -> None:
    # k = 1: permute and flip is the largest of exponential noise, which is topgap's law.
    for place in (0, 7):
        peeled = laws.probability_by_peeling("permute and flip", COUNTS, 1.0, [place])
        assert peeled == pytest.approx(laws.probability_at_once(COUNTS, 1, [place]), abs=1e-12)
    # k = 2, counts 1, 1, 0, noise of mean 1. Drawn once, the last item is among the two with the
    # probability 2/3e; peeled, with 1/3e + (1 − 1/3e)/2e.
    items, e = (1, 1, 0), np.e
    right = laws.right_lists(items, 2)
    assert right == [(0, 1), (1, 0)]
    once = sum(laws.probability_at_once(items, 1, each) for each in right)
    peeled = sum(
        laws.probability_by_peeling("permute and flip", items, 1.0, each) for each in right
    )
    assert once == pytest.approx(1 - 2 / (3 * e), abs=1e-12)
    assert peeled == pytest.approx(1 - 1 / (3 * e) - (1 - 1 / (3 * e)) / (2 * e), abs=1e-12)


# The seed is fixed, so these two cannot fail by chance: they did not when they were written.
@pytest.mark.parametrize("way", [*laws.SELECTED])
def test_simulated_lists_have_the_law(way: str) -> None:
    assert unfit(simulated(laws, way), law_of(way, by_count), 1e-6) == []


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
    broken = mutated(laws, mutant)
    found = simulated(broken, way)
    assert unfit(found, law_of(way, by_count), 1e-6) != []


# --- The libraries


@pytest.mark.deep
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
    # Noise of x has the probability (1 − q)/(1 + q)·q^|x|, q = e^−(ε/k): half of the 2 in `Case`.
    measure = MEASURES[peer](2, 1.0)
    drawn = Counter(told - 100 for _ in range(1_000) for told in measure([100, 100]))
    q = np.exp(-0.5)
    probabilities = {x: float((1 - q) / (1 + q) * q ** abs(x)) for x in range(-3, 4)}
    assert unfit(drawn, probabilities, false_alarm) == []
    every = sum((1 - q) / (1 + q) * q ** abs(x) * x * x for x in range(-200, 201))
    assert peer_error(Case("any", 2, "2")) == pytest.approx(every**0.5, rel=1e-9)


# --- The command


TINY = command.Settings(
    seconds={"T40I10D100K": 0.05},
    epsilons={10: ["0.1"]},
    measured=("0.1",),
    releases=50,
    few_runs=50,
)


@pytest.mark.deep
def test_the_command_measures_and_fills_its_page(tmp_path: Path) -> None:
    shutil.copy(DOCS / "utility.md", tmp_path)
    found = command.measure(TINY, processes=0)
    kinds = {(each.who, each.kind) for each in found.lists}
    assert {*laws.SELECTED} == {who for who, kind in kinds if kind == "simulated"}
    assert {"topgap", "topgap, counts too"} <= {who for who, kind in kinds if kind == "measured"}
    assert all(each.low <= each.right <= each.high for each in found.lists)
    tables.write(found, tmp_path)
    page = (tmp_path / "utility.md").read_text(encoding="utf-8")
    assert "| command | `python -m benchmarks.utility` |" in page
    assert page.count("| T40I10D100K") + page.count("| Zipf like") >= 2
    for text in tables.places(found).values():
        assert all(line.startswith("|") for line in text.splitlines())
    names = {path.name for path in (tmp_path / "utility").iterdir()}
    assert names == {"lists.csv", "errors.csv", "few.csv", "lists.svg", "errors.svg"}
    before = (tmp_path / "utility" / "errors.svg").read_bytes()
    plots.draw_errors(found, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == before


def test_an_interrupted_command_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> Figures:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "measure", interrupted)
    monkeypatch.setattr(tables, "write", lambda *_: pytest.fail("written"))
    monkeypatch.setattr("sys.argv", ["utility"])
    assert command.main() == 130
    assert "nothing was written" in capsys.readouterr().err


def made_up(ours: float, peer: float) -> Figures:
    case = Case("any", 10, "1")
    probabilities = [
        ListAccuracy(case, who, "measured", 100, right, right - 0.05, right + 0.05, 9.0)
        for who, right in (("topgap", ours), ("permute and flip", peer), ("exponential", peer))
    ]
    error = peer_error(case) * 1.5
    return Figures(probabilities, [CountError(case, "topgap, with gaps", 100, error, 0.01)])


def test_a_row_of_lists_is_shown_for_what_is_in_it() -> None:
    found = made_up(1.0, 1.0)
    case = found.lists[0].case
    found.lists.append(
        ListAccuracy(case, "topgap, counts too", "measured", 100, 0.5, 0.4, 0.6, 9.0)
    )
    assert "| any |" not in tables.list_table(found, 10)
    assert "| any |" in tables.list_table(made_up(1.0, 0.98), 10)
    page = (DOCS / "utility.md").read_text(encoding="utf-8")
    filled = "".join(re.findall(r"measured: lists of \d+ -->(.*?)<!--", page, re.DOTALL))
    rows = re.findall(r"^\| [^|]+ \| \d[\de.-]* \|.*", filled, re.MULTILINE)
    assert rows
    for row in rows:
        assert any(1 <= float(each) <= 99 for each in re.findall(r"([\d.]+)% \(", row)), row


def test_comparisons_say_what_the_figures_do() -> None:
    more, less = made_up(0.8, 0.6), made_up(0.6, 0.8)
    row = "| peeled permute and flip | 10 | 1 | {} | {} points (any, ε = 1) |"
    assert row.format("1 | 0", "20.0") in comparisons.list_differences(more)
    assert row.format("0 | 1", "−20.0") in comparisons.list_differences(less)
    assert "| 10 | 1 | 1 | any at 1 | 1.500 (any at 1) |" in comparisons.error_differences(more)
