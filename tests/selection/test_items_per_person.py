"""Where people have few items: noisy answers are released, by every call that selects."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import topgap
from tests.checking.mutants import Mutant
from tests.selection.sample_noisy_answers import FEW, TREES, holds
from tests.selection.sample_selectors import FAR
from tests.selection.selector_walks import mechanism_on
from topgap import (
    AnswersError,
    AnswersTypeError,
    ItemsError,
    Ledger,
    ParameterError,
    ParameterTypeError,
    Selector,
    TopgapError,
    TopK,
    select,
)

FORMS: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "dict": lambda: (TREES, {}),
    "pandas": lambda: (pd.Series(TREES), {}),
    "polars": lambda: (pl.Series([*TREES.values()]), {"items": [*TREES]}),
    "Arrow": lambda: (pa.array([*TREES.values()]), {"items": [*TREES]}),
    "NumPy": lambda: (np.array([*TREES.values()]), {"items": [*TREES]}),
    "floats": lambda: (np.array([*map(float, TREES.values())]), {"items": [*TREES]}),
    "fractions": lambda: ([Fraction(each) for each in TREES.values()], {"items": [*TREES]}),
    "Counter": lambda: (Counter(TREES), {"domain": [*TREES]}),
    "constant work": lambda: (
        np.array([*TREES.values()]), {"items": [*TREES], "constant_work": True}
    ),
    "threads": lambda: (TREES, {"threads": 2}),
    "list for a domain": lambda: (TREES, {"domain": ["oak", "elm", "fir", "ash"]}),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_answers_of_every_form_are_released(form: str) -> None:
    answers, more = FORMS[form]()
    holds(topgap.top_k(answers, 2, 1, **FEW, **more), ["ash", "oak"], [3 * FAR, 2 * FAR])
    cut = topgap.top_k(answers, 4, 1, threshold=FAR, **FEW, **more)
    holds(cut, ["ash", "oak"], [3 * FAR, 2 * FAR])
    assert cut.gaps is not None
    assert cut.values is not None
    assert cut.gaps[-1] == cut.values[-1] - FAR


def test_the_parameters_alone_say_which_noise_there_is() -> None:
    """Laplace noise if its scale is the smaller one, or if it is asked for."""
    for k, bound, noise, is_laplace in [
        (2, 1, None, True), (2, 2, None, False), (2, 3, None, False), (2, None, None, False),
        (2, 1, "exponential", False), (2, 3, "laplace", True), (1, 1, "laplace", True),
    ]:  # fmt: skip
        release = topgap.top_k(TREES, k, 1, items_per_person=bound, noise=noise)  # type: ignore[arg-type]
        assert (release.values is not None) == is_laplace
        assert release.parameters.noise == ("laplace" if is_laplace else "exponential")
        assert release.gaps is not None
    best = topgap.noisy_max(TREES, 1, items_per_person=1, noise="laplace")
    holds(best, ["ash"], [3 * FAR])


@pytest.mark.parametrize(
    ("answers", "values"),
    [
        ([10**30, 0, 10**30 + FAR], [10**30 + FAR, 10**30]),
        ([-(10**30), -FAR, -(10**40)], [-FAR, -(10**30)]),
        ([2**63 - 1, -(2**63), 2**62], [2**63 - 1, 2**62]),
        (np.array([2**64 - 1, 0, FAR], dtype=np.uint64), [2**64 - 1, FAR]),
        (np.array([2**63 - 1, -(2**63), 0]), [2**63 - 1, 0]),
        (np.array([1e300, -1e300, 0]), [int(1e300), 0]),
        ([Fraction(10**13, 3), Decimal("1e20"), -0.5], [10**20, 10**13 // 3]),
    ],
)
@pytest.mark.parametrize("resolution", [1, "1/10", "1e-9"])
def test_answers_of_any_size_are_released(answers: Any, values: list[int], resolution: str) -> None:
    release = topgap.top_k(answers, 2, 1, resolution=resolution, **FEW)
    holds(release, [*release.items], values)
    assert release.value_units is not None
    fits = all(-(2**63) <= each < 2**63 for each in release.value_units.tolist())
    assert release.value_units.dtype == (np.int64 if fits else object)
    # A threshold between the two leaves the first, and its gap is the lead over it.
    between = sum(values) // 2
    cut = topgap.top_k(answers, 2, 1, resolution=resolution, threshold=between, **FEW)
    holds(cut, [release.items[0]], values[:1])
    assert cut.values is not None
    assert cut.gaps == (cut.values[0] - between,)


def test_answers_are_rounded_down_and_values_are_multiples_of_the_resolution() -> None:
    # Noise is 0 but with probability e^−10^6.
    exact: dict[str, Any] = {"epsilon": 10**7, "items_per_person": 1}
    assert topgap.top_k([0.9, -0.1, 7.5], 2, **exact).values == (7, 0)
    fine = topgap.top_k([0.9, -0.11, 7.55], 2, resolution="1/10", **exact)
    assert fine.values == (Fraction(75, 10), Fraction(9, 10))
    third = topgap.top_k([Fraction(2, 3), -1, 0.5], 2, resolution="1/3", **exact)
    assert third.values == (Fraction(2, 3), Fraction(1, 3))


def test_the_resolution_is_1_unless_the_sensitivity_is_no_whole_number() -> None:
    for sensitivity, resolution in [("1", "1"), ("3", "1"), ("1/2", "1/10"), ("0.3", "1/10")]:
        release = topgap.top_k(TREES, 2, 1, sensitivity=sensitivity, **FEW)
        assert release.parameters.resolution == Fraction(resolution)
        assert release.parameters.scale == Fraction(sensitivity)
        holds(release, ["ash", "oak"], [3 * FAR, 2 * FAR])
    # Exponential noise has a tenth, as before.
    assert topgap.top_k(TREES, 2, 1, items_per_person=2).parameters.resolution == Fraction(1, 10)


# --- Errors, and the ledger

REFUSED: dict[str, tuple[Any, dict[str, Any], type[TopgapError], str]] = {
    "no bound": (TREES, {"noise": "laplace"}, ParameterError, "needs items_per_person"),
    "bound 0": (TREES, {"items_per_person": 0}, ParameterError, "items_per_person must be"),
    "bound True": (TREES, {"items_per_person": True}, ParameterTypeError, "items_per_person"),
    "bound 1.0": (TREES, {"items_per_person": 1.0}, ParameterTypeError, "items_per_person"),
    "noise gauss": (TREES, {**FEW, "noise": "gauss"}, ParameterError, "'exponential' or"),
    "noise 1": (TREES, {**FEW, "noise": 1}, ParameterTypeError, "'exponential' or"),
    "threshold alone": (
        TREES, {"k": None, "threshold": 1}, ParameterError, "of any length needs Laplace"
    ),
    "threshold NaN": (TREES, {**FEW, "threshold": float("nan")}, ParameterError, "threshold"),
    "threshold list": (TREES, {**FEW, "threshold": [1]}, ParameterTypeError, "threshold"),
    "no k": (TREES, {**FEW, "k": None}, ParameterError, "k is missing"),
    "sensitivity": (TREES, {**FEW, "sensitivity": "1/3"}, ParameterError, "multiple of the"),
    "too few": ({"ash": 31_415, "elm": 5}, FEW, AnswersError, "needs at least 3"),
    "NaN": ([31_415, float("nan"), 1], FEW, AnswersError, "finite"),
    "text": ([31_415, "x", 1], {**FEW, "threshold": 1}, AnswersTypeError, "not str"),
    "two names": ([31_415, 1, 2], {**FEW, "items": ["a", "a", "b"]}, ItemsError, "the same name"),
    "constant work on floats": (
        [31_415.5, 1, 2], {**FEW, "constant_work": True}, AnswersTypeError, "array of integers"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_costs_nothing_and_tells_no_answer(name: str, tmp_path: Path) -> None:
    answers, given, error, word = REFUSED[name]
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.add_dataset("trees", 10)
    with pytest.raises(error, match=word) as caught:
        topgap.top_k(answers, **{"k": 2, "epsilon": 1, **given}, ledger=ledger, dataset="trees")
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert "31" not in text
    assert ledger.budget("trees").spent == 0
    assert ledger.history("trees") == ()


def test_a_release_is_charged_its_epsilon_and_recorded_whole(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.add_dataset("trees", 10)
    account: dict[str, Any] = {"ledger": ledger, "dataset": "trees"}
    topgap.top_k(TREES, 2, "1/2", **FEW, **account)
    topgap.top_k(TREES, None, 2, threshold=9 * FAR, **FEW, **account)  # of which nothing comes
    selector = Selector(TopK(2, 1, threshold=FAR, **FEW))
    selector.add(TREES)
    selector.release(**account)
    check = topgap.top_k(TREES, 2, 5, check=True, **FEW, **account)
    assert check.cost == 5
    assert ledger.budget("trees").spent == Fraction(7, 2)


# --- Broken on purpose


BROKEN = [
    Mutant("noisy answers not shifted back", "[each + shift for each in noisy]", "noisy"),
    Mutant("noisy answers not shifted back, in int64",
           "values, next_one = noisy + shift, threshold", "values, next_one = noisy, threshold"),
    Mutant("sums taken to fit that do not", "min(ends) < -(2**62) or max(ends) >= 2**62",
           "False"),
    Mutant("the shift twice", "[each + shift for each in noisy]",
           "[each + 2 * shift for each in noisy]"),
    Mutant("the threshold not shifted with the answers",
           "None if units is None else units - shift_in_steps(parameters, array)", "units"),
    Mutant("a shift of units taken for one of steps",
           "array.shift * (1 if array.in_steps else parameters.resolution.denominator)",
           "array.shift"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN, ids=lambda mutant: mutant.name)
def test_a_broken_shift_is_found(mutant: Mutant) -> None:
    """Answers that the kernel takes shifted, in units and in steps, and such as are far apart."""
    given: list[tuple[Any, str]] = [
        (np.array([2**64 - 1, 0, FAR], dtype=np.uint64), "1/10"),
        ([2**64, 2**64 - FAR, 2**63], "1/10"),
        ([Fraction(each) for each in (FAR**2 // 10, FAR**2 // 10 + FAR, 5 * FAR)], "1/10"),
        (np.array([2**62, -(2**62) - 2**61, FAR - 2**63]), "1"),
    ]
    found = False
    for answers, resolution in given:
        plain = sorted((int(each) for each in answers), reverse=True)
        for threshold in (None, plain[1] - FAR // 2):
            parameters = TopK(2, 1, resolution=resolution, threshold=threshold, **FEW)
            items = [*select(parameters, answers).items]
            holds(select(parameters, answers), items, plain[:2])
            try:
                holds(mechanism_on(mutant).select(parameters, answers), items, plain[:2])
            except (AssertionError, OverflowError, ValueError):
                found = True
    assert found
