"""Noisy Top-k with Gap, as users call it: `top_k` and `noisy_max`."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, Unpack, overload

import numpy as np

from topgap.errors import ParameterTypeError
from topgap.ledger.charging import (
    NO_CHARGE,
    LedgerLike,
    PendingCharge,
    prepare_charge,
    warn_of_large_epsilon,
)
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import NoiseKind, TopK
from topgap.release import Release
from topgap.selection.check import Check, count_occurring, describe_check
from topgap.selection.drawing import Drawn, draw, unpack_places
from topgap.selection.item_names import look_up
from topgap.selection.options import ReleaseOptions, TopKOptions
from topgap.selection.preparation import Prepared, prepare


@overload
def top_k(
    answers: object,
    k: int | None,
    epsilon: "Number",
    *,
    check: Literal[False] = False,
    **options: Unpack[TopKOptions],
) -> Release: ...


@overload
def top_k(
    answers: object,
    k: int | None,
    epsilon: "Number",
    *,
    check: Literal[True],
    **options: Unpack[TopKOptions],
) -> Check: ...


def top_k(
    answers: object,
    k: int | None,
    epsilon: "Number",
    *,
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    items: object = None,
    domain: object = None,
    gaps: bool = True,
    threads: int | None = None,
    constant_work: bool = False,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> Release | Check:
    """Name the k largest answers under ε-differential privacy, and the gap from each to the next.

    The output has exactly the law of rounding every answer down to a multiple of the resolution,
    adding real exponential noise, sorting, and rounding each gap down to a multiple of it.

    Args:
        answers: One number per item; more than k of them, or with a threshold at least one. A list
            or tuple; a dict or Counter, whose keys name the items; a NumPy array of integers,
            floats or objects; a pandas Series, whose index names the items; a polars Series; an
            Arrow array; or what supports the buffer, `__array__` or Arrow PyCapsule protocol. A
            float is the number that it stores, exactly. Contiguous int64 is read without a copy.
        k: How many winners are named; with a threshold, at most.
        epsilon: The privacy loss ε of the release. This and the next two may be an int, Fraction,
            Decimal, string such as `"1/3"`, or a float, which means its shortest decimal.
        resolution: Gaps are multiples of this; one divided by an integer. A tenth unless given, and
            1 with Laplace noise, whose noisy answers are whole numbers then.
        sensitivity: How far one person can move any one answer; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all answers the same way, as it does for
            counts when data sets differ by adding or removing a person. Half the noise suffices.
        items_per_person: L, the most answers that one person can move; None if there is no bound.
            If it is less than k, every answer gets Laplace noise whose scale grows with L and not
            with k, and the noisy answers of the winners are released, too. Like the sensitivity,
            you state this; counts made by topgap record their bound, and are refused if it is
            larger.
        threshold: A public number: name only items above it, at most k of them. It joins the
            ranking with noise like all others, and ends the list where it comes: then the last gap
            is the lead over it, and what the release cost, `spent`, can be less than ε. With
            Laplace noise it has no noise of its own: the items named are those whose noisy answers
            reach it, with k=None all of them, and the cost is ε.
        noise: "laplace" or "exponential" to have this one of the two; see `TopK`.
        items: The items' names, in the order of the answers, if these have none of their own;
            distinct, and known to everyone, unless there is a domain.
        domain: The public items, more than k of them, or with a threshold at least one: a
            `topgap.Domain` of any kind and size, or a list, tuple, range, array, Series or Index.
            The items are exactly its members: those without an answer have 0, and any other item is
            left out silently, whatever its answer is. Names are compared as in a dict,
            where 1 and 1.0 are the same; winners are named as the domain has them, and positions
            are those in a list. Without it, the answers must be those of all items of a public
            list. `topgap.counting.FROM_DATA` says that they are not, and the release says it too.
        gaps: Whether the gaps are released; they cost no privacy.
        threads: Number of threads. Default: all cores for large inputs. It changes only the speed.
        constant_work: Whether the work is to be the same for any answers, for when others can
            measure how long a release takes: every item draws its noise, and who wins is found by
            comparisons that are fixed beforehand. It is many times slower, runs in one thread, and
            has the same law. The answers must be an array of integers.
        ledger: The budget ledger, a `topgap.Ledger` or the path of one, that adds up the ε of all
            releases. It is charged before the first random bit is drawn, and gets the result.
        dataset: The data set in it that the answers are from.
        check: Read and check everything, and stop: nothing is drawn or charged.

    Returns:
        The winners from the largest down and the lead of each over the next. With `check`, a
        `Check` of what would be released and charged; what it says of the answers is secret.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.
        AnswersError, AnswersTypeError: The answers cannot be used: too few, not one-dimensional,
            no numbers, or some missing or not finite. No error text contains an answer.
        ItemsError: There is not one name per answer, or the answers have names of their own, or
            none although there is a domain.
        DomainError: The domain has too few different items, or one twice.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
        KernelError: The system gave no randomness. Nothing is released on an error, and but for
            this one nothing is charged.

    Warns:
        DomainWarning: A Counter, or a Series that `value_counts` made, came without a domain.

    >>> release = top_k({"ash": 10**9, "elm": 0, "oak": 10**6}, k=2, epsilon=1)
    >>> release.items
    ('ash', 'oak')
    >>> top_k({"ash": 10**9, "yew": 10**9}, k=1, epsilon=1, domain=["ash", "oak"]).items
    ('ash',)
    >>> trees = {"ash": 10**9, "elm": 0, "oak": 10**6}
    >>> release = top_k(trees, k=2, epsilon=1, monotonic=True, items_per_person=1)
    >>> [round(int(value), -3) for value in release.values]
    [1000000000, 1000000]
    """
    parameters = _parameters(
        k, epsilon, resolution, sensitivity, monotonic, items_per_person, threshold, noise
    )
    return _select(
        parameters, answers, items, domain=domain, gaps=gaps, threads=threads,
        constant_work=constant_work, ledger=ledger, dataset=dataset, check=check,
    )  # fmt: skip


@overload
def noisy_max(
    answers: object,
    epsilon: "Number",
    *,
    check: Literal[False] = False,
    **options: Unpack[TopKOptions],
) -> Release: ...


@overload
def noisy_max(
    answers: object, epsilon: "Number", *, check: Literal[True], **options: Unpack[TopKOptions]
) -> Check: ...


def noisy_max(
    answers: object,
    epsilon: "Number",
    *,
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    items: object = None,
    domain: object = None,
    gaps: bool = True,
    threads: int | None = None,
    constant_work: bool = False,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> Release | Check:
    """Name the largest answer, and its lead over the next: `top_k` with k = 1.

    >>> noisy_max([5, 10**9, 0], epsilon="1/2").indices
    array([1])
    """
    parameters = _parameters(
        1, epsilon, resolution, sensitivity, monotonic, items_per_person, threshold, noise
    )
    return _select(
        parameters, answers, items, domain=domain, gaps=gaps, threads=threads,
        constant_work=constant_work, ledger=ledger, dataset=dataset, check=check,
    )  # fmt: skip


@overload
def select(
    parameters: TopK,
    answers: object,
    items: object = None,
    *,
    check: Literal[False] = False,
    **options: Unpack[ReleaseOptions],
) -> Release: ...


@overload
def select(
    parameters: TopK,
    answers: object,
    items: object = None,
    *,
    check: Literal[True],
    **options: Unpack[ReleaseOptions],
) -> Check: ...


def select(
    parameters: TopK,
    answers: object,
    items: object = None,
    *,
    domain: object = None,
    gaps: bool = True,
    threads: int | None = None,
    constant_work: bool = False,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> Release | Check:
    """Name the k largest answers, and the gap from each to the next: `top_k` with a `TopK`.

    The parameters are read once and can be used often; all else is as for `topgap.top_k`.

    Raises:
        ParameterTypeError: `parameters` is not a `TopK`.

    >>> parameters = TopK(k=2, epsilon=1)
    >>> select(parameters, {"ash": 10**9, "elm": 0, "oak": 10**6}).items
    ('ash', 'oak')
    """
    if not isinstance(parameters, TopK):
        raise ParameterTypeError(
            f"parameters must be a TopK, as in TopK(k=10, epsilon=1), "
            f"not {type(parameters).__name__}."
        )
    return _select(
        parameters, answers, items, domain=domain, gaps=gaps, threads=threads,
        constant_work=constant_work, ledger=ledger, dataset=dataset, check=check,
    )  # fmt: skip


def _select(
    parameters: TopK,
    answers: object,
    items: object,
    *,
    domain: object,
    gaps: bool,
    threads: int | None,
    constant_work: bool,
    ledger: "LedgerLike | None",
    dataset: str | None,
    check: bool,
) -> Release | Check:
    gaps, check = read_flag(gaps, "gaps"), read_flag(check, "check")
    # A refusal comes before any answer is looked at.
    pending = NO_CHARGE
    if ledger is not None or dataset is not None:
        pending = prepare_charge(ledger, dataset, "topgap.top_k", parameters, gaps=gaps)
    else:
        warn_of_large_epsilon(parameters.epsilon)
    data = prepare(
        parameters, answers, items, threads=threads, constant_work=constant_work, domain=domain
    )
    if pending is NO_CHARGE and not check:  # the usual way, and without a detour
        return select_prepared(parameters, data, gaps=gaps)
    if check:
        return describe_check(
            parameters,
            pending,
            data.size,
            count_occurring(data.numbers),
            domain_from_data=data.domain_from_data,
            has_gaps=gaps,
        )
    return charge_and_select(parameters, data, pending, gaps=gaps)


def charge_and_select(
    parameters: TopK, data: Prepared, pending: PendingCharge, *, gaps: bool
) -> Release:
    """The release of prepared answers, after its charge."""
    return pending.charge_then_run(lambda: select_prepared(parameters, data, gaps=gaps))


def select_prepared(parameters: TopK, data: Prepared, *, gaps: bool) -> Release:
    """The release of prepared answers."""
    return _release(parameters, data, draw(parameters, data), gaps=gaps)


def select_with_answers(parameters: TopK, data: Prepared) -> tuple[Release, Any]:
    """The release of prepared answers, and the winners' own answers, which are secret."""
    drawn, numbers = draw(parameters, data), data.numbers
    release, winners = _release(parameters, data, drawn, gaps=True), unpack_places(drawn.places)
    if isinstance(numbers, np.ndarray) and not drawn.unlisted:
        return release, numbers[winners]
    listed = len(numbers)
    return release, [numbers[place] if place < listed else 0 for place in winners.tolist()]


