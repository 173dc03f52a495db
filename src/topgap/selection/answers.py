"""From the answers as a user holds them to whole steps of the resolution, rounded down exactly."""

from collections.abc import Callable, Iterable, Mapping, Sequence, ValuesView
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topgap._core import floor_to_steps
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    MissingExtraError,
    ParameterTypeError,
    TopgapError,
)
from topgap.numbers.parse import floor_answer
from topgap.parameters import TopK
from topgap.sealing import seal_errors

Array: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"
Steps: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
Read: TypeAlias = "tuple[Array | list[Any], Any]"

_INT64, _FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


@seal_errors
def read(answers: object) -> Read:
    """Take the answers out of whatever holds them; see `topgap.top_k` for what may.

    Returns:
        The numbers, as an array of integers, floats or objects, or as a list of objects, of which
        none has been looked at but for being there. And the items' names, or None.

    Raises:
        AnswersTypeError: `answers` holds no numbers, by its type.
        AnswersError: They are not one-dimensional, or some are missing.

    >>> read({"ash": 3, "oak": 5})
    ([3, 5], ['ash', 'oak'])
    """
    try:
        values, names = _unwrap(answers)
        return _to_numbers(values), names
    except TopgapError:
        raise
    except Exception:  # whose text is not ours and may show anything
        raise _unreadable() from None


def read_chosen(
    answers: object, choose: Callable[[Any, int], Sequence[int]]
) -> "Array | list[Any]":
    """Take out only those answers that are chosen; what the others are does not matter.

    Args:
        answers: As for `read`.
        choose: Told the names that they have of their own, or None, and how many there are, it
            gives the places of those to take.

    Returns:
        The numbers at these places, as from `read`.

    Raises:
        AnswersTypeError, AnswersError: As from `read`, for what holds them and for those chosen.

    >>> read_chosen({"ash": 3, "elm": None, "oak": 5}, lambda names, count: [2, 0])
    [5, 3]
    """
    try:
        values, names = _unwrap(answers)
        places = choose(names, len(values))
        if isinstance(values, list):
            everything = places == range(len(values))
            return _to_numbers(values if everything else [values[place] for place in places])
        chosen = np.array(places, dtype=np.int64)
        by_place = isinstance(values, np.ndarray) or is_from_library(values, "polars")
        return _to_numbers(values[chosen] if by_place else values.take(chosen))
    except TopgapError:
        raise
    except Exception:  # whose text is not ours and may show anything
        raise _unreadable() from None


def is_from_library(thing: object, library: str) -> bool:
    """Whether its type, or one that it is made from, is of this library.

    >>> is_from_library(np.array([1]), "numpy")
    True
    """
    return library in {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}


def _unwrap(answers: Any) -> tuple[Any, Any]:
    """What has the answers one after the other, none of them looked at; and their own names.

    That is a list, an array, or whatever of pandas, polars or Arrow they came in.
    """
    if type(answers) is np.ndarray:
        return answers, None
    if isinstance(answers, Mapping):
        values, names = _list_values(answers.values), _list_values(lambda: answers)
        if len(values) != len(names):
            raise AnswersError("The numbers of answers and names differ; make a dict of them.")
        return values, names
    if isinstance(answers, list | tuple | ValuesView):
        return [*answers], None
    if is_from_library(answers, "pandas"):
        return answers, getattr(answers, "index", None)
    if (
        isinstance(answers, np.ndarray)
        or is_from_library(answers, "polars")
        or is_from_library(answers, "pyarrow")
    ):
        return answers, None
    if hasattr(answers, "__array__"):
        return _to_array(answers), None
    if hasattr(answers, "__arrow_c_array__") or hasattr(answers, "__arrow_c_stream__"):
        return _import_arrow_array(answers), None
    if not isinstance(answers, str | bytes | bytearray):
        try:
            buffer = memoryview(answers)
        except TypeError:
            if isinstance(answers, Sequence):
                return _list_values(lambda: answers), None
        else:
            return _to_array(buffer), None
    raise AnswersTypeError(
        f"The answers must be a list, a dict, a one-dimensional array or a column of numbers, "
        f"not {type(answers).__name__}; make a list of them."
    )


def _to_numbers(values: Any) -> "Array | list[Any]":
    """The numbers of what `_unwrap` gives."""
    if type(values) is np.ndarray:
        return _check_one_dimensional(values)
    if isinstance(values, list):
        return _check_list(values)
    if is_from_library(values, "pandas"):
        return _from_pandas(values)
    if is_from_library(values, "polars"):
        return _from_polars(values)
    if is_from_library(values, "pyarrow"):
        return _from_arrow(values)
    if np.ma.is_masked(values):
        raise _missing_entries("masked")
    return _to_array(values)


