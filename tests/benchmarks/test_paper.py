"""What is measured of the paper's tables is what they say: parts, calls, rounds, and the page.

`make paper` measures; here everything is small, and time is what a fake clock says.
"""

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import data
from benchmarks.pages import DOCS
from benchmarks.paper import command, comparisons, probabilities, published, records, runs
from benchmarks.paper.plots import draw_parts
from benchmarks.paper.probabilities import as_written, calls_of_a_geometric, pools
from benchmarks.paper.published import (
    CALLS,
    DATASETS,
    KS,
    PARTS,
    PUBLISHED_CALLS,
    TIMES,
    implied_rounds,
)
from benchmarks.paper.runs import Measured, Source, measure
from benchmarks.paper.tables import format_mean, format_signed, ratio
from tests.checking.mutants import Mutant, mutated
from tests.checking.public_files import public_file
from topgap import TopK, datasets
from topgap.reference import Sampler, secure

SPREAD = np.arange(0, 16_400, 20)  # 820 answers, of which 800 may win


# The paper's figures


def test_the_papers_parts_add_up_to_its_times() -> None:
    """As the paper says they roughly do."""
    for name, parts in PARTS.items():
        for at in range(len(KS)):
            whole = TIMES[name]["Opt. Secure"][at]
            assert sum(part[at] for part in parts.values()) == pytest.approx(whole, rel=0.05)


def test_each_figure_stands_in_the_paper() -> None:
    text = public_file("paper.tex", data.SHARED.parent).read_text(encoding="utf-8")
    rows = {tuple(map(float, re.findall(r"&\s*([\d.]+)", line))) for line in text.splitlines()}
    plain = text.replace(",", "")
    for tables in (TIMES, PARTS):
        for table in tables.values():
            assert rows.issuperset(table.values())
    for number in (*CALLS.values(), *(each for pair in DATASETS.values() for each in pair)):
        assert re.search(rf"& *{number}\b", plain)


def test_the_papers_times_tell_its_rounds() -> None:
    # (1223.04 − 1.218)/459.552 − 1: in some runs two rounds, in others one.
    assert implied_rounds("Kosarak", 800) == pytest.approx(1.6587, abs=1e-4)
    assert implied_rounds("Kosarak", 25) == pytest.approx(0, abs=0.01)


# Parts


class Clocked:
    """A clock that moves when something is drawn: 1 for a number, 1,000 for a shuffle."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0
        self._advancing(monkeypatch, "geometric", 1)
        self._advancing(monkeypatch, "shuffle", 1_000)

    def __call__(self) -> float:
        return self.now

    def _advancing(self, monkeypatch: pytest.MonkeyPatch, name: str, by: int) -> None:
        method = getattr(Sampler, name)

        def slow(sampler: Sampler, *arguments: Any) -> object:
            self.now += by
            result: object = method(sampler, *arguments)
            return result

        monkeypatch.setattr(Sampler, name, slow)


def parts_are_right(module: Any, clock: Clocked) -> bool:
    before = clock.now
    run = module.pruned([7] * 40, TopK(20, 1), clock)  # 22 of 40 with noise of 400 steps: ties
    drawn = run.calls["geometric"]
    assert run.rounds > 0
    whole = clock.now - before
    return tuple(run.parts) == (40, drawn - 40, 1_000) and sum(run.parts) == whole


def tied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first look find a tie, whatever was drawn."""
    looks = iter([True])
    tie = secure._tie
    monkeypatch.setattr(secure, "_tie", lambda values: next(looks, False) or tie(values))


