"""Answers are rounded down exactly as they are stored, and an error never shows one."""

import math
from array import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checking.mutants import Mutant, mutated
from topgap import AnswersError, AnswersTypeError, Release, TopK, select
from topgap.numbers import parse
from topgap.selection.answers import in_steps

TENTHS = TopK(1, 1, resolution="1/10")

EXACT_FLOORS: list[tuple[Any, int]] = [
    (0, 0),
    (-7, -70),
    (10**30, 10**31),
    (2**53 + 1, 10 * 2**53 + 10),
    (0.3, 2),  # the double nearest to 0.3 lies below 3/10
    (0.1, 1),  # and that nearest to 0.1 above 1/10
    (0.7, 6),  # 0.7 * 10 is 7.0 in floating point
    (-0.05, -1),
    (-0.0, 0),
    (-1e-300, -1),
    (5e-324, 0),
    (1e300, 10 * int(1e300)),
    (2.0**53 + 2, 10 * 2**53 + 20),
    (Fraction(3, 10), 3),
    (Fraction(-1, 3), -4),
    (Decimal("0.3"), 3),
    (Decimal("-0e999999999"), 0),
    (Decimal("-0.35"), -4),
    (Decimal("1e-400"), 0),
    (Decimal("1e-999999999"), 0),
    (Decimal("-1e-999999999"), -1),
    (Decimal("7e999"), 7 * 10**1000),
    (Decimal("-1e-400"), -1),
    (np.float64(0.3), 2),
    (np.float32(0.3), 3),  # the nearest float32 lies above 3/10
    (np.float16(0.3), 3),
    (np.longdouble(0.5), 5),
    (np.int8(-128), -1280),
    (np.int64(2**63 - 1), 10 * (2**63 - 1)),
    (np.uint64(2**64 - 1), 10 * (2**64 - 1)),
    (Fraction(np.int64(2**62)), 10 * 2**62),  # type: ignore[call-overload]
]


@pytest.mark.parametrize(("answer", "steps"), EXACT_FLOORS)
def test_an_answer_is_rounded_down_exactly(answer: Any, steps: int) -> None:
    assert in_steps([answer, 0], TENTHS) == [steps, 0]


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant(
            "in floats",
            "return numerator * steps_per_unit // denominator",
            "import math; return math.floor(float(answer) * steps_per_unit)",
        ),
        Mutant(
            "towards zero",
            "return numerator * steps_per_unit // denominator",
            "return int(Fraction(numerator * steps_per_unit, denominator))",
        ),
        Mutant(
            "to the nearest",
            "return numerator * steps_per_unit // denominator",
            "return round(Fraction(numerator * steps_per_unit, denominator))",
        ),
        Mutant(
            "by the shortest decimal",
            "numerator, denominator = ratio(answer)",
            "numerator, denominator = ratio(Decimal(str(answer)))",
        ),
        Mutant(
            "in NumPy's integers",
            "return int(answer.numerator), int(answer.denominator)",
            "return answer.numerator, answer.denominator",
        ),
    ],
    ids=lambda mutant: mutant.name,
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_the_floor_cases_catch_wrong_roundings(mutant: Mutant) -> None:
    floor_answer = mutated(parse, mutant).floor_answer

    def floor_or_error(answer: Any) -> object:
        try:
            return floor_answer(answer, 10)
        except (OverflowError, ValueError) as error:
            return error

    assert any(floor_or_error(answer) != steps for answer, steps in EXACT_FLOORS)


@given(
    st.integers() | st.fractions() | st.floats(allow_nan=False, allow_infinity=False),
    st.integers(1, 10**9),
)
def test_the_floor_is_that_of_the_exact_number(answer: Any, steps_per_unit: int) -> None:
    exactly = Fraction(answer) * steps_per_unit
    assert parse.floor_answer(answer, steps_per_unit) == math.floor(exactly)


@pytest.mark.parametrize(
    ("answers", "steps"),
    [
        ([3, 1, 2], [30, 10, 20]),
        ((3, 1, 2), [30, 10, 20]),
        (range(3), [0, 10, 20]),
        (array("q", [3, 1, 2]), [30, 10, 20]),
        ({"a": 3, "b": 1, "c": 2}, [30, 10, 20]),
        (np.array([3, 1, 2]), [30, 10, 20]),
        (np.array([3, 1, 200], dtype=np.uint8)[::-1], [2000, 10, 30]),
        (np.array([3.5, 1, 2], dtype=np.float16), [35, 10, 20]),
        (np.array([3, 0.5, 2], dtype=np.longdouble), [30, 5, 20]),
        (np.array([3, Fraction(1, 2), Decimal(2)], dtype=object), [30, 5, 20]),
        (np.ma.masked_array([3, 1, 2], mask=[False] * 3), [30, 10, 20]),
    ],
)
def test_sequences_and_arrays_of_numbers_are_taken(answers: Any, steps: list[int]) -> None:
    assert in_steps(answers, TENTHS) == steps
    assert all(type(step) is int for step in in_steps(answers, TENTHS))


