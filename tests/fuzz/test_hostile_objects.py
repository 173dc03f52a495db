"""Objects whose own methods fail: refused before a charge, and no matter after it."""

import secrets
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest

import topgap
from tests.fuzz.hostile_parameters import Incomparable, Unhashable, Unwritable
from tests.fuzz.hostile_values import FailingNumber, FewNames, LyingLength, SameNames
from tests.fuzz.judge import check_sentence
from topgap import (
    AnswersError,
    AnswersTypeError,
    EstimatesError,
    ItemsError,
    KernelError,
    ParameterError,
    ParameterTypeError,
    Release,
    ReleaseError,
    Selector,
    SelectorError,
    TopK,
    reference,
    report,
)
from topgap.selection import mechanism

FAR = 10**12
LONG = 10**5000


@pytest.fixture
def ledger(tmp_path: Path) -> topgap.Ledger:
    """A ledger with a total of 10 for visits."""
    made = topgap.Ledger(tmp_path / "budget.db")
    made.add_dataset("visits", epsilon=10)
    return made


class Named:
    """A name that fails at whatever it is asked."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(name)


class Third(Fraction):
    """A number that cannot be had."""

    @property
    def numerator(self) -> NoReturn:
        """None, for it fails."""
        raise RuntimeError


class Moody(list[Any]):
    """A list that can be gone through, and fails when it is asked for one thing."""

    def __getitem__(self, place: Any) -> NoReturn:
        raise IndexError


@pytest.mark.parametrize("value", [
    np.timedelta64(1), np.timedelta64(1, "s"), np.timedelta64("NaT"), Unhashable(), Incomparable(),
    FailingNumber(1), Third(1, 3), np.array([1, 2]), pd.NA,
], ids=lambda value: type(value).__name__)  # fmt: skip
@pytest.mark.parametrize("name", [
    "k", "epsilon", "resolution", "sensitivity", "monotonic", "gaps", "threads", "constant_work",
])  # fmt: skip
def test_a_parameter_may_be_anything(name: str, value: Any) -> None:
    given: dict[str, Any] = {"k": 1, "epsilon": 1, name: value}
    with pytest.raises((ParameterError, ParameterTypeError)) as error:
        topgap.top_k({"a": 1, "b": 2}, **given)
    check_sentence(error.value)


def test_values_of_epsilon_may_be_in_anything() -> None:
    odd: Any
    for odd in (Answers(), Endless(), [Unhashable()], np.timedelta64(1)):
        with pytest.raises((ParameterError, ParameterTypeError)) as error:
            topgap.plan({"a": 1, "b": 2}, 1, odd)
        check_sentence(error.value)


def test_parameters_that_lie_about_being_equal_are_told_apart() -> None:
    class Same(int):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

    for epsilon in (1, 5):
        assert topgap.top_k([1, 2], 1, Same(epsilon)).epsilon == epsilon
        assert mechanism._parameters(1, Same(epsilon), "1/10", 1, False).epsilon == epsilon


@pytest.mark.parametrize("kind", [FewNames, SameNames])
def test_a_dict_that_lies_about_its_names_costs_nothing(
    ledger: topgap.Ledger, kind: Callable[[Any], Any]
) -> None:
    for _ in range(5):
        with pytest.raises((AnswersError, ItemsError)):
            topgap.top_k(kind({"a": 1, "b": 2, "c": 3}), 1, 1, ledger=ledger, dataset="visits")
    assert ledger.budget("visits").spent == 0


def test_a_dict_that_lies_about_its_length_is_read_as_it_is() -> None:
    made = topgap.top_k(LyingLength(a=FAR, b=2), 1, 1)
    assert made.items == ("a",)


@pytest.mark.parametrize("name", [
    LONG, -LONG, 10**700, (LONG,), Unwritable(), Named(), Fraction(LONG, 3), float("nan"),
], ids=lambda name: type(name).__name__)  # fmt: skip
def test_a_winner_of_any_name_is_shown_and_recorded(ledger: topgap.Ledger, name: Any) -> None:
    names: list[Any] = [name, "b", "c"]
    answers: list[Any] = [FAR, 2, 1]
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    selector = Selector(TopK(1, 1))
    if name == name:
        selector.add(answers, names)
    else:
        selector.add({"a": FAR, "b": 2})
    for made in (
        topgap.top_k(answers, 1, 1, items=names, **paid),
        topgap.top_k(dict(zip(names, answers, strict=True)), 1, 1, **paid),
        topgap.top_k_with_estimates(answers, 1, 1, items=names, **paid).release,
        selector.release(**paid),
    ):
        assert all((str(made), repr(made), made.to_text(), made._repr_html_(), made.to_dict()))
        for write in (made.to_json, lambda made=made: report.to_html(made)):
            with pytest.raises(ReleaseError) if made.items[0] != "a" else _nothing():
                write()
    assert all(charge.result is not None for charge in ledger.history())
    ledger.verify()


class _nothing:  # noqa: N801 - in the place of a context
    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


def test_whole_numbers_go_to_json_as_far_as_it_can_be_read_anywhere() -> None:
    for item, fits in ((10**600 - 1, True), (10**600, False), (-(10**600), False), (True, True)):
        made = Release(TopK(1, 1), None, [1], [item])
        if fits:
            assert Release.from_json(made.to_json()) == made
        else:
            with pytest.raises(ReleaseError, match="at most 600 digits"):
                made.to_json()
            assert str(made)


@pytest.mark.parametrize("name", [Unhashable(), [1], {}], ids=lambda name: type(name).__name__)
def test_names_that_cannot_be_told_apart_are_refused(name: Any) -> None:
    for items in (
        [name, "b"],
        (name, "b"),
        np.array([name, "b"], dtype=object),
        pd.Series([name, "b"]),
    ):
        with pytest.raises(ItemsError) as error:
            topgap.top_k([1, 2], 1, 1, items=items)
        check_sentence(error.value)
    with pytest.raises(ItemsError):
        topgap.top_k([1, 2], 1, 1, items=[Incomparable(), Incomparable()])
    with pytest.raises(ItemsError):
        Selector(TopK(1, 1)).add([1, 2], items=[Incomparable(), "b"])


def test_lists_of_names_are_copied_if_they_are_somebodys_own() -> None:
    made = topgap.top_k([FAR, 2], 1, 1, items=Moody(["a", "b"]))
    assert made.items == ("a",)


class Answers:
    """What fails at whatever it is asked."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(f"{name} is broken")


