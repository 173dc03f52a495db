"""The comparison of utility: its simulated laws, and that its command runs and writes its page."""

import re
import shutil
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.pages import DOCS
from benchmarks.utility import command, comparisons, domain_tables, domains, laws, plots, tables
from benchmarks.utility.contributions import Baskets, CountsAlone
from benchmarks.utility.libraries import LISTS, MEASURES, WAYS
from benchmarks.utility.results import Case, CountError, Figures, ListAccuracy, peer_error
from benchmarks.utility.thresholds import DELTA, GAUSSIAN, LAPLACE, make_threshold
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


# --- A domain beside a threshold


def tiny_baskets(*, pairs: bool) -> Baskets:
    rows = [[7, 3, 5, 9], [3], [5, 3], []] * 1_000
    return Baskets.of("tiny", rows, (1, 2), pairs=pairs)


@pytest.mark.parametrize("pairs", [False, True])
def test_each_person_keeps_at_most_so_many_of_their_own(*, pairs: bool) -> None:
    baskets, generator = tiny_baskets(pairs=pairs), np.random.default_rng(3)
    numbers = {3: 0, 5: 1, 7: 2, 9: 3}
    expected: Counter[Any] = Counter()
    for row in ([3, 5, 7, 9], [3], [3, 5]):
        places = [numbers[item] for item in row]
        names = [a * 4 + b for a, b in combinations(places, 2)] if pairs else places
        expected.update(dict.fromkeys(names, 1_000))
    assert dict(enumerate(baskets.counts.tolist())) == {
        name: expected[name] for name in range(16 if pairs else 4)
    }
    assert baskets.bounds == ((1, 2, 6) if pairs else (1, 2, 4))
    # Of four items each stays with probability 1/2, of six pairs with 1/3: the standard deviation
    # is 16 at most. The seed is fixed, so this cannot fail by chance: it did not when it was new.
    kept = baskets.bounded(2, generator)
    share = Fraction(1, 3) if pairs else Fraction(1, 2)
    whole = {1: 1_000} if pairs else {0: 2_000, 1: 1_000}  # of who has no more than two
    for name in expected:
        assert kept[name] == pytest.approx(whole.get(name, 0) + float(1_000 * share), abs=80)
    assert kept.sum() == 1_000 * (3 if pairs else 5)


@pytest.mark.statistical(false_alarm=1e-14)
@pytest.mark.parametrize(
    ("noise", "kept"),
    # Noise of 0 or more: 1/(1 + e^(-1/5)), and half of the probability of 0 more than 1/2.
    [
        (LAPLACE, 0.5498),
        pytest.param(GAUSSIAN, 0.5 + 0.5 / (12.32 * (2 * np.pi) ** 0.5), marks=pytest.mark.slow),
    ],
)
def test_a_threshold_is_the_least_that_opendp_allows(noise: str, kept: float) -> None:
    made = make_threshold(noise, 5, "1")
    counts = np.full(40_000, made.threshold)
    # 0.02 is eight standard deviations.
    assert len(made.release(counts, 40_000)) / 40_000 == pytest.approx(kept, abs=0.02)
    simulated = made.simulate(counts, 40_000, np.random.default_rng(4))  # not by chance
    assert len(simulated) / 40_000 == pytest.approx(kept, abs=0.01)
    assert made.release(np.array([0, 10**6, 2 * 10**6, 3 * 10**6]), 2) == [3, 2]
    if noise == LAPLACE:
        assert made.scale == pytest.approx(5, rel=1e-6)
        assert made.measurement.map((5, 5, 1))[1] <= DELTA
        # e^(-(t - 1)/5) is to be δ, up to the factors of five keys and of two sides.
        assert made.threshold == pytest.approx(1 + 5 * np.log(5 / (2 * DELTA)), abs=2)
    else:
        assert made.scale == pytest.approx(12.32, abs=0.01)


@pytest.mark.slow
def test_the_domains_command_measures_and_fills_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Five items stand out, in a domain of 10^12 and above a threshold as well.
    rows = [[0, 1, 2, 3, 4]] * 2_000 + [[5]] * 3
    counts = CountsAlone("counts", (1,), np.array([9_000, 8_000, 7_000, 1, 0]))
    settings = domains.Settings(
        sources=[
            domains.Source(lambda: Baskets.of("items", rows, (1, 5)), 2, 2, 2),
            domains.Source(lambda: Baskets.of("pairs", rows, (1,), pairs=True), 2, 2, 2),
            domains.Source(lambda: counts, 2, 2, 2),
        ],
        epsilons=["1"],
        ks=[2],
    )
    monkeypatch.setattr(domains, "QUICK", settings)
    monkeypatch.setattr(domain_tables, "SHOWN", 2.0)  # all rows
    monkeypatch.setattr("sys.argv", ["domains", "--quick"])
    assert domains.main() == 0
    printed = capsys.readouterr().out
    for data in ("items", "pairs", "counts"):
        assert f"| {data} | 1 | 100.0% ± 0.0 of 2 | 100.0% ± 0.0 of 2, L = " in printed
    found = [*domains.measure(settings)]
    (tmp_path / "utility").mkdir()
    places = domain_tables.places(found)
    marks = "".join(f"<!-- measured: {name} -->\n<!-- /measured -->\n" for name in places)
    (tmp_path / "utility.md").write_text(marks, encoding="utf-8")
    domain_tables.write(found, tmp_path)
    assert "| items | 1 |" in (tmp_path / "utility.md").read_text(encoding="utf-8")
    lines = (tmp_path / "utility" / "domains.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(found)
    full = domain_tables.places([each._replace(k=k) for each in found for k in domains.FULL.ks])
    page = (DOCS / "utility.md").read_text(encoding="utf-8")
    assert all(f"<!-- measured: {name} -->" in page for name in full)


def test_shares_decide_ties_in_favour_of_a_list_and_know_members_that_nobody_has() -> None:
    truth = domains.Truth.of(np.array([9, 7, 7, 7, 1]), 3)
    assert truth.share([0, 1, 3]) == 1
    assert truth.share([1, 2, 3]) == pytest.approx(2 / 3)
    assert truth.share([10**11, 0, 4, 1]) == pytest.approx(1 / 3)  # the fourth does not count
    assert truth.share([]) == 0


def share(who: str, value: float, error: float) -> domain_tables.Share:
    return domain_tables.Share("any", "1", 10, who, "measured", 3, 9, 50, value, error)


def test_a_row_of_shares_is_shown_for_what_is_missed_in_it() -> None:
    laplace, gaussian = domain_tables.OPENDP
    found = [share("topgap", 0.99, 0), share(laplace, 1, 0)]
    assert "| any |" not in domain_tables.share_table([*found, share(gaussian, 0.995, 0)], 10)
    assert "| any |" in domain_tables.share_table([*found, share(gaussian, 0.989, 0)], 10)


def test_domains_are_compared_by_three_standard_errors() -> None:
    ours = share("topgap", 0.9, 0.03)
    laplace, gaussian = domain_tables.OPENDP
    table = domain_tables.comparison_table([ours, share(laplace, 0.7, 0.04), share(gaussian, 1, 0)])
    assert f"| {laplace} | any | 10 | 1 | 0 | 0 |" in table
    assert f"| {gaussian} | any | 10 | 0 | 0 | 1 |" in table
    table = domain_tables.comparison_table([ours, share(laplace, 0.76, 0.04)])
    assert f"| {laplace} | any | 10 | 0 | 1 | 0 |" in table