class Refusing:
    """What raises an error of its own when it is asked for an array."""

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError(f"cannot convert {self.secret}")


REFUSED: list[tuple[Callable[[int], Any], type[Exception], str]] = [
    (lambda _: [], AnswersError, "empty"),
    (lambda _: np.array([]), AnswersError, "empty"),
    (lambda s: [s], AnswersError, "at least 2"),
    (lambda s: [[s, 1], [2, 3]], AnswersError, "one-dimensional"),
    (lambda s: [np.array([s]), np.array([1])], AnswersError, "one-dimensional"),
    (lambda s: np.array([[s, 1]]), AnswersError, "one-dimensional"),
    (lambda s: np.array(s), AnswersError, "one-dimensional"),
    (lambda s: np.int64(s), AnswersError, "one-dimensional"),
    (lambda s: np.ma.masked_array([s, 1], mask=[False, True]), AnswersError, "masked"),
    (lambda s: [s, np.ma.masked], AnswersError, "masked"),
    (lambda s: [s, float("nan")], AnswersError, "finite"),
    (lambda s: [s, float("-inf")], AnswersError, "finite"),
    (lambda s: [s, Decimal(f"NaN{s}")], AnswersError, "finite"),
    (lambda s: [s, Decimal("sNaN")], AnswersError, "finite"),
    (lambda s: [s, Decimal("Infinity")], AnswersError, "finite"),
    (lambda s: np.array([s, np.nan]), AnswersError, "finite"),
    (lambda s: [s, np.float32("inf")], AnswersError, "finite"),
    (lambda s: [s, Decimal(f"1e{s}")], AnswersError, "in absolute value"),
    (lambda s: [s, None], AnswersError, "missing"),
    (lambda s: {"a": s, "b": None}, AnswersError, "missing"),
    (lambda s: [1, str(s)], AnswersTypeError, "str"),
    (lambda s: [s, bool(s % 2)], AnswersTypeError, "bool"),
    (lambda s: [1, complex(s)], AnswersTypeError, "complex"),
    (lambda s: [1, np.timedelta64(s, "s")], AnswersTypeError, "timedelta64"),
    (lambda s: np.array([s, 1], dtype="m8[ns]"), AnswersTypeError, "timedelta64"),
    (lambda s: np.array([s, 1], dtype="M8[s]"), AnswersTypeError, "datetime64"),
    (lambda s: np.array([s, 1], dtype=complex), AnswersTypeError, "complex"),
    (lambda s: np.array([s % 2 == 0, False]), AnswersTypeError, "bool"),
    (lambda s: np.array([str(s), "1"]), AnswersTypeError, "numbers"),
    (lambda s: np.zeros(2, dtype=[(f"x{s}", "i4")]), AnswersTypeError, "numbers"),
    (lambda s: str(s), AnswersTypeError, "str"),
    (lambda s: str(s).encode(), AnswersTypeError, "bytes"),
    (lambda s: {s, 1}, AnswersTypeError, "set"),
    (lambda s: iter([s, 1]), AnswersTypeError, "list_iterator"),
    (lambda s: s, AnswersTypeError, "int"),
    (lambda _: None, AnswersTypeError, "NoneType"),
    (Refusing, AnswersTypeError, "convert"),
]


def released(answers: Any, parameters: TopK) -> Release:
    return select(parameters, answers)


@pytest.mark.parametrize(("make", "error", "word"), REFUSED)
@pytest.mark.parametrize("read", [in_steps, released])
def test_what_are_no_answers_is_refused_and_the_text_does_not_depend_on_them(
    read: Callable[[Any, TopK], Any],
    make: Callable[[int], Any],
    error: type[Exception],
    word: str,
) -> None:
    texts = set()
    for secret in (987654321, 123456, 50001):
        with pytest.raises(error, match=word) as caught:
            read(make(secret), TENTHS)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        texts.add(str(caught.value))
    (text,) = texts
    assert text.endswith(".")
    assert "\n" not in text


def test_a_decimal_is_taken_up_to_the_size_that_the_error_names() -> None:
    assert in_steps([Decimal("-9.9e9999"), 0], TENTHS) == [-99 * 10**9999, 0]
    with pytest.raises(AnswersError, match=r"below 10\*\*10000 in absolute value"):
        in_steps([Decimal("-1e10000"), 0], TENTHS)


def test_too_few_answers_for_k_are_refused() -> None:
    with pytest.raises(AnswersError, match="k = 3 needs at least 4 answers, not 3"):
        in_steps([1, 2, 3], TopK(3, 1))
    assert len(in_steps([1, 2, 3, 4], TopK(3, 1))) == 4