def check_enough(count: int, k: int) -> None:
    """Refuse fewer answers than k + 1, for the last gap needs one more than there are winners.

    Raises:
        AnswersError: There are too few.
    """
    if count == 0:
        raise AnswersError("The answers are empty; give one number per item.")
    if count <= k:
        raise AnswersError(
            f"k = {k} needs at least {k + 1} answers, not {count}; "
            "give more answers or use a smaller k."
        )


def in_steps(answers: object, parameters: TopK) -> list[int]:
    """Round every answer down to a multiple of the resolution and count it in such steps.

    Args:
        answers: One number per item; see `topgap.top_k` for what may hold them. A float is the
            dyadic number that it stores. Items go by their position, counted from 0.
        parameters: Their resolution gives the step; their k, the least number of answers.

    Returns:
        ⌊q_i / γ*⌋ for each answer q_i, as Python integers of any size.

    Raises:
        AnswersTypeError: `answers` holds no real numbers.
        AnswersError: There are fewer than k + 1 answers, they are not one-dimensional, or one is
            missing, NaN or infinite. No error text contains an answer or tells which one it was.
        ParameterTypeError: `parameters` is not a `TopK`.

    >>> in_steps([], TopK(k=1, epsilon=1))
    Traceback (most recent call last):
    topgap.errors.AnswersError: The answers are empty; give one number per item.
    >>> in_steps([3, 0.3, -0.05], TopK(k=1, epsilon=1))
    [30, 2, -1]
    """
    if not isinstance(parameters, TopK):
        raise ParameterTypeError(
            f"parameters must be a TopK, as in TopK(k=10, epsilon=1), "
            f"not {type(parameters).__name__}."
        )
    numbers, _ = read(answers)
    check_enough(len(numbers), parameters.fewest_winners)
    return floor_answers(numbers, parameters.resolution.denominator)


class KernelArray(NamedTuple):
    """Answers as the kernel takes them.

    Attributes:
        numbers: An array of int64.
        in_steps: Whether it counts steps of the resolution; if not, units.
        shift: So much is to be added to each number, which changes no gap and no order.
    """

    numbers: Steps
    in_steps: bool = False
    shift: int = 0


@seal_errors
def to_kernel_array(numbers: "Array | list[Any]", steps_per_unit: int) -> KernelArray | None:
    """The numbers as the kernel takes them; None if int64 is too short for them.

    Integers are left as they are, and what is int64 already is not copied; others are rounded down
    to steps.

    >>> to_kernel_array(np.array([7, 5]), 10)
    KernelArray(numbers=array([7, 5]), in_steps=False, shift=0)
    >>> to_kernel_array([0.25, 0.5], 10)
    KernelArray(numbers=array([2, 5]), in_steps=True, shift=0)
    >>> to_kernel_array([0, 2**64], 10)
    """
    if isinstance(numbers, list):
        kinds = {*map(type, numbers)}
        if kinds == {int}:
            try:
                return KernelArray(np.array(numbers, dtype=np.int64))
            except OverflowError:
                pass
        if kinds == {float}:
            numbers = np.array(numbers)
    if isinstance(numbers, np.ndarray):
        dtype = numbers.dtype
        if dtype is _INT64:
            return KernelArray(_to_contiguous(numbers, _INT64))
        kind, size = dtype.kind, dtype.itemsize
        if kind == "i" or (kind == "u" and size < 8):
            return KernelArray(_to_contiguous(numbers, _INT64))
        if kind == "u":
            shifted = (numbers.astype(np.uint64) ^ np.uint64(2**63)).view(np.int64)
            return KernelArray(shifted, shift=2**63)
        if kind == "f" and size <= 8:
            try:
                # Exact: a double holds every shorter float.
                doubles = _to_contiguous(numbers, _FLOAT64)
                return KernelArray(floor_to_steps(doubles, steps_per_unit), in_steps=True)
            except ValueError:
                raise AnswersError(
                    "Every answer must be a finite number; give each item one, "
                    "such as 0 for nobody."
                ) from None
            except OverflowError:
                pass
    steps = floor_answers(numbers, steps_per_unit)
    least = min(steps, default=0)
    if max(steps, default=0) - least >= 2**63:
        return None
    shifted = np.array([step - least for step in steps], dtype=np.int64)
    return KernelArray(shifted, in_steps=True, shift=least)


def check_finite(numbers: "Array | list[Any]") -> None:
    """See whether all are numbers that can be released from, without keeping any.

    Raises:
        AnswersError, AnswersTypeError: One is not finite, or no number.
    """
    if to_kernel_array(numbers, 1) is None:
        floor_answers(numbers, 1)


