"""Read the estimates of each group from the dict that `GroupedEstimates.to_dict` returned."""

from typing import Any

from topgap.errors import EstimatesError, ReleaseError, TopgapError
from topgap.estimates.measurements import read_measurements
from topgap.estimates.noise import Noise
from topgap.estimates.parsing import require
from topgap.estimates.result import Estimates
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.format import parse_exact
from topgap.numbers.parse import read_level
from topgap.release import Release
from topgap.release.grouped_parsing import read_group_documents

FORMAT = "topgap.grouped-estimates/1"


def parse_grouped_estimates(read: dict[str, Any]) -> tuple[TopKByGroup, dict[Any, Estimates]]:
    """Return the parameters, and the estimates of each group.

    Raises:
        EstimatesError, ReleaseError: This is not what `GroupedEstimates.to_dict` returns.
    """
    parameters, documents = read_group_documents(
        read, FORMAT, {"winners", "measurements", "estimates"}, {"epsilon", "noise", "level"}
    )
    try:
        read_level(parse_exact(read["level"]))
        require({*read["noise"]} == {"kind", "epsilon_each"}, "its noise has an epsilon for each")
        require(read["noise"]["kind"] == "discrete laplace", "its noise is discrete Laplace noise")
        epsilon = parse_exact(read["noise"]["epsilon_each"])
        require(epsilon > 0, "an epsilon is greater than 0")
        noise = Noise.discrete_laplace(parameters.each, epsilon)
        estimates = {}
        for (group, document), entry in zip(documents, read["groups"], strict=True):
            release = Release.from_dict(document)
            require(
                len(entry["estimates"]) == len(release), "there must be one for each named item"
            )
            measured = [parse_exact(each) for each in entry["measurements"]]
            estimates[group] = Estimates(release, read_measurements(release, measured), noise)
    except (EstimatesError, ReleaseError):
        raise
    except TopgapError as error:
        raise EstimatesError(f"These are not estimates: {error}") from None
    except Exception:  # of whatever was put in the place of something else
        raise EstimatesError("These are not estimates: something is misplaced.") from None
    return parameters, estimates
