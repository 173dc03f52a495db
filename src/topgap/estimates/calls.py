"""What a user calls: `top_k_with_estimates`, and `estimate` for what was measured elsewhere."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal, Unpack, overload

from topgap.check import Check, check_of, count_occurring
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    EstimatesError,
    ParameterError,
    ParameterTypeError,
)
from topgap.estimates.noise import Kind, Noise, laplace_scale
from topgap.estimates.value import Estimates
from topgap.exact import Number, ratio, read_flag, read_parameter
from topgap.measurement import Shares
from topgap.mechanism import Given, given
from topgap.neighbours import Neighbours
from topgap.options import EstimatesOptions
from topgap.parameters import TopK
from topgap.payment import LedgerLike, Payment, paid_by
from topgap.release import Release


@overload
def top_k_with_estimates(
    answers: object,
    k: int,
    epsilon: Number,
    *,
    check: Literal[False] = False,
    **options: Unpack[EstimatesOptions],
) -> Estimates: ...


@overload
def top_k_with_estimates(
    answers: object,
    k: int,
    epsilon: Number,
    *,
    check: Literal[True],
    **options: Unpack[EstimatesOptions],
) -> Check: ...


def top_k_with_estimates(
    answers: object,
    k: int,
    epsilon: Number,
    *,
    selection_share: Number = "1/2",
    resolution: Number = "1/10",
    sensitivity: Number = 1,
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
        AnswersError, AnswersTypeError, ItemsError, DomainError, BudgetExceeded, LedgerError,
            KernelError: As of `topgap.top_k`; nothing is released on an error.

    >>> trees = {"ash": 10**9, "elm": 0, "oak": 10**6}
    >>> made = top_k_with_estimates(trees, k=2, epsilon=1, monotonic=True)
    >>> [(tree, round(count, -3)) for tree, count in made]
    [('ash', 1000000000.0), ('oak', 1000000.0)]
    >>> made.release.epsilon, made.noise.epsilon, made.epsilon
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 1))
    """
    whole = TopK(k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic)
    shares, check = Shares.of(whole, selection_share), read_flag(check, "check")
    payment = paid_estimates(ledger, dataset, "topgap.top_k_with_estimates", whole, shares)
    data = given(shares.selection, answers, items, threads, constant_work, domain)
    if check:
        found = len(data.numbers), count_occurring(data.numbers)
        mark = data.domain_from_data
        return check_of(whole, payment, *found, measured=True, domain_from_data=mark)
    return estimated(shares, data, payment)


def paid_estimates(
    ledger: "LedgerLike | None",
    dataset: str | None,
    mechanism: str,
    whole: TopK,
    shares: Shares,
    stated: Neighbours | None = None,
    **more: Any,
) -> Payment:
    """How estimates with these shares of the whole are paid for.

    Raises:
        ParameterError, ParameterTypeError, BudgetExceeded, LedgerError: As of `topgap.top_k`.
    """
    parts = {
        "selection_epsilon": str(shares.selection.epsilon),
        "measurement_epsilon": str(shares.measurement_epsilon),
    }
    return paid_by(ledger, dataset, mechanism, whole, stated, **parts, **more)


def estimated(shares: Shares, data: Given, payment: Payment) -> Estimates:
    """The estimates of what was given, with these shares of ε, paid for in this way."""
    return estimated_by(shares, lambda: shares.select_and_measure(data), payment)


def estimated_by(
    shares: Shares,
    select_and_measure: Callable[[], tuple[Release, tuple[Fraction, ...]]],
    payment: Payment,
) -> Estimates:
    """The estimates of what is selected and measured with these shares, in whatever way."""
    # Before, for nothing may go wrong after the winners have been drawn; and of one, for there may
    # be fewer answers than k.
    noise = Noise._of_one(shares.selection, shares.measurement_epsilon)
    k = shares.selection.k
    return payment.of(lambda: Estimates(*select_and_measure(), noise._repeated(k)))


