"""Noisy Top-k with Gap whose winners are measured, too: `top_k_with_estimates`."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, Unpack, overload

from topgap.estimates.noise import Noise
from topgap.estimates.result import Estimates
from topgap.ledger.charging import LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import Neighbours, TopK
from topgap.release import Release
from topgap.selection.check import Check, count_occurring, describe_check
from topgap.selection.measurement import Shares
from topgap.selection.options import EstimatesOptions
from topgap.selection.preparation import Prepared, prepare


@overload
def top_k_with_estimates(
    answers: object,
    k: int,
    epsilon: "Number",
    *,
    check: Literal[False] = False,
    **options: Unpack[EstimatesOptions],
) -> Estimates: ...


@overload
def top_k_with_estimates(
    answers: object,
    k: int,
    epsilon: "Number",
    *,
    check: Literal[True],
    **options: Unpack[EstimatesOptions],
) -> Check: ...


def top_k_with_estimates(
    answers: object,
    k: int,
    epsilon: "Number",
    *,
    selection_share: "Number" = "1/2",
    resolution: "Number" = "1/10",
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items: object = None,
    domain: object = None,
    threads: int | None = None,
    constant_work: bool = False,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> Estimates | Check:
    """Name the k largest answers under ε-differential privacy, the gaps between them, and how many.

    A part of ε selects the winners, as `topgap.top_k` does. The rest is shared equally by k
    measurements: each winner's answer, rounded down to a multiple of the resolution, plus discrete
    Laplace noise on such multiples, exactly. The whole costs their sum, which is ε exactly. Then
    the gaps, which cost nothing, make the measurements better.

    Where one person is in few items, fewer than k, `topgap.top_k` with `items_per_person` tells how
    many as well, in `Release.values`: its noise grows with the items of one person and not with k,
    and no part of ε is set aside. With L of k items its values have noise of scale L/ε; here, with
    half of ε for the measurements, it is 2k/ε before the gaps make it smaller.

    Args:
        answers: One number per item; see `topgap.top_k`.
        k: How many winners are named and measured.
        epsilon: The privacy loss ε of all of it.
        selection_share: The part of ε that selects; between 0 and 1.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one answer; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all answers the same way; see `topgap.top_k`.
        items: The items' names; see `topgap.top_k`.
        domain: The public list of items; see `topgap.top_k`.
        threads: How many look at the answers at once; see `topgap.top_k`.
        constant_work: Whether the work is the same for any answers; see `topgap.top_k`.
        ledger: The budget ledger to charge with all of ε; see `topgap.top_k`.
        dataset: The data set in it.
        check: Read and check everything, and stop; see `topgap.top_k`.

    Returns:
        The release, the measurements, the estimates, their standard errors and intervals; or a
        `Check`, as from `topgap.top_k`.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.
        AnswersError, AnswersTypeError, ItemsError, DomainError: As of `topgap.top_k`.
        BudgetExceeded, LedgerError, KernelError: As of `topgap.top_k`; nothing is released.

    >>> trees = {"ash": 10**9, "elm": 0, "oak": 10**6}
    >>> made = top_k_with_estimates(trees, k=2, epsilon=1, monotonic=True)
    >>> [(tree, round(count, -3)) for tree, count in made]
    [('ash', 1000000000.0), ('oak', 1000000.0)]
    >>> made.release.epsilon, made.noise.epsilon, made.epsilon
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 1))
    """
    whole = TopK(k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic)
    shares, check = Shares.of(whole, selection_share), read_flag(check, "check")
    pending = prepare_charge_for_estimates(
        ledger, dataset, "topgap.top_k_with_estimates", whole, shares
    )
    data = prepare(
        shares.selection,
        answers,
        items,
        threads=threads,
        constant_work=constant_work,
        domain=domain,
    )
    if check:
        found = data.size, count_occurring(data.numbers)
        mark = data.domain_from_data
        return describe_check(whole, pending, *found, measured=True, domain_from_data=mark)
    return estimate_prepared(shares, data, pending)


def prepare_charge_for_estimates(
    ledger: "LedgerLike | None",
    dataset: str | None,
    mechanism: str,
    whole: TopK,
    shares: Shares,
    stated: Neighbours | None = None,
    **more: Any,
) -> PendingCharge:
    """How estimates with these shares of the whole are charged.

    Raises:
        ParameterError, ParameterTypeError, BudgetExceeded, LedgerError: As of `topgap.top_k`.
    """
    parts = {
        "selection_epsilon": str(shares.selection.epsilon),
        "measurement_epsilon": str(shares.measurement_epsilon),
    }
    return prepare_charge(ledger, dataset, mechanism, whole, stated, **parts, **more)


def estimate_prepared(shares: Shares, data: Prepared, pending: PendingCharge) -> Estimates:
    """The estimates of what was given, with these shares of ε, charged in this way."""
    return estimate_from(shares, lambda: shares.select_and_measure(data), pending)


def estimate_from(
    shares: Shares,
    select_and_measure: Callable[[], tuple[Release, tuple[Fraction, ...]]],
    pending: PendingCharge,
) -> Estimates:
    """The estimates of what is selected and measured with these shares, in whatever way."""
    # Before, for nothing may go wrong after the winners have been drawn; and of one, for there may
    # be fewer answers than k.
    noise = Noise.for_one_winner(shares.selection, shares.measurement_epsilon)
    k = shares.selection.k
    return pending.charge_then_run(lambda: Estimates(*select_and_measure(), noise.repeat(k)))
