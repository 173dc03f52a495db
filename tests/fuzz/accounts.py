"""Ledgers, measurements of OpenDP, and Spark's doors, given anything."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import opendp.prelude as dp
from hypothesis import strategies as st
from opendp.mod import OpenDPException, UnknownTypeException

import topgap
from tests.fuzz import hostile_parameters
from tests.fuzz.judge import Judge
from tests.fuzz.well_formed import is_release
from topgap import Domain, Ledger, opendp, spark
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    DomainError,
    ItemsError,
    LedgerError,
    ParameterError,
    ParameterTypeError,
    SourceError,
)

PARAMETERS = (ParameterError, ParameterTypeError)
ANSWERS = (AnswersError, AnswersTypeError)
LEDGER = (*PARAMETERS, LedgerError)

# ---------------------------------------------------------------- the ledger

_TEXTS = st.one_of(
    st.sampled_from(
        ["visits", "visits", "visits", "Visits", " visits", "", "x" * 3000, "\ud800", "a\nb"]
    ),
    st.text(max_size=5),
    st.sampled_from([None, 7, b"x", ["a"], True]),
)
_STEPS = [
    "add_dataset",
    "charge",
    "charge",
    "check",
    "record",
    "release",
    "history",
    "budget",
    "verify",
    "tear",
]


@st.composite
def accounting(draw: st.DrawFn) -> dict[str, Any]:
    """What a ledger goes through."""
    steps = [
        (
            step,
            draw(_TEXTS),
            draw(st.one_of(hostile_parameters.EPSILONS, hostile_parameters.NO_PARAMETERS)),
            draw(hostile_parameters.ANYTHING),
        )
        for step in draw(st.lists(st.sampled_from(_STEPS), max_size=5))
    ]
    return {
        "steps": steps,
        "made": draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "who": _TEXTS,
                    "note": _TEXTS,
                    "wait": st.sampled_from(
                        [0, 1, 0.5, -1, None, "x", float("nan"), True, 10**400]
                    ),
                    "check_clock": st.one_of(hostile_parameters.FLAGS, hostile_parameters.NO_FLAGS),
                },
            )
        ),
        "path": draw(
            st.sampled_from(["ledger.db"] * 9 + ["", "\x00", "no/such", ".", None, 7, b"x"])
        ),
    }


def fuzz_ledger(given: dict[str, Any], call: Judge) -> None:
    """Charge, record and look, with anything."""
    # There, for a path such as b"x" is one, too.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = given["path"]
        file = Path(folder, path) if isinstance(path, str) else path
        ledger = call("topgap.Ledger", LEDGER, Ledger, file, **given["made"])
        if ledger is None:
            return
        name = "topgap.Ledger."
        made = call(name + "add_dataset", LEDGER, ledger.add_dataset, "visits", 10)
        for step, text, epsilon, odd in given["steps"]:
            _take(ledger, step, text, epsilon, odd, call)
        for look in ("budgets", "history", "to_dict", "to_bytes", "verify"):
            call(name + look, LEDGER, getattr(ledger, look))
        found = call(name + "budget", LEDGER, ledger.budget, "visits")
        assert made is None or found is None or 0 <= found.spent <= found.total == 10
        assert repr(ledger)


def _take(ledger: Ledger, step: str, text: Any, epsilon: Any, odd: Any, call: Judge) -> None:
    name = f"topgap.Ledger.{step}"
    relation: Any = (None, "add-remove", "replace", odd)[len(type(odd).__name__) % 4]
    if step == "add_dataset":
        call(name, LEDGER, ledger.add_dataset, text, epsilon, note=odd)
        call(name, LEDGER, ledger.add_dataset, text, epsilon, neighbours=relation)
    elif step == "charge":
        charged = call(name, LEDGER, ledger.charge, text, epsilon, mechanism=odd, parameters=odd)
        how = {"mechanism": "sum", "neighbours": relation}
        charged = charged or call(name, LEDGER, ledger.charge, text, epsilon, **how)
        if charged is not None:
            call("topgap.Ledger.record", LEDGER, ledger.record, charged, odd)
    elif step == "check":
        call(name, LEDGER, ledger.check, text, epsilon)
    elif step == "record":
        call(name, LEDGER, ledger.record, odd, text)
    elif step == "release":
        refusals = (*LEDGER, *ANSWERS)
        given = {"k": 1, "epsilon": epsilon, "ledger": ledger, "dataset": text}
        made = call("topgap.top_k", refusals, topgap.top_k, [5, 3, 9], **given)
        if made is not None:
            is_release(made, answers=3)
    elif step == "verify":
        call(name, LEDGER, ledger.verify, text)
    elif step == "tear" and ledger.path.is_file():  # somebody writes into the middle of it
        with ledger.path.open("r+b") as file:
            file.seek(len(str(odd)) * 100)
            file.write(str(odd).encode(errors="replace")[:50])
    elif step in ("history", "budget"):
        call(name, LEDGER, getattr(ledger, step), text)


# ---------------------------------------------------------------- OpenDP

_DOMAINS: list[Callable[[], Any]] = [
    lambda: dp.vector_domain(dp.atom_domain(T=int)),
    lambda: dp.vector_domain(dp.atom_domain(T=int)),
    lambda: dp.vector_domain(dp.atom_domain(T=int)),
    lambda: dp.vector_domain(dp.atom_domain(T=int)),
    lambda: dp.vector_domain(dp.atom_domain(T=float, nan=False)),
    lambda: dp.atom_domain(T=int),
    lambda: dp.vector_domain(dp.atom_domain(T=float)),
    lambda: dp.vector_domain(dp.atom_domain(T=str)),
    lambda: dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
    lambda: dp.vector_domain(dp.atom_domain(T=int), size=3),
    lambda: None,
    lambda: 7,
]
_METRICS: list[Callable[[], Any]] = [
    lambda: dp.linf_distance(T=int),
    lambda: dp.linf_distance(T=int),
    lambda: dp.linf_distance(T=int),
    lambda: dp.linf_distance(T=int),
    lambda: dp.linf_distance(T=int, monotonic=True),
    lambda: dp.l1_distance(T=int),
    lambda: dp.linf_distance(T=float),
    lambda: dp.symmetric_distance(),
    lambda: None,
    lambda: "x",
]
_MEASURES: list[Callable[[], Any]] = [
    dp.max_divergence,
    dp.max_divergence,
    dp.max_divergence,
    dp.zero_concentrated_divergence,
    lambda: None,
]


@st.composite
def measuring(draw: st.DrawFn) -> dict[str, Any]:
    """What a Measurement is made of, and what it is asked."""
    return {
        "space": (draw(st.sampled_from(_DOMAINS)), draw(st.sampled_from(_METRICS))),
        "measure": draw(st.sampled_from(_MEASURES)),
        "k": draw(
            st.one_of(hostile_parameters.KS, hostile_parameters.KS, hostile_parameters.NO_KS)
        ),
        "scale": draw(
            st.one_of(
                hostile_parameters.EPSILONS,
                hostile_parameters.EPSILONS,
                hostile_parameters.NO_PARAMETERS,
            )
        ),
        "resolution": draw(hostile_parameters.RESOLUTIONS),
        "items": draw(
            st.one_of(st.none(), st.just(["a", "b", "c", "d"]), hostile_parameters.names())
        ),
        "data": draw(
            st.sampled_from(
                [[5, 3, 9], [1, 2, 3, 4], [1.5, 2.0, 3.0], {"a": 3, "b": 5}, [], None, "x"]
            )
        ),
        "distance": draw(st.sampled_from([0, 1, 2, 10**6, 1.5, -1, None, "x", float("inf")])),
    }


def fuzz_opendp(given: dict[str, Any], call: Judge) -> None:
    """Make Measurements, ask them, and chain them."""
    dp.enable_features("contrib", "honest-but-curious")
    refusals = (*PARAMETERS, ItemsError, AnswersError)
    domain, metric = (each() for each in given["space"])
    measure = given["measure"]()
    how = {"k": given["k"], "scale": given["scale"], "items": given["items"]}
    how["resolution"] = given["resolution"]
    made = call(
        "topgap.opendp.make_top_k", refusals, opendp.make_top_k, domain, metric, measure, **how
    )
    then = call("topgap.opendp.then_top_k", refusals, opendp.then_top_k, measure, **how)
    if (
        then is not None
        and domain is not None
        and metric is not None
        and domain != 7
        and metric != "x"
    ):
        with contextlib.suppress(OpenDPException):  # a space that OpenDP itself refuses
            call("topgap.opendp.then_top_k", refusals, lambda: (domain, metric) >> then)
    if made is None:
        return
    questions: list[tuple[Any, Any]] = [(made, given["data"]), (made.map, given["distance"])]
    for asked, argument in questions:
        # What is wrong with an argument is OpenDP's to say.
        with contextlib.suppress(OpenDPException, UnknownTypeException, TypeError, ValueError):
            found = asked(argument)
            if asked is made:
                is_release(found)


# ---------------------------------------------------------------- Spark's doors


_CODES = Domain.pattern("[A-Z][0-9]{2}")
_PAIRS = Domain.subsets(_CODES, size=2)


@st.composite
def without_spark(draw: st.DrawFn) -> dict[str, Any]:
    """What is said before Spark is asked."""
    return {
        "frame": draw(hostile_parameters.ANYTHING),
        "parameters": draw(hostile_parameters.parameters()),
        "columns": [draw(st.sampled_from(["a", "", None, 7])) for _ in range(2)],
        "domain": draw(st.sampled_from([["flu", "cold"], [], None, 7, range(3), _CODES, _PAIRS])),
        "together": draw(st.sampled_from([None, 2, 3, 4, True, "2"])),
    }


def fuzz_spark(given: dict[str, Any], call: Judge) -> None:
    """Ask for a release from what is no Spark data frame."""
    first, second = given["columns"]
    refusals = (*PARAMETERS, DomainError, SourceError)
    made = call(
        "topgap.spark.top_k",
        refusals,
        spark.top_k,
        given["frame"],
        **given["parameters"],
        item=first,
        count=second,
        domain=given["domain"],
    )
    assert made is None
    measured = call(
        "topgap.spark.top_k_with_estimates",
        refusals,
        spark.top_k_with_estimates,
        given["frame"],
        **given["parameters"],
        item=first,
        count=second,
        domain=given["domain"],
    )
    assert measured is None
    own = {"sensitivity", "monotonic"}
    few = {name: value for name, value in given["parameters"].items() if name not in own}
    events: dict[str, Any] = {"topgap.spark.top_k_events": spark.top_k_events}
    with_estimates = spark.top_k_events_with_estimates
    events |= {"topgap.spark.top_k_events_with_estimates": with_estimates}
    for name, function in events.items():
        made = call(
            name,
            refusals,
            function,
            given["frame"],
            **few,
            person=first,
            item=[second, first],
            domain=given["domain"],
            together=given["together"],
        )
        assert made is None
