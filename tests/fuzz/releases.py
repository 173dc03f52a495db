"""Releases of anything, with anything: by every call that makes one from answers."""

import pickle
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

import topgap
from tests.fuzz import hostile_domains, hostile_parameters, hostile_values
from tests.fuzz.judge import Judge, check_hidden
from tests.fuzz.well_formed import is_estimates, is_release
from topgap import Domain, Selector, TopK, _core, reference
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    DomainError,
    DomainWarning,
    ItemsError,
    ParameterError,
    ParameterTypeError,
    SelectorError,
)

PARAMETERS = (ParameterError, ParameterTypeError)
ANSWERS = (AnswersError, AnswersTypeError)
REFERRING = (*PARAMETERS, *ANSWERS, ItemsError)
RELEASING = (*REFERRING, DomainError, DomainWarning)


@st.composite
def releasing(draw: st.DrawFn) -> dict[str, Any]:
    """What calls that release are given."""
    luck = draw(st.integers(0, 30))
    return {
        "answers": draw(hostile_values.answers()),
        "items": draw(hostile_parameters.names()),
        "domain": draw(hostile_domains.domains()),
        "parameters": draw(hostile_parameters.parameters()),
        "winners": draw(hostile_parameters.NO_KS if luck == 5 else st.integers(-1, 9)),
        "gaps": draw(hostile_parameters.NO_FLAGS if luck == 1 else hostile_parameters.FLAGS),
        "threads": draw(hostile_parameters.NO_THREADS if luck == 2 else hostile_parameters.THREADS),
        "constant_work": draw(hostile_parameters.NO_FLAGS if luck == 3 else st.just(luck < 6)),
        "share": draw(
            hostile_parameters.EPSILONS if luck == 4 else st.sampled_from(["1/2", 0.9, "1e-9"])
        ),
    }


def fuzz_releasing(given: dict[str, Any], call: Judge) -> None:
    """Release, in every way that takes answers."""
    answers, chosen = given["answers"], given["parameters"]
    few = {key: value for key, value in chosen.items() if key != "k"}
    domain = given["domain"]
    how = {"items": given["items"], "threads": given["threads"], "domain": domain}
    more = {**how, "gaps": given["gaps"], "constant_work": given["constant_work"]}
    count = _count(answers if domain is None else domain)
    made = call("topgap.top_k", RELEASING, topgap.top_k, answers, **chosen, **how)
    if made is not None:
        is_release(made, answers=count)
        assert not isinstance(domain, Domain) or all(item in domain for item in made.items)
    made = call("topgap.noisy_max", RELEASING, topgap.noisy_max, answers, **few, **more)
    if made is not None:
        is_release(made, answers=count, gaps=bool(given["gaps"]))
        assert len(made) == 1
    parameters = call("topgap.TopK", PARAMETERS, TopK, **chosen)
    if parameters is None:
        return
    is_parameters(parameters)
    cost = call("topgap.TopK.cost", PARAMETERS, parameters.cost, given["winners"])
    assert cost is None or cost == parameters.epsilon
    checked = call(
        "topgap.select", RELEASING, topgap.select, parameters, answers, **more, check=True
    )
    assert checked is None or str(checked)
    release = call("topgap.select", RELEASING, topgap.select, parameters, answers, **more)
    assert (checked is None) == (release is None), "a check refuses what the release does"
    if release is not None:
        is_release(release, answers=count, gaps=bool(given["gaps"]))
    estimates = call(
        "topgap.top_k_with_estimates", RELEASING, topgap.top_k_with_estimates,
        answers, **chosen, **how, selection_share=given["share"],
    )  # fmt: skip
    if estimates is not None:
        assert type(estimates) is topgap.Estimates
        assert len(estimates.measurements) == parameters.k
        assert estimates.epsilon == parameters.epsilon
        is_release(estimates.release, answers=count)


def is_parameters(parameters: TopK) -> None:
    """Check that these are parameters, which can be kept."""
    assert type(parameters) is TopK
    assert type(parameters.scale) is type(parameters.rate) is Fraction
    assert parameters.kernel is None or type(parameters.kernel) is _core.Kernel
    assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301 - it is ours
    assert {*parameters.to_dict()} == {"k", "epsilon", "resolution", "sensitivity", "monotonic"}
    assert repr(parameters)
    hash(parameters)


def _count(answers: Any) -> int | None:
    if isinstance(answers, Domain):
        return answers.size
    try:
        return len(answers)
    except TypeError:
        return None


# ---------------------------------------------------------------- the reference