def _to_contiguous(numbers: Array, dtype: "np.dtype[Any]") -> Array:
    """The same numbers of this type, one after the other; what is so already is not copied."""
    flags = numbers.flags
    if numbers.dtype is dtype and flags.c_contiguous and flags.aligned:
        return numbers
    return numbers.astype(dtype)


@seal_errors
def floor_answers(numbers: "Array | list[Any]", steps_per_unit: int) -> list[int]:
    """The numbers in whole steps, rounded down: integers of any size."""
    # Exact: Python's int and float hold every NumPy one, and longdouble stays as it is.
    values = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
    try:
        return [floor_answer(value, steps_per_unit) for value in values]
    except TopgapError:
        raise
    except Exception:  # of a number of somebody's own
        raise _unreadable() from None


def _list_values(values: Callable[[], Iterable[Any]]) -> list[Any]:
    try:
        return [*values()]
    except Exception:  # whose text is not ours and may show anything
        raise AnswersError("The answers cannot be read; make a list of them.") from None


def _unreadable() -> AnswersTypeError:
    return AnswersTypeError("The answers cannot be read; make a list or an array of them.")


def _check_list(values: Sequence[Any]) -> list[Any]:
    kinds = {*map(type, values)}
    if type(np.ma.masked) in kinds:
        raise _missing_entries("masked")
    if any(kind.__name__ in ("NoneType", "NAType", "NaTType") for kind in kinds):
        raise _missing_entries("missing")
    if any(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        raise AnswersError("The answers must be one-dimensional: one number per item.")
    return [*values]


def _to_array(answers: Any, convert: Callable[[], Any] | None = None) -> "Array | list[Any]":
    try:
        array = np.asarray(answers if convert is None else convert())
    except Exception:  # whose text is not ours and may show anything
        raise AnswersTypeError("The answers cannot be converted to an array.") from None
    return _check_one_dimensional(array)


def _check_one_dimensional(array: "np.ndarray[Any, np.dtype[Any]]") -> "Array | list[Any]":
    if array.ndim != 1:
        raise AnswersError(
            f"The answers must be one-dimensional: one number per item, not {array.ndim} axes."
        )
    code = array.dtype.kind
    if code not in "iufO":
        kind = array.dtype.type.__name__  # not the dtype, which tells how long the longest text is
        raise AnswersTypeError(f"The answers must be numbers, not of NumPy's type {kind}.")
    return _check_list(array.tolist()) if code == "O" else array


def _from_pandas(answers: Any) -> "Array | list[Any]":
    if not hasattr(answers, "isna") or getattr(answers, "ndim", 0) != 1:
        raise AnswersTypeError("The answers must be a pandas Series, one column of a frame.")
    try:
        missing = answers.isna().any()
    except Exception:  # a signalling NaN, of which pandas cannot say so
        raise AnswersError("Every answer must be a finite number; give each item one.") from None
    if missing:
        raise _missing_entries("missing")
    # A nullable column without missing entries is one of NumPy's type.
    plain = getattr(answers.dtype, "numpy_dtype", None)
    return _to_array(answers, lambda: answers.to_numpy(dtype=plain))


def _from_polars(answers: Any) -> "Array | list[Any]":
    if not hasattr(answers, "null_count") or not hasattr(answers, "dtype"):
        raise AnswersTypeError("The answers must be a polars Series, one column of a frame.")
    if answers.null_count() > 0:
        raise _missing_entries("missing")
    if answers.dtype.is_decimal() or "Int128" in str(answers.dtype):
        return list(answers.to_list())
    return _to_array(answers, answers.to_numpy)


def _from_arrow(answers: Any) -> "Array | list[Any]":
    if not hasattr(answers, "null_count") or not hasattr(answers, "to_numpy"):
        raise AnswersTypeError("The answers must be an Arrow array, one column of a table.")
    if answers.null_count > 0:
        raise _missing_entries("missing")
    if "decimal" in str(answers.type):
        return list(answers.to_pylist())
    # A chunked array has no choice but to copy; another one copies only if it must.
    chunked = hasattr(answers, "chunks")
    return _to_array(
        answers, answers.to_numpy if chunked else lambda: answers.to_numpy(zero_copy_only=False)
    )


def _import_arrow_array(answers: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError(
            "Answers that only support Arrow's protocol need pyarrow: pip install pyarrow."
        ) from None
    try:
        stream = hasattr(answers, "__arrow_c_stream__")
        return pa.chunked_array(answers) if stream else pa.array(answers)
    except Exception:  # whose text is not ours and may show anything
        raise AnswersTypeError("The answers cannot be converted to an Arrow array.") from None


def _missing_entries(kind: str) -> AnswersError:
    return AnswersError(
        f"The answers have {kind} entries; fill them in, such as with 0 for nobody."
    )