def test_the_three_parts_are_told_apart_and_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tied(monkeypatch)
    assert parts_are_right(runs, Clocked(monkeypatch))


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("the last look for a tie", "Parts(looked[0] - start, shuffled - looked[0],",
               "Parts(looked[-1] - start, shuffled - looked[-1],"),
        Mutant("the shuffle to the ties", "        self.shuffled.append(self._clock())\n"
               "        return super().shuffle(n)",
               "        order = super().shuffle(n)\n"
               "        self.shuffled.append(self._clock())\n        return order"),
        Mutant("the first part left out", "Parts(looked[0] - start,", "Parts(0,"),
    ],
    ids=lambda mutant: mutant.name,
)  # fmt: skip
def test_parts_told_apart_elsewhere_are_found(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    tied(monkeypatch)
    assert not parts_are_right(mutated(runs, mutant), Clocked(monkeypatch))


def test_the_reference_is_left_as_it_was() -> None:
    before = secure._tie
    runs.pruned([5, 3, 1], TopK(1, 1))
    assert secure._tie is before


# Calls

DIVISORS = [as_written, math.factorial]
COSTS = {  # of a trial in the first phase, one in the second, and a coin
    "proposals": (1, 0, 0),
    "bernoulli_exp": (1, 1, 0),
    "bernoulli": (0, 0, 1),
    "uniform": (1, 0, 1),
}
MOST = 400  # calls of one geometric number: its probability falls by 1/e or more in every ten


def law_of_calls(t: int, divisor: Callable[[int], int], call: str) -> Any:
    """The probability of 0, 1, 2, … calls, by adding up: trial after trial, coin after coin."""
    first, second, coin = COSTS[call]
    law = np.array([1.0])
    for thetas, trial, last_is_odd in (
        ([Fraction(u, t) for u in range(t)], first, True),
        ([Fraction(1)], second, False),
    ):
        over, again = np.zeros(MOST), np.zeros(MOST)
        for theta in thetas:
            reached = Fraction(1, len(thetas))
            for k in range(1, 25):
                heads = theta / divisor(k)
                stops = over if (k % 2 == 1) == last_is_odd else again
                stops[trial + coin * k] += float(reached * (1 - heads))
                reached *= heads
        phase = np.zeros(MOST)
        for calls in range(MOST):
            phase[calls] = over[calls] + again[1 : calls + 1] @ phase[:calls][::-1]
        phase /= 1 - again[0]
        law = np.convolve(law, phase)
    return law


def moments_agree(module: Any, t: int, divisor: Callable[[int], int]) -> bool:
    found = module.calls_of_a_geometric(t, divisor)
    assert found.keys() == COSTS.keys()
    agree = []
    for call, spread in found.items():
        law = law_of_calls(t, divisor, call)
        calls = np.arange(len(law))
        mean = float(law @ calls)
        agree += [
            spread.mean == pytest.approx(mean, abs=1e-9),
            spread.variance == pytest.approx(float(law @ (calls - mean) ** 2), abs=1e-9),
        ]
    return all(agree)


@pytest.mark.parametrize("divisor", DIVISORS, ids=["k", "k!"])
@pytest.mark.parametrize("t", [1, 2, 5])
def test_means_and_variances_are_those_of_the_law(t: int, divisor: Callable[[int], int]) -> None:
    assert moments_agree(probabilities, t, divisor)


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("the last trial like the others", "+ _given(coins, ends_on, trial, coin)",
               "+ _given(coins, 1 - ends_on, trial, coin)"),
        Mutant("the number of trials taken as fixed", "(1 - last) / last**2", "0.0"),
        Mutant("one coin fewer", "trial + coin * k", "trial + coin * (k - 1)"),
        Mutant("proposals up to t", "np.arange(t) / t", "np.arange(1, t + 1) / t"),
    ],
    ids=lambda mutant: mutant.name,
)  # fmt: skip
def test_wrong_moments_are_found(mutant: Mutant) -> None:
    assert not moments_agree(mutated(probabilities, mutant), 2, as_written)


class Undecided(Exception):  # noqa: N818
    """The script is over; here are the probabilities of what may come next."""


class Scripted(Sampler):
    """Draws what a script says, one choice after the other."""

    def __init__(self, script: tuple[int, ...], divisor: Callable[[int], int]) -> None:
        super().__init__()
        self._script = iter(script)
        self._divisor = divisor

    def _chosen(self, *probabilities: float) -> int:
        for choice in self._script:
            return choice
        raise Undecided(probabilities)

    def uniform(self, n: int) -> int:
        self.calls["uniform"] += 1
        return self._chosen(*[1 / n] * n)

    def bernoulli(self, n: int, d: int) -> bool:
        self.calls["bernoulli"] += 1
        self.calls["uniform"] += 1
        return bool(self._chosen(1 - n / d, n / d))

    def bernoulli_exp(self, theta: Fraction) -> bool:
        if self._divisor is as_written:
            return super().bernoulli_exp(theta)
        self.calls["bernoulli_exp"] += 1
        k, d = 1, theta.denominator
        while self.bernoulli(theta.numerator, d):
            k += 1
            d *= k  # and kept
        return k % 2 == 1


