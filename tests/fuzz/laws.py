"""The exact law, the paper's samplers and plans, asked for anything."""

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from matplotlib.figure import Figure

import topgap
from tests.fuzz import hostile_parameters, hostile_values
from tests.fuzz.judge import Judge
from tests.fuzz.well_formed import look_at
from topgap import TopK, law, planning, reference
from topgap.domains import Domain
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    DomainError,
    ItemsError,
    ParameterError,
    ParameterTypeError,
)

PARAMETERS = (ParameterError, ParameterTypeError)
REFUSALS = (*PARAMETERS, AnswersError, AnswersTypeError)
PLAN_REFUSALS = (*REFUSALS, DomainError, ItemsError)

# ---------------------------------------------------------------- the law

_RATIONAL = st.one_of(
    st.integers(-2, 50),
    st.fractions(-1, 20, max_denominator=50),
    st.sampled_from([10**40, 1.5, "1"]),
)


@st.composite
def lawful(draw: st.DrawFn) -> dict[str, Any]:
    """Small inputs, and outcomes of them."""
    few = st.lists(st.integers(0, 4), min_size=2, max_size=4)
    answers = draw(st.one_of(few, few, hostile_values.answers()))
    k = draw(st.integers(1, 2))
    resolution: Any = draw(st.sampled_from([1, 1, "1/2"]))
    epsilon: Any = draw(st.sampled_from([1, 2, "1/2"]))
    noise: Any = draw(st.sampled_from([{}, {"items_per_person": 1, "noise": "laplace"}]))
    cut: Any = draw(st.sampled_from([{}, {}, {"threshold": 1}, {"threshold": -(10**9)}]))
    parameters = TopK(k, epsilon, resolution=resolution, **noise, **cut)
    luck = draw(st.integers(0, 9))
    gaps = st.one_of(st.integers(-1, 4), st.sampled_from([Fraction(1, 2), 0, 10**9, 0.5, None]))
    pairs = st.tuples(st.integers(-1, 4), gaps)
    outcome = (
        draw(st.lists(pairs, min_size=0 if cut else k, max_size=k))
        if luck
        else draw(hostile_parameters.ANYTHING)
    )
    return {
        "answers": answers,
        "parameters": parameters if luck != 1 else draw(hostile_parameters.ANYTHING),
        "outcome": outcome,
        "bits": draw(st.sampled_from([128, 1, 8, 64, 0, -1, 10**9, None, 2.0, True]))
        if luck == 2
        else 64,
        "rate": draw(_RATIONAL),
        "precision": draw(st.sampled_from([1, 8, 64, 128, 0, -1, 20_000, None, 2.0])),
    }


def fuzz_law(given: dict[str, Any], call: Judge) -> None:
    """Ask for probabilities: bounds from 0 to 1 that are close to each other."""
    parameters, outcome = given["parameters"], given["outcome"]
    found = [
        call("topgap.law.gap_top_k", REFUSALS, law.gap_top_k, given["answers"], parameters, outcome,
             bits=given["bits"]),
        call("topgap.law.exp_minus", PARAMETERS, law.exp_minus, given["rate"], given["precision"]),
    ]  # fmt: skip
    if isinstance(outcome, list):
        items = [pair[0] for pair in outcome]
        found.append(
            call("topgap.law.top_k", REFUSALS, law.top_k, given["answers"], parameters, items)
        )
        found.append(
            call("topgap.law.laplace_top_k", REFUSALS, law.laplace_top_k, given["answers"],
                 parameters, outcome)
        )  # fmt: skip
    for bounds in found:
        if bounds is not None:
            assert 0 <= bounds.low <= bounds.high <= 1
            assert type(bounds.low) is type(bounds.high) is Fraction


# ---------------------------------------------------------------- samplers

_COUNTS = st.one_of(
    st.integers(-1, 20), st.sampled_from([2**64, True, 1.0, None, "3", np.int64(3)])
)
_RATES = st.one_of(
    st.fractions("1/20", 20, max_denominator=20),
    st.sampled_from([0, Fraction(0), Fraction(-1), 1, 0.5, "1", None, Fraction(10**30)]),
)


@st.composite
def sampling(draw: st.DrawFn) -> dict[str, Any]:
    """What the samplers are asked for."""
    return {
        "n": draw(_COUNTS),
        "d": draw(_COUNTS),
        "rate": draw(_RATES),
        "bits": draw(st.sampled_from([None] * 8 + [7, "x", object(), []])),
        "take": draw(st.sampled_from([0, 1, 8, 64, 1000])),
    }


def fuzz_sampling(given: dict[str, Any], call: Judge) -> None:
    """Draw from each of the paper's distributions."""
    sampler = call("topgap.reference.Sampler", PARAMETERS, reference.Sampler, given["bits"])
    if sampler is None:
        return
    n, d, rate, name = given["n"], given["d"], given["rate"], "topgap.reference.Sampler."
    drawn = call(name + "uniform", PARAMETERS, sampler.uniform, n)
    assert drawn is None or 0 <= drawn < n
    if not isinstance(n, int) or n < 1000:
        order = call(name + "shuffle", PARAMETERS, sampler.shuffle, n)
        assert order is None or sorted(order) == [*range(1, n + 1)]
    assert call(name + "bernoulli", PARAMETERS, sampler.bernoulli, n, d) in (None, False, True)
    assert call(name + "bernoulli_exp", PARAMETERS, sampler.bernoulli_exp, rate) in (
        None,
        False,
        True,
    )
    for law_of in ("geometric", "discrete_laplace"):
        drawn = call(name + law_of, PARAMETERS, getattr(sampler, law_of), rate)
        assert drawn is None or type(drawn) is int
    drawn = call(name + "truncated_geometric", PARAMETERS, sampler.truncated_geometric, rate, n)
    assert drawn is None or 0 <= drawn < n
    source = reference.SystemBits()
    assert (call("topgap.reference.SystemBits.take", (), source.take, given["take"]) or 0) >= 0