@st.composite
def referring(draw: st.DrawFn) -> dict[str, Any]:
    """What the paper's algorithms are given: noise that plain Python draws in a moment."""
    epsilon: Any = draw(st.sampled_from([1, "1/2", 10, "1/100", 10**6]))
    k = draw(st.sampled_from([1, 1, 2, 3]))
    resolution: Any = draw(st.sampled_from([1, "1/10", "1/3"]))
    monotonic = draw(st.booleans())
    return {
        "answers": draw(hostile_values.answers()),
        "parameters": TopK(k, epsilon, resolution=resolution, monotonic=monotonic),
        "odd": draw(st.sampled_from([None] * 20 + [7, "x", object(), 1.5])),
        "refinement": draw(st.sampled_from([2, 2, 3, 256, 10**9, 1, 0, -1, True, 2.0, None, "2"])),
    }


def fuzz_reference(given: dict[str, Any], call: Judge) -> None:
    """Release by the paper's algorithms."""
    answers, odd = given["answers"], given["odd"]
    parameters: Any = given["parameters"] if odd is None else odd
    pairs = call(
        "topgap.reference.gap_top_k", REFERRING, reference.gap_top_k,
        answers, parameters, refinement=given["refinement"],
    )  # fmt: skip
    pruned = call(
        "topgap.reference.gap_top_k_pruned", REFERRING, reference.gap_top_k_pruned,
        answers, parameters,
    )  # fmt: skip
    for made in (pairs, pruned):
        if made is not None:
            assert len({index for index, _ in made}) == len(made) == parameters.k
            assert all(type(gap) is Fraction and gap >= 0 for _, gap in made)
    winners = call("topgap.reference.top_k", REFERRING, reference.top_k, answers, parameters)
    if winners is not None:
        assert len({*winners}) == parameters.k
    winner = call("topgap.reference.noisy_max", REFERRING, reference.noisy_max, answers, parameters)
    assert winner is None or type(winner) is int


# ---------------------------------------------------------------- selectors

_STEPS = st.sampled_from(
    ["add", "add", "add", "merge", "arrow", "pickle", "copy", "release", "release", "add to other"]
)


@st.composite
def selecting(draw: st.DrawFn) -> dict[str, Any]:
    """What two selectors go through."""
    domain = draw(hostile_domains.domains())
    chosen = draw(hostile_parameters.parameters(good=True))
    steps = []
    for step in draw(st.lists(_STEPS, min_size=2, max_size=7)):
        adds = step.startswith("add")
        answers = (
            draw(st.one_of(hostile_values.usable_answers(), hostile_values.answers()))
            if adds
            else None
        )
        named = draw(st.integers(0, 2)) if adds else 0
        odd = draw(hostile_parameters.names()) if named == 0 and adds else None
        steps.append((step, answers, named, odd))
    return {
        "parameters": chosen,
        "other": chosen
        if draw(st.integers(0, 7))
        else draw(hostile_parameters.parameters(good=True)),
        "odd": draw(hostile_parameters.ANYTHING),
        "domain": domain,
        "other domain": domain if draw(st.integers(0, 7)) else draw(hostile_domains.domains()),
        "gaps": draw(hostile_parameters.FLAGS),
        "threads": draw(hostile_parameters.THREADS),
        "share": draw(st.sampled_from([None, None, None, "1/2", "1/2", 0.25, 2, "x"])),
        "steps": steps,
    }


def fuzz_selector(given: dict[str, Any], call: Judge) -> None:
    """Add, merge, send and release, in any order."""
    call("topgap.Selector", PARAMETERS, Selector, given["odd"])
    parameters = call("topgap.TopK", PARAMETERS, TopK, **given["parameters"])
    others = call("topgap.TopK", PARAMETERS, TopK, **given["other"])
    if parameters is None or others is None:
        return
    domain = given["domain"] if hasattr(given["domain"], "__len__") else None  # not used up
    making = (*PARAMETERS, DomainError)
    share = given["share"]
    selector = call(
        "topgap.Selector", making, Selector, parameters, domain=domain, selection_share=share
    )
    other = call(
        "topgap.Selector", making, Selector, others, domain=given["other domain"],
        selection_share=share,
    )  # fmt: skip
    if selector is None or other is None:
        return
    refusals = (*REFERRING, SelectorError)
    number = 0
    for step, answers, named, odd in given["steps"]:
        if step in ("add", "add to other"):
            to = selector if step == "add" else other
            count = _count(answers) if named and not hasattr(answers, "keys") else None
            items: Any = odd
            if count is not None:  # names that no other part has
                items = [f"{number} {each}" for each in range(count)]
                if named == 2 and to.domain is not None:  # though a small domain has not so many
                    first = number * count
                    places = [(first + each) % to.domain.size for each in range(count)]
                    items = to.domain.unrank_all(places)
                number += 1
            add = to.add
            call("topgap.Selector.add", refusals, add, answers, items, threads=given["threads"])
        elif step == "merge":
            call("topgap.Selector.merge", refusals, selector.merge, other)
            call("topgap.Selector.merge", refusals, selector.merge, given["odd"])
        elif step == "arrow":
            table = call("topgap.Selector.to_arrow", refusals, selector.to_arrow)
            reading = Selector.from_arrow
            if table is not None:
                moved = call(
                    "topgap.Selector.from_arrow", refusals, reading,
                    parameters, table, domain=selector.domain, selection_share=share,
                )  # fmt: skip
                # A name that is no number or text may come back as another.
                selector = selector if moved is None else moved
            call("topgap.Selector.from_arrow", refusals, reading, others, given["odd"])
        elif step == "pickle":
            kept = call("pickled", (*refusals, TypeError, AttributeError), _pickled, selector)
            selector = selector if kept is None else kept
        elif step == "copy":
            assert call("copied", (SelectorError,), selector.__copy__) is None
        else:
            release = call(
                "topgap.Selector.release", refusals, selector.release, gaps=given["gaps"]
            )
            if release is not None:
                is_release(release, gaps=bool(given["gaps"]))
                assert selector.domain is None or all(
                    item in selector.domain for item in release.items
                )
                assert selector.release(gaps=release.gaps is not None) is release
            measured = call(
                "topgap.Selector.release_with_estimates", refusals, selector.release_with_estimates
            )
            if measured is not None:
                is_estimates(measured, parameters.k)
                assert selector.release_with_estimates() is measured
        assert repr(selector)
        assert selector.parameters == parameters


