"""Measurements that were made elsewhere, and what is known of their noise, as a user gives them."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from topgap.errors import AnswersError, AnswersTypeError, EstimatesError, ParameterError
from topgap.estimates.noise import Kind, Noise, laplace_scale
from topgap.numbers.parse import Number, ratio, read_parameter
from topgap.release import Release


def read_measurements(release: Release, measurements: object) -> tuple[Fraction, ...]:
    """One measurement for each winner of a release that has gaps, exactly.

    Raises:
        EstimatesError: The release has no gaps, or Laplace noise, or a threshold, or there is not
            one finite number per winner.
    """
    if release.parameters.noise == "laplace":
        raise EstimatesError(
            "A release with Laplace noise has its own estimates, release.values, and its gaps add "
            "nothing to them; to combine gaps with measurements, release with noise='exponential'."
        )
    if release.parameters.has_sentinel:
        raise EstimatesError(
            "A release with a threshold has its own estimates, release.counts(); to combine "
            "gaps with measurements, release without a threshold."
        )
    if release.gaps is None:
        raise EstimatesError(
            "A release without gaps has nothing to improve measurements with; release with gaps."
        )
    return tuple(map(_read, _one_each(release, measurements, "measurement")))


def check_family(noise: object) -> None:
    """Refuse a family of noise that is not known.

    Raises:
        ParameterError: It is neither "laplace" nor "normal" nor None.
    """
    if noise is not None and not (isinstance(noise, str) and noise in ("laplace", "normal")):
        raise ParameterError("noise must be 'laplace', 'normal' or None.")


def read_noise(
    release: Release, variance: "Number | Iterable[Number]", noise: object, step: "Number | None"
) -> Noise:
    """What is known of the noise of the measurements, as `topgap.estimate` takes it.

    Raises:
        EstimatesError: There is not one variance per winner.
        ParameterError, ParameterTypeError: A variance is not a number greater than 0, or the
            family of the noise is unknown.
    """
    check_family(noise)
    if isinstance(variance, Iterable) and not isinstance(variance, str):
        variances = tuple(
            read_parameter(each, "variance") for each in _one_each(release, variance, "variance")
        )
    else:
        variances = (read_parameter(variance, "variance"),) * len(release)
    if max(variances) > 10**12 * min(variances):
        raise ParameterError("The variances must differ by a factor of at most 10^12.")
    grid = Fraction(0) if step is None else read_parameter(step, "step")
    if noise == "normal" and min(variances) < grid**2 / 5:
        raise ParameterError(
            "Normal noise on so coarse a step is not determined by its variance; leave noise out."
        )
    kind: Kind = noise or "unknown"  # type: ignore[assignment]
    scales = tuple(laplace_scale(each, grid) for each in variances) if kind == "laplace" else ()
    return Noise(kind, variances, grid, scales)


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
            f"Give one {what} for each named item, as a list, not {type(given).__name__}."
        ) from None
    if len(listed) != len(release):
        raise EstimatesError(
            f"There must be one {what} for each of the {len(release)} named items, "
            f"not {len(listed)}."
        )
    return listed


def _by_item(release: Release, given: Mapping[Any, Any], what: str) -> list[Any]:
    if len(given) > len(release):
        # Such as the answers themselves, which are secret.
        raise EstimatesError(
            f"There is a {what} of an item that is not named; give only those of the named items."
        )
    try:
        return [given[item] for item in release.items]
    except KeyError:
        raise EstimatesError(f"There is a named item without a {what}; give each one.") from None


def _is_named_series(given: Any) -> bool:
    """Whether it is a pandas Series with an index of its own, and not just 0, 1, 2 and so on."""
    is_series = type(given).__module__.partition(".")[0] == "pandas" and hasattr(given, "to_dict")
    return is_series and [*given.index] != [*range(len(given))]


def _read(measurement: object) -> Fraction:
    try:
        return Fraction(*ratio(measurement))
    except (AnswersError, AnswersTypeError):
        raise EstimatesError("Each measurement must be a finite number.") from None
