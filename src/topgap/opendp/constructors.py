"""`make_top_k` and `then_top_k`: an OpenDP Measurement that names the k largest answers."""

from collections.abc import Iterator, Sized
from functools import partial
from typing import Any

from opendp.measurements import make_user_measurement
from opendp.measures import max_divergence
from opendp.mod import (
    Domain,
    Measure,
    Measurement,
    Metric,
    OpenDPException,
    _PartialConstructor,
    assert_features,
)

from topgap.errors import ItemsError, ParameterError, ParameterTypeError
from topgap.numbers.parse import Number, read_flag, read_parameter, read_whole
from topgap.opendp.domains import DomainInfo, read_domain
from topgap.opendp.privacy_map import PrivacyMap, read_metric
from topgap.parameters import TopK
from topgap.release import Release
from topgap.selection.answers import check_enough
from topgap.selection.item_names import check_names, to_list
from topgap.selection.mechanism import select


def make_top_k(
    input_domain: Domain,
    input_metric: Metric,
    output_measure: Measure,
    k: int,
    scale: "Number",
    *,
    resolution: "Number" = "1/10",
    gaps: bool = True,
    items: object = None,
) -> Measurement:
    """Make an OpenDP Measurement: the k largest answers, and the gap from each to the next.

    The arguments are those of OpenDP's own `make_noisy_top_k`. The output is a `Release`, whose
    `epsilon` covers inputs at a distance of 1, or (1, 1, 1); what a chain or a composition costs,
    its own `map` says. What is wrong with the answers, as when there are too few, comes out as an
    OpenDPException with topgap's sentence in it.

    Args:
        input_domain: `vector_domain` or `map_domain` of integers, or of floats without NaN.
        input_metric: `linf_distance`, with `monotonic=True` if no answer rises while another falls;
            `l1_distance`; or `l01inf_distance` of `absolute_distance`. Vectors of different lengths
            are infinitely far apart, so how many answers there are is no secret.
        output_measure: `max_divergence()`.
        k: How many winners are named; less than the number of answers.
        scale: The mean β of the noise. At a distance of d the loss is k·d/β, d being rounded up to
            a multiple of the resolution, and twice that by `linf_distance` unless it is monotonic;
            by the other metrics a step of the resolution comes on top for floats. This and the
            resolution may be an int, Fraction, Decimal, string such as `"1/3"`, or a float, which
            means its shortest decimal.
        resolution: Gaps are multiples of this; one divided by an integer.
        gaps: Whether the gaps are released; they cost no privacy.
        items: The items' names, distinct and known to everyone. Of a map just these keys take part,
            with 0 for those that are missing. Of a vector they name the positions.

    Raises:
        ParameterError, ParameterTypeError: An argument cannot be used, or OpenDP's features are not
            enabled; the sentence says what to do.
        ItemsError: The items cannot be used, or a map comes without any.
        AnswersError: There are no more than k answers.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)
    >>> measurement = make_top_k(*space, dp.max_divergence(), k=2, scale=4)
    >>> measurement([10**9, 0, 10**6]).items
    (0, 2)
    >>> measurement.map(1)
    0.5
    """
    _require_features()
    holding = read_domain(input_domain)
    closeness = read_metric(input_metric)
    if not isinstance(output_measure, Measure):
        raise ParameterTypeError(
            f"output_measure must be a measure of OpenDP: max_divergence(), "
            f"not {type(output_measure).__name__}."
        )
    if output_measure != max_divergence():
        raise ParameterError(
            "output_measure must be max_divergence(); "
            "OpenDP's combinators convert the measurement to others."
        )
    k = read_whole(k, "k", least=1)
    one_sided = closeness.monotonic or (closeness.additive and holding.whole)
    noise = read_parameter(scale, "scale")
    sides = 1 if one_sided else 2
    parameters = TopK(k, sides * k / noise, resolution=resolution, monotonic=one_sided)
    names = _read_items(items, holding, k)
    of_them: Any = _release_vector if holding.keys is None else _release_map
    return make_user_measurement(
        input_domain,
        input_metric,
        output_measure,
        partial(of_them, parameters, names, gaps=read_flag(gaps, "gaps")),
        PrivacyMap(parameters, closeness, holding.whole),
    )


def then_top_k(
    output_measure: Measure,
    k: int,
    scale: "Number",
    *,
    resolution: "Number" = "1/10",
    gaps: bool = True,
    items: object = None,
) -> Any:
    """What `make_top_k` makes, for the domain and the metric of what stands before it.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> count = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
    >>> measurement = count >> then_top_k(dp.max_divergence(), 1, 2, items=["ash", "elm", "oak"])
    >>> measurement(["oak"] * 10**3).items, measurement.map(1)
    (('oak',), 0.5)
    """
    if isinstance(items, Iterator):  # which can be read once, and this may be used often
        items = [*items]
    return _PartialConstructor(  # type: ignore[no-untyped-call]
        lambda input_domain, input_metric: make_top_k(
            input_domain,
            input_metric,
            output_measure,
            k,
            scale,
            resolution=resolution,
            gaps=gaps,
            items=items,
        )
    )


def _release_vector(
    parameters: TopK, names: tuple[Any, ...] | None, answers: Any, *, gaps: bool
) -> Release:
    return select(parameters, answers, names, gaps=gaps)


def _release_map(parameters: TopK, names: tuple[Any, ...], answers: Any, *, gaps: bool) -> Release:
    ordered = [answers.get(name, 0) for name in names]
    return select(parameters, ordered, names, gaps=gaps)


def _read_items(items: object, holding: DomainInfo, k: int) -> tuple[Any, ...] | None:
    """The names, if there are any, and if there are enough of what they name."""
    if items is None:
        if holding.keys is not None:
            raise ItemsError(
                "Which keys a map has is a secret of the data; "
                "give items=, the public list of those that take part."
            )
        if holding.size is not None:
            check_enough(holding.size, k)
        return None
    if isinstance(items, Iterator):
        items = [*items]
    count = holding.size
    if count is None:
        count = len(items) if isinstance(items, Sized) else 0
    names = tuple(to_list(check_names(items, count)))
    check_enough(count, k)
    if holding.keys is not None:
        holding.check_keys(names)
    return names


def _require_features() -> None:
    try:
        assert_features("contrib", "honest-but-curious")
    except OpenDPException:
        raise ParameterError(
            "OpenDP takes measurements from elsewhere only once you have typed "
            "opendp.prelude.enable_features('contrib', 'honest-but-curious')."
        ) from None