def _pickled(selector: Selector) -> Selector:
    made: Selector = pickle.loads(pickle.dumps(selector))  # noqa: S301 - it is ours
    return made


# ---------------------------------------------------------------- the compiled module


_INT64 = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20).map(
    lambda values: np.array(values, dtype=np.int64)
)
_FLOAT64 = st.lists(st.floats(), max_size=20).map(lambda values: np.array(values, dtype=float))


@st.composite
def compiled(draw: st.DrawFn) -> dict[str, Any]:
    """What the extension is given, beyond what the package would."""
    sizes = st.one_of(
        st.sampled_from([0, 1, 2, 10, 2**31, 2**63 - 1, 2**63, 2**64]), hostile_values.WHOLE
    )
    return {
        "k": draw(st.one_of(st.integers(0, 5), st.integers(1, 3), sizes)),
        "rate": (draw(sizes), draw(sizes)),
        "steps": draw(st.one_of(st.integers(1, 1000), sizes.filter(bool))),
        "answers": draw(st.one_of(_INT64, _INT64, _FLOAT64, hostile_values.answers())),
        "cut": draw(st.one_of(st.none(), hostile_values.WHOLE)),
        "is_laplace": draw(st.booleans()),
        "threads": draw(st.sampled_from([0, 1, 2, 5, 64])),
        "in_steps": draw(st.booleans()),
        "count": draw(st.sampled_from([0, 1, 5, 70, 10**4])),
    }


def fuzz_compiled(given: dict[str, Any], call: Judge) -> None:
    """Call the extension itself: what Python's own types refuse is refused by Python's errors."""
    plain = (OverflowError, TypeError, ValueError)
    k, (numerator, denominator) = given["k"], given["rate"]
    answers = given["answers"]

    def asked(name: str, function: Any, *args: Any) -> Any:
        try:
            return call(name, (), function, *args)
        except plain as error:
            check_hidden(error)
            call.refused[name] += 1
            return None

    asked("_core.floor_to_steps", _core.floor_to_steps, answers, given["steps"])
    if numerator > 0 and denominator > 0:
        noise = asked("_core.Laplace", _core.Laplace, numerator, denominator)
        if noise is not None:
            drawn = asked("_core.Laplace.draw", noise.draw, given["count"])
            assert drawn is None or all(type(each) is int for each in drawn)
        is_laplace, cut = given["is_laplace"], given["cut"]
        made = partial(_core.Kernel, is_laplace=is_laplace)
        kernel = asked("_core.Kernel", made, k, numerator, denominator, given["steps"])
        if kernel is not None:
            in_steps, threads = given["in_steps"], given["threads"]
            end = {"floor" if is_laplace else "sentinel": cut}
            release = partial(kernel.release, in_steps=in_steps, threads=threads, **end)
            constant_work = partial(
                kernel.release_constant_work,
                in_steps=in_steps,
                sentinel=None if is_laplace else cut,
            )
            for name, method in (("release", release), ("release_constant_work", constant_work)):
                released = asked(f"_core.Kernel.{name}", method, answers)
                if released is not None:
                    assert len(released[0]) <= 8 * k, name
                    assert cut is not None or is_laplace or len(released[0]) == 8 * k, name
            options = {"in_steps": in_steps, "floor": cut, "threads": threads}
            candidates = partial(kernel.candidates, stream=None, **options)
            asked("_core.Kernel.candidates", candidates, answers)
    streams = _core.Streams()
    stream = asked("_core.Streams.open", streams.open, given["k"])
    if stream is not None:
        taken = asked("_core.Stream.take", stream.take, given["count"])
        assert taken is None or 0 <= taken < 2 ** given["count"]
