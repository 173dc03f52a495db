"""Estimates as JSON holds them, and back."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

from topgap.errors import EstimatesError, ReleaseError, TopgapError
from topgap.estimates.measurements import check_family, read_measurements, read_noise
from topgap.estimates.noise import Noise
from topgap.numbers.format import format_exact, parse_exact
from topgap.numbers.parse import read_level
from topgap.release import Release

FORMAT = "topgap.estimates/1"


class Parts(NamedTuple):
    """What estimates are made of."""

    release: Release
    measurements: tuple[Fraction, ...]
    noise: Noise


def write_noise(noise: Noise) -> dict[str, Any]:
    """What is known of the noise, as JSON can hold it.

    >>> write_noise(Noise("laplace", (Fraction(8),)))
    {'kind': 'laplace', 'variances': ['8'], 'step': '0'}
    """
    written: dict[str, Any] = {"kind": noise.kind}
    if noise.epsilon is None:
        written["variances"] = [format_exact(each) for each in noise.variances]
        written["step"] = format_exact(noise.step)
    else:
        written["epsilon_each"] = str(noise.epsilon)
    return written


def write_estimates(
    estimates: Sequence[float],
    standard_errors: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    simultaneous_intervals: Sequence[tuple[float, float]],
    in_doubt: Sequence[bool],
) -> list[dict[str, Any]]:
    """What is estimated of each winner, as JSON can hold it."""
    columns = estimates, standard_errors, intervals, simultaneous_intervals, in_doubt
    return [
        {
            "estimate": _finite([each])[0],
            "standard_error": _finite([error])[0],
            "interval": _finite(alone),
            "simultaneous_interval": _finite(at_once),
            "in_doubt": doubt,
        }
        for each, error, alone, at_once, doubt in zip(*columns, strict=True)
    ]


def parse_estimates(read: dict[str, Any]) -> Parts:
    """The parts of the estimates that `Estimates.to_dict` wrote.

    Raises:
        EstimatesError, ReleaseError: This is not what it writes.
    """
    try:
        known = isinstance(read, dict) and bool(read.get("format") == FORMAT)
        _require(known, f"they must have the format {FORMAT}")
        expected = {"format", "epsilon", "release", "measurements", "noise", "level", "estimates"}
        _require({*read} == expected, "something is missing, or there is more")
        release = Release.from_dict(read["release"])
        read_level(parse_exact(read["level"]))
        _require(len(read["estimates"]) == len(release), "there must be one for each winner")
        measurements = [parse_exact(each) for each in read["measurements"]]
        kind, noise = read["noise"]["kind"], read["noise"]
        if kind == "discrete laplace":
            _require({*noise} == {"kind", "epsilon_each"}, "such noise has an epsilon for each")
            epsilon = parse_exact(noise["epsilon_each"])
            _require(epsilon > 0, "an epsilon is greater than 0")
            exact = Noise.discrete_laplace(release.parameters, epsilon)
            measured = read_measurements(release, measurements)
            whole = release.epsilon + len(release) * epsilon
            _require(read["epsilon"] == str(whole), "the parts do not sum to epsilon")
            return Parts(release, measured, exact)
        _require(read["epsilon"] is None, "what was measured elsewhere cost what is not known")
        _require({*noise} == {"kind", "variances", "step"}, "such noise has variances and a step")
        variances = [parse_exact(each) for each in noise["variances"]]
        family = None if kind == "unknown" else kind
        check_family(family)
        measured = read_measurements(release, measurements)
        step = parse_exact(noise["step"]) or None
        return Parts(release, measured, read_noise(release, variances, family, step))
    except (EstimatesError, ReleaseError):
        raise
    except TopgapError as error:
        raise EstimatesError(f"These are no estimates: {error}") from None
    except Exception:  # of whatever was put in the place of something else
        raise EstimatesError("These are no estimates: something is misplaced.") from None


def _finite(numbers: Iterable[float]) -> list[float | None]:
    """JSON has no infinite numbers."""
    return [number if isfinite(number) else None for number in numbers]


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise EstimatesError(f"These are no estimates: {what}.")