def _release(parameters: TopK, data: Prepared, drawn: Drawn, *, gaps: bool) -> Release:
    places, gap_units, value_units, unlisted = drawn
    names, winners = data.names, None
    if unlisted:
        winners = _name_winners(names, unlisted, unpack_places(places).tolist())
    elif names is not None:
        winners = look_up(names, unpack_places(places).tolist())
    return Release.from_mechanism(
        parameters,
        places if data.unlisted is None else None,
        gap_units if gaps else None,
        winners,
        value_units=value_units if gaps else None,
        domain_from_data=data.domain_from_data,
        domain=data.domain,
    )


def _name_winners(names: list[Any], unlisted: Sequence[Any], places: list[int]) -> list[Any]:
    """The names at these positions, which go on from `names` to `unlisted`."""
    listed = len(names)
    return [names[place] if place < listed else unlisted[place - listed] for place in places]


_COMPARED = frozenset({bool, int, str, float, Fraction, Decimal, np.float64, np.int64, type(None)})
"""Types whose values may be told apart by comparing them; others can compare as they like."""


@lru_cache(maxsize=256, typed=True)
def _read_once(
    k: int,
    epsilon: "Number",
    resolution: "Number | None",
    sensitivity: "Number",
    monotonic: bool,  # noqa: FBT001 - the cache takes longer to compare names
    items_per_person: int | None,
    threshold: "Number | None",
    noise: NoiseKind | None,
) -> TopK:
    return TopK(
        k,
        epsilon,
        resolution=resolution,
        sensitivity=sensitivity,
        monotonic=monotonic,
        items_per_person=items_per_person,
        threshold=threshold,
        noise=noise,
    )


def _parameters(*values: Any) -> TopK:
    """The `TopK` of these values, in the order of `_read_once`; those left out are None."""
    values += (None,) * (8 - len(values))
    if _COMPARED.issuperset(map(type, values)):
        try:
            return _read_once(*values)
        except TypeError:  # of a Decimal that is a signalling NaN
            pass
    return _read_once.__wrapped__(*values)