def estimate(
    release: Release,
    measurements: object,
    *,
    variance: "Number | Iterable[Number]",
    noise: Literal["laplace", "normal"] | None = None,
    step: "Number | None" = None,
) -> Estimates:
    """Combine a release with measurements of its winners that were made elsewhere.

    It sees nothing but what may be published. The measurements must be unbiased, and their noise
    independent of each other and of the release. What is estimated are the answers as the release
    saw them, rounded down to a multiple of the resolution: if others were measured, the two differ
    by less than the resolution.

    Args:
        release: The winners and the gaps between them.
        measurements: One number per winner, from the largest winner down; or a dict, or a pandas
            Series with an index, that has one for each winner's item.
        variance: That of the measurements' noise; or one for each winner, in the same order, or in
            a dict. They may lie apart by a factor of 10^12.
        noise: The family that the noise is of, if it is known: intervals are much narrower then.
        step: If the noise is discrete, what it is a multiple of, such as 1 for whole numbers.

    Returns:
        The estimates, their standard errors and intervals.

    Raises:
        EstimatesError: The release has no gaps, or there is not one finite number per winner.
        ParameterError, ParameterTypeError: A variance is no number greater than 0, or the noise is
            of no such family.

    >>> release = Release(TopK(k=2, epsilon=1, monotonic=True), [4, 0], [125, 3], ["flu", "cold"])
    >>> made = estimate(release, {"cold": 41, "flu": 60}, variance=8)
    >>> [round(each, 2) for each in made.estimates]
    [57.85, 43.15]
    """
    if not isinstance(release, Release):
        raise ParameterTypeError(f"release must be a Release, not {type(release).__name__}.")
    if noise is not None and not (isinstance(noise, str) and noise in ("laplace", "normal")):
        raise ParameterError("noise must be 'laplace', 'normal' or None.")
    measured = read_measurements(release, measurements)
    if isinstance(variance, Iterable) and not isinstance(variance, str):
        variances = tuple(
            read_parameter(each, "variance") for each in _one_each(release, variance, "variance")
        )
    else:
        variances = (read_parameter(variance, "variance"),) * len(release)
    if max(variances) > 10**12 * min(variances):
        raise ParameterError("The variances must lie apart by a factor of at most 10^12.")
    grid = Fraction(0) if step is None else read_parameter(step, "step")
    if noise == "normal" and min(variances) < grid**2 / 5:
        raise ParameterError(
            "Normal noise on so coarse a step is not known by its variance; give no noise with it."
        )
    kind: Kind = noise or "unknown"
    scales = tuple(laplace_scale(each, grid) for each in variances) if kind == "laplace" else ()
    return Estimates(release, measured, Noise(kind, variances, grid, scales))


def read_measurements(release: Release, measurements: object) -> tuple[Fraction, ...]:
    """One measurement for each winner of a release that has gaps, exactly.

    Raises:
        EstimatesError: The release has no gaps, or there is not one finite number per winner.
    """
    if release.gaps is None:
        raise EstimatesError(
            "A release without gaps has nothing to make measurements better with; "
            "release with gaps."
        )
    return tuple(map(_read, _one_each(release, measurements, "measurement")))


def _one_each(release: Release, given: Any, what: str) -> list[Any]:
    """What was given for each winner, in their order."""
    try:
        if _is_named_series(given):
            given = given.to_dict()
        if isinstance(given, Mapping):
            return _by_item(release, given, what)
        if isinstance(given, str | bytes | set | frozenset):
            raise TypeError
        listed = [*given]
    except EstimatesError:
        raise
    except Exception:  # a number, an array without a dimension, or what fails as it is read
        raise EstimatesError(
            f"Give one {what} for each winner, as a list, not {type(given).__name__}."
        ) from None
    if len(listed) != len(release):
        raise EstimatesError(
            f"There must be one {what} for each of the {len(release)} winners, not {len(listed)}."
        )
    return listed


def _by_item(release: Release, given: Mapping[Any, Any], what: str) -> list[Any]:
    if len(given) > len(release):
        # Such as the answers themselves, which are secret.
        raise EstimatesError(
            f"There is a {what} of an item that is no winner; give those of the winners alone."
        )
    try:
        return [given[item] for item in release.items]
    except KeyError:
        raise EstimatesError(f"There is a winner without a {what}; give each one.") from None


def _is_named_series(given: Any) -> bool:
    """Whether it is a pandas Series with an index of its own, and not just 0, 1, 2 and so on."""
    is_series = type(given).__module__.partition(".")[0] == "pandas" and hasattr(given, "to_dict")
    return is_series and [*given.index] != [*range(len(given))]


def _read(measurement: object) -> Fraction:
    try:
        return Fraction(*ratio(measurement))
    except (AnswersError, AnswersTypeError):
        raise EstimatesError("Each measurement must be a finite number.") from None