@pytest.mark.parametrize("divisor", DIVISORS, ids=["k", "k!"])
def test_that_law_is_the_samplers(divisor: Callable[[int], int]) -> None:
    """The mass walked for each number of calls is at most its probability, and all but the rest."""
    t = 2
    masses: dict[str, dict[int, float]] = {call: defaultdict(float) for call in COSTS}
    rest = 1.0
    heap: list[tuple[float, tuple[int, ...]]] = [(-1.0, ())]
    for _ in range(2_500):
        mass, script = heapq.heappop(heap)
        sampler = Scripted(script, divisor)
        try:
            sampler.geometric(Fraction(1, t))
        except Undecided as next_one:
            for choice, probability in enumerate(next_one.args[0]):
                if probability:
                    heapq.heappush(heap, (mass * probability, (*script, choice)))
            continue
        rest += mass
        sampler.calls["proposals"] = sampler.calls["uniform"] - sampler.calls["bernoulli"]
        for call, found in masses.items():
            found[sampler.calls[call]] -= mass
    assert rest < 0.006
    (other,) = [each for each in DIVISORS if each is not divisor]
    for call, found in masses.items():
        assert sum(found.values()) == pytest.approx(1 - rest)
        assert not any(contradicted(found, law_of_calls(t, divisor, call)))
        assert any(contradicted(found, law_of_calls(t, other, call)))


def contradicted(masses: dict[int, float], law: Any) -> list[bool]:
    return [mass > law[calls] + 1e-12 for calls, mass in masses.items()]


def test_the_papers_calls_are_those_of_coins_with_factorials() -> None:
    """All within a standard deviation, and up to 16 of them away from what its text says."""
    seen = {**CALLS, **PUBLISHED_CALLS, "proposals": CALLS["uniform"] - CALLS["bernoulli"]}
    off: dict[Any, dict[str, float]] = {}
    for divisor in DIVISORS:
        calls = calls_of_a_geometric(16_000, divisor)
        expected = {name: each.of(CALLS["geometric"]) for name, each in calls.items()}
        off[divisor] = {n: (seen[n] - s.mean) / s.deviation for n, s in expected.items()}
    assert max(map(abs, off[math.factorial].values())) < 1
    assert off[as_written]["proposals"] < -7
    assert off[as_written]["bernoulli_exp"] > 16


# Rounds


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        ((0.5, 1.5, 2.5, 3.5), []),
        # 1.52 and 1.62 tie in whole steps, and are told apart by tenths.
        ((0.5, 1.52, 1.62, 3.5), [3]),
        # 1.571 and 1.574 tie for the third place, and are told apart by thousandths.
        ((0.5, 1.571, 1.574, 3.5), [3, 3, 3]),
        # The fourth ties with the third at first, and so may still come before it.
        ((1.5, 1.6, 1.7, 3.5), [4]),
    ],
    ids=["none", "one", "three", "with one beyond"],
)
def test_rounds_refine_what_is_at_least_the_last(
    noise: tuple[float, ...], expected: list[int]
) -> None:
    assert pools(np.zeros(4, dtype=np.int64), 1, 10, lambda _: np.array(noise)) == expected


class Even:
    """A generator whose numbers lie evenly, and which says what probability it was asked for."""

    def __init__(self) -> None:
        self.probability = math.nan

    def random(self, n: int) -> Any:
        return (np.arange(n) + 0.5) / n

    def geometric(self, probability: float, n: int) -> Any:
        self.probability = probability
        return np.full(n, 3)  # two trials said yes before one said no


def law_of_noise(
    module: Any, divisor: Callable[[int], int], t: int, monkeypatch: pytest.MonkeyPatch
) -> list[float]:
    """The probabilities of u = 0, 1, …, and last that a trial of 1 says no."""
    even = Even()
    monkeypatch.setattr(module, "RNG", even)
    drawn = module.coins_of(divisor, t)(100_000) - 2 * t
    assert 0 < drawn.min() < drawn.max() < t
    return [*(np.bincount(np.floor(drawn).astype(int), minlength=t) / 100_000), even.probability]


def test_coins_as_written_make_the_geometric_law(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.exp(-np.arange(5) / 5)
    expected = [*(weights / sum(weights)), 1 - 1 / math.e]
    found = law_of_noise(probabilities, as_written, 5, monkeypatch)
    assert found == pytest.approx(expected, abs=1e-4)


def test_coins_of_the_script_make_another(monkeypatch: pytest.MonkeyPatch) -> None:
    # A trial of θ says yes with probability 1 − θ + θ²/2! − θ³/(2!·3!) + θ⁴/(2!·3!·4!) − …
    one, half = ([x**m for m in range(6)] for x in (1, 0.5))
    signs = [1, -1, 1 / 2, -1 / 12, 1 / 288, -1 / 34_560]
    yes, at_half = (sum(map(math.prod, zip(signs, x, strict=True))) for x in (one, half))
    expected = [1 / (1 + at_half), at_half / (1 + at_half), 1 - yes]
    found = law_of_noise(probabilities, math.factorial, 2, monkeypatch)
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("an even number of coins", "sum(coins[1::2])", "sum(coins[::2])"),
        Mutant("yes for no", "no = 1 - _yes(1.0, divisor)", "no = _yes(1.0, divisor)"),
        Mutant("proposals up to t", "_yes(u / t, divisor)", "_yes((u + 1) / t, divisor)"),
    ],
    ids=lambda mutant: mutant.name,
)
def test_wrong_noise_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    right = law_of_noise(probabilities, math.factorial, 2, monkeypatch)
    wrong = law_of_noise(mutated(probabilities, mutant), math.factorial, 2, monkeypatch)
    assert wrong != pytest.approx(right, abs=1e-2)


