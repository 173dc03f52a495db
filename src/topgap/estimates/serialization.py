"""Estimates as a dict, as JSON holds it, and back."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

from topgap.errors import EstimatesError, ReleaseError, TopgapError
from topgap.estimates.estimator import estimate, read_measurements
from topgap.estimates.noise import Noise
from topgap.estimates.result import Estimates, read_level
from topgap.numbers.format import format_exact, parse_exact
from topgap.numbers.parse import Number
from topgap.release import Release

FORMAT = "topgap.estimates/1"


def to_dict(estimates: Estimates, level: Number) -> dict[str, Any]:
    """What `Estimates.to_dict` gives.

    >>> from topgap import TopK
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> made = to_dict(estimate(release, [60], variance=8, noise="laplace"), "9/10")
    >>> made["measurements"], made["noise"], made["estimates"][0]["estimate"]
    (['60'], {'kind': 'laplace', 'variances': ['8'], 'step': '0'}, 60.0)
    """
    noise: dict[str, Any] = {"kind": estimates.noise.kind}
    if estimates.noise.epsilon is None:
        noise["variances"] = [format_exact(each) for each in estimates.noise.variances]
        noise["step"] = format_exact(estimates.noise.step)
    else:
        noise["epsilon_each"] = str(estimates.noise.epsilon)
    columns = zip(
        estimates.estimates,
        estimates.standard_errors,
        estimates.intervals(level),
        estimates.intervals(level, simultaneous=True),
        estimates.in_doubt(level),
        strict=True,
    )
    return {
        "format": FORMAT,
        "epsilon": None if estimates.epsilon is None else str(estimates.epsilon),
        "release": estimates.release.to_dict(),
        "measurements": [format_exact(each) for each in estimates.measurements],
        "noise": noise,
        "level": format_exact(read_level(level)),
        "estimates": [
            {
                "estimate": _finite([each])[0],
                "standard_error": _finite([error])[0],
                "interval": _finite(alone),
                "simultaneous_interval": _finite(at_once),
                "in_doubt": in_doubt,
            }
            for each, error, alone, at_once, in_doubt in columns
        ],
    }


def from_dict(read: dict[str, Any]) -> Estimates:
    """What `Estimates.from_dict` gives.

    Raises:
        EstimatesError, ReleaseError: This is not what `to_dict` gives.

    >>> from topgap import TopK
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> one = estimate(release, [60], variance=8, noise="laplace")
    >>> from_dict(to_dict(one, 0.95)) == one
    True
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
            made = Estimates(release, read_measurements(release, measurements), exact)
            _require(read["epsilon"] == str(made.epsilon), "the parts do not sum to epsilon")
            return made
        _require(read["epsilon"] is None, "what was measured elsewhere cost what is not known")
        _require({*noise} == {"kind", "variances", "step"}, "such noise has variances and a step")
        variances = [parse_exact(each) for each in noise["variances"]]
        return estimate(
            release,
            measurements,
            variance=variances,
            noise=None if kind == "unknown" else kind,
            step=parse_exact(noise["step"]) or None,
        )
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
