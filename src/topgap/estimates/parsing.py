"""Read estimates from the dict that `Estimates.to_dict` returned."""

from fractions import Fraction
from typing import Any, NamedTuple

from topgap.errors import EstimatesError, ReleaseError, TopgapError
from topgap.estimates.measurements import check_family, read_measurements, read_noise
from topgap.estimates.noise import Noise
from topgap.numbers.format import parse_exact
from topgap.numbers.parse import read_level
from topgap.release import Release

FORMAT = "topgap.estimates/1"


class Parts(NamedTuple):
    """The arguments of `Estimates`."""

    release: Release
    measurements: tuple[Fraction, ...]
    noise: Noise


def parse_estimates(read: dict[str, Any]) -> Parts:
    """Return the parts of the estimates that `Estimates.to_dict` returned.

    Raises:
        EstimatesError, ReleaseError: This is not what it returns.
    """
    try:
        known = isinstance(read, dict) and bool(read.get("format") == FORMAT)
        require(known, f"they must have the format {FORMAT}")
        expected = {"format", "epsilon", "release", "measurements", "noise", "level", "estimates"}
        require({*read} == expected, "something is missing, or there is more")
        release = Release.from_dict(read["release"])
        read_level(parse_exact(read["level"]))
        require(len(read["estimates"]) == len(release), "there must be one for each named item")
        measurements = [parse_exact(each) for each in read["measurements"]]
        kind, noise = read["noise"]["kind"], read["noise"]
        if kind == "discrete laplace":
            require({*noise} == {"kind", "epsilon_each"}, "such noise has an epsilon for each")
            epsilon = parse_exact(noise["epsilon_each"])
            require(epsilon > 0, "an epsilon is greater than 0")
            exact = Noise.discrete_laplace(release.parameters, epsilon)
            measured = read_measurements(release, measurements)
            whole = release.epsilon + len(release) * epsilon
            require(read["epsilon"] == str(whole), "the parts do not sum to epsilon")
            return Parts(release, measured, exact)
        require(read["epsilon"] is None, "the cost of what was measured elsewhere is not known")
        require({*noise} == {"kind", "variances", "step"}, "such noise has variances and a step")
        variances = [parse_exact(each) for each in noise["variances"]]
        family = None if kind == "unknown" else kind
        check_family(family)
        measured = read_measurements(release, measurements)
        step = parse_exact(noise["step"]) or None
        return Parts(release, measured, read_noise(release, variances, family, step))
    except (EstimatesError, ReleaseError):
        raise
    except TopgapError as error:
        raise EstimatesError(f"These are not estimates: {error}") from None
    except Exception:  # of whatever was put in the place of something else
        raise EstimatesError("These are not estimates: something is misplaced.") from None


def require(holds: bool, what: str) -> None:  # noqa: FBT001 - a condition
    """Refuse what are not estimates.

    Raises:
        EstimatesError: The condition does not hold.
    """
    if not holds:
        raise EstimatesError(f"These are not estimates: {what}.")