# The page


@pytest.fixture(scope="module")
def found() -> list[Measured]:
    """One small measurement, as if it were of all three data sets."""
    told: list[str] = []
    source = Source("Kosarak", "some answers", SPREAD)
    once = measure(source, KS, 2, 4, told.append)
    assert "some answers: round 2 of 2" in told
    return [replace(once, source=source._replace(paper=name)) for name in DATASETS]


def places(found: list[Measured]) -> dict[str, str]:
    return {
        "run": command.run_table(found, 4, 0.5, quick=True),
        "datasets": "as known",
        **command.tables_of(found),
    }


@pytest.mark.deep
def test_every_way_is_measured_for_every_k(found: list[Measured]) -> None:
    ways = {"Secure", "Opt. Secure", "Baseline", "Kernel"}
    assert {(way, k) for way in ways for k in KS} == found[0].times.keys()
    calls = {way: runs.KERNEL_CALLS if way == "Kernel" else 1 for way in ways}
    assert all(len(times) == 2 * calls[way] for (way, _), times in found[0].times.items())
    for k in KS:
        sums = [sum(run.parts) for run in found[0].runs[k]]
        whole = found[0].times["Opt. Secure", k]
        # The whole is timed from outside, and nothing much is outside of the parts.
        assert all(0 < part < all_of_it for part, all_of_it in zip(sums, whole, strict=True))


def test_one_interrupted_call_changes_the_mean_of_all_but_the_kernel() -> None:
    times = {(way, 25): [1.0, 1.0, 7.0] for way in ("Secure", "Kernel")}
    found = Measured(Source("Kosarak", "some answers", SPREAD), times)
    assert [found.typical(way, 25) for way in ("Secure", "Kernel")] == [3.0, 1.0]
    assert ratio(found, "Secure", "Kernel", 25) == 3.0


@pytest.mark.deep
def test_rounds_are_compared_on_the_papers_data_alone(found: list[Measured]) -> None:
    assert len(comparisons.round_differences(found).splitlines()) == 2  # the head alone
    same = replace(
        found[-1],
        source=found[-1].source._replace(label="Kosarak"),
        pools={k: [[], [802]] for k in KS},  # half a round
        script_rounds={k: [0, 0] for k in KS},
    )
    _, _, law, script = comparisons.round_differences([*found, same]).splitlines()
    assert law == "| law | −0.51 | Kosarak, k = 25 | +1.16 | Kosarak, k = 800 | 0.02 |"
    assert "| −0.01 | Kosarak, k = 25 | +1.66 | Kosarak, k = 800 | 0.00 |" in script


@pytest.mark.deep
def test_page_files_and_plots_are_written(found: list[Measured], tmp_path: Path) -> None:
    command.publish(tmp_path, places(found), found[:1])  # plots of one panel take less time
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    empty = re.findall(r"<!-- measured: (.*) -->\n<!-- /measured -->", page)
    assert empty == []
    for linked in re.findall(r"\]\((reproduction/[^)]*)\)", page):
        assert (tmp_path / linked).stat().st_size > 0
    times = (tmp_path / "reproduction" / "times.csv").read_text(encoding="utf-8").splitlines()
    assert len(times) == 1 + 4 * 6
    assert times[1].startswith("some answers,820,Secure,25,10.53,")


@pytest.mark.deep
def test_the_same_figures_make_the_same_plot(found: list[Measured], tmp_path: Path) -> None:
    draw_parts(found[:1], tmp_path / "once.svg")
    draw_parts(found[:1], tmp_path / "again.svg")
    assert (tmp_path / "once.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()


def test_a_page_without_a_place_leaves_all_as_it_was(found: list[Measured], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no place for weather"):
        command.publish(tmp_path, {"weather": "fair"}, found)
    assert list(tmp_path.iterdir()) == []


def test_the_page_has_just_these_places(found: list[Measured]) -> None:
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"<!-- measured: (.*) -->", page)) == sorted(places(found))