class Endless(dict[Any, Any]):
    """A dict that fails after some names."""

    def __iter__(self) -> Iterator[Any]:
        yield from range(3)
        raise RuntimeError("broken")


@pytest.mark.parametrize("answers", [
    Answers(), Endless({1: 2, 2: 3}), [1, Third(1, 3)], [1, FailingNumber(3)], {"a": Third(1, 3)},
], ids=lambda answers: type(answers).__name__)  # fmt: skip
def test_answers_of_somebodys_own_are_refused(answers: Any) -> None:
    for call in (
        lambda: topgap.top_k(answers, 1, 1),
        lambda: Selector(TopK(1, 1)).add(answers),
        lambda: reference.gap_top_k(answers, TopK(1, 1)),
    ):
        with pytest.raises((AnswersError, AnswersTypeError)) as error:
            call()
        check_sentence(error.value)


@pytest.fixture
def no_randomness(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A system without randomness, for whoever asks it by Python."""

    def fail(_: int) -> NoReturn:
        raise OSError("no entropy")

    monkeypatch.setattr(secrets, "randbits", fail)
    return monkeypatch


@pytest.mark.usefixtures("no_randomness")
def test_without_randomness_the_reference_says_so() -> None:
    one = TopK(1, 1)
    for call in (
        lambda: reference.gap_top_k([1, 2], one),
        lambda: reference.gap_top_k_pruned([1, 2], one),
        lambda: reference.top_k([1, 2], one),
        lambda: reference.noisy_max([1, 2], one),
        lambda: reference.SystemBits().take(8),
        lambda: topgap.top_k([1, 10**30], 1, 1),
        lambda: topgap.top_k_with_estimates([1, 2], 1, "1e-40"),
        lambda: Selector(one).add([1, 10**30]),
    ):
        with pytest.raises(KernelError, match="no randomness") as error:
            call()
        check_sentence(error.value)
        assert error.value.__suppress_context__


def test_a_selector_without_randomness_can_be_released_later(
    ledger: topgap.Ledger, no_randomness: pytest.MonkeyPatch
) -> None:
    selector = Selector(TopK(1, 1))
    selector.add({"a": FAR, "b": 0})
    with pytest.raises(KernelError, match="no randomness") as error:
        selector.release(ledger=ledger, dataset="visits")
    assert "stays charged" in "".join(error.value.__notes__)
    no_randomness.undo()
    assert selector.release(ledger=ledger, dataset="visits").items == ("a",)
    assert ledger.budget("visits").spent == 2  # each draw was paid for, and one was made


@pytest.mark.parametrize("page", [
    b"", "", b"\xff\xfe", "<![", "<![CDATA[x", "<![if x[", "<!DOCTYPE [", "&#x110000;", "\ud800",
    '<script id="topgap-release">', '<script id="topgap-estimates"></script>', "<", "</",
], ids=repr)  # fmt: skip
def test_a_page_of_anything_is_none(page: Any) -> None:
    with pytest.raises((ReleaseError, EstimatesError)):
        report.read_release(page)
    with pytest.raises((ReleaseError, EstimatesError)):
        report.read_estimates(page)


def test_a_page_is_read_from_its_bytes_too() -> None:
    made = Release(TopK(1, 1), None, [1], ["flü"])
    assert report.read_release(report.to_html(made).encode()) == made
    assert report.read_release(report.to_html(made).encode("utf-8-sig")) == made
    for odd in (None, 7, ["<html>"], Unhashable()):
        with pytest.raises(ParameterTypeError, match="read from its text"):
            report.read_release(odd)  # type: ignore[arg-type]


@pytest.mark.parametrize("odd", [np.array([1, 2]), pd.NA, Incomparable(), Unhashable()])
def test_documents_may_have_anything_anywhere(odd: Any) -> None:
    made = Release(TopK(1, 1), None, [1], ["a"])
    for entry in ("format", "parameters", "winners", "domain"):
        with pytest.raises(ReleaseError):
            Release.from_dict(made.to_dict() | {entry: odd})
    estimates = topgap.estimate(made, [1], variance=1)
    for entry in estimates.to_dict():
        with pytest.raises((ReleaseError, EstimatesError)):
            topgap.Estimates.from_dict(estimates.to_dict() | {entry: odd})
    for field in ("indices", "gap_units", "items"):
        with pytest.raises(ReleaseError):
            Release(TopK(1, 1), **{"items": ["a"], field: Answers()})  # type: ignore[arg-type]
    with pytest.raises(SelectorError):
        Selector.from_arrow(TopK(1, 1), odd)


def test_measurements_of_somebodys_own_are_refused() -> None:
    made = Release(TopK(1, 1), None, [1], [[1]])  # a name that no dict can have
    for measured in ({"a": 1}, Answers(), Endless()):
        with pytest.raises(EstimatesError):
            topgap.estimate(made, measured, variance=1)
    odd: Any = np.array([1, 2])
    with pytest.raises(ParameterError, match="noise must be"):
        topgap.estimate(made, [1], variance=1, noise=odd)


def test_no_error_with_a_domain_holds_what_was_raised() -> None:
    class Secret(dict[str, int]):
        def values(self) -> Any:
            raise ValueError("P-0042")

    for domain in (None, ["a", "b", "c"]):
        with pytest.raises(AnswersError) as error:
            topgap.top_k(Secret(a=1, b=2), 1, 1, domain=domain)
        assert error.value.__context__ is None


def test_a_warning_finds_a_user_without_a_module() -> None:
    code = "import collections, topgap; topgap.top_k(collections.Counter('aab'), k=1, epsilon=1)"
    with pytest.warns(topgap.DomainWarning):
        exec(code, {})