# ---------------------------------------------------------------- plans


_DOMAINS = st.one_of(
    st.none(),
    st.sampled_from([9, 10**12, 2**256, np.int64(99), Domain.range(0, 9), ["a", "b", "c"]]),
    hostile_parameters.NO_KS,
)


@st.composite
def planned(draw: st.DrawFn) -> dict[str, Any]:
    """What plans are made of."""
    epsilons = st.one_of(
        hostile_parameters.EPSILONS,
        st.lists(hostile_parameters.EPSILONS, max_size=2),
        hostile_parameters.NO_PARAMETERS,
    )
    luck = draw(st.integers(0, 9))
    return {
        "counts": draw(hostile_values.answers()),
        "parameters": draw(hostile_parameters.parameters()),
        "epsilons": draw(epsilons) if luck < 3 else draw(st.sampled_from([1, [1, "1/2"], "0.1"])),
        "releases": draw(st.sampled_from([2, 3, 10]))
        if luck
        else draw(hostile_parameters.NO_KS.filter(_is_small)),
        "share": "1/2" if luck < 8 else draw(hostile_parameters.NO_PARAMETERS),
        "zipf": (
            draw(hostile_parameters.KS),
            draw(st.one_of(hostile_values.WHOLE, hostile_parameters.NO_KS)),
        ),
        "domain": draw(_DOMAINS),
        "probability": draw(st.one_of(hostile_parameters.EPSILONS, st.sampled_from(["1/2", 0.95]))),
        "plotted": draw(st.integers(0, 60)) == 0,
        "thresholds": draw(
            st.one_of(
                hostile_parameters.NO_PARAMETERS,
                st.sampled_from([5, "1/3", -7, 10**40, [0, 500], []]),
            )
        ),
        "bounds": draw(st.sampled_from([None, None, None, 1, [1, 3], 0])),
    }


def _is_small(number: Any) -> bool:
    return not isinstance(number, int) or number < 100


def fuzz_planning(given: dict[str, Any], call: Judge) -> None:
    """Plan, and ask plans for all that they tell."""
    call("topgap.planning.zipf", PARAMETERS, planning.zipf, *given["zipf"])
    chosen = {key: value for key, value in given["parameters"].items() if key != "epsilon"}
    made = call(
        "topgap.plan", PLAN_REFUSALS, topgap.plan, given["counts"], epsilons=given["epsilons"],
        releases=given["releases"], selection_share=given["share"], domain=given["domain"],
        **chosen,
    )  # fmt: skip
    for_domain = call(
        "topgap.planning.plan_domain", PLAN_REFUSALS, planning.plan_domain, given["domain"],
        epsilons=given["epsilons"], probability=given["probability"], **chosen,
    )  # fmt: skip
    if for_domain is not None:
        assert all(row.people >= 0 for row in for_domain.rows)
        for form in ("to_dict", "to_json", "to_pandas", "to_polars", "to_arrow", "columns"):
            told = call(f"topgap.planning.DomainPlan.{form}", (), getattr(for_domain, form))
            assert told is not None
        look_at(for_domain)
    fuzz_threshold_plan(given, chosen, call)
    if made is None:
        return
    for row in made.rows:
        assert 0 <= row.names.right.value <= 1
        assert row.names.overlap.value <= made.k
    for form in ("to_dict", "to_json", "to_pandas", "to_polars", "to_arrow", "columns", "to_text"):
        assert call(f"topgap.Plan.{form}", (), getattr(made, form)) is not None
    look_at(made)
    if given["plotted"]:
        call("topgap.Plan.plot", (), made.plot, tuple(Figure().subplots(2, 1)))
        call("topgap.Plan.render", (), made.render, "svg")


def fuzz_threshold_plan(given: dict[str, Any], chosen: dict[str, Any], call: Judge) -> None:
    """Plan with thresholds, and ask the plan for all that it tells."""
    made = call(
        "topgap.planning.plan_threshold", PLAN_REFUSALS, planning.plan_threshold, given["counts"],
        thresholds=given["thresholds"], epsilons=given["epsilons"], releases=given["releases"],
        domain=given["domain"], items_per_person=given["bounds"], **chosen,
    )  # fmt: skip
    if made is None:
        return
    for row in made.rows:
        assert 0 <= row.right.value <= row.above <= made.k
        assert row.right.value <= row.named.value <= made.k
        assert 0 <= row.spent.value <= float(row.epsilon) * 1.000001
        assert row.counted.value > 0 or row.error is None
    for form in ("to_dict", "to_json", "to_pandas", "to_polars", "to_arrow", "columns", "to_text"):
        assert call(f"topgap.planning.ThresholdPlan.{form}", (), getattr(made, form)) is not None
    look_at(made)
    if given["plotted"]:
        axes = tuple(Figure().subplots(2, 1))
        call("topgap.planning.ThresholdPlan.plot", (), made.plot, axes)
        call("topgap.planning.ThresholdPlan.render", (), made.render, "svg")
