"""Estimates from measurements that were made elsewhere: `estimate`."""

from collections.abc import Iterable
from typing import Literal

from topgap.errors import ParameterTypeError
from topgap.estimates.measurements import check_family, read_measurements, read_noise
from topgap.estimates.result import Estimates
from topgap.numbers.parse import Number
from topgap.release import Release


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
        EstimatesError: The release has no gaps, or there is not one finite number per winner; or it
            has Laplace noise, and so values of its own.
        ParameterError, ParameterTypeError: A variance is not a number greater than 0, or the
            family of the noise is unknown.

    >>> from topgap import TopK
    >>> release = Release(TopK(k=2, epsilon=1, monotonic=True), [4, 0], [125, 3], ["flu", "cold"])
    >>> made = estimate(release, {"cold": 41, "flu": 60}, variance=8)
    >>> [round(each, 2) for each in made.estimates]
    [57.85, 43.15]
    """
    if not isinstance(release, Release):
        raise ParameterTypeError(f"release must be a Release, not {type(release).__name__}.")
    check_family(noise)
    measured = read_measurements(release, measurements)
    return Estimates(release, measured, read_noise(release, variance, noise, step))