def test_what_is_written_is_tables(found: list[Measured]) -> None:
    for text in command.tables_of(found).values():
        for line in filter(None, text.splitlines()):
            assert line.startswith(("| ", "**some answers**, n = 820"))


def test_a_mean_is_shown_to_its_error() -> None:
    assert format_mean([1.0, 2.0, 3.0], 1) == "2.00 ± 0.58"
    assert format_mean([1000.0, 2000.0], 1) == "1,500 ± 500"
    assert format_mean([0.0, 0.0], 1) == "0"
    assert format_mean([0.0123], 1e3) == "12.3"
    assert [format_signed(each, ".2f") for each in (-1.2, -0.001, 0.5)] == ["−1.20", "0.00", "0.50"]


# Data sets


def test_records_are_counted_where_transactions_are(tmp_path: Path) -> None:
    file = tmp_path / "some.dat"
    file.write_text("1 2\n2\n\n2 3\n", encoding="ascii")
    dataset = datasets.read(file)
    there = Source("Kosarak", "some", np.array([1, 3, 1]))
    assert records.format_counted(there, dataset) == f"{dataset.records}, counted"
    with pytest.raises(ValueError, match=r"What some\.dat holds does not have the counts"):
        records.format_counted(there._replace(counts=np.array([1, 3, 2])), dataset)


def test_a_part_is_never_called_the_whole() -> None:
    part = Source("BMS-POS", "part of BMS-POS", np.arange(1_515))
    made_up = Source("BMS-POS", "Zipf like BMS-POS", np.arange(1_657))
    assert records.records(part).startswith("275,000 of 515,597")
    assert records.records(made_up) == "none: made up"
    assert (part.real, made_up.real) == (True, False)
    assert published.DATASETS["BMS-POS"] == (515_597, 1_657)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A computer without any data set: where one would be sought."""
    monkeypatch.setenv("TOPGAP_DATA", str(tmp_path))
    monkeypatch.setattr(data, "SHARED", tmp_path / "nowhere")
    monkeypatch.setattr(data, "T40I10D100K", datasets.Quest(transactions=100))  # takes less time
    return tmp_path


@pytest.mark.usefixtures("bare")
def test_what_is_made_up_says_so_and_has_the_size_of_the_whole() -> None:
    made_up = {name: Source.load(name) for name in DATASETS}
    assert {name: each.label for name, each in made_up.items()} == {
        "T40I10D100K": "T40I10D100K-like by Quest",
        "BMS-POS": "Zipf like BMS-POS",
        "Kosarak": "Zipf like Kosarak",
    }
    assert (made_up["BMS-POS"].n, made_up["Kosarak"].n) == (1_657, 41_270)
    assert not any(each.real for each in made_up.values())


@pytest.mark.parametrize("output", [[], ["--output", str(DOCS)]], ids=["default", "by name"])
def test_docs_never_get_what_is_made_up(
    output: list[str], bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["paper.py", *output])
    monkeypatch.setattr(command, "measure", lambda *_: pytest.fail("It was measured."))
    with pytest.raises(SystemExit, match=r"only T40I10D100K-like by Quest, Zipf .*; load the data"):
        command.main()
    command.refuse_made_up(bare, [Source.load("Kosarak")])
    command.refuse_made_up(None, [Source.load("Kosarak")])
    command.refuse_made_up(DOCS, [Source("BMS-POS", "part of BMS-POS", SPREAD)])


@pytest.mark.parametrize("verified", [True, False])
def test_a_whole_data_set_counts_only_with_its_checksum(
    verified: bool, bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = bare / "Kosarak.dat"
    file.write_text("1 2\n2\n", encoding="ascii")
    there = replace(datasets.read(file), verified=verified)  # as if its numbers were right
    monkeypatch.setattr(datasets, "load", lambda *_: there)
    label, counts = data.load("Kosarak")
    ours = Source("Kosarak", "Kosarak", np.array([2, 1]))  # as if it were in ../shared
    if verified:
        assert (label, sorted(counts.tolist())) == ("Kosarak", [1, 2])
        assert records.records(ours) == "2, counted"
    else:
        assert (label, len(counts)) == ("Zipf like Kosarak", 41_270)
        assert records.records(ours).startswith("not available")
        assert "Kosarak.dat does not have the checksum" in capsys.readouterr().err
